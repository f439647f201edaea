"""Two clusters of any sizes, where they lie clearly better apart than those found.

Label vectors of two clusters keep to a balance, and f is cut where it has a valley. Where one cluster is small, f
rather parts the large one, and has no valley between the two. k-means without a balance finds smaller clusters, and
means that are joined find smaller ones yet. They are compared with the clusters found by the rule of `joint_clusters`:
which share of the loss is left by a function that tells them apart, beside how far apart they lie. None that lies less
far apart than those found is taken: margins around a few similar texts among many are large, and tell nothing.
"""

from __future__ import annotations

import numpy as np

from wellsvm._arguments import threads
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.engine.report import Record
from wellsvm.estimators.base import loss_of
from wellsvm.estimators.cluster_base import ClusterModel, Space
from wellsvm.estimators.joint_clusters import Joint, JointClusters, of_largest_value
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.rows.kernels import Kernel

__all__ = ["ClustersUneven"]


class ClustersUneven(ClusterModel):
    """Replaces two clusters by better ones of any sizes."""

    def _replace_by_uneven(self, X: Matrix, kernel: Kernel, options: Options, seed: int) -> None:
        """Look for clusters of any sizes, and store them where they are clearly better than ``labels_``."""
        price = self.C_
        space = self._space(X, kernel, options, seed)
        found = self._uneven(space, options, seed)
        if found is None:
            self.C_ = price
            return
        larger = int(np.argmax(np.bincount(found.labels, minlength=2)))
        sign = 1 if larger == 0 else -1  # f is positive on the smaller cluster
        self._store_in(space, X, kernel, sign * found.weights, sign * found.intercepts)
        self.labels_ = (self._evaluate(X)[:, 0] > 0).astype(np.int32)  # as found, but where f is 0 up to rounding
        self.threshold_ = np.zeros(1)
        self.labelings_, self.labeling_weights_ = np.where(self.labels_ == 1, 1, -1).astype(np.int8)[None], np.ones(1)
        self.objective_, self.gap_, self.oracle_violation_ = float(found.objective[0]), float(found.gap[0]), 0.0
        self.refined_objective_, self.refined_gap_ = (self.objective_, self.gap_) if self.refine else (None, None)
        self.history_ = [Record(self.objective_, self.gap_, 0.0, 1, found.n_rounds, found.seconds)]
        self.n_iter_, self.status_ = found.n_rounds, str(found.status)

    def _uneven(self, space: Space, options: Options, seed: int) -> JointClusters | None:
        """Clusters clearly better than ``labels_``; of many rows some are compared."""
        loss = "squared_hinge" if self.loss == "auto" else loss_of(self)

        def joint_of(rows: LinearRows) -> Joint:
            def assign(values: FloatArray) -> tuple[IntArray, FloatArray]:
                return of_largest_value(values), np.zeros(2)

            return Joint(rows, 2, self._price(rows), loss, assign, options, seed, threads(self.n_jobs))

        rows, seen, labels = space.rows, space.seen, self.labels_.astype(np.intp)
        n, most = labels.size, options.k_means_sample
        if n > most:
            chosen = np.sort(np.random.default_rng([seed, 4]).choice(n, most, replace=False))
            rows, seen, labels = rows.part(chosen), seen.part(chosen), labels[chosen]
        joint = joint_of(rows)
        starts = [
            joint.start(options.start_draws, seen),
            joint.joined_start(seen),
            joint.joined_start(seen, options.many_joined_means),
        ]
        least = joint.spread(labels)
        apart = [start for start in starts if joint.spread(start) >= least and _no_outliers(rows, start, options)]
        better = joint.clearly_better(labels, apart)
        if better is None:
            return None
        if n > most:
            better = joint.carried_over(better, space.rows)
            joint = joint_of(space.rows)
        found = joint.settle(better)
        return found if _no_outliers(space.rows, found.labels, options) else None


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
