"""Kernel geometry: a Gram matrix in memory, and the margins of all rows kept up to date.

Coordinate descent keeps what every instance adds to the margin of its row, ``sum_t mu_t y_tj (K c_t)_j`` with
``c_t = spread(alpha, y_t)``. That depends on mu, so a change of mu costs one product ``K [c_1 ... c_T]``; therefore
several epochs are made for each mu and, where they do not suffice, a Newton step on the free rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.geometry.base import Candidate, Losses, Sweep, mixed_lengths
from wellsvm.geometry.newton import SlackSystem, best_step
from wellsvm.labels.base import LabelSet
from wellsvm.native import make_gram, slices

__all__ = ["GramDescent", "GramGeometry"]

# Epochs between two looks at mu: on a Gram matrix an epoch that moves few rows is cheap, a new mu is not.
EPOCHS_PER_MU = 10
# A row waits while its projected gradient is below this share of the largest one seen in the last epoch.
PATIENCE = 0.1
# Newton's method takes over once the epochs at one goal have cost as much as it would, in multiply-adds: about this
# share of the cube of its rows, for a few steps of dense algebra. Its matrix takes the square of its rows in memory.
NEWTON_COST, MOST_NEWTON_ROWS, MOST_NEWTON_STEPS = 1 / 6, 4000, 30
# Largest error of a margin at the end of a Newton step: this share of the violation asked for, within these bounds.
NEWTON_SHARE, LEAST_ERROR, MOST_ERROR = 0.01, 1e-12, 1e-6


class GramGeometry:
    """Instances given by their kernel matrix ``K + bias^2``.

    Parameters
    ----------
    K : array of shape (n_instances, n_instances)
        Symmetric positive semidefinite, float32 or float64, C-contiguous; kept as given.
    bias : float, default=0.0
        Value of the constant feature that stands for the intercept.
    """

    def __init__(self, K: np.ndarray, bias: float = 0.0) -> None:
        self.K, self.bias = K, float(bias)
        self.n_instances, self.dtype = K.shape[0], K.dtype
        self.gram = make_gram(K)
        self.diagonal: FloatArray = K.diagonal().astype(np.float64) + self.bias**2
        self.max_block = self.n_instances  # side of the largest matrix that `block` may be asked for

    def matmat(self, coef: FloatArray) -> FloatArray:
        """``(K + bias^2) @ coef``, in blocks that keep interrupts short.

        Only rows of K with a coefficient are read. The columns of the result are contiguous.
        """
        used = self.in_good_order(np.flatnonzero(np.any(coef != 0, axis=1)))
        used_coef = np.ascontiguousarray(coef[used].T)
        Z = np.repeat(self.bias**2 * used_coef.sum(axis=1), self.n_instances).reshape(-1, self.n_instances)
        for begin, end in self.portions(used.size, self.n_instances * coef.shape[1]):
            with self.at_hand(used[begin:end]):
                self.gram.combine(used[begin:end], np.ascontiguousarray(used_coef[:, begin:end]), Z)
        return Z.T

    def at_hand(self, instances: IntArray) -> AbstractContextManager[None]:
        """Have the rows of some instances ready for the loops: all of them are."""
        return nullcontext()

    def portions(self, n: int, work_per_row: float) -> Iterator[tuple[int, int]]:
        """Cut ``n`` rows into pieces for one call each."""
        return slices(n, work_per_row)

    def in_good_order(self, instances: IntArray) -> IntArray:
        """The order to ask for rows in: any."""
        return instances

    def block(self, instances: IntArray) -> np.ndarray:
        """Kernel values between some instances."""
        return self.K[np.ix_(instances, instances)]

    def part(self, rows: IntArray) -> GramGeometry:
        """The geometry of some instances."""
        return GramGeometry(self.block(rows), self.bias)

    def averaged(self, starts: IntArray) -> GramGeometry:
        """The geometry of the means of groups of instances, group i from ``starts[i]`` on, in the kernel's space."""
        K = means_of_groups(means_of_groups(self.K, starts, axis=0), starts, axis=1)
        return GramGeometry(K, self.bias)

    def descent(self, label_set: LabelSet, losses: Losses, alpha: FloatArray | None = None) -> GramDescent:
        """A coordinate descent, started at ``alpha`` (zeros if None)."""
        return GramDescent(self, label_set, losses, alpha)


