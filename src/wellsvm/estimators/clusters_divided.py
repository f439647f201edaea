"""The part of MaxMarginClustering that divides in two, or again and again: rows, the divider, what is stored."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wellsvm._arguments import threads
from wellsvm._input import is_sparse
from wellsvm._typing import Matrix
from wellsvm.engine.recipe import stage
from wellsvm.estimators.base import loss_of, make_rows
from wellsvm.estimators.checkpoints import stages_of
from wellsvm.estimators.cluster_base import TIES_SPLIT, cluster_rows
from wellsvm.estimators.clusters_uneven import ClustersUneven
from wellsvm.estimators.divisions import Divider, Division
from wellsvm.function import LinearFunction, stacked
from wellsvm.labels import Links
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.kernels import Kernel

__all__ = ["ClustersDivided"]


class ClustersDivided(ClustersUneven):
    """Finds two clusters, and more by dividing again and again."""

    cut: str
    orient: bool
    init: str
    cache_size: Any
    checkpoint: Any

    def _fit_divisions(
        self, X: Matrix, kernel: Kernel, n_clusters: int, links: Links | None, options: Options, seed: int
    ) -> Self:
        n_divisions = max(1, 2 * n_clusters - 3)  # tried, not kept: both halves of every one but the last
        progress = self._progress(X, parts=n_divisions, max_iter=options.max_iter)
        rows, balance = self._rows(X, kernel), Options.default_balance if self.balance == "auto" else self.balance
        stages = None if self.checkpoint is None else stages_of(self, rows)
        (seed,) = stage(stages, "seed", lambda: (seed,))
        tie = options.tie_single if X.dtype == np.float32 else options.tie_double
        estimated = self.cut == "auto" and self.balance == "auto" and n_clusters == 2
        cut = "valley" if estimated else "balance" if self.cut == "auto" else self.cut
        # Under a kernel, too, the scale of the rows is that of the rows less their mean, as for more clusters.
        space = self._space(X, kernel, options, seed) if self.C == "scale" and kernel.name != "linear" else None
        price = self._price(rows if space is None else space.rows)
        divider = Divider(
            rows, balance, price, loss_of(self), self.init, self.n_init, options, seed, tie, cut, self.orient,
            progress, stages, links,
        )  # fmt: skip
        tree, labels = divider.until(n_clusters, threads(self.n_jobs))
        self.labels_ = labels.astype(np.int32)
        self.children_ = tree.children
        self._store_divisions(X, kernel, rows, tree.divisions)
        labelings = [_on_all_rows(division, X.shape[0]) for division in tree.divisions]
        self._store_report([division.fit for division in tree.divisions], labelings, options.tol)
        # Sparse rows are mostly texts: the few that share a rare word lie best apart of all, and are no cluster.
        told_apart = not (is_sparse(X) or any(division.ties_split for division in tree.divisions))
        if estimated and self.init == "best" and links is None and told_apart:
            self._replace_by_uneven(X, kernel, space or self._space(X, kernel, options, seed), options, seed)
        if stages is not None:
            stages.close()
        progress.end(fitted=True)
        return self

    def _rows(self, X: Matrix, kernel: Kernel) -> GramRows | LinearRows:
        """Rows of X; dense ones are centered under the linear kernel."""
        if kernel.name == "linear":
            return cluster_rows(X, Options.bias if self.fit_intercept else 0.0, self.center)
        price = Options.scaled_C if self.C == "scale" else float(self.C)
        return make_rows(X, kernel, self.fit_intercept, price, self.cache_size)

    def _store_divisions(
        self, X: Matrix, kernel: Kernel, rows: GramRows | LinearRows, divisions: list[Division]
    ) -> None:
        """Store ``sign * (f - threshold)`` of every division as one function."""
        signs = np.array([division.sign for division in divisions])
        self.threshold_ = signs * np.array([division.threshold for division in divisions])
        if not divisions:
            self._store_function(None, kernel)
        elif kernel.name == "linear":  # every division has rows of its own, less their own mean
            parts = [d.fit.task.rows.split_intercept(d.sign * d.fit.coefficients()[None]) for d in divisions]
            self._store_function(stacked([LinearFunction(*part) for part in parts]), kernel)
        else:
            coefficients = [rows.from_part(d.sign * d.fit.coefficients(), d.members) for d in divisions]
            self._store_coefficients(X, kernel, *rows.split_intercept(np.stack(coefficients)))
        self.intercept_ = self.intercept_ - self.threshold_
        self._warn_if(any(division.ties_split for division in divisions), TIES_SPLIT)


def _on_all_rows(division: Division, n_rows: int) -> np.ndarray:
    """The label vectors of a division, 0 for rows outside of it."""
    vectors = division.fit.relaxation.solution.state.labels
    labelings = np.zeros((len(vectors), n_rows), dtype=np.int8)
    labelings[:, division.members] = division.sign * np.stack(vectors)
    return labelings
