"""A kernel matrix kept in part: the dense formulas hold, the result is the whole matrix's, the budget is respected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from checks import KeyInstances, check_geometry
from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.engine.svm import fit_svm
from wellsvm.estimators import _common
from wellsvm.geometry import GramGeometry, row_cache
from wellsvm.geometry.base import Losses
from wellsvm.geometry.kernels import Kernel
from wellsvm.geometry.row_cache import Budget, CachedGeometry, KernelRows
from wellsvm.labels import BalancedLabels

MEGABYTE = 2**20


def cached(X, n_kept, bias=0.0, kernel=None):
    """Room for ``n_kept`` rows of the kernel matrix of X in float64."""
    rows = KernelRows(kernel or Kernel("linear"), X, np.dtype(np.float64))
    return CachedGeometry(rows, bias, Budget(8 * X.shape[0] * n_kept))


def problem(seed=0, n=120):
    """Two clouds, ten rows labeled."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, 4)) + 1.2 * truth[:, None]
    return X, np.where(np.arange(n) < 10, truth, 0)


def partly(y):
    return np.where(y == 0, np.nan, y.astype(float))


# ------------------------------------------------------------------ the geometry


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_kept", [2, 5, 14])
@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
def test_descent_keeps_what_the_dense_formulas_say(rows, n_kept, loss):
    rng, n = np.random.default_rng(0), 14
    X = rng.standard_normal((n, 5))
    if rows == "examples":
        label_set = BalancedLabels(np.array([1, -1, 1] + [0] * (n - 3)), 3, 7)
    else:
        label_set = KeyInstances([3, 1, 4, 1, 1, 2, 1, 1], v=1 if rows == "bags" else 2)
        n_kept += 2  # a bag of four may have four keys among the label vectors
    losses = Losses.of(loss, np.resize([1.0, 0.3, 5.0, 0.0], label_set.n_rows))
    check_geometry(cached(X, n_kept, 1.0), label_set, losses, X @ X.T + 1.0, rng)


@pytest.mark.parametrize("batch", [1, 400, row_cache.BATCH])
@pytest.mark.parametrize("n_kept", [1, 7, 60])
def test_an_svm_is_that_of_the_whole_matrix_and_the_budget_is_respected(monkeypatch, n_kept, batch):
    monkeypatch.setattr(row_cache, "BATCH", batch)
    X, _ = problem()
    y = np.where(X.sum(axis=1) > 0, 1, -1).astype(np.int8)
    kernel, losses = Kernel("rbf", gamma=0.3), Losses.of("squared_hinge", np.ones(len(y)))
    part = cached(X, n_kept, 1.0, kernel)
    objectives = []
    for geometry in (GramGeometry(rbf_kernel(X, gamma=0.3), 1.0), part):
        svm = fit_svm(geometry, BalancedLabels(y, 0), losses, y, tol=1e-6, rng=np.random.default_rng(0))
        objectives.append(svm.objective)
    assert objectives[1] == pytest.approx(objectives[0], rel=2e-6)
    assert 0 < part.n_bytes <= part.budget.n_bytes == 8 * len(y) * n_kept


def test_the_rows_used_last_are_kept():
    X, _ = problem(n=10)
    geometry, asked = cached(X, 3), []
    compute = geometry.source.rows
    geometry.source.rows = lambda chosen: asked.append(chosen.tolist()) or compute(chosen)
    for wanted in ([0, 1], [2], [0], [3], [1, 3], [4, 5, 6]):
        with geometry.at_hand(np.array(wanted)):
            coef = np.ones((1, len(wanted)))
            Z = np.zeros((1, 10))
            geometry.gram.combine(np.array(wanted), coef, Z)
        np.testing.assert_allclose(Z[0], (X @ X.T)[wanted].sum(axis=0))
    assert asked == [[0, 1], [2], [3], [1], [4, 5, 6]]  # 3 takes the place of 1, then 1 that of 2


