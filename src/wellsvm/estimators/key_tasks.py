"""Bags as tasks of the engine: one per two-class problem, its prices, and how the search for key instances starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.engine.recipe import Guess, Opening, Task, search
from wellsvm.labels import BalancedLabels, KeyInstances
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver import Solution, fit_svm
from wellsvm.threads import run

__all__ = ["Averages", "KeyOpening", "Prices", "bag_values", "key_tasks"]


class Prices(NamedTuple):
    """The loss, and what it costs in a positive bag and in an instance of a negative one."""

    loss: str
    positive: float
    negative: float


class Averages:
    """Means of bags that several fits on the same rows share: under a kernel they cost as much as a fit."""

    def __init__(self) -> None:
        self._made: dict[bytes, Rows] = {}
        self._lock = Lock()  # folds run in threads

    def of(self, rows: Rows, starts: IntArray) -> Rows:
        """``rows.averaged(starts)``; the rows must be the same in all calls."""
        with self._lock:
            key = starts.tobytes()
            if key not in self._made:
                self._made[key] = rows.averaged(starts)
            return self._made[key]


@dataclass(frozen=True)
class KeyOpening:
    """Start from two SVMs that need no key instances: on single instances, each with the label of its bag, and on the
    means of the positive bags with the instances of the negative ones; from random key instances too, if asked. Or,
    where there is a fit at other prices, from that alone.

    Attributes
    ----------
    loss : str
        Loss of the SVMs.
    C : array of shape (n_rows,)
        Prices of the rows; 0 for those that are held out.
    n_starts : int
        Random starts.
    n_jobs : int or None
        Threads that search from them.
    before : Guess or None
        Where a fit of the same bags at other prices ended.
    averages : Averages or None
        Where fits on the same rows share the means.
    """

    loss: str
    C: FloatArray
    n_starts: int = 0
    n_jobs: int | None = None
    before: Guess | None = None
    averages: Averages | None = None

    def __call__(self, task: Task, options: Options, rng: np.random.Generator) -> Opening:
        labels, tol = task.labels, min(options.most_start_tol, options.start_tol * options.tol)
        assert isinstance(labels, KeyInstances)
        if self.before is not None:
            first, guesses = labels.linear_oracle(self.before.scores), [self.before] if options.refine else []
            return Opening([first], guesses, None if guesses else self.before.alpha, best_first=bool(guesses))
        sizes = np.diff(labels.starts)
        single = self._svm(
            task.rows, np.repeat(labels.positive_rows, sizes), np.repeat(self.C, sizes), tol, rng, options
        )
        scores = single.scores()
        first = labels.linear_oracle(scores)
        # The key instances' dual variables for their bags.
        alpha = np.add.reduceat(single.alpha * np.abs(first), labels.starts[:-1])
        if not options.refine:
            return Opening([first], [], alpha, best_first=False)
        means = (self.averages or Averages()).of(task.rows, labels.starts)
        on_means = self._svm(means, labels.positive_rows, self.C, tol, rng, options)
        coef = task.rows.from_means(on_means.coefficients(), labels.starts)
        by_mean = task.rows.scores(coef[:, None])[:, 0]
        guesses = [Guess(scores, alpha), Guess(by_mean, on_means.alpha), *self._random(task, options, rng)]
        alone = options.relaxation_starts and options.max_iter == 1  # the relaxation is the best search's result
        return Opening([] if alone else [first], guesses, None, best_first=True)

    def _svm(
        self, rows: Rows, positive: BoolArray, C: FloatArray, tol: float, rng: np.random.Generator, options: Options
    ) -> Solution:
        """The SVM that tells positive rows from the others."""
        y = np.where(positive, 1, -1).astype(np.int8)
        losses = Losses.of(self.loss, C)
        return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=tol, rng=rng, options=options)

    def _random(self, task: Task, options: Options, rng: np.random.Generator) -> list[Guess]:
        """The best of what searches reach from random key instances; every start has its own generator, so that the
        number of threads changes nothing."""
        if not self.n_starts:
            return []

        def reached(own: np.random.Generator) -> Solution:
            return search(task, Guess(own.standard_normal(task.labels.n_instances)), options, own)

        found = run([partial(reached, own) for own in rng.spawn(self.n_starts)], self.n_jobs)
        best = min(found, key=lambda svm: svm.upper)
        return [Guess(best.scores(), best.alpha)]


def key_tasks(
    rows: Rows,
    offsets: IntArray,
    codes: IntArray,
    positive_codes: Sequence[int],
    prices: Prices,
    *,
    n_keys: int = 1,
    n_starts: int = 0,
    n_jobs: int | None = None,
    held_out: BoolArray | None = None,
    before: Sequence[Guess] | None = None,
    averages: Averages | None = None,
    titles: Sequence[str] | None = None,
) -> list[Task]:
    """One task for each class that is positive against the rest.

    Bags that are ``held_out`` stay among the rows, at a price of 0: so they get values, and kernel values are computed
    once for all folds. ``before`` is where fits of the same tasks at other prices ended, to start from; fits on the
    same rows share ``averages``.
    """
    tasks = []
    for i, k in enumerate(positive_codes):
        labels = KeyInstances(offsets, codes == k, n_keys)
        C = np.where(labels.positive_rows, prices.positive, prices.negative)
        if held_out is not None:
            C[np.repeat(held_out, np.diff(offsets))[labels.starts[:-1]]] = 0.0
        opening = KeyOpening(prices.loss, C, n_starts, n_jobs, before[i] if before else None, averages)
        losses = Losses.of(prices.loss, C)
        tasks.append(Task(rows, labels, losses, opening, labels.positive_rows, titles[i] if titles else ""))
    return tasks


def bag_values(scores: FloatArray, offsets: IntArray) -> FloatArray:
    """f of every bag, the largest of its instances; one column per two-class problem."""
    return np.asarray(np.maximum.reduceat(scores, offsets[:-1], axis=0))
