"""X as users hand it over: checked whole, before SciPy or a compiled loop follows an index.

SciPy checks little when a sparse matrix is made and nothing when its arrays are changed afterwards; its own conversions
then read and write wherever an index points. So this comes first: formats, dtypes, row pointers, the range of every
index. What is legal but unusual is made usual, as a view where that is possible: spare room behind the last entry is
cut off, strided arrays are laid out, odd index types widened, flags that SciPy remembers are forgotten. The row
pointers that are checked are a private copy; the indices too where SciPy will follow them (``own``), so that another
thread which changes the caller's arrays can spoil a result but not the memory of the process. Our own loops compare
every index where they use it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from wellsvm._memory import require_room
from wellsvm._not_numbers import refuse_dates, refuse_masked, what_is_no_number
from wellsvm._typing import Matrix
from wellsvm.options import Options
from wellsvm.rows.blocks import Blocks

__all__ = [
    "blocks_of", "check_matrix", "checked_sparse", "computed", "is_dask", "is_sparse", "require_linear",
    "require_unique_names",
]  # fmt: skip

COMPRESSED = {"csr": (0, "rows"), "csc": (1, "columns"), "bsr": (0, "rows of blocks")}
WAY_OUT = "rebuild the matrix, for example from (data, (row, column))"


def check_matrix(
    estimator: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    name: str = "X",
    row_name: Callable[[int], str] = "row {}".format,
    validate: Callable[..., Matrix] = validate_data,
    own: bool = False,
) -> Matrix:
    """Check X: 2-D, dense or CSR, float32 or float64 kept as given, finite in every row; ``row_name`` is for errors.

    ``own`` asks for a copy of the indices of sparse rows, see above; under a kernel that is not linear they
    always are copied. Rows in blocks were checked when they were written or brought together.
    """
    if (blocks := blocks_of(X)) is not None:
        return _check_blocks(estimator, blocks, reset=reset)
    if sparse.issparse(X):
        linear = isinstance(kernel := getattr(estimator, "kernel", "linear"), str) and kernel == "linear"
        X = checked_sparse(X, name, own=own or not linear)
    else:
        require_unique_names(X, name)
        refuse_dates(X, name)
        refuse_masked(X, name, row_name)
    try:
        with np.errstate(over="ignore"):  # values beyond float64 become infinite, which is told below
            X = validate(
                estimator, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
                accept_large_sparse=True, ensure_all_finite=False,
            )  # fmt: skip
    except OverflowError as error:  # of Python's own integers
        raise ValueError(f"Input {name} has a value that no float64 can hold: {error}") from error
    except (TypeError, ValueError) as error:
        told = "" if sparse.issparse(X) else what_is_no_number(X, name, row_name, str(error))
        if not told:
            raise
        raise (TypeError if isinstance(error, TypeError) else ValueError)(told) from error
    if reset:
        require_room(*X.shape)
    values = (X.data if sparse.issparse(X) else X).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum(dtype=np.float64))
    if not finite and not (mask := np.isfinite(values)).all():
        first = int(np.flatnonzero(~mask)[0])
        kind = "NaN" if np.isnan(values[first]) else "infinity (inf)"
        raise ValueError(
            f"Input {name} contains {kind}, first in {row_name(_row_of(X, first))}. Remove such rows or fill them in, "
            "for instance with sklearn.impute.SimpleImputer."
        )
    if values.size and max(float(values.max()), -float(values.min())) > Options.largest_value:
        first = int(np.flatnonzero(np.abs(values.astype(np.float64)) > Options.largest_value)[0])
        raise ValueError(
            f"Input {name} has a value of {values[first]:g} in {row_name(_row_of(X, first))}: its squared norm "
            f"overflows, or the square of that does; at most {Options.largest_value:g} is allowed. Scale the features "
            "down, for instance with sklearn.preprocessing.MaxAbsScaler."
        )
    return X


def _row_of(X: Matrix, position: int) -> int:
    """Row of a stored entry, given its position."""
    return int(np.searchsorted(X.indptr, position, side="right") - 1 if sparse.issparse(X) else position // X.shape[1])


def checked_sparse(X: Matrix, name: str = "X", *, own: bool = False) -> Matrix:
    """The sparse matrix, whole, as CSR in sorted order without duplicates.

    Parameters
    ----------
    X : sparse matrix or array
        Of any format. Its arrays are not changed.
    name : str
        What errors call it.
    own : bool, default=False
        Whether the indices are a copy too; those of a matrix that is converted always are.

    Returns
    -------
    CSR matrix or array of the same dtype, whose values are the caller's where no conversion is needed.

    Raises
    ------
    ValueError
        What is wrong, by the name of the array, and the way out.
    """
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; Expected 2D array, with two dimensions (rows, features)")
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has the dtype {X.dtype}; pass its real part, or its size")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} has the dtype {X.dtype}, which is not numeric; convert it with astype(float)")
    if X.format == "lil":
        X = X.tocsr()  # joins lists and follows no index
    elif X.format == "dok":
        X = X.tocoo()
    if X.format in COMPRESSED:
        X = _compressed(X, name, own or X.format != "csr")
    elif X.format == "coo":
        X = _coordinates(X, name)
    elif X.format == "dia":
        X = _diagonals(X, name)
    X = X.tocsr()
    if not X.has_canonical_format:  # a column named twice in a row would count as two features
        X = X.copy()
        X.sum_duplicates()
    return X


def require_unique_names(X: Any, name: str = "X") -> None:
    """Refuse a frame that calls two columns the same: features are told apart by their names."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return
    seen: set[Any] = set()
    for column in list(columns):
        try:
            again = column in seen
        except TypeError:  # a name that cannot be compared is no name; scikit-learn has its own words for it
            return
        if again:
            raise ValueError(f"{name} has two columns called {column!r}; column names must be unique")
        seen.add(column)


