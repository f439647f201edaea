"""The recipe, the same for every task: start, cutting plane, search for one labelling, keep the best.

    X, y -> Task(rows, labels, losses, open) -> fit(task, options) -> Fit(relaxation, settled)

The relaxation mixes several label vectors. Rounding its f to one member of B and alternating "solve the SVM, relabel by
its scores" lowers the mixed-integer objective of Eq. (3) until nothing changes. That search is local: it starts from
the task's guesses and from the relaxation, and the best labelling it reaches is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, LabelArray
from wellsvm.engine.checkpoint import Unsaved
from wellsvm.engine.cutting_plane import Callback, cutting_plane
from wellsvm.engine.report import Relaxation
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import Solution, begin, solve_svm

__all__ = ["Fit", "Guess", "Opening", "Task", "fit", "search"]


class Guess(NamedTuple):
    """Where a search may start: a score for every instance, and dual variables that go with them."""

    scores: FloatArray
    alpha: FloatArray | None = None


class Opening(NamedTuple):
    """How a task starts.

    Attributes
    ----------
    labels : list of label vectors
        First label vectors of the cutting plane.
    guesses : list of Guess
        Where searches start before the cutting plane.
    alpha : array or None
        First dual variables of the cutting plane.
    lead : bool
        Whether the best labelling that these searches reach is a first label vector too, with its dual variables.
    """

    labels: list[LabelArray]
    guesses: list[Guess]
    alpha: FloatArray | None
    lead: bool


@dataclass(frozen=True)
class Task:
    """One problem: where the data live, which labels are allowed, what a row costs, how to start.

    ``open`` is asked for the `Opening` by `fit`; ``rising`` are the rows whose price rises in an annealed search;
    ``stages`` may be kept in a file (checkpoint.py).
    """

    rows: Rows
    labels: LabelSet
    losses: Losses
    open: Callable[[Task, Options, np.random.Generator], Opening] | None = None
    rising: BoolArray | None = None
    title: str = ""
    stages: Unsaved = Unsaved()


@dataclass(frozen=True)
class Fit:
    """What `fit` found.

    Attributes
    ----------
    task : Task
        What was fitted.
    relaxation : Relaxation
        The outcome of the cutting plane.
    settled : Solution or None
        The SVM on the one labelling that the search settled on.
    """

    task: Task
    relaxation: Relaxation
    settled: Solution | None

    @property
    def solution(self) -> Solution:
        """The solution that f is taken from."""
        return self.settled or self.relaxation.solution

    @property
    def alpha(self) -> FloatArray:
        """Dual variables of f."""
        return self.solution.alpha

    def scores(self) -> FloatArray:
        """f of every training instance."""
        return self.solution.scores()

    def coefficients(self) -> FloatArray:
        """f in the form that the rows keep."""
        return self.solution.coefficients()

    def y(self) -> LabelArray:
        """The allowed labels that agree best with f."""
        return self.task.labels.linear_oracle(self.scores())


def fit(task: Task, options: Options, rng: np.random.Generator, callback: Callback | None = None) -> Fit:
    """Fit one task; a callback that returns True after a label vector ends the cutting plane."""
    if task.open is None:
        raise ValueError("the task has no opening: it can be searched, not fitted")
    opening = _opened(task, options, rng)
    reached = [_searched(f"search {k}", task, guess, options, rng) for k, guess in enumerate(opening.guesses)]
    labels, alpha = opening.labels, opening.alpha
    if opening.lead:
        best = _best(reached)
        labels, alpha = [*labels, best.y], best.alpha
    state = begin(task.rows, task.labels, task.losses, alpha, options)
    relaxation = cutting_plane(state, _distinct(labels), rng, title=task.title, callback=callback, stages=task.stages)
    if not options.refine:
        return Fit(task, relaxation, None)
    guess = Guess(relaxation.solution.scores(), relaxation.solution.alpha)
    return Fit(task, relaxation, _best([*reached, _searched("search", task, guess, options, rng)]))


def _opened(task: Task, options: Options, rng: np.random.Generator) -> Opening:
    """The task's opening, as a stage that can be kept: flat, the label vectors first."""
    assert task.open is not None
    open_ = task.open

    def compute() -> tuple[Any, ...]:
        labels, guesses, alpha, lead = open_(task, options, rng)
        return (lead, len(labels), len(guesses), alpha, *labels, *(value for guess in guesses for value in guess))

    lead, n_labels, n_guesses, alpha, *rest = task.stages.arrays("opening", compute, rng)
    guesses = [Guess(*rest[n_labels + 2 * k : n_labels + 2 * k + 2]) for k in range(n_guesses)]
    return Opening(rest[:n_labels], guesses, alpha, lead)


def _searched(name: str, task: Task, guess: Guess, options: Options, rng: np.random.Generator) -> Solution:
    """A search, as a stage that can be kept."""
    problem = (task.rows, task.labels, task.losses, options)
    return task.stages.solution(name, partial(search, task, guess, options, rng), rng, problem)


def search(task: Task, guess: Guess, options: Options, rng: np.random.Generator) -> Solution:
    """Label by the guess, solve the SVM, label by its scores, and so on until hardly a label changes.

    Before, the same at lower prices of the rows whose labels are free, a few rounds each (`Options.search_prices`):
    while they weigh little, f follows the bulk of the rows and many labels change. As long as labels change, SVMs are
    solved roughly (`Options.search_rough`); the one returned is solved well.
    """
    labels, few = task.labels, options.unsettled_labels * options.tol * guess.scores.size
    lower = [] if task.rising is None else [task.losses.eased(task.rising, p) for p in options.search_prices]
    state = begin(task.rows, labels, lower[0] if lower else task.losses, guess.alpha, options)
    y, tol = labels.linear_oracle(guess.scores), options.search_rough * options.tol
    for losses in lower:
        state.reprice(losses)
        for _ in range(options.rounds_per_price):
            before, y = y, labels.linear_oracle(solve_svm(state, y, rng, tol).scores())
            if np.count_nonzero(y != before) <= few:
                break
    state.reprice(task.losses)
    for _ in range(options.search_rounds):
        svm, well = solve_svm(state, y, rng, tol), tol <= options.tol
        before, y = y, labels.linear_oracle(svm.scores())
        if np.count_nonzero(y != before) <= few:
            if well:
                return svm
            tol = options.tol
    return svm if well else solve_svm(state, y, rng, options.tol)


def _best(reached: Sequence[Solution]) -> Solution:
    """The labelling of least mixed-integer objective; of equals the first."""
    return min(reached, key=lambda svm: svm.upper)


def _distinct(labels: Sequence[LabelArray]) -> list[LabelArray]:
    """Each label vector once: two equal ones would leave their weights undetermined."""
    return list({y.tobytes(): y for y in labels}.values())
