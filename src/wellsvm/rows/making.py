"""Rows under a kernel from a matrix X: which form they take, by precision and by the memory allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._typing import Matrix
from wellsvm.options import Options
from wellsvm.rows.cached import Budget, CachedRows, KernelRows
from wellsvm.rows.gram import GramRows
from wellsvm.rows.kernels import Kernel

__all__ = ["gram_matrix", "kernel_rows", "shared_pairs"]

MEGABYTE = 2**20


def kernel_rows(
    X: Matrix,
    kernel: Kernel,
    bias: float,
    C: float,
    cache_size: float | None = None,
    pairs: np.ndarray | None = None,
    options: Options = Options(),
) -> GramRows:
    """The kernel matrix; in full precision where the largest price C would show its rounding.

    ``cache_size`` is the memory for kernel values in MB, None for what is free; a matrix that needs more is kept in
    part. ``pairs`` is what `shared_pairs` gave.
    """
    single = options.most_C_in_single >= C
    if cache_size is None or _matrices_in(cache_size, X, kernel, single) >= 1:
        whole = GramRows(gram_matrix(X, kernel, single, pairs), bias)
        _require_scale(whole, kernel, C, options)
        return whole
    rows = KernelRows(kernel, X, kernel.dtype(X, single))
    if callable(kernel.name):
        _require_symmetric(rows.block(np.arange(min(options.symmetry_sample, X.shape[0]))), kernel.name)
    cached = CachedRows(rows, bias, Budget(int(float(cache_size) * MEGABYTE)), options)
    _require_scale(cached, kernel, C, options)
    return cached


def _require_scale(rows: GramRows, kernel: Kernel, C: float, options: Options) -> None:
    """Refuse kernel values whose rounding is larger than the ridge 1 / C: the result would be that of chance."""
    norms = rows.squared_norms
    largest = float(norms.max(initial=0.0))
    bad = np.flatnonzero(~np.isfinite(norms))
    if bad.size:
        raise ValueError(
            f"kernel={kernel.name!r} gives {norms[bad[0]]:g} for row {bad[0]} with itself. Scale the features, for "
            "instance with sklearn.preprocessing.StandardScaler, or choose another gamma, degree or coef0"
        )
    if C * largest > options.most_scale:
        raise ValueError(
            f"kernel={kernel.name!r} gives {largest:g} for a row with itself, too large for C={C:g}: their "
            f"product may be at most {options.most_scale:g}. Scale the features, for instance with "
            "sklearn.preprocessing.StandardScaler, or divide the kernel matrix by the mean of its diagonal, or lower C"
        )


def shared_pairs(
    X: Matrix, kernel: Kernel, C: float, cache_size: float | None, options: Options = Options()
) -> np.ndarray | None:
    """What several kernels that differ in gamma compute once, see `Kernel.pairs`; None where it does not fit."""
    single = options.most_C_in_single >= C
    fits = cache_size is None or _matrices_in(cache_size, X, kernel, single) >= 2
    return kernel.pairs(X, single) if fits else None


def _matrices_in(cache_size: float, X: Matrix, kernel: Kernel, single: bool) -> float:
    """How many kernel matrices of the rows of X fit into ``cache_size`` MB; a precomputed one takes nothing."""
    if kernel.name == "precomputed":
        return np.inf
    n_bytes: int = kernel.dtype(X, single).itemsize * max(1, X.shape[0]) ** 2
    return float(cache_size) * MEGABYTE / n_bytes  # small integers of NumPy would overflow


def gram_matrix(X: Matrix, kernel: Kernel, single: bool = True, pairs: np.ndarray | None = None) -> np.ndarray:
    """The kernel matrix, checked; see `Kernel.gram`."""
    K = kernel.gram(X, single, pairs)
    if not (isinstance(kernel.name, str) and kernel.name in ("linear", "rbf", "poly", "sigmoid")):
        _require_symmetric(K, kernel.name)
    return K


def _require_symmetric(K: np.ndarray, name: Any) -> None:
    """Refuse a matrix of the user's that cannot be a kernel's."""
    largest = float(max(K.max(initial=0.0), -K.min(initial=0.0)))
    if largest > Options.largest_kernel_value * float(np.finfo(K.dtype).max):
        raise ValueError(
            f"kernel={name!r} gives a value of {largest:g}, too near the largest {K.dtype}; divide the matrix "
            "by the mean of its diagonal"
        )
    if not _is_symmetric(K, Options.symmetry_floor * max(1.0, largest)):
        raise ValueError(f"kernel={name!r} gives a matrix that is not symmetric; pass (K + K.T) / 2 if that is meant")
    if np.any(K.diagonal() < 0):
        row = int(np.flatnonzero(K.diagonal() < 0)[0])
        raise ValueError(f"kernel={name!r} gives {K[row, row]:g} < 0 for row {row} with itself: not a kernel")


def _is_symmetric(K: np.ndarray, floor: float, options: Options = Options()) -> bool:
    """Whether K and its transpose agree up to rounding, square by square: reading all of K by columns at once would
    take several times as long as solving an SVM with it."""
    side, n = options.symmetry_square, K.shape[0]
    for i in range(0, n, side):
        for j in range(0, i + 1, side):
            one, other = K[i : i + side, j : j + side], K[j : j + side, i : i + side].T
            if not np.all(np.abs(one - other) <= floor + options.symmetry * np.abs(other)):
                return False
    return True
