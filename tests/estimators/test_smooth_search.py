"""search="smooth" behind the estimators: where it is taken, what it keeps, what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

import wellsvm
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV


def clouds(seed=0, n=80, n_labeled=16, n_classes=2, distance=2.0):
    """Gaussian clouds; labeled rows lie among the others."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.standard_normal((n, 3)) + distance * rng.standard_normal((n_classes, 3))[truth]
    y = np.where(np.arange(n) < n_labeled, truth, np.nan)
    order = rng.permutation(n)
    return X[order], y[order], truth[order]


def fit(X, y, **params):
    return SemiSupervisedSVC(**{"kernel": "rbf", "search": "smooth", "random_state": 0, "safe": False, **params}).fit(
        X, y
    )


def test_a_search_over_candidates_takes_it_for_two_classes_under_a_kernel_or_with_few_rows():
    assert SemiSupervisedSVC(search="auto")._search() == "annealed"
    few, many = np.zeros((10, 2)), sp.csr_matrix((5000, 2))
    search = SemiSupervisedSVCCV()
    assert [search._search_for(X, n) for X in (few, many) for n in (2, 3)] == [
        "smooth",
        "annealed",
        "local",
        "annealed",
    ]
    assert SemiSupervisedSVCCV(kernel="rbf")._search_for(many, 2) == "smooth"
    assert SemiSupervisedSVCCV(fit_intercept=False)._search_for(few, 2) == "local"
    assert SemiSupervisedSVCCV(search="local")._search_for(few, 3) == "local"


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_mean_of_f_over_unlabeled_rows_is_that_of_the_balance(kernel):
    X, y, _ = clouds()
    model = fit(X, y, kernel=kernel, search="smooth", balance=0.25)
    unlabeled = np.isnan(y)
    assert model.decision_function(X)[unlabeled].mean() == pytest.approx(-0.5, abs=1e-5)
    assert np.mean(model.transduction_[unlabeled] == 1) == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(model.transduction_[~unlabeled], y[~unlabeled])
    assert model.refined_objective_ > 0


@pytest.mark.parametrize("rows", ["dense", "csr", "kernel", "neighbors", "cached"])
def test_f_is_found_again_by_every_form_of_rows(rows):
    X, y, truth = clouds()
    params = {"search": "smooth", "balance": 0.5, "loss": "squared_hinge"}
    if rows in ("dense", "csr"):
        params |= {"kernel": "linear"}
    given = sp.csr_matrix(X) if rows == "csr" else X
    if rows == "neighbors":
        params |= {"neighbors": 5}
    if rows == "cached":
        params |= {"cache_size": 0.02}
    model = fit(given, y, **params)
    assert model.score(given, truth) > 0.9
    plain = fit(X, y, **{**params, "cache_size": None})
    np.testing.assert_allclose(model.decision_function(given), plain.decision_function(X), atol=1e-2)


def test_a_kernel_matrix_gives_the_same_function():
    X, y, _ = clouds()
    named = fit(X, y, gamma=0.3)
    K = rbf_kernel(X, gamma=0.3)
    given = fit(K, y, kernel="precomputed")
    np.testing.assert_allclose(given.decision_function(K), named.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_without_a_price_it_is_the_supervised_svm(kernel):
    X, y, _ = clouds()
    params = {"kernel": kernel, "C_unlabeled": 0.0, "tol": 1e-6}
    smooth, local = (fit(X, y, search=search, **params) for search in ("smooth", "local"))
    np.testing.assert_allclose(smooth.decision_function(X), local.decision_function(X), atol=1e-4)
    assert not smooth.used_unlabeled_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_bits_whatever_the_threads_and_after_saving(tmp_path, n_classes):
    X, y, truth = clouds(n_classes=n_classes, n_labeled=24, distance=3.0)
    one, two = (fit(X, y, search="smooth", n_jobs=n_jobs, probability=True) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.score(X, truth) > 0.8
    wellsvm.save(one, tmp_path / "model.zip")
    for again in (wellsvm.load(tmp_path / "model.zip"), pickle.loads(pickle.dumps(one))):
        np.testing.assert_array_equal(again.decision_function(X), one.decision_function(X))
        np.testing.assert_array_equal(again.predict_proba(X), one.predict_proba(X))


def test_a_fit_that_is_kept_ends_with_the_same_bits(tmp_path):
    X, y, _ = clouds()
    path = tmp_path / "fit.npz"
    params = {"kernel": "linear", "search": "smooth"}

    plain = fit(X, y, **params)
    kept = SemiSupervisedSVC(random_state=0, safe=False, checkpoint=path, **params).fit(X, y)
    np.testing.assert_array_equal(kept.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("balance", [None, (0.3, 0.7), "labels"], ids=str)
def test_other_balances_bound_the_mean(balance):
    X, y, truth = clouds()
    assert fit(X, y, balance=balance).score(X, truth) > 0.9


def test_weights_count():
    X, y, _ = clouds(distance=0.7)
    weight = np.where(y == 1, 5.0, 1.0)
    weighted = SemiSupervisedSVC(kernel="rbf", search="smooth", random_state=0, safe=False, balance=0.5).fit(
        X, y, weight
    )
    by_class = fit(X, y, class_weight={0: 1.0, 1: 5.0}, balance=0.5)
    np.testing.assert_allclose(weighted.decision_function(X), by_class.decision_function(X), atol=1e-9)
    assert not np.allclose(by_class.decision_function(X), fit(X, y, balance=0.5).decision_function(X))


def test_what_cannot_be_is_refused_in_words():
    X, y, _ = clouds()
    for model in (SemiSupervisedSVC, SemiSupervisedSVCCV):
        with pytest.raises(ValueError, match=r"search='smooth' .*fit_intercept=False"):
            model(kernel="rbf", search="smooth", fit_intercept=False).fit(X, y)
        with pytest.raises(ValueError, match="search"):
            model(search="smoothly").fit(X, y)
