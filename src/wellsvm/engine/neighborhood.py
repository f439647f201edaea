"""What the neighbors of labeled rows say: labels spread over a graph of nearest neighbors.

    scores of class k  =  log of (I + strength L)^-1 indicator_k / counts_k

with the normalized Laplacian L of the graph that joins every row with its nearest ones. The solution is the limit of
"take your label, and a share of what your neighbors have". Labeled rows are held out in folds, so that their scores
say what those of unlabeled rows say. Where classes lie on curved sheets these scores see what a linear function does
not; their errors are of another kind than those of SVMs, which is what makes the two worth averaging.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn import config_context
from sklearn.neighbors import kneighbors_graph

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.supervised import fold_of, some_unlabeled
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.gram import native_gram
from wellsvm.rows.linear import native_rows
from wellsvm.threads import one_thread, slices

__all__ = ["Neighborhood", "graph_of", "joined", "neighbor_scores", "neighborhood_of", "spread"]


class Neighborhood(NamedTuple):
    """Labeled rows, unlabeled ones, of which a sample is taken where they are many, and their graph.

    Attributes
    ----------
    rows : Rows
        The rows.
    codes : array of shape (n_rows,)
        Class of every row, -1 where it is unlabeled.
    C : array of shape (n_rows,)
        Prices; a sample has the price of all.
    graph : sparse matrix of shape (n_rows, n_rows)
        1 where two rows are joined: the graph of nearest neighbors.
    """

    rows: Rows
    codes: IntArray
    C: FloatArray
    graph: sparse.csr_matrix

    def pairs(self) -> tuple[IntArray, IntArray]:
        """The two rows of every pair of neighbors."""
        one, other = _rows_of_entries(self.graph), self.graph.indices
        once = one < other
        return one[once].astype(np.intp), other[once].astype(np.intp)


def neighborhood_of(
    rows: Rows, codes: IntArray, C: FloatArray, rng: np.random.Generator, options: Options
) -> Neighborhood:
    """The graph of the rows, without those whose code is below -1."""
    rows, codes, C = some_unlabeled(rows, codes, C, options.graph_rows, rng)
    if np.any(codes < -1):
        kept = np.flatnonzero(codes >= -1)
        rows, codes, C = rows.part(kept), codes[kept], C[kept]
    return Neighborhood(rows, codes, C, joined(rows, options.graph_neighbors))


def neighbor_scores(
    near: Neighborhood, n_classes: int, rng: np.random.Generator, options: Options
) -> tuple[FloatArray, FloatArray]:
    """Scores of labeled rows held out, and of unlabeled ones; ``rng`` draws the folds.

    Returns
    -------
    labeled, unlabeled : arrays of shapes (n_labeled, n_classes) and (n_unlabeled, n_classes)
    """
    codes = near.codes
    labeled = np.flatnonzero(codes >= 0)
    fold = fold_of(codes[labeled], options.folds, rng)
    n_folds = int(fold.max()) + 1
    indicator = np.eye(n_classes)[codes[labeled]]
    # a block of columns for all labels, then one for every fold without its own
    sources = np.concatenate([indicator, *(indicator * (fold != f)[:, None] for f in range(n_folds))], axis=1)
    counts = np.maximum(sources.sum(axis=0), 1.0)
    seeds = np.zeros((codes.size, -(-counts.size // 8) * 8))  # columns come in whole vectors
    seeds[labeled, : counts.size] = sources / counts
    found = spread(near.graph, seeds, options)[:, : counts.size].reshape(codes.size, n_folds + 1, n_classes)
    scores = np.log(found + options.graph_floor * float(found[:, 0].mean()))
    return scores[labeled, fold + 1], scores[codes == -1, 0]


def graph_of(rows: Any, n_neighbors: int, normalized: bool = True) -> sparse.csr_matrix:
    """Laplacian of the graph of nearest neighbors, see `joined`."""
    return csgraph.laplacian(joined(rows, n_neighbors), normed=normalized).tocsr()


def joined(rows: Any, n_neighbors: int) -> sparse.csr_matrix:
    """The graph that joins two rows if either is among the nearest of the other, in feature space: 1 where they are.

    ``rows`` are few: linear ones, or a kernel matrix.
    """
    n = min(n_neighbors, rows.n_instances - 1)
    if hasattr(rows, "taken"):
        # One thread: OpenMP's would hang in a process that was forked after they were used.
        with config_context(working_memory=Options.graph_memory), one_thread():
            edges = kneighbors_graph(rows.taken(np.arange(rows.n_instances)), n, include_self=False)
    else:
        K = rows.K if hasattr(rows, "K") else rows.block(np.arange(rows.n_instances))
        columns = _nearest(np.ascontiguousarray(K), n).ravel()
        edges = sparse.csr_matrix((np.ones(columns.size), columns, np.arange(0, columns.size + 1, n)), shape=K.shape)
    return edges.maximum(edges.T)


def _rows_of_entries(graph: sparse.csr_matrix) -> IntArray:
    return np.repeat(np.arange(graph.shape[0], dtype=graph.indices.dtype), np.diff(graph.indptr))


def _nearest(K: np.ndarray, n: int) -> IntArray:
    """The ``n`` nearest others of every row, by their kernel values: largest less half the squared distance, up to a
    constant for every row."""
    found, halves, matrix = np.empty((K.shape[0], n), np.int64), 0.5 * K.diagonal(), native_gram(K)
    for begin, end in slices(K.shape[0], Options.value_cost * K.shape[0]):
        matrix.nearest(halves, begin, found[begin:end])
    return found


def spread(graph: sparse.csr_matrix, seeds: FloatArray, options: Options) -> FloatArray:
    """``(I + strength L)^-1 seeds`` with the normalized Laplacian L: with S = I - L, a row keeps its own part and takes
    on that of its neighbors.

    By Chebyshev's semi-iteration: the eigenvalues of what is taken on are at most ``1 - keep`` in size, and steps that
    overshoot by as much as that allows leave less of an error than as many plain rounds.
    """
    keep = 1.0 / (1.0 + options.graph_strength)
    roots = np.sqrt(np.diff(graph.indptr))
    taken_on = (1.0 - keep) / roots[_rows_of_entries(graph)] / roots[graph.indices]
    near = native_rows(sparse.csr_matrix((taken_on, graph.indices, graph.indptr), shape=graph.shape))
    first, size = keep * seeds, 1.0
    now = np.vstack([first, np.zeros(seeds.shape[1])])  # rows have a constant feature, which is 0
    last, step = np.zeros_like(now), np.empty_like(first)
    for k in range(options.graph_rounds):
        for begin, end in slices(step.shape[0], graph.nnz / step.shape[0] * step.shape[1]):
            near.scores(now, 0.0, begin, end, step[begin:end])
        step += first
        step -= last[:-1]
        step *= size
        last[:-1] += step
        now, last = last, now
        size = 1.0 / (1.0 - (0.25 if k else 0.5) * (1.0 - keep) ** 2 * size)
    return np.maximum(now[:-1], 0.0, out=step)  # overshooting may leave a trace below 0
