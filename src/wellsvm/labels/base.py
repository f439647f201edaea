"""The one interface between a task and the engine: a set B of allowed label assignments.

A label assignment is an int8 vector ``y`` with one entry per instance. The engine's row ``i`` owns the instances
``starts[i] .. starts[i+1]-1`` (instance ``i`` alone where ``starts`` is None), and its signed feature vector is
``psi_y(i) = sum of y_j phi(x_j)`` over them: ``y_i phi(x_i)`` for single examples, the key instance of a bag for
multi-instance learning. So a task is told apart by its oracle and its rows alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray


def largest(scores: FloatArray, k: int) -> BoolArray:
    """Which are the k largest scores; of equal ones, those of lower index. No sort: a selection is linear in time."""
    if not 0 < k < scores.size:
        return np.full(scores.size, k > 0)
    least = np.partition(scores, scores.size - k)[scores.size - k]
    chosen: BoolArray = scores > least
    ties = np.flatnonzero(scores == least)
    chosen[ties[: k - int(np.count_nonzero(chosen))]] = True
    return chosen


class LabelSet(ABC):
    """A finite set B of label assignments with an exact linear oracle.

    Parameters
    ----------
    n_instances : int
        Length of a label assignment.
    starts : int array of shape (n_rows + 1,), optional
        First instance of each row; None where each instance is a row of its own.
    """

    def __init__(self, n_instances: int, starts: IntArray | None = None) -> None:
        self.n_instances = n_instances
        self.starts = starts
        self.n_rows = n_instances if starts is None else len(starts) - 1
        if starts is None:
            self.row_of: IntArray = np.arange(n_instances)
        else:
            self.row_of = np.repeat(np.arange(self.n_rows), np.diff(starts))

    @abstractmethod
    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Return argmax of ``scores @ y`` over B: exact; ties go to the lower row index."""

    @abstractmethod
    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` is in B."""

    def initial(self, rng: np.random.Generator) -> LabelArray:
        """A random member of B."""
        return self.linear_oracle(rng.standard_normal(self.n_instances))

    def spread(self, alpha: FloatArray, y: LabelArray) -> FloatArray:
        """Coefficients of the instances in ``sum_i alpha_i psi_y(i)``."""
        return (alpha if self.starts is None else alpha[self.row_of]) * y

    def gather(self, scores: FloatArray, y: LabelArray) -> FloatArray:
        """Adjoint of `spread`: each row's sum of ``y_j scores_j``."""
        return self.sum_rows(scores * y)

    def sum_rows(self, values: FloatArray) -> FloatArray:
        """Each row's sum over its instances."""
        return values if self.starts is None else np.add.reduceat(values, self.starts[:-1])

    def instances_of(self, rows: IntArray) -> IntArray:
        """The instances of the given rows, row by row."""
        if self.starts is None:
            return rows
        sizes = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(sizes)
        return np.asarray(np.arange(sizes.sum()) + np.repeat(self.starts[rows] - ends + sizes, sizes))

    def linearize(self, alpha: FloatArray, scores: FloatArray) -> FloatArray:
        """Gradient over y of ``1/2 ||sum_i alpha_i psi_y(i)||^2`` where ``scores = K spread(alpha, y)``."""
        return (alpha if self.starts is None else alpha[self.row_of]) * scores

    def squared_lengths(self, diagonal: FloatArray, y: LabelArray) -> FloatArray:
        """An upper bound of ``||psi_y(i)||^2`` for each row i.

        Exact while a row holds one labeled instance; by Cauchy-Schwarz ``||a_1 + ... + a_v||^2 <= v sum ||a_j||^2``
        where it holds more.
        """
        if self.starts is None:
            return diagonal  # |y_i| = 1
        used = np.abs(y).astype(np.float64)
        return self.sum_rows(used) * self.sum_rows(used * diagonal)
