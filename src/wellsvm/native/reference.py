"""The kernels in plain NumPy: written for reading, used where no compiler was found, and the tests' oracle.

Same names, same arguments and, up to rounding, the same numbers as the compiled module. The problem, with
``psi_t(i)`` the sum of ``labels[j, t] x_j`` over the instances ``j`` of row ``i``:

    max over 0 <= alpha <= cap of  sum_i alpha_i - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum_i ridge_i alpha_i^2,
    u_t = sum_i alpha_i psi_t(i)

One coordinate at a time: ``alpha_i`` takes its best value with all others fixed. Both kinds of rows use the
same step; they differ in what they keep up to date (``U = [u_1 ... u_T]``, or what every instance adds to the
margin of its row).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from wellsvm.native.checks import (
    REALS,
    all_below,
    require,
    require_array,
    require_csr,
    require_labels,
    require_visits,
)
from wellsvm.native.reference_gram import gram
from wellsvm.native.reference_prices import carry, distances_to_cut, shares_of_prices
from wellsvm.native.reference_steps import instances_of, sweep

__all__ = [
    "carry", "csr_rows", "dense_rows", "distances_to_cut", "gram", "isa", "shares_of_prices", "shifted_rows",
]  # fmt: skip


def isa() -> str:
    """Name of the instruction set in use."""
    return "numpy"


class Rows:
    """Rows of a dense or CSR matrix: all of them, or those at hand, row i at ``places[i]`` of ``n_held``."""

    n_rows: int
    n_features: int
    n_held: int
    places: np.ndarray | None

    def _place(self, begin: int, end: int) -> Any:
        """Where some rows lie in the matrix."""
        if self.places is None:
            return slice(begin, end)
        at = self.places[begin:end]
        require(all_below(at, self.n_held), "a row is not at hand, or points outside the matrix")
        return at

    def _entries(self, j: int) -> tuple[Any, np.ndarray]:
        """Columns and values of row j."""
        raise NotImplementedError

    def _block(self, begin: int, end: int) -> Any:
        """Some rows as a matrix of float64."""
        raise NotImplementedError

    def _require_slice(self, begin: int, end: int, n_given: int) -> None:
        require(0 <= begin <= end <= self.n_rows, "slice outside the rows")
        require(n_given == end - begin, "arrays must have one row per row of the slice")

    def _require_weights(self, U: np.ndarray, writeable: bool = False) -> None:
        require_array("U", U, 2, np.float64, writeable=writeable)
        require(len(U) == self.n_features + 1, "U needs one row per feature and one more")

    def squared_norms(self, begin: int, end: int, out: np.ndarray) -> None:
        """out[i] = ||x_i||^2."""
        require_array("out", out, 1, np.float64, writeable=True)
        self._require_slice(begin, end, len(out))
        for i in range(begin, end):
            _, x = self._entries(i)
            out[i - begin] = x @ x

    def scores(self, U: np.ndarray, bias: float, begin: int, end: int, Z: np.ndarray) -> None:
        """Z[i] = [x_i, bias] U."""
        require_array("Z", Z, 2, np.float64, writeable=True)
        self._require_slice(begin, end, len(Z))
        self._require_weights(U)
        require(Z.shape[1] == U.shape[1], "Z must have one column per column of U")
        Z[:] = np.asarray(self._block(begin, end) @ U[:-1]) + bias * U[-1]

    def combine(self, coef: np.ndarray, bias: float, begin: int, end: int, U: np.ndarray) -> None:
        """U += sum_i [x_i; bias] coef[i]."""
        require_array("coef", coef, 2, np.float64)
        self._require_slice(begin, end, len(coef))
        self._require_weights(U, writeable=True)
        require(coef.shape[1] == U.shape[1], "coef must have one column per column of U")
        U[:-1] += np.asarray(self._block(begin, end).T @ coef)
        U[-1] += bias * coef.sum(axis=0)

    def descend(
        self,
        starts: np.ndarray | None,
        cap: np.ndarray,
        ridge: np.ndarray,
        curvature: np.ndarray,
        alpha: np.ndarray,
        labels: np.ndarray,
        mu: np.ndarray,
        U: np.ndarray,
        bias: float,
        order: np.ndarray,
    ) -> tuple[float, float]:
        """One slice of an epoch; keeps ``U[:, t] = u_t`` up to date."""
        self._require_weights(U, writeable=True)
        require_array("labels", labels, 2, np.int8)
        require_array("mu", mu, 1, np.float64)
        require(labels.shape[1] == len(mu) == U.shape[1], "labels, mu and U must have the same width")
        require(len(labels) == self.n_rows, "labels must have one row per instance")
        require_visits(starts, (cap, ridge, curvature, alpha), order, self.n_rows)
        for i in order:
            require_labels("labels", labels[instances_of(starts, i)])

        def margin_of(i: int) -> float:
            margin = 0.0
            for j in instances_of(starts, i):
                columns, x = self._entries(j)
                margin += (x @ U[:-1][columns] + bias * U[-1]) @ (mu * labels[j])
            return float(margin)

        def move(i: int, change: float) -> None:
            for j in instances_of(starts, i):
                columns, x = self._entries(j)
                step = change * labels[j]
                np.add.at(U[:-1], columns, np.outer(x, step))  # a row may name a column twice
                U[-1] += bias * step

        violation, loss, _ = sweep(order, (cap, ridge, curvature, alpha), margin_of, move)
        return violation, loss


class DenseRows(Rows):
    """Rows of a C-contiguous matrix, less ``origin`` if there is one."""

    def __init__(self, X: np.ndarray, places: np.ndarray | None = None, origin: np.ndarray | None = None) -> None:
        self.X, self.places, (self.n_held, self.n_features) = X, places, X.shape
        self.origin = origin
        self.n_rows = self.n_held if places is None else len(places)

    def _entries(self, j: int) -> tuple[Any, np.ndarray]:
        return slice(0, self.n_features), self._block(j, j + 1)[0]

    def _block(self, begin: int, end: int) -> Any:
        block = self.X[self._place(begin, end)].astype(np.float64)
        return block if self.origin is None else block - self.origin


class CsrRows(Rows):
    """Rows of a CSR matrix."""

    def __init__(
        self,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        n_features: int,
        places: np.ndarray | None = None,
    ) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n_held, self.n_features, self.places = len(indptr) - 1, n_features, places
        self.n_rows = self.n_held if places is None else len(places)

    def _copy(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row pointers, columns and values of some rows; the caller may have changed them since they were checked."""
        indptr = self.indptr[begin : end + 1].astype(np.int64)
        sound = indptr[0] >= 0 and np.all(np.diff(indptr) >= 0) and indptr[-1] <= len(self.indices)
        part = slice(indptr[0], indptr[-1])
        columns, values = self.indices[part].copy(), self.data[part].astype(np.float64)
        require(
            sound and all_below(columns, self.n_features),
            "the sparse matrix was changed after it was checked: a row points outside of it",
        )
        return indptr - indptr[0], columns, values

    def _entries(self, j: int) -> tuple[Any, np.ndarray]:
        at = j if self.places is None else int(self._place(j, j + 1)[0])
        return self._copy(at, at + 1)[1:]

    def _block(self, begin: int, end: int) -> Any:
        if self.places is not None:
            at = self._place(begin, end)
            return sparse.vstack([self._matrix(i, i + 1) for i in at]) if len(at) else self._matrix(0, 0)
        return self._matrix(begin, end)

    def _matrix(self, begin: int, end: int) -> Any:
        indptr, columns, values = self._copy(begin, end)
        return sparse.csr_matrix((values, columns, indptr), shape=(end - begin, self.n_features))


def dense_rows(X: np.ndarray, places: np.ndarray | None = None) -> Rows:
    """Rows of a C-contiguous matrix, which holds all of them or those at hand."""
    require_array("X", X, 2, *REALS)
    if places is not None:
        require_array("places", places, 1, np.int64)
    return DenseRows(X, places)


def shifted_rows(X: np.ndarray, origin: np.ndarray, places: np.ndarray | None = None) -> Rows:
    """The same rows seen from ``origin``: it is taken off each of them as they are read."""
    require_array("X", X, 2, *REALS)
    require_array("origin", origin, 1, np.float64)
    if places is not None:
        require_array("places", places, 1, np.int64)
    require(len(origin) == X.shape[1], "origin must have one entry per column of X")
    return DenseRows(X, places, origin)


def csr_rows(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_features: int, places: np.ndarray | None = None
) -> Rows:
    """Rows of a CSR matrix given by its three arrays, which holds all of them or those at hand."""
    require_csr(data, indices, indptr, n_features)
    if places is not None:
        require_array("places", places, 1, np.int64)
    return CsrRows(data, indices, indptr, n_features, places)
