"""The rivals of Table 11 keep what their papers promise."""

from __future__ import annotations

import pickle
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from checks import random_kernel
from wellsvm.baselines import CPMMC, GMMC, IterativeSVR, KernelKMeans
from wellsvm.baselines._cpmmc import planes_from, solve_plane_program
from wellsvm.baselines._gmmc import solve_dual
from wellsvm.baselines._iterative_svr import best_bias
from wellsvm.baselines._kernel_k_means import lloyd
from wellsvm.baselines._laplacian_svr import LaplacianSVR
from wellsvm.labels import ClusterLabels
from wellsvm.metrics import clustering_accuracy

BLOBS, TRUTH = make_blobs(120, centers=[[0, 0], [6, 4]], random_state=0)
# CPMMC's price is that of the mean loss; at 1 it pays to leave all rows on one side.
MODELS = [KernelKMeans(random_state=0), IterativeSVR(random_state=0), CPMMC(C=100, random_state=0), GMMC()]
NAMES = [type(model).__name__ for model in MODELS]
ALL = pytest.mark.parametrize("model", MODELS, ids=NAMES)


def rows(n=60, shift=1.0, seed=0):
    """Two clouds that overlap."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 4)) + shift * np.outer(np.where(np.arange(n) < n // 3, 1, -1), [1, 0.5, 0, 0])


def centred(K):
    P = np.eye(len(K)) - 1 / len(K)
    return P @ K @ P


def fitted(model, X, **params):
    return type(model)(**{**model.get_params(), **params}).fit(X)


# ------------------------------------------------------------------ all of them


@ALL
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_finds_two_clouds_and_places_new_rows(model, kernel):
    found = fitted(model, BLOBS, kernel=kernel)
    assert clustering_accuracy(TRUTH, found.labels_) == 1
    np.testing.assert_array_equal(found.predict(BLOBS), found.labels_)
    new, truth = make_blobs(50, centers=[[0, 0], [6, 4]], random_state=1)
    assert clustering_accuracy(truth, found.predict(new)) == 1


@ALL
def test_the_larger_cluster_is_the_first(model):
    X, truth = make_blobs([30, 50], centers=[[0, 0], [6, 4]], random_state=0)
    np.testing.assert_array_equal(fitted(model, X, kernel="rbf").labels_, 1 - truth)


@ALL
@pytest.mark.parametrize("change", ["mirror", "shift"])
def test_clusters_do_not_depend_on_what_does_not_matter(model, change):
    X = {"mirror": -BLOBS, "shift": BLOBS + 3.0}[change]
    np.testing.assert_array_equal(fitted(model, X).labels_, fitted(model, BLOBS).labels_)


@ALL
def test_clusters_do_not_depend_on_the_order_of_rows(model):
    order = np.random.default_rng(0).permutation(len(BLOBS))
    assert clustering_accuracy(fitted(model, BLOBS).labels_[order], fitted(model, BLOBS[order]).labels_) == 1


@ALL
def test_a_matrix_of_kernel_values_serves_as_well_as_the_kernel(model):
    X = rows()
    K, new = rbf_kernel(X, gamma=0.2), rows(seed=1)
    a, b = fitted(model, X, kernel="rbf", gamma=0.2), fitted(model, K, kernel="precomputed")
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.predict(new), b.predict(rbf_kernel(new, X, gamma=0.2)))


@ALL
def test_sparse_rows_and_a_seed_give_the_same_and_a_pickle_predicts(model):
    first, again = fitted(model, rows()), fitted(model, sp.csr_matrix(rows()))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(rows(seed=2)), first.predict(rows(seed=2)))


@pytest.mark.parametrize("model", MODELS[1:], ids=NAMES[1:])
def test_the_sign_of_the_function_is_the_cluster(model):
    found = fitted(model, rows(), kernel="rbf")
    np.testing.assert_array_equal(found.decision_function(rows(seed=1)) > 0, found.predict(rows(seed=1)) == 1)


@pytest.mark.parametrize(
    "model, params, message",
    [
        (KernelKMeans(), {"n_clusters": 0}, "n_clusters"),
        (KernelKMeans(), {"n_clusters": 61}, r"n_clusters=61.*60 rows"),
        (KernelKMeans(), {"init": "far"}, "init must be one of 'k-means\\+\\+', 'aligned'"),
        (KernelKMeans(3), {"init": "aligned"}, "n_clusters must be 2"),
        (KernelKMeans(), {"init": np.zeros(59, int)}, r"60 labels in 0, ..., 1; got an array of shape \(59,\)"),
        (KernelKMeans(), {"init": np.full(60, 2)}, "60 labels in 0, ..., 1"),
        (IterativeSVR(), {"C": 0}, "C must be .* greater than 0"),
        (IterativeSVR(), {"balance": 1.5}, "balance must be .* at most 1"),
        (IterativeSVR(), {"init": "svm"}, "init must be one of 'k-means', 'aligned'"),
        (IterativeSVR(), {"init": np.ones(60)}, "labels of two kinds"),
        (CPMMC(), {"balance": 0.0}, "balance must be .* greater than 0"),
        (CPMMC(), {"max_iter": 0}, "max_iter"),
        (GMMC(), {"ridge": 0}, "ridge must be .* greater than 0"),
        (GMMC(), {"kernel": "cosine"}, "kernel must be one of"),
    ],
)
def test_bad_parameters_are_named(model, params, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, rows(), **params)


# ------------------------------------------------------------------ kernel k-means


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_the_inertia_never_rises_and_is_the_sum_of_distances(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 3))
    run = lloyd(rbf_kernel(X, gamma=0.5), rng.integers(n_clusters, size=80), n_clusters, 300)
    assert run.settled
    assert len(run.inertias) > 2
    assert np.all(np.diff(run.inertias) < 0)
    run = lloyd(linear_kernel(X), rng.integers(n_clusters, size=80), n_clusters, 300)
    means = np.array([X[run.labels == c].mean(axis=0) for c in range(n_clusters)])
    np.testing.assert_allclose(run.inertias[-1], np.square(X - means[run.labels]).sum(), rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_with_the_linear_kernel_it_is_k_means(seed):
    X, rng = rows(100, shift=0.5, seed=seed), np.random.default_rng(seed)
    start = rng.integers(3, size=100)
    centres = np.array([X[start == c].mean(axis=0) for c in range(3)])
    theirs = KMeans(3, init=centres, n_init=1, algorithm="lloyd", tol=0).fit(X)
    ours = KernelKMeans(3, init=start).fit(X)
    assert clustering_accuracy(theirs.labels_, ours.labels_) == 1
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-8)
    new = rows(50, shift=0.5, seed=seed + 100)
    assert clustering_accuracy(theirs.predict(new), ours.predict(new)) == 1


def test_no_cluster_is_empty_even_among_equal_rows():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    found = KernelKMeans(4, random_state=0).fit(X)
    assert np.bincount(found.labels_, minlength=4).min() == 1
    assert found.inertia_ == pytest.approx(0, abs=1e-12)
    run = lloyd(linear_kernel(X), np.zeros(10, dtype=int), 3, 300)  # two clusters empty from the start
    assert np.unique(run.labels).size == 3


def test_a_kernel_parts_what_no_line_can():
    X, truth = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    assert clustering_accuracy(truth, KernelKMeans(kernel="linear", random_state=0).fit_predict(X)) < 0.7
    found = KernelKMeans(kernel="rbf", gamma=3.0, random_state=0).fit(X)
    assert clustering_accuracy(truth, found.labels_) == 1


def test_more_starts_never_end_worse_and_labels_that_still_change_are_told():
    X = np.random.default_rng(0).standard_normal((100, 2))
    inertias = [KernelKMeans(8, n_init=n, random_state=0).fit(X).inertia_ for n in (1, 5, 20)]
    assert inertias[0] >= inertias[1] >= inertias[2]
    assert inertias[2] < inertias[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        KernelKMeans(8, n_init=1, max_iter=1, random_state=0).fit(X)


# ------------------------------------------------------------------ iterative support vector regression


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_regression_is_the_optimum_of_a_generic_solver(kernel, C):
    X = rows(40)
    K = linear_kernel(X) if kernel == "linear" else rbf_kernel(X, gamma=0.2)
    y = np.where(np.random.default_rng(0).random(40) < 0.4, 1.0, -1.0)
    L = np.linalg.cholesky(K + 1e-9 * np.eye(40))
    w, b = cp.Variable(40), cp.Variable()
    wanted = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.norm1(y - L @ w - b))).solve(solver=cp.CLARABEL)
    svr = LaplacianSVR(K, C, 1e-6)
    f = K @ (coef := svr.fit(y))
    assert svr.by_interior_point
    assert (svr.L is None) == (kernel == "rbf")
    value = coef @ f / 2 + C * np.abs(y - f - np.median(y - f)).sum()
    assert value == pytest.approx(wanted, rel=1e-5)
    svr.by_interior_point = False  # LIBSVM, for ranks too large
    f = K @ (coef := svr.fit(y))
    assert coef @ f / 2 + C * np.abs(y - f - np.median(y - f)).sum() == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_bias_is_the_best_of_all_cuts_within_the_balance(seed):
    scores, label_set = np.random.default_rng(seed).standard_normal(25), ClusterLabels.of_share(25, 0.4)
    y, b = best_bias(scores, label_set)
    np.testing.assert_array_equal(y, np.where(scores + b > 0, 1, -1))
    assert label_set.contains(y)

    def loss(b):
        y = np.where(scores + b > 0, 1, -1)
        return np.abs(y - scores - b).sum() if label_set.contains(y) else np.inf

    middles = [(low + high) / 2 for low, high in pairwise(np.sort(scores))]
    assert np.abs(y - scores - b).sum() == pytest.approx(min(loss(-middle) for middle in middles))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("balance", [0.0, 0.1, 0.5])
def test_the_clusters_keep_the_balance(kernel, balance):
    X = rows(61, shift=3.0)  # a third against two thirds
    sizes = np.bincount(IterativeSVR(kernel=kernel, balance=balance, random_state=0).fit(X).labels_)
    assert sizes[0] - sizes[1] <= max(1, balance * 61)


@pytest.mark.parametrize("seed", range(3))
def test_it_repairs_a_cut_of_k_means_across_long_clusters(seed):
    # Two stripes, long in one direction and far apart in the other; k-means sees the long one.
    rng, truth = np.random.default_rng(seed), np.arange(120) >= 40
    X = np.column_stack([4 * truth + rng.normal(0, 0.3, 120), truth + rng.normal(0, 3, 120)])
    assert clustering_accuracy(truth, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.8
    assert clustering_accuracy(truth, IterativeSVR(C=10, balance=0.4, random_state=0).fit_predict(X)) == 1


def test_a_start_can_be_given_and_labels_that_still_change_are_told():
    start = np.where(np.random.default_rng(0).random(120) < 0.7, TRUTH, 1 - TRUTH)
    assert clustering_accuracy(TRUTH, start) < 0.8
    found = IterativeSVR(init=np.array(["left", "right"])[start]).fit(BLOBS)
    assert clustering_accuracy(TRUTH, found.labels_) == 1
    assert found.n_iter_ > 1
    assert clustering_accuracy(TRUTH, IterativeSVR(init="aligned", random_state=0).fit_predict(BLOBS)) == 1
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        IterativeSVR(init=start, max_iter=1).fit(BLOBS)


# ------------------------------------------------------------------ cutting plane maximum margin clustering


@pytest.mark.parametrize("seed", range(8))
def test_the_small_program_is_the_optimum_of_a_generic_solver(seed):
    rng = np.random.default_rng(seed)
    m, C, beta = int(rng.integers(1, 12)), float(rng.choice([0.1, 1, 100])), float(rng.choice([1e-6, 0.03, 0.3]))
    A, o, r = rng.standard_normal((m, 5)), rng.standard_normal(m), rng.random(m)
    w, b, xi = cp.Variable(5), cp.Variable(), cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * xi), [A @ w + b * o >= r - xi, cp.abs(b) <= beta])
    wanted = problem.solve(solver=cp.CLARABEL)
    found = solve_plane_program(A @ A.T, o, r, C, beta)
    assert found.lam.min() >= 0
    assert np.all(A @ A.T @ found.lam + found.b * o >= r - found.xi - 1e-12)
    assert np.square(A.T @ found.lam).sum() / 2 + C * found.xi == pytest.approx(wanted, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_the_objective_falls_with_every_step_and_constraints_are_kept(kernel, C):
    X = rows(90)
    K = centred(linear_kernel(X) if kernel == "linear" else rbf_kernel(X, gamma=0.2))
    steps = 0
    for seed in range(6):
        start = np.random.default_rng(seed).standard_normal(90)
        planes = planes_from(K, start, C, 0.1, 1e-3, 100)
        assert np.all(np.diff([plane.objective for plane in planes]) < 0)
        steps += len(planes) - 1
        last = planes[-1]
        np.testing.assert_allclose(last.f, K @ last.coef + last.b, atol=1e-10)
        assert abs(last.f.mean()) <= 0.1 + 1e-9
        loss = np.maximum(0, 1 - np.abs(last.f))
        assert loss.mean() <= last.xi + 1e-3  # the constraint violated most, hence all
        assert last.objective == pytest.approx(last.coef @ K @ last.coef / 2 + C * loss.mean())
    assert steps > 0


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_one_step_is_the_svm_of_its_signs(C):
    # All constraints for fixed signs together say no more than the n hinge losses.
    X, rng = rows(40), np.random.default_rng(0)
    X -= X.mean(axis=0)
    signs = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    w, b = cp.Variable(4), cp.Variable()
    losses = cp.sum(cp.pos(1 - cp.multiply(signs, X @ w + b))) / 40
    wanted = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * losses), [cp.abs(b) <= 0.1]).solve(solver=cp.CLARABEL)
    plane = planes_from(linear_kernel(X), signs, C, 0.1, 1e-5, 1)[0]
    value = plane.coef @ linear_kernel(X) @ plane.coef / 2 + C * np.maximum(0, 1 - signs * plane.f).mean()
    assert value == pytest.approx(wanted, rel=1e-3)


def test_the_estimator_tells_the_mean_of_f_and_a_falling_history():
    X = rows(80)
    model = CPMMC(C=100, kernel="rbf", balance=0.05, random_state=0).fit(X)
    assert abs(model.decision_function(X).mean()) <= 0.05 + 1e-6
    assert model.violation_ <= model.tol
    assert model.history_[-1] == model.objective_
    assert model.n_iter_ == len(model.history_)
    assert model.objective_ <= CPMMC(C=100, kernel="rbf", balance=0.05, n_init=1, random_state=0).fit(X).objective_


# ------------------------------------------------------------------ generalized maximum margin clustering


def program(seed, n=14):
    """The matrix B of a small problem."""
    inverse = np.linalg.inv(random_kernel(np.random.default_rng(seed), n) + 0.05 * np.eye(n))
    sums = inverse.sum(axis=1)
    return inverse - np.outer(sums, sums) / sums.sum() + 1.0


@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_semidefinite_program_is_solved(C, seed):
    B = program(seed)
    n = len(B)
    gamma, S = cp.Variable(n), cp.Variable((n, n), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(gamma)), [B - cp.diag(gamma) == S, gamma >= 0, gamma <= C])
    wanted = problem.solve(solver=cp.CLARABEL)
    found = solve_dual(B, C, 1e-6, 100)
    assert found.gamma.sum() == pytest.approx(wanted, rel=1e-5)
    assert found.gamma.min() >= 0
    assert found.gamma.max() <= C
    assert np.linalg.eigvalsh(B - np.diag(found.gamma)).min() >= 0
    assert 0 <= found.gap <= 1.01e-6 * (found.gamma.sum() + found.gap)
    # The certificate: a positive semidefinite Z of nearly the same value.
    assert np.linalg.eigvalsh(found.Z).min() >= 0
    upper = np.vdot(B, found.Z) + C * np.maximum(0, 1 - np.diag(found.Z)).sum()
    assert upper == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_program_bounds_the_problem_it_relaxes(seed):
    X = rows(12, seed=seed)
    model = GMMC(C=0.5, kernel="rbf", gamma=0.3, tol=1e-6).fit(X)
    K = rbf_kernel(X, gamma=0.3) + 0.01 * np.eye(12)
    least = np.inf
    for bits in range(2**11):  # the best z has |z_i| near 1; l is free and eliminated
        z = np.where(bits >> np.arange(12) & 1, 1.0, -1.0)
        alone, ones = np.linalg.solve(K, np.column_stack([z, np.ones(12)])).T
        l = -alone.sum() / ones.sum()
        least = min(least, (z + l) @ (alone + l * ones) + z.sum() ** 2)
    assert model.objective_ <= least
    assert model.objective_ >= 0.2 * least


def test_a_small_price_is_spectral_clustering():
    # All gamma are at their bound C then, and z is the eigenvector of the smallest eigenvalue of B.
    X = rows(40)
    K = rbf_kernel(X, gamma=0.3)
    model = GMMC(C=1e-4, kernel="precomputed", tol=1e-8).fit(K)
    assert model.objective_ == pytest.approx(40 * 1e-4)
    vectors = np.linalg.eigh(centred(K))[1]
    assert clustering_accuracy(vectors[:, -1] > 0, model.labels_) >= 0.95


def test_too_many_rows_are_refused_with_the_limit_named(monkeypatch):
    monkeypatch.setattr(GMMC, "max_rows", 50)
    with pytest.raises(ValueError, match="at most 50 rows; got n_samples=60"):
        GMMC().fit(rows(60))


def test_an_indefinite_kernel_is_refused_and_a_loose_gap_told():
    with pytest.raises(ValueError, match=r"not positive definite even with ridge=0\.01"):
        GMMC(kernel="precomputed").fit(np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps"):
        GMMC(max_iter=2).fit(BLOBS)


# ------------------------------------------------------------------ scikit-learn's checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([KernelKMeans(), IterativeSVR(), CPMMC(), GMMC(kernel="rbf")])
def test_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
