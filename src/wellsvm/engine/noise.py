"""Choose the price and the share of wrong labels by cross-validation on the labels as given, wrong ones included.

Wrong labels among the held-out rows cost every candidate about the same, so the better candidate still wins; they only
add noise. Two choices are made, one after the other: a lower price than usual, under which f follows single labels
less; and, at that price, a share of wrong labels above 0. Each is made only if the best candidate beats the usual
price, or the share 0, by some standard errors of the difference. Of the candidates within as many standard errors of
the best, the one nearest to the usual is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.engine.supervised import fold_of
from wellsvm.labels.noisy import NoisyLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import fit_svm

__all__ = ["Flips", "choose_noise", "choose_price"]


@dataclass(frozen=True)
class Flips:
    """Given labels, and how many of them a share of wrong ones allows to flip.

    Attributes
    ----------
    codes : array of shape (n_rows,)
        Class of every row as given.
    n_classes : int
        Number of classes.
    wrong : bool array of shape (n_rows,)
        Rows whose label may be wrong.
    """

    codes: IntArray
    n_classes: int
    wrong: BoolArray

    def budget(self, problem: int, noise: FloatArray) -> tuple[int, int]:
        """Most wrong labels on the negative and the positive side of a two-class problem.

        Of more than two classes, a wrong label of another class hides this one in one of n_classes - 1 cases.
        """
        k = 1 if self.n_classes == 2 else problem
        counts = np.bincount(self.codes[self.wrong], minlength=self.n_classes) * noise
        return int((counts.sum() - counts[k]) / (self.n_classes - 1)), int(counts[k])

    def part(self, chosen: IntArray) -> Flips:
        """The same of some rows."""
        return Flips(self.codes[chosen], self.n_classes, self.wrong[chosen])

    def labels(self) -> list[LabelArray]:
        """+1 and -1 of every two-class problem."""
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        return [np.where(self.codes == k, 1, -1).astype(np.int8) for k in positive]


def choose_price(rows: Rows, flips: Flips, loss: str, weight: FloatArray, seed: int, options: Options) -> float:
    """The price of a row of weight 1: the first of `Options.noise_prices`, or a lower one that does better."""
    rng = np.random.default_rng(seed)
    rows, flips, weight = _judged(rows, flips, weight, rng, options)

    def values(used: FloatArray) -> FloatArray:
        roughly = options.but(tol=options.judge_tol * options.tol)
        return np.array(
            [
                [_plain(rows, y, Losses.of(loss, price * used), rng, roughly) for y in flips.labels()]
                for price in options.noise_prices
            ]
        )

    errors = _errors_out_of_fold(flips, weight, values, rng, options)
    return (
        options.noise_prices[0] if errors is None else _first_good(options.noise_prices, errors, options.price_errors)
    )


def choose_noise(rows: Rows, flips: Flips, loss: str, C: FloatArray, seed: int, options: Options) -> float:
    """The share of wrong labels to allow: one of `Options.noise_shares`, or 0.

    Parameters
    ----------
    rows : Rows
        All rows; a sample is taken where they are many.
    flips : Flips
        Their labels.
    loss : str
        Loss of the SVMs.
    C : array of shape (n_rows,)
        Prices.
    seed : int
        Seed of sample, folds and orders.
    options : Options
        Constants.
    """
    rng = np.random.default_rng(seed)
    rows, flips, C = _judged(rows, flips, C, rng, options)
    values = partial(_corrected, rows, flips, loss, rng=rng, options=options)
    errors = _errors_out_of_fold(flips, C, values, rng, options)
    return 0.0 if errors is None else _first_good((0.0, *options.noise_shares), errors, options.noise_errors)


def _judged(
    rows: Rows, flips: Flips, C: FloatArray, rng: np.random.Generator, options: Options
) -> tuple[Rows, Flips, FloatArray]:
    """The rows that judge: all, or some where they are many."""
    if C.size <= options.judged_rows:
        return rows, flips, C
    chosen = np.sort(rng.choice(C.size, options.judged_rows, replace=False))
    return rows.part(chosen), flips.part(chosen), C[chosen]


def _errors_out_of_fold(
    flips: Flips,
    C: FloatArray,
    values: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    options: Options,
) -> FloatArray | None:
    """Whether a held-out row is misclassified, of shape (n_tried, n_rows); None where a class has too few rows.

    ``values`` maps prices, 0 for rows held out, to f of shape (n_tried, n_problems, n_rows).
    """
    if np.bincount(flips.codes, minlength=flips.n_classes).min() < 2:
        return None
    fold, errors = fold_of(flips.codes, options.noise_folds, rng), []
    for f in range(int(fold.max()) + 1):
        held_out = fold == f
        found = values(np.where(held_out, 0.0, C))
        predicted = found[:, 0] > 0 if flips.n_classes == 2 else found.argmax(axis=1)
        errors.append((predicted != flips.codes) & held_out)
    return np.asarray(np.sum(errors, axis=0) * (C > 0.0), dtype=np.float64)


def _plain(rows: Rows, y: LabelArray, losses: Losses, rng: np.random.Generator, options: Options) -> FloatArray:
    """f of the SVM on labels as they are."""
    return fit_svm(rows, NoisyLabels(y, (0, 0)), losses, y, tol=options.tol, rng=rng, options=options).scores()


def _corrected(
    rows: Rows, flips: Flips, loss: str, C: FloatArray, rng: np.random.Generator, options: Options
) -> FloatArray:
    """f of all rows for every share, from 0 on, and every problem; each search starts from the plain SVM."""
    options = options.but(tol=options.judge_tol * options.tol, rounds_per_price=options.judge_rounds)
    losses, every = Losses.of(loss, C), np.ones(C.size, dtype=np.bool_)
    used = C > 0
    values = []
    for problem, y in enumerate(flips.labels()):
        found = [_plain(rows, y, losses, rng, options)]
        for share in options.noise_shares:
            budget = flips.part(np.flatnonzero(used)).budget(problem, np.full(flips.n_classes, share))
            labels = NoisyLabels(y, budget, ~(used & flips.wrong))
            found.append(search(Task(rows, labels, losses, rising=every), Guess(found[0]), options, rng).scores())
        values.append(found)
    return np.array(values).swapaxes(0, 1)


def _first_good(tried: tuple[float, ...], errors: FloatArray, clearly: float) -> float:
    """The first within ``clearly`` standard errors of the best, if that is better than the very first by as much."""
    means = errors.mean(axis=1)
    best = int(np.argmin(means))

    def clearly_worse(k: int) -> bool:
        difference = errors[k] - errors[best]
        error = difference.std() / np.sqrt(difference.size)
        return bool(difference.mean() > clearly * error)

    if best == 0 or not clearly_worse(0):
        return tried[0]
    return next(value for k, value in enumerate(tried) if k == best or (k > 0 and not clearly_worse(k)))
