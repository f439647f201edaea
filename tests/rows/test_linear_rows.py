"""Linear rows: used where they are, thinned, centered, and refused where their norms overflow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wellsvm.rows import CentredRows, LinearRows
from wellsvm.rows.linear import native_rows


def test_a_row_whose_squared_norm_overflows_is_named():
    X = np.ones((4, 3))
    X[2, 1] = 1e200
    for matrix in (X, sparse.csr_matrix(X)):
        rows = LinearRows(matrix)
        with pytest.raises(ValueError, match="row 2"):
            _ = rows.squared_norms


def test_the_data_are_not_copied():
    X = np.ones((5, 3), dtype=np.float32)
    rows = LinearRows(X, 1.0)
    X[:] = 2.0
    np.testing.assert_array_equal(rows.scores(np.ones((4, 1)))[:, 0], 7.0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_weighted_scores_are_the_row_sums_of_weights_times_scores(make):
    rng = np.random.default_rng(0)
    X, U, weights = rng.standard_normal((9, 4)), rng.standard_normal((5, 3)), rng.integers(-1, 2, (9, 3))
    rows = LinearRows(make(X), 2.0)
    scores = np.column_stack([X, np.full(9, 2.0)]) @ U
    np.testing.assert_allclose(rows.scores(U), scores, rtol=1e-12)
    np.testing.assert_allclose(rows.weighted_scores(U, weights), (weights * scores).sum(axis=1), rtol=1e-11, atol=1e-13)


def test_thinned_rows_are_some_of_the_rows_in_their_order():
    X = np.arange(100.0)[:, None]
    for rows in (LinearRows(X), LinearRows(sparse.csr_matrix(X))):
        some = rows.thinned(30, np.random.default_rng(0))
        first = np.array([[1.0], [0.0]])
        values = some.scores(first)[:, 0]
        assert some.n_instances == 30
        assert np.all(np.diff(values) > 0)
        assert np.isin(values, X[:, 0]).all()
        assert not np.array_equal(values, rows.thinned(30, np.random.default_rng(1)).scores(first)[:, 0])


def test_centred_rows_neither_copy_nor_change_the_data():
    X = (np.random.default_rng(0).standard_normal((20, 3)) + 100).astype(np.float32)
    before = X.copy()
    rows = CentredRows(X, 1.0)
    assert rows.X is X
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(rows.taken(np.arange(20)).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(rows.squared_norms, 1.0 + ((X - X.mean(axis=0, dtype=float)) ** 2).sum(axis=1))


def test_a_sparse_matrix_whose_indices_differ_in_width_is_read():
    X = sparse.csr_matrix(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int64)
    norms = np.empty(4)
    native_rows(X).squared_norms(0, 4, norms)
    np.testing.assert_array_equal(norms, 1.0)
