"""Linear rows in blocks: passes read every block in turn, and coordinate descent visits copies of the working rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.base import averaging, instances_of
from wellsvm.rows.blocks import Blocks, look_at_norms, look_at_scores, look_at_weighted_scores
from wellsvm.rows.cached import Budget
from wellsvm.rows.linear import CentredRows, Dual, LinearRows, Seen
from wellsvm.rows.working import WorkingRows

__all__ = ["BlockRows", "CentredBlockRows", "linear_rows"]


def linear_rows(X: Matrix, bias: float = 0.0, n_jobs: int | None = None) -> LinearRows:
    """Rows of a matrix, in memory or in blocks, under the linear kernel, seen from where `LinearRows.settled` says."""
    rows = BlockRows(X, bias, n_jobs) if isinstance(X, Blocks) else LinearRows(X, bias, n_jobs)
    return rows.settled()


class BlockRows(LinearRows):
    """Rows of blocks under the linear kernel ``x'z + bias^2``; the same bits as in memory where all working rows fit.

    Parameters
    ----------
    blocks : Blocks
        Where the rows lie.
    bias : float, default=0.0
        Value of the constant feature.
    n_jobs : int or None, default=None
        Threads of the passes over a block that this process reads.
    options : Options, default=Options()
        Constants.
    budget : Budget, optional
        The memory allowed, shared with the rows that these were made from; None is what the blocks allow.
    origin : array of shape (n_features,), optional
        The point that dense rows are seen from, see `LinearRows`.
    """

    in_memory = False

    def __init__(
        self,
        blocks: Blocks,
        bias: float = 0.0,
        n_jobs: int | None = None,
        options: Options = Options(),
        budget: Budget | None = None,
        origin: FloatArray | None = None,
    ) -> None:
        self.blocks, self.bias, self.n_jobs, self.options, self.origin = blocks, float(bias), n_jobs, options, origin
        self.n_instances, self.n_features = blocks.shape
        self.entries_per_row: float = blocks.nnz / max(1, blocks.shape[0]) if blocks.is_sparse else blocks.shape[1]
        self.dense, self.dtype = not blocks.is_sparse, blocks.dtype
        self.budget = Budget(blocks.memory) if budget is None else budget
        self.working = WorkingRows(blocks, self.budget, origin)

    def __reduce__(self) -> Any:
        return type(self), (self.blocks, self.bias, self.n_jobs, self.options, None, self.origin)

    def _slices(self, values: np.ndarray) -> list[np.ndarray]:
        """What belongs to each block of values per instance."""
        offsets = self.blocks.offsets
        return [values[begin:end] for begin, end in pairwise(offsets)]

    @cached_property
    def squared_norms(self) -> FloatArray:
        """``||x_j||^2 + bias^2`` of every instance."""
        norms = np.empty(self.n_instances)
        for target, seen in zip(self._slices(norms), self.blocks.each(look_at_norms, (self.origin,))):
            target[:] = seen
        norms += self.bias**2
        return norms

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j [x_j; bias]``, of shape (n_features + 1, coef.shape[1])."""
        return self.blocks.combine(coef, self.bias, self.origin)

    def scores(self, U: FloatArray) -> FloatArray:
        """``[x_j, bias] U`` of every instance, of shape (n_instances, U.shape[1])."""
        Z = np.empty((self.n_instances, U.shape[1]))
        for target, seen in zip(self._slices(Z), self.blocks.each(look_at_scores, (U, self.bias, self.origin))):
            target[:] = seen
        return Z

    def weighted_scores(self, U: FloatArray, weights: np.ndarray) -> FloatArray:
        """``sum_t weights_jt [x_j, bias]' u_t`` of every instance."""
        values = np.empty(self.n_instances)
        seen = self.blocks.each(look_at_weighted_scores, (U, self.bias, self.origin), self._slices(weights))
        for target, part in zip(self._slices(values), seen):
            target[:] = part
        return values

    def near(self, instances: IntArray) -> tuple[Any, IntArray]:
        """Those of the instances that are `at_hand`, numbered from 0."""
        return self.working.near(instances)[0], np.arange(instances.size)

    def descend(self, dual: Dual, columns: LabelArray, mu: FloatArray, U: FloatArray, order: IntArray) -> Seen:
        """Visit rows that are `at_hand`, once each: on copies, beside each other, of what belongs to them."""
        violation, loss = 0.0, 0.0
        for begin in range(0, order.size, self.options.visited_at_once):
            rows = order[begin : begin + self.options.visited_at_once]
            instances, starts = rows, None
            if dual.starts is not None:
                instances, ends = instances_of(dual.starts, rows)
                starts = np.append(0, ends)
            native, n_numbers = self.working.near(instances)
            near = np.empty((4, n_numbers if starts is None else rows.size))
            curvature = self.working.norms(rows) + self.bias**2 if dual.curvature is None else dual.curvature[rows]
            near[:, : rows.size] = dual.cap[rows], dual.ridge[rows], curvature, dual.alpha[rows]
            if dual.curvature is None:
                near[2, : rows.size] += near[1, : rows.size]
            labels = np.empty((n_numbers, columns.shape[1]), np.int8)
            labels[: instances.size] = columns[instances]
            worst, seen, *_ = native.descend(starts, *near, labels, mu, U, self.bias, np.arange(rows.size))
            violation, loss = max(violation, worst), loss + seen
            dual.alpha[rows] = near[3, : rows.size]
        return violation, loss

    def in_portions(
        self, rows: IntArray, instances: IntArray | None = None, ends: IntArray | None = None
    ) -> Iterator[tuple[IntArray, AbstractContextManager[None]]]:
        """As many rows at a time as fit into the memory allowed, in the order given: the visits are those in memory."""
        instances, begin, first = rows if instances is None else instances, 0, 0
        for end in self.working.cuts(instances, ends):
            last = end if ends is None else int(ends[end - 1])
            yield rows[begin:end], self.working.at_hand(instances[first:last], instances[last:])
            begin, first = end, last

    def seen(self, bias: float, origin: FloatArray | None) -> BlockRows:
        """The same rows with another constant feature, seen from another point."""
        return BlockRows(self.blocks, bias, self.n_jobs, self.options, self.budget, origin)

    def taken(self, chosen: IntArray) -> Matrix:
        """Some instances as a matrix in memory, as they are seen."""
        return self._less_origin(self.blocks.gather(chosen))

    @property
    def can_be_compact(self) -> bool:
        """Columns as they are need nothing; others are made from all rows, which have to be few."""
        n, p = self.n_instances, self.n_features + 1
        return (n >= p and not self.steep) or n <= self.most_taken

    def part(self, chosen: IntArray) -> LinearRows:
        """The rows of some instances: in memory where they are few."""
        if chosen.size <= self.most_taken:
            return LinearRows(self.blocks.gather(chosen), self.bias, self.n_jobs, self.options, self.origin)
        return BlockRows(some_of(self.blocks, chosen), self.bias, self.n_jobs, self.options, self.budget, self.origin)

    @property
    def most_taken(self) -> float:
        """How many instances may be taken into memory at once; a piece always, as a look at it would hold it too."""
        n_bytes = max(self.options.part_share * self.budget.n_bytes, self.options.piece_bytes)
        return n_bytes / max(1.0, self.blocks.bytes_per_row)

    def averaged(self, starts: IntArray) -> LinearRows:
        """The means of groups of rows; the rows of a group may lie in several blocks."""
        firsts = self.blocks.cuts(starts[:-1])
        ends = np.cumsum([first.size for first in firsts])
        cuts = [np.arange(first[0], starts[end]) for first, end in zip(firsts, ends)]
        borders = [np.append(first, starts[end]) - first[0] for first, end in zip(firsts, ends)]
        made = self.blocks.made(cuts, mean_of_groups, borders)
        return BlockRows(made, self.bias, self.n_jobs, self.options, self.budget, self.origin)


