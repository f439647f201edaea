"""From a guess to one labelling: solve the SVM, label by its scores, until hardly a label changes.

Two things make this alternation more than a local search at the final price:

1. The price of the rows whose labels are free rises step by step. While they weigh little, f follows the bulk of the
   rows and many labels change.
2. A free row counts only as far as its label is sure: its price is multiplied by its distance to the cut, where the
   labels change sign, up to `Options.sure_margin`. Near the cut labels are a matter of the share of the classes, which
   is known roughly; a row there with the wrong label would move f for nothing.

Several classes are searched together: one SVM for each against the rest, and one labelling of all rows that keeps the
number of rows of every class (assignment.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.task import Guess, Task
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.solver.master import Solution, State, begin, solve_svm
from wellsvm.threads import run

__all__ = ["Relabel", "at_full_price", "labels_alone", "roughly", "search", "search_together"]

Relabel = Callable[[Sequence[FloatArray]], tuple[list[LabelArray], FloatArray]]
"""From the scores of all problems to the labels of each, and the distance of every instance to the cut."""


def roughly(options: Options) -> Options:
    """How to search where many labellings are compared, or labeled rows are held out: as well as that needs it."""
    return replace(
        options, tol=options.judge_tol * options.tol, rounds_per_price=options.judge_rounds,
        search_rounds=options.judge_rounds,
    )  # fmt: skip


def search(task: Task, guess: Guess, options: Options, rng: np.random.Generator) -> Solution:
    """Search one labelling of one problem; see `search_together`."""
    return search_together([task], [guess], partial(labels_alone, task), options, [rng])[0]


def search_together(
    tasks: Sequence[Task],
    guesses: Sequence[Guess],
    relabel: Relabel,
    options: Options,
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None = None,
) -> list[Solution]:
    """Search labels for problems on the same rows, which ``relabel`` ties together.

    Prices rise by `Options.search_prices`, a few rounds each. As long as labels change, SVMs are solved roughly
    (`Options.search_rough`); those returned are solved well.
    """
    few = options.unsettled_labels * options.tol * guesses[0].scores.size
    annealed = tasks[0].rising is not None and len(options.search_prices) > 0
    states: list[State | None] = [None] * len(tasks)
    ys, leads = relabel([guess.scores for guess in guesses])

    def solve(k: int, price: float, tol: float) -> Solution:
        losses = _eased(tasks[k], leads, price, options) if annealed else tasks[k].losses
        states[k] = state = _go_on(states[k], tasks[k], losses, guesses[k].alpha, options)
        return solve_svm(state, ys[k], rngs[k], tol)

    def solve_all(price: float, tol: float) -> list[Solution]:
        return run([partial(solve, k, price, tol) for k in range(len(tasks))], n_jobs)

    tol = options.search_rough * options.tol
    for price in options.search_prices if annealed else ():
        for _ in range(options.rounds_per_price):
            before = ys
            ys, leads = relabel([svm.scores() for svm in solve_all(price, tol)])
            if _changes(before, ys) <= few:
                break
    for n_left in reversed(range(options.search_rounds)):
        svms, well, before = solve_all(1.0, tol), tol <= options.tol, ys
        ys, leads = relabel([svm.scores() for svm in svms])
        settled = _changes(before, ys) <= few
        if well and (settled or n_left == 0):
            return svms
        tol = options.tol if settled else tol
        svms = []  # states that others take the place of can go
    return solve_all(1.0, options.tol)


def labels_alone(task: Task, scores: Sequence[FloatArray]) -> tuple[list[LabelArray], FloatArray]:
    """The labels of one problem that agree best with its scores, and the distance of the scores to the cut."""
    f = scores[0]
    y = task.labels.linear_oracle(f)
    if task.rising is None or task.labels.starts is not None:  # prices are of rows, scores of their instances
        return [y], np.abs(f)
    least = np.min(f, where=task.rising & (y > 0), initial=np.inf)
    most = np.max(f, where=task.rising & (y < 0), initial=-np.inf)
    leads = f - (0.5 * (least + most) if np.isfinite(least - most) else 0.0)
    return [y], np.abs(leads, out=leads)


def at_full_price(task: Task, svm: Solution) -> Solution:
    """What a search found, every row at its price: the mixed-integer objective of Eq. (3) at its labels and its f."""
    if svm.state.losses is task.losses:
        return svm
    margins, rows = svm.state.margins(svm.mu), np.flatnonzero(task.losses.cap > 0)
    svm.state.reprice(task.losses)
    return replace(svm, upper=0.5 * float(svm.mu @ svm.squared_norms) + task.losses.total(margins, rows))


def _eased(task: Task, leads: FloatArray, price: float, options: Options) -> Losses:
    """The losses of the task, free rows at a share of their price and as far as they are sure."""
    assert task.rising is not None
    if options.sure_margin == 0:
        return task.losses if price == 1 else task.losses.eased(task.rising, price)
    sure = leads / options.sure_margin
    return task.losses.eased(task.rising, price * np.clip(sure, options.least_sure, 1.0, out=sure))


def _go_on(state: State | None, task: Task, losses: Losses, alpha: FloatArray | None, options: Options) -> State:
    """The state at other losses; where a box has become too small for its dual variable, a new one."""
    if state is not None and not np.any(state.alpha > losses.cap):
        state.reprice(losses)
        return state
    return begin(task.rows, task.labels, losses, alpha if state is None else state.alpha, options)


def _changes(before: Sequence[LabelArray], after: Sequence[LabelArray]) -> int:
    """The most labels that changed in one of the problems."""
    return max(int(np.count_nonzero(a != b)) for a, b in zip(before, after))
