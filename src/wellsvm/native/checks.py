"""What the kernels take for granted of their arguments: the checks of the compiled module, for the reference.

An array of the wrong type, number of dimensions or layout is a `TypeError`; one that does not fit the others, or whose
contents name something that does not exist, is a `ValueError`. Only what a call is about to use is looked at, and a
call that is refused has changed nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

REALS, INDICES = (np.float32, np.float64), (np.int32, np.int64)


def require(holds: bool | np.bool_, what: str) -> None:
    """Raise a `ValueError` unless the condition holds."""
    if not holds:
        raise ValueError(what)


def require_array(name: str, array: np.ndarray, n_dims: int, *dtypes: DTypeLike, writeable: bool = False) -> None:
    """Refuse what could not be used in place."""
    if not isinstance(array, np.ndarray) or array.ndim != n_dims or array.dtype not in dtypes:
        allowed = " or ".join(str(np.dtype(dtype)) for dtype in dtypes)
        raise TypeError(f"{name} must be an array of {n_dims} dimensions, of {allowed}")
    if not array.flags.c_contiguous or (writeable and not array.flags.writeable):
        raise TypeError(f"{name} must be C-contiguous{' and writeable' if writeable else ''}")
    require(array.flags.aligned, f"{name} does not lie at a multiple of the size of its numbers")


def require_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_features: int) -> None:
    """Look at a whole sparse matrix; what lies beyond its last row is spare room and may be anything."""
    require_array("data", data, 1, *REALS)
    require_array("indices", indices, 1, *INDICES)
    require_array("indptr", indptr, 1, indices.dtype)
    require(len(indptr) > 0, "indptr must have one entry more than there are rows")
    require(len(data) == len(indices), "data and indices must be of equal length")
    require(n_features >= 0, "n_features must not be negative")
    rising = indptr[0] == 0 and np.all(indptr[:-1] <= indptr[1:]) and indptr[-1] <= len(indices)
    require(rising, "indptr must rise from 0 to at most the number of stored entries")
    require(all_below(indices[: indptr[-1]], n_features), "a column index lies outside the matrix")


def require_visits(
    starts: np.ndarray | None, dual: tuple[np.ndarray, ...], order: np.ndarray, n_instances: int
) -> None:
    """Look at the dual (cap, ridge, curvature, alpha), the rows to visit, and where their instances lie."""
    for name, part in zip(("cap", "ridge", "curvature", "alpha"), dual):
        require_array(name, part, 1, np.float64, writeable=name == "alpha")
    n_rows = len(dual[-1])
    require(all(len(part) == n_rows for part in dual), "cap, ridge, curvature and alpha must have one entry per row")
    require_array("order", order, 1, np.int64)
    if starts is None:
        require(n_rows == n_instances, "without starts, alpha must have one entry per instance")
    else:
        require_array("starts", starts, 1, np.int64)
        require(len(starts) == n_rows + 1, "starts must have one entry more than alpha")
    require(all_below(order, n_rows), "order names a row that does not exist")
    if starts is not None:
        first, end = starts[order], starts[order + 1]
        sound = np.all((first >= 0) & (first <= end) & (end <= n_instances))
        require(sound, "starts must rise from 0 to at most the number of instances")


def all_below(indices: np.ndarray, limit: int) -> bool:
    """Whether all indices are in ``0 .. limit - 1``."""
    return bool(np.all((indices >= 0) & (indices < limit)))


def require_labels(name: str, labels: np.ndarray) -> None:
    """Labels are -1, 0 or 1."""
    require(np.all((labels >= -1) & (labels <= 1)), f"{name} must be -1, 0 or 1")
