"""Kernel geometry: a Gram matrix in memory, and the margins of all rows kept up to date.

Coordinate descent keeps ``margins[i] = sum_t mu_t psi_t(i)' u_t``. They depend on mu, so a change of mu costs one
product ``K [c_1 ... c_T]`` with ``c_t = spread(alpha, y_t)``; therefore several epochs are made for each mu.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.geometry.base import Candidate, Losses, Sweep
from wellsvm.labels.base import LabelSet
from wellsvm.native import make_gram, slices

__all__ = ["GramDescent", "GramGeometry"]

# Epochs between two looks at mu: on a Gram matrix an epoch that moves few rows is cheap, a new mu is not.
EPOCHS_PER_MU = 10
# A row waits while its projected gradient is below this share of the largest one seen in the last epoch.
PATIENCE = 0.1


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
        self.n_instances = K.shape[0]
        self.gram = make_gram(K)
        self.diagonal: FloatArray = K.diagonal().astype(np.float64) + self.bias**2

    def matmat(self, coef: FloatArray) -> FloatArray:
        """``(K + bias^2) @ coef``, in blocks that keep interrupts short.

        Where most coefficients are zero only their rows of K are read; K is symmetric, and its rows lie together.
        """
        used = np.flatnonzero(np.any(coef != 0, axis=1))
        Z = np.zeros((self.n_instances, coef.shape[1]))
        if 2 * used.size < self.n_instances:
            for begin, end in slices(used.size, self.n_instances * coef.shape[1]):
                Z += self.K[used[begin:end]].T @ coef[used[begin:end]]
        else:
            for begin, end in slices(self.n_instances, self.n_instances * coef.shape[1]):
                Z[begin:end] = self.K[begin:end] @ coef
        Z += self.bias**2 * coef.sum(axis=0)
        return Z

    def descent(self, label_set: LabelSet, losses: Losses, alpha: FloatArray | None = None) -> GramDescent:
        """A coordinate descent, started at ``alpha`` (zeros if None)."""
        return GramDescent(self, label_set, losses, alpha)


class GramDescent:
    """The state of coordinate descent: alpha, and the products ``Z[:, t] = K c_t`` at the alpha last asked for."""

    def __init__(self, geometry: GramGeometry, label_set: LabelSet, losses: Losses, alpha: FloatArray | None) -> None:
        self.geometry, self.label_set, self.losses = geometry, label_set, losses
        self.alpha = np.zeros(label_set.n_rows) if alpha is None else np.minimum(alpha, losses.cap)
        self.labels: list[LabelArray] = []
        self._Z, self._alpha_of_Z = np.empty((geometry.n_instances, 0)), self.alpha.copy()

    def _set_labels(self, labels: list[LabelArray], Z: FloatArray) -> None:
        self.labels = labels
        self._Z = Z
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

    def _coefficients(self, alpha: FloatArray) -> FloatArray:
        return np.stack([self.label_set.spread(alpha, y) for y in self.labels], axis=1)

    def _products(self) -> FloatArray:
        """``Z``, brought up to date: only the rows whose alpha has moved cost anything."""
        change = self.alpha - self._alpha_of_Z
        if self.labels and np.any(change):
            self._Z += self.geometry.matmat(self._coefficients(change))
        self._alpha_of_Z[:] = self.alpha
        return self._Z

    def descend(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> Sweep:
        """Epochs over ``rows`` until the violation is at most ``goal`` or it is time for a new mu."""
        geometry, label_set, losses = self.geometry, self.label_set, self.losses
        curvature = label_set.curvature(geometry.diagonal, self.columns, mu) + losses.ridge
        margins = self.margins(mu)
        threshold = 0.0
        n_epochs, violation = 0, np.inf
        while n_epochs < EPOCHS_PER_MU and violation > goal:
            n_epochs += 1
            order = rng.permutation(rows)
            violation, loss = 0.0, 0.0
            for begin, end in slices(order.size, geometry.n_instances):
                worst, total, _ = geometry.gram.descend(
                    label_set.starts, label_set.row_of, losses.cap, losses.ridge, curvature, self.alpha,
                    self.pattern_of, self.patterns, mu, margins, geometry.bias, threshold, order[begin:end],
                )  # fmt: skip
                violation, loss = max(violation, worst), loss + total
            threshold = PATIENCE * violation
        return Sweep(violation, loss, n_epochs)

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        return np.asarray(np.einsum("jt,jt->t", self._coefficients(self.alpha), self._products()))

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row."""
        signed = np.einsum("jt,jt,t->j", self._products(), self.columns, mu)
        starts = self.label_set.starts
        return signed if starts is None else np.add.reduceat(signed, starts[:-1])

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance."""
        return self._products() @ mu

    def dual_coef(self, mu: FloatArray) -> FloatArray:
        """Coefficients of the instances in ``f = sum_t mu_t u_t``."""
        return self._coefficients(self.alpha) @ mu
