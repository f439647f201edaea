"""Where the data live: what the solver asks of rows, in memory or elsewhere, under a linear or another kernel.

An instance j is a point ``phi(x_j)``. Points of that space are given by coefficients in the form the rows keep: the
weights of the features for linear rows (the constant feature's last), one coefficient per instance for a kernel.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray

__all__ = ["Rows", "averaging", "instances_of"]


class Rows(Protocol):
    """A set of instances in a feature space.

    Attributes
    ----------
    n_instances : int
        Number of instances.
    squared_norms : array of shape (n_instances,)
        ``||phi(x_j)||^2``, the constant feature that stands for the intercept included.
    entries_per_row : float
        Multiply-adds of one inner product with an instance.
    bias : float
        Value of the constant feature; 0 without an intercept.
    centered : bool
        Whether label vectors can be aligned with these rows as they are: no common offset draws all into one cluster.
    """

    n_instances: int
    entries_per_row: float
    bias: float
    centred: bool

    @property
    def squared_norms(self) -> FloatArray:
        """``||phi(x_j)||^2`` of every instance."""

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j phi(x_j)``, one column per column of ``coef``, in the form that `scores` takes."""

    def scores(self, U: FloatArray) -> FloatArray:
        """``phi(x_j)' u`` of every instance, one column per column of U."""

    def near(self, instances: IntArray) -> tuple[Any, IntArray]:
        """A native object that holds some instances in memory, and their numbers in it."""

    def threaded(self, n_jobs: int | None) -> Self:
        """The same rows, whose passes take ``n_jobs`` threads; they change no bit of the result."""

    def part(self, chosen: IntArray) -> Self:
        """The rows of some instances."""

    def from_part(self, coef: FloatArray, chosen: IntArray) -> FloatArray:
        """Coefficients for these rows of a point that was found on ``part(chosen)``."""

    def thinned(self, n_most: int, rng: np.random.Generator) -> Self:
        """Some of the instances, at most ``n_most``, where rows are many; else these rows."""

    def averaged(self, starts: IntArray) -> Self:
        """The means of groups of instances, group i from ``starts[i]`` on."""

    def from_means(self, coef: FloatArray, starts: IntArray) -> FloatArray:
        """Coefficients for these rows of a point that was found on ``averaged(starts)``."""

    def split_intercept(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients of shape (k, n) of k points as functions of x: what multiplies, and the k intercepts."""


def averaging(starts: IntArray) -> sparse.csr_matrix:
    """The matrix that takes instances to the means of their groups; group i holds ``starts[i] .. starts[i+1]-1``."""
    sizes = np.diff(starts)
    return sparse.csr_matrix((np.repeat(1.0 / sizes, sizes), np.arange(starts[-1]), starts))


def instances_of(starts: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The instances of some rows, one row's after the other's, and where each row's end; row i has the instances
    ``starts[i] .. starts[i + 1] - 1``."""
    sizes = starts[rows + 1] - starts[rows]
    ends = np.cumsum(sizes)
    return np.repeat(starts[rows] - ends + sizes, sizes) + np.arange(sizes.sum()), ends
