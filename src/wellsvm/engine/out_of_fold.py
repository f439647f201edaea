"""Values of labeled rows under functions that did not know their labels.

In every fold some labeled rows lose their label and join the unlabeled ones. The supervised SVM of the other labels
gives them a value, and the labeling that the search reaches from it another. Folds are drawn from the rows in an order
of their own, so that it does not count in which order they are given (where all are looked at, and no sample).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.engine.assignment import apportion
from wellsvm.engine.joint import joint_labels
from wellsvm.engine.search import guess_of_known, search, search_together
from wellsvm.engine.smooth import search_smoothly
from wellsvm.engine.supervised import fold_of, own_order, some_unlabeled
from wellsvm.engine.task import Task
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.coordinates import Coordinates, coordinates_of
from wellsvm.rows.linear import LinearRows, side_by_side
from wellsvm.threads import run

__all__ = ["OutOfFold", "out_of_fold"]


class OutOfFold(NamedTuple):
    """Values of the labeled rows, in their order; one column for two classes, else one per class.

    Attributes
    ----------
    codes : array of shape (n_labeled,)
        Their classes.
    held_out : bool array of shape (n_labeled,)
        False for the only label of a class: it is never held out, and its values are 0.
    without, with_unlabeled : arrays of shape (n_labeled, n_columns)
        Values of the supervised SVM, and of the search; the same where no unlabeled row has a price.
    """

    codes: IntArray
    held_out: BoolArray
    without: FloatArray
    with_unlabeled: FloatArray


def out_of_fold(
    rows: Rows, codes: IntArray, shares: FloatArray, loss: str, C: FloatArray, seed: int, options: Options
) -> OutOfFold:
    """Hold every labeled row out once.

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
    n_judged = options.judged_rows if isinstance(rows, LinearRows) else options.judged_kernel_rows
    rows, codes, C = some_unlabeled(rows, codes, C, n_judged, rng)
    order = own_order(rows, codes)
    rows, codes, C = rows.part(order), codes[order], C[order]
    labeled = np.flatnonzero(codes >= 0)
    fold = fold_of(codes[labeled], options.judge_folds, rng)
    fold[np.bincount(codes[labeled])[codes[labeled]] == 1] = -1
    price = float(C[codes < 0].mean()) if labeled.size < codes.size else 0.0
    coordinates = coordinates_of(rows, labeled, rng, options) if options.smooth and price > 0 else None
    rows, n_jobs = side_by_side(rows)

    def values_without(fold_rng: np.random.Generator, held_out: IntArray) -> tuple[FloatArray, FloatArray]:
        known, prices = codes.copy(), C.copy()
        known[held_out], prices[held_out] = -1, price
        return _values(rows, known, shares, loss, prices, fold_rng, options, price > 0, coordinates)

    folds = [labeled[fold == f] for f in range(int(fold.max()) + 1)]
    found = run([partial(values_without, *each) for each in zip(rng.spawn(len(folds)), folds)], n_jobs)
    values = np.zeros((2, labeled.size, 1 if shares.size == 2 else shares.size))
    for f, held_out in enumerate(folds):
        values[:, fold == f] = [v[held_out] for v in found[f]]
    back = np.argsort(order[labeled])  # labeled rows as they were given
    return OutOfFold(codes[labeled][back], fold[back] >= 0, *values[:, back])


def _values(
    rows: Rows,
    codes: IntArray,
    shares: FloatArray,
    loss: str,
    C: FloatArray,
    rng: np.random.Generator,
    options: Options,
    searched: bool,
    coordinates: Coordinates | None,
) -> tuple[FloatArray, FloatArray]:
    """f of all rows without and with unlabeled ones, one column per two-class problem."""
    n_classes, free, losses = shares.size, codes < 0, Losses.of(loss, C)
    counts = apportion(shares, int(np.count_nonzero(free)))
    classes = [1] if n_classes == 2 else range(n_classes)
    known = [np.where(free, 0, np.where(codes == k, 1, -1)).astype(np.int8) for k in classes]
    label_sets = [BalancedLabels(y, int(counts[k])) for y, k in zip(known, classes)]
    guesses = [guess_of_known(rows, y, losses, rng, options) for y in known]
    without = np.stack([guess.scores for guess in guesses], axis=1)
    if not searched:
        return without, without
    if coordinates is not None:
        smooth = [search_smoothly(coordinates, labels, losses, options) for labels in label_sets]
        return without, np.stack([found.f for found in smooth], axis=1)
    tasks = [Task(rows, labels, losses, rising=free) for labels in label_sets]
    if n_classes == 2 or not options.search_prices:
        found = [search(task, guess, options, rng) for task, guess in zip(tasks, guesses)]
    else:
        found = search_together(tasks, guesses, joint_labels, options, [rng] * n_classes)
    return without, np.stack([svm.scores() for svm in found], axis=1)
