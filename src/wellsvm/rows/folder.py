"""A folder of rows: blocks of plain ``.npy`` files, which are mapped into memory, and one manifest, written last.

    manifest.json           version, shape, types; rows, entries and checksums of every block
    00000.data.npy          values of block 0: stored entries of sparse rows, or a matrix of dense ones
    00000.indices.npy       columns of the entries
    00000.indptr.npy        where every row begins, counted inside the block
    y.npy, groups.npy       labels and bags of all rows, where there are any; y_missing.npy where labels are missing

A folder without a manifest does not open.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._files import as_path
from wellsvm._typing import Matrix
from wellsvm.options import Options
from wellsvm.rows.blocks import LocalBlocks, bytes_of
from wellsvm.rows.checked import checked_part
from wellsvm.rows.linear import LinearRows
from wellsvm.rows.manifest import check_manifest

__all__ = ["FORMAT", "MANIFEST", "VERSION", "FolderRows", "checksum", "open_rows"]

FORMAT, VERSION, MANIFEST = "wellsvm rows", 1, "manifest.json"


def checksum(data: np.ndarray, before: int = 0) -> int:
    """CRC-32 of the bytes of an array, going on from another's."""
    view = bytes_in(data)
    for begin in range(0, len(view), Options.piece_bytes):
        before = zlib.crc32(view[begin : begin + Options.piece_bytes], before)
    return before


def bytes_in(data: np.ndarray) -> memoryview:
    """The bytes of an array, without a copy where it is contiguous."""
    return np.ascontiguousarray(data).data.cast("B") if data.size else memoryview(b"")


def open_rows(path: str | os.PathLike[str], memory: Any = "2 GB") -> FolderRows:
    """Open a folder of rows that `write_rows` or ``wellsvm convert`` has written.

    Parameters
    ----------
    path : path
        The folder.
    memory : str or int, default="2 GB"
        Memory that a fit may use for rows copied from the blocks: a string such as "500 MB", or a number of bytes. A
        fit also needs about 75 bytes per row (dual variables, labels, margins) and 8 bytes per feature and label
        vector.

    Returns
    -------
    FolderRows
        An object that `fit`, `predict` and `decision_function` of estimators with a linear kernel accept as X. Its
        ``y`` and ``groups`` are those passed to `write_rows`, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from wellsvm import SemiSupervisedSVC, open_rows, write_rows
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((200, 3)), np.full(200, -1)
    >>> X[:100] += 2
    >>> y[[0, 1, 2, 197, 198, 199]] = [1, 1, 1, 0, 0, 0]
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_rows(f"{folder}/rows", X, y, block_rows=50)
    ...     rows = open_rows(f"{folder}/rows", memory="1 MB")
    ...     model = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(rows, rows.y)
    >>> model.coef_.shape
    (1, 3)
    """
    return FolderRows(as_path(path), memory)


