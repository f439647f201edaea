"""What the workers run: pure functions of their arguments, which the scheduler can run again anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, Matrix
from wellsvm.rows.checked import checked_part
from wellsvm.rows.linear import LinearRows

__all__ = [
    "aligned", "applied", "describe", "hold", "load", "look_at_combination", "look_at_sum", "looked", "made_part",
]  # fmt: skip


def hold(value: Any) -> Any:
    """A value as the result of a task."""
    return value


def load(X: Any, name: str, dtype: Any = None) -> LinearRows:
    """A partition, checked and laid out for the loops."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    X = checked_part(X, name)
    return LinearRows(aligned(X if dtype is None else X.astype(dtype, copy=False)))


def describe(part: LinearRows) -> tuple[Any, ...]:
    """What the driver needs to know of a partition."""
    X = part.X
    if not sparse.issparse(X):
        return X.shape, X.dtype, False, np.dtype(np.int32), None
    return X.shape, X.dtype, True, X.indices.dtype, np.diff(X.indptr).astype(np.int32)


def made_part(make: Callable[..., Matrix], own: Any, *found: Matrix) -> LinearRows:
    """A partition made of rows of others."""
    X = sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.concatenate(found)
    return LinearRows(make(aligned(X), own))


def look_at_combination(part: LinearRows, bias: float, origin: FloatArray | None, coef: FloatArray) -> FloatArray:
    """``sum_j coef_j [x_j - origin; bias]`` over the rows of the partition."""
    return part.seen(bias, origin).combine(coef)


def look_at_sum(part: LinearRows) -> FloatArray:
    """Sum of the rows."""
    return np.asarray(np.add.reduce(part.X, axis=0, dtype=np.float64))


def looked(look: Callable[..., Any], part: LinearRows, *arguments: Any) -> Any:
    """What a look sees; arrays that were received lie anywhere in memory, and the loops need them aligned."""
    return look(part, *map(aligned, arguments))


def aligned(value: Any) -> Any:
    """Arrays, and those of a CSR matrix, copied where they are not aligned and contiguous."""
    if sparse.issparse(value):
        made = sparse.csr_matrix(value.shape, dtype=value.dtype)
        made.data, made.indices, made.indptr = (aligned(part) for part in (value.data, value.indices, value.indptr))
        return made
    return np.require(value, requirements=("C", "A", "W")) if isinstance(value, np.ndarray) else value


def applied(model: Any, method: str, X: Any) -> np.ndarray:
    """A method of a model on the rows of one partition."""
    X = X.X if isinstance(X, LinearRows) else X
    if X.shape[0] == 0:
        return np.asarray(getattr(model, method)(_some_row(X)))[:0]
    return np.asarray(getattr(model, method)(X))


def _some_row(X: Any) -> Any:
    width = X.shape[1]
    return type(X)(np.zeros((1, width)), columns=X.columns) if hasattr(X, "columns") else np.zeros((1, width))
