"""The recipe, the same for every task: start, cutting plane, search for one labeling, keep the best.

    X, y -> Task(rows, labels, losses, opening) -> fit(task, options) -> Fit(relaxation, settled)

The relaxation mixes several label vectors. Rounding its f to one member of B and alternating "solve the SVM, relabel by
its scores" (search.py) lowers the mixed-integer objective of Eq. (3). Searches start from the task's guesses and from
the relaxation, and the best labeling that any of them reaches is kept. Where the task asks for a smooth search
(smooth.py), it comes first: its labels are the relaxation's first label vector, and its f is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.checkpoint import Stages
from wellsvm.engine.cutting_plane import Callback, cutting_plane
from wellsvm.engine.report import Relaxation
from wellsvm.engine.search import at_full_price, relaxation_adds_little, search
from wellsvm.engine.smooth import SmoothSolution
from wellsvm.engine.task import Guess, Opening, Task
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver.master import Solution, begin

__all__ = [
    "Fit", "Guess", "Opening", "Task", "adds_nothing", "best_of", "fit", "opened", "opening_only", "relax", "search",
    "settle", "solutions", "stacked", "stage", "values_of",
]  # fmt: skip


def fit(task: Task, options: Options, rng: np.random.Generator, callback: Callback | None = None) -> Fit:
    """Fit one task; a callback that returns True after a label vector ends the cutting plane."""
    if task.coordinates is not None and np.any(task.losses.cap[task.rising] > 0):
        return _fit_smoothly(task, options, rng, callback)
    reached, relaxation = _search_and_relax(task, options, rng, callback)
    if not options.refine:
        return Fit(task, relaxation, None)
    if reached and adds_nothing(relaxation, best_of(reached)):
        return Fit(task, relaxation, best_of(reached))
    guesses = [Guess(relaxation.solution.scores(), relaxation.solution.alpha)]
    relaxation.solution.state.retire()
    return Fit(task, relaxation, best_of([*reached, _search_one("search", task, guesses, options, rng)]))


def _search_and_relax(
    task: Task, options: Options, rng: np.random.Generator, callback: Callback | None
) -> tuple[list[Solution], Relaxation]:
    """Search from each of the opening's guesses, then run the cutting plane. The opening is freed on return."""
    labels, guesses, alpha, best_first = opened(task, options, rng)
    alpha = None if best_first else alpha  # the best labeling brings its own
    reached: list[Solution] = []
    guesses = guesses[::-1]
    while guesses:  # each is freed when its search has begun
        reached.append(_search_one(f"search {len(reached)}", task, [guesses.pop()], options, rng))
        reached[-1].state.rest()
    best = best_of(reached) if best_first else None
    if options.refine and relaxation_adds_little(task, options):
        options = opening_only(options)
    return reached, relax(task, Opening(labels, [], alpha, best_first), best, options, rng, callback)


def _fit_smoothly(task: Task, options: Options, rng: np.random.Generator, callback: Callback | None) -> Fit:
    """The smooth search first. The relaxation starts from its labels, and need not be solved far."""
    opening, labels, coordinates = opened(task, options, rng), task.labels, task.coordinates
    assert coordinates is not None
    searched = partial(task.descend, coordinates, labels, task.losses, options)
    found = SmoothSolution.of(coordinates, labels, *stage(task.stages, "smooth search", lambda: searched().where))
    if options.refine:
        options = opening_only(options)
    first = opening._replace(labels=[*opening.labels, found.y], guesses=[])
    relaxation = relax(task, first, None, options, rng, callback)
    return Fit(task, relaxation, found if options.refine else None)


def settle(task: Task, options: Options, rng: np.random.Generator) -> Solution:
    """As `fit` without the relaxation: the best labeling that searches from the opening's guesses reach."""
    guesses = opened(task, options, rng).guesses
    return best_of([search(task, guess, options, rng) for guess in guesses])


