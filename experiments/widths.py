"""Widths of the Gaussian kernel: multiples of the root of the mean squared distance of rows, or of the mean one."""

from __future__ import annotations

from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.sparsefuncs import mean_variance_axis

from experiments.internals import Matrix

__all__ = ["gamma_of_width", "mean_distance", "mean_squared_distance"]


def mean_squared_distance(X: Matrix) -> float:
    """Mean of ``||x_i - x_j||^2`` over all pairs of different rows: twice the summed variance, with n - 1."""
    n = X.shape[0]
    variances = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else X.var(axis=0, dtype="float64")
    return float(2 * variances.sum() * n / (n - 1))


def mean_distance(X: Matrix) -> float:
    """Mean of ``||x_i - x_j||`` over all pairs of different rows."""
    n = X.shape[0]
    return float(euclidean_distances(X).sum() / (n * (n - 1)))


def gamma_of_width(X: Matrix, width: float, squared: bool = True) -> float:
    """``gamma = m / (2 s^2)`` with 1/m the mean squared distance of the rows and s the width.

    ``squared=False`` is the paper's text to the letter, 1/m the mean distance: that width depends on the rows' unit.
    """
    return 1 / (2 * width**2 * (mean_squared_distance(X) if squared else mean_distance(X)))