def test_parts_and_means_share_the_budget_with_the_whole():
    X, _ = problem(n=12)
    K, whole = X @ X.T, cached(X, 4)
    chosen, starts = np.array([7, 2, 3]), np.array([0, 1, 4, 9, 12])
    part, means = whole.part(chosen), whole.averaged(starts)
    average = np.add.reduceat(np.eye(12), starts[:-1], axis=0) / np.diff(starts)[:, None]
    expected = [K, K[np.ix_(chosen, chosen)], average @ K @ average.T]
    expected.append(expected[2][1:3, 1:3])
    geometries = [whole, part, means, means.part(np.array([1, 2]))]
    for geometry, matrix in [*zip(geometries, expected), (whole, K)]:
        np.testing.assert_allclose(geometry.matmat(np.eye(len(matrix))), matrix, atol=1e-12)
        np.testing.assert_allclose(geometry.diagonal, matrix.diagonal(), atol=1e-12)
        assert sum(other.n_bytes for other in geometries) == geometry.n_bytes <= whole.budget.n_bytes
        assert [other for other in geometries if other.gram is not None] == [geometry]


def test_a_row_that_fails_is_not_kept():
    X, _ = problem(n=6)
    geometry = cached(X, 3)
    compute = geometry.source.rows

    def fail(chosen):
        raise KeyboardInterrupt

    geometry.source.rows = fail
    with pytest.raises(KeyboardInterrupt):
        geometry.matmat(np.ones((6, 1)))
    geometry.source.rows = compute
    np.testing.assert_allclose(geometry.matmat(np.ones((6, 1)))[:, 0], (X @ X.T).sum(axis=0))


# ------------------------------------------------------------------ the estimators


@pytest.fixture
def caches(monkeypatch):
    """Every cached geometry that an estimator makes."""
    made = []

    class Watched(CachedGeometry):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(_common, "CachedGeometry", Watched)
    return made


KERNELS = {
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    "callable": {"kernel": lambda A, B: rbf_kernel(A, B, gamma=0.1)},
}


@pytest.mark.parametrize("share", [0.1, 0.6])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "callable"])
def test_a_small_cache_gives_the_objective_of_the_whole_matrix(caches, kernel, make, share):
    X, y = problem()
    params = {**KERNELS[kernel], "C_unlabeled": 0.1, "tol": 1e-4, "random_state": 0}
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


def test_clusters_within_a_budget(caches):
    X = np.random.default_rng(0).standard_normal((90, 2)) + 8 * np.repeat(np.eye(3)[:, :2], 30, axis=0)
    whole, part = (
        MaxMarginClustering(n_clusters=3, kernel="rbf", cache_size=c, random_state=0).fit(X) for c in (None, 0.01)
    )
    assert len(caches) == 1
    np.testing.assert_array_equal(part.labels_, whole.labels_)


def test_cross_validation_within_a_budget(caches):
    X, y = problem()
    params = {"kernel": "rbf", "gammas": [0.05, 0.5], "Cs_unlabeled": [0.1], "cv": 2, "random_state": 0}
    whole, part = (SemiSupervisedSVCCV(**params, cache_size=c).fit(X, partly(y)) for c in (None, 0.01))
    assert len(caches) >= 2
    np.testing.assert_allclose(part.scores_, whole.scores_, atol=0.25)  # a row of ten may go another way


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


def test_a_cache_without_room_for_a_bag_says_so():
    X, _ = problem(n=6)
    label_set = KeyInstances([6], v=6)
    y = np.ones(6, dtype=np.int8)
    descent = cached(X, 3).descent(label_set, Losses.of("hinge", np.ones(1)))
    descent.add(descent.candidate(y))
    with pytest.raises(ValueError, match="holds 3 rows of kernel values and a bag needs 6"):
        descent.descend(np.ones(1), np.arange(1), np.random.default_rng(0), 1e-3)


def test_a_callable_that_is_no_kernel_is_refused_though_it_is_never_seen_whole():
    X, y = problem()
    with pytest.raises(ValueError, match="not symmetric"):
        SemiSupervisedSVC(kernel=lambda A, B: A[:, :1] + 0 * B[:, :1].T, cache_size=0.01).fit(X, partly(y))


def test_a_kernel_value_that_is_not_finite_names_its_row():
    X, y = problem()
    X[77] = 1e60
    with pytest.raises(ValueError, match="row 77"), np.errstate(over="ignore", invalid="ignore"):
        SemiSupervisedSVC(kernel="poly", gamma=1.0, degree=3, cache_size=0.05, random_state=0).fit(X, partly(y))
