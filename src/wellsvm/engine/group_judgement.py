"""How to learn from the proportions of groups, chosen on held-out groups, whose proportions are known too.

1. The price at which the counts of groups are made likely (likely_counts.py): the one under which the counts of
   held-out groups are most likely.
2. Whether to search for labels. Where classes overlap, the labels of largest margin that keep the proportions may have
   little to do with the classes, and the f that makes the counts likely is nearer to the truth. The search starts from
   this f. It is used if the counts of held-out groups are more likely under its values, by a standard error, after both
   have been scaled and shifted to fit best.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import optimize

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.engine.group_counts import GroupCounts
from wellsvm.engine.likely_counts import likely_path
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.labels.proportions import ProportionLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.coordinates import coordinates_of

__all__ = ["GroupChoice", "judge_groups"]


class GroupChoice(NamedTuple):
    """The price of the counts of groups, as a share of C, and whether to search for labels."""

    price: float
    searches: bool


def judge_groups(
    rows: Rows, label_sets: Sequence[ProportionLabels], loss: str, C: FloatArray, seed: int, options: Options
) -> GroupChoice:
    """Choose by cross-validation over the groups: which price and method predict the shares of held-out groups best.

    Parameters
    ----------
    rows : Rows
        All rows; some of the groups are taken where rows are many.
    label_sets : sequence of ProportionLabels
        One set, or one for every class against the rest.
    loss : str
        Loss of the SVMs.
    C : array of shape (n_rows,)
        Prices.
    seed : int
        Seed of sample, folds and orders.
    options : Options
        Constants.
    """
    rng, n_groups = np.random.default_rng(seed), int(label_sets[0].groups.max()) + 1
    if n_groups < 2 * options.group_folds:
        return GroupChoice(options.group_price, False)  # too few to hold any out
    chosen = label_sets[0].some_groups(options.judged_rows, 2 * options.group_folds, rng)
    if chosen.size < C.size:
        rows, C, label_sets = rows.part(chosen), C[chosen], [labels.part(chosen) for labels in label_sets]
    fold = rng.permutation(int(label_sets[0].groups.max()) + 1) % options.group_folds
    problems = [_Problem.of(rows, labels, fold, C, rng, options) for labels in label_sets]
    best = int(np.argmin(np.sum([problem.unlikely for problem in problems], axis=0)))
    gain = np.concatenate([problem.gain_of_searching(best, loss, rng) for problem in problems])
    searches = bool(gain.mean() > options.group_errors * gain.std() / np.sqrt(gain.size))
    return GroupChoice(options.group_prices[best], searches)


class _Problem(NamedTuple):
    """One label set with its groups held out, fold by fold, and what was found on the others.

    ``likely`` holds f for every price and fold, ``unlikely`` the loss of the counts of held-out groups for every price.
    """

    rows: Rows
    labels: ProportionLabels
    C: FloatArray
    out: list[BoolArray]
    counts: GroupCounts
    likely: list[list[FloatArray]]
    unlikely: FloatArray
    options: Options

    @classmethod
    def of(
        cls,
        rows: Rows,
        labels: ProportionLabels,
        fold: IntArray,
        C: FloatArray,
        rng: np.random.Generator,
        options: Options,
    ) -> _Problem:
        """Make the counts of each fold's other groups likely, at every price."""
        out = [fold[labels.groups] == f for f in range(options.group_folds)]
        coordinates, prices = coordinates_of(rows, np.arange(0), rng, options), options.group_prices
        paths = [
            likely_path(coordinates, labels, np.where(held, 0.0, C), prices, rows.bias > 0, options) for held in out
        ]
        likely = [[point.f for point in points] for points in zip(*paths)]
        counts = GroupCounts(labels, C, options)
        unlikely = np.array([counts.of_groups(_pooled(f, out)).sum() for f in likely])
        return cls(rows, labels, C, out, counts, likely, unlikely, options)

    def gain_of_searching(self, price: int, loss: str, rng: np.random.Generator) -> FloatArray:
        """By how much the search, started from the likely f, lowers the loss of every held-out group."""
        found = []
        for held, f in zip(self.out, self.likely[price]):
            losses = Losses.of(loss, np.where(held, 0.0, self.C))
            task = Task(self.rows, self.labels, losses, rising=np.ones(f.size, dtype=np.bool_))
            found.append(search(task, Guess(f), self.options, rng).scores())
        likely, searched = (self._rescaled(_pooled(f, self.out)) for f in (self.likely[price], found))
        return self.counts.of_groups(likely) - self.counts.of_groups(searched)

    def _rescaled(self, f: FloatArray) -> FloatArray:
        """``a f + b`` under which the counts are most likely: values of an SVM are no log-odds."""
        f = f / max(float(np.abs(f).max()), Options.trace)

        def objective(v: FloatArray) -> tuple[float, FloatArray]:
            value, slopes = self.counts.loss(v[0] * f + v[1])
            return value, np.array([slopes @ f, slopes.sum()])

        a, b = optimize.minimize(objective, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
        return np.asarray(a * f + b)


def _pooled(values: Sequence[FloatArray], out: Sequence[BoolArray]) -> FloatArray:
    """Of every row the value of the fold that held it out."""
    return np.asarray(np.select(list(out), list(values)))
