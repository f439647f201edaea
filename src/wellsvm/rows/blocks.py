"""Rows in blocks: of one matrix, on disk or on other machines. Blocks are looked at; rows are copied out of them.

A look is a pure function of the rows of one block, such as their scores. `Blocks` says where blocks lie and brings what
was seen back in their order; `LocalBlocks` are those that this process can read.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.linear import LinearRows

__all__ = ["Blocks", "LocalBlocks", "MadeBlocks", "bytes_of", "stacked_rows"]

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def bytes_of(memory: Any) -> int:
    """A number of bytes, from ``"2 GB"``, ``"500 MB"`` or the number itself."""
    text = re.fullmatch(r"\s*([0-9.]+)\s*([a-zA-Z]*)\s*", memory) if isinstance(memory, str) else None
    try:
        n_bytes = float(text[1]) * UNITS[text[2].lower()] if text else float(memory)
    except (KeyError, TypeError, ValueError, OverflowError):
        n_bytes = 0.0
    if isinstance(memory, bool) or not 0 < n_bytes < np.inf:
        raise ValueError(f"memory must be bytes or a text such as '2 GB' or '500 MB'; got memory={memory!r}")
    return int(n_bytes)


def look_at_norms(part: LinearRows, origin: FloatArray | None) -> FloatArray:
    """Squared norms, without the constant feature; a copy of the rows keeps them, and is gone."""
    return part.seen(0.0, origin).squared_norms


def look_at_scores(part: LinearRows, U: FloatArray, bias: float, origin: FloatArray | None) -> FloatArray:
    """``[x_j, bias] U`` of every row."""
    return part.seen(bias, origin).scores(U)


def look_at_weighted_scores(
    part: LinearRows, U: FloatArray, bias: float, origin: FloatArray | None, weights: np.ndarray
) -> FloatArray:
    """``sum_t weights_jt [x_j, bias]' u_t`` of every row."""
    return part.seen(bias, origin).weighted_scores(U, weights)


def look_for(part: LinearRows, chosen: IntArray) -> Matrix:
    """Copies of the chosen rows."""
    return part.X[chosen]


def stacked_rows(parts: Sequence[Matrix], like: Blocks) -> Matrix:
    """Matrices one above the other."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return empty_rows(like)
    return sparse.vstack(parts, format="csr") if like.is_sparse else np.concatenate(parts)


def empty_rows(like: Blocks) -> Matrix:
    """A matrix without rows, of the width and type of some blocks."""
    shape = (0, like.shape[1])
    return sparse.csr_matrix(shape, dtype=like.dtype) if like.is_sparse else np.empty(shape, like.dtype)


class Blocks(ABC):
    """Rows of one matrix in blocks; what estimators take in place of X where it does not fit into memory.

    Attributes
    ----------
    shape : tuple of int
        Rows and features.
    dtype : dtype
        float32 or float64.
    is_sparse : bool
        Whether the rows are sparse.
    index_dtype : dtype
        Of the column indices of sparse rows: int32 or int64.
    lengths : array of shape (n_rows,) or None
        Stored entries of every row, where rows are sparse.
    offsets : int array of shape (n_blocks + 1,)
        Block k holds the rows ``offsets[k] ... offsets[k + 1] - 1``.
    memory : int
        Bytes that a fit may take for rows copied out of the blocks.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    is_sparse: bool
    index_dtype: np.dtype = np.dtype(np.int32)
    lengths: IntArray | None = None
    offsets: IntArray
    memory: int
    feature_names: Sequence[str] | None = None
    ndim = 2

    @abstractmethod
    def each(
        self, look: Callable[..., Any], shared: tuple[Any, ...] = (), own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        """What ``look(rows of the block, *shared, own[n])`` sees of every block, or of those in ``which``, in order."""

    @abstractmethod
    def combine(self, coef: FloatArray, bias: float, origin: FloatArray | None = None) -> FloatArray:
        """``sum_j coef_j [x_j - origin; bias]``, in the order of the blocks."""

    @abstractmethod
    def total(self) -> FloatArray:
        """Sum of all rows, which are dense."""

    @abstractmethod
    def made(self, cuts: Sequence[IntArray], make: Callable[..., Matrix], own: Sequence[Any]) -> Blocks:
        """Blocks made of these: block k is ``make(rows cuts[k], own[k])``, made anew whenever it is looked at."""

    # -------------------------------------------------------------- as a matrix

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.offsets) - 1

    @cached_property
    def nnz(self) -> int:
        """Stored entries of all rows."""
        return self.shape[0] * self.shape[1] if self.lengths is None else int(self.lengths.sum(dtype=np.int64))

    @property
    def bytes_per_row(self) -> float:
        """Mean size of a row."""
        entry = self.dtype.itemsize + (self.index_dtype.itemsize if self.is_sparse else 0)
        return entry * self.nnz / max(1, self.shape[0]) + (self.index_dtype.itemsize if self.is_sparse else 0)

    def __getitem__(self, key: Any) -> Matrix:
        """Copies of some rows, in memory; always a matrix, of one row for a number."""
        every = np.arange(self.shape[0])
        try:
            chosen = np.atleast_1d(every[key])
        except (IndexError, OverflowError) as error:
            raise IndexError(f"rows are chosen by a number, a slice, a mask or an array of numbers: {error}") from error
        if chosen.ndim != 1:
            raise IndexError(f"rows are chosen by a number, a slice, a mask or an array of numbers; got {key!r:.80}")
        return self.gather(chosen)

    def gather(self, chosen: IntArray) -> Matrix:
        """Copies of the chosen rows, in the order asked for."""
        order = np.argsort(chosen, kind="stable")
        found = stacked_rows(list(self.look_up(chosen[order])), self)
        return found if np.all(order == np.arange(order.size)) else found[np.argsort(order)]

    def look_up(self, chosen: IntArray) -> Iterator[Matrix]:
        """Copies of rows in rising order, block by block."""
        ends = np.searchsorted(chosen, self.offsets)
        which = [k for k in range(self.n_blocks) if ends[k] < ends[k + 1]]
        own = [chosen[ends[k] : ends[k + 1]] - self.offsets[k] for k in which]
        return self.each(look_for, (), own, which)

    def pieces(self, chosen: IntArray) -> list[IntArray]:
        """The chosen rows in pieces of a few MB."""
        step = max(1, int(Options.piece_bytes / max(1.0, self.bytes_per_row)))
        return [chosen[begin : begin + step] for begin in range(0, chosen.size, step)]

    def cuts(self, chosen: IntArray) -> list[IntArray]:
        """The same for blocks that are to be `made` of the chosen rows, which rise."""
        return self.pieces(chosen)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} does not fit in memory as one array; the linear estimators of wellsvm accept it "
            "directly, and X[:n] copies some of its rows"
        )

    def __repr__(self) -> str:
        kind = f"sparse, {self.nnz / max(1, self.shape[0]):.3g} entries a row" if self.is_sparse else "dense"
        return (
            f"{type(self).__name__}({self.shape[0]} x {self.shape[1]} of {self.dtype}, {kind}, {self.n_blocks} blocks)"
        )


