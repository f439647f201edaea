"""Rows under a kernel within a memory budget: rows of the matrix are computed when needed, the last used are kept."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isqrt
from threading import Lock
from typing import Protocol

import numpy as np

from wellsvm._typing import IntArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.gram import GramRows, means_of_groups, native_gram
from wellsvm.rows.kernels import Kernel
from wellsvm.threads import WORK_PER_CALL, slices

__all__ = ["Budget", "CachedRows", "KernelRows", "MeanRows", "RowSource"]


class RowSource(Protocol):
    """Computes rows of a kernel matrix."""

    n_instances: int
    dtype: np.dtype

    def rows(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows, of shape (n_chosen, n_instances)."""

    def block(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows and columns."""

    def part(self, chosen: IntArray) -> RowSource:
        """The source of the matrix of the chosen rows and columns."""


class KernelRows:
    """The kernel matrix of the rows of X."""

    def __init__(self, kernel: Kernel, X: Matrix, dtype: np.dtype) -> None:
        self.kernel, self.X, self.dtype = kernel, kernel.centred(X), dtype
        self.n_instances = X.shape[0]

    def rows(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows, checked to be finite."""
        K = np.asarray(self.kernel.values(self.X[chosen], self.X), dtype=self.dtype)
        self.kernel.require_finite(K, chosen)
        return K

    def block(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows and columns."""
        X = self.X[chosen]
        return np.asarray(self.kernel.values(X, X), dtype=self.dtype)

    def part(self, chosen: IntArray) -> KernelRows:
        """The kernel matrix of the chosen rows of X."""
        return KernelRows(self.kernel, self.X[chosen], self.dtype)


class MeanRows:
    """The kernel matrix of the means of groups of consecutive instances, group i from ``starts[i]`` on."""

    def __init__(self, source: RowSource, starts: IntArray) -> None:
        self.source, self.starts, self.dtype = source, starts, source.dtype
        self.n_instances = len(starts) - 1

    def _instances(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """The instances of the chosen groups, and where each group starts among them."""
        ranges = [np.arange(self.starts[i], self.starts[i + 1]) for i in chosen]
        return np.concatenate(ranges), np.cumsum([0, *map(len, ranges)])

    def rows(self, chosen: IntArray) -> np.ndarray:
        """Means over the rows, then over the columns."""
        instances, starts = self._instances(chosen)
        return means_of_groups(means_of_groups(self.source.rows(instances), starts, axis=0), self.starts, axis=1)

    def block(self, chosen: IntArray) -> np.ndarray:
        """As `rows`, of fewer columns."""
        instances, starts = self._instances(chosen)
        return means_of_groups(means_of_groups(self.source.block(instances), starts, axis=0), starts, axis=1)

    def part(self, chosen: IntArray) -> MeanRows:
        """Of some of the groups."""
        instances, starts = self._instances(chosen)
        return MeanRows(self.source.part(instances), starts)


class KeptRows(Protocol):
    """Whoever keeps rows within a `Budget`."""

    def release(self) -> None:
        """Forget all rows."""


class Budget:
    """Bytes for rows (kernel values, copies) that a set of rows, its parts and its means share: one at a time keeps."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.lock = Lock()  # folds and classes run in threads; each holds it while it needs its rows
        self._holder: Callable[[], KeptRows | None] = lambda: None

    def hand_to(self, rows: KeptRows) -> None:
        """Let the one that has kept rows so far forget them, if it is another one."""
        holder = self._holder()
        if holder is not rows:
            if holder is not None:
                holder.release()
            self._holder = weakref.ref(rows)


class CachedRows(GramRows):
    """Instances given by the rows of ``K + bias^2``, of which as many are kept as the budget allows."""

    def __init__(self, source: RowSource, bias: float, budget: Budget, options: Options = Options()) -> None:
        self.source, self.bias, self.budget, self.options = source, float(bias), budget, options
        self.n_instances, self.dtype = (n := source.n_instances), source.dtype
        self.entries_per_row: float = n
        row = source.dtype.itemsize * max(1, n)
        self.capacity: int = min(n, budget.n_bytes // row)
        if self.capacity < 1:
            raise ValueError(
                f"cache_size={budget.n_bytes / 2**20:.3g} is too small for one row of the kernel values of {n} "
                f"instances; give at least {row / 2**20:.3g} (in MB), better some hundred times that"
            )
        self.max_block = isqrt(budget.n_bytes // 8)
        self._batch = max(1, min(self.capacity, options.batch // max(1, n)))
        self.release()
        self.squared_norms = np.empty(n)
        for begin in range(0, n, options.diagonal_block):
            chosen = np.arange(begin, min(begin + options.diagonal_block, n))
            self.squared_norms[chosen] = source.block(chosen).diagonal() + self.bias**2

    def release(self) -> None:
        """Forget all rows."""
        n = self.n_instances
        self._kept: np.ndarray | None = None
        self.native = None  # it holds the rows
        self._place = np.full(n, -1)  # where the row of an instance is kept
        self._shown = np.full(n, -1)  # the same, of the rows asked for last: what is done must not depend on luck
        self._owner = np.full(self.capacity, -1)
        self._last_use, self._clock = np.zeros(self.capacity, dtype=np.int64), 0

    @property
    def n_bytes(self) -> int:
        """Size of the rows kept."""
        return 0 if self._kept is None else self._kept.nbytes

    @contextmanager
    def at_hand(self, instances: IntArray) -> Iterator[None]:
        """Have the rows of some instances, at most `capacity`, ready for the loops."""
        with self.budget.lock:
            self.budget.hand_to(self)
            if self._kept is None:
                self._kept = np.empty((self.capacity, self.n_instances), self.source.dtype)
                self.native = native_gram(self._kept, self._shown)
            self._fetch(instances)
            self._shown[:] = -1
            self._shown[instances] = self._place[instances]
            yield

    def _fetch(self, instances: IntArray) -> None:
        """Compute the rows that are not kept, in the place of those not used for the longest time."""
        assert self._kept is not None
        self._clock += 1
        kept = self._place[instances] >= 0
        self._last_use[self._place[instances[kept]]] = self._clock
        missing = instances[~kept]
        if missing.size == 0:
            return
        places = np.argpartition(self._last_use, missing.size - 1)[: missing.size]
        gone = self._owner[places]
        self._place[gone[gone >= 0]] = -1
        self._owner[places] = -1
        for begin in range(0, missing.size, self._batch):
            new, at = missing[begin : begin + self._batch], places[begin : begin + self._batch]
            self._kept[at] = self.source.rows(new)
            self._place[new], self._owner[at], self._last_use[at] = at, new, self._clock

    def portions(self, n: int, work_per_row: float) -> Iterator[tuple[int, int]]:
        """Slices of at most a batch."""
        return slices(n, max(work_per_row, WORK_PER_CALL / self._batch))

    def in_good_order(self, instances: IntArray) -> IntArray:
        """Those at hand first: the others would push them out."""
        return instances[np.argsort(self._place[instances] < 0, kind="stable")]

    def block(self, instances: IntArray) -> np.ndarray:
        """Kernel values between some instances."""
        return self.source.block(instances)

    def columns(self, chosen: IntArray) -> np.ndarray:
        """Kernel values between all instances and some, computed anew."""
        return np.ascontiguousarray(self.source.rows(chosen).T)

    def part(self, chosen: IntArray) -> CachedRows:
        """The rows of some instances."""
        return CachedRows(self.source.part(chosen), self.bias, self.budget, self.options)

    def averaged(self, starts: IntArray) -> CachedRows:
        """The means of groups of instances."""
        return CachedRows(MeanRows(self.source, starts), self.bias, self.budget, self.options)
