"""Kernel functions: scikit-learn's, a precomputed matrix, or a callable; the width rule; the memory check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel

from wellsvm._memory import available_memory
from wellsvm._typing import IntArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.gram import new_square
from wellsvm.threads import slices

__all__ = ["KERNELS", "Kernel", "available_memory", "mean_squared_distance", "resolve_gamma"]

KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
BOUNDED = ("rbf", "sigmoid")


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters resolved."""

    name: str | Callable[[Any, Any], Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def between(self, X: Matrix, Y: Matrix) -> np.ndarray:
        """Kernel values of every row of X with every row of Y; a precomputed X is returned as it is."""
        if self.name == "precomputed":
            return np.asarray(X)
        shift = None if sparse.issparse(X) else self._shift(Y)
        return self.values(_less(X, shift), _less(Y, shift))

    def values(self, X: Matrix, Y: Matrix) -> np.ndarray:
        """As `between`, of rows that are `centred` together. What overflows is left to `require_finite`."""
        if callable(self.name):
            try:
                K = np.asarray(self.name(X, Y))
            except (TypeError, ValueError) as error:
                raise type(error)(f"kernel={self.name!r} fails for two matrices of rows: {error}") from error
            if K.shape != (X.shape[0], Y.shape[0]):
                raise ValueError(
                    f"kernel={self.name!r} returned shape {K.shape} for {X.shape[0]} and {Y.shape[0]} rows; "
                    f"it must return shape {(X.shape[0], Y.shape[0])}"
                )
            if K.dtype.kind not in "fiub":
                raise ValueError(f"kernel={self.name!r} returned {K.dtype}; it must return real numbers")
            return K
        return self._of_pairs(self._pairs(X, Y))

    def centred(self, X: Matrix) -> Matrix:
        """Rows with the same kernel values and less rounding: a mean that is large beside the distances eats digits."""
        return _less(X, self._shift(X))

    def _shift(self, X: Matrix) -> np.ndarray | None:
        """What may be taken off all rows: their mean, where only differences count and zeros need not stay zeros."""
        return None if self.name != "rbf" or sparse.issparse(X) else X.mean(axis=0, dtype=np.float64).astype(X.dtype)

    def _pairs(self, X: Matrix, Y: Matrix) -> np.ndarray:
        """What no parameter enters: squared distances of rows for "rbf", else their inner products."""
        pairs = euclidean_distances(X, Y, squared=True) if self.name == "rbf" else linear_kernel(X, Y)
        return np.asarray(pairs)

    def _of_pairs(self, pairs: np.ndarray) -> np.ndarray:
        """Kernel values of what `_pairs` gives, in its place."""
        if self.name == "linear":
            return pairs
        with np.errstate(all="ignore"):  # `require_finite` refuses what overflows, and names the row
            pairs *= -self.gamma if self.name == "rbf" else self.gamma
            if self.name == "rbf":
                return np.asarray(np.exp(pairs, out=pairs))
            pairs += self.coef0
            values = np.tanh(pairs, out=pairs) if self.name == "sigmoid" else np.power(pairs, self.degree, out=pairs)
        return np.asarray(values)

    def dtype(self, X: Matrix, single: bool = True) -> np.dtype:
        """What kernel values are kept in. Those between -1 and 1: float32, as LIBSVM keeps all, unless ``single`` is
        False: such a matrix is positive semidefinite only up to that rounding."""
        return np.dtype(np.float32 if X.dtype == np.float32 or (single and self.name in BOUNDED) else np.float64)

    def gram(self, X: Matrix, single: bool = True, pairs: np.ndarray | None = None) -> np.ndarray:
        """The kernel matrix of the rows of X, finite; refused before memory is taken if it cannot fit.

        scikit-learn's kernels fill it in blocks of rows, so that an interrupt need not wait for the whole. ``pairs`` is
        what `pairs` gave for the same rows and a kernel that differs in its parameters only.
        """
        n, dtype = X.shape[0], self.dtype(X, single)
        if self.name != "precomputed":
            _require_memory(n, dtype.itemsize)
        if self.name == "precomputed" or callable(self.name):
            K = self.between(X, X)
            if K.dtype not in (np.float32, np.float64):
                K = K.astype(np.float64)
            K = np.require(K, requirements=("C", "A"))
        elif pairs is not None:
            K = new_square(n, dtype)
            for begin, end in slices(n, Options.value_cost * n):
                K[begin:end] = pairs[begin:end]
                self._of_pairs(K[begin:end])
        elif self.name == "rbf" and dtype == np.float32 and not sparse.issparse(X):
            K, finite = self._rbf_in_single(X)
            if finite:
                return K
        else:
            K = self._symmetric(X, dtype, self.values)
        self.require_finite(K)
        return K

    def pairs(self, X: Matrix, single: bool = True) -> np.ndarray | None:
        """For several kernel matrices of the same rows (see `gram`): the part that costs most; None where there is no
        such part, or no room for it beside one matrix, or pairs that the dtype of the kernel's values cannot hold."""
        n, dtype = X.shape[0], self.dtype(X, single)
        available = available_memory()
        if self.name not in ("rbf", "poly", "sigmoid") or (available and 2 * dtype.itemsize * n**2 > available):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            K, limits = self._symmetric(X, dtype, self._pairs), np.finfo(dtype)
            largest = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
        held = np.sqrt(float(limits.tiny)) <= largest <= np.sqrt(float(limits.max))
        return K if held else None  # else what comes of small ones, or of a product, would be rounded to nothing

    def _symmetric(self, X: Matrix, dtype: np.dtype, values: Callable[[Matrix, Matrix], np.ndarray]) -> np.ndarray:
        """A function of all pairs of rows, in blocks; the half below the diagonal is a copy."""
        n, X = X.shape[0], self.centred(X)
        K = new_square(n, dtype)
        for begin, end in slices(n, n * (Options.value_cost + X.shape[1] / Options.product_speed)):
            K[begin:end, begin:] = values(X[begin:end], X[begin:])
            K[end:, begin:end] = K[begin:end, end:].T
        return K

    def _rbf_in_single(self, X: Matrix) -> tuple[np.ndarray, bool]:
        """``exp(-gamma ||x - z||^2)`` of all pairs of dense rows, rounded to single precision, and whether all are
        finite, as they are if all factors are: one product makes all terms of the exponents. Few rows at a time, so
        that a block stays in the cache."""
        n, X = X.shape[0], self.centred(X).astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # `require_finite` tells
            squares, ones = self.gamma * np.einsum("ij,ij->i", X, X), np.ones(n)
            squares[squares > np.finfo(np.float32).max * self.gamma] = np.nan  # as where new rows are predicted
            near = bool(squares.max(initial=0.0) <= Options.near_enough)  # NaN is not
            dtype, scale = (np.float32, np.sqrt(2.0 * self.gamma)) if near else (np.float64, 1.0)
            left = np.column_stack([2.0 * self.gamma / scale * X, -squares, -ones]).astype(dtype, copy=False)
            right = np.column_stack([scale * X, ones, squares]).astype(dtype, copy=False)  # within what single holds
            K, step = new_square(n, np.float32), Options.kernel_block
            space = np.empty(0 if near else step * n)
            for first, last in slices(n, n * (Options.value_cost + X.shape[1] / Options.product_speed)):
                for begin in range(first, last, step):
                    end = min(begin + step, last)
                    values = K[begin:end, begin:]
                    exponents = values if near else space[: values.size].reshape(values.shape)
                    np.matmul(left[begin:end], right[begin:].T, out=exponents)
                    np.minimum(exponents, 0.0, out=exponents)
                    np.exp(exponents, out=exponents)
                    if near:  # both orders of two rows of one block were computed, each with its own rounding
                        square = K[begin:end, begin:end]
                        square += square.T
                        square *= 0.5
                    else:
                        values[:] = exponents
                    K[end:, begin:end] = K[begin:end, end:].T
        finite = np.isfinite(squares)
        K[finite, finite] = 1.0
        return K, bool(finite.all() and np.isfinite(left).all())

    def require_finite(self, K: np.ndarray, rows: IntArray | None = None) -> None:
        """Refuse kernel values that are not finite and name the row; ``rows`` are the rows of K, by default all."""
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(K.sum(dtype=np.float64))
        if not finite and not (sound := np.isfinite(K).all(axis=1)).all():
            bad = int(np.flatnonzero(~sound)[0])
            bad = bad if rows is None else int(rows[bad])
            way = "scale the features of X, for instance with sklearn.preprocessing.StandardScaler"
            if self.name == "poly" and self.degree != int(self.degree):
                way = (
                    f"degree={self.degree:g} needs values that are not negative: use a whole number, or a larger coef0"
                )
            raise ValueError(f"kernel={self.name!r} gives NaN or infinity for row {bad}; {way}")


def _less(X: Matrix, shift: np.ndarray | None) -> Matrix:
    return X if shift is None else X - shift


def _require_memory(n_rows: int, itemsize: int) -> None:
    needed = itemsize * n_rows**2
    if needed <= Options.least_room:  # a fit does not begin without as much
        return
    available = available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"the kernel matrix of {n_rows} rows needs {needed / 2**30:.1f} GiB and {available / 2**30:.1f} GiB are "
            "free; use kernel='linear', or sklearn.kernel_approximation.Nystroem before it, or cache_size=... (in MB), "
            "which keeps a part of the matrix and computes the rest when needed"
        )


