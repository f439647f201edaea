"""Rows under a kernel that knows the neighbors: the plain kernel, mixed with one deformed by a graph.

    K~ = K (I + strength L K)^-1,      mixed = (K + scale K~) / 2,      scale: both have the same mean diagonal

with the Laplacian L of a graph of nearest neighbors (Sindhwani, Niyogi, Belkin 2005). A function that changes between
neighbors is longer under K~ than under K, so f follows the sheets that the rows lie on. For a new row x the deformed
kernel is ``k~(x, x_j) = k_x' (I + strength L K)^-1 e_j``, with the plain kernel values k_x: a function with the
coefficients c under the mixed kernel has the coefficients ``(c + scale (I + strength L K)^-1 c) / 2`` under the plain
one. That is what is stored, and new rows need no graph.

The LU factors of ``I + strength L K`` lose as many digits as K is large. Large kernel values, as rows of large features
have them under the linear kernel, are factored first, ``K = F F'``: then ``K~ = F (I + strength F'LF)^-1 F'`` is as
exact as K is.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from wellsvm._typing import FloatArray
from wellsvm.options import Options
from wellsvm.rows.gram import GramRows
from wellsvm.rows.kernels import available_memory
from wellsvm.rows.linear import LinearRows

__all__ = ["NeighborRows", "require_room_for_neighbors", "too_large_for_neighbors"]


def require_room_for_neighbors(n_rows: int, cache_size: float | None) -> None:
    """Refuse sizes that do not fit, before any memory is taken: some matrices of the size of K are needed at once."""
    needed = 8 * Options.neighbor_matrices * n_rows**2
    room = available_memory() if cache_size is None else int(cache_size * 2**20)
    if room is not None and needed > room:
        where = "free" if cache_size is None else f"allowed by cache_size={cache_size!r}"
        raise MemoryError(
            f"neighbors needs {needed / 2**30:.1f} GiB for {n_rows} rows, and {room / 2**30:.1f} GiB are {where}; use "
            "neighbors=None, or fewer unlabeled rows"
        )


def too_large_for_neighbors(largest: float, C: float) -> str:
    """What is wrong with kernel values up to ``largest`` at the largest price C; nothing if they can be deformed."""
    if C * largest <= Options.most_scale:
        return ""
    return (
        f"the plain kernel gives {largest:g} for a row with itself, too large for C={C:g}: their product may be at "
        f"most {Options.most_scale:g}"
    )


class NeighborRows(GramRows):
    """Instances under the mixed kernel.

    Parameters
    ----------
    K : array of shape (n_instances, n_instances)
        Kernel matrix of the plain kernel, float64.
    L : sparse matrix of shape (n_instances, n_instances)
        Laplacian of the graph.
    bias : float
        Value of the constant feature that stands for the intercept.
    linear : LinearRows, optional
        The rows without the constant feature, for the linear kernel: f is then given by weights of the features.
    """

    def __init__(self, K: FloatArray, L: sparse.csr_matrix, bias: float, linear: LinearRows | None = None) -> None:
        large = float(K.diagonal().max(initial=0.0)) > Options.most_for_factors
        self._deformation = (_ByRoots if large else _ByFactors)(K, Options.neighbor_strength * L)
        deformed = self._deformation.of_rows(K)
        size = float(np.mean(deformed.diagonal()))
        self._scale = float(np.mean(K.diagonal())) / size if size > 0 else 0.0
        self._linear = linear
        super().__init__(np.ascontiguousarray(0.5 * K + 0.25 * self._scale * (deformed + deformed.T)), bias)

    def split_intercept(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients under the plain kernel, or weights if it is linear, and the constant feature's part of f."""
        plain = 0.5 * (coef + self._scale * self._deformation.coefficients(coef.T).T)
        constant = self.bias**2 * coef.sum(axis=1)
        if self._linear is None:
            return plain, constant
        weights, intercepts = self._linear.split_intercept(self._linear.combine(np.ascontiguousarray(plain.T)).T)
        return weights, intercepts + constant


class _ByFactors:
    """The deformed kernel from LU factors of ``I + LK``; L has the strength of the deformation."""

    def __init__(self, K: FloatArray, L: sparse.csr_matrix) -> None:
        system = np.asarray(L @ K)
        system[np.diag_indices(K.shape[0])] += 1.0
        self._factors = linalg.lu_factor(system, overwrite_a=True)

    def of_rows(self, K: FloatArray) -> FloatArray:
        """``K (I + LK)^-1``: the transpose of ``(I + KL)^-1 K``, and symmetric."""
        return np.asarray(linalg.lu_solve(self._factors, K, trans=1))

    def coefficients(self, coef: FloatArray) -> FloatArray:
        """``(I + LK)^-1 coef``. Threads share the rows, and SciPy changes the pivots while it solves."""
        factors, pivots = self._factors
        return np.asarray(linalg.lu_solve((factors, pivots.copy()), coef))


class _ByRoots:
    """The same from the eigenvectors of K; what is rounding of its largest eigenvalue is taken for 0."""

    def __init__(self, K: FloatArray, L: sparse.csr_matrix) -> None:
        lengths, F = linalg.eigh(K)
        kept = lengths > K.shape[0] * np.finfo(np.float64).eps * lengths[-1]
        self._lengths = lengths[kept]
        self._F = F[:, kept] * np.sqrt(self._lengths)
        system = np.asarray(self._F.T @ (L @ self._F))
        system[np.diag_indices(system.shape[0])] += 1.0
        sizes, axes = linalg.eigh(system, overwrite_a=True)
        self._root = axes / np.sqrt(np.maximum(sizes, 1.0))  # none is below 1, but for rounding

    def of_rows(self, K: FloatArray) -> FloatArray:
        """``F (I + F'LF)^-1 F'``."""
        Z = self._F @ self._root
        return np.asarray(Z @ Z.T)

    def coefficients(self, coef: FloatArray) -> FloatArray:
        """Those that give F'c the values ``(I + F'LF)^-1 F'c``; ``F / lengths`` is the inverse of F', on its range."""
        inside = self._root @ (self._root.T @ (self._F.T @ coef))
        return np.asarray(self._F @ (inside / self._lengths[:, None]))
