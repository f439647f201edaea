"""Generators of another make than those of `wellsvm.datasets`, so that no benchmark rests on one kind of data."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from experiments.internals import FloatArray, IntArray

__all__ = ["correlated_rows", "overlapping_topics", "uneven_table"]

_BLOCK = 20_000


def overlapping_topics(
    n: int, n_features: int, nnz_per_row: float, seed: int = 0, n_topics: int = 60, noise: float = 0.03
) -> tuple[sparse.csr_matrix, IntArray]:
    """Documents of one topic each; neighboring topics share half of their words, every second topic is positive.

    A topic is a window of the vocabulary, its words falling off from its middle; a third of all words are from a
    common Zipf law. A share ``noise`` of the labels is wrong.
    """
    rng = np.random.default_rng(seed)
    word_of = rng.permutation(n_features)
    width = 2 * n_features // (n_topics + 1)
    y, blocks = np.empty(n, dtype=np.int64), []
    for begin in range(0, n, _BLOCK):
        rows = min(_BLOCK, n - begin)
        topic = rng.integers(n_topics, size=rows)
        y[begin : begin + rows] = np.where(topic % 2, 1, -1)
        length = np.maximum(5, rng.gamma(3.0, 1.4 * nnz_per_row / 3.0, rows)).astype(np.int64)
        of_row = np.repeat(np.arange(rows), length)
        place = topic[of_row] * (width // 2) + (width * rng.beta(2.0, 2.0, of_row.size)).astype(np.int64)
        common = np.minimum(rng.zipf(1.3, of_row.size), n_features) - 1
        place = np.where(rng.random(of_row.size) < 1 / 3, common, place % n_features)
        counts = sparse.csr_matrix((np.ones(of_row.size, np.float32), (of_row, word_of[place])), (rows, n_features))
        counts.sum_duplicates()
        counts.data = 1.0 + np.log(counts.data)
        blocks.append(normalize(counts))
    y[rng.random(n) < noise] *= -1
    return sparse.vstack(blocks, format="csr"), y


def correlated_rows(n: int, n_features: int, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Rows like sentence embeddings: float32, of length 1, a common offset, columns mixed from a few dozen factors."""
    rng = np.random.default_rng(seed)
    n_factors = min(40, n_features)
    mixing = rng.standard_normal((n_factors, n_features)).astype(np.float32)
    factors = rng.standard_normal((n, n_factors), dtype=np.float32) / np.sqrt(
        np.arange(1, n_factors + 1), dtype=np.float32
    )
    y = np.where(factors[:, 1] + factors[:, 2] + 0.3 * rng.standard_normal(n) > 0, 1, -1)
    X = factors @ mixing + 2.0 * mixing[0] + 0.5 * rng.standard_normal((n, n_features), dtype=np.float32)
    return normalize(X), y.astype(np.int64)


def uneven_table(n: int, n_features: int, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """A table as it comes: columns in units of their own, over six powers of ten, and away from 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    y = np.where(X @ rng.standard_normal(n_features) + 0.5 * rng.standard_normal(n) > 0, 1, -1)
    return (X + 3.0) * np.logspace(-3, 3, n_features), y.astype(np.int64)
