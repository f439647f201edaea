"""Rows under a kernel: a kernel matrix in memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from types import ModuleType
from typing import Any

import numpy as np

from wellsvm import native
from wellsvm._typing import FloatArray, IntArray
from wellsvm.options import Options
from wellsvm.rows.base import averaging
from wellsvm.threads import slices

__all__ = ["GramRows", "means_of_groups", "native_gram", "new_square"]


def new_square(n: int, dtype: np.dtype | type) -> np.ndarray:
    """A matrix that is not filled yet, in large pages where the system has them: to get the small pages of a matrix
    that fits into the cache takes longer than to fill it."""
    n_bytes, page = n * n * np.dtype(dtype).itemsize, Options.large_page
    if n_bytes >= page / 2 and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them, or without room, of which NumPy tells
            room = mmap.mmap(-1, -(-n_bytes // page) * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            room.madvise(mmap.MADV_HUGEPAGE)
            return np.frombuffer(room, dtype, n * n).reshape(n, n)
    return np.empty((n, n), dtype)


def native_gram(K: np.ndarray, places: np.ndarray | None = None, module: ModuleType | None = None) -> Any:
    """A square C-contiguous kernel matrix of float32 or float64 for the hot loops, without a copy.

    Or some of its rows: that of instance j is then row ``places[j]`` of K, negative where it is not at hand. Its owner
    may change both arrays between two calls.
    """
    return (native.backend if module is None else module).gram(K, places)


class GramRows:
    """Instances given by their kernel matrix ``K + bias^2``.

    Parameters
    ----------
    K : array of shape (n_instances, n_instances)
        Symmetric positive semidefinite, float32 or float64, C-contiguous; kept as given.
    bias : float, default=0.0
        Value of the constant feature that stands for the intercept.

    Attributes
    ----------
    capacity : int or None
        How many rows of K can be at hand at once; None is all.
    max_block : int
        Side of the largest matrix that `block` may be asked for.
    """

    centred = True
    capacity: int | None = None

    def __init__(self, K: np.ndarray, bias: float = 0.0) -> None:
        self.K, self.bias = K, float(bias)
        self.n_instances, self.dtype = K.shape[0], K.dtype
        self.entries_per_row: float = self.n_instances
        self.max_block = self.n_instances
        self.squared_norms: FloatArray = K.diagonal().astype(np.float64) + self.bias**2
        self.native = native_gram(K)

    def combine(self, coef: FloatArray) -> FloatArray:
        """A point is given by its coefficients: they are what `scores` takes."""
        return coef

    def scores(self, U: FloatArray) -> FloatArray:
        """``(K + bias^2) @ U``, in blocks that keep interrupts short.

        Only rows of K with a coefficient are read. The columns of the result are contiguous.
        """
        used = self.in_good_order(np.flatnonzero(U[:, 0] if U.shape[1] == 1 else np.any(U != 0, axis=1)))
        used_coef = np.ascontiguousarray(U[used].T)
        Z = np.empty((U.shape[1], self.n_instances))
        Z[:] = self.bias**2 * used_coef.sum(axis=1, keepdims=True)
        for begin, end in self.portions(used.size, self.n_instances * U.shape[1]):
            with self.at_hand(used[begin:end]):
                self.native.combine(used[begin:end], np.ascontiguousarray(used_coef[:, begin:end]), Z)
        return Z.T

    def near(self, instances: IntArray) -> tuple[Any, IntArray]:
        """The whole matrix is in memory, or of its rows those that are `at_hand`."""
        return self.native, instances

    def at_hand(self, instances: IntArray) -> AbstractContextManager[None]:
        """Have the rows of some instances ready for the loops: all of them are."""
        return nullcontext()

    def portions(self, n: int, work_per_row: float) -> Iterator[tuple[int, int]]:
        """Cut ``n`` rows into pieces for one call each."""
        return slices(n, work_per_row)

    def in_good_order(self, instances: IntArray) -> IntArray:
        """The order to ask for rows in: any."""
        return instances

    def block(self, instances: IntArray) -> np.ndarray:
        """Kernel values between some instances."""
        instances = np.ascontiguousarray(instances, dtype=np.int64)
        values = new_square(instances.size, self.dtype)
        for begin, end in slices(instances.size, instances.size):
            self.native.gather(instances, begin, values[begin:end])
        return values

    def columns(self, chosen: IntArray) -> np.ndarray:
        """Kernel values between all instances and some, without the constant feature's part."""
        return np.ascontiguousarray(self.K[:, chosen])

    def threaded(self, n_jobs: int | None) -> GramRows:
        """These rows: products with a kernel matrix take one thread."""
        return self

    def part(self, chosen: IntArray) -> GramRows:
        """The rows of some instances."""
        return GramRows(self.block(chosen), self.bias)

    def from_part(self, coef: FloatArray, chosen: IntArray) -> FloatArray:
        """All other instances have no coefficient."""
        whole = np.zeros(self.n_instances)
        whole[chosen] = coef
        return whole

    def thinned(self, n_most: int, rng: np.random.Generator) -> GramRows:
        """These rows: a kernel matrix in memory has no more than can be looked at."""
        return self

    def averaged(self, starts: IntArray) -> GramRows:
        """The means of groups of instances, in the kernel's space."""
        return GramRows(means_of_groups(means_of_groups(self.K, starts, axis=0), starts, axis=1), self.bias)

    def from_means(self, coef: FloatArray, starts: IntArray) -> FloatArray:
        """Every instance has its share of the coefficient of its mean."""
        return np.asarray(averaging(starts).T @ coef)

    def split_intercept(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients of the instances, and the constant feature's part of f."""
        return coef, self.bias**2 * coef.sum(axis=1)


def means_of_groups(K: np.ndarray, starts: IntArray, axis: int) -> np.ndarray:
    """Means of groups along an axis. Most groups hold one instance, and for those np.add.reduceat crawls."""
    means = K.take(starts[:-1], axis)
    for i in np.flatnonzero(np.diff(starts) > 1):
        group = K.take(range(starts[i], starts[i + 1]), axis)
        np.moveaxis(means, axis, 0)[i] = group.mean(axis)
    return means
