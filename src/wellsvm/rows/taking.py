"""Some rows of a matrix, taken into memory of their own where the matrix is sparse."""

from __future__ import annotations

from copy import copy

import numpy as np
from scipy import sparse

from wellsvm._typing import IntArray, Matrix

__all__ = ["some_rows"]


CHANGED = "the sparse matrix was changed after it was checked: a row points outside of it"


def some_rows(X: Matrix, chosen: IntArray | slice) -> Matrix:
    """The chosen rows; of a sparse X they are copies.

    Another thread may change a sparse X meanwhile, and SciPy trusts row pointers and column indices. So it is given a
    copy of the row pointers, and what it copies is looked at before anyone else uses it.
    """
    if not sparse.issparse(X):
        return X[chosen]
    private = copy(X)
    private.indptr = X.indptr.copy()
    if private.indptr[0] != 0 or np.any(np.diff(private.indptr) < 0) or private.indptr[-1] > X.indices.size:
        raise ValueError(CHANGED)
    some = private[chosen]
    if some.indices.size and not 0 <= some.indices.min() <= some.indices.max() < X.shape[1]:
        raise ValueError(CHANGED)
    return some