def _compressed(X: Matrix, name: str, own: bool) -> Matrix:
    """Row pointers and indices of CSR, CSC or BSR, checked."""
    axis, what = COMPRESSED[X.format]
    block = X.blocksize if X.format == "bsr" else (1, 1)
    n_major, n_minor = X.shape[axis] // block[axis], X.shape[1 - axis] // block[1 - axis]
    indptr = _whole_numbers(X.indptr, f"{name}.indptr").copy()
    if len(indptr) != n_major + 1:
        raise ValueError(f"{name}.indptr has {len(indptr)} entries for {n_major} {what}, not one more; {WAY_OUT}")
    n_stored = min(len(X.indices), len(X.data))
    if indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]) or indptr[-1] > n_stored:
        raise ValueError(
            f"{name}.indptr does not rise from 0 to at most the {n_stored} stored entries: it begins with {indptr[0]}, "
            f"ends with {indptr[-1]}; {WAY_OUT}"
        )
    indices = _in_range(_whole_numbers(X.indices, f"{name}.indices")[: indptr[-1]], n_minor, f"{name}.indices", own)
    if X.data.ndim != (3 if X.format == "bsr" else 1) or (X.format == "bsr" and X.data.shape[1:] != tuple(block)):
        raise ValueError(f"{name}.data has the shape {X.data.shape}, which no {X.format} matrix has; {WAY_OUT}")
    data = np.require(X.data[: indptr[-1]], requirements=("C", "A"))
    common = indices.dtype if indptr[-1] <= np.iinfo(indices.dtype).max else np.dtype(np.int64)
    return _made(X, data=data, indices=indices.astype(common, copy=False), indptr=indptr.astype(common, copy=False))


def _coordinates(X: Matrix, name: str) -> Matrix:
    """Rows and columns of COO, checked."""
    row, column = (
        _in_range(_whole_numbers(part, f"{name}.{what}"), size, f"{name}.{what}", own=True)
        for part, size, what in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "col"))
    )
    if not len(row) == len(column) == len(X.data) or X.data.ndim != 1:
        raise ValueError(
            f"{name} has {len(X.data)} values for {len(row)} rows and {len(column)} columns of entries; {WAY_OUT}"
        )
    made = type(X)(X.shape, dtype=X.dtype)
    made.data, made.row, made.col = np.require(X.data, requirements=("C", "A")), row, column
    return made


