"""Choose one of several candidate classes for every row, with all classes relabeled together.

Trained one against the rest, each class would choose its rows without regard to the others. So, first, one SVM per
class is trained on the current labels, every row goes to one of its candidates, and this repeats until few rows move.
The price of rows with several candidates rises step by step, as in an annealed search. The result gives the number of
rows of each class, and the first scores of its two-class problem.

The first labels come from averaging: a row counts for each of its candidates in equal parts, and against all other
classes.

The number of rows of each class matters most. There are two ways to estimate it:

1. Every row goes to the candidate of the largest value. That is right where wrong candidates are noise, and gives the
   frequent classes too much where candidates are what occurs beside each other: sky is a candidate of most regions.
2. A row counts for its candidates in equal parts. That is right where every candidate of a group of rows is the class
   of one of them, as the labels of an image are for its regions, and draws all classes to equal size where they are
   noise.

Held-out rows choose between the two (`equal_parts_are_better`), by how often the class predicted for a row is one of
its candidates, corrected for chance: ``(hit - chance) / (1 - chance)``. Hits alone favor frequent candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.engine.assignment import apportion, assign, barred
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import Solution, fit_svm
from wellsvm.threads import run

__all__ = ["averaged_values", "best_candidates", "disambiguate", "equal_parts_are_better", "labels_by_parts"]


def best_candidates(values: FloatArray, candidates: BoolArray) -> IntArray:
    """The candidate of the largest value for every row; of equals the first."""
    return np.asarray(np.argmax(np.where(candidates, values, -np.inf), axis=1), dtype=np.int64)


def labels_by_parts(values: FloatArray, candidates: BoolArray) -> IntArray:
    """The candidates of the largest sum of values if a class has as many rows as count for it in equal parts."""
    parts = candidates / candidates.sum(axis=1, keepdims=True)
    labels, _ = assign(barred(values, ~candidates), apportion(parts.sum(axis=0), candidates.shape[0]))
    outside = ~candidates[np.arange(labels.size), labels]  # a rounded count that candidates do not allow
    return np.where(outside, best_candidates(values, candidates), labels)


def averaged_values(
    rows: Rows, candidates: BoolArray, loss: str, C: FloatArray, seed: int, options: Options, n_jobs: int | None = None
) -> FloatArray:
    """Values of one SVM per class, of shape (n_rows, n_classes): a row is positive for its candidates, in equal parts.

    Parameters
    ----------
    rows : Rows
        All rows.
    candidates : bool array of shape (n_rows, n_classes)
        Which classes a row may have.
    loss : str
        Loss of the SVMs.
    C : array of shape (n_rows,)
        Prices.
    seed : int
        Seed of orders.
    options : Options
        Constants.
    n_jobs : int or None
        Threads.
    """
    parts = 1.0 / candidates.sum(axis=1)

    def train(k: int) -> FloatArray:
        y = np.where(candidates[:, k], 1, -1).astype(np.int8)
        losses = Losses.of(loss, C * np.where(candidates[:, k], parts, 1.0))
        return _svm(rows, y, losses, [seed, k], None, options).scores()

    return np.stack(run([partial(train, k) for k in range(candidates.shape[1])], n_jobs), axis=1)


def disambiguate(
    rows: Rows,
    candidates: BoolArray,
    loss: str,
    C: FloatArray,
    seed: int,
    options: Options,
    n_jobs: int | None = None,
    by_parts: bool = False,
) -> tuple[FloatArray, IntArray]:
    """Values of one SVM per class and the class of every row; parameters are those of `averaged_values`.

    ``by_parts``: every class has as many rows as count for it in equal parts.
    """
    relabel = labels_by_parts if by_parts else best_candidates
    values = averaged_values(rows, candidates, loss, C, seed, options, n_jobs)
    labels, several = relabel(values, candidates), candidates.sum(axis=1) > 1
    svms: Sequence[Solution] = ()
    whole, number = Losses.of(loss, C), 0
    for share in (*options.search_prices, 1.0):
        losses = whole.eased(several, share)
        for _ in range(options.rounds_per_price):
            number += 1
            svms = _svms(rows, labels, candidates.shape[1], losses, [seed, number], svms, options, n_jobs)
            values = _values(svms)
            before, labels = labels, relabel(values, candidates)
            if np.count_nonzero(labels != before) <= options.few_moves * labels.size:
                break
    return values, labels


def equal_parts_are_better(
    rows: Rows, candidates: BoolArray, loss: str, C: FloatArray, seed: int, options: Options, n_jobs: int | None = None
) -> bool:
    """Whether equal parts give the better number of rows of each class, by the hits of held-out rows beyond chance.

    Parameters are those of `averaged_values`; a sample is taken where rows are many.
    """
    rng = np.random.default_rng(seed)
    if C.size > options.judged_rows:
        chosen = np.sort(rng.choice(C.size, options.judged_rows, replace=False))
        rows, candidates, C = rows.part(chosen), candidates[chosen], C[chosen]
    fold, n_classes = rng.permutation(C.size) % options.candidate_folds, candidates.shape[1]
    chance = np.minimum(candidates.mean(axis=0), 1 - 1 / C.size)
    gain = np.zeros(C.size)
    for f in range(options.candidate_folds):
        out = fold == f
        used, prices = np.flatnonzero(~out), np.where(out, 0.0, C)
        values = averaged_values(rows, candidates, loss, prices, seed, options, n_jobs)
        for relabel, sign in ((labels_by_parts, 1), (best_candidates, -1)):
            labels = np.full(C.size, -1)
            labels[used] = relabel(values[used], candidates[used])
            svms = _svms(rows, labels, n_classes, Losses.of(loss, prices), [seed, f], (), options, n_jobs)
            given = np.argmax(_values(svms)[out], axis=1)
            hit = candidates[np.flatnonzero(out), given]
            gain[out] += sign * (hit - chance[given]) / (1 - chance[given])
    return bool(gain.mean() > 0)


def _svms(
    rows: Rows,
    labels: IntArray,
    n_classes: int,
    losses: Losses,
    seed: list[int],
    before: Sequence[Solution],
    options: Options,
    n_jobs: int | None,
) -> list[Solution]:
    """One SVM per class against the rest, from the dual variables of those ``before``, if there are some."""

    def train(k: int) -> Solution:
        y = np.where(labels == k, 1, -1).astype(np.int8)
        return _svm(rows, y, losses, [*seed, k], before[k].alpha if before else None, options)

    return run([partial(train, k) for k in range(n_classes)], n_jobs)


def _values(svms: Sequence[Solution]) -> FloatArray:
    return np.stack([svm.scores() for svm in svms], axis=1)


def _svm(
    rows: Rows, y: LabelArray, losses: Losses, seed: list[int], alpha: FloatArray | None, options: Options
) -> Solution:
    tol, rng = options.search_rough * options.tol, np.random.default_rng(seed)
    return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=tol, rng=rng, alpha=alpha, options=options)