class FolderRows(LocalBlocks):
    """Rows in a folder of blocks; see `open_rows`."""

    def __init__(self, path: Path, memory: Any = "2 GB") -> None:
        self.path, self.memory = path, bytes_of(memory)
        self._manifest = _read_manifest(path)
        blocks = self._manifest["blocks"]
        self.shape = tuple(self._manifest["shape"])
        self.dtype = np.dtype(self._manifest["dtype"])
        self.is_sparse = self._manifest["sparse"]
        self.index_dtype = np.dtype(self._manifest["index_dtype"] or np.int32)
        self.feature_names = self._manifest["feature_names"]
        self.offsets = np.concatenate([[0], np.cumsum([b["rows"] for b in blocks])]).astype(np.int64)
        self._open: OrderedDict[int, LinearRows] = OrderedDict()
        self._checked: set[int] = set()
        if self.is_sparse:
            lengths = [np.diff(self._array(k, "indptr")).astype(np.int32) for k in range(len(blocks))]
            self.lengths = np.concatenate([np.empty(0, np.int32), *lengths])
            if int(self.lengths.sum(dtype=np.int64)) != sum(b["entries"] for b in blocks) or np.any(self.lengths < 0):
                raise ValueError(f"{path} is damaged: the row pointers do not fit the manifest; write the folder again")

    @property
    def y(self) -> np.ndarray | None:
        """Labels of the rows, masked where they are missing."""
        y = self._beside("y")
        missing = self._beside("y_missing")
        return y if y is None or missing is None else np.ma.MaskedArray(y, missing)

    @property
    def groups(self) -> np.ndarray | None:
        """The bag of every row."""
        return self._beside("groups")

    def _beside(self, name: str) -> np.ndarray | None:
        if name not in self._manifest["beside"]:
            return None
        values = np.array(_load(self.path / f"{name}.npy", f"{self.path}: {name}.npy"))
        if values.shape != self.shape[:1] or checksum(values) != self._manifest["beside"][name]:
            raise ValueError(f"{self.path} is damaged: length or checksum of {name}.npy differ; write the folder again")
        return values

    def _array(self, k: int, kind: str) -> np.ndarray:
        """One of the arrays of block k, mapped into memory."""
        block = self._manifest["blocks"][k]
        file = self.path / f"{block['name']}.{kind}.npy"
        array = _load(file, f"{self.path} is damaged: block {k} ({file.name})")
        rows, entries = block["rows"], block["entries"]
        dense = (rows, self.shape[1])
        shape = {"indptr": (rows + 1,), "indices": (entries,)}.get(kind, (entries,) if self.is_sparse else dense)
        dtype = self.dtype if kind == "data" else self.index_dtype
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(
                f"{self.path} is damaged: block {k} ({file.name}) has {array.dtype} of shape {array.shape}"
            )
        return np.asarray(array)

    def block(self, k: int) -> LinearRows:
        """The rows of block k, mapped into memory; its checksum is looked at the first time."""
        if k not in self._open:
            while len(self._open) >= Options.most_open_blocks:
                self._open.popitem(last=False)
            self._open[k] = LinearRows(self._matrix(k))
        return self._open[k]

    def _matrix(self, k: int) -> Matrix:
        kinds = ("data", "indices", "indptr") if self.is_sparse else ("data",)
        arrays = {kind: self._array(k, kind) for kind in kinds}
        if k not in self._checked:
            for kind, array in arrays.items():
                if checksum(array) != self._manifest["blocks"][k]["checksums"][kind]:
                    name = self._manifest["blocks"][k]["name"]
                    raise ValueError(
                        f"{self.path} is damaged: the checksum of block {k} ({name}.{kind}.npy) differs; write the "
                        "folder again"
                    )
        X: Matrix = arrays["data"]
        if self.is_sparse:
            X = sparse.csr_matrix((self._manifest["blocks"][k]["rows"], self.shape[1]), dtype=self.dtype)
            X.data, X.indices, X.indptr = arrays["data"], arrays["indices"], arrays["indptr"]  # SciPy would copy
        if k not in self._checked:
            self._require_written(k, X)
            self._checked.add(k)
        return X

    def _require_written(self, k: int, X: Matrix) -> None:
        """Refuse a block that `write_rows` would not have written: checksums tell of damage, not of a forger."""
        try:
            checked_part(X, f"block {k}", int(self.offsets[k]))
            if self.is_sparse and not X.has_canonical_format:
                raise ValueError(f"a row of block {k} names a column twice, or columns out of order")
        except ValueError as error:
            raise ValueError(f"{self.path} is damaged: {error}; write the folder again") from error

    def __reduce__(self) -> Any:
        return FolderRows, (self.path, self.memory)


def _load(file: Path, what: str) -> np.ndarray:
    """An array mapped into memory: a header that promises more than the file has gives an error and takes nothing."""
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except Exception as error:  # a damaged header can raise anything
        raise ValueError(f"{what} cannot be read: {error}; write the folder again") from error


def _read_manifest(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not a folder; write one with wellsvm.write_rows or `wellsvm convert`")
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} has no {MANIFEST}: it is not a folder of rows, or writing it was interrupted; write it again"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {MANIFEST} cannot be read ({error}); write it again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{path / MANIFEST} is not a manifest of wellsvm rows")
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"{path} is of version {manifest.get('version')}, this wellsvm reads {VERSION}; update wellsvm, or write "
            "the folder again"
        )
    try:
        check_manifest(manifest)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is damaged: in {MANIFEST} {what}; write the folder again") from error
    return manifest
