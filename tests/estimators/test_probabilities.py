"""predict_proba: probabilities that agree with f, with what happens, and with themselves."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import wellsvm
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.engine.calibration import fit_logistic, score_per_class, smoothed_targets


def clouds(seed=0, n=300, n_labeled=60, n_classes=2, lead=1.6):
    """Gaussian clouds a little apart, the first rows labeled."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    truth[:n_classes] = np.arange(n_classes)
    X = rng.standard_normal((n, 5))
    X[np.arange(n), truth] += lead
    return X, np.where(np.arange(n) < n_labeled, truth, np.nan), truth


def model(**params):
    return SemiSupervisedSVC(**{"random_state": 0, "probability": True, **params})


def calibration_error(probabilities, truth, n_bins=10):
    """Mean distance of predicted and observed frequency over bins of equally many rows."""
    bins = np.array_split(np.argsort(probabilities, kind="stable"), n_bins)
    return np.mean([abs(probabilities[b].mean() - truth[b].mean()) for b in bins])


# ------------------------------------------------------------------ what they are


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [SemiSupervisedSVC, SemiSupervisedSVCCV])
def test_probabilities_sum_to_one_and_rise_with_f(kind, n_classes, kernel):
    X, y, _ = clouds(n_classes=n_classes)
    some = {"Cs_unlabeled": [0.1], "cv": 2} if kind is SemiSupervisedSVCCV else {}
    fitted = kind(kernel=kernel, probability=True, random_state=0, **some).fit(X, y)
    p, f = fitted.predict_proba(X), fitted.decision_function(X)
    assert p.shape == (300, n_classes)
    assert p.min() > 0
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert fitted.proba_slope_ > 0
    log_odds = np.log(p[:, 1] / p[:, 0])
    order = np.argsort(f if n_classes == 2 else f[:, 1] - f[:, 0])
    assert all(a <= b + 1e-9 for a, b in pairwise(log_odds[order]))


def test_they_do_not_change_the_model():
    X, y, _ = clouds()
    plain, with_them = model(probability=False).fit(X, y), model().fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), with_them.decision_function(X))
    np.testing.assert_array_equal(plain.predict(X), with_them.predict(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_they_are_better_calibrated_than_a_plain_sigmoid(kernel):
    ours, plain = [], []
    for seed in range(5):
        X, y, truth = clouds(seed, n=3000, n_labeled=200)
        fitted = model(kernel=kernel).fit(X[:1000], y[:1000])
        f, seen = fitted.decision_function(X[1000:]), truth[1000:]
        ours.append(calibration_error(fitted.predict_proba(X[1000:])[:, 1], seen))
        plain.append(calibration_error(1 / (1 + np.exp(-f)), seen))
    assert np.mean(ours) < 0.04  # 0.025 and 0.027, the plain sigmoid 0.131 and 0.162
    assert np.mean(ours) < 0.3 * np.mean(plain)


def test_two_classes_give_platts_sigmoid():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 80)
    values = 0.7 * codes + rng.standard_normal(80) - 0.2
    slope, offsets = fit_logistic(score_per_class(values[:, None]), smoothed_targets(codes, 2), np.ones(80), 0.0, 1e-9)
    platt = _SigmoidCalibration().fit(values, codes)
    np.testing.assert_allclose([2 * slope, offsets[1] - offsets[0]], [-platt.a_, -platt.b_], atol=2e-3)


# ------------------------------------------------------------------ the same bits


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_and_repetition_change_no_bit(n_classes):
    X, y, _ = clouds(n_classes=n_classes)
    first, second, threaded = (model(n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, threaded)


def test_pickles_and_files_keep_them(tmp_path):
    pytest.importorskip("skops")
    X, y, _ = clouds()
    fitted = model().fit(X, y)
    wellsvm.save(fitted, tmp_path / "model.skops")
    for other in (pickle.loads(pickle.dumps(fitted)), wellsvm.load(tmp_path / "model.skops")):
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))


# ------------------------------------------------------------------ few labels, all labels


def test_the_only_label_of_a_class_is_never_held_out():
    X, _, truth = clouds(n_classes=3)
    y = np.where(np.arange(300) < 40, truth, np.nan)
    y[np.flatnonzero(y == 2)[1:]] = np.nan
    p = model().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert 0 < p[:, 2].mean() < 0.2


def test_one_label_per_class_says_nothing_of_probabilities():
    X, _, truth = clouds()
    y = np.full(300, np.nan)
    y[:2] = truth[:2]
    with pytest.warns(UserWarning, match="every class has only one label"):
        fitted = model().fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), 0.5)


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled:UserWarning")
def test_all_rows_labeled():
    X, _, truth = clouds(n=400)
    p = model().fit(X[:200], truth[:200]).predict_proba(X[200:])[:, 1]
    assert calibration_error(p, truth[200:]) < 0.1
    assert np.mean((p > 0.5) == truth[200:]) > 0.8


def test_a_row_of_weight_0_has_no_say():
    X, y, _ = clouds()
    wrong = y.copy()
    wrong[:20] = 1 - wrong[:20]
    weight = np.where(np.arange(300) < 20, 0.0, 1.0)
    p = [model(balance=0.5).fit(X, labels, weight).predict_proba(X) for labels in (y, wrong)]
    assert np.abs(p[0] - p[1]).max() < 0.15


# ------------------------------------------------------------------ asking for them


def test_they_exist_only_where_asked_for():
    X, y, _ = clouds()
    fitted = SemiSupervisedSVC(random_state=0).fit(X, y)
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        fitted.predict_proba(X)
    assert "probability=True" in str(raised.value.__cause__)
    with pytest.raises(NotFittedError, match="fitted without probability=True"):
        fitted.set_params(probability=True).predict_proba(X)
    fitted.fit(X, y)
    assert hasattr(fitted.set_params(probability=False).fit(X, y), "decision_function")
    assert not hasattr(fitted, "proba_slope_")
    with pytest.raises(NotFittedError):
        clone(model()).predict_proba(X)
    with pytest.raises(TypeError, match="probability must be True or False"):
        model(probability="yes").fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
def test_scikit_learns_checks_pass():
    weights = "coordinate descent stops at tol; see test_sklearn_checks.py"
    exempt = {
        "check_sample_weight_equivalence_on_dense_data": weights,
        "check_sample_weight_equivalence_on_sparse_data": weights,
        "check_classifiers_train": "predict goes by the sign of f, which Platt's offset moves, as in SVC",
    }
    check_estimator(SemiSupervisedSVC(probability=True), expected_failed_checks=exempt)
