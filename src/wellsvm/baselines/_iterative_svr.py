"""Iterative support vector regression (Zhang, Tsang, Kwok, "Maximum margin clustering made practical", ICML 2007).

    minimize over y, w, b   1/2 ||w||^2 + C sum_i | y_i - w'phi(x_i) - b |      y in {-1, +1}^n,  |sum y| <= beta

in turns: w by a support vector regression of the labels y with the Laplacian loss (epsilon = 0); then b, and
y = sign(w'phi(x) + b), by sorting. The loss is symmetric, and that is the point: the hinge loss of the SVM has nothing
against rows far on the right side, so that an alternation with the SVM hardly ever moves a label. It stops when the
labels stay, or return to earlier ones.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import choice, number, whole_number
from wellsvm._typing import FloatArray, LabelArray
from wellsvm.baselines._clusters import Cut, TwoClusterBaseline, aligned_labels
from wellsvm.baselines._kernel_k_means import KernelKMeans
from wellsvm.baselines._laplacian_svr import LaplacianSVR
from wellsvm.labels import ClusterLabels
from wellsvm.options import Options

__all__ = ["IterativeSVR", "best_bias"]


class IterativeSVR(TwoClusterBaseline):
    """Two clusters by alternating support vector regression and relabeling.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the loss of a row.
    kernel, gamma, degree, coef0 :
        As in MaxMarginClustering.
    balance : float, default=0.3
        beta / n: the sizes of the clusters differ by at most this share of the rows. 0 halves the rows.
    init : {"k-means", "aligned"} or array of shape (n_samples,), default="k-means"
        Start: kernel k-means with the same kernel; the best aligned of 20 random halvings, as in the paper; or an array
        with two different labels.
    n_init : int, default=1
        Number of starts of kernel k-means; the one with the lowest inertia is used.
    tol : float, default=1e-3
        Tolerance of the regressions.
    max_iter : int, default=50
        Maximum number of regressions.
    random_state : int, RandomState or None, default=None
        Seed of the start.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row; cluster 0 is the larger.
    n_iter_ : int
        Number of regressions.

    Notes
    -----
    If the balance cannot be kept without separating equal rows, `labels_` separates them by index; `predict` does not.
    """

    def __init__(
        self,
        C=1.0,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        balance=0.3,
        init="k-means",
        n_init=1,
        tol=1e-3,
        max_iter=50,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.balance = balance
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        number("C", self.C, low=0.0, open_low=True)
        number("balance", self.balance, low=0.0, high=1.0)
        number("tol", self.tol, low=0.0, open_low=True)
        whole_number("n_init", self.n_init, low=1)
        whole_number("max_iter", self.max_iter, low=1)
        if isinstance(self.init, str):
            choice("init", self.init, ("k-means", "aligned"), also=" or an array of labels")

    def _cut(self, K: FloatArray, rng: np.random.Generator) -> Cut:
        label_set = ClusterLabels.of_share(K.shape[0], float(self.balance))
        y, seen = self._start(K, rng), set[bytes]()
        svr = LaplacianSVR(K, float(self.C), float(self.tol))
        for _ in range(self.max_iter):
            seen.add(y.tobytes())
            coef = svr.fit(y.astype(np.float64))
            y, b = best_bias(K @ coef, label_set)
            if y.tobytes() in seen:
                break
        else:
            warnings.warn(
                f"IterativeSVR: labels still change after max_iter={self.max_iter} regressions; the last are kept.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_iter_ = len(seen)
        return Cut(y, coef, b)

    def _start(self, K: FloatArray, rng: np.random.Generator) -> LabelArray:
        if isinstance(self.init, str):
            if self.init == "aligned":
                return aligned_labels(K, rng)
            start = KernelKMeans(kernel="precomputed", n_init=self.n_init, random_state=int(rng.integers(2**31)))
            return np.where(start.fit(K).labels_ == 0, -1, 1).astype(np.int8)
        return _two_values(self.init, K.shape[0])


def best_bias(scores: FloatArray, label_set: ClusterLabels) -> tuple[LabelArray, float]:
    """Labels ``y = sign(scores + b)`` of least loss ``sum |y - scores - b|``, b halfway between two scores.

    Sizes that the balance forbids are left out, and those that would part equal scores, unless none is left.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    sizes = np.arange(max(1, label_set.low), min(label_set.high, scores.size - 1) + 1)
    gaps = falling[sizes - 1] - falling[sizes]
    clear = gaps > Options.tie_double * float(np.abs(falling[[0, -1]]).max())
    sizes = sizes[clear] if clear.any() else sizes
    biases = -0.5 * (falling[sizes - 1] + falling[sizes])
    losses = [np.abs(np.abs(scores + b) - 1).sum() for b in biases]
    best = int(np.argmin(losses))
    y = np.full(scores.size, -1, dtype=np.int8)
    y[order[: sizes[best]]] = 1
    return y, float(biases[best])


def _two_values(init: Any, n_rows: int) -> LabelArray:
    values, which = np.unique(np.asarray(init), return_inverse=True)
    if np.shape(init) != (n_rows,) or values.size != 2:
        raise ValueError(
            f"init must be 'k-means', 'aligned' or an array of {n_rows} labels of two kinds; got an array of shape "
            f"{np.shape(init)} with {values.size} kinds"
        )
    return (2 * which - 1).astype(np.int8)
