"""Support vector regression with the Laplacian loss, by a primal-dual interior point method.

    minimize over w, b   1/2 ||w||^2 + C sum_i | y_i - w'phi(x_i) - b |

    dual: maximize over x   y'x - C/2 x'Kx   subject to   -1 <= x_i <= 1,   sum_i x_i = 0;     w = C sum_i x_i phi(x_i)

With u and l, the multipliers of the bounds, the positive and the negative parts of the residuals, the conditions are
``C K x + b - y + u - l = 0``, ``u (1 - x) = mu``, ``l (1 + x) = mu``, mu falling to zero; each step solves them
linearized, a system with the matrix ``C K + D``, D diagonal. Where K = LL' has a low rank, as that of linear rows, it
is one of the size of the rank. It stops at a relative duality gap of tol.

LIBSVM solves the same problem by pairs of coordinates, which takes it millions of steps for the linear kernel and a
large C. It is taken where the rank is too large for the above.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from wellsvm._typing import FloatArray
from wellsvm.baselines._interior_point import longest_step

__all__ = ["LaplacianSVR"]

# Larger ranks go to LIBSVM, which gets this many steps for a regression: at most some seconds at 4000 rows. What is
# missing then are digits, for a large C only.
HIGHEST_RANK = 1000
LIBSVM_STEPS = 50_000
# Eigenvalues of K below this share of its largest entry are zero.
ZERO = 1e-10
# Each step aims at this share of the complementarity; there are never more steps than that.
SHRINK = 0.1
STEPS = 100
# Nearer to its bounds x is not told from them, whatever the gap.
SMALLEST = 1e-12
ROUNDING = 1e-10


class LaplacianSVR:
    """Regressions of several y on the rows of one kernel matrix.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel matrix.
    C : float
        Penalty on the loss.
    tol : float
        Relative duality gap.
    """

    def __init__(self, K: FloatArray, C: float, tol: float) -> None:
        self.K, self.C, self.tol = K, C, tol
        factor, pivots, rank, _ = linalg.lapack.dpstrf(K, tol=ZERO * float(K.diagonal().max()), lower=1)
        L = np.zeros((K.shape[0], rank))
        L[pivots - 1] = np.tril(factor)[:, :rank]
        semidefinite = float(K.trace()) - float(np.square(L).sum()) <= 1e-6 * float(K.trace())
        self.by_interior_point = rank <= HIGHEST_RANK and semidefinite
        self.L = L if 3 * rank < K.shape[0] else None

    def fit(self, y: FloatArray) -> FloatArray:
        """Coefficients of the rows in ``w'phi(x)``."""
        if self.by_interior_point:
            return self._interior_point(y)
        svr = SVR(kernel="precomputed", C=self.C, epsilon=0.0, tol=self.tol, max_iter=LIBSVM_STEPS, cache_size=500)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of a step on the way
            svr.fit(self.K, y)
        coef = np.zeros(y.size)
        coef[svr.support_] = svr.dual_coef_[0]
        return coef

    def _interior_point(self, y: FloatArray) -> FloatArray:
        n, x, b = y.size, np.zeros(y.size), 0.0
        u, l = np.ones(n), np.ones(n)
        for _ in range(STEPS):
            f = self.C * (self.K @ x if self.L is None else self.L @ (self.L.T @ x))
            primal = 0.5 * float(x @ f) + float(np.abs(y - f - np.median(y - f)).sum())
            above, below = 1 - x, 1 + x
            mu = SHRINK * float(u @ above + l @ below) / (2 * n)
            gap = primal - float(y @ x - 0.5 * x @ f)
            if gap <= self.tol * primal or min(above.min(), below.min()) < SMALLEST:
                break
            right = np.column_stack([y - f - b - mu / above + mu / below, np.ones(n)])
            free, towards = self._solve(u / above + l / below, right).T
            db = float(free.sum() + x.sum()) / float(towards.sum())
            dx = free - db * towards
            du, dl = (mu + u * dx) / above - u, (mu - l * dx) / below - l
            step = min(longest_step(above, -dx), longest_step(below, dx), longest_step(u, du), longest_step(l, dl))
            x, b, u, l = x + step * dx, b + step * db, u + step * du, l + step * dl
        return self.C * x

    def _solve(self, d: FloatArray, right: FloatArray) -> FloatArray:
        """Solve with the matrix ``C K + diag(d)``."""
        if self.L is None:
            shifted = self.C * self.K
            # the last bits of K can outweigh d, which falls to zero for rows inside the box
            shifted[np.diag_indices(d.size)] += d + ROUNDING * self.C * float(self.K.diagonal().max())
            return np.asarray(linalg.cho_solve(linalg.cho_factor(shifted, lower=True), right))
        scaled = self.L / d[:, None]
        inner = self.L.T @ scaled
        inner[np.diag_indices(inner.shape[0])] += 1 / self.C
        return right / d[:, None] - scaled @ linalg.cho_solve(linalg.cho_factor(inner, lower=True), scaled.T @ right)
