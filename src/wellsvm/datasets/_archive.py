"""One ``.npz`` file (dense, CSR, with or without bags) as a data set, read without pickle."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import Bunch

from wellsvm._archives import check_archive
from wellsvm._files import as_path
from wellsvm._input import checked_sparse

__all__ = ["load_npz"]

Arrays = dict[str, NDArray[Any]]

_CSR_ARRAYS = ("data", "indices", "indptr", "shape", "format")
_FLOATING = (np.dtype(np.float32), np.dtype(np.float64))


def load_npz(path: str | os.PathLike[str], *, dtype: DTypeLike = np.float64) -> Bunch:
    """Load a data set from a ``.npz`` file of NumPy, or of :func:`scipy.sparse.save_npz`.

    Parameters
    ----------
    path : path
        The file. It contains an array ``X``, or the arrays of a CSR matrix; and optionally ``y``, and ``bag``, the
        index of each row's bag, starting at 0.
    dtype : float32 or float64, default=float64
        Type of X if the file contains integers, which would wrap around in arithmetic, or half-precision numbers.
        float32 and float64 keep their type.

    Returns
    -------
    data : Bunch
        ``X`` dense (n_samples, n_features) or csr_matrix; ``y`` per row, or per bag if there are bags, integers as
        int64, None where the file has none; ``groups`` (= ``bag``), the bag of each row, where the file has it; any
        other array under its own name, arrays of text as lists of str, single values as Python's.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is damaged, or its arrays do not fit together.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from wellsvm.datasets import load_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/rows.npz", X=np.eye(3), y=[1, -1, 1])
    ...     load_npz(f"{folder}/rows.npz").X.shape
    (3, 3)
    """
    path = as_path(path)
    try:
        dtype = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"dtype must be float32 or float64; got dtype={dtype!r:.80}") from error
    if dtype not in _FLOATING:
        raise ValueError(f"dtype={dtype} must be float32 or float64")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file")
    try:
        return _to_bunch(_read(path), dtype)
    except Exception as error:  # a damaged file can raise anything
        raise ValueError(f"{path} is damaged or not a data set: {error}; download the file again") from error


def _read(path: Path) -> Arrays:
    with zipfile.ZipFile(path) as archive:  # for anything else NumPy would offer to load it unsafely
        check_archive(archive, path.stat().st_size)
        if other := [name for name in archive.namelist() if not name.endswith(".npy")]:
            raise ValueError(f"its member {other[0]!r} is not an array")
    with np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def _to_bunch(arrays: Arrays, dtype: np.dtype[Any]) -> Bunch:
    """Name and convert what a file holds; raises ValueError where the parts do not fit together."""
    data = Bunch(X=_take_matrix(arrays, dtype), y=None)
    for key, value in arrays.items():
        if value.dtype.kind == "U" and value.ndim == 1:
            data[key] = [str(item) for item in value]
        else:
            data[key] = value.item() if value.ndim == 0 else value
    if data.y is not None and data.y.dtype.kind in "biu":
        data.y = data.y.astype(np.int64)  # int8 in many files: y @ y would wrap around
    if "bag" in data:
        data.groups = data.bag
    _check_lengths(data)
    return data


def _take_matrix(arrays: Arrays, dtype: np.dtype[Any]) -> Any:
    """Remove the arrays of X from ``arrays`` and return the matrix, floating."""
    if "X" in arrays:
        X = arrays.pop("X")
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}, expected two dimensions")
        return _floating(X, dtype)
    if any(key not in arrays for key in _CSR_ARRAYS):
        raise ValueError(f"neither an array X nor a CSR matrix; it holds {sorted(arrays)}")
    values, indices, indptr, shape, layout = (arrays.pop(key) for key in _CSR_ARRAYS)
    if layout.item() not in (b"csr", "csr"):
        raise ValueError(f"sparse format {layout.item()!r}, expected csr")
    if not all(part.ndim == 1 and part.dtype.kind in "iu" for part in (indices, indptr, shape)):
        raise ValueError("indices, indptr and shape must be whole numbers")
    n_rows, n_columns = (int(size) for size in shape)
    return checked_sparse(sp.csr_matrix((_floating(values, dtype), indices, indptr), shape=(n_rows, n_columns)))


def _floating(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if values.dtype.kind not in "fiub":
        raise ValueError(f"X holds {values.dtype}, not numbers")
    return values if values.dtype in _FLOATING else values.astype(dtype)


def _check_lengths(data: Bunch) -> None:
    n_rows = data.X.shape[0]
    if "bag" in data and getattr(data.bag, "dtype", np.dtype(object)).kind not in "iu":
        raise ValueError("bag must hold the number of each row's bag")
    n_labels = n_rows if "bag" not in data else int(data.bag.max()) + 1
    if "bag" in data and len(data.bag) != n_rows:
        raise ValueError(f"bag has {len(data.bag)} entries for {n_rows} rows of X")
    if data.y is not None and len(data.y) != n_labels:
        raise ValueError(f"y has {len(data.y)} entries, expected {n_labels}")