def means_of_groups(K: np.ndarray, starts: IntArray, axis: int) -> np.ndarray:
    """Means of groups along an axis. Most groups hold one instance, and for those np.add.reduceat crawls."""
    means = K.take(starts[:-1], axis)
    for i in np.flatnonzero(np.diff(starts) > 1):
        group = K.take(range(starts[i], starts[i + 1]), axis)
        np.moveaxis(means, axis, 0)[i] = group.mean(axis)
    return means


class Visit(NamedTuple):
    """What stays the same for the rows that an epoch visits."""

    mu: FloatArray
    curvature: FloatArray
    threshold: float


class GramDescent:
    """The state of coordinate descent: alpha; the products ``Z[:, t] = K c_t`` at the alpha they were last asked for;
    what every instance adds to the margin of its row, at the present alpha and the mu last descended for."""

    def __init__(self, geometry: GramGeometry, label_set: LabelSet, losses: Losses, alpha: FloatArray | None) -> None:
        self.geometry, self.label_set, self.losses = geometry, label_set, losses
        self.alpha = np.zeros(label_set.n_rows) if alpha is None else np.minimum(alpha, losses.cap)
        self.labels: list[LabelArray] = []
        self._Z, self._alpha_of_Z = np.empty((geometry.n_instances, 0)), self.alpha.copy()
        self._signed, self._mu_of_signed = np.empty(0), np.empty(0)
        self._spent: float = 0  # multiply-adds of the epochs since the SVM was last solved

    def _set_labels(self, labels: list[LabelArray], Z: FloatArray) -> None:
        self.labels = labels
        self.lengths = [self.label_set.squared_lengths(self.geometry.diagonal, y) for y in labels]
        self._Z, self._mu_of_signed = Z, np.empty(0)
        if labels:
            self.columns = np.ascontiguousarray(np.stack(labels, axis=1))
            # Instances with the same labels in all T vectors share a pattern. np.unique sorts whole rows when it sees
            # each as one opaque item, which is far faster than by column.
            items = self.columns.view(np.dtype((np.void, self.columns.shape[1]))).ravel()
            _, first, pattern_of = np.unique(items, return_index=True, return_inverse=True)
            self.patterns = np.ascontiguousarray(self.columns[first].T)
            self.pattern_of = pattern_of.ravel().astype(np.int32)

    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector: one product with K."""
        coef = self.label_set.spread(self.alpha, y)
        image = self.geometry.matmat(coef[:, None])[:, 0]
        return Candidate(y, float(coef @ image), image)

    def active(self, t: int) -> Candidate:
        """Look at label vector t: its product with K is at hand."""
        image = np.ascontiguousarray(self._products()[:, t])
        return Candidate(self.labels[t], float(self.label_set.spread(self.alpha, self.labels[t]) @ image), image)

    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance."""
        return candidate.image

    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""
        self._set_labels([*self.labels, candidate.y], np.column_stack([self._products(), candidate.image]))

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""
        Z = np.ascontiguousarray(self._products()[:, chosen])
        self._set_labels([self.labels[t] for t in chosen], Z)

    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector; what did not change costs nothing."""
        Z = self._products()
        change = self.label_set.spread(self.alpha, y) - self.label_set.spread(self.alpha, self.labels[0])
        self._set_labels([y], Z + self.geometry.matmat(change[:, None]))

    def _coefficients(self, alpha: FloatArray) -> FloatArray:
        return np.stack([self.label_set.spread(alpha, y) for y in self.labels], axis=1)

    def _products(self) -> FloatArray:
        """``Z``, brought up to date: only the rows whose alpha has moved cost anything, and with one label vector that
        labels every instance nothing does: the scores are the margins, but for the sign."""
        change = self.alpha - self._alpha_of_Z
        if self.labels and np.any(change):
            if self._mu_of_signed.size == 1 and np.all(self.columns):
                self._Z = (self._signed / self._mu_of_signed)[:, None] * self.columns
            else:
                self._Z += self._product_of(change)
        self._alpha_of_Z[:] = self.alpha
        return self._Z

    def _product_of(self, change: FloatArray) -> FloatArray:
        """``K [c_1 ... c_T]`` of dual variables; label vectors much alike differ from the first in few rows."""
        coef = self._coefficients(change)
        rest = coef[:, 1:] - coef[:, :1]
        if 2 * np.count_nonzero(rest) >= np.count_nonzero(coef[:, 1:]):
            return self.geometry.matmat(coef)
        first = self.geometry.matmat(coef[:, :1])
        return np.hstack([first, first + self.geometry.matmat(rest)])

    def descend(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> Sweep:
        """Epochs over ``rows`` until the violation is at most ``goal`` or it is time for a new mu."""
        geometry, losses = self.geometry, self.losses
        curvature = mixed_lengths(self.lengths, mu) + losses.ridge
        self._signed_scores(mu)
        threshold = 0.0
        n_epochs, violation = 0, np.inf
        while n_epochs < EPOCHS_PER_MU and violation > goal:
            n_epochs += 1
            order = rng.permutation(rows)
            violation, loss = 0.0, 0.0
            for begin, end in geometry.portions(order.size, geometry.n_instances):
                worst, total, n_moved = self._visit(Visit(mu, curvature, threshold), order[begin:end])
                violation, loss = max(violation, worst), loss + total
                self._spent += n_moved * geometry.n_instances
            threshold = PATIENCE * violation
        if violation <= goal:
            self._spent = 0
        elif self._newton_is_due(mu, rows):
            if self._solve_by_newton(mu, rows, goal):
                violation, self._spent = 0.0, 0
            else:
                self._spent = -np.inf  # not a second time
            loss = losses.total(self.margins(mu), rows)
        return Sweep(violation, loss, n_epochs)

    def _visit(self, visit: Visit, rows: IntArray) -> tuple[float, float, int]:
        """Visit some rows in turn: the largest projected gradient, their losses, and how many moved."""
        mu, curvature, threshold = visit
        report: tuple[float, float, int] = self.geometry.gram.descend(
            self.label_set.starts, self.losses.cap, self.losses.ridge, curvature, self.alpha, self.pattern_of,
            self.patterns, mu, self._signed, self.geometry.bias, threshold, rows,
        )  # fmt: skip
        return report

    def _newton_is_due(self, mu: FloatArray, rows: IntArray) -> bool:
        """Whether the epochs since the SVM was last solved have cost as much as Newton's method would."""
        n_slack = int(np.count_nonzero(self.margins(mu)[rows] < 1))
        most = min(MOST_NEWTON_ROWS, self.geometry.max_block)
        affordable = n_slack <= most and self._spent >= NEWTON_COST * n_slack**3
        return affordable and bool(np.all(self.losses.ridge[rows] > 0))

    def _solve_by_newton(self, mu: FloatArray, rows: IntArray, goal: float) -> bool:
        """Solve the SVM of squared hinge loss at ``mu``; False where that was given up."""
        exact = min(max(NEWTON_SHARE * goal, LEAST_ERROR), MOST_ERROR)
        ridge, Z, dtype = self.losses.ridge[rows], self._products(), self.geometry.dtype
        alpha_before, Z_before = self.alpha.copy(), Z.copy()
        margins = self.margins(mu)[rows]
        slack, solved = margins < 1, False
        for _ in range(MOST_NEWTON_STEPS):
            system = self._slack_system(mu, rows[slack], dtype)
            if system is None:
                break
            target = self.alpha.copy()
            target[rows] = 0.0
            target[rows[slack]] = system.solve(np.ones(int(np.count_nonzero(slack))))
            Z_target = self.geometry.matmat(self._coefficients(target))
            error = self._refine(system, mu, rows[slack], target, Z_target, exact)
            if not error <= exact and dtype != np.float64:
                dtype = np.dtype(np.float64)
                continue
            if not error <= MOST_ERROR:
                break
            target_margins = self._margins_at(Z_target, mu)[rows]
            solved = np.array_equal(target_margins < 1, slack)  # the target is where it was computed for
            if solved:
                self.alpha[:], Z[:] = target, Z_target
                break
            coef, Z_change = self._coefficients(target - self.alpha), Z_target - Z
            slope, curvature = (float(np.einsum("jt,jt,t->", coef, products, mu)) for products in (Z, Z_change))
            s = best_step(slope, curvature, margins, target_margins - margins, ridge)
            self.alpha += s * (target - self.alpha)
            Z += s * Z_change
            margins += s * (target_margins - margins)
            slack = margins < 1
        if not solved:  # on the way alpha may be negative: nothing to go on from
            self.alpha[:], Z[:] = alpha_before, Z_before
        self._alpha_of_Z[:] = self.alpha
        self.alpha[rows] = np.maximum(self.alpha[rows], 0.0)
        self._mu_of_signed = np.empty(0)
        return solved

    def _slack_system(self, mu: FloatArray, rows: IntArray, dtype: np.dtype) -> SlackSystem | None:
        """The system of the rows with slack, in double precision where single does not do; None where neither does."""
        for precision in dict.fromkeys((dtype, np.dtype(np.float64))):
            try:
                return SlackSystem(self._mixed_kernel(mu, rows, precision), self.losses.ridge[rows])
            except LinAlgError:
                continue
        return None

    def _refine(
        self, system: SlackSystem, mu: FloatArray, rows: IntArray, alpha: FloatArray, Z: FloatArray, exact: float
    ) -> float:
        """Solve for what is left of the error of the margins, in place, down to ``exact`` or while it falls."""
        last = np.inf
        while True:
            left = 1.0 - self._margins_at(Z, mu)[rows] - self.losses.ridge[rows] * alpha[rows]
            error = float(np.max(np.abs(left), initial=0.0))
            if error <= exact or not error <= last / 2:  # or it is NaN
                return error
            last, change = error, np.zeros_like(alpha)
            change[rows] = system.solve(left)
            alpha += change
            Z += self.geometry.matmat(self._coefficients(change))

    def _mixed_kernel(self, mu: FloatArray, rows: IntArray, dtype: np.dtype) -> np.ndarray:
        """``sum_t mu_t psi_t(i)' psi_t(k)`` of the given rows."""
        instances = self.label_set.instances_of(rows)
        instances = instances[np.any(self.columns[instances], axis=1)]
        signs = (self.columns[instances] * np.sqrt(mu)).astype(dtype)
        Q = self.geometry.block(instances).astype(dtype, copy=False)
        Q += dtype.type(self.geometry.bias**2)
        Q *= signs @ signs.T
        if instances.size > rows.size:  # rows of several instances
            first = np.flatnonzero(np.diff(self.label_set.row_of[instances], prepend=-1))
            Q = np.add.reduceat(np.add.reduceat(Q, first, axis=0), first, axis=1)
        return Q

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        if len(self.labels) == 1 and self._mu_of_signed.size:  # no product with K needed
            return np.array([self.alpha @ self.label_set.sum_rows(self._signed)])
        return np.asarray(np.einsum("jt,jt->t", self._coefficients(self.alpha), self._products()))

    def _signed_scores(self, mu: FloatArray) -> FloatArray:
        """What every instance adds to the margin of its row; `descend` keeps it up to date."""
        if not np.array_equal(mu, self._mu_of_signed):
            self._signed = self._signed_at(self._products(), mu)
            self._mu_of_signed = mu.copy()
        return self._signed

    def _signed_at(self, Z: FloatArray, mu: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("jt,jt,t->j", Z, self.columns, mu))

    def _margins_at(self, Z: FloatArray, mu: FloatArray) -> FloatArray:
        return self.label_set.sum_rows(self._signed_at(Z, mu))

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row."""
        return self.label_set.sum_rows(self._signed_scores(mu))

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance."""
        return self._products() @ mu

    def dual_coef(self, mu: FloatArray) -> FloatArray:
        """Coefficients of the instances in ``f = sum_t mu_t u_t``."""
        return self._coefficients(self.alpha) @ mu
