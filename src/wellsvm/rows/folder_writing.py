"""Writing a folder of rows: what is appended goes to the disk at once, so that memory stays bounded."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from scipy import sparse

from wellsvm._files import as_path, replacing
from wellsvm._input import checked_sparse
from wellsvm._typing import Matrix
from wellsvm.options import Options
from wellsvm.partial_labels import missing_cells
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.checked import checked_part
from wellsvm.rows.folder import FORMAT, MANIFEST, VERSION, bytes_in, checksum

__all__ = ["FolderWriter", "write_rows"]

OURS = re.compile(r"\d{5,}\.(data|indices|indptr)\.npy|(y|y_missing|groups)\.npy")
HEADER = 128  # bytes before the values of a file: enough for any shape, and aligned


def write_rows(
    path: str | os.PathLike[str], X: Any, y: Any = None, groups: Any = None, block_rows: int | None = None
) -> Path:
    """Write rows into a folder of blocks that `open_rows` opens.

    Parameters
    ----------
    path : path
        The folder. It must not exist yet, be empty, or be the remains of an interrupted call.
    X : array, sparse matrix or dataframe of shape (n_samples, n_features), or an iterable of such parts
        The rows. Parts may come from a generator; only one part at a time is in memory. Names of the columns of
        dataframes are kept, and must be those of the first part.
    y : array of shape (n_samples,), optional
        Labels, stored with the rows; missing labels may be NaN, None or masked.
    groups : array of shape (n_samples,), optional
        The bag of every row.
    block_rows : int, optional
        Rows per block; None makes blocks of about 128 MB.

    Returns
    -------
    Path
        The folder.
    """
    with FolderWriter(path, block_rows, _names_of(X)) as writer:
        for part in _parts(X):
            writer.append(part)
        if y is not None:
            writer.set_beside("y", y)
        if groups is not None:
            writer.set_beside("groups", groups)
    return as_path(path)


def _names_of(X: Any) -> list[str] | None:
    """Names of the columns of a dataframe, or of rows in blocks, where all of them are text."""
    names = X.feature_names if isinstance(X, Blocks) else getattr(X, "columns", None)
    names = [] if names is None else list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def _parts(X: Any) -> Iterable[Any]:
    """A matrix in pieces of a few MB, or the parts that were given."""
    if isinstance(X, Blocks):
        return (X.gather(piece) for piece in X.pieces(np.arange(X.shape[0])))
    if not (sparse.issparse(X) or hasattr(X, "shape")):
        if not isinstance(X, Iterable) or isinstance(X, (str, bytes, Mapping)):
            raise TypeError(f"X must be a matrix or an iterable of matrices; got {type(X).__name__}")
        return X if not isinstance(X, list) or not X or hasattr(X[0], "shape") else [X]
    X = checked_sparse(X) if sparse.issparse(X) else (X if isinstance(X, np.ndarray) else np.asarray(X))
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; expected two dimensions (rows, features)")
    per_row = (X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes) / max(1, X.shape[0])
    step = max(1, int(Options.piece_bytes / max(1.0, per_row)))
    return (X[begin : begin + step] for begin in range(0, max(1, X.shape[0]), step))


class FolderWriter:
    """Appends rows to blocks on disk; leaving it without an error writes the manifest, with one removes the files."""

    def __init__(self, path: str | os.PathLike[str], block_rows: int | None = None, feature_names: Any = None) -> None:
        if block_rows is not None:
            if not isinstance(block_rows, Integral) or isinstance(block_rows, bool) or block_rows < 1:
                raise ValueError(f"block_rows must be a whole number of at least 1; got block_rows={block_rows!r}")
            block_rows = int(block_rows)
        self.path, self.block_rows = as_path(path), block_rows
        self.made = _empty_folder(self.path)
        self.feature_names = None if feature_names is None else list(feature_names)
        self.n_rows, self.n_features = 0, 0
        self.blocks: list[dict[str, Any]] = []
        self.beside: dict[str, int] = {}
        self.sparse: bool | None = None
        self.dtype: np.dtype = np.dtype(np.float64)
        self.index_dtype: np.dtype = np.dtype(np.int32)
        self._files: dict[str, _Growing] = {}
        self._in_block = self._entries = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            try:
                self._finish()
                return
            except BaseException:
                self._remove()
                raise
        self._remove()

    def append(self, X: Any) -> None:
        """Write more rows; all parts are of one kind and type."""
        self._check_names(_names_of(X))
        X = checked_part(X, "X", self.n_rows)
        if self.sparse is None:
            self.sparse, self.dtype, self.n_features = sparse.issparse(X), X.dtype, X.shape[1]
            self.index_dtype = np.dtype(np.int32 if X.shape[1] <= np.iinfo(np.int32).max else np.int64)
        if self.sparse != sparse.issparse(X):
            raise ValueError(f"row {self.n_rows} on is {'dense' if self.sparse else 'sparse'}, unlike the rows before")
        if X.shape[1] != self.n_features and not self.sparse:
            raise ValueError(f"row {self.n_rows} on has {X.shape[1]} features, the rows before {self.n_features}")
        if np.promote_types(X.dtype, self.dtype) != self.dtype:
            raise ValueError(
                f"row {self.n_rows} on is of {X.dtype}, the rows before of {self.dtype}; convert them first"
            )
        self.n_features = max(self.n_features, X.shape[1])
        begin = 0
        while begin < X.shape[0]:
            room = X.shape[0] - begin if self.block_rows is None else self.block_rows - self._in_block
            self._write(X[begin : begin + room])
            begin += room
            if self._block_is_full():
                self._close_block()

    def _check_names(self, names: list[str] | None) -> None:
        """Names are those of the first part; parts without names are taken as they are."""
        if self.n_rows == 0 and self.feature_names is None:
            self.feature_names = names
        elif names is not None and names != self.feature_names:
            before = "have no names" if self.feature_names is None else f"are {self.feature_names!r:.80}"
            raise ValueError(
                f"the columns from row {self.n_rows} on are {names!r:.80}, and those of the rows before {before}; give "
                "all parts the same columns, in the same order"
            )

    def set_beside(self, name: str, values: Any) -> None:
        """Write labels ("y") or bags ("groups") of all rows."""
        try:
            missing = missing_cells(values)
            array = np.ma.getdata(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} must hold one value for each row: {error}") from error
        if array.shape != (self.n_rows,):
            raise ValueError(f"{name} has shape {array.shape}; expected one value for each of the {self.n_rows} rows")
        if array.dtype == object:
            known = np.array(array[~missing].tolist())
            filled = np.zeros(array.shape, known.dtype if known.size else np.float64)
            filled[~missing] = known
            array = filled
        if array.dtype.kind not in "biufU" or array.ndim != 1:
            raise ValueError(f"{name} holds {array.dtype}, or values of different kinds; use numbers or strings")
        self._save(name, array)
        if missing.any() and (array.dtype.kind != "f" or isinstance(values, np.ma.MaskedArray)):
            self._save(f"{name}_missing", np.asarray(missing, dtype=np.bool_))

    def _save(self, name: str, array: np.ndarray) -> None:
        with replacing(self.path / f"{name}.npy") as file:
            np.save(file, array, allow_pickle=False)
        self.beside[name] = checksum(array)

    def _block_is_full(self) -> bool:
        if self.block_rows is not None:
            return self._in_block >= self.block_rows
        size = sum(file.n_bytes for file in self._files.values())
        return size >= Options.block_bytes

    def _write(self, X: Matrix) -> None:
        if not self._files:
            kinds = ("data", "indices", "indptr") if self.sparse else ("data",)
            stem = self.path / f"{len(self.blocks):05d}"
            self._files = {kind: _Growing(stem.with_name(f"{stem.name}.{kind}.npy")) for kind in kinds}
            if self.sparse:
                self._files["indptr"].append(np.zeros(1, self.index_dtype))
        if self.sparse:
            limit = np.iinfo(self.index_dtype).max
            if self._entries + X.nnz > limit or X.indices.max(initial=0) > limit:
                raise ValueError(f"a block would hold more than {limit} entries; pass a smaller block_rows")
            self._files["indices"].append(X.indices.astype(self.index_dtype, copy=False))
            self._files["indptr"].append((X.indptr[1:] - X.indptr[0] + self._entries).astype(self.index_dtype))
            self._files["data"].append(X.data.astype(self.dtype, copy=False))
            self._entries += X.nnz
        else:
            self._files["data"].append(X.astype(self.dtype, copy=False))
            self._entries += X.size
        self._in_block += X.shape[0]
        self.n_rows += X.shape[0]

    def _close_block(self) -> None:
        rows = self._in_block
        shapes = {"indptr": (rows + 1,), "indices": (self._entries,)}
        data = (self._entries,) if self.sparse else (rows, self.n_features)
        dtypes = {"data": self.dtype}
        for kind, file in self._files.items():
            file.close(shapes.get(kind, data), dtypes.get(kind, self.index_dtype))
        checksums = {kind: file.checksum for kind, file in self._files.items()}
        name = f"{len(self.blocks):05d}"
        self.blocks.append({"name": name, "rows": rows, "entries": self._entries, "checksums": checksums})
        self._files, self._in_block, self._entries = {}, 0, 0

    def _finish(self) -> None:
        if self._files:
            self._close_block()
        if self.sparse is None or self.n_rows == 0:
            raise ValueError("X has no rows; there is nothing to write")
        manifest = {
            "format": FORMAT, "version": VERSION, "shape": [self.n_rows, self.n_features], "dtype": str(self.dtype),
            "sparse": self.sparse, "index_dtype": str(self.index_dtype) if self.sparse else None,
            "feature_names": self.feature_names, "beside": self.beside, "blocks": self.blocks,
        }  # fmt: skip
        with replacing(self.path / MANIFEST) as file:
            file.write(json.dumps(manifest).encode())

    def _remove(self) -> None:
        for file in self._files.values():
            file.file.close()
        _sweep(self.path)
        if self.made:
            with suppress(OSError):
                self.path.rmdir()


class _Growing:
    """A ``.npy`` file whose length is known when it is closed."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "xb")  # noqa: SIM115
        self.file.write(b" " * HEADER)
        self.checksum = self.n_bytes = 0

    def append(self, array: np.ndarray) -> None:
        array = np.ascontiguousarray(array)
        self.checksum = checksum(array, self.checksum)
        self.file.write(bytes_in(array))
        self.n_bytes += array.nbytes

    def close(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        text = repr({"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}).encode()
        self.file.seek(0)
        self.file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", HEADER - 10) + text.ljust(HEADER - 11) + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()


def _empty_folder(path: Path) -> bool:
    """Make the folder, or sweep what an interrupted call has left there; whether it was made."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder of {path} does not exist; make it first")
    if not path.exists():
        path.mkdir()
        return True
    if not path.is_dir():
        raise FileExistsError(f"{path} is a file; pass the name of a folder")
    if (path / MANIFEST).exists():
        raise FileExistsError(f"{path} already contains rows; remove it first, or choose another name")
    others = [entry for entry in os.listdir(path) if not _is_ours(entry)]
    if others:
        raise FileExistsError(f"{path} is not empty (it holds {others[0]}); pass the name of a new folder")
    _sweep(path)
    return False


def _is_ours(name: str) -> bool:
    return bool(OURS.fullmatch(name)) or (name.startswith(".wellsvm-") and name.endswith(".tmp"))


def _sweep(path: Path) -> None:
    for entry in os.listdir(path):
        if _is_ours(entry):
            (path / entry).unlink(missing_ok=True)
