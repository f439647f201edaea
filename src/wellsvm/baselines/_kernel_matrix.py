"""What methods share that see the matrix of all kernel values: that matrix, and functions given by coefficients.

They hold the whole matrix, for the linear kernel too: made for comparison, not for many rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, Matrix
from wellsvm.function import Function, KernelFunction, LinearFunction
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.making import gram_matrix

__all__ = ["KernelMatrix", "full_gram", "function_of"]


def full_gram(X: Matrix, kernel: Kernel) -> FloatArray:
    """The kernel matrix in float64, checked as everywhere in the package."""
    return np.asarray(gram_matrix(X, kernel, single=False), dtype=np.float64)


class KernelMatrix(NamedTuple):
    """Rows, their kernel, and all its values between them."""

    X: Matrix
    kernel: Kernel
    K: FloatArray

    @classmethod
    def of(cls, X: Matrix, kernel: Kernel) -> KernelMatrix:
        """Compute the values."""
        return cls(X, kernel, full_gram(X, kernel))

    def to_store(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j k(x_j, .)`` as `function_of` takes it: by the weights of the features if linear."""
        return np.asarray(self.X.T @ coef) if self.kernel.name == "linear" else coef


def function_of(X: Matrix, kernel: Kernel, coef: FloatArray, intercept: FloatArray) -> Function:
    """Functions to store, one row of ``coef`` each: weights of the features for the linear kernel, else coefficients of
    the rows of X."""
    if kernel.name == "linear":
        return LinearFunction(coef, intercept)
    if coef.any():
        return KernelFunction.over(X, kernel, coef, intercept)
    # Constant; yet a row is needed to compare with.
    vectors = np.empty((0, 0)) if kernel.name == "precomputed" else X[:1]
    return KernelFunction(kernel, coef[:, :1].copy(), intercept, np.zeros(1, dtype=np.int64), vectors)