class CentredBlockRows(BlockRows):
    """Dense rows in blocks less their mean; what is learned is told as a function of the rows as they were."""

    centred = True

    def __init__(
        self,
        blocks: Blocks,
        bias: float = 0.0,
        n_jobs: int | None = None,
        options: Options = Options(),
        budget: Budget | None = None,
    ) -> None:
        super().__init__(blocks, bias, n_jobs, options, budget, blocks.total() / max(1, blocks.shape[0]))

    def __reduce__(self) -> Any:
        return type(self), (self.blocks, self.bias, self.n_jobs, self.options)

    def part(self, chosen: IntArray) -> LinearRows:
        """The rows of some instances, less their own mean."""
        if chosen.size <= self.most_taken:
            return CentredRows(self.blocks.gather(chosen), self.bias, self.n_jobs, self.options)
        return CentredBlockRows(some_of(self.blocks, chosen), self.bias, self.n_jobs, self.options, self.budget)


# ------------------------------------------------------------------ blocks made of others


def as_they_are(X: Matrix, own: Any) -> Matrix:
    """Rows as they are."""
    return X


def mean_of_groups(X: Matrix, starts: IntArray) -> Matrix:
    """Means of groups of rows."""
    return averaging(starts) @ X


def some_of(blocks: Blocks, chosen: IntArray) -> Blocks:
    """Some of the rows, in blocks again."""
    cuts = blocks.cuts(chosen)
    return blocks.made(cuts, as_they_are, [None] * len(cuts))
