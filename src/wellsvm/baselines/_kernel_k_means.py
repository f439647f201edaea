"""Kernel k-means: Lloyd's algorithm in the feature space of a kernel.

    minimize over labels   inertia = sum_i || phi(x_i) - m_c(i) ||^2,      m_c the mean of cluster c

    || phi(x) - m_c ||^2 = k(x, x) - 2 mean_{j in c} k(x, x_j) + mean_{j, l in c} k(x_j, x_l)

Means and nearest means in turns, until no label changes. Neither half of a turn raises the inertia; the labels are
finitely many, hence it ends, in a local optimum.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import choice, whole_number
from wellsvm._typing import FloatArray, IntArray
from wellsvm.baselines._clusters import ClusterBaseline, Clusters, aligned_labels

__all__ = ["KernelKMeans", "Lloyd", "lloyd"]

# A row changes its cluster only for a gain above this share of the largest kernel value: not for rounding.
GAIN = 1e-12


class Lloyd(NamedTuple):
    """Labels, the inertia in every turn, and whether no label changed in the last."""

    labels: IntArray
    inertias: list[float]
    settled: bool


class KernelKMeans(ClusterBaseline):
    """Kernel k-means.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    kernel, gamma, degree, coef0 :
        As in MaxMarginClustering; the default kernel is "linear", plain k-means.
    init : {"k-means++", "aligned"} or array of shape (n_samples,), default="k-means++"
        Start: rows far from one another; the best aligned of 20 random halvings, as in the paper (two clusters only);
        or labels 0, ..., n_clusters - 1.
    n_init : int, default=10
        Number of starts; the result with the lowest inertia is kept. An array is a single start.
    max_iter : int, default=300
        Maximum number of iterations per start.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row; cluster 0 is the largest, and none is empty.
    inertia_ : float
        Sum of the squared distances to the means, in feature space.
    n_iter_ : int
        Number of iterations of the start that was kept, including the last one, in which no label changed.
    """

    def __init__(
        self,
        n_clusters=2,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        init="k-means++",
        n_init=10,
        max_iter=300,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        n_clusters = whole_number("n_clusters", self.n_clusters, low=1)
        if n_clusters > n_rows:
            raise ValueError(f"n_clusters={n_clusters} is more than the n_samples={n_rows} rows of X")
        whole_number("n_init", self.n_init, low=1)
        whole_number("max_iter", self.max_iter, low=1)
        if isinstance(self.init, str):
            choice("init", self.init, ("k-means++", "aligned"), also=" or an array of labels")
            if self.init == "aligned" and n_clusters != 2:
                raise ValueError(f"init='aligned' halves the rows: n_clusters must be 2; got n_clusters={n_clusters}")

    def _find(self, K: FloatArray, rng: np.random.Generator) -> Clusters:
        n_starts = self.n_init if isinstance(self.init, str) else 1
        runs = [lloyd(K, self._start(K, rng), self.n_clusters, self.max_iter) for _ in range(n_starts)]
        best = min(runs, key=lambda run: run.inertias[-1])
        if not best.settled:
            warnings.warn(
                f"KernelKMeans: labels still change after max_iter={self.max_iter} iterations; raise max_iter, or "
                "use a positive semidefinite kernel: with others the inertia may rise.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.inertia_, self.n_iter_ = best.inertias[-1], len(best.inertias)
        labels = _renumbered(best.labels, self.n_clusters)
        share = _share(labels, self.n_clusters)
        # Of all means the nearest has the largest 2 m'phi(x) - m'm.
        return Clusters(labels, 2 * share.T, -np.einsum("ic,ic->c", share, K @ share))

    def _start(self, K: FloatArray, rng: np.random.Generator) -> IntArray:
        if not isinstance(self.init, str):
            return _given(self.init, K.shape[0], self.n_clusters)
        if self.init == "aligned":
            return (aligned_labels(K, rng) < 0).astype(np.int64)
        return _plus_plus(K, self.n_clusters, rng)

    def predict(self, X: Any) -> IntArray:
        """Cluster of the nearest mean, for every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"``, the kernel values with the training rows.
        """
        return self._functions(X).argmax(axis=1).astype(np.int32)


def lloyd(K: FloatArray, labels: IntArray, n_clusters: int, max_iter: int) -> Lloyd:
    """Lloyd's algorithm from some labels; a cluster that is empty takes the row farthest from its own mean."""
    rows, diagonal = np.arange(K.shape[0]), K.diagonal()
    least = GAIN * float(np.abs(diagonal).max())
    labels, inertias = _fill_empty(labels, diagonal, n_clusters), []
    while True:
        share = _share(labels, n_clusters)
        products = K @ share
        distances = diagonal[:, None] - 2 * products + np.einsum("ic,ic->c", share, products)
        own = distances[rows, labels]
        inertias.append(float(own.sum()))
        nearest = distances.argmin(axis=1)
        closer = distances[rows, nearest] < own - least
        if len(inertias) == max_iter or not closer.any():
            return Lloyd(labels, inertias, not closer.any())
        moved = np.where(closer, nearest, labels)
        labels = _fill_empty(moved, distances[rows, moved], n_clusters)


def _share(labels: IntArray, n_clusters: int) -> FloatArray:
    """The matrix whose columns average the rows of a cluster."""
    members = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    return members / members.sum(axis=0)


def _fill_empty(labels: IntArray, distances: FloatArray, n_clusters: int) -> IntArray:
    """Give each empty cluster the row farthest from its mean, out of a cluster that has another row."""
    labels, sizes = labels.copy(), np.bincount(labels, minlength=n_clusters)
    for empty in np.flatnonzero(sizes == 0):
        farthest = int(np.argmax(np.where(sizes[labels] > 1, distances, -np.inf)))
        sizes[labels[farthest]] -= 1
        sizes[empty] += 1
        labels[farthest] = empty
    return labels


def _plus_plus(K: FloatArray, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """k-means++ in feature space: each next center a row, drawn by its squared distance to the nearest so far."""
    diagonal, centres = K.diagonal(), [int(rng.integers(K.shape[0]))]
    distances = np.empty((K.shape[0], n_clusters))
    for c in range(n_clusters):
        distances[:, c] = np.maximum(diagonal - 2 * K[:, centres[c]] + diagonal[centres[c]], 0)
        nearest = distances[:, : c + 1].min(axis=1)
        total = nearest.sum()
        centres.append(int(rng.choice(nearest.size, p=nearest / total) if total > 0 else rng.integers(nearest.size)))
    return distances.argmin(axis=1)


def _given(init: Any, n_rows: int, n_clusters: int) -> IntArray:
    labels = np.asarray(init)
    if labels.shape != (n_rows,) or not np.isin(labels, np.arange(n_clusters)).all():
        raise ValueError(
            f"init must be 'k-means++', 'aligned' or an array of {n_rows} labels in 0, ..., {n_clusters - 1}; got an "
            f"array of shape {labels.shape} with values {np.unique(labels)[:5]}"
        )
    return labels.astype(np.int64)


def _renumbered(labels: IntArray, n_clusters: int) -> IntArray:
    """The same clusters, numbered by falling size; of equal ones that of the lower row first."""
    sizes, first = np.bincount(labels, minlength=n_clusters), [int(np.argmax(labels == c)) for c in range(n_clusters)]
    order = sorted(range(n_clusters), key=lambda c: (-sizes[c], first[c]))
    return np.argsort(order)[labels].astype(np.int32)
