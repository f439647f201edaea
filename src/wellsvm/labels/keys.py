"""Multi-instance labels: v key instances in every positive bag (Eq. 20, 25).

A positive bag is one row, whose signed features are those of its key instances; an instance of a negative bag is a row
of its own, with sign -1. The paper lists the positive bags first, for its indices; here bags stand in any order, so
that one matrix of instances serves every class.
"""

from __future__ import annotations

import numpy as np

from wellsvm._arguments import whole_number, whole_numbers
from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet

__all__ = ["KeyInstances"]


class KeyInstances(LabelSet):
    """Exactly ``min(v, size)`` key instances (+1) in every positive bag, 0 for its others; negative instances -1.

    Parameters
    ----------
    offsets : int array of shape (n_bags + 1,)
        First instance of each bag; no bag is empty.
    positive : bool array of shape (n_bags,)
        Which bags are positive.
    v : int, default=1
        Number of key instances per positive bag; a smaller bag uses all of its instances.

    Attributes
    ----------
    starts : int array of shape (n_rows + 1,)
        First instance of each row.
    positive_rows : bool array of shape (n_rows,)
        Which rows are positive bags.
    """

    def __init__(self, offsets: IntArray, positive: BoolArray, v: int = 1) -> None:
        offsets = whole_numbers("offsets", offsets, np.int64, 0)
        positive = whole_numbers("positive", positive, np.bool_, 0, 1)
        sizes = np.diff(offsets)
        self.v = whole_number("v", v, low=1)
        if not sizes.size or sizes.size != positive.size or np.any(sizes < 1):
            raise ValueError("bags must not be empty, and `positive` has one entry per bag")
        is_start = np.repeat(~positive, sizes)  # every negative instance begins a row, as does every bag
        is_start[offsets[:-1]] = True
        self.n_instances = int(offsets[-1])
        self.starts: IntArray = np.append(np.flatnonzero(is_start), offsets[-1])
        self.positive_rows: BoolArray = np.repeat(positive, np.where(positive, 1, sizes))
        self._base: LabelArray = np.repeat(np.where(self.positive_rows, 0, -1).astype(np.int8), np.diff(self.starts))
        self._free = np.flatnonzero(self._base == 0)  # instances of positive bags
        self._sizes = sizes[positive]
        self._starts = np.cumsum(self._sizes) - self._sizes  # of each positive bag among them
        self._bag_of = np.repeat(np.arange(self._sizes.size), self._sizes)

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """The v instances of largest score in each positive bag; ties go to the lower index."""
        y = self._base.copy()
        if self._free.size == 0:
            return y
        r = scores[self._free]
        if self.v == 1:
            largest = np.flatnonzero(r == np.maximum.reduceat(r, self._starts)[self._bag_of])
            bag = self._bag_of[largest]
            y[self._free[largest[np.append(True, bag[1:] != bag[:-1])]]] = 1
        else:
            order = np.lexsort((-r, self._bag_of))  # stable; bag by bag, the largest first
            rank = np.arange(r.size) - self._starts[self._bag_of]
            y[self._free[order[rank < self.v]]] = 1
        return y

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` chooses the right number in every positive bag and leaves the rest as it is."""
        y = np.asarray(y)
        chosen = y[self._free]
        if not np.all(y[self._base < 0] == -1) or not np.all((chosen == 0) | (chosen == 1)):
            return False
        if self._free.size == 0:
            return True
        counts = np.add.reduceat(chosen.astype(np.int64), self._starts)
        return bool(np.array_equal(counts, np.minimum(self.v, self._sizes)))
