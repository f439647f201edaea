"""f, the function that a model stands for: weights of the features, or an expansion over rows.

    f_k(x) = coef_k' x + intercept_k            or            f_k(x) = sum_j coef_kj k(z_j, x) + intercept_k

The fields are named as the attributes of the estimators that they become; what is stored, pickled and saved of f is
these fields and nothing else: weights, or the rows with a coefficient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.rows.block_rows import linear_rows
from wellsvm.rows.kernels import Kernel

__all__ = ["ATTRIBUTES", "Function", "KernelFunction", "LinearFunction", "read", "stacked"]

# All attributes that a function may become.
ATTRIBUTES = ("coef_", "dual_coef_", "intercept_", "support_", "support_vectors_")


@dataclass(frozen=True)
class LinearFunction:
    """Weights of shape (n_functions, n_features), and intercepts."""

    coef_: FloatArray
    intercept_: FloatArray

    def values(self, X: Matrix) -> FloatArray:
        """f of every row, of shape (n_samples, n_functions), without turning X into float64."""
        W = np.vstack([self.coef_.T, np.zeros(self.coef_.shape[0])])
        return linear_rows(X).scores(np.ascontiguousarray(W)) + self.intercept_


@dataclass(frozen=True)
class KernelFunction:
    """Coefficients of shape (n_functions, n_support), intercepts, and the rows they belong to."""

    kernel: Kernel
    dual_coef_: FloatArray
    intercept_: FloatArray
    support_: IntArray
    support_vectors_: Matrix

    @classmethod
    def over(cls, X: Matrix, kernel: Kernel, coef: FloatArray, intercept: FloatArray) -> KernelFunction:
        """From one coefficient for every row of X: rows without any are left out."""
        support = np.flatnonzero(np.any(coef != 0, axis=0))
        vectors = np.empty((0, 0)) if kernel.name == "precomputed" else X[support]
        return cls(kernel, np.ascontiguousarray(coef[:, support]), intercept, support, vectors)

    def values(self, X: Matrix) -> FloatArray:
        """f of every row, of shape (n_samples, n_functions)."""
        if not self.support_.size:
            return np.tile(np.asarray(self.intercept_, dtype=np.float64), (X.shape[0], 1))
        precomputed = self.kernel.name == "precomputed"
        K = X[:, self.support_] if precomputed else self.kernel.between(X, self.support_vectors_)
        return np.asarray(K @ self.dual_coef_.T, dtype=np.float64) + self.intercept_


Function: TypeAlias = LinearFunction | KernelFunction


def read(attributes: Mapping[str, Any]) -> Function:
    """The function that the attributes of an estimator hold."""
    if "coef_" in attributes:
        return LinearFunction(attributes["coef_"], attributes["intercept_"])
    names = ("_kernel", "dual_coef_", "intercept_", "support_", "support_vectors_")
    return KernelFunction(*(attributes[name] for name in names))


def stacked(functions: Sequence[LinearFunction]) -> LinearFunction:
    """Several linear functions as one object."""
    return LinearFunction(
        np.vstack([function.coef_ for function in functions]),
        np.concatenate([function.intercept_ for function in functions]),
    )
