"""The kernels in plain NumPy: written for reading, used where no compiler was found, and the tests' oracle.

Same names, same arguments and, up to rounding, the same numbers as the compiled module. The problem, with
``psi_t(i)`` the sum of ``labels[j, t] x_j`` over the instances ``j`` of row ``i``:

    max over 0 <= alpha <= cap of  sum_i alpha_i - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum_i ridge_i alpha_i^2,
    u_t = sum_i alpha_i psi_t(i)

One coordinate at a time: ``alpha_i`` takes its best value with all others fixed. Both geometries use the
same step; they differ in what they keep up to date (``U = [u_1 ... u_T]``, or what every instance adds to the
margin of its row).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

Report = tuple[float, float, int]


def isa() -> str:
    """Name of the instruction set in use."""
    return "numpy"


def coordinate_step(
    alpha: float, margin: float, cap: float, ridge: float, curvature: float
) -> tuple[float, float, float]:
    """Return the new alpha of one row, its projected gradient and its loss."""
    slack = 1.0 - margin
    gradient = slack - ridge * alpha
    blocked = (alpha <= 0.0 and gradient < 0.0) or (alpha >= cap and gradient > 0.0)
    violation = 0.0 if blocked else abs(gradient)
    if curvature > 0.0:
        target = alpha + gradient / curvature
    else:  # an empty row: the dual is linear in alpha
        target = cap if gradient > 0.0 else 0.0
    loss = 0.0
    if slack > 0.0 and cap > 0.0:
        loss = slack * slack / (2.0 * ridge) if ridge > 0.0 else cap * slack
    return min(max(target, 0.0), cap), violation, loss


def _instances(starts: np.ndarray | None, i: int) -> range:
    return range(i, i + 1) if starts is None else range(int(starts[i]), int(starts[i + 1]))


def _sweep(
    order: np.ndarray,
    dual: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    margin_of: Callable[[int], float],
    move: Callable[[int, float], None],
    threshold: float = 0.0,
    at_hand: Callable[[int], bool] = lambda i: True,
) -> Report:
    """Visit the rows of ``order`` once; ``move(i, change)`` updates what the geometry keeps, if it can."""
    cap, ridge, curvature, alpha = dual
    worst, total, n_changed = 0.0, 0.0, 0
    for i in order:
        new, violation, loss = coordinate_step(alpha[i], margin_of(i), cap[i], ridge[i], curvature[i])
        worst, total = max(worst, violation), total + loss
        change = new - alpha[i]
        if change != 0.0 and (threshold == 0.0 or violation > threshold) and at_hand(i):
            alpha[i] = new
            n_changed += 1
            move(i, change)
    return worst, total, n_changed


class Rows:
    """Rows of a dense or CSR matrix."""

    def __init__(self, X: Any) -> None:
        self.X = X

    def _entries(self, j: int) -> tuple[Any, np.ndarray]:
        """Columns and values of row j."""
        if sparse.issparse(self.X):
            part = slice(self.X.indptr[j], self.X.indptr[j + 1])
            return self.X.indices[part], self.X.data[part].astype(np.float64)
        return slice(0, self.X.shape[1]), np.asarray(self.X[j], dtype=np.float64)

    def squared_norms(self, begin: int, end: int, out: np.ndarray) -> None:
        """out[i] = ||x_i||^2."""
        for i in range(begin, end):
            _, x = self._entries(i)
            out[i - begin] = x @ x

    def scores(self, U: np.ndarray, bias: float, begin: int, end: int, Z: np.ndarray) -> None:
        """Z[i] = [x_i, bias] U."""
        Z[:] = np.asarray(self.X[begin:end].astype(np.float64) @ U[:-1]) + bias * U[-1]

    def combine(self, coef: np.ndarray, bias: float, begin: int, end: int, U: np.ndarray) -> None:
        """U += sum_i [x_i; bias] coef[i]."""
        U[:-1] += np.asarray(self.X[begin:end].astype(np.float64).T @ coef)
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
    ) -> Report:
        """One slice of an epoch; keeps ``U[:, t] = u_t`` up to date."""

        def margin_of(i: int) -> float:
            margin = 0.0
            for j in _instances(starts, i):
                columns, x = self._entries(j)
                margin += (x @ U[:-1][columns] + bias * U[-1]) @ (mu * labels[j])
            return float(margin)

        def move(i: int, change: float) -> None:
            for j in _instances(starts, i):
                columns, x = self._entries(j)
                step = change * labels[j]
                np.add.at(U[:-1], columns, np.outer(x, step))  # a row may name a column twice
                U[-1] += bias * step

        return _sweep(order, (cap, ridge, curvature, alpha), margin_of, move)


class Gram:
    """Rows of a kernel matrix: all of them, or those at hand, that of instance j at ``places[j]`` (-1: not at hand)."""

    def __init__(self, K: np.ndarray, places: np.ndarray | None) -> None:
        self.K = K
        self.places = np.arange(K.shape[0]) if places is None else places

    def combine(self, rows: np.ndarray, coef: np.ndarray, Z: np.ndarray) -> None:
        """``Z[t] += sum over r of coef[t, r] K[rows[r]]``."""
        if np.any(self.places[rows] < 0):
            raise ValueError("rows names an instance whose row is not at hand")
        Z += coef @ self.K[self.places[rows]].astype(np.float64)

    def descend(
        self,
        starts: np.ndarray | None,
        cap: np.ndarray,
        ridge: np.ndarray,
        curvature: np.ndarray,
        alpha: np.ndarray,
        pattern_of: np.ndarray,
        patterns: np.ndarray,
        mu: np.ndarray,
        signed_scores: np.ndarray,
        bias: float,
        threshold: float,
        order: np.ndarray,
    ) -> Report:
        """One slice of an epoch; keeps ``signed_scores[j] = sum_t mu_t y_tj (K c_t)_j`` up to date."""

        def at_hand(i: int) -> bool:
            return all(self.places[j] >= 0 or not patterns[:, pattern_of[j]].any() for j in _instances(starts, i))

        def move(i: int, change: float) -> None:
            for j in _instances(starts, i):
                if not patterns[:, pattern_of[j]].any():
                    continue
                mixed = (mu * patterns[:, pattern_of[j]]) @ patterns
                moved = change * (self.K[self.places[j]].astype(np.float64) + bias * bias) * mixed[pattern_of]
                signed_scores[:] += moved

        def margin_of(i: int) -> float:
            return float(sum(signed_scores[j] for j in _instances(starts, i)))

        return _sweep(order, (cap, ridge, curvature, alpha), margin_of, move, threshold, at_hand)


def dense_rows(X: np.ndarray) -> Rows:
    """Rows of a C-contiguous matrix."""
    return Rows(X)


def csr_rows(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_features: int) -> Rows:
    """Rows of a CSR matrix given by its three arrays."""
    n_rows = len(indptr) - 1
    if indptr[0] != 0 or np.any(np.diff(indptr) < 0) or indptr[-1] > len(indices) or len(data) != len(indices):
        raise ValueError("indptr must rise from 0 to at most the number of stored entries")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_features):
        raise ValueError("a column index lies outside the matrix")
    return Rows(sparse.csr_matrix((data, indices, indptr), shape=(n_rows, n_features), copy=False))


def gram(K: np.ndarray, places: np.ndarray | None = None) -> Gram:
    """A square kernel matrix, or some of its rows."""
    if places is None and K.shape[0] != K.shape[1]:
        raise ValueError("K must be square")
    return Gram(K, places)
