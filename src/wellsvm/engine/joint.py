"""Several classes at once: one SVM for each against the rest, and one labeling that keeps the counts of all classes.

Labeled independently, a row may be in two classes or in none. Here every unlabeled row gets one class, by the
assignment of the largest sum of scores (assignment.py), and counts the more, the further its class exceeds the next. A
row for which some classes are excluded (candidate labels) gets one of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.engine.assignment import assign, barred, half_leads
from wellsvm.engine.recipe import Fit, adds_nothing, opened, opening_only, relax, solutions
from wellsvm.engine.report import Relaxation
from wellsvm.engine.search import search_together
from wellsvm.engine.task import Guess, Task
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.options import Options
from wellsvm.solver.master import Solution
from wellsvm.threads import run

__all__ = ["JointLabels", "fit_together", "joint_counts", "joint_labels"]


def joint_counts(label_sets: Sequence[BalancedLabels]) -> IntArray | None:
    """The number of unlabeled rows of each class; None unless it is exact for all of them."""
    counts = np.array([labels.low for labels in label_sets])
    exact = all(labels.low == labels.high for labels in label_sets)
    n_free = _free(label_sets).size
    return counts if len(counts) > 1 and exact and counts.sum() == n_free > 0 else None


def _free(label_sets: Sequence[BalancedLabels]) -> IntArray:
    """Rows whose class is unknown, in some of the problems at least."""
    return np.flatnonzero(np.any([labels.y_known == 0 for labels in label_sets], axis=0))


class JointLabels:
    """Labels of all problems from the scores of all; a `Relabel` of search.py.

    Parameters
    ----------
    label_sets : sequence of BalancedLabels
        One per class. Their counts sum to the number of rows whose class is unknown, and some assignment has these
        counts.
    """

    def __init__(self, label_sets: Sequence[BalancedLabels]) -> None:
        self.label_sets, self.free = label_sets, _free(label_sets)
        self.excluded = np.stack([labels.y_known[self.free] != 0 for labels in label_sets], axis=1)
        counts = joint_counts(label_sets)
        assert counts is not None
        self.counts, self.prices = counts, np.zeros(counts.size)

    def __call__(self, scores: Sequence[FloatArray]) -> tuple[list[LabelArray], FloatArray]:
        """Labels of every problem, +1 for its class, and half the lead of the class found for each unknown row."""
        F = barred(np.stack([f[self.free] for f in scores], axis=1), self.excluded)
        classes, self.prices = assign(F, self.counts, self.prices)
        leads = np.zeros(scores[0].size)
        leads[self.free] = half_leads(F, classes, self.prices)
        ys = [labels.y_known.copy() for labels in self.label_sets]
        for k, y in enumerate(ys):
            y[self.free] = np.where(classes == k, 1, -1)
        return ys, leads


def joint_labels(tasks: Sequence[Task]) -> JointLabels:
    """What ties the problems of all classes together."""
    return JointLabels([_balanced(task) for task in tasks])


def fit_together(
    tasks: Sequence[Task],
    options: Options,
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None,
    progress_of: Callable[[int], AbstractContextManager[Any]],
) -> list[Fit]:
    """Fit one task per class as `recipe.fit` does, but search them together; ``progress_of`` opens that of one."""
    n_tasks, roughly = range(len(tasks)), options
    if options.refine:
        roughly = opening_only(options)
    openings = run([partial(opened, tasks[k], options, rngs[k]) for k in n_tasks], n_jobs)

    def search_from(name: str, guesses: list[Guess]) -> list[Solution]:
        compute = partial(search_together, tasks, guesses, joint_labels, options, rngs, n_jobs)
        return solutions(name, tasks, compute, options, rngs)

    def relax_one(k: int) -> Relaxation:
        with progress_of(k) as progress:
            first = best[k] if openings[k].best_first else None
            return relax(tasks[k], openings[k], first, roughly, rngs[k], progress.label_vector)

    def total(svms: Sequence[Solution]) -> float:
        return sum(svm.upper for svm in svms)

    starts = zip(*(opening.guesses for opening in openings))
    reached = [search_from(f"search {k}", list(guesses)) for k, guesses in enumerate(starts)]
    best = min(reached, key=total, default=[])
    for svm in chain.from_iterable(reached):
        svm.state.rest()
    openings = [opening._replace(guesses=[]) for opening in openings]
    relaxations = run([partial(relax_one, k) for k in n_tasks], n_jobs)
    if not options.refine:
        return [Fit(task, relaxation, None) for task, relaxation in zip(tasks, relaxations)]
    if best and all(map(adds_nothing, relaxations, best)):
        return [Fit(*parts) for parts in zip(tasks, relaxations, best)]
    guesses = [Guess(r.solution.scores(), r.solution.alpha) for r in relaxations]
    for relaxation in relaxations:
        relaxation.solution.state.retire()
    found = search_from("search", guesses)
    best = min([*reached, found], key=total)
    return [Fit(*parts) for parts in zip(tasks, relaxations, best)]


def _balanced(task: Task) -> BalancedLabels:
    assert isinstance(task.labels, BalancedLabels)
    return task.labels
