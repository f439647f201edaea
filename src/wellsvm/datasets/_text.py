"""An RCV1-like text generator, and its tf-idf weighting.

A document of class c mixes three sources of words:

* the background, a Zipf-Mandelbrot law over the whole vocabulary, the same for both classes;
* the theme of its class: a few thousand words that all documents of the class may use;
* one to three topics, the first one of its own class, the others of either class. Topics have Zipf
  popularity, so a few labels show the common topics and only many labels show the rare ones.

Each source is stored as a table of slots in which a word fills slots in proportion to its probability:
drawing a word is then one random integer and one lookup, whatever the size of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import check_scalar

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]

_BLOCK_ROWS = 4096  # about 600,000 tokens: the sort runs near the cache, and memory stays flat
_BLOCK_ENTRIES = 1 << 20
_ZIPF_SHIFT = 30.0  # Mandelbrot's shift: flattens the head, as removing stop words does
_LENGTH_SIGMA = 0.55  # spread of the log-normal document length

# The values below were chosen by measurement. At 50,000 x 47,236, mean of four seeds, they give
# LinearSVC(loss="hinge", C=1) a test accuracy of 0.735, 0.90, 0.987 with 50, 200, 42,000 random labels;
# with fit_intercept=False 0.81 and 0.91 with 50 and 200.
_TOPIC_SLOTS = 1 << 12
_TOPIC_WORDS, _THEME_WORDS = 30, 2000  # few words: learnt from few documents; many: only from many
_THEME_SHARE = 0.1  # part of the class-dependent tokens that comes from the theme of the class
_EVENNESS = 6.0  # concentration (sum of both parameters) of the Beta law of the class-dependent share
_POPULARITY_SHIFT = 1.0
_MAX_TOPICS = 3
_TOPIC_WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.65, 0.35, 0.0], [0.5, 0.3, 0.2]])  # of 1, 2, 3 topics
_TOPIC_NUMBER = (0.4, 0.4, 0.2)  # chance of 1, 2, 3 topics
_ANY_CLASS = 0.8  # chance that a second or third topic is drawn from both classes


@dataclass(frozen=True)
class _Language:
    """Lookup tables from which documents are drawn; ``pool`` holds the slots of every source in turn."""

    pool: IntArray  # background slots, two themes, then one run of slots per topic
    background_bits: int
    popularity: FloatArray  # (topics per class,) cumulative
    own_word: IntArray  # (2, n_features): the word that a class writes for a drawn word
    n_features: int

    def source_start(self, source: IntArray) -> IntArray:
        """First slot of a source: 0 and 1 are the themes, 2 + t is topic t."""
        return (1 << self.background_bits) + source * _TOPIC_SLOTS


def make_sparse_text(
    n_samples: int = 10_000,
    n_features: int = 47_236,
    nnz_per_row: float = 100.0,
    *,
    n_topics: int = 100,
    class_sep: float = 0.5,
    class_vocabulary: float = 0.0,
    positive_fraction: float = 0.53,
    dtype: DTypeLike = np.float32,
    random_state: int | np.random.Generator | None = None,
) -> tuple[sp.csr_matrix, IntArray]:
    """Generate two classes of documents that resemble RCV1: sparse, Zipf vocabulary, unit tf-idf rows.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of documents (rows).
    n_features : int, default=47_236
        Size of the vocabulary (columns), at least 20. Rare words may occur in no document.
    nnz_per_row : float, default=100.0
        Mean number of different words per document, at most ``n_features / 4``. It is met within a few
        percent; document length is log-normal.
    n_topics : int, default=100
        Number of topics, half of them per class; an even number, at least 2.
    class_sep : float, default=0.5
        Share of the words of a document that depend on its class (theme and topics), in [0, 1]. The
        rest is background. 0 makes the classes equal.
    class_vocabulary : float, default=0.0
        Share of each class's words that documents of the other class never use, in [0, 1]. With a positive value, the
        classes form clusters; with 1, they have no words in common.
    positive_fraction : float, default=0.53
        Share of documents with label +1, in [0, 1]; rounded to a whole number of rows.
    dtype : float32 or float64, default=float32
        Type of the values.
    random_state : int, Generator or None, default=None
        Seed. The same seed and parameters give exactly the same result.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        ``log(1 + count) * log((n_samples + 1) / document frequency)``, every row of Euclidean length 1;
        sorted int32 column indices without duplicates.
    y : ndarray of shape (n_samples,), int64
        Labels -1 and +1, in random order.

    Examples
    --------
    >>> from wellsvm.datasets import make_sparse_text
    >>> X, y = make_sparse_text(500, n_features=2000, nnz_per_row=40, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 2000), [-1, 1])
    """
    if isinstance(n_samples, bool) or isinstance(n_features, bool):
        raise TypeError(f"n_samples and n_features must be whole numbers; got {n_samples!r} and {n_features!r}")
    check_scalar(n_samples, "n_samples", Integral, min_val=1, max_val=2**31 - 1)
    check_scalar(n_features, "n_features", Integral, min_val=20, max_val=2**31 - 1)
    check_scalar(nnz_per_row, "nnz_per_row", Real, min_val=1, max_val=n_features / 4)
    check_scalar(n_topics, "n_topics", Integral, min_val=2)
    if n_topics % 2:
        raise ValueError(f"n_topics={n_topics} must be even: half of the topics belong to each class")
    for name, value in (
        ("class_sep", class_sep),
        ("class_vocabulary", class_vocabulary),
        ("positive_fraction", positive_fraction),
    ):
        check_scalar(value, name, Real, min_val=0, max_val=1)
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={dtype} must be float32 or float64")

    rng = np.random.default_rng(random_state)
    language = _make_language(n_features, n_topics, class_vocabulary, rng)
    mean_tokens = _tokens_for(language, nnz_per_row, class_sep, positive_fraction, rng)
    y = np.full(n_samples, -1, dtype=np.int64)
    y[: round(positive_fraction * n_samples)] = 1
    rng.shuffle(y)
    X = _count_matrix(language, y, mean_tokens, class_sep, nnz_per_row, dtype, rng)
    # + 1 keeps a word that occurs in every document above zero, hence no row can vanish
    idf = np.log((n_samples + 1) / np.maximum(document_frequency(X), 1))
    return tfidf_in_place(X, idf), y


def document_frequency(X: sp.csr_matrix) -> IntArray:
    """Count the stored entries per column; by blocks, because bincount copies its input to int64."""
    frequency = np.zeros(X.shape[1], dtype=np.int64)
    for start in range(0, X.nnz, _BLOCK_ENTRIES):
        frequency += np.bincount(X.indices[start : start + _BLOCK_ENTRIES], minlength=X.shape[1])
    return frequency


def tfidf_in_place(X: sp.csr_matrix, idf: FloatArray) -> sp.csr_matrix:
    """Turn counts into unit-length ``log(1 + count) * idf`` rows, a block of rows at a time.

    Parameters
    ----------
    X : csr_matrix of shape (n_samples, n_features), floating
        Term counts; overwritten.
    idf : ndarray of shape (n_features,)
        Weight of each column.

    Returns
    -------
    X : csr_matrix
        The same object. Rows without a positive entry stay zero.
    """
    for start in range(0, X.shape[0], _BLOCK_ROWS):
        offsets = X.indptr[start : start + _BLOCK_ROWS + 1]
        block = slice(offsets[0], offsets[-1])
        values = np.log1p(X.data[block], dtype=np.float64)
        values *= idf[X.indices[block]]
        lengths = np.diff(offsets)
        filled = lengths > 0  # reduceat would give an empty row the next row's first value
        if filled.any():
            norms = np.sqrt(np.add.reduceat(values * values, offsets[:-1][filled] - offsets[0]))
            values /= np.repeat(np.where(norms > 0, norms, 1.0), lengths[filled])
        X.data[block] = values
    return X


def _slots(weights: FloatArray, n_slots: int) -> IntArray:
    """Positions 0..len(weights)-1, each repeated in proportion to its weight: an inverse-CDF table."""
    cdf = np.cumsum(weights)
    cdf /= cdf[-1]
    table = np.searchsorted(cdf, (np.arange(n_slots) + 0.5) / n_slots)
    return np.minimum(table, len(weights) - 1).astype(np.int32)


def _make_language(n_features: int, n_topics: int, class_vocabulary: float, rng: np.random.Generator) -> _Language:
    # Columns are in no order of frequency, as in a dictionary sorted by spelling.
    word_of_rank = rng.permutation(n_features).astype(np.int32)
    zipf = 1.0 / (np.arange(n_features) + _ZIPF_SHIFT)
    # Sixteen slots for the mean word, so that even the rarest keep at least one.
    bits = max(12, int(np.ceil(np.log2(16 * n_features))))
    tables = [word_of_rank[_slots(zipf, 1 << bits)]]
    # Topic words are rarer than running text: ranks drawn by the square root of the frequency.
    log_weights = 0.5 * np.log(zipf)
    for source in range(2 + n_topics):
        size = min(_THEME_WORDS if source < 2 else _TOPIC_WORDS, max(2, n_features // 4))
        ranks = np.argpartition(log_weights + rng.gumbel(size=n_features), -size)[-size:]
        rng.shuffle(ranks)
        within = 1.0 / (np.arange(size) + 5.0)
        tables.append(word_of_rank[ranks[_slots(within, _TOPIC_SLOTS)]])
    popularity = np.cumsum(1.0 / (np.arange(n_topics // 2) + _POPULARITY_SHIFT))
    return _Language(
        pool=np.concatenate(tables),
        background_bits=bits,
        popularity=popularity / popularity[-1],
        own_word=_own_words(word_of_rank, class_vocabulary, rng),
        n_features=n_features,
    )


def _own_words(word_of_rank: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Pair words of neighboring rank; in a chosen pair each class writes its own word for both.

    Systematic choice along the ranks makes ``share`` of the pairs ``share`` of the word mass as well.
    """
    n_features = len(word_of_rank)
    own = np.tile(np.arange(n_features, dtype=np.int32), (2, 1))
    pairs = word_of_rank[: n_features // 2 * 2].reshape(-1, 2)
    steps = np.floor(np.arange(len(pairs) + 1) * share + rng.random())
    chosen = rng.permuted(pairs[np.diff(steps) > 0], axis=1)
    for class_, column in ((0, 0), (1, 1)):
        own[class_, chosen.ravel()] = np.repeat(chosen[:, column], 2)
    if share == 1.0 and n_features % 2:  # the odd word out would be shared
        own[:, word_of_rank[-1]] = own[:, word_of_rank[-2]]
    return own


def _tokens_for(
    language: _Language,
    nnz_per_row: float,
    class_sep: float,
    positive_fraction: float,
    rng: np.random.Generator,
) -> float:
    """Find the mean number of tokens that gives ``nnz_per_row`` different words, on a pilot block."""
    mean_tokens = 1.3 * nnz_per_row
    y = np.where(np.arange(2000) < positive_fraction * 2000, 1, -1)
    seed = int(rng.integers(2**63))
    for _ in range(8):
        _, counts, _ = _draw_block(language, y, mean_tokens, class_sep, np.random.default_rng(seed))
        mean_tokens *= (nnz_per_row / (len(counts) / len(y))) ** 1.2
    return mean_tokens


def _count_matrix(
    language: _Language,
    y: IntArray,
    mean_tokens: float,
    class_sep: float,
    nnz_per_row: float,
    dtype: np.dtype[Any],
    rng: np.random.Generator,
) -> sp.csr_matrix:
    """Draw all documents block by block into two arrays that grow in place (no second copy at the end)."""
    capacity = int(len(y) * nnz_per_row * 1.02) + 1
    indices, data = np.empty(capacity, dtype=np.int32), np.empty(capacity, dtype=dtype)
    indptr = np.zeros(len(y) + 1, dtype=np.int64)
    for start in range(0, len(y), _BLOCK_ROWS):
        words, counts, row_ends = _draw_block(language, y[start : start + _BLOCK_ROWS], mean_tokens, class_sep, rng)
        begin = indptr[start]
        end = begin + len(words)
        if end > len(indices):
            for array in (indices, data):
                array.resize(int(end * 1.05), refcheck=False)
        indices[begin:end], data[begin:end] = words, counts
        indptr[start + 1 : start + 1 + len(row_ends)] = begin + row_ends
    for array in (indices, data):
        array.resize(int(indptr[-1]), refcheck=False)
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    X = sp.csr_matrix((data, indices, indptr), shape=(len(y), language.n_features), copy=False)
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _draw_block(
    language: _Language, y: IntArray, mean_tokens: float, class_sep: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Words, counts and row ends of one block of documents, rows in order and words sorted within."""
    n_rows, p = len(y), language.n_features
    positive = (y > 0).astype(np.int64)
    location = np.log(mean_tokens) - _LENGTH_SIGMA**2 / 2
    lengths = np.maximum(1, np.rint(rng.lognormal(location, _LENGTH_SIGMA, n_rows))).astype(np.int64)
    sources, shares = _draw_sources(language, positive, class_sep, rng)
    per_source = rng.multinomial(lengths, shares)  # (rows, background + theme + topics)
    row = np.repeat(np.arange(n_rows), lengths)
    start = np.repeat(np.column_stack([np.zeros(n_rows, np.int64), sources]).ravel(), per_source.ravel())
    mask = np.where(start == 0, (1 << language.background_bits) - 1, _TOPIC_SLOTS - 1)
    words = language.pool[start + (rng.integers(0, 1 << 32, len(row), dtype=np.uint32) & mask)]
    words = language.own_word.ravel()[np.repeat(positive * p, lengths) + words]
    # One integer per (row, word): sorting it orders rows and words at once, and equal neighbors are repeats.
    key_type = np.uint32 if n_rows * p < 2**32 else np.uint64
    key = (row * p + words).astype(key_type)
    key.sort()
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    counts = np.diff(first, append=len(key))
    key = key[first]
    row_ends = np.searchsorted(key, (np.arange(1, n_rows + 1) * p).astype(key_type))
    words = key - np.repeat(np.arange(n_rows) * p, np.diff(row_ends, prepend=0)).astype(key_type)
    return words.astype(np.int32), counts, row_ends


def _draw_sources(
    language: _Language, positive: IntArray, class_sep: float, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """First slots of each document's theme and topics, and its shares (background, theme, topics)."""
    n_rows, per_class = len(positive), len(language.popularity)
    topic = np.searchsorted(language.popularity, rng.random((n_rows, _MAX_TOPICS)), side="right")
    side = np.repeat(positive[:, None], _MAX_TOPICS, axis=1)
    stray = rng.random((n_rows, _MAX_TOPICS)) < _ANY_CLASS
    stray[:, 0] = False
    side = np.where(stray, rng.integers(0, 2, side.shape), side)
    sources = np.column_stack([positive, 2 + side * per_class + np.minimum(topic, per_class - 1)])
    topics = _TOPIC_WEIGHTS[rng.choice(_MAX_TOPICS, n_rows, p=_TOPIC_NUMBER)]
    # Documents differ in how much they show of their class; those that show little bound the best accuracy.
    if 0 < class_sep < 1:
        shown = rng.beta(class_sep * _EVENNESS, (1 - class_sep) * _EVENNESS, n_rows)
    else:
        shown = np.full(n_rows, class_sep)
    topics = np.column_stack([np.full(n_rows, _THEME_SHARE), (1 - _THEME_SHARE) * topics])
    shares = shown[:, None] * topics
    shares = np.column_stack([1 - shares.sum(axis=1), shares])
    return language.source_start(sources), np.clip(shares, 0, 1)
