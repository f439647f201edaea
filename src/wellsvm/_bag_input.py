"""What bags are made from, checked: instances as a matrix, the bag of each, columns of a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._input import checked_sparse, require_unique_names
from wellsvm._not_numbers import refuse_masked
from wellsvm._typing import Matrix
from wellsvm.partial_labels import missing_cells
from wellsvm.rows.blocks import Blocks

__all__ = ["as_groups", "as_matrix", "column_names", "kind_of", "numbers", "require", "require_list"]


def require(condition: bool, message: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError(message)


def require_list(values: Any, words: str) -> None:
    """Raise TypeError unless the values can be gone through one by one."""
    try:
        iter(values)
    except TypeError:
        raise TypeError(f"{words}; got {values!r:.80}") from None


def kind_of(X: Matrix) -> str:
    """Whether a matrix is sparse or dense, for an error."""
    return "sparse" if sparse.issparse(X) else "dense"


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a frame, if it is one and all are strings."""
    require_unique_names(X)
    names = list(getattr(X, "columns", []))
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        other = next(name for name in names if not isinstance(name, str))
        raise TypeError(f"some column names are text and others are not, such as {other!r}; make all of them text")
    return names if names and all(isinstance(name, str) for name in names) else None


def as_matrix(X: Any, name: str) -> Matrix:
    """A 2-D dense array or CSR matrix of numbers, without a copy where it is one; rows in blocks stay as they are."""
    if isinstance(X, Blocks):
        return X
    if sparse.issparse(X):
        return checked_sparse(X, name)
    refuse_masked(X, name, lambda row: f"row {row}")
    try:
        X = np.asarray(X)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a 2-D array: {error}") from None
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; expected two dimensions (instances, features)")
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has the dtype {X.dtype}; pass its real part, or its size")
    if X.dtype.kind not in "fiubOUS":
        raise ValueError(f"{name} has the dtype {X.dtype}, which is not numeric")
    if X.dtype.kind not in "fiub":
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name} contains something that is not a number: {error}") from None
    return X


def as_groups(groups: Any, n_instances: int) -> np.ndarray:
    """The bag of each row, one for every instance."""
    try:
        values = np.asarray(groups)
    except (TypeError, ValueError) as error:
        raise ValueError(f"groups is not a list of bags: {error}") from None
    if values.ndim != 1:
        raise ValueError(f"groups has shape {values.shape}; expected one dimension, with the bag of each row")
    if len(values) != n_instances:
        raise ValueError(f"groups has {len(values)} entries for {n_instances} instances; give the bag of every row")
    require(n_instances > 0, "X has no rows; at least one bag with one instance is needed")
    bad = np.flatnonzero(missing_cells(groups))
    if bad.size:
        raise ValueError(f"groups has a missing value in row {bad[0]}; every instance belongs to a bag")
    return values


def numbers(column: Any, name: Any) -> np.ndarray:
    """A column of a frame as floats."""
    values = np.asarray(column)
    if values.ndim != 1 or values.dtype.kind in "cmMV":
        raise ValueError(f"column {name!r} holds {values.dtype} of shape {values.shape}, not one number per row")
    if values.dtype in (np.float32, np.float64):
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"column {name!r} contains something that is not a number: {error}") from None
