"""More than two clusters at once: every cluster against the rest, relabelled together.

Divisions in two are made one after the other and never taken back. From their clusters, one SVM per cluster is trained
against all other rows, every row goes to the cluster of the largest value, and so on until few rows move. Both sides of
an SVM weigh the same, else small clusters would vanish. While the price of the losses is low, the functions follow the
bulk of their cluster and many rows move; it then rises step by step to C, as in deterministic annealing.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver import Solution, fit_svm
from wellsvm.threads import run

__all__ = ["relabel_together"]


def relabel_together(
    rows: Rows, labels: IntArray, C: float, loss: str, options: Options, seed: int, n_jobs: int | None
) -> tuple[list[Solution], IntArray, bool]:
    """One SVM per cluster, the cluster of every row, and whether that is the one of the largest value for all of them:
    a cluster that would be empty keeps a row."""
    n_rows, n_clusters = labels.size, int(labels.max()) + 1
    svms: list[Solution] = []

    def against_the_rest(k: int, price: float, number: int) -> Solution:
        inside = labels == k
        size = np.where(inside, inside.sum(), n_rows - inside.sum())
        y = np.where(inside, 1, -1).astype(np.int8)
        losses = Losses.of(loss, price * n_rows / (2 * size))
        rng = np.random.default_rng([seed, number, k])
        alpha = svms[k].alpha if svms else None
        return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=options.tol, rng=rng, alpha=alpha, options=options)

    for step, share in enumerate(options.joint_prices):
        for i in range(options.joint_rounds):
            number = step * options.joint_rounds + i
            svms = run([partial(against_the_rest, k, share * C, number) for k in range(n_clusters)], n_jobs)
            values = np.stack([svm.scores() for svm in svms], axis=1)
            moved = of_largest_value(values)
            n_moved = np.count_nonzero(moved != labels)
            labels = moved
            if n_moved <= options.few_moves * n_rows:
                break
    return svms, labels, np.array_equal(labels, np.argmax(values, axis=1))


def of_largest_value(F: FloatArray) -> IntArray:
    """The column of the largest entry of every row; a column that is nowhere the largest gets the row it misses least,
    so that no cluster is empty."""
    labels = np.argmax(F, axis=1)
    for k in range(F.shape[1]):
        sizes = np.bincount(labels, minlength=F.shape[1])
        if sizes[k] == 0:
            lead = F.max(axis=1) - F[:, k]
            labels[np.argmin(np.where(sizes[labels] > 1, lead, np.inf))] = k
    return labels
