"""Defaults of SemiSupervisedSVC: shares estimated, unlabeled rows judged, and what is stored and told of both."""

from __future__ import annotations

import inspect
import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom, norm
from sklearn.base import clone

import wellsvm
from checks import PLAIN
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.options import Options

NEW = ("balance_", "balance_se_", "balance_found_", "used_unlabeled_")


def clouds(n_classes=2, n=240, n_labeled=24, distance=4.0, seed=0, random_labels=False):
    """Clouds of shares that rise with the class, labels by turns (class by class), NaN where unlabeled; the truth."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, n_classes + 1) / np.sum(np.arange(1, n_classes + 1))
    truth = np.append(np.arange(n_labeled) % n_classes, rng.choice(n_classes, n - n_labeled, p=weights))
    X = rng.standard_normal((n, 8))
    X[np.arange(n), truth] += distance
    known = rng.permutation(truth[:n_labeled]) if random_labels else truth[:n_labeled]
    return X, np.append(known, np.full(n - n_labeled, np.nan)), truth


def fit(X, y, **params):
    return SemiSupervisedSVC(**{"random_state": 0, **params}).fit(X, y)


def test_the_defaults():
    defaults = {name: p.default for name, p in inspect.signature(SemiSupervisedSVC).parameters.items()}
    wanted = {
        "C": 2.0, "C_unlabeled": "auto", "loss": "auto", "balance": "estimate", "search": "annealed", "safe": True,
        "intercept_scaling": 1.5, "kernel": "linear", "init": "refined", "refine": True, "oracle": "paper",
    }  # fmt: skip
    assert {name: defaults[name] for name in wanted} == wanted
    defaults = {name: p.default for name, p in inspect.signature(SemiSupervisedSVCCV).parameters.items()}
    wanted = {"C": 2.0, "loss": "auto", "balance": "estimate", "search": "auto", "intercept_scaling": 1.5}
    assert {name: defaults[name] for name in wanted} == wanted
    assert "safe" not in defaults


@pytest.mark.parametrize(
    ("sparse", "loss", "price"), [(False, "auto", 0.2), (True, "auto", 0.5), (False, "hinge", 0.5)]
)
def test_the_penalty_of_unlabeled_rows_follows_the_loss(sparse, loss, price):
    X, y, _ = clouds()
    X = 0.1 * X
    X = sp.csr_matrix(X) if sparse else X
    chosen = SemiSupervisedSVC(random_state=0, loss=loss).fit(X, y)
    given = SemiSupervisedSVC(random_state=0, loss=loss, C_unlabeled=price).fit(X, y)
    assert chosen.C_unlabeled_ == given.C_unlabeled_ == price
    np.testing.assert_array_equal(chosen.coef_, given.coef_)


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_the_penalty_of_unlabeled_rows_falls_as_rows_spread(offset, kernel):
    X, y, _ = clouds()
    spread = np.var(X, axis=0).sum()
    assert spread > 1
    X = X + offset  # a shift spreads nothing
    model = fit(X if kernel == "linear" else X @ X.T, y, kernel=kernel)
    assert model.C_unlabeled_ == pytest.approx(0.2 / spread)
    assert fit(X if kernel == "linear" else X @ X.T, y, kernel=kernel, C_unlabeled=0.1).C_unlabeled_ == 0.1


def test_of_many_rows_some_tell_the_spread():
    X = np.random.default_rng(0).standard_normal((5000, 3)) * [3.0, 2.0, 1.0]
    y = np.where(np.arange(5000) < 40, X[:, 0] > 0, np.nan)
    assert fit(X, y).C_unlabeled_ == pytest.approx(0.2 / 14, rel=0.1)


@pytest.mark.parametrize("factor", [30.0, 1000.0])
def test_however_far_rows_spread_unlabeled_rows_keep_a_part_of_the_weight_of_the_labels(factor):
    X, y, _ = clouds()
    labeled = np.count_nonzero(~np.isnan(y))
    model = fit(factor * X, y, safe=False)
    assert model.C_unlabeled_ == pytest.approx(0.2 * 0.5 * labeled / (y.size - labeled))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_and_verdict_do_not_depend_on_the_order_of_rows(n_classes):
    X, y, _ = clouds(n_classes, distance=1.5, n=150)
    first = fit(X, y)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(y.size)
        again = fit(X[order], y[order])
        assert again.used_unlabeled_ == first.used_unlabeled_
        np.testing.assert_allclose(again.balance_, first.balance_, atol=1e-6)


# ------------------------------------------------------------------ shares


def counted(truth, n_classes, n_labeled=24):
    return np.bincount(truth[n_labeled:], minlength=n_classes) / (truth.size - n_labeled)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimated_shares_are_stored_with_their_error_and_kept(n_classes, kernel):
    X, y, truth = clouds(n_classes, distance=6.0)
    model = fit(X, y, kernel=kernel)
    assert model.balance_.shape == model.balance_se_.shape == model.balance_found_.shape == (n_classes,)
    assert model.balance_.sum() == pytest.approx(1.0)
    assert np.all((model.balance_se_ > 0) & (model.balance_se_ < 0.2))
    np.testing.assert_allclose(model.balance_, counted(truth, n_classes), atol=0.05)
    np.testing.assert_allclose(model.balance_found_, counted(truth, n_classes), atol=0.05)
    if n_classes == 2:
        assert np.count_nonzero(model.transduction_[24:] == 1) == round(216 * model.balance_[1])
        for labels in model.labelings_:
            assert np.count_nonzero(labels[24:] == 1) == round(216 * model.balance_[1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_of_the_labels_have_the_error_of_that_many_draws(n_classes):
    X, y, _ = clouds(n_classes)
    model = fit(X, y, balance="labels")
    np.testing.assert_allclose(model.balance_, 1 / n_classes, atol=1 / 216)  # a whole number of rows
    np.testing.assert_allclose(model.balance_se_, np.sqrt(model.balance_ * (1 - model.balance_) / 24))


@pytest.mark.parametrize("balance", [0.25, {0.0: 0.75, 1.0: 0.25}, (0.25, 0.25)], ids=str)
def test_a_given_share_is_stored_without_error(balance):
    X, y, _ = clouds()
    model = fit(X, y, balance=balance)
    np.testing.assert_allclose(model.balance_, [0.75, 0.25])
    np.testing.assert_array_equal(model.balance_se_, 0.0)


def test_given_shares_of_three_classes_are_stored_without_error():
    X, y, _ = clouds(3)
    model = fit(X, y, balance={0.0: 0.25, 1.0: 0.25, 2.0: 0.5})
    np.testing.assert_allclose(model.balance_, [0.25, 0.25, 0.5])
    np.testing.assert_array_equal(model.balance_se_, 0.0)


@pytest.mark.parametrize("n_classes, balance", [(2, None), (2, (0.1, 0.9)), (3, None)], ids=str)
def test_shares_left_open_are_those_found(n_classes, balance):
    X, y, _ = clouds(n_classes)
    model = fit(X, y, balance=balance)
    found = np.bincount(model.transduction_[24:].astype(int), minlength=n_classes) / 216
    np.testing.assert_array_equal(model.balance_, found)
    np.testing.assert_array_equal(model.balance_se_, 0.0)


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("balance", ["estimate", "labels", None])
def test_without_unlabeled_rows_shares_are_those_of_the_labels_and_nothing_is_used(balance, n_classes):
    X, _, truth = clouds(n_classes)
    model = fit(X, truth, balance=balance)
    np.testing.assert_allclose(model.balance_, np.bincount(truth) / truth.size)
    np.testing.assert_array_equal(model.balance_se_, 0.0)
    assert model.used_unlabeled_ is False


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_found_are_those_that_predict_gives(n_classes):
    X, y, _ = clouds(n_classes, distance=1.5)
    model = fit(X, y, balance="labels")
    found = np.bincount(model.predict(X[24:]).astype(int), minlength=n_classes) / 216
    np.testing.assert_array_equal(model.balance_found_, found)


def test_first_labels_of_the_user_need_not_have_an_estimated_balance():
    X, y, truth = clouds()
    model = fit(X, y, init=truth.astype(float))
    assert np.count_nonzero(model.transduction_[24:] == 1) == round(216 * model.balance_[1])
    flipped = np.where(np.arange(y.size) == 3, 1 - truth, truth).astype(float)
    for estimator in (SemiSupervisedSVC(), SemiSupervisedSVCCV(cv=2, Cs_unlabeled=[0.1])):
        with pytest.raises(ValueError, match="init contradicts"):
            estimator.set_params(init=flipped).fit(X, y)
    assert SemiSupervisedSVCCV(cv=2, Cs_unlabeled=[0.1], init=truth.astype(float)).fit(
        X, y
    ).balance_.sum() == pytest.approx(1.0)


# ------------------------------------------------------------------ unlabeled rows used, or not


@pytest.mark.parametrize("n_classes", [2, 3])
def test_unlabeled_rows_that_the_labels_speak_against_are_left_out(n_classes):
    left_out = 0
    for seed in range(4):
        X, y, _ = clouds(n_classes, random_labels=True, seed=seed)
        model = fit(X, y, tol=1e-4)
        if not model.used_unlabeled_:
            left_out += 1
            supervised = fit(X, y, C_unlabeled=0.0, tol=1e-4)
            np.testing.assert_allclose(model.decision_function(X), supervised.decision_function(X), atol=0.01)
            assert model.balance_se_.min() > 0  # estimated all the same
            assert fit(X, y, safe=False).used_unlabeled_ is True
    assert left_out >= binom.ppf(0.01, 4, norm.cdf(Options.judge_errors))


@pytest.mark.slow
@pytest.mark.parametrize(("n_classes", "n_labeled"), [(2, 16), (3, 24), (5, 40)])
def test_labels_at_random_pass_the_check_as_rarely_as_its_bar_promises(n_classes, n_labeled):
    """One and a half standard errors are one chance in fifteen; more than nine of 60 draws have one in a hundred."""
    draws = [clouds(n_classes, n_labeled=n_labeled, random_labels=True, seed=seed) for seed in range(60)]
    used = sum(fit(X, y).used_unlabeled_ for X, y, _ in draws)
    assert used <= binom.ppf(0.99, 60, norm.sf(Options.judge_errors))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_unlabeled_rows_that_help_are_used_as_if_nothing_had_been_asked(n_classes, kernel):
    X, y, _ = clouds(n_classes, n_labeled=24, distance=4.0)
    X = np.hstack([X, np.random.default_rng(1).standard_normal((len(X), 40))])  # few labels leave much open
    safe, bold = (fit(X, y, kernel=kernel, safe=safe) for safe in (True, False))
    assert safe.used_unlabeled_ is True
    np.testing.assert_array_equal(safe.decision_function(X), bold.decision_function(X))


@pytest.mark.parametrize("balance", ["labels", 0.5, (0.3, 0.7), None], ids=str)
def test_nothing_is_judged_where_the_balance_is_not_estimated(balance, monkeypatch):
    monkeypatch.setattr("wellsvm.estimators.semi_supervised.judge_use", None)
    X, y, _ = clouds(random_labels=True)
    assert fit(X, y, balance=balance).used_unlabeled_ is True


def test_a_price_or_weights_of_zero_are_no_use_of_unlabeled_rows(monkeypatch):
    monkeypatch.setattr("wellsvm.estimators.semi_supervised.judge_use", None)  # nothing is left to judge
    X, y, _ = clouds()
    assert fit(X, y, C_unlabeled=0).used_unlabeled_ is False
    weight = np.where(np.isnan(y), 0.0, 1.0)
    assert SemiSupervisedSVC(random_state=0).fit(X, y, weight).used_unlabeled_ is False


def test_a_search_over_prices_tells_whether_it_chose_0():
    X, y, _ = clouds(n_labeled=16)
    model = SemiSupervisedSVCCV(cv=2, Cs_unlabeled=[0.1], random_state=0).fit(X, y)
    assert model.used_unlabeled_ == (model.C_unlabeled_ > 0)
    assert model.balance_.sum() == pytest.approx(1.0)
    assert np.all(model.balance_se_ > 0)


# ------------------------------------------------------------------ loss, intercept, search


def test_auto_is_hinge_for_sparse_linear_rows_only_and_paper_for_all_linear_rows():
    X, y, _ = clouds()
    for data, kernel, auto, paper in (
        (sp.csr_matrix(X), "linear", "hinge", "hinge"),
        (X, "linear", "squared_hinge", "hinge"),
        (X, "rbf", "squared_hinge", "squared_hinge"),
        (sp.csr_matrix(X), "rbf", "squared_hinge", "squared_hinge"),
    ):
        for rule, loss in (("auto", auto), ("paper", paper)):
            named, ruled = (fit(data, y, kernel=kernel, loss=name) for name in (loss, rule))
            np.testing.assert_array_equal(named.decision_function(data), ruled.decision_function(data))


def test_a_large_intercept_scaling_leaves_the_intercept_free():
    X, y, _ = clouds(n=60, n_labeled=20)
    model = fit(X, y, **{**PLAIN, "kernel": "rbf", "intercept_scaling": 100.0, "C_unlabeled": 0.0})
    # The dual variables of both sides have the same sum where the intercept costs nothing.
    assert abs(model.dual_coef_.sum()) < 1e-3 * np.abs(model.dual_coef_).sum()


def test_an_annealed_search_finds_what_a_local_one_misses():
    better = []
    for seed in range(6):
        X, y, _ = clouds(n_labeled=6, distance=2.5, seed=seed)
        X = np.hstack([X, np.random.default_rng(seed).standard_normal((len(X), 30))])
        annealed, local = (fit(X, y, search=how, balance=0.66, init="svm") for how in ("annealed", "local"))
        better.append(local.refined_objective_ - annealed.refined_objective_)
    assert np.mean(better) > 0


# ------------------------------------------------------------------ told, stored


@pytest.mark.parametrize("random_labels", [False, True])
def test_verbose_tells_the_shares_and_the_verdict(caplog, random_labels):
    X, y, _ = clouds(distance=4.0, random_labels=random_labels)
    with caplog.at_level(logging.INFO, logger="wellsvm"):
        model = fit(X, y, verbose=1)
    first, second = (record.getMessage() for record in caplog.records[:2])
    told = ", ".join(f"{c!r} {b:.3f} +- {e:.3f}" for c, b, e in zip((0.0, 1.0), model.balance_, model.balance_se_))
    assert first == f"class shares, estimated: {told}"
    word = "used" if model.used_unlabeled_ else "not used"
    assert second.startswith(f"unlabeled rows are {word}: they lower the loss of held-out labels by ")


def test_without_estimate_or_safety_verbose_tells_nothing_of_them(caplog):
    X, y, _ = clouds()
    with caplog.at_level(logging.INFO, logger="wellsvm"):
        fit(X, y, verbose=1, balance="labels")
        fit(X, y, verbose=0)
    assert not [r for r in caplog.records if r.getMessage().startswith(("class shares, estimated", "unlabeled rows"))]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_and_verdict_survive_pickle_and_file_and_not_a_clone(n_classes, tmp_path):
    pytest.importorskip("skops")
    X, y, _ = clouds(n_classes)
    model = fit(X, y)
    wellsvm.save(model, tmp_path / "model.skops")
    for other in (pickle.loads(pickle.dumps(model)), wellsvm.load(tmp_path / "model.skops")):
        for name in NEW:
            np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
        assert other.get_params() == model.get_params()
    assert isinstance(wellsvm.load(tmp_path / "model.skops").used_unlabeled_, bool)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not any(hasattr(copy, name) for name in NEW)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_defaults_give_the_same_bits_twice_and_with_threads(kernel):
    X, y, _ = clouds(3, distance=2.0)
    first, second = (fit(X, y, kernel=kernel, n_jobs=n_jobs) for n_jobs in (None, 2))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    np.testing.assert_array_equal(first.balance_, second.balance_)
