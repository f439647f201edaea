"""Kernel geometry within a memory budget: rows of the kernel matrix are computed when needed, the last used are kept.

Coordinate descent needs the row of an instance only where it moves. Which rows will move is seen from the margins of a
few hundred at a time; those of them that are not kept are computed with one product of matrices. A row that turns out
to want a move in between is left for the next epoch. All else is as in `gram`, and so is the result, up to tol.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isqrt
from threading import Lock
from typing import Protocol, cast

import numpy as np

from wellsvm import native
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.geometry.base import Losses
from wellsvm.geometry.gram import GramDescent, GramGeometry, Visit, means_of_groups
from wellsvm.geometry.kernels import Kernel
from wellsvm.labels.base import LabelSet
from wellsvm.native import make_gram, slices

__all__ = ["Budget", "CachedDescent", "CachedGeometry", "KernelRows", "RowSource"]

# Kernel values computed at once: enough for a product of matrices to pay.
BATCH = 4_000_000
# Side of the blocks that the diagonal is taken from.
DIAGONAL_BLOCK = 64


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


class Budget:
    """Bytes for kernel values, which a geometry, its parts and its means share: one at a time keeps rows."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.lock = Lock()  # folds and classes run in threads; each holds it while it needs its rows
        self._holder: Callable[[], CachedGeometry | None] = lambda: None

    def hand_to(self, geometry: CachedGeometry) -> None:
        """Let the geometry that has kept rows so far forget them, if it is another one."""
        holder = self._holder()
        if holder is not geometry:
            if holder is not None:
                holder.release()
            self._holder = weakref.ref(geometry)


class CachedGeometry(GramGeometry):
    """Instances given by the rows of ``K + bias^2``, of which as many are kept as the budget allows."""

    def __init__(self, source: RowSource, bias: float, budget: Budget) -> None:
        self.source, self.bias, self.budget = source, float(bias), budget
        self.n_instances, self.dtype = (n := source.n_instances), source.dtype
        row = source.dtype.itemsize * max(1, n)
        self.capacity = min(n, budget.n_bytes // row)
        if self.capacity < 1:
            raise ValueError(
                f"cache_size={budget.n_bytes / 2**20:.3g} is too small for one row of the kernel values of {n} "
                f"instances; give at least {row / 2**20:.3g} (in MB), better some hundred times that"
            )
        self.max_block = isqrt(budget.n_bytes // 8)
        self._batch = max(1, min(self.capacity, BATCH // max(1, n)))
        self.release()
        self.diagonal = np.empty(n)
        for begin in range(0, n, DIAGONAL_BLOCK):
            chosen = np.arange(begin, min(begin + DIAGONAL_BLOCK, n))
            self.diagonal[chosen] = source.block(chosen).diagonal() + self.bias**2

    def release(self) -> None:
        """Forget all rows."""
        n = self.n_instances
        self._kept: np.ndarray | None = None
        self.gram = None  # it holds the rows
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
                self.gram = make_gram(self._kept, self._shown)
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
        return slices(n, max(work_per_row, native.WORK_PER_CALL / self._batch))

    def in_good_order(self, instances: IntArray) -> IntArray:
        """Those at hand first: the others would push them out."""
        return instances[np.argsort(self._place[instances] < 0, kind="stable")]

    def block(self, instances: IntArray) -> np.ndarray:
        """Kernel values between some instances."""
        return self.source.block(instances)

    def part(self, rows: IntArray) -> CachedGeometry:
        """The geometry of some instances."""
        return CachedGeometry(self.source.part(rows), self.bias, self.budget)

    def averaged(self, starts: IntArray) -> CachedGeometry:
        """The geometry of the means of groups of instances."""
        return CachedGeometry(MeanRows(self.source, starts), self.bias, self.budget)

    def descent(self, label_set: LabelSet, losses: Losses, alpha: FloatArray | None = None) -> CachedDescent:
        """A coordinate descent, started at ``alpha`` (zeros if None)."""
        return CachedDescent(self, label_set, losses, alpha)


class CachedDescent(GramDescent):
    """Coordinate descent that has the rows of K ready before they are needed."""

    def _visit(self, visit: Visit, rows: IntArray) -> tuple[float, float, int]:
        geometry = cast(CachedGeometry, self.geometry)
        with geometry.at_hand(self._to_move(visit, rows, geometry.capacity)):
            return super()._visit(visit, rows)

    def _to_move(self, visit: Visit, rows: IntArray, capacity: int) -> IntArray:
        """The labeled instances of the first ``rows`` that would move now, as many as the cache holds."""
        alpha, cap, ridge = self.alpha[rows], self.losses.cap[rows], self.losses.ridge[rows]
        gradient = 1.0 - self.label_set.sum_rows(self._signed)[rows] - ridge * alpha
        blocked = ((alpha <= 0) & (gradient < 0)) | ((alpha >= cap) & (gradient > 0))
        instances = self.label_set.instances_of(rows[~blocked & (np.abs(gradient) > visit.threshold)])
        instances = instances[np.any(self.columns[instances], axis=1)]
        owner = self.label_set.row_of[instances]
        whole = np.flatnonzero(np.diff(owner[: capacity + 1], append=-1)) + 1  # ends of rows
        end = instances.size if instances.size <= capacity else int(np.append(0, whole[whole <= capacity])[-1])
        if end == 0 and instances.size:
            n_needed = int(np.count_nonzero(owner == owner[0]))
            raise ValueError(
                f"cache_size holds {capacity} rows of kernel values and a bag needs {n_needed} at once; give a larger "
                "cache_size"
            )
        return instances[:end]
