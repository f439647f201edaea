"""Labels of groups: in every group of rows the number of positives lies within bounds; known labels are kept.

Groups share no row, so the best labels of each are found apart: its rows in the order of their scores, as many positive
as have a positive score, within the bounds. One sort serves all groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._arguments import whole_numbers
from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet

__all__ = ["ProportionLabels"]


class ProportionLabels(LabelSet):
    """Known labels kept; in every group ``low <= positives among its unlabeled rows <= high``.

    Parameters
    ----------
    groups : int array of shape (n,)
        Group of every row, 0 to n_groups - 1.
    low, high : int arrays of shape (n_groups,)
        Bounds on the number of positives among the unlabeled rows of each group; ``high`` is ``low`` if None.
    y_known : array of shape (n,), optional
        +1 or -1 where a label is known, 0 elsewhere. None: no label is known.
    """

    def __init__(self, groups: Any, low: Any, high: Any = None, y_known: Any = None) -> None:
        self.groups: IntArray = whole_numbers("groups", groups, np.int64, 0)
        self.n_instances = self.groups.size
        self.low: IntArray = whole_numbers("low", low, np.int64, 0)
        self.high: IntArray = self.low if high is None else whole_numbers("high", high, np.int64, 0)
        known = np.zeros(self.groups.shape, np.int8) if y_known is None else y_known
        self.y_known: LabelArray = whole_numbers("y_known", known, np.int8, -1, 1)
        self.free = np.flatnonzero(self.y_known == 0)
        if self.y_known.shape != self.groups.shape or self.groups.ndim != 1 or not self.n_instances:
            raise ValueError(
                f"groups and y_known need one entry for each of at least one row; got shapes {self.groups.shape} and "
                f"{self.y_known.shape}"
            )
        if self.groups.min() < 0 or self.groups.max() >= self.low.size or self.low.shape != self.high.shape:
            raise ValueError(
                f"groups must be numbered from 0 to {self.low.size - 1}, one for each bound in low and high; got "
                f"{self.groups.min()} to {self.groups.max()}, and {self.high.size} upper bounds"
            )
        self.sizes: IntArray = np.bincount(self.groups[self.free], minlength=self.low.size)
        wrong = np.flatnonzero((self.low < 0) | (self.low > self.high) | (self.high > self.sizes))
        if wrong.size:
            g = int(wrong[0])
            raise ValueError(
                f"bounds on the positives of group {g} must satisfy 0 <= low <= high <= {self.sizes[g]} unlabeled "
                f"rows; got low={self.low[g]}, high={self.high[g]}"
            )
        self._starts: IntArray = np.concatenate([[0], np.cumsum(self.sizes)])

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Label the rows of largest score in each group +1; of equal ones, those of lower index."""
        y = self.y_known.copy()
        y[self.free] = np.where(self._largest_of_each(scores[self.free]), 1, -1)
        return y

    def _largest_of_each(self, scores: FloatArray) -> BoolArray:
        """Which free rows are positive: in each group those of largest score, as many as are above 0."""
        groups = self.groups[self.free]
        n_above = np.bincount(groups[scores > 0], minlength=self.low.size)
        n_positive = np.clip(n_above, self.low, self.high)
        order = np.lexsort((-scores, groups))  # stable: ties stay in the order of the rows
        place = np.arange(order.size) - self._starts[groups[order]]
        chosen = np.empty(order.size, dtype=np.bool_)
        chosen[order] = place < n_positive[groups[order]]
        return chosen

    def some_groups(self, most_rows: int, least: int, rng: np.random.Generator) -> IntArray:
        """Rows of whole groups, drawn at random: at least so many groups, and then no more than so many rows."""
        order = rng.permutation(int(self.groups.max()) + 1)
        sizes = np.bincount(self.groups, minlength=order.size)[order]
        drawn = order[: max(least, int(np.searchsorted(np.cumsum(sizes), most_rows)))]
        return np.flatnonzero(np.isin(self.groups, drawn))

    def part(self, chosen: IntArray) -> ProportionLabels:
        """The set of some whole groups, given their rows."""
        groups, inverse = np.unique(self.groups[chosen], return_inverse=True)
        return ProportionLabels(inverse, self.low[groups], self.high[groups], self.y_known[chosen])

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` keeps the known labels and the bounds of every group."""
        y, known = np.asarray(y), self.y_known != 0
        if y.shape != self.groups.shape or not np.all(np.abs(y) == 1):
            return False
        n_positive = np.bincount(self.groups[self.free][y[self.free] == 1], minlength=self.low.size)
        return bool(
            np.array_equal(y[known], self.y_known[known])
            and np.all((self.low <= n_positive) & (n_positive <= self.high))
        )
