"""Whether the search for labels helps where only proportions of groups are known: by groups held out.

Where the classes overlap, the labels of largest margin that keep the proportions may have little to do with the
classes, and the first labels, by the direction that fits the proportions best, are nearer to the truth. Groups held
out tell: their proportions are known, and a function that has not seen them says what they should be. The search is
used where the squared error of these shares is smaller than that of the SVM on the first labels, by one standard error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.labels.proportions import ProportionLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.linear import LinearRows
from wellsvm.solver.master import fit_svm

__all__ = ["first_direction", "first_labels_price", "searching_helps"]


def first_direction(rows: Rows, labels: ProportionLabels, heard: BoolArray) -> FloatArray:
    """Scores ``<x, sum_i (share of i's group - mean share) x_i>`` of all rows, summed over those ``heard``.

    The covariance of rows and shares: the direction of the difference of the class means, as in the mean map.
    """
    share = _shares(labels)[labels.groups]
    known = labels.y_known != 0
    share = np.where(known, labels.y_known > 0, share)  # a label says more than the share of its group
    weights = np.where(heard, share - share[heard].mean(), 0.0)
    return np.asarray(rows.scores(rows.combine(np.ascontiguousarray(weights[:, None])))[:, 0])


def first_labels_price(rows: Rows, options: Options) -> float:
    """Price of the SVM on the first labels, as a share of C."""
    return options.first_labels_price if isinstance(rows, LinearRows) else options.first_labels_kernel_price


def searching_helps(
    rows: Rows, label_sets: Sequence[ProportionLabels], loss: str, C: FloatArray, seed: int, options: Options
) -> bool:
    """Compare the search with the SVM on the first labels by the shares of groups held out.

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
    order = rng.permutation(n_groups)
    if n_groups < 2 * options.group_folds:
        return False  # too few to hold any out
    sizes = np.bincount(label_sets[0].groups, minlength=n_groups)[order]
    judged = order[: max(2 * options.group_folds, int(np.searchsorted(np.cumsum(sizes), options.judged_rows)))]
    chosen = np.flatnonzero(np.isin(label_sets[0].groups, judged))
    if chosen.size < C.size:
        rows, C, label_sets = rows.part(chosen), C[chosen], [_part(labels, chosen) for labels in label_sets]
    fold = rng.permutation(int(label_sets[0].groups.max()) + 1) % options.group_folds
    gains = []
    for f in range(options.group_folds):
        for labels in label_sets:
            out = fold[labels.groups] == f
            searched, first = _errors(rows, labels, loss, np.where(out, 0.0, C), out, rng, options)
            gains.append(first - searched)
    gain = np.concatenate(gains)
    return bool(gain.mean() > options.group_errors * gain.std() / np.sqrt(gain.size))


def _errors(
    rows: Rows,
    labels: ProportionLabels,
    loss: str,
    C: FloatArray,
    out: BoolArray,
    rng: np.random.Generator,
    options: Options,
) -> tuple[FloatArray, FloatArray]:
    """Squared errors of the shares of the groups ``out``, by the search and by the SVM on the first labels."""
    scores = first_direction(rows, labels, ~out)
    y = labels.linear_oracle(scores)
    first = fit_svm(
        rows, BalancedLabels.known(y), Losses.of(loss, first_labels_price(rows, options) * C), y,
        tol=options.judge_tol * options.tol, rng=rng, options=options,
    )  # fmt: skip
    task = Task(rows, labels, Losses.of(loss, C), rising=np.ones(C.size, dtype=np.bool_))
    found = search(task, Guess(scores), options, rng)
    return _misses(labels, found.scores(), out), _misses(labels, first.scores(), out)


def _misses(labels: ProportionLabels, f: FloatArray, out: BoolArray) -> FloatArray:
    size = np.bincount(labels.groups, minlength=labels.low.size)
    predicted = np.bincount(labels.groups[f > 0], minlength=labels.low.size)
    asked = np.unique(labels.groups[out])
    return np.asarray((predicted / np.maximum(size, 1) - _shares(labels))[asked] ** 2)


def _shares(labels: ProportionLabels) -> FloatArray:
    """Share of positives in every group, known ones included: the middle of its bounds."""
    size = np.bincount(labels.groups, minlength=labels.low.size)
    known = np.bincount(labels.groups[labels.y_known == 1], minlength=labels.low.size)
    return np.asarray((known + (labels.low + labels.high) / 2) / np.maximum(size, 1))


def _part(labels: ProportionLabels, chosen: IntArray) -> ProportionLabels:
    """The set of some whole groups."""
    groups, inverse = np.unique(labels.groups[chosen], return_inverse=True)
    return ProportionLabels(inverse, labels.low[groups], labels.high[groups], labels.y_known[chosen])
