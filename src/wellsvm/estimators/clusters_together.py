"""The part of MaxMarginClustering that finds more than two clusters: rows, starts, sizes, links, what is stored."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from wellsvm._arguments import at_least, at_most, threads
from wellsvm._typing import IntArray, Matrix
from wellsvm.engine.report import Record
from wellsvm.estimators.base import loss_of
from wellsvm.estimators.cluster_base import TIES_SPLIT, ClusterModel
from wellsvm.estimators.cluster_sizes import of_largest_value, within_sizes
from wellsvm.estimators.joint_clusters import Joint, JointClusters
from wellsvm.estimators.links import assign_apart
from wellsvm.labels import Links
from wellsvm.options import Options
from wellsvm.rows.kernels import Kernel

__all__ = ["ClustersTogether"]

NOT_FIRST_CHOICE = (
    "a cluster is no row's first choice and keeps one row in labels_, which predict puts elsewhere. Lower n_clusters, "
    "or drop duplicate rows or constant features."
)


class ClustersTogether(ClusterModel):
    """Finds more than two clusters together."""

    def _fit_together(
        self, X: Matrix, kernel: Kernel, n_clusters: int, links: Links | None, options: Options, seed: int
    ) -> Self:
        progress = self._progress(X, max_iter=None)
        space = self._space(X, kernel, options, seed)
        rows, seen = space.rows, space.seen
        loss = "squared_hinge" if self.loss == "auto" else loss_of(self)
        assign, n_jobs = self._assignment(X.shape[0], n_clusters, links), threads(self.n_jobs)
        joint = Joint(rows, n_clusters, self._price(rows), loss, assign, options, seed, n_jobs, progress.label_vector)
        found = joint.relabel([joint.start(self.n_init, seen), joint.joined_start(seen)])
        order = _largest_first(found.labels)
        weights, intercepts = found.weights[order], found.intercepts[order] + found.offsets[order]
        self._store_in(space, X, kernel, weights, intercepts)
        self._store_joint(found, order)
        if links is None:
            self._compare_with_prediction(X, options)
        progress.end(fitted=True)
        return self

    def _compare_with_prediction(self, X: Matrix, options: Options) -> None:
        """Let `predict` decide where two values are equal up to rounding; warn where it must differ from labels_."""
        values = self._evaluate(X)
        predicted = np.argmax(values, axis=1).astype(np.int32)
        lost = values.max(axis=1) - values[np.arange(X.shape[0]), self.labels_]
        every = np.unique(predicted).size == values.shape[1]
        if every and self.balance == "auto" and lost.max() <= options.tie_single * float(np.abs(values).max()):
            self.labels_ = predicted
        differs = not np.array_equal(self.labels_, predicted)
        self._warn_if(differs, NOT_FIRST_CHOICE if self.balance == "auto" else TIES_SPLIT)

    def _assignment(self, n_rows: int, n_clusters: int, links: Links | None) -> Any:
        """How rows get their clusters from values: by the largest, within the sizes asked for, or as links allow."""
        if links is not None:
            return lambda values: (assign_apart(values, links), np.zeros(n_clusters))
        if self.balance == "auto":
            return lambda values: (of_largest_value(values), np.zeros(n_clusters))
        mean = n_rows / n_clusters
        low, high = max(1, at_least((1 - self.balance) * mean)), at_most((1 + self.balance) * mean)
        # An equal number of rows each may not be possible: then one more or one less is allowed.
        return partial(within_sizes, low=min(low, n_rows // n_clusters), high=max(high, -(-n_rows // n_clusters)))

    def _store_joint(self, found: JointClusters, order: IntArray) -> None:
        """Clusters, and what tells of them, one entry per cluster."""
        self.children_, self.threshold_ = None, 0.0 - found.offsets[order]  # no negative zeros
        self.labels_ = np.argsort(order)[found.labels].astype(np.int32)
        self.labelings_ = [np.where(self.labels_ == k, 1, -1).astype(np.int8)[None] for k in range(order.size)]
        self.labeling_weights_ = [np.ones(1) for _ in order]
        self.objective_, self.gap_ = found.objective[order], found.gap[order]
        self.oracle_violation_, self.refined_objective_, self.refined_gap_ = np.zeros(order.size), None, None
        self.history_ = [
            [Record(float(upper), float(gap), 0.0, 1, found.n_rounds, found.seconds)]
            for upper, gap in zip(self.objective_, self.gap_)
        ]
        self.n_iter_, self.status_ = found.n_rounds, [str(found.status)] * order.size


def _largest_first(labels: IntArray) -> IntArray:
    """The clusters by falling size; of equal ones, the one with the first row first."""
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    return np.lexsort((first, -sizes))
