"""f as weights or as an expansion over rows: its values, its round trip through attributes, the size of a pickle."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.function import ATTRIBUTES, KernelFunction, LinearFunction, read, stacked
from wellsvm.rows.kernels import Kernel

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((9, 4)), RNG.standard_normal((6, 4))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_linear_function_is_weights_and_an_intercept(make, dtype):
    function = LinearFunction(RNG.standard_normal((3, 4)), RNG.standard_normal(3))
    rows = X.astype(dtype)
    expected = rows.astype(np.float64) @ function.coef_.T + function.intercept_
    np.testing.assert_allclose(function.values(make(rows)), expected, rtol=1e-12)


def test_a_kernel_function_leaves_rows_without_coefficient_out():
    coef = RNG.standard_normal((2, 6))
    coef[:, [1, 4]] = 0.0
    function = KernelFunction.over(Z, Kernel("rbf", gamma=0.3), coef, np.array([0.5, -0.5]))
    np.testing.assert_array_equal(function.support_, [0, 2, 3, 5])
    np.testing.assert_array_equal(function.support_vectors_, Z[[0, 2, 3, 5]])
    expected = rbf_kernel(X, Z, gamma=0.3) @ coef.T + [0.5, -0.5]
    np.testing.assert_allclose(function.values(X), expected, rtol=1e-10, atol=1e-12)


def test_a_precomputed_kernel_needs_no_rows():
    coef = np.array([[1.0, 0.0, -2.0]])
    function = KernelFunction.over(np.eye(3), Kernel("precomputed"), coef, np.zeros(1))
    assert function.support_vectors_.size == 0
    K = RNG.standard_normal((5, 3))
    np.testing.assert_allclose(function.values(K)[:, 0], K @ coef[0], rtol=1e-12)


def test_what_attributes_hold_is_the_function_again():
    linear = LinearFunction(RNG.standard_normal((2, 4)), np.ones(2))
    kernel = KernelFunction.over(Z, Kernel("rbf", gamma=0.3), RNG.standard_normal((1, 6)), np.ones(1))
    for function in (linear, kernel):
        attributes = {name: value for name, value in vars(function).items() if name in ATTRIBUTES}
        assert set(vars(function)) <= {*ATTRIBUTES, "kernel"}
        again = read({**attributes, "_kernel": Kernel("rbf", gamma=0.3), "other_": 1})
        assert type(again) is type(function)
        np.testing.assert_array_equal(again.values(X), function.values(X))


def test_stacked_functions_are_evaluated_side_by_side():
    parts = [LinearFunction(RNG.standard_normal((1, 4)), RNG.standard_normal(1)) for _ in range(3)]
    expected = np.hstack([part.values(X) for part in parts])
    np.testing.assert_allclose(stacked(parts).values(X), expected, rtol=1e-12)


# ------------------------------------------------------------------ estimators


def fitted(name, n):
    """A linear model of n training rows."""
    rng = np.random.default_rng(1)
    truth = np.arange(n) % 2
    rows = rng.standard_normal((n, 5)) + 3.0 * truth[:, None]
    y = np.where(np.arange(n) < 20, truth, np.nan)
    if name == "bags":
        return MultiInstanceSVC(kernel="linear", random_state=0).fit(Bags(rows, np.arange(n) // 2), truth[: n // 2])
    if name == "clusters":
        return MaxMarginClustering(random_state=0).fit(rows)
    if name == "cv":
        return SemiSupervisedSVCCV(Cs_unlabeled=[0.1], cv=2, random_state=0).fit(rows, y)
    return SemiSupervisedSVC(random_state=0, warm_start=name == "warm").fit(rows, y)


@pytest.mark.parametrize("name", ["plain", "warm", "cv", pytest.param("bags", marks=pytest.mark.slow), "clusters"])
def test_a_pickle_holds_nothing_of_the_size_of_the_training_set(name):
    small, large = fitted(name, 200), fitted(name, 1000)
    arrays = [value for value in large.__getstate__().values() if isinstance(value, np.ndarray)]
    kept = [value.shape for value in arrays if 500 in value.shape or 1000 in value.shape]
    # Clusters keep labels_, which scikit-learn's interface asks for.
    assert len(kept) == (name == "clusters"), kept
    difference = len(pickle.dumps(large)) - len(pickle.dumps(small))
    records = 200 * abs(large.n_iter_ - small.n_iter_)  # a longer history is no training set
    assert difference <= records + 1000 + (4 * 800 if name == "clusters" else 0)