def relax(
    task: Task,
    opening: Opening,
    best: Solution | None,
    options: Options,
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> Relaxation:
    """The cutting plane from the opening's label vectors and, if it is given, from the ``best`` labeling so far."""
    labels, alpha = opening.labels, opening.alpha
    if best is not None:
        labels, alpha = [*labels, best.y], best.alpha
    state = begin(task.rows, task.labels, task.losses, alpha, options)
    return cutting_plane(state, _distinct(labels), rng, title=task.title, callback=callback, stages=task.stages)


def opening_only(options: Options) -> Options:
    """How to relax where a search makes the result, and more label vectors would cost more than they add to it."""
    return options.but(max_iter=min(options.max_iter, options.opening_labelings), relaxation_starts=True)


def adds_nothing(relaxation: Relaxation, best: Solution) -> bool:
    """Whether the relaxation ended at the labeling of an earlier search: another search from there finds the same."""
    labels = relaxation.solution.state.labels
    return len(labels) == 1 and np.array_equal(labels[0], best.y)


def best_of(reached: Sequence[Solution]) -> Solution:
    """The labeling of least mixed-integer objective; of equals the first."""
    return min(reached, key=lambda svm: svm.upper)


def _distinct(labels: Sequence[LabelArray]) -> list[LabelArray]:
    """Each label vector once: two equal ones would leave their weights undetermined."""
    return list({y.tobytes(): y for y in labels}.values())


# ------------------------------------------------------------------ what a fit finds


@dataclass(frozen=True)
class Fit:
    """What `fit` found.

    Attributes
    ----------
    task : Task
        What was fitted.
    relaxation : Relaxation
        The outcome of the cutting plane.
    settled : Solution, SmoothSolution or None
        The SVM on the one labeling that the search settled on, or where a smooth search ended.
    """

    task: Task
    relaxation: Relaxation
    settled: Solution | SmoothSolution | None

    @property
    def solution(self) -> Solution | SmoothSolution:
        """The solution that f is taken from."""
        return self.settled or self.relaxation.solution

    @property
    def refined_objective(self) -> float | None:
        """Mixed-integer objective of the labeling that the search settled on, every row at its price."""
        if isinstance(self.settled, SmoothSolution):
            return self.settled.objective_of(self.task.losses)
        return None if self.settled is None else self.settled.upper

    @property
    def alpha(self) -> FloatArray | None:
        """Dual variables of f; a smooth search has none."""
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


def stacked(rows: Rows, found: Sequence[Solution | SmoothSolution]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients and intercepts of several two-class problems, as a model stores them, and values of all rows."""
    coefficients, intercepts = rows.split_intercept(np.stack([one.coefficients() for one in found]))
    added = np.array([one.added if isinstance(one, SmoothSolution) else 0.0 for one in found])
    return coefficients, intercepts + added, values_of(found)


def values_of(found: Sequence[Solution | SmoothSolution]) -> FloatArray:
    """f of all rows, one column per two-class problem."""
    return np.stack([one.scores() for one in found], axis=1)


# ------------------------------------------------------------------ stages, which are recalled where a fit is kept


def stage(stages: Stages | None, name: str, compute: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """A stage of a fit whose result is a tuple of arrays: computed, or recalled where the fit is kept."""
    return compute() if stages is None else stages.arrays(name, compute)


def opened(task: Task, options: Options, rng: np.random.Generator) -> Opening:
    """The task's opening, as a stage."""
    if task.opening is None:
        raise ValueError("the task has no opening, so it can be searched but not fitted")
    compute = partial(task.opening, task, options, rng)
    return compute() if task.stages is None else task.stages.opening(compute, rng)


def _search_one(name: str, task: Task, guesses: list[Guess], options: Options, rng: np.random.Generator) -> Solution:
    """A search from the only guess in the list, which is emptied so that the guess can be freed; as a stage."""
    (found,) = solutions(name, [task], lambda: [search(task, guesses.pop(), options, rng)], options, [rng])
    return found


def solutions(
    name: str,
    tasks: Sequence[Task],
    compute: Callable[[], list[Solution]],
    options: Options,
    rngs: Sequence[np.random.Generator],
) -> list[Solution]:
    """The result of searching several tasks, as one stage: all are recalled, or all are computed."""
    kept = [(task, task.stages, rng) for task, rng in zip(tasks, rngs) if task.stages is not None]
    if len(kept) < len(tasks):
        found = compute()
    elif not all(stages.holds(name) for _, stages, _ in kept):
        found = [stages.kept(name, svm, rng) for (_, stages, rng), svm in zip(kept, compute())]
    else:
        found = [stages.recalled(name, rng, t.rows, t.labels, t.losses, options) for t, stages, rng in kept]
    return [at_full_price(task, svm) for task, svm in zip(tasks, found)]
