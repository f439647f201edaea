"""A smaller problem like a large one: every labeled row and a sample of the free ones, at the price of all of them.

At a low price f follows the bulk of the free rows, and a sample shows where it lies. A search on a few tens of
thousands of rows ends near where one on all of them would, at a cost that does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.assignment import apportion
from wellsvm.engine.task import Guess, Task
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.gram import GramRows
from wellsvm.rows.linear import LinearRows
from wellsvm.solver.master import Solution

__all__ = ["Thinned", "thinned"]


class Thinned(NamedTuple):
    """Problems on some of the rows of others.

    Attributes
    ----------
    chosen : array
        The rows they are about.
    tasks : list of Task
        One for each of the others, all on the same rows.
    """

    chosen: IntArray
    tasks: list[Task]

    def guesses(self, of_all: Sequence[Guess]) -> list[Guess]:
        """Where searches of these problems start: the others' guesses of these rows."""
        return [Guess(guess.scores[self.chosen], _of(guess.alpha, self.chosen)) for guess in of_all]

    def carried_over(self, tasks: Sequence[Task], svms: Sequence[Solution]) -> list[Guess]:
        """Scores of all rows by what was found on some; dual variables begin at 0.

        Few rows at a high price are fitted closely, so that others have far more slack than they will have: dual
        variables that go with it take longer to undo than to find (docs/performance.md).
        """
        weights = [task.rows.from_part(svm.coefficients(), self.chosen) for task, svm in zip(tasks, svms)]
        return [
            Guess(task.rows.scores(np.ascontiguousarray(w[:, None]))[:, 0], None) for task, w in zip(tasks, weights)
        ]


def thinned(tasks: Sequence[Task], options: Options, rng: np.random.Generator) -> Thinned | None:
    """Problems with fewer free rows; None where there are few, or where a label set cannot be restricted."""
    first, label_sets = tasks[0], [task.labels for task in tasks]
    if not isinstance(first.rows, LinearRows | GramRows) or any(
        type(labels) is not BalancedLabels or labels.low != labels.high for labels in label_sets
    ):
        return None
    sets = [labels for labels in label_sets if isinstance(labels, BalancedLabels)]
    free, n_most = sets[0].free, options.searched_rows
    if free.size <= n_most:
        return None
    sampled = np.sort(rng.choice(free, n_most, replace=False))
    chosen = np.sort(np.append(np.flatnonzero(sets[0].y_known), sampled))
    counts = np.array([labels.low for labels in sets]) / free.size
    whole = apportion(counts, n_most) if len(sets) > 1 else np.array([round(float(counts[0]) * n_most)])
    rows, weight = first.rows.part(chosen), free.size / n_most
    small = []
    for task, labels, count in zip(tasks, sets, whole):
        known = labels.y_known[chosen]
        losses = Losses(task.losses.cap[chosen], task.losses.ridge[chosen]).eased(known == 0, weight)
        small.append(Task(rows, BalancedLabels(known, int(count)), losses, rising=known == 0))
    return Thinned(chosen, small)


def _of(values: FloatArray | None, chosen: IntArray) -> FloatArray | None:
    return None if values is None else values[chosen]
