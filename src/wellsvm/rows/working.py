"""Working rows: copies of those rows of blocks that coordinate descent visits, as many as the memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.native import backend
from wellsvm.options import Options
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.cached import Budget
from wellsvm.rows.linear import LinearRows, native_rows

__all__ = ["WorkingRows"]


class WorkingRows:
    """Rows that were copied out of blocks, in one dense or CSR matrix that grows until its room is used up.

    Then rows that are not asked for make room for those that are. Row i lies at ``places[i]``, its squared norm too.
    """

    def __init__(self, blocks: Blocks, budget: Budget, origin: FloatArray | None = None) -> None:
        self.blocks, self.budget, self.origin = blocks, budget, origin
        n_bytes = int(budget.n_bytes * Options.working_share)
        entry = blocks.dtype.itemsize + (blocks.index_dtype.itemsize if blocks.is_sparse else 0)
        most = blocks.nnz
        if blocks.index_dtype == np.int32:
            most = min(most, np.iinfo(np.int32).max)  # row pointers are of the same type as indices
        self.most_entries: int = min(most, n_bytes // entry)
        longest = blocks.shape[1] if blocks.lengths is None else int(blocks.lengths.max(initial=0))
        if longest > self.most_entries:
            raise ValueError(
                f"memory={budget.n_bytes / 1e6:.3g} MB is too small: the longest row has {longest} entries, "
                f"{longest * entry / 1e6:.3g} MB; allow at least a hundred times as much"
            )
        self.release()

    def release(self) -> None:
        """Forget all rows."""
        self._native: Any = None
        self._data = self._indices = self._indptr = self._norms = np.empty(0)
        self.places: IntArray = np.empty(0, dtype=np.int32)
        self._numbered: IntArray = np.empty(0, dtype=np.int64)
        self._n_held = self._n_entries = 0

    def _lengths(self, instances: IntArray) -> IntArray:
        lengths = self.blocks.lengths
        return np.full(instances.size, self.blocks.shape[1]) if lengths is None else lengths[instances].astype(np.int64)

    def cuts(self, instances: IntArray, ends: IntArray | None) -> list[int]:
        """Where to cut rows so that each portion fits; row k has the instances before ``ends[k]``, or is one itself.

        All at once if they fit; else each portion takes half of the room, the rest is left to rows that come later.
        """
        n_rows = instances.size if ends is None else ends.size
        if self.blocks.nnz <= self.most_entries or n_rows == 0:
            return [n_rows]
        entries = np.cumsum(self._lengths(instances))
        entries = entries if ends is None else entries[ends - 1]
        if entries[-1] <= self.most_entries:
            return [n_rows]
        cuts, begun = [0], 0
        while cuts[-1] < n_rows:
            end = int(np.searchsorted(entries, begun + self.most_entries // 2, side="right"))
            cuts.append(max(end, cuts[-1] + 1))
            if entries[cuts[-1] - 1] - begun > self.most_entries:
                raise ValueError("memory is too small for the key instances of one bag; allow more")
            begun = int(entries[cuts[-1] - 1])
        return cuts[1:]

    @contextmanager
    def at_hand(self, instances: IntArray, later: IntArray) -> Iterator[None]:
        """Have some instances ready for the loops; of those at hand that are wanted ``later`` some may stay."""
        with self.budget.lock:
            self.budget.hand_to(self)
            if self._native is None:
                self._make_room()
            missing = np.sort(instances[self.places[instances] < 0])
            if self._n_entries + int(self._lengths(missing).sum()) > self.most_entries:
                self._keep(instances, later)
            try:
                self._fetch(missing)
            except BaseException:
                self.release()
                raise
            yield

    def _make_room(self) -> None:
        """Room for as many rows as may come; the system gives memory when it is written to."""
        blocks, n = self.blocks, self.blocks.shape[0]
        self.places = np.full(n, -1, dtype=np.int32)
        most = self._most_rows()
        self._data, self._norms = np.empty(self.most_entries, blocks.dtype), np.empty(most)
        if blocks.is_sparse:
            self._indices = np.empty(self.most_entries, blocks.index_dtype)
            self._indptr = np.zeros(most + 1, blocks.index_dtype)
        self._number(min(n, Options.visited_at_once))

    def _most_rows(self) -> int:
        """How many rows the room is enough for, were they the shortest ones."""
        lengths, width = self.blocks.lengths, max(1, self.blocks.shape[1])
        if lengths is None:
            return min(self.blocks.shape[0], self.most_entries // width)
        n_of_length = np.zeros(int(lengths.max(initial=0)) + 1, dtype=np.int64)
        step = Options.piece_bytes // 8  # they are counted as int64
        for begin in range(0, lengths.size, step):
            n_of_length += np.bincount(lengths[begin : begin + step], minlength=n_of_length.size)
        entries = np.cumsum(np.arange(n_of_length.size) * n_of_length)
        fully = int(np.searchsorted(entries, self.most_entries, side="right"))  # all rows shorter than this fit
        most, left = int(n_of_length[:fully].sum()), self.most_entries - int(entries[fully - 1] if fully else 0)
        return most if fully == n_of_length.size else most + left // fully

    def _number(self, n_most: int) -> None:
        """Have the loops know the rows at hand by the numbers that `near` gives them, up to ``n_most``."""
        width, self._numbered = self.blocks.shape[1], np.full(n_most, -1, dtype=np.int64)
        if self.blocks.is_sparse:
            self._native = backend.csr_rows(self._data, self._indices, self._indptr, width, self._numbered)
        else:
            held = self.most_entries // max(1, width)
            X = self._data[: held * width].reshape(held, width)
            self._native = native_rows(X, places=self._numbered, origin=self.origin)

    def near(self, instances: IntArray) -> tuple[Any, int]:
        """What the loops see: these instances as numbers 0, 1, ..., and how many numbers there are."""
        if instances.size > self._numbered.size:
            self._number(instances.size)
        self._numbered[: instances.size] = self.places[instances]
        return self._native, self._numbered.size

    def norms(self, instances: IntArray) -> FloatArray:
        """Squared norms of some instances at hand."""
        return np.asarray(self._norms[self.places[instances]])

    def _fetch(self, missing: IntArray) -> None:
        """Copy rows out of the blocks, a piece at a time."""
        for piece in self.blocks.pieces(missing):
            begin = 0
            for X in self.blocks.look_up(piece):
                self._append(X, piece[begin : begin + X.shape[0]])
                begin += X.shape[0]

    def _append(self, X: Matrix, instances: IntArray) -> None:
        held, entries = self._n_held, self._n_entries
        values = X.data if self.blocks.is_sparse else X.ravel()
        self._data[entries : entries + values.size] = values
        if self.blocks.is_sparse:
            self._indices[entries : entries + values.size] = X.indices
            self._indptr[held + 1 : held + X.shape[0] + 1] = X.indptr[1:] + entries
        self._norms[held : held + X.shape[0]] = LinearRows(X, origin=self.origin).squared_norms
        self.places[instances] = np.arange(held, held + X.shape[0])
        self._n_held, self._n_entries = held + X.shape[0], entries + values.size

    def _keep(self, instances: IntArray, later: IntArray) -> None:
        """Forget all rows but these, and the first of those wanted ``later`` that the room is enough for; close the
        gaps: every row moves towards the beginning, or stays."""
        room = self.most_entries - int(self._lengths(instances).sum())
        later = later[self.places[later] >= 0]
        later = later[: int(np.searchsorted(np.cumsum(self._lengths(later)), room, side="right"))]
        owners = np.concatenate([instances[self.places[instances] >= 0], later])
        owners = owners[np.argsort(self.places[owners])]
        wanted = self.places[owners].astype(np.int64)
        self.places[:] = -1
        self._norms[: wanted.size] = self._norms[wanted]
        if self.blocks.is_sparse:
            begins, ends = self._indptr[wanted].astype(np.int64), self._indptr[wanted + 1].astype(np.int64)
        else:
            begins, ends = wanted * self.blocks.shape[1], (wanted + 1) * self.blocks.shape[1]
        target = np.concatenate([[0], np.cumsum(ends - begins)])
        step = max(1, int(Options.piece_bytes / 4 / max(1.0, self.blocks.bytes_per_row)))  # indices take more
        for first in range(0, wanted.size, step):
            last = min(first + step, wanted.size)
            to, n = slice(int(target[first]), int(target[last])), int(target[last] - target[first])
            sizes = ends[first:last] - begins[first:last]
            chosen = np.repeat(begins[first:last] - target[first:last] + target[first], sizes) + np.arange(n)
            self._data[to] = self._data[chosen]
            if self.blocks.is_sparse:
                self._indices[to] = self._indices[chosen]
        if self.blocks.is_sparse:
            self._indptr[: target.size] = target
        self.places[owners] = np.arange(wanted.size)
        self._n_held, self._n_entries = wanted.size, int(target[-1])
