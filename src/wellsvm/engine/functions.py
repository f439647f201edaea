"""The functions that several fits on the same rows found, as arrays: to average them over folds, and to shift them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.engine.recipe import stacked
from wellsvm.engine.smooth import SmoothSolution
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.solver.master import Solution

__all__ = ["Functions"]


class Functions(NamedTuple):
    """One function per two-class problem.

    Attributes
    ----------
    coefficients : array of shape (n_problems, n_kept)
        Coefficients in the form that the rows keep.
    offsets : array of shape (n_problems,)
        What is added to the function that the coefficients give.
    values : array of shape (n_rows, n_problems)
        Values of every row.
    """

    coefficients: FloatArray
    offsets: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, solutions: Sequence[Solution | SmoothSolution]) -> Functions:
        """The functions of these solutions."""
        return cls(*stacked(solutions))

    @classmethod
    def mean(cls, several: Sequence[Functions]) -> Functions:
        """The mean of several, problem by problem."""
        return cls(*(np.mean(part, axis=0) for part in zip(*several)))

    def near_balance(self, label_sets: Sequence[BalancedLabels], slack: float) -> Functions:
        """These, shifted until the share of positives among the unlabeled rows is within ``slack`` of the bounds.

        A smooth search keeps the mean of f within bounds. Where f is small, that says little about the number of
        positives.
        """
        steps = np.array([_step_to_balance(f[y.free], y, slack) for f, y in zip(self.values.T, label_sets)])
        return Functions(self.coefficients, self.offsets + steps, self.values + steps)


def _step_to_balance(f: FloatArray, labels: BalancedLabels, slack: float) -> float:
    """What to add to f of the unlabeled rows: 0, or what puts the border halfway between two of them."""
    n_positive, n_slack = int(np.count_nonzero(f > 0)), int(slack * f.size)
    wanted = int(np.clip(n_positive, max(labels.low - n_slack, 0), min(labels.high + n_slack, f.size)))
    if wanted in (n_positive, 0, f.size):  # nothing to do, or no two rows to put the border between
        return 0.0
    ascending, first = np.sort(f), f.size - wanted
    return -0.5 * float(ascending[first - 1] + ascending[first])