def _diagonals(X: Matrix, name: str) -> Matrix:
    """Offsets of DIA, checked: one for each row of values."""
    offsets = _whole_numbers(X.offsets, f"{name}.offsets").copy()
    if X.data.ndim != 2 or len(offsets) != X.data.shape[0]:
        raise ValueError(f"{name} has {len(offsets)} offsets for values of shape {X.data.shape}; {WAY_OUT}")
    if len(np.unique(offsets)) != len(offsets):
        raise ValueError(f"{name}.offsets contains the same diagonal twice; {WAY_OUT}")
    return _made(X, data=np.require(X.data, requirements=("C", "A")), offsets=offsets)


def _whole_numbers(part: Any, name: str) -> np.ndarray:
    """An array of indices in a layout and type that loops can use."""
    part = np.asarray(part)
    if part.ndim != 1 or part.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers in one dimension; got {part.dtype} of shape {part.shape}")
    if part.dtype.kind == "u" and part.size and part.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds {part.max()}, which is not an index; {WAY_OUT}")
    # isinstance by size and order of bytes: a type such as ">i4" has to be turned round
    kept = part.dtype if part.dtype in (np.dtype(np.int32), np.dtype(np.int64)) else np.dtype(np.int64)
    return np.require(part, dtype=kept, requirements=("C", "A"))


def _in_range(indices: np.ndarray, size: int, name: str, own: bool) -> np.ndarray:
    """Indices of which all are in ``0 .. size - 1``; copied first if they are to be owned."""
    indices = indices.copy() if own else indices
    lowest, highest = (int(indices.min()), int(indices.max())) if indices.size else (0, -1)
    if lowest < 0 or highest >= size:
        bad = lowest if lowest < 0 else highest
        places = np.flatnonzero(indices == bad)  # none where another thread has changed it again
        where = f" at place {places[0]}" if places.size else ""
        raise ValueError(f"{name} holds {bad}{where}, which is outside the range of {size}; {WAY_OUT}")
    return indices


def _made(X: Matrix, **parts: np.ndarray) -> Matrix:
    """A matrix like X of these arrays, without what SciPy remembers of the order of the old ones.

    SciPy's constructor would choose other index types, at the price of a copy.
    """
    made = X.__class__.__new__(X.__class__)
    made.__dict__.update(vars(X))
    for flag in ("_has_sorted_indices", "_has_canonical_format", "has_sorted_indices", "has_canonical_format"):
        made.__dict__.pop(flag, None)
    made.__dict__.update(parts)
    return made


# ------------------------------------------------------------------ rows in blocks, dask collections


def is_dask(X: Any) -> bool:
    """Whether X is a dask array, dataframe or series; dask is not imported to find out."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(X)


def blocks_of(X: Any) -> Blocks | None:
    """X as rows in blocks, where it is such or a dask collection; else None."""
    if isinstance(X, Blocks):
        return X
    if not is_dask(X):
        return None
    from wellsvm.dask import rows

    return rows(X)


def computed(y: Any, beside: Any = None) -> Any:
    """Labels in memory: as they are, or from a dask collection, of the cluster that the rows ``beside`` them are on."""
    if not is_dask(y):
        return y
    from wellsvm.dask import fetched

    return fetched(y, beside)


def _check_blocks(estimator: Any, X: Blocks, *, reset: bool) -> Blocks:
    """Check width and names against those of `fit`; with ``reset`` keep them instead."""
    if reset:
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if X.feature_names is not None:
            estimator.feature_names_in_ = np.array(X.feature_names, dtype=object)
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def is_sparse(X: Matrix) -> bool:
    """Whether rows are sparse, in memory or in blocks."""
    return X.is_sparse if isinstance(X, Blocks) else sparse.issparse(X)


def require_linear(kernel: Any, X: Matrix) -> None:
    """Refuse rows in blocks under another kernel: its values are those of all pairs of rows."""
    if isinstance(X, Blocks) and not (isinstance(kernel, str) and kernel == "linear"):
        raise ValueError(
            f"kernel={kernel!r} needs all rows in memory, and X is in blocks; pass kernel='linear', or make features "
            "that stand for the kernel, block by block: fit sklearn.kernel_approximation.Nystroem on a sample such as "
            "X[:1000], transform every block, and write the result with wellsvm.write_rows"
        )
