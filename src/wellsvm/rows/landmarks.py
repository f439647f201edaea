"""Nystroem's coordinates: the feature space of a kernel, approximated by some of the rows, in which f is linear.

With K_mm the kernel values between m landmarks, ``K_mm = V diag(e) V'``, a row x has the coordinates
``z(x) = diag(e)^-1/2 V' k(landmarks, x)``: inner products of two rows are then kernel values, exact for landmarks and
for all rows where every row is one. A linear function of z is an expansion over the landmarks.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.kernels import Kernel

__all__ = ["Landmarks"]


class Landmarks:
    """Coordinates of rows, by their kernel values with some of them.

    Parameters
    ----------
    values : array of shape (n_rows, m)
        Kernel values between all rows and the landmarks.
    chosen : int array of shape (m,)
        Which rows the landmarks are.
    options : Options, default=Options()
        Constants.
    most : int, optional
        Keep no more than this many coordinates, those of largest scatter among the landmarks.

    Attributes
    ----------
    coordinates : array of shape (n_rows, r)
        One row per row, C-contiguous; ``r <= m`` are the directions that are more than rounding.
    """

    def __init__(
        self, values: np.ndarray, chosen: IntArray, options: Options = Options(), most: int | None = None
    ) -> None:
        self.chosen, self.n_rows = chosen, values.shape[0]
        among = values[chosen].astype(np.float64)
        e, V = np.linalg.eigh(0.5 * (among + among.T))
        kept = e > options.no_direction * max(float(e[-1]), np.finfo(np.float64).tiny)
        kept[: 0 if most is None else -most] = False  # eigenvalues rise
        self._to_coordinates: FloatArray = V[:, kept] / np.sqrt(e[kept])
        self.coordinates: np.ndarray = np.ascontiguousarray(values @ self._to_coordinates)

    @classmethod
    def drawn(
        cls, X: Matrix, kernel: Kernel, n_most: int, rng: np.random.Generator, options: Options = Options()
    ) -> Landmarks:
        """At most ``n_most`` rows of X, drawn at random, as landmarks; of a precomputed kernel, columns."""
        n = X.shape[0]
        chosen = np.arange(n) if n <= n_most else np.sort(rng.choice(n, n_most, replace=False))
        if kernel.name == "precomputed":
            values = np.asarray(X)[:, chosen]
        else:
            values = kernel.between(X, X[chosen]).astype(kernel.dtype(X), copy=False)
        kernel.require_finite(values)
        return cls(values, chosen, options)

    def leading(self, n_most: int) -> np.ndarray:
        """The coordinates of largest scatter among the landmarks, at most ``n_most``."""
        return np.ascontiguousarray(self.coordinates[:, -n_most:])  # eigenvalues rise

    def expansion(self, weights: FloatArray) -> FloatArray:
        """Coefficients of shape (k, n_rows) of k functions ``weights @ z``; rows that are no landmarks have none."""
        coef = np.zeros((weights.shape[0], self.n_rows))
        coef[:, self.chosen] = weights @ self._to_coordinates.T
        return coef
