"""Kernels are scikit-learn's; widths, blocks, shared pairs and the memory check."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel

from wellsvm import threads
from wellsvm.options import Options
from wellsvm.rows import kernels
from wellsvm.rows.kernels import Kernel, mean_squared_distance, resolve_gamma


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

    monkeypatch.setattr(kernels, "available_memory", lambda: 4 * 320**2)
    monkeypatch.setattr(Options, "least_room", 4 * 100**2)
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
    monkeypatch.setattr(kernels, "available_memory", lambda: None)
    assert Kernel("rbf").gram(np.zeros((5, 2))).shape == (5, 5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ["rbf", "poly", "sigmoid"])
def test_a_kernel_matrix_made_in_blocks_is_the_whole_one(monkeypatch, name, make):
    X = np.random.default_rng(2).standard_normal((23, 3))
    kernel = Kernel(name, gamma=0.7, degree=2, coef0=0.5)
    whole = kernel.between(make(X), make(X))
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1200)  # five rows per block
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
    X = np.arange(100.0).reshape(50, 2)
    monkeypatch.setattr(kernels, "available_memory", lambda: 2 * 4 * 50**2 - 1)
    assert Kernel("rbf").pairs(X) is None
    assert Kernel("rbf").gram(X).shape == (50, 50)
    monkeypatch.setattr(kernels, "available_memory", lambda: 2 * 4 * 50**2)
    assert Kernel("rbf").pairs(X).shape == (50, 50)
    assert Kernel(rbf_kernel).pairs(X) is None


@pytest.mark.parametrize("scale", [1e-25, 1e30])
def test_pairs_that_single_precision_cannot_hold_are_not_kept(scale):
    X = np.arange(20.0).reshape(10, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Kernel("rbf").pairs(X * scale) is None
        assert Kernel("rbf").pairs(X * scale, single=False) is not None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_do_not_drown_in_a_large_mean(dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 8, (30, 4)) + 2.0**20).astype(dtype)  # whole numbers: exact in float32 too
    exact = np.exp(-0.1 * np.square(X[:, None].astype(np.float64) - X[None].astype(np.float64)).sum(axis=2))
    kernel = Kernel("rbf", gamma=0.1)
    for K in (kernel.gram(X), kernel.between(X, X), Kernel("rbf", 0.1).gram(X, pairs=kernel.pairs(X))):
        np.testing.assert_allclose(K, exact, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("spread, exact", [(1.0, 4e-6), (30.0, 1e-7)])
@pytest.mark.parametrize("size", [1e-60, 1.0, 1e15])
def test_exponents_are_computed_in_single_precision_only_where_they_are_small(spread, exact, size):
    X = np.random.default_rng(0).standard_normal((200, 60)) * np.where(np.arange(200) < 199, 1.0, spread)[:, None]
    X, gamma = size * X, 1.0 / 120 / size**2
    near = bool((gamma * np.square(X - X.mean(axis=0)).sum(axis=1)).max() <= Options.near_enough)
    assert near == (spread == 1.0)
    K = Kernel("rbf", gamma).gram(X)
    direct = np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))
    assert np.abs(K - direct).max() <= exact
    np.testing.assert_array_equal(K, K.T)
    assert K.max() == K.diagonal().min() == 1.0
