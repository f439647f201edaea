"""Explicit features for methods that descend in the primal: ``Phi Phi' = K``, and functions linear in them.

The linear kernel's features are the rows themselves. Of other kernels K is factored by Cholesky's method, the row with
the largest remainder first, until what remains is below `REMAINDER`: as exact as kernel principal components, cheaper,
and the function is a combination of the rows chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import linalg, optimize

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.baselines._kernel_matrix import full_gram
from wellsvm.rows.kernels import Kernel

__all__ = ["Features", "Loss"]

# Share of the largest k(x, x) that may remain of every row; kernel values come in single precision.
REMAINDER = 1e-6
# Pairs of gradients that L-BFGS remembers.
MEMORY = 20

Loss = Callable[[FloatArray], tuple[float, FloatArray]]


@dataclass(frozen=True)
class Features:
    """Functions ``f(x) = w'(phi(x) - centre) + bias b + constant`` of the rows, given by v = (w, b).

    Attributes
    ----------
    Phi : array or CSR matrix of shape (n, r)
        Features of the rows.
    center : array of shape (r,)
        Taken from every row.
    bias, constant : float
        Value of the constant feature whose weight is b, and what is added to every function.
    pivots, triangle : arrays of shapes (r,) and (r, r), or None
        The rows chosen and the lower triangle of their features, for kernels other than the linear one.
    """

    Phi: Matrix
    centre: FloatArray
    bias: float
    constant: float = 0.0
    pivots: IntArray | None = None
    triangle: FloatArray | None = None

    @classmethod
    def of(cls, X: Matrix, kernel: Kernel, bias: float) -> Self:
        """Features for a kernel."""
        if kernel.name == "linear":
            return cls(X, np.zeros(X.shape[1]), bias)
        K = full_gram(X, kernel)
        factor, order, rank, _ = linalg.lapack.dpstrf(K, tol=REMAINDER * float(K.diagonal().max()), lower=1)
        pivots, Phi = order - 1, np.zeros((K.shape[0], rank))
        Phi[pivots] = np.tril(factor)[:, :rank]
        return cls(Phi, np.zeros(rank), bias, 0.0, pivots[:rank].astype(np.int64), Phi[pivots[:rank]])

    def centred(self, rows: IntArray, mean: float) -> Self:
        """The same without a constant feature: the mean of every function over the given rows is ``mean``."""
        centre = np.asarray(self.Phi[rows].mean(axis=0), dtype=np.float64).ravel()
        return replace(self, centre=centre, bias=0.0, constant=mean)

    def start(self) -> FloatArray:
        """v = 0."""
        return np.zeros(self.Phi.shape[1] + 1)

    def scores(self, v: FloatArray) -> FloatArray:
        """f of every row."""
        return np.asarray(self.Phi @ v[:-1]) + self.intercept(v)

    def intercept(self, v: FloatArray) -> float:
        """What f adds to ``w'phi(x)``."""
        return self.bias * float(v[-1]) + self.constant - float(self.centre @ v[:-1])

    def objective(self, v: FloatArray, loss: Loss) -> tuple[float, FloatArray]:
        """``1/2 ||v||^2 + loss(f)`` and its gradient; ``loss`` gives a value and its derivative by each f."""
        value, slope = loss(self.scores(v))
        total = float(slope.sum())
        pull = np.append(np.asarray(self.Phi.T @ slope) - total * self.centre, self.bias * total)
        return 0.5 * float(v @ v) + value, v + pull

    def minimize(self, v: FloatArray, loss: Loss, tol: float) -> FloatArray:
        """L-BFGS from v until a step gains less than ``tol`` of the objective squared: a descent, never higher."""
        options = {"maxcor": MEMORY, "ftol": min(tol, 1.0) ** 2, "gtol": 0.0, "maxiter": 1000}
        found = optimize.minimize(self.objective, v, args=(loss,), jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x)

    def to_store(self, v: FloatArray) -> FloatArray:
        """f as it is stored, but for the intercept: weights of the features, or coefficients of the rows."""
        if self.pivots is None or self.triangle is None:
            return v[:-1]
        coef = np.zeros(self.Phi.shape[0])
        coef[self.pivots] = linalg.solve_triangular(self.triangle, v[:-1], lower=True, trans="T")
        return coef
