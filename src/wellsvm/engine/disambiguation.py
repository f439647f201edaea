"""One of several candidate classes for every row: all classes relabelled together.

One against the rest, each class alone would choose its rows without regard to the others. So first one SVM per class is
trained on present labels, every row goes to the candidate of the largest value, and so on until few rows move; the
price of rows with several candidates rises step by step, as in an annealed search. What comes out says how many rows
each class has, and is the start of its own problem.

The first labels come from averaging: a row counts for each of its candidates in equal parts, and against all others.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import Solution, fit_svm
from wellsvm.threads import run

__all__ = ["averaged_values", "best_candidates", "disambiguate"]


def best_candidates(values: FloatArray, candidates: BoolArray) -> IntArray:
    """The candidate of the largest value for every row; of equals the first."""
    return np.asarray(np.argmax(np.where(candidates, values, -np.inf), axis=1), dtype=np.int64)


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
    rows: Rows, candidates: BoolArray, loss: str, C: FloatArray, seed: int, options: Options, n_jobs: int | None = None
) -> tuple[FloatArray, IntArray]:
    """Values of one SVM per class and the class of every row; parameters are those of `averaged_values`."""
    values = averaged_values(rows, candidates, loss, C, seed, options, n_jobs)
    labels, several = best_candidates(values, candidates), candidates.sum(axis=1) > 1
    svms: list[Solution] = []

    def train(k: int, losses: Losses, number: int) -> Solution:
        y = np.where(labels == k, 1, -1).astype(np.int8)
        return _svm(rows, y, losses, [seed, number, k], svms[k].alpha if svms else None, options)

    whole, number = Losses.of(loss, C), 0
    for share in (*options.search_prices, 1.0):
        losses = whole.eased(several, share)
        for _ in range(options.rounds_per_price):
            number += 1
            svms = run([partial(train, k, losses, number) for k in range(candidates.shape[1])], n_jobs)
            values = np.stack([svm.scores() for svm in svms], axis=1)
            before, labels = labels, best_candidates(values, candidates)
            if np.count_nonzero(labels != before) <= options.few_moves * labels.size:
                break
    return values, labels


def _svm(
    rows: Rows, y: LabelArray, losses: Losses, seed: list[int], alpha: FloatArray | None, options: Options
) -> Solution:
    tol, rng = options.search_rough * options.tol, np.random.default_rng(seed)
    return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=tol, rng=rng, alpha=alpha, options=options)
