"""The functions that several fits on the same rows found, as arrays: to average them, and to shift them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.engine.recipe import stacked
from wellsvm.engine.smooth import SmoothSolution
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver.master import Solution

__all__ = ["Functions"]


class Functions(NamedTuple):
    """One function per two-class problem, as a model stores it: under the plain kernel, whatever its rows were.

    Attributes
    ----------
    coefficients : array of shape (n_problems, n_kept)
        Weights of the features, or coefficients of the rows.
    intercepts : array of shape (n_problems,)
        What is added to the function that the coefficients give.
    values : array of shape (n_rows, n_problems)
        Values of every row.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, rows: Rows, solutions: Sequence[Solution | SmoothSolution]) -> Functions:
        """The functions of these solutions, found on these rows."""
        return cls(*stacked(rows, solutions))

    @classmethod
    def mean(cls, several: Sequence[Functions], weights: FloatArray | None = None) -> Functions:
        """The mean of several, problem by problem."""
        return cls(*(np.average(part, axis=0, weights=weights) for part in zip(*several)))

    def near_balance(self, label_sets: Sequence[BalancedLabels], slack: float) -> Functions:
        """These, shifted until the share of positives among the unlabeled rows is within ``slack`` of the bounds.

        A smooth search keeps the mean of f within bounds. Where f is small, that says little about the number of
        positives.
        """
        steps = np.array([_step_to_balance(f[y.free], y, slack) for f, y in zip(self.values.T, label_sets)])
        return Functions(self.coefficients, self.intercepts + steps, self.values + steps)


def _step_to_balance(f: FloatArray, labels: BalancedLabels, slack: float) -> float:
    """What to add to f of the unlabeled rows: 0, or what puts the border halfway between two of them.

    Equal rows stay together: the border is put where f differs by more than rounding, and only if that is nearer to the
    number of positives wanted.
    """
    n_positive, n_slack = int(np.count_nonzero(f > 0)), int(slack * f.size)
    wanted = int(np.clip(n_positive, max(labels.low - n_slack, 0), min(labels.high + n_slack, f.size)))
    if wanted in (n_positive, 0, f.size):  # nothing to do, or no two rows to put the border between
        return 0.0
    ascending = np.sort(f)
    borders = 1 + np.flatnonzero(np.diff(ascending) > Options.least_gap * np.abs(ascending[[0, -1]]).max())
    if not borders.size:
        return 0.0
    first = borders[np.argmin(np.abs(f.size - wanted - borders))]
    if abs(f.size - first - wanted) >= abs(n_positive - wanted):
        return 0.0
    return -0.5 * float(ascending[first - 1] + ascending[first])
