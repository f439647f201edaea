"""A user's label set with checks: every answer of its oracle is checked before a native loop uses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.labels.base import LabelSet

__all__ = ["WatchedLabels"]

WAY_OUT = "wellsvm.labels.check_label_set shows why"


class WatchedLabels(LabelSet):
    """The same set; an answer of the wrong shape or kind is an error that names the set.

    Parameters
    ----------
    labels : LabelSet
        The set.
    n_rows : int
        Rows of X, each an instance.
    """

    def __init__(self, labels: LabelSet, n_rows: int) -> None:
        self.labels, self.name = labels, type(labels).__name__
        n_instances = getattr(labels, "n_instances", None)
        if n_instances != n_rows:
            raise ValueError(f"labels has {n_instances!r} instances but X has {n_rows} rows; they must be equal")
        self.n_instances, self.symmetric = n_rows, bool(labels.symmetric)
        self.starts = self._starts(labels.starts)
        self.keeps = self._signs("keeps", labels.keeps)
        self.y_known = self._signs("y_known", getattr(labels, "y_known", None))

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """The set's answer, as int8."""
        y = self.labels.linear_oracle(scores)
        answer = self._signs("the answer of linear_oracle", y)
        if answer is None:
            raise ValueError(f"{self.name}: linear_oracle returned None, not labels; {WAY_OUT}")
        used = answer != 0 if self.starts is None else np.logical_or.reduceat(answer != 0, self.starts[:-1])
        if not used.all():
            raise ValueError(f"{self.name}: linear_oracle left row {used.argmin()} without a label; {WAY_OUT}")
        return answer

    def contains(self, y: LabelArray) -> bool:
        """Whether the set says so."""
        return bool(self.labels.contains(y))

    def _signs(self, what: str, values: Any) -> LabelArray | None:
        """-1, 0 and 1, one for every instance, as int8."""
        if values is None:
            return None
        array = np.asarray(values)
        sound = array.shape == (self.n_instances,) and array.dtype.kind in "iufb" and np.isin(array, (-1, 0, 1)).all()
        if not sound:
            raise ValueError(
                f"{self.name}: {what} must be {self.n_instances} labels of -1, 0 or 1; got {array.dtype} of shape "
                f"{array.shape}: {array.tolist()!r:.60}; {WAY_OUT}"
            )
        return np.ascontiguousarray(array, dtype=np.int8)

    def _starts(self, starts: Any) -> Any:
        """First instance of every row: rising from 0 to the number of instances."""
        if starts is None:
            return None
        array = np.asarray(starts)
        sound = array.ndim == 1 and array.dtype.kind in "iu" and array.size > 1 and array[0] == 0
        if not (sound and array[-1] == self.n_instances and np.all(array[1:] > array[:-1])):
            raise ValueError(
                f"{self.name}: starts must rise from 0 to {self.n_instances}, the first instance of every row; got "
                f"{array.tolist()!r:.60}; {WAY_OUT}"
            )
        return np.ascontiguousarray(array, dtype=np.int64)
