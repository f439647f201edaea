"""Newton's method on the primal of the squared hinge loss, for fixed mu.

    min over w of  1/2 ||w||^2 + 1/2 sum_i slack_i^2 / ridge_i,    slack_i = max(0, 1 - margin_i)

is quadratic as long as the set F of rows with slack stays the same. Its minimum is then ``w = sum_i alpha_i psi(i)``
with ``(Q_FF + ridge_F) alpha_F = 1`` and zeros elsewhere: one Cholesky solve. Each step of the method goes to the best
point on the way there (Keerthi and DeCoste 2005; Chapelle 2007); once F stays, alpha solves the dual as well, exactly.
On the way alpha may be negative. Coordinate descent needs thousands of epochs where C is large and the kernel wide.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from wellsvm._typing import FloatArray

__all__ = ["SlackSystem", "best_step"]


class SlackSystem:
    """``(Q + ridge) x = b`` by Cholesky, in the precision of Q, which is overwritten.

    Single precision takes half the time; its error is seen in the margins and solved for once more.

    Raises
    ------
    LinAlgError
        Where the matrix is not positive definite in that precision.
    """

    def __init__(self, Q: np.ndarray, ridge: FloatArray) -> None:
        np.einsum("ii->i", Q)[:] += ridge
        # Q is symmetric; LAPACK works in place on columns that are contiguous, as those of the transpose are.
        self._factor = cho_factor(Q.T, lower=True, overwrite_a=True, check_finite=False)
        self._dtype = Q.dtype

    def solve(self, b: FloatArray) -> FloatArray:
        """x, as exact as the precision allows."""
        return np.asarray(cho_solve(self._factor, b.astype(self._dtype), check_finite=False), dtype=np.float64)


def best_step(
    slope: float, curvature: float, margins: FloatArray, change: FloatArray, ridge: FloatArray, bisections: int
) -> float:
    """The share s in [0, 1] of the way that minimizes the primal, by bisection of its derivative.

    ``slope + s curvature`` is the derivative of the regularizer, ``margins + s change`` are the rows' margins.
    """

    def derivative(s: float) -> float:
        slack = np.maximum(0.0, 1.0 - margins - s * change)
        return slope + s * curvature - float(np.sum(slack * change / ridge))

    low, high = 0.0, 1.0
    if derivative(high) <= 0.0:
        return high
    for _ in range(bisections):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if derivative(middle) > 0.0 else (middle, high)
    return low
