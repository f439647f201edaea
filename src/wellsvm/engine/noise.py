"""How many labels may be wrong: by cross-validation on the labels as they are, wrong ones included.

Wrong labels among the rows held out cost every candidate about the same, so that the better one still wins; they only
add noise, and the more so the more of them there are. So a share above 0 must save more errors than two standard
errors of the difference to the plain SVM; then the smallest share within two of the best is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.engine.supervised import fold_of
from wellsvm.labels.noisy import NoisyLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import fit_svm

__all__ = ["Flips", "choose_noise"]


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
    if flips.codes.size > options.judged_rows:
        chosen = np.sort(rng.choice(flips.codes.size, options.judged_rows, replace=False))
        rows, flips, C = rows.part(chosen), flips.part(chosen), C[chosen]
    if np.bincount(flips.codes, minlength=flips.n_classes).min() < 2:
        return 0.0
    fold = fold_of(flips.codes, options.noise_folds, rng)
    errors = np.zeros((1 + len(options.noise_shares), flips.codes.size))
    for f in range(int(fold.max()) + 1):
        held_out = fold == f
        values = _values(rows, flips, loss, np.where(held_out, 0.0, C), rng, options)
        predicted = values[:, 0] > 0 if flips.n_classes == 2 else values.argmax(axis=1)
        errors[:, held_out] = (predicted != flips.codes)[:, held_out]
    return _smallest_good((0.0, *options.noise_shares), errors * (C > 0), options)


def _values(
    rows: Rows, flips: Flips, loss: str, C: FloatArray, rng: np.random.Generator, options: Options
) -> FloatArray:
    """f of all rows for every share, from 0 on, and every problem; each search starts where the last one ended."""
    options = replace(options, tol=options.judge_tol * options.tol, rounds_per_price=options.judge_rounds)
    losses, every = Losses.of(loss, C), np.ones(C.size, dtype=np.bool_)
    used = C > 0
    values = []
    for problem, y in enumerate(flips.labels()):
        labels = NoisyLabels(y, (0, 0))
        svm = fit_svm(rows, labels, losses, y, tol=options.tol, rng=rng, options=options)
        found = [svm.scores()]
        for share in options.noise_shares:
            budget = flips.part(np.flatnonzero(used)).budget(problem, np.full(flips.n_classes, share))
            labels = NoisyLabels(y, budget, ~(used & flips.wrong))
            found.append(search(Task(rows, labels, losses, rising=every), Guess(found[0]), options, rng).scores())
        values.append(found)
    return np.array(values).swapaxes(0, 1)


def _smallest_good(shares: tuple[float, ...], errors: FloatArray, options: Options) -> float:
    """The smallest share within some standard errors of the best, if the best is better than 0 by as much."""
    means = errors.mean(axis=1)
    best = int(np.argmin(means))

    def clearly_worse(k: int) -> bool:
        difference = errors[k] - errors[best]
        error = difference.std() / np.sqrt(difference.size)
        return bool(difference.mean() > options.noise_errors * error)

    if best == 0 or not clearly_worse(0):
        return 0.0
    return next(share for k, share in enumerate(shares) if k == best or (k > 0 and not clearly_worse(k)))
