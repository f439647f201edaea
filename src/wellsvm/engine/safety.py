"""Whether unlabeled rows help, by what labeled rows say: cross-validation with and without them.

In every fold some labeled rows lose their label and join the unlabeled ones. They are then judged by the supervised
SVM of the other labels, and by the labelling that the search reaches from it. What counts is the ramp loss of a row,
``min(2, max(0, 1 - m))`` at its margin m: a row that is wrong costs at most 2, however far it is off. Every class
weighs the same. Unlabeled rows are used if they lower the mean loss by more than two standard errors of the difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.engine.supervised import fold_of, some_unlabeled
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import fit_svm

__all__ = ["Verdict", "judge_unlabeled"]


class Verdict(NamedTuple):
    """Mean ramp loss of labeled rows that unlabeled rows save, its standard error, and whether they are to be used."""

    gain: float
    error: float
    helps: bool


def judge_unlabeled(
    rows: Rows, codes: IntArray, shares: FloatArray, loss: str, C: FloatArray, seed: int, options: Options
) -> Verdict:
    """Compare the supervised SVM with the search on labeled rows held out.

    Parameters
    ----------
    rows : Rows
        All rows; of the unlabeled ones a sample is taken where they are many.
    codes : array of shape (n_rows,)
        Class of every row, -1 where it is unlabeled.
    shares : array of shape (n_classes,)
        Shares of the classes among the unlabeled rows.
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
    rows, codes, C = some_unlabeled(rows, codes, C, options.judged_rows, rng)
    labeled = np.flatnonzero(codes >= 0)
    fold = fold_of(codes[labeled], options.judge_folds, rng)
    fold[np.bincount(codes[labeled])[codes[labeled]] == 1] = -1  # the only label of a class is never held out
    price = float(C[codes < 0].mean())
    losses = np.zeros((2, labeled.size))  # without and with unlabeled rows
    for f in range(int(fold.max()) + 1):
        held_out = labeled[fold == f]
        known, prices = codes.copy(), C.copy()
        known[held_out], prices[held_out] = -1, price
        values = _values(rows, known, shares, loss, prices, rng, options)
        losses[:, fold == f] = [_ramp(v[held_out], codes[held_out]) for v in values]
    judged = fold >= 0
    return _compare((losses[0] - losses[1])[judged], codes[labeled][judged], options)


def _values(
    rows: Rows,
    codes: IntArray,
    shares: FloatArray,
    loss: str,
    C: FloatArray,
    rng: np.random.Generator,
    options: Options,
) -> tuple[FloatArray, FloatArray]:
    """f of all rows without and with unlabeled ones, one column per two-class problem."""
    n_classes, free = shares.size, codes < 0
    without, with_ = [], []
    for k in [1] if n_classes == 2 else range(n_classes):
        y = np.where(codes == k, 1, -1).astype(np.int8)
        y[free] = 0
        labels, losses = BalancedLabels(y, round(shares[k] * np.count_nonzero(free))), Losses.of(loss, C)
        svm = fit_svm(
            rows, labels, losses, y, tol=options.tol, rng=rng, chosen=np.flatnonzero(y), options=options
        )  # fmt: skip
        without.append(svm.scores())
        found = search(Task(rows, labels, losses, rising=free), Guess(without[-1], svm.alpha), options, rng)
        with_.append(found.scores())
    return np.stack(without, axis=1), np.stack(with_, axis=1)


def _ramp(values: FloatArray, codes: IntArray) -> FloatArray:
    """Ramp loss of rows of known class; with more than two classes, half the lead over the best other one counts."""
    if values.shape[1] == 1:
        margins = values[:, 0] * np.where(codes == 1, 1, -1)
    else:
        own = values[np.arange(codes.size), codes]
        others = values.copy()
        others[np.arange(codes.size), codes] = -np.inf
        margins = 0.5 * (own - others.max(axis=1))
    return np.clip(1.0 - margins, 0.0, 2.0)


def _compare(gains: FloatArray, codes: IntArray, options: Options) -> Verdict:
    """Mean of the gains, every class with the same weight, its standard error, and the decision."""
    if gains.size == 0:
        return Verdict(0.0, 0.0, True)  # nothing speaks against them
    counts = np.bincount(codes)
    weights = 1.0 / (np.count_nonzero(counts) * counts[codes])
    gain = float(weights @ gains)
    error = float(np.sqrt(np.sum((weights * (gains - gain)) ** 2)))
    return Verdict(gain, error, gain >= options.judge_errors * error)
