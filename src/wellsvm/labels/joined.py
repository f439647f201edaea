"""Label sets joined: rows divided among several sets, each with its own rule.

    B = {y : y on the rows of part p is in B_p, for every p}

What one part asks says nothing about another, so the oracle asks each for its own rows. Known labels beside any other
kind are such a set: `BalancedLabels.known` for some rows, the other set for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wellsvm._arguments import as_array, whole_numbers
from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet

__all__ = ["JoinedLabels"]


class JoinedLabels(LabelSet):
    """The members of several label sets, each on its own rows.

    Parameters
    ----------
    parts : sequence of (rows, label_set)
        Rows, as indices or as a mask over all rows, and the set of their labels in that order. Every row belongs to
        one part.
    """

    def __init__(self, parts: Sequence[tuple[Any, LabelSet]]) -> None:
        self.parts: list[tuple[IntArray, LabelSet]] = []
        if not isinstance(parts, (list, tuple)) or not all(map(_is_part, parts)):
            raise TypeError(f"parts must be a list of pairs (rows, label set); got {parts!r:.80}")
        for rows, label_set in parts:
            rows = as_array("rows", rows)
            chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else whole_numbers("rows", rows, np.int64, 0)
            self.parts.append((chosen, label_set))
            if label_set.starts is not None or label_set.n_instances != self.parts[-1][0].size:
                raise ValueError(
                    f"{type(label_set).__name__} labels {label_set.n_instances} instances but was given "
                    f"{self.parts[-1][0].size} rows; each row must be one instance"
                )
        every = np.concatenate([rows for rows, _ in self.parts]) if self.parts else np.empty(0, dtype=np.int64)
        self.n_instances = every.size
        if not every.size or not np.array_equal(np.sort(every), np.arange(every.size)):
            raise ValueError("parts must hold every row from 0 on exactly once")
        if any(label_set.keeps is not None for _, label_set in self.parts):
            self.keeps = np.zeros(self.n_instances, dtype=np.int8)
            for rows, label_set in self.parts:
                self.keeps[rows] = 0 if label_set.keeps is None else label_set.keeps

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """What each part answers for its own rows."""
        y = np.empty(self.n_instances, dtype=np.int8)
        for rows, label_set in self.parts:
            y[rows] = label_set.linear_oracle(scores[rows])
        return y

    def contains(self, y: LabelArray) -> bool:
        """Tell whether every part contains its rows."""
        y = np.asarray(y)
        return y.shape == (self.n_instances,) and all(label_set.contains(y[rows]) for rows, label_set in self.parts)


def _is_part(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and isinstance(part[1], LabelSet)
