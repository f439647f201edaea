"""Some rows of a matrix: the rows, or a refusal where another thread has spoiled the matrix meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wellsvm.rows import LinearRows
from wellsvm.rows.taking import some_rows


def matrix():
    return sparse.random(20, 6, 0.5, "csr", random_state=0)


@pytest.mark.parametrize("chosen", [np.array([3, 0, 19]), slice(None), np.array([], dtype=np.int64)])
def test_rows_are_those_chosen_and_share_no_memory_where_they_are_sparse(chosen):
    S = matrix()
    some = some_rows(S, chosen)
    np.testing.assert_array_equal(some.toarray(), S.toarray()[chosen])
    np.testing.assert_array_equal(some_rows(S.toarray(), chosen), S.toarray()[chosen])
    assert not np.shares_memory(some.data, S.data)
    assert not np.shares_memory(some.indices, S.indices)


@pytest.mark.parametrize(
    "name, at, value",
    [("indptr", 4, 10**6), ("indptr", 0, 1), ("indptr", 7, -3), ("indices", 5, 2**31 - 1), ("indices", 5, -1)],
)
@pytest.mark.parametrize("take", [
    lambda rows, X: some_rows(X, np.arange(10)),
    lambda rows, X: rows.part(np.arange(10)),
    lambda rows, X: rows.taken(np.arange(10)),
    lambda rows, X: rows.long_columns,
    lambda rows, X: rows.settled(),
], ids=["rows", "part", "taken", "columns", "settled"])  # fmt: skip
def test_a_matrix_that_was_spoiled_is_refused(name, at, value, take):
    S = matrix()
    rows = LinearRows(S, 1.0)
    getattr(S, name)[at] = value
    with pytest.raises(ValueError, match="changed after it was checked"):
        take(rows, S)