def mean_squared_distance(X: Matrix) -> float:
    """Mean of ``||x_i - x_j||^2`` over all pairs of rows, without forming them; 0 where the rows are equal."""
    n = X.shape[0]
    return 2.0 * _scatter(X) / (n - 1) if n > 1 else 0.0


def _scatter(X: Matrix) -> float:
    """``sum_i ||x_i - mean||^2``, and 0 where rounding is all there is."""
    n = X.shape[0]
    if sparse.issparse(X):
        total = float(np.square(X.data, dtype=np.float64).sum())
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        scatter, rounding = total - n * float(mean @ mean), Options.rounding_sparse
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        total, scatter, rounding = n * float(mean @ mean), 0.0, Options.rounding_dense
        for begin, end in slices(n, X.shape[1]):
            scatter += float(np.square(X[begin:end] - mean).sum())
    return scatter if scatter > rounding * total else 0.0


def resolve_gamma(gamma: float | str, X: Matrix) -> float:
    """A number for ``gamma``: itself, or the rule "mean", "scale" or "auto" applied to X."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    with np.errstate(all="ignore"):  # told below
        spread = mean_squared_distance(X) if gamma == "mean" else X.shape[1] * _variance(X)
    least = Options.least_distance * float(np.finfo(X.dtype).tiny)
    too_small = spread < least and 0 < _largest_difference(X) < least**0.5
    if too_small or not np.isfinite(spread):
        raise ValueError(
            f"gamma={gamma!r} cannot be found: the values of X are so {'small' if too_small else 'large'} that squared "
            f"distances {'vanish' if too_small else 'overflow'} in {X.dtype}; scale them, for instance with "
            "sklearn.preprocessing.StandardScaler, or give gamma as a number"
        )
    return 1.0 / spread if spread > 0 else 1.0


def _largest_difference(X: Matrix) -> float:
    """The largest difference between an entry and the same one of the first row; of sparse rows, and zero."""
    return float(abs(X.data).max(initial=0.0)) if sparse.issparse(X) else float(np.abs(X - X[:1]).max(initial=0.0))


def _variance(X: Matrix) -> float:
    """Variance of all entries, as scikit-learn's "scale" has it; 0 where rounding is all there is."""
    if sparse.issparse(X):
        square, mean = float(X.multiply(X).mean()), float(X.mean())
        return square - mean**2 if square - mean**2 > Options.rounding_sparse * square else 0.0
    variance = float(np.var(X, dtype=np.float64))
    return variance if variance > Options.rounding_dense * float(X.mean(dtype=np.float64)) ** 2 else 0.0
