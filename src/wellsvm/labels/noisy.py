"""Noisy labels: all rows have a label, of which some may be wrong.

    B = {y : at most k+ of the rows labeled +1 and at most k- of those labeled -1 are flipped}

The best flips of a side are the rows whose score speaks most against their label. A row whose score is 0, such as one
whose dual variable is 0, keeps its label: to flip it would gain nothing now and cost something later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._arguments import whole_numbers
from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.balanced import largest
from wellsvm.labels.base import LabelSet

__all__ = ["NoisyLabels"]


class NoisyLabels(LabelSet):
    """Given labels; at most ``flips[0]`` negative and ``flips[1]`` positive ones are wrong.

    Parameters
    ----------
    y : array of shape (n,)
        Given labels, +1 or -1.
    flips : (int, int)
        Maximum number of wrong labels among the negative and among the positive rows.
    trusted : bool array of shape (n,), optional
        Rows whose label is known to be right.
    """

    def __init__(self, y: Any, flips: tuple[int, int], trusted: Any = None) -> None:
        self.y: LabelArray = whole_numbers("y", y, np.int8, -1, 1)
        self.n_instances, self.keeps = self.y.size, self.y
        free = (
            np.ones(self.n_instances, dtype=np.bool_)
            if trusted is None
            else ~whole_numbers("trusted", trusted, np.bool_, 0, 1)
        )
        if self.y.ndim != 1 or not np.all(np.abs(self.y) == 1) or free.shape != self.y.shape:
            raise ValueError("y must hold +1 or -1 for every row, and trusted True or False for every row")
        self.sides: tuple[IntArray, IntArray] = (
            np.flatnonzero(free & (self.y == -1)),
            np.flatnonzero(free & (self.y == 1)),
        )
        counts = whole_numbers("flips", flips, np.int64, 0)
        if counts.shape != (2,):
            raise ValueError(f"flips must be two numbers, of negative and of positive rows; got flips={flips!r:.80}")
        self.flips = (int(counts[0]), int(counts[1]))
        if any(not 0 <= k <= side.size for k, side in zip(self.flips, self.sides)):
            raise ValueError(
                f"flips must lie between 0 and the number of rows that may be wrong, {self.sides[0].size} negative and "
                f"{self.sides[1].size} positive; got flips={flips!r}"
            )

    @property
    def free(self) -> IntArray:
        """Rows whose label may be flipped."""
        return np.sort(np.concatenate([side for side, k in zip(self.sides, self.flips) if k] or [self.sides[0][:0]]))

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Flip the rows of each side whose score speaks most against their label, within the budget.

        Of equal scores the lower index is the positive one, as in every set.
        """
        y = self.y.copy()
        negative, positive = self.sides
        against = scores[negative]
        y[negative[largest(against, min(self.flips[0], int(np.count_nonzero(against > 0))))]] = 1
        against = -scores[positive][::-1]
        y[positive[::-1][largest(against, min(self.flips[1], int(np.count_nonzero(against > 0))))]] = -1
        return y

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` differs from the given labels within the budget, and on rows that may be wrong only."""
        y = np.asarray(y)
        if y.shape != self.y.shape or not np.all(np.abs(y) == 1):
            return False
        flipped = [int(np.count_nonzero(y[side] != self.y[side])) for side in self.sides]
        return all(n <= k for n, k in zip(flipped, self.flips)) and sum(flipped) == np.count_nonzero(y != self.y)
