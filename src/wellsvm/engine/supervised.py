"""What labeled rows alone say of all others: one SVM per class against the rest, and the means of the classes.

Both sides of every SVM weigh the same, whatever the number of their labels: how many labels a class has may say nothing
about how many rows it has. Values of labeled rows are out-of-fold: those of an SVM on its own rows are too large.
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.few import as_matrix, in_rows
from wellsvm.solver.master import Solution, fit_svm
from wellsvm.threads import slices

__all__ = ["LEFT_OUT", "Supervised", "fold_of", "own_order", "some_unlabeled", "supervised_values"]

LEFT_OUT = -2
"""Code of a row that a fold holds out: it has no label and counts in no share."""


class Supervised(NamedTuple):
    """What labeled rows alone say. Values of SVMs have one column for two classes, else one per class.

    Attributes
    ----------
    out_of_fold, unlabeled : arrays of shapes (n_labeled, n_columns) and (n_unlabeled, n_columns)
        Values of the labeled rows, each under SVMs that did not see it, and of the unlabeled rows under the SVMs of all
        labels. The only label of a class has the value 0.
    means_labeled, means_unlabeled : arrays of shapes (n_labeled, n_classes) and (n_unlabeled, n_classes)
        Inner products with the means of the classes.
    squares : array of shape (n_labeled,)
        Squared lengths of the labeled rows.
    """

    out_of_fold: FloatArray
    unlabeled: FloatArray
    means_labeled: FloatArray
    means_unlabeled: FloatArray
    squares: FloatArray


def supervised_values(
    rows: Rows, codes: IntArray, n_classes: int, C: FloatArray, seed: int, options: Options
) -> Supervised:
    """Train the SVMs on the labeled rows, with the hinge loss: its values tell shares better than the squared one's.

    Parameters
    ----------
    rows : Rows
        All rows.
    codes : array of shape (n_rows,)
        Class of every row, -1 where it is unlabeled, `LEFT_OUT` where it is not to be looked at.
    n_classes : int
        Number of classes.
    C : array of shape (n_rows,)
        Prices; only the proportions of those of labeled rows count, their mean becomes 1.
    seed : int
        Seed of folds and orders.
    options : Options
        Constants.
    """
    labeled, unlabeled = np.flatnonzero(codes >= 0), np.flatnonzero(codes == -1)
    near, rng, codes, C = (
        rows.part(labeled),
        np.random.default_rng(seed),
        codes[labeled],
        C[labeled] / C[labeled].mean(),
    )
    fold, counts = fold_of(codes, options.folds, rng), np.bincount(codes, minlength=n_classes)
    columns = [1] if n_classes == 2 else range(n_classes)
    out_of_fold, points, matrix = np.zeros((labeled.size, len(columns))), [], as_matrix(near, rows)
    for column, k in enumerate(columns):
        y = np.where(codes == k, 1, -1).astype(np.int8)
        # the same for every class: in which order they come must not count
        orders = deepcopy(rng) if len(columns) > 1 else rng
        points.append(_balanced_svm(matrix, y, C, orders, options).coefficients())
        for f in range(int(fold.max()) + 1):
            held_out = fold == f
            svm = _balanced_svm(matrix, y, np.where(held_out, 0.0, C), orders, options)
            known = held_out & (counts[codes] > 1)
            out_of_fold[known, column] = svm.scores()[known]
    means = near.combine(np.eye(n_classes)[codes] / counts)
    points_of_rows = in_rows(near, matrix, np.stack(points, axis=1))
    U = np.stack([rows.from_part(point, labeled) for point in (*points_of_rows.T, *means.T)], axis=1)
    values = _moved_up(rows.scores(np.ascontiguousarray(U)), unlabeled, options)
    of_svms, of_means = values[:, : len(columns)], values[:, len(columns) :]
    return Supervised(out_of_fold, of_svms, near.scores(np.ascontiguousarray(means)), of_means, near.squared_norms)


def _moved_up(values: FloatArray, chosen: IntArray, options: Options) -> FloatArray:
    """The chosen rows of an array, which rise, in its own first rows: no copy of an array as long as all rows."""
    for begin, end in slices(chosen.size, options.pieces_per_call):
        values[begin:end] = values[chosen[begin:end]]
    return values[: chosen.size]


def _balanced_svm(rows: Rows, y: LabelArray, C: FloatArray, rng: np.random.Generator, options: Options) -> Solution:
    """The SVM of the labels y, both sides at the same price in all."""
    positive = y > 0
    sides = [float(C @ side) for side in (positive, ~positive)]
    factors = [sum(sides) / (2 * side) if side > 0 else 0.0 for side in sides]
    prices = C * np.where(positive, *factors)
    tol = options.rough * options.tol
    return fit_svm(rows, BalancedLabels.known(y), Losses.of("hinge", prices), y, tol=tol, rng=rng, options=options)


def fold_of(codes: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    """A fold for every labeled row; every class is spread over at most ``most`` of them.

    Classes come in the order of their first rows, so that their names do not count.
    """
    n_folds = max(2, min(most, int(np.bincount(codes).max())))
    fold, begin = np.empty(codes.size, dtype=np.int64), 0
    for k in codes[np.sort(np.unique(codes, return_index=True)[1])]:
        members = rng.permutation(np.flatnonzero(codes == k))
        fold[members] = (begin + np.arange(members.size)) % n_folds
        begin += members.size
    return fold


def own_order(rows: Rows, codes: IntArray) -> IntArray:
    """An order that rows bring with them, by their distance from the mean of the labeled ones: draws from it depend on
    no other order."""
    labeled = (codes >= 0)[:, None]
    mean = rows.combine(labeled / np.count_nonzero(labeled))
    return np.argsort(rows.squared_norms - 2.0 * rows.scores(mean)[:, 0], kind="stable")


def some_unlabeled(
    rows: Rows, codes: IntArray, C: FloatArray, most: int, rng: np.random.Generator
) -> tuple[Rows, IntArray, FloatArray]:
    """Rows, codes and prices of all labeled rows and ``most`` unlabeled ones, at the price of all of these."""
    unlabeled = np.flatnonzero(codes == -1)
    if unlabeled.size <= most:
        return rows, codes, C
    chosen = np.sort(np.append(np.flatnonzero(codes >= 0), rng.choice(unlabeled, most, replace=False)))
    C = np.where(codes == -1, C * (unlabeled.size / most), C)
    return rows.part(chosen), codes[chosen], C[chosen]
