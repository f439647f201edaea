"""Rows given by a kernel matrix in memory, and which form the rows under a kernel take."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from wellsvm import threads
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.rows.cached import CachedRows
from wellsvm.rows.gram import means_of_groups
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.making import MEGABYTE, gram_matrix, kernel_rows, shared_pairs

N = 14


def test_gram_products_skip_rows_without_coefficient_and_lose_nothing():
    rng = np.random.default_rng(10)
    K = rng.standard_normal((N, N))
    K = K @ K.T
    coef = rng.standard_normal((N, 3)) * (rng.random((N, 1)) < 0.4)
    rows = GramRows(K, 2.0)
    for c in (coef, np.zeros((N, 2)), rng.standard_normal((N, 1))):
        np.testing.assert_allclose(rows.scores(c), (K + 4.0) @ c, rtol=1e-12, atol=1e-12)


def test_products_made_in_pieces_are_the_whole_ones(monkeypatch):
    K, coef = np.arange(float(N * N)).reshape(N, N), np.arange(float(2 * N)).reshape(N, 2)
    K = K + K.T
    monkeypatch.setattr(threads, "WORK_PER_CALL", 3 * N)
    np.testing.assert_allclose(GramRows(K).scores(coef), K @ coef, rtol=1e-12)


def test_means_of_groups_along_either_axis():
    K, starts = np.random.default_rng(0).standard_normal((5, 6)), np.array([0, 1, 4, 6])
    expected = np.stack([K[:, 0], K[:, 1:4].mean(axis=1), K[:, 4:].mean(axis=1)], axis=1)
    np.testing.assert_allclose(means_of_groups(K, starts, axis=1), expected, rtol=1e-12)
    np.testing.assert_allclose(means_of_groups(K.T.copy(), starts, axis=0), expected.T, rtol=1e-12)


# ------------------------------------------------------------------ which form


def test_a_high_price_is_solved_in_double_precision():
    X, limit = np.random.default_rng(0).standard_normal((20, 3)), Options.most_C_in_single
    assert kernel_rows(X, Kernel("rbf"), 1.0, C=limit).dtype == np.float32
    assert kernel_rows(X, Kernel("rbf"), 1.0, C=1.01 * limit).dtype == np.float64
    assert kernel_rows(X, Kernel("poly"), 1.0, C=1.0).dtype == np.float64  # unbounded values


def test_a_matrix_is_kept_in_part_only_where_it_does_not_fit():
    X, whole = np.random.default_rng(0).standard_normal((20, 3)), 4 * 20**2 / MEGABYTE
    for cache_size, form in ((None, GramRows), (whole, GramRows), (0.5 * whole, CachedRows)):
        rows = kernel_rows(X, Kernel("rbf", 0.2), 1.0, 1.0, cache_size)
        assert type(rows) is form
        np.testing.assert_allclose(rows.scores(np.eye(20)), rbf_kernel(X, gamma=0.2) + 1.0, rtol=1e-6)
    K = np.eye(20)
    assert type(kernel_rows(K, Kernel("precomputed"), 0.0, 1.0, 1e-9)) is GramRows  # it is there already


def test_pairs_are_shared_where_two_matrices_fit():
    X, whole = np.random.default_rng(0).standard_normal((20, 3)), 4 * 20**2 / MEGABYTE
    assert shared_pairs(X, Kernel("rbf"), 1.0, 1.9 * whole) is None
    assert shared_pairs(X, Kernel("rbf"), 1.0, 2.0 * whole).shape == (20, 20)


@pytest.mark.parametrize("K, told", [([[1.0, 2.0], [0.0, 1.0]], "not symmetric"), ([[1.0, 0.0], [0.0, -1.0]], "row 1")])
def test_a_matrix_that_is_no_kernels_is_refused(K, told):
    with pytest.raises(ValueError, match=told):
        gram_matrix(np.array(K), Kernel("precomputed"))
