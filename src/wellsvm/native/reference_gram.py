"""A kernel matrix in plain NumPy, as `reference` has rows."""

from __future__ import annotations

import numpy as np

from wellsvm.native.checks import REALS, all_below, require, require_array, require_labels, require_visits
from wellsvm.native.reference_steps import instances_of, sweep
from wellsvm.native.shuffling import random_numbers, shuffle

__all__ = ["Gram", "gram"]


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
            return all(self.places[j] >= 0 or not patterns[:, pattern_of[j]].any() for j in instances_of(starts, i))

        def move(i: int, change: float) -> None:
            for j in instances_of(starts, i):
                if not patterns[:, pattern_of[j]].any():
                    continue
                mixed = (mu * patterns[:, pattern_of[j]]) @ patterns
                moved = change * (self.K[self.places[j]].astype(np.float64) + bias * bias) * mixed[pattern_of]
                signed_scores[:] += moved

        def margin_of(i: int) -> float:
            return float(sum(signed_scores[j] for j in instances_of(starts, i)))

        return sweep(order, (cap, ridge, curvature, alpha), margin_of, move, threshold, at_hand)

    def descend_svm(
        self,
        cap: np.ndarray,
        ridge: np.ndarray,
        curvature: np.ndarray,
        alpha: np.ndarray,
        labels: np.ndarray,
        coef: np.ndarray,
        f: np.ndarray,
        bias: float,
        goal: float,
        tol: float,
        patience: float,
        most_epochs: int,
        most_changes: int,
        seed: int,
        order: np.ndarray,
    ) -> tuple[float, float, float, float, int, int, bool]:
        """Epochs on one label vector, every row of one instance, until the largest projected gradient is at most
        ``goal`` or the gap at most ``tol`` of the objective; orders are drawn from ``seed``. ``f`` is what K makes of
        ``coef``; both catch up with alpha and the labels first, and then follow.

        Returns
        -------
        violation, loss, half, linear, n_changed, n_epochs, solved
            As a look at the rows saw them at the end: the bounds are half + loss and linear - half. All are 0 if more
            than ``most_changes`` rows had to catch up, of which some are left.
        """
        n_instances = len(self.places)
        require(len(self.K) == n_instances, "an SVM needs the whole matrix")
        require_array("labels", labels, 1, np.int8)
        require_array("coef", coef, 1, np.float64, writeable=True)
        require_array("f", f, 1, np.float64, writeable=True)
        fitting = len(labels) == len(coef) == len(f) == n_instances
        require(fitting, "labels, coef and f need one entry per instance")
        require_visits(None, (cap, ridge, curvature, alpha), order, n_instances)
        require_labels("labels", labels)
        dual, shuffled, random = (cap, ridge, curvature, alpha), order.copy(), random_numbers(seed)
        n_changed, n_epochs = 0, 0

        def margin_of(i: int) -> float:
            return float(labels[i] * f[i])

        def add(i: int, step: float) -> None:
            f[:] += step * (self.K[i].astype(np.float64) + bias * bias)

        def move(i: int, change: float) -> None:
            nonlocal n_changed
            n_changed += 1
            coef[i] = alpha[i] * labels[i]
            add(i, change * labels[i])

        steps = alpha * labels - coef
        behind = np.flatnonzero(steps)
        for i in behind[:most_changes]:
            add(i, steps[i])
            coef[i] = alpha[i] * labels[i]
        if len(behind) > most_changes:
            return 0.0, 0.0, 0.0, 0.0, 0, 0, False
        while True:
            violation, loss, _ = sweep(order, dual, margin_of, move, np.inf)  # a look: none moves
            half = 0.5 * float(coef @ f)
            linear = float(np.sum(alpha - 0.5 * ridge * alpha * alpha))
            upper, lower = half + loss, linear - half
            solved = violation <= goal or upper - lower <= tol * abs(upper)
            if solved or n_epochs >= most_epochs or n_changed >= most_changes:
                return violation, loss, half, linear, n_changed, n_epochs, solved
            shuffle(shuffled, random)
            sweep(shuffled, dual, margin_of, move, patience * violation, lambda i: n_changed < most_changes)
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


def gram(K: np.ndarray, places: np.ndarray | None = None) -> Gram:
    """A square kernel matrix, or some of its rows."""
    require_array("K", K, 2, *REALS)
    if places is None:
        require(K.shape[0] == K.shape[1], "K must be square")
    else:
        require_array("places", places, 1, np.int64)
        require(len(places) == K.shape[1], "places needs one entry per column of K")
    return Gram(K, places)
