"""What labeled rows alone say: one SVM per class against the rest, and its values for all other rows.

Both sides of every SVM weigh the same, whatever the number of their labels: how many labels a class has may say nothing
about how many rows it has. Values of labeled rows are out-of-fold: those of an SVM on its own rows are too large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import Solution, fit_svm

__all__ = ["Supervised", "fold_of", "supervised_values"]


class Supervised(NamedTuple):
    """Values of the supervised SVMs, one column for two classes, else one per class.

    Attributes
    ----------
    out_of_fold : array of shape (n_labeled, n_columns)
        Of the labeled rows, each under SVMs that did not see it.
    values : array of shape (n_rows, n_columns)
        Of all rows, under the SVMs of all labels.
    """

    out_of_fold: FloatArray
    values: FloatArray


def supervised_values(
    rows: Rows, labeled: IntArray, codes: IntArray, n_classes: int, loss: str, C: FloatArray, seed: int, options: Options
) -> Supervised:
    """Train the SVMs on the ``labeled`` rows, whose classes are ``codes`` and whose prices are ``C``."""
    near, rng = rows.part(labeled), np.random.default_rng(seed)
    fold = fold_of(codes, options.folds, rng)
    columns = [1] if n_classes == 2 else range(n_classes)
    out_of_fold, coef = np.empty((labeled.size, len(columns))), []
    for column, k in enumerate(columns):
        svm = _balanced_svm(near, codes == k, loss, C, rng, options)
        coef.append(rows.from_part(svm.coefficients(), labeled))
        for f in range(int(fold.max()) + 1):
            held_out = fold == f
            part = _balanced_svm(near, codes == k, loss, np.where(held_out, 0.0, C), rng, options)
            out_of_fold[held_out, column] = part.scores()[held_out]
    return Supervised(out_of_fold, rows.scores(np.ascontiguousarray(np.stack(coef, axis=1))))


def _balanced_svm(
    rows: Rows, positive: BoolArray, loss: str, C: FloatArray, rng: np.random.Generator, options: Options
) -> Solution:
    """The SVM that tells ``positive`` rows from the others, both sides at the same price in all."""
    y = np.where(positive, 1, -1).astype(np.int8)
    total = float(C.sum())
    sides = [max(float(C[side].sum()), np.finfo(float).tiny) for side in (positive, ~positive)]
    prices = C * np.where(positive, total / (2 * sides[0]), total / (2 * sides[1]))
    tol = options.rough * options.tol
    return fit_svm(rows, BalancedLabels.known(y), Losses.of(loss, prices), y, tol=tol, rng=rng, options=options)


def fold_of(codes: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """A fold for every labeled row, every class spread over at most ``most`` folds, no class left out of a training part
    that has two labels."""
    n_folds = max(2, min(most, int(np.bincount(codes).max())))
    fold, begin = np.empty(codes.size, dtype=np.int64), 0
    for k in np.unique(codes):
        members = rng.permutation(np.flatnonzero(codes == k))
        fold[members] = (begin + np.arange(members.size)) % n_folds
        begin += members.size
    return fold
