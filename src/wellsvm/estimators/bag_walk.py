"""One fold of a grid search over bags: where its next fit starts, and the values of its bags at every point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.recipe import Guess
from wellsvm.engine.smooth import SmoothSolution
from wellsvm.estimators.bag_folds import Fold
from wellsvm.estimators.key_tasks import bag_values
from wellsvm.solver import Solution

__all__ = ["Walk", "guesses_of"]


def guesses_of(found: Sequence[Solution | SmoothSolution]) -> list[Guess]:
    """Where fits ended, as starts of others; they do not keep the rows that they were solved on."""
    return [Guess(solution.scores(), solution.alpha) for solution in found]


class Walk:
    """What a fold has seen at one gamma: points in the order of contexts and, for each, of prices.

    Attributes
    ----------
    fold : Fold
        Which bags it does not learn from.
    values : list of arrays of shape (n_bags, n_functions)
        Values of all bags at every point so far.
    """

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.values: list[FloatArray] = []
        self._total: FloatArray | float = 0.0  # of the scores of all instances
        self._first: tuple[float, list[Guess]] | None = None

    def guesses(self, context: float) -> list[Guess] | None:
        """Where to start with another weight of the context: where the first price ended under the one before, with
        dual variables for kernel values that are as much larger."""
        if self._first is None:
            return None
        before, guesses = self._first
        factor = (1.0 + before) / (1.0 + context)
        return [Guess(scores, None if alpha is None else factor * alpha) for scores, alpha in guesses]

    def took(self, guesses: list[Guess], context: float, offsets: IntArray, *, first: bool) -> None:
        """Record a point; ``first`` says whether it is the first of its context."""
        scores = np.stack([guess.scores for guess in guesses], axis=1)
        self.values.append(bag_values(scores, offsets))
        self._total = self._total + scores
        if first:
            self._first = context, guesses

    def average(self, offsets: IntArray) -> FloatArray:
        """Values of all bags under the mean of the functions of all points."""
        return bag_values(np.asarray(self._total) / len(self.values), offsets)
