"""Checks of rows that come in parts: a part becomes a dense or CSR matrix that the loops can use as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._input import checked_sparse
from wellsvm._typing import Matrix
from wellsvm.options import Options

__all__ = ["checked_part"]


def checked_part(X: Any, name: str, first_row: int = 0) -> Matrix:
    """X as a C-contiguous array or canonical CSR matrix of float32 or float64; an error names part and row."""
    if sparse.issparse(X):
        X = checked_sparse(X, name)
    else:
        try:
            X = np.asarray(X)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} from row {first_row} on is not a matrix: {error}") from error
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; expected two dimensions (rows, features)")
    if X.shape[1] == 0:
        raise ValueError(f"{name} has no columns (shape {X.shape}); there is nothing to learn from")
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name} holds {X.dtype}, not numbers; leave such columns out or encode them")
        with np.errstate(over="ignore"):  # what overflows is infinity, which is told below
            X = X.astype(np.float64)
    if not sparse.issparse(X):
        X = np.require(X, requirements=("C", "A"))
    _require_usable(X, name, first_row)
    return X


def _require_usable(X: Matrix, name: str, first_row: int) -> None:
    """Refuse values that no fit can take, looking at some MB at a time: X may be a file mapped into memory."""
    values = (X.data if sparse.issparse(X) else X).ravel()
    largest = min(Options.largest_value, float(np.finfo(values.dtype).max))
    step = Options.piece_bytes // values.itemsize
    for begin in range(0, len(values), step):
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(values[begin : begin + step]) <= largest)
        if bad.any():
            _tell(X, name, first_row, values, begin + int(np.argmax(bad)))


def _tell(X: Matrix, name: str, first_row: int, values: np.ndarray, first: int) -> None:
    at = int(np.searchsorted(X.indptr, first, side="right") - 1) if sparse.issparse(X) else first // X.shape[1]
    value = values[first]
    what = (
        f"{value:g}, too large to be squared twice," if np.isfinite(value) else "NaN" if np.isnan(value) else "infinity"
    )
    raise ValueError(f"{name} contains {what} in row {first_row + at}; remove such rows, fill them in or scale them")
