"""Instances with the context of their bag: rows under ``k(x, x') + context * k_set(B, B')`` on (instance, bag) pairs.

``k_set`` is the normalized set kernel, the inner product of the means of two bags in the feature space of k:

    k_set(B, B') = mean over b in B, b' in B' of k(b, b')

Under a kernel it is added to the kernel matrix, in place; for linear rows the bag's mean, times ``sqrt(context)``,
stands beside every instance. Inside a bag the second term is constant: which of its instances is the best one is left
to the first.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.rows.base import averaging
from wellsvm.rows.block_rows import linear_rows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.cached import CachedRows, MeanRows, RowSource
from wellsvm.rows.gram import GramRows, means_of_groups
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.linear import LinearRows
from wellsvm.rows.making import kernel_rows
from wellsvm.threads import slices

__all__ = ["beside_means", "coefficients_of_bags", "context_rows", "set_kernel"]


def context_rows(
    X: Matrix,
    kernel: Kernel,
    bias: float,
    C: float,
    cache_size: float | None,
    offsets: IntArray,
    context: float,
    *,
    pairs: np.ndarray | None = None,
    sets: dict[Kernel, FloatArray] | None = None,
) -> GramRows | LinearRows:
    """Rows of the instances X of bags, bag i from ``offsets[i]`` on.

    ``sets`` remembers the set kernels of these bags, for several values of ``context``; the other parameters are those
    of `wellsvm.rows.making.kernel_rows`.
    """
    if kernel.name == "linear":
        if context == 0:
            return linear_rows(X, bias)
        if isinstance(X, Blocks):
            raise ValueError(
                f"context={context:g} needs rows in memory, because it adds the mean of the bag to each instance; "
                "rows in blocks take context=0"
            )
        return linear_rows(beside_means(X, offsets, context), bias)
    rows = kernel_rows(X, kernel, bias, C * (1.0 + context), cache_size, pairs)  # as large as prices times values are
    if context == 0:
        return rows
    bag_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    sets = {} if sets is None else sets
    if kernel not in sets:
        sets[kernel] = set_kernel(rows, offsets)
    added = (context * sets[kernel]).astype(rows.dtype)
    if isinstance(rows, CachedRows):
        return CachedRows(ContextSource(rows.source, added, bag_of), bias, rows.budget)
    K = rows.K.copy() if kernel.name == "precomputed" or callable(kernel.name) else rows.K  # the caller's own
    for begin, end in slices(len(K), len(K)):
        K[begin:end] += added[bag_of[begin:end]][:, bag_of]
    return GramRows(K, bias)


def set_kernel(rows: GramRows, offsets: IntArray) -> FloatArray:
    """``k_set`` between all bags, from rows under k; of shape (n_bags, n_bags)."""
    if not isinstance(rows, CachedRows):
        return np.asarray(means_of_groups(means_of_groups(rows.K, offsets, axis=0), offsets, axis=1), dtype=np.float64)
    source, n_bags = MeanRows(rows.source, offsets), len(offsets) - 1
    # Rows of a bag's instances are in memory at once; no more than the cache may hold, or one bag's.
    most = max(1, rows.capacity // max(1, int(np.diff(offsets).max())))
    parts = [source.rows(np.arange(begin, min(begin + most, n_bags))) for begin in range(0, n_bags, most)]
    return np.concatenate(parts).astype(np.float64)


def beside_means(X: Matrix, offsets: IntArray, context: float) -> Matrix:
    """Every instance and, in as many more columns, the mean of its bag times ``sqrt(context)``."""
    if context == 0:
        return X
    sizes = np.diff(offsets)
    means = averaging(offsets).astype(X.dtype) @ X * X.dtype.type(np.sqrt(context))
    beside = means[np.repeat(np.arange(sizes.size), sizes)]
    if sparse.issparse(X):
        return sparse.hstack([X, beside], format="csr", dtype=X.dtype)
    return np.hstack([X, beside])


def coefficients_of_bags(coef: FloatArray, offsets: IntArray, context: float) -> FloatArray:
    """From the coefficients of instances, of shape (k, n_instances), those of g: the part of f that a bag B adds to all
    its instances is the mean over B of ``g(x) = sum_j c_j k(x_j, x)``."""
    sums = np.add.reduceat(coef, offsets[:-1], axis=1)
    sizes = np.diff(offsets)
    return np.repeat(context * sums / sizes, sizes, axis=1)


class ContextSource:
    """A source of kernel rows plus a matrix over bags."""

    def __init__(self, source: RowSource, sets: np.ndarray, bag_of: IntArray) -> None:
        self.source, self.sets, self.bag_of = source, sets, bag_of
        self.n_instances, self.dtype = source.n_instances, source.dtype

    def rows(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows."""
        return np.asarray(self.source.rows(chosen) + self.sets[self.bag_of[chosen]][:, self.bag_of])

    def block(self, chosen: IntArray) -> np.ndarray:
        """The chosen rows and columns."""
        return np.asarray(self.source.block(chosen) + self.sets[np.ix_(self.bag_of[chosen], self.bag_of[chosen])])

    def part(self, chosen: IntArray) -> ContextSource:
        """Of some of the instances."""
        return ContextSource(self.source.part(chosen), self.sets, self.bag_of[chosen])
