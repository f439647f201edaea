"""Few rows by the matrix of their inner products.

An SVM of few rows is solved on their matrix in compiled calls of many epochs. Linear rows are passed over in a call for
every epoch, and where columns are correlated there are hundreds of epochs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray
from wellsvm.options import Options
from wellsvm.rows.gram import GramRows

__all__ = ["as_matrix", "in_rows", "inner_products"]


def as_matrix(rows: Any, whole: Any) -> Any:
    """The rows by the matrix of their inner products where they are few, else as they are.

    They stay as they are, too, where the columns of the ``whole`` that they are a part of make coordinate descent slow:
    Newton's method on linear rows begins sooner.
    """
    if isinstance(rows, GramRows) or rows.n_instances > Options.matrix_rows:
        return rows
    if whole.steep or whole.long_columns or whole.widest_spread > Options.wide_column:
        return rows
    return GramRows(inner_products(rows), rows.bias)


def in_rows(rows: Any, matrix: Any, coef: FloatArray) -> FloatArray:
    """Points found on ``matrix = as_matrix(rows)``, one column each, in the form that ``rows`` keep."""
    return coef if matrix is rows else np.asarray(rows.combine(coef))


def inner_products(rows: Any) -> FloatArray:
    """All inner products in feature space of rows that are few: linear ones, without their constant, or a matrix."""
    everything = np.arange(rows.n_instances)
    if not hasattr(rows, "taken"):
        return np.asarray(rows.block(everything), dtype=np.float64)
    X = rows.taken(everything).astype(np.float64, copy=False)
    K = X @ X.T
    return np.ascontiguousarray(K.toarray() if sparse.issparse(K) else K)
