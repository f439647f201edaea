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
from wellsvm.rows.linear import LinearRows
from wellsvm.threads import one_thread

__all__ = ["Neighborhood", "graph_of", "neighbor_scores", "neighborhood_of"]


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
    L : sparse matrix of shape (n_rows, n_rows)
        Normalized Laplacian of the graph of nearest neighbors.
    """

    rows: Rows
    codes: IntArray
    C: FloatArray
    L: sparse.csr_matrix


def neighborhood_of(
    rows: Rows, codes: IntArray, C: FloatArray, rng: np.random.Generator, options: Options
) -> Neighborhood:
    """The graph of the rows, without those whose code is below -1."""
    rows, codes, C = some_unlabeled(rows, codes, C, options.graph_rows, rng)
    if np.any(codes < -1):
        kept = np.flatnonzero(codes >= -1)
        rows, codes, C = rows.part(kept), codes[kept], C[kept]
    return Neighborhood(rows, codes, C, graph_of(rows, options.graph_neighbors))


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
    seeds = np.zeros((codes.size, sources.shape[1]))
    seeds[labeled] = sources / counts
    spread = _spread(near.L, seeds, options).reshape(codes.size, n_folds + 1, n_classes)
    scores = np.log(spread + options.graph_floor * float(spread[:, 0].mean()))
    return scores[labeled, fold + 1], scores[codes == -1, 0]


def graph_of(rows: Any, n_neighbors: int, normalized: bool = True) -> sparse.csr_matrix:
    """Laplacian of the graph that joins two rows if either is among the nearest of the other, in feature space.

    ``rows`` are few: linear ones, or a kernel matrix.
    """
    n = min(n_neighbors, rows.n_instances - 1)
    if hasattr(rows, "taken"):
        # One thread: OpenMP's would hang in a process that was forked after they were used.
        with config_context(working_memory=Options.graph_memory), one_thread():
            edges = kneighbors_graph(rows.taken(np.arange(rows.n_instances)), n, include_self=False)
    else:
        K = rows.K if hasattr(rows, "K") else rows.block(np.arange(rows.n_instances))
        step, halves = max(1, (Options.graph_memory << 20) // (8 * K.shape[0])), 0.5 * K.diagonal()
        columns = np.concatenate([_nearest(K, halves, begin, begin + step, n) for begin in range(0, K.shape[0], step)])
        edges = sparse.csr_matrix((np.ones(columns.size), columns, np.arange(0, columns.size + 1, n)), shape=K.shape)
    return csgraph.laplacian(edges.maximum(edges.T), normed=normalized).tocsr()


def _nearest(K: np.ndarray, halves: np.ndarray, begin: int, end: int, n: int) -> IntArray:
    """The ``n`` nearest others of the rows ``begin .. end - 1``, by their kernel values, row after row; ``halves`` are
    those of the diagonal.

    A row is sorted for its nearest only: of the largest values of groups of columns, the n-th is below the n nearest.
    """
    end = min(end, K.shape[0])
    nearness = K[begin:end] - halves  # less half the squared distance, up to a constant for every row
    nearness[np.arange(end - begin), np.arange(begin, end)] = -np.inf
    n_groups = max(n, K.shape[0] // Options.graph_group)
    whole = K.shape[0] // n_groups * n_groups
    largest = nearness[:, :whole].reshape(end - begin, -1, n_groups).max(axis=1)
    enough = np.partition(largest, n_groups - n, axis=1)[:, n_groups - n]
    found = np.flatnonzero(nearness >= enough[:, None])
    rows, columns = np.divmod(found, K.shape[0])
    order = np.lexsort((-nearness.ravel()[found], rows))  # of equal ones the first comes first
    rows, columns = rows[order], columns[order]
    rank = np.arange(rows.size) - np.searchsorted(rows, rows)
    return columns[rank < n]


def _spread(L: sparse.csr_matrix, seeds: FloatArray, options: Options) -> FloatArray:
    """``(I + strength L)^-1 seeds``: with S = I - L, a row keeps its own part and takes on that of its neighbors."""
    keep = 1.0 / (1.0 + options.graph_strength)
    near = LinearRows((1.0 - keep) * (sparse.identity(L.shape[0], format="csr") - L))
    first = keep * seeds
    values = np.vstack([first, np.zeros(seeds.shape[1])])  # rows have a constant feature, which is 0
    for _ in range(options.graph_rounds):
        np.add(near.scores(values), first, out=values[:-1])
    return values[:-1]
