"""Two clusters of any sizes: those of k-means, relabeled by their SVM, unless those found run clearly better between
the rows.

Label vectors of two clusters keep to a balance, and f is cut where it has a valley. Where one cluster is small, f
rather parts the large one; and where there is no clear margin at all, as between embeddings of two topics, label
vectors go to the bounds of the balance. k-means knows no balance, but cuts long clusters across. Which of the two runs
between the rows, and not through them, their neighbors tell: how many of them it parts, beside how many clusters of
these sizes would part by chance. What takes the place of k-means must part clearly fewer, and its function must not
leave clearly more of the loss.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from wellsvm._arguments import threads
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.engine.report import Record
from wellsvm.estimators.base import loss_of
from wellsvm.estimators.cluster_base import ClusterModel, Space
from wellsvm.estimators.cluster_sizes import of_largest_value
from wellsvm.estimators.joint_clusters import Joint, JointClusters
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.rows.kernels import Kernel

__all__ = ["ClustersUneven"]


class ClustersUneven(ClusterModel):
    """Replaces two clusters by better ones of any sizes."""

    def _replace_by_uneven(self, X: Matrix, kernel: Kernel, space: Space, options: Options, seed: int) -> None:
        """Look for clusters of any sizes, and store them unless ``labels_`` run clearly better between the rows."""
        found = self._uneven(space, options, seed)
        if found is None:
            return
        sizes = np.bincount(found.labels, minlength=2)
        first = int(np.argmax(sizes)) if sizes[0] != sizes[1] else int(found.labels[0])
        sign = 1 if first == 0 else -1  # f is positive on the smaller cluster; of equal ones, on that without row 0
        self._store_in(space, X, kernel, sign * found.weights, sign * found.intercepts)
        self.labels_ = (self._evaluate(X)[:, 0] > 0).astype(np.int32)  # as found, but where f is 0 up to rounding
        self.threshold_ = np.zeros(1)
        self.labelings_, self.labeling_weights_ = np.where(self.labels_ == 1, 1, -1).astype(np.int8)[None], np.ones(1)
        self.objective_, self.gap_, self.oracle_violation_ = float(found.objective[0]), float(found.gap[0]), 0.0
        self.refined_objective_, self.refined_gap_ = (self.objective_, self.gap_) if self.refine else (None, None)
        self.history_ = [Record(self.objective_, self.gap_, 0.0, 1, found.n_rounds, found.seconds)]
        self.n_iter_, self.status_ = found.n_rounds, str(found.status)

    def _uneven(self, space: Space, options: Options, seed: int) -> JointClusters | None:
        """Clusters of k-means, relabeled, or None where ``labels_`` are to stay; of many rows some are compared."""
        loss = "squared_hinge" if self.loss == "auto" else loss_of(self)

        def joint_of(rows: LinearRows) -> Joint:
            def assign(values: FloatArray) -> tuple[IntArray, FloatArray]:
                return of_largest_value(values), np.zeros(2)

            return Joint(rows, 2, float(self.C_), loss, assign, options, seed, threads(self.n_jobs))

        rows, seen, labels = space.rows, space.seen, self.labels_.astype(np.intp)
        n, most = labels.size, options.k_means_sample
        if n > most:
            chosen = np.sort(np.random.default_rng([seed, 4]).choice(n, most, replace=False))
            rows, seen, labels = rows.part(chosen), seen.part(chosen), labels[chosen]
        joint = joint_of(rows)
        means = joint.start(self.n_init, seen)
        if not _no_outliers(rows, means, options):
            return None
        found = joint.settle(means)
        if _clearly_between(labels, found.labels, joint, seen, options):
            return None
        if n > most:
            carried = joint.carried_over(found.labels, space.rows)
            found = joint_of(space.rows).settle(carried)
        return found if _no_outliers(space.rows, found.labels, options) else None


def _clearly_between(labels: IntArray, others: IntArray, joint: Joint, seen: LinearRows, options: Options) -> bool:
    """Whether these clusters part clearly fewer neighbors than others, and leave not clearly more of the loss."""
    some = seen.taken(np.arange(labels.size))
    graph = NearestNeighbors(n_neighbors=min(options.parted_neighbors, labels.size - 1)).fit(some)
    neighbours = graph.kneighbors(return_distance=False)  # none is a neighbor of its own
    if not _parted(labels, neighbours) < options.clearly_less * _parted(others, neighbours):
        return False
    return options.clearly_less * joint.loss_left(labels) < joint.loss_left(others)


def _parted(labels: IntArray, neighbours: IntArray) -> float:
    """Share of the neighbors that two clusters part, beside that of rows in clusters of these sizes by chance."""
    share = float(np.mean(labels))
    by_chance = max(2 * share * (1 - share), np.finfo(np.float64).tiny)
    return float(np.mean(labels[neighbours] != labels[:, None])) / by_chance


def _no_outliers(rows: LinearRows, labels: IntArray, options: Options) -> bool:
    """Whether the smaller of two clusters is more than some rows that lie far from all others."""
    sizes = np.bincount(labels, minlength=2)
    small = int(np.argmin(sizes))
    if sizes[small] < max(options.fewest_rows, options.least_cluster_share * labels.size):
        return False
    if sizes[small] > options.smallest_cluster * labels.size:
        return True
    sums = rows.combine((labels[:, None] == np.arange(2)).astype(np.float64))
    squares = np.bincount(labels, weights=rows.squared_norms, minlength=2) - np.sum(sums * sums, axis=0) / sizes
    scatter = squares / (sizes - 1)  # of a row, whatever their number
    return bool(scatter[small] <= options.outlier_scatter * scatter[1 - small])
