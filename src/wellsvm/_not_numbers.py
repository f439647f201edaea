"""Where X is not made of numbers: which column, its first cell that is none, and the way out.

scikit-learn tells the cell alone, and dates it counts in days or nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["refuse_dates", "refuse_masked", "what_is_no_number"]

DATES = ("Date", "Time", "Duration", "date", "time", "duration", "period")
# What NumPy says of lists of different lengths, frames that are not collected, generators and records.
NO_TABLE = ("setting an array element", "could not convert", "argument must be", "Cannot cast")
WAY_OUT = (
    "Encode the column as numbers, for instance with sklearn.preprocessing.OneHotEncoder in a "
    "sklearn.compose.ColumnTransformer, or drop it"
)


def refuse_masked(X: Any, name: str, row_name: Callable[[int], str]) -> None:
    """Refuse an array with masked cells: what is below the mask would be taken for data."""
    if isinstance(X, np.ma.MaskedArray) and X.ndim == 2 and (mask := np.ma.getmaskarray(X)).any():
        row, column = np.argwhere(mask)[0]
        raise ValueError(
            f"Input {name} has masked cells, first in {row_name(int(row))}, column {column}. Remove such rows or fill "
            "them in, for instance with sklearn.impute.SimpleImputer after X.filled(numpy.nan)."
        )


def refuse_dates(X: Any, name: str) -> None:
    """Refuse dates and times, in an array or a column of a frame."""
    way_out = "convert them to meaningful numbers, such as the days since an event"
    if getattr(getattr(X, "dtype", None), "kind", "-") in "mM":
        raise ValueError(f"Input {name} holds dates; {way_out}")
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    for column, dtype in zip(columns, X.dtypes):
        if str(dtype).startswith(DATES):
            raise ValueError(f"Input {name}: column {column!r} holds dates or times ({dtype}); {way_out}, or drop it")


def what_is_no_number(X: Any, name: str, row_name: Callable[[int], str], said: str) -> str:
    """What to say in place of what scikit-learn ``said``: the first cell of X that is no number, or that X is no table;
    nothing if neither is the case."""
    for column, cells in _columns(X):
        if cells.dtype.kind in "biuf" or cells.ndim != 1:
            continue
        for row, cell in enumerate(cells.tolist()):
            if not _is_number(cell):
                shown = repr(cell) if isinstance(cell, (str, bytes)) else f"{cell!r} of type {type(cell).__name__}"
                return (
                    f"Input {name}: column {column!r} holds {shown:.120} in {row_name(row)}, which is not a number. "
                    f"{WAY_OUT} ({said})"
                )
    if any(words in said for words in NO_TABLE):
        return f"Input {name} of type {type(X).__name__} is not a table of numbers, of rows and columns: {said}"
    return ""


def _columns(X: Any) -> list[tuple[Any, np.ndarray]]:
    try:
        if hasattr(X, "columns") and hasattr(X, "shape"):
            return [(column, np.asarray(X[column])) for column in X.columns]
        cells = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)
    except (TypeError, ValueError, KeyError):
        return []
    return list(enumerate(cells.T)) if cells.ndim == 2 else []


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return cell is None or type(cell).__name__ == "NAType"  # missing, which is told elsewhere
    except OverflowError:
        return True
    return True
