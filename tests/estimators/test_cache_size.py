"""cache_size: a kernel matrix kept in part gives what the whole one gives, in every estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from checks import PLAIN
from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.rows import making
from wellsvm.rows.cached import CachedRows
from wellsvm.rows.making import MEGABYTE


def problem(seed=0, n=120):
    """Two clouds, ten rows labeled."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, 4)) + 1.2 * truth[:, None]
    return X, np.where(np.arange(n) < 10, truth, 0)


def partly(y):
    return np.where(y == 0, np.nan, y.astype(float))


@pytest.fixture
def caches(monkeypatch):
    """Rows kept in part that an estimator makes."""
    made = []

    class Watched(CachedRows):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(making, "CachedRows", Watched)
    return made


KERNELS = {
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    "callable": {"kernel": lambda A, B: rbf_kernel(A, B, gamma=0.1)},
}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.6])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "callable"])
def test_a_small_cache_gives_the_objective_of_the_whole_matrix(caches, kernel, make, share):
    X, y = problem()
    params = {**PLAIN, **KERNELS[kernel], "tol": 1e-4, "random_state": 0}
    itemsize = 4 if kernel in ("rbf", "sigmoid") else 8
    whole = SemiSupervisedSVC(**params).fit(make(X), partly(y))
    assert not caches
    cache_size = share * itemsize * len(y) ** 2 / MEGABYTE
    part = SemiSupervisedSVC(**params, cache_size=cache_size).fit(make(X), partly(y))
    (cache,) = caches
    assert 0 < cache.n_bytes <= cache_size * MEGABYTE
    assert part.refined_objective_ == pytest.approx(whole.refined_objective_, rel=1e-3)
    assert np.mean(part.transduction_ == whole.transduction_) > 0.97


def test_a_matrix_that_fits_is_kept_as_a_whole(caches):
    X, y = problem()
    size = 4 * len(y) ** 2 / MEGABYTE
    models = [
        SemiSupervisedSVC(kernel="rbf", cache_size=c, random_state=0).fit(X, partly(y)) for c in (None, size, 10 * size)
    ]
    assert not caches
    for model in models[1:]:
        np.testing.assert_array_equal(model.dual_coef_, models[0].dual_coef_)


@pytest.mark.slow
def test_more_threads_share_one_cache(caches):
    X, _ = problem()
    y = np.where(np.arange(len(X)) < 30, np.arange(len(X)) % 3, np.nan)
    X[:, 0] += 3 * (np.arange(len(X)) % 3)
    one, two = (SemiSupervisedSVC(kernel="rbf", cache_size=0.01, random_state=0, n_jobs=n).fit(X, y) for n in (None, 2))
    assert len(caches) == 2
    np.testing.assert_allclose(two.objective_, one.objective_, rtol=2e-3)


def test_bags_within_a_budget(caches):
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(30), 4), np.where(np.arange(30) % 2, 1, 0)
    X = rng.standard_normal((120, 3))
    X[1::8] += 3.0 * np.array([1.0, 1.0, 0.0])
    X[5::8] += 3.0 * np.array([1.0, -1.0, 0.0])
    whole, part = (
        MultiInstanceSVC(kernel="rbf", cache_size=c, random_state=0).fit(Bags(X, groups), y) for c in (None, 0.02)
    )
    assert len(caches) == 1
    assert part.objective_ == pytest.approx(whole.objective_, rel=5e-3)


@pytest.mark.slow
def test_clusters_within_a_budget(caches):
    X = np.random.default_rng(0).standard_normal((90, 2)) + 8 * np.repeat(np.eye(3)[:, :2], 30, axis=0)
    whole, part = (
        MaxMarginClustering(n_clusters=2, kernel="rbf", cache_size=c, random_state=0).fit(X) for c in (None, 0.01)
    )
    assert len(caches) == 1
    np.testing.assert_array_equal(part.labels_, whole.labels_)


@pytest.mark.slow
def test_cross_validation_within_a_budget(caches):
    X, y = problem()
    params = {"kernel": "rbf", "gammas": [0.05, 0.5], "Cs_unlabeled": [0.1], "cv": 2, "neighbors": None}
    params["scoring"] = "accuracy"  # the default is no count, and ends in other digits
    params["tol"] = 1e-4  # SVMs in memory end in another order of visits, elsewhere within tol
    whole, part = (SemiSupervisedSVCCV(**params, cache_size=c, random_state=0).fit(X, partly(y)) for c in (None, 0.01))
    assert len(caches) >= 2
    np.testing.assert_array_equal(part.scores_, whole.scores_)
    assert (part.C_unlabeled_, part.gamma_) == (whole.C_unlabeled_, whole.gamma_)
    assert part.refined_objective_ == pytest.approx(whole.refined_objective_, rel=2 * whole.tol)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("estimator", [SemiSupervisedSVC, SemiSupervisedSVCCV, MultiInstanceSVC, MaxMarginClustering])
def test_a_cache_of_no_size_is_refused_by_name(estimator, value):
    X, y = problem(n=20)
    data = {
        MultiInstanceSVC: (Bags(X, np.arange(20)), np.where(y == 1, 1, 0)),
        MaxMarginClustering: (X,),
    }.get(estimator, (X, partly(y)))
    with pytest.raises(ValueError, match=rf"cache_size must be a finite number greater than 0; got cache_size={value}"):
        estimator(kernel="rbf", cache_size=value).fit(*data)


def test_a_cache_without_room_for_a_row_says_what_is_needed():
    X, y = problem()
    with pytest.raises(ValueError, match=r"cache_size=0\.00025 .*one row.*120 instances.*at least 0\.000458"):
        SemiSupervisedSVC(kernel="rbf", cache_size=0.00025).fit(X, partly(y))


def test_a_callable_that_is_no_kernel_is_refused_though_it_is_never_seen_whole():
    X, y = problem()
    with pytest.raises(ValueError, match="not symmetric"):
        SemiSupervisedSVC(kernel=lambda A, B: A[:, :1] + 0 * B[:, :1].T, cache_size=0.01).fit(X, partly(y))


def test_a_kernel_value_that_is_not_finite_names_its_row():
    X, y = problem()
    X[77] = 1e60
    with pytest.raises(ValueError, match="row 77"), np.errstate(over="ignore", invalid="ignore"):
        SemiSupervisedSVC(**PLAIN, kernel="poly", gamma=1.0, degree=3, cache_size=0.05, random_state=0).fit(
            X, partly(y)
        )
