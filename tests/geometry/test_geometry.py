"""Geometries keep what their dense formulas say, and agree with each other; kernels, widths and the memory check."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from checks import KeyInstances, check_geometry
from wellsvm import native
from wellsvm.geometry import GramGeometry, LinearGeometry, gram, kernels
from wellsvm.geometry.base import Losses
from wellsvm.geometry.kernels import Kernel, mean_squared_distance, resolve_gamma
from wellsvm.geometry.linear import padded_width
from wellsvm.geometry.newton import best_step
from wellsvm.labels import BalancedLabels

N, D = 14, 5


def make_label_set(rows):
    if rows == "examples":
        return BalancedLabels(np.array([1, -1, 1] + [0] * (N - 3)), 3, 7)
    return KeyInstances([3, 1, 4, 1, 1, 2, 1, 1], v=1 if rows == "bags" else 2)


def make_losses(loss, n_rows):
    C = np.resize([1.0, 0.3, 5.0, 0.0], n_rows)
    return Losses.of(loss, C)


def make_geometry(kind, X, bias):
    if kind == "gram":
        return GramGeometry(X @ X.T, bias)
    return LinearGeometry(sparse.csr_matrix(X) if kind == "csr" else X, bias)


# Every geometry against dense formulas


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
@pytest.mark.parametrize("kind", ["dense", "csr", "gram"])
def test_descent_keeps_what_the_dense_formulas_say(kind, rows, loss, bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.7)
    label_set = make_label_set(rows)
    check_geometry(make_geometry(kind, X, bias), label_set, make_losses(loss, label_set.n_rows), X @ X.T + bias**2, rng)


@pytest.mark.parametrize("kind", ["dense", "csr", "gram"])
def test_float32_data_are_used_in_float64_sums(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D)).astype(np.float32)
    label_set, wide = make_label_set("examples"), X.astype(np.float64)
    K = wide @ wide.T
    if kind == "gram":
        narrow = np.ascontiguousarray(K.astype(np.float32))
        geometry, K = GramGeometry(narrow, 1.0), narrow.astype(np.float64)
    else:
        geometry = make_geometry(kind, X, 1.0)
    check_geometry(geometry, label_set, make_losses("hinge", N), K + 1.0, rng)


@pytest.mark.parametrize("rows", ["examples", "bags-of-two"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_dense_and_sparse_rows_take_the_same_steps(loss, rows):
    X = np.random.default_rng(2).standard_normal((N, D))
    label_set = make_label_set(rows)
    ends = []
    for kind in ("dense", "csr"):
        rng = np.random.default_rng(3)
        descent = make_geometry(kind, X, 1.0).descent(label_set, make_losses(loss, label_set.n_rows))
        for _ in range(3):
            descent.add(descent.candidate(label_set.initial(rng)))
        for _ in range(5):
            descent.descend(np.full(3, 1 / 3), np.arange(label_set.n_rows), rng, 0.0)
        ends.append(descent)
    np.testing.assert_allclose(ends[0].alpha, ends[1].alpha, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ends[0].U, ends[1].U, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_and_gram_geometry_reach_the_same_function_on_the_same_kernel(loss, rows):
    X = np.random.default_rng(4).standard_normal((N, D))
    label_set = make_label_set(rows)
    scores, norms = [], []
    for kind in ("dense", "csr", "gram"):
        rng = np.random.default_rng(5)
        descent = make_geometry(kind, X, 1.0).descent(label_set, make_losses(loss, label_set.n_rows))
        for _ in range(3):
            descent.add(descent.candidate(label_set.initial(rng)))
        mu = np.array([0.5, 0.3, 0.2])
        for _ in range(5000):
            if descent.descend(mu, np.arange(label_set.n_rows), rng, 1e-11).violation <= 1e-11:
                break
        scores.append(descent.scores(mu))
        norms.append(mu @ descent.squared_norms())  # alpha need not be unique, f and its norm are
    for k in (1, 2):
        np.testing.assert_allclose(scores[k], scores[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(norms[k], norms[0], rtol=1e-7)


def test_linear_weights_and_gram_coefficients_are_the_same_function():
    X = np.random.default_rng(6).standard_normal((N, D))
    label_set, mu = make_label_set("examples"), np.array([0.6, 0.4])
    alpha = np.random.default_rng(7).random(N)
    losses = Losses.of("squared_hinge", np.ones(N))
    linear, gram = (make_geometry(kind, X, 1.0).descent(label_set, losses, alpha) for kind in ("dense", "gram"))
    for seed in (0, 1):
        y = label_set.initial(np.random.default_rng(seed))
        linear.add(linear.candidate(y))
        gram.add(gram.candidate(y))
    w, coef = linear.weights(mu), gram.dual_coef(mu)
    np.testing.assert_allclose(w, np.append(X.T @ coef, coef.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "gram"])
def test_a_start_outside_the_box_is_cut_to_it_and_not_changed(kind):
    X = np.random.default_rng(8).standard_normal((N, D))
    losses, alpha = Losses.of("hinge", np.full(N, 0.5)), np.full(N, 0.9)
    descent = make_geometry(kind, X, 0.0).descent(make_label_set("examples"), losses, alpha)
    np.testing.assert_array_equal(descent.alpha, 0.5)
    np.testing.assert_array_equal(alpha, 0.9)


@pytest.mark.parametrize("kind", ["dense", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_descending_does_not_change_the_start_it_was_given(kind, loss):
    X = np.random.default_rng(8).standard_normal((N, D))
    label_set, rng, alpha = make_label_set("examples"), np.random.default_rng(0), np.full(N, 0.1)
    descent = make_geometry(kind, X, 0.0).descent(label_set, Losses.of(loss, np.ones(N)), alpha)
    descent.add(descent.candidate(label_set.initial(rng)))
    descent.descend(np.ones(1), np.arange(N), rng, 0.0)
    assert not np.array_equal(descent.alpha, alpha)
    np.testing.assert_array_equal(alpha, 0.1)


def test_widths_are_padded_to_compiled_loops():
    assert [padded_width(T) for T in (1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 25)] == [
        1, 2, 4, 4, 8, 8, 16, 16, 24, 24, 32,
    ]  # fmt: skip


def test_more_label_vectors_than_the_widest_loop_stay_in_step():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((N, D))
    label_set, losses = make_label_set("examples"), Losses.of("hinge", np.ones(N))
    descent = LinearGeometry(X, 1.0).descent(label_set, losses)
    for T in range(1, 21):
        descent.add(descent.candidate(label_set.initial(rng)))
        mu = rng.dirichlet(np.ones(T))
        descent.descend(mu, np.arange(N), rng, 0.0)
    K = X @ X.T + 1.0
    spreads = np.stack([descent.alpha * y for y in descent.labels])
    np.testing.assert_allclose(descent.squared_norms(), np.diag(spreads @ K @ spreads.T), rtol=1e-10)
    np.testing.assert_allclose(descent.scores(mu), K @ (mu @ spreads), rtol=1e-9, atol=1e-11)


def test_a_row_whose_squared_norm_overflows_is_named():
    X = np.ones((4, 3))
    X[2, 1] = 1e200
    for matrix in (X, sparse.csr_matrix(X)):
        with pytest.raises(ValueError, match="row 2"):
            LinearGeometry(matrix)


def test_gram_products_skip_rows_without_coefficient_and_lose_nothing():
    rng = np.random.default_rng(10)
    K = rng.standard_normal((N, N))
    K = K @ K.T
    coef = rng.standard_normal((N, 3)) * (rng.random((N, 1)) < 0.4)
    geometry = GramGeometry(K, 2.0)
    for c in (coef, np.zeros((N, 2)), rng.standard_normal((N, 1))):
        np.testing.assert_allclose(geometry.matmat(c), (K + 4.0) @ c, rtol=1e-12, atol=1e-12)


# Losses


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss, power", [("hinge", 1), ("squared_hinge", 2)])
def test_losses_are_what_their_names_say(loss, power, seed):
    rng = np.random.default_rng(seed)
    C, margins, rows = rng.choice([0.0, 0.5, 2.0], 9), 2 * rng.standard_normal(9), np.arange(1, 8)
    expected = sum(C[i] / power * max(0.0, 1 - margins[i]) ** power for i in rows)
    np.testing.assert_allclose(Losses.of(loss, C).total(margins, rows), expected, rtol=1e-13)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_loss_and_its_dual_part_are_conjugate(loss):
    # max over 0 <= a <= cap of a (1 - m) - ridge a^2 / 2 is the loss at margin m
    for C in (0.0, 0.5, 3.0):
        losses = Losses.of(loss, np.array([C]))
        grid = np.linspace(0.0, min(losses.cap[0], 10.0), 2001)
        for margin in (-1.5, 0.2, 1.0, 3.0):
            best = max(losses.dual_linear(np.array([a])) - a * margin for a in grid)
            np.testing.assert_allclose(losses.total(np.array([margin]), np.arange(1)), best, atol=1e-5)


# Kernels


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mean_squared_distance_equals_the_mean_over_all_pairs(make, dtype, seed):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((11, 4)) * (rng.random((11, 4)) < 0.6) + 1.0 * (seed == 3)).astype(dtype)
    wide = X.astype(np.float64)
    pairs = [np.sum((wide[i] - wide[j]) ** 2) for i, j in combinations(range(11), 2)]
    np.testing.assert_allclose(mean_squared_distance(make(X)), np.mean(pairs), rtol=1e-6)
    np.testing.assert_allclose(resolve_gamma("mean", make(X)), 1 / np.mean(pairs), rtol=1e-6)
    np.testing.assert_allclose(mean_squared_distance(make(wide + 1e4)), np.mean(pairs), rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_gamma_rules_scale_and_auto_are_scikit_learns(make):
    X = np.random.default_rng(0).standard_normal((9, 4)) + 0.5
    entries = [value for row in X for value in row]
    variance = sum((value - sum(entries) / 36) ** 2 for value in entries) / 36
    np.testing.assert_allclose(resolve_gamma("scale", make(X)), 1 / (4 * variance), rtol=1e-12)
    assert resolve_gamma("auto", make(X)) == 1 / 4
    assert resolve_gamma(0.3, make(X)) == 0.3


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_gamma_of_rows_that_are_all_equal_is_finite(make):
    for X in (np.full((5, 3), 0.1), np.zeros((5, 3)), np.full((1, 3), 2.0)):
        for rule in ("mean", "scale", "auto"):
            gamma = resolve_gamma(rule, make(X))
            assert np.isfinite(gamma)
            assert gamma > 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_named_kernels_are_scikit_learns(make):
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    expected = {
        "linear": X @ Z.T,
        "rbf": rbf_kernel(X, Z, 0.7),
        "poly": polynomial_kernel(X, Z, 2, 0.7, 0.5),
        "sigmoid": sigmoid_kernel(X, Z, 0.7, 0.5),
    }
    for name, K in expected.items():
        kernel = Kernel(name, gamma=0.7, degree=2, coef0=0.5)
        np.testing.assert_allclose(kernel.between(make(X), make(Z)), K, rtol=1e-12, atol=1e-13)


def test_a_callable_that_returns_the_wrong_shape_is_told_the_right_one():
    X, Z = np.ones((3, 2)), np.ones((4, 2))
    with pytest.raises(ValueError, match=r"returned shape \(4, 3\).*must return shape \(3, 4\)"):
        Kernel(lambda A, B: B @ A.T).between(X, Z)
    np.testing.assert_array_equal(Kernel(lambda A, B: A @ B.T).between(X, Z), 2.0)


def test_a_kernel_matrix_is_contiguous_and_of_a_float_type_the_loops_know():
    X = np.arange(6.0).reshape(3, 2)
    for function in (lambda A, B: np.asfortranarray(A @ B.T), lambda A, B: (A @ B.T).astype(int)):
        K = Kernel(function).gram(X)
        assert K.flags.c_contiguous
        assert K.dtype == np.float64
        np.testing.assert_array_equal(K, X @ X.T)
    assert Kernel("rbf").gram(X.astype(np.float32)).dtype == np.float32


def test_a_precomputed_kernel_is_kept_without_copy():
    K = np.eye(4)
    assert Kernel("precomputed").gram(K) is K


def test_a_kernel_value_that_is_not_finite_names_its_row():
    X = np.ones((4, 2))
    X[2] = 1e60  # its own value overflows, those with the other rows do not
    with pytest.raises(ValueError, match="row 2"), np.errstate(over="ignore"):
        Kernel("poly", gamma=1.0, degree=3).gram(X)


def test_a_kernel_matrix_larger_than_memory_is_refused_before_it_is_made(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("the kernel was computed")

    monkeypatch.setattr(kernels, "_available_memory", lambda: 4 * 320**2)
    fits, large = np.zeros((320, 2)), np.zeros((321, 2))
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "euclidean_distances", never)
        with pytest.raises(MemoryError, match="321 rows"):
            Kernel("rbf").gram(large)
    assert Kernel("rbf").gram(fits).shape == (320, 320)
    with pytest.raises(MemoryError, match="320 rows"):
        Kernel("poly").gram(fits)  # unbounded values are kept in float64, twice the size
    assert Kernel("poly").gram(fits.astype(np.float32)).shape == (320, 320)
    assert Kernel("precomputed").gram(np.zeros((321, 321))).shape == (321, 321)  # already there


def test_a_platform_that_does_not_tell_its_memory_is_trusted(monkeypatch):
    monkeypatch.setattr(kernels, "_available_memory", lambda: None)
    assert Kernel("rbf").gram(np.zeros((5, 2))).shape == (5, 5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid"])
def test_a_kernel_matrix_made_in_blocks_is_the_whole_one(monkeypatch, name, make):
    X = np.random.default_rng(2).standard_normal((23, 3))
    kernel = Kernel(name, gamma=0.7, degree=2, coef0=0.5)
    whole = kernel.between(make(X), make(X))
    monkeypatch.setattr(native, "WORK_PER_CALL", 1200)  # five rows per block
    K = kernel.gram(make(X))
    rounding = np.finfo(K.dtype).eps
    np.testing.assert_allclose(K, whole, rtol=2 * rounding, atol=8 * np.finfo(np.float64).eps)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid"])
def test_kernels_that_differ_in_gamma_share_what_it_does_not_enter(monkeypatch, name, make):
    X = make(np.random.default_rng(3).standard_normal((23, 3)))
    first = Kernel(name, gamma=0.7, degree=2, coef0=0.5)
    pairs = first.pairs(X)
    before = pairs.copy()
    direct = [Kernel(name, gamma, 2, 0.5).gram(X) for gamma in (0.01, 0.7, 4.0)]

    def never(*args, **kwargs):
        raise AssertionError("distances or products were computed again")

    for function in ("euclidean_distances", "linear_kernel"):
        monkeypatch.setattr(kernels, function, never)
    for gamma, K in zip((0.01, 0.7, 4.0), direct):
        shared = Kernel(name, gamma, 2, 0.5).gram(X, pairs=pairs)
        assert shared.dtype == K.dtype
        np.testing.assert_allclose(shared, K, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pairs, before)


def test_pairs_are_not_kept_where_a_matrix_beside_them_would_not_fit(monkeypatch):
    X = np.zeros((50, 2))
    monkeypatch.setattr(kernels, "_available_memory", lambda: 2 * 4 * 50**2 - 1)
    assert Kernel("rbf").pairs(X) is None
    assert Kernel("rbf").gram(X).shape == (50, 50)
    monkeypatch.setattr(kernels, "_available_memory", lambda: 2 * 4 * 50**2)
    assert Kernel("rbf").pairs(X).shape == (50, 50)
    assert Kernel(rbf_kernel).pairs(X) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_do_not_drown_in_a_large_mean(dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 8, (30, 4)) + 2.0**20).astype(dtype)  # whole numbers: exact in float32 too
    exact = np.exp(-0.1 * np.square(X[:, None].astype(np.float64) - X[None].astype(np.float64)).sum(axis=2))
    kernel = Kernel("rbf", gamma=0.1)
    for K in (kernel.gram(X), kernel.between(X, X), Kernel("rbf", 0.1).gram(X, pairs=kernel.pairs(X))):
        np.testing.assert_allclose(K, exact, rtol=1e-5, atol=1e-7)


# Newton's method


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0.0, 100.0])  # 100: no row has slack
@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
def test_newton_solves_the_svm_of_squared_hinge_loss(monkeypatch, rows, start, dtype):
    monkeypatch.setattr(gram, "NEWTON_COST", 0.0)  # take over at once
    rng = np.random.default_rng(3)
    X, label_set = 3 * rng.standard_normal((N, 3)), make_label_set(rows)
    losses, mu = make_losses("squared_hinge", label_set.n_rows), np.array([0.6, 0.3, 0.1])
    stored = (X @ X.T).astype(dtype)
    K, used = stored.astype(np.float64) + 1.0, np.flatnonzero(losses.cap > 0)
    descent = GramGeometry(stored, bias=1.0).descent(label_set, losses, np.where(losses.cap > 0, start, 0.0))
    for _ in range(3):
        descent.add(descent.candidate(label_set.initial(rng)))
    if start:
        monkeypatch.setattr(gram, "EPOCHS_PER_MU", 0)
    sweep = descent.descend(mu, used, rng, goal=0.0)
    # KKT: alpha = slack / ridge, by dense formulas
    alpha = descent.alpha
    margins = sum(m * label_set.gather(K @ label_set.spread(alpha, y), y) for m, y in zip(mu, descent.labels))
    slack = np.maximum(0.0, 1.0 - margins[used])
    np.testing.assert_allclose(alpha[used], slack / losses.ridge[used], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(descent.margins(mu), margins, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sweep.loss, losses.total(margins, used), rtol=1e-9)
    assert np.all(alpha[losses.cap == 0] == 0)
    assert slack.min() == 0 < slack.max()  # else the test would be a linear system


def test_newton_leaves_what_is_not_definite_to_coordinate_descent(monkeypatch):
    monkeypatch.setattr(gram, "NEWTON_COST", 0.0)
    label_set = BalancedLabels(np.array([1, -1, 1, -1]), 0)
    losses = Losses.of("squared_hinge", np.full(4, 2.0))
    descent = GramGeometry(np.diag([1.0, 1.0, 1.0, -0.6])).descent(label_set, losses)
    descent.add(descent.candidate(np.array([1, -1, 1, -1], dtype=np.int8)))
    before = descent.alpha.copy()
    assert not descent._solve_by_newton(np.ones(1), np.arange(4), goal=1e-3)
    np.testing.assert_array_equal(descent.alpha, before)


@pytest.mark.parametrize("C", [1e3, 1e5, 1e7])
def test_newton_turns_to_double_precision_where_single_does_not_do(monkeypatch, C):
    precisions = []
    solved_in = gram.SlackSystem.__init__

    def watched(self, Q, ridge):
        precisions.append(Q.dtype)
        solved_in(self, Q, ridge)

    monkeypatch.setattr(gram.SlackSystem, "__init__", watched)
    n = 300
    X = np.random.default_rng(0).standard_normal((n, 2))
    K = rbf_kernel(X, gamma=0.05).astype(np.float32)
    y = np.where(np.random.default_rng(1).random(n) < 0.5, 1, -1).astype(np.int8)
    label_set, losses = BalancedLabels(y, 0), Losses.of("squared_hinge", np.full(n, C))
    descent = GramGeometry(K, bias=1.0).descent(label_set, losses)
    descent.add(descent.candidate(y))
    solved = descent._solve_by_newton(np.ones(1), np.arange(n), goal=1e-3)
    assert precisions[0] == np.float32
    assert (np.dtype(np.float64) in precisions) == (C > 1e3)
    assert solved == (C < 1e7)  # there the rounded matrix itself is not definite
    if solved:
        margins = y * ((K.astype(np.float64) + 1.0) @ (y * descent.alpha))
        np.testing.assert_allclose(descent.alpha * losses.ridge, np.maximum(0.0, 1.0 - margins), atol=2e-6)


def test_the_best_step_minimises_the_primal_on_the_way():
    rng = np.random.default_rng(1)
    for _ in range(20):
        margins, change, ridge = 2 * rng.standard_normal(6), 3 * rng.standard_normal(6), rng.random(6) + 0.1
        slope, curvature = float(rng.standard_normal()) - 20.0 * rng.random(), float(rng.random())

        def primal(s, margins=margins, change=change, ridge=ridge, slope=slope, curvature=curvature):
            slack = np.maximum(0.0, 1.0 - margins - s * change)
            return slope * s + 0.5 * curvature * s * s + 0.5 * np.sum(slack**2 / ridge)

        s = best_step(slope, curvature, margins, change, ridge)
        assert primal(s) <= min(primal(t) for t in np.linspace(0, 1, 1001)) + 1e-9
