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

from collections.abc import Callable
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
from wellsvm.native.shuffling import random_numbers, shuffle


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
) -> tuple[float, float, int]:
    """Visit the rows of ``order`` once; ``move(i, change)`` updates what the state keeps, if it can."""
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
            require_labels("labels", labels[_instances(starts, i)])

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

        violation, loss, _ = _sweep(order, (cap, ridge, curvature, alpha), margin_of, move)
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


class Gram:
    """Rows of a kernel matrix: all of them, or those at hand, that of instance j at ``places[j]`` (-1: not at hand)."""

    def __init__(self, K: np.ndarray, places: np.ndarray | None) -> None:
        self.K = K
        self.places = np.arange(K.shape[0]) if places is None else places

    def _require_places(self) -> None:
        require(np.all(self.places < len(self.K)), "places names a row that does not exist")

    def combine(self, rows: np.ndarray, coef: np.ndarray, Z: np.ndarray) -> None:
        """``Z[t] += sum over r of coef[t, r] K[rows[r]]``."""
        require_array("rows", rows, 1, np.int64)
        require_array("coef", coef, 2, np.float64)
        require_array("Z", Z, 2, np.float64, writeable=True)
        require(coef.shape[1] == len(rows), "coef must have one column per row named")
        require(Z.shape == (len(coef), len(self.places)), "Z must be of shape (rows of coef, instances)")
        self._require_places()
        require(all_below(rows, len(self.places)), "rows names an instance that does not exist")
        require(np.all(self.places[rows] >= 0), "rows names an instance whose row is not at hand")
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
    ) -> tuple[float, float, int]:
        """One slice of an epoch; keeps ``signed_scores[j] = sum_t mu_t y_tj (K c_t)_j`` up to date."""
        n_instances = len(self.places)
        require_array("pattern_of", pattern_of, 1, np.int32)
        require_array("patterns", patterns, 2, np.int8)
        require_array("mu", mu, 1, np.float64)
        require_array("signed_scores", signed_scores, 1, np.float64, writeable=True)
        fitting = len(pattern_of) == len(signed_scores) == n_instances
        require(fitting, "pattern_of and signed_scores need one entry per instance")
        require(len(patterns) == len(mu), "patterns must have one row per entry of mu")
        require_visits(starts, (cap, ridge, curvature, alpha), order, n_instances)
        require(all_below(pattern_of, patterns.shape[1]), "pattern_of names a pattern that does not exist")
        require_labels("patterns", patterns)
        self._require_places()

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

    def descend_svm(
        self,
        cap: np.ndarray,
        ridge: np.ndarray,
        curvature: np.ndarray,
        alpha: np.ndarray,
        labels: np.ndarray,
        f: np.ndarray,
        bias: float,
        goal: float,
        tol: float,
        patience: float,
        most_epochs: int,
        most_changes: int,
        seed: int,
        order: np.ndarray,
    ) -> tuple[float, float, float, float, int, int]:
        """Epochs on one label vector, every row of one instance, until the largest projected gradient is at most
        ``goal`` or the gap at most ``tol`` of the objective; orders are drawn from ``seed``. ``f`` follows alpha.

        Returns
        -------
        violation, loss, half, linear, n_changed, n_epochs
            As a look at the rows saw them at the end: the bounds are half + loss and linear - half.
        """
        n_instances = len(self.places)
        require(len(self.K) == n_instances, "an SVM needs the whole matrix")
        require_array("labels", labels, 1, np.int8)
        require_array("f", f, 1, np.float64, writeable=True)
        require(len(labels) == len(f) == n_instances, "labels and f need one entry per instance")
        require_visits(None, (cap, ridge, curvature, alpha), order, n_instances)
        require_labels("labels", labels)
        dual, shuffled, random = (cap, ridge, curvature, alpha), order.copy(), random_numbers(seed)
        n_changed, n_epochs = 0, 0

        def margin_of(i: int) -> float:
            return float(labels[i] * f[i])

        def move(i: int, change: float) -> None:
            nonlocal n_changed
            n_changed += 1
            f[:] += change * labels[i] * (self.K[i].astype(np.float64) + bias * bias)

        while True:
            violation, loss, _ = _sweep(order, dual, margin_of, move, np.inf)  # a look: none moves
            half = 0.5 * float((alpha * labels) @ f)
            linear = float(np.sum(alpha - 0.5 * ridge * alpha * alpha))
            upper, lower = half + loss, linear - half
            solved = violation <= goal or upper - lower <= tol * abs(upper)
            if solved or n_epochs >= most_epochs or n_changed >= most_changes:
                return violation, loss, half, linear, n_changed, n_epochs
            shuffle(shuffled, random)
            _sweep(shuffled, dual, margin_of, move, patience * violation, lambda i: n_changed < most_changes)
            n_epochs += 1

    def gather(self, chosen: np.ndarray, begin: int, values: np.ndarray) -> None:
        """Write the values between some instances into an array: of those from number ``begin`` on, one row each."""
        require(len(self.K) == len(self.places), "a part needs the whole matrix")
        require_array("chosen", chosen, 1, np.int64)
        require_array("values", values, 2, self.K.dtype, writeable=True)
        require(values.shape[1] == len(chosen), "values must have one column per chosen row")
        require(0 <= begin <= len(chosen) - len(values), "slice outside the chosen rows")
        require(all_below(chosen, len(self.places)), "rows names an instance that does not exist")
        values[:] = self.K[np.ix_(chosen[begin : begin + len(values)], chosen)]

    def nearest(self, halves: np.ndarray, begin: int, found: np.ndarray) -> None:
        """Write the nearest others of the instances from ``begin`` on, the nearest first and of equal ones the first,
        one row each; ``halves`` are those of the diagonal of K."""
        n_instances, (n_rows, width) = len(self.places), found.shape
        require(len(self.K) == n_instances, "neighbors need the whole matrix")
        require_array("halves", halves, 1, self.K.dtype)
        require_array("found", found, 2, np.int64, writeable=True)
        require(len(halves) == n_instances, "halves needs one entry per instance")
        require(0 <= begin <= n_instances - n_rows, "slice outside the rows")
        require(0 < width < n_instances, "an instance has as many others as there are instances, less one")
        nearness = self.K[begin : begin + n_rows] - halves
        nearness[np.arange(n_rows), np.arange(begin, begin + n_rows)] = -np.inf
        found[:] = np.argsort(-nearness, axis=1, kind="stable")[:, :width]


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


def gram(K: np.ndarray, places: np.ndarray | None = None) -> Gram:
    """A square kernel matrix, or some of its rows."""
    require_array("K", K, 2, *REALS)
    if places is None:
        require(K.shape[0] == K.shape[1], "K must be square")
    else:
        require_array("places", places, 1, np.int64)
        require(len(places) == K.shape[1], "places needs one entry per column of K")
    return Gram(K, places)