class LocalBlocks(Blocks):
    """Blocks that this process can read."""

    @abstractmethod
    def block(self, k: int) -> LinearRows:
        """The rows of block k, without a constant feature."""

    def each(
        self, look: Callable[..., Any], shared: tuple[Any, ...] = (), own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        """One block after the other."""
        for n, k in enumerate(range(self.n_blocks) if which is None else which):
            yield look(self.block(k), *shared, *(() if own is None else (own[n],)))

    def combine(self, coef: FloatArray, bias: float, origin: FloatArray | None = None) -> FloatArray:
        """As one pass over all rows: the same bits, however they are cut into blocks."""
        U = np.zeros((self.shape[1] + 1, coef.shape[1]))
        for k in range(self.n_blocks):
            part = coef[self.offsets[k] : self.offsets[k + 1]]
            if part.any():
                self.block(k).seen(bias, origin).combine_into(part, U)
        return U

    def total(self) -> FloatArray:
        """Added up row by row, as NumPy does for a matrix in memory."""
        total = np.zeros(self.shape[1])
        for begun, piece in enumerate(self.pieces(np.arange(self.shape[0]))):
            X = self.gather(piece)
            total = np.add.reduce(np.vstack([total, X]) if begun else X, axis=0, dtype=np.float64)
        return total

    def made(self, cuts: Sequence[IntArray], make: Callable[..., Matrix], own: Sequence[Any]) -> Blocks:
        """In pieces, of which one at a time is in memory."""
        return MadeBlocks(self, cuts, make, own)


class MadeBlocks(LocalBlocks):
    """Blocks made of the rows of others when they are looked at: some of the rows, rows less a mean, means of rows."""

    def __init__(
        self, source: Blocks, cuts: Sequence[IntArray], make: Callable[..., Matrix], own: Sequence[Any]
    ) -> None:
        self.source, self.members, self.make, self.own = source, cuts, make, own
        self._last: tuple[int, LinearRows] | None = None
        sizes, lengths, dtypes = [], [], {(source.dtype, source.index_dtype)}
        for k in range(len(cuts)):
            X = make(source.gather(cuts[k]), own[k])
            sizes.append(X.shape[0])
            dtypes = {(X.dtype, X.indices.dtype if source.is_sparse else source.index_dtype)}
            if source.is_sparse:
                lengths.append(np.diff(X.indptr).astype(np.int32))
        self.shape = (int(sum(sizes)), source.shape[1])
        ((self.dtype, self.index_dtype),) = dtypes
        self.is_sparse, self.memory = source.is_sparse, source.memory
        self.lengths = np.concatenate(lengths) if lengths else None
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def block(self, k: int) -> LinearRows:
        """Made anew, unless it was the last one made."""
        last = self._last
        if last is None or last[0] != k:
            last = self._last = None  # one at a time is in memory
            last = self._last = k, LinearRows(self.make(self.source.gather(self.members[k]), self.own[k]))
        return last[1]
