"""Linear geometry: dense or CSR rows, and the T weight vectors ``u_t`` interleaved as ``U[feature, t]``.

One pass over a row serves all T label vectors. The intercept is a constant feature of value ``bias``, regularised
like the others (LIBLINEAR's way): the last row of U.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.geometry.base import Candidate, Losses, Sweep, mixed_lengths
from wellsvm.labels.base import LabelSet
from wellsvm.native import make_rows, slices

__all__ = ["LinearDescent", "LinearGeometry"]


# Epochs made before mu is looked at again: about as many as cost this many multiply-adds, at most ten.
CHEAP_EPOCHS, MOST_EPOCHS = 300_000, 10


def padded_width(n_labels: int) -> int:
    """Columns of U and of the labels: a power of two up to 16 (these have compiled loops), then multiples of 8."""
    return 1 << (n_labels - 1).bit_length() if n_labels <= 16 else -(-n_labels // 8) * 8


class LinearGeometry:
    """Rows of X under the linear kernel ``x'z + bias^2``.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_instances, n_features)
        float32 or float64, C-contiguous; kept as given, never copied.
    bias : float, default=0.0
        Value of the constant feature.
    """

    def __init__(self, X: Matrix, bias: float = 0.0) -> None:
        self.n_instances, self.n_features = X.shape
        self.bias = float(bias)
        self.rows = make_rows(X)
        self.entries_per_row = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
        self.diagonal: FloatArray = np.empty(self.n_instances)
        for begin, end in slices(self.n_instances, self.entries_per_row):
            self.rows.squared_norms(begin, end, self.diagonal[begin:end])
        bad = np.flatnonzero(~np.isfinite(self.diagonal))
        if bad.size:
            raise ValueError(
                f"the squared norm of row {bad[0]} of X overflows; scale the features down "
                "(for instance with sklearn.preprocessing.MaxAbsScaler)"
            )
        self.diagonal += self.bias**2

    def weights(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j [x_j; bias]``, of shape (n_features + 1, coef.shape[1])."""
        U = np.zeros((self.n_features + 1, coef.shape[1]))
        for begin, end in slices(self.n_instances, self.entries_per_row * coef.shape[1]):
            self.rows.combine(coef[begin:end], self.bias, begin, end, U)
        return U

    def project(self, U: FloatArray) -> FloatArray:
        """``[x_j, bias] U`` of every instance, of shape (n_instances, U.shape[1])."""
        Z = np.empty((self.n_instances, U.shape[1]))
        for begin, end in slices(self.n_instances, self.entries_per_row * U.shape[1]):
            self.rows.scores(U, self.bias, begin, end, Z[begin:end])
        return Z

    def descent(self, label_set: LabelSet, losses: Losses, alpha: FloatArray | None = None) -> LinearDescent:
        """A coordinate descent, started at ``alpha`` (zeros if None)."""
        return LinearDescent(self, label_set, losses, alpha)


class LinearDescent:
    """The state of coordinate descent: alpha and, always in step with it, ``U[:, t] = u_t``."""

    def __init__(self, geometry: LinearGeometry, label_set: LabelSet, losses: Losses, alpha: FloatArray | None) -> None:
        self.geometry, self.label_set, self.losses = geometry, label_set, losses
        self.alpha = np.zeros(label_set.n_rows) if alpha is None else np.minimum(alpha, losses.cap)
        self.labels: list[LabelArray] = []
        self.lengths: list[FloatArray] = []
        self._lay_out(np.empty((geometry.n_features + 1, 0)))

    def _lay_out(self, U: FloatArray) -> None:
        """Put labels and weights side by side, padded to a width the kernels have a loop for."""
        width = padded_width(max(1, len(self.labels)))
        self.U = np.zeros((U.shape[0], width))
        self.U[:, : U.shape[1]] = U
        self.columns: LabelArray = np.zeros((self.geometry.n_instances, width), dtype=np.int8)
        for t, y in enumerate(self.labels):
            self.columns[:, t] = y

    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector: one pass over the data."""
        u = self.geometry.weights(self.label_set.spread(self.alpha, y)[:, None])[:, 0]
        return Candidate(y, float(u @ u), u)

    def active(self, t: int) -> Candidate:
        """Look at label vector t: its weights are at hand."""
        u = np.ascontiguousarray(self.U[:, t])
        return Candidate(self.labels[t], float(u @ u), u)

    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance: one pass over the data."""
        return self.geometry.project(candidate.image[:, None])[:, 0]

    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""
        T = len(self.labels)
        self.labels.append(candidate.y)
        self.lengths.append(self.label_set.squared_lengths(self.geometry.diagonal, candidate.y))
        if padded_width(T + 1) == self.U.shape[1]:
            self.U[:, T], self.columns[:, T] = candidate.image, candidate.y
        else:
            self._lay_out(np.hstack([self.U[:, :T], candidate.image[:, None]]))

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""
        self.labels, self.lengths = [self.labels[t] for t in chosen], [self.lengths[t] for t in chosen]
        self._lay_out(self.U[:, chosen])

    def _padded(self, mu: FloatArray) -> FloatArray:
        padded = np.zeros(self.U.shape[1])
        padded[: mu.size] = mu
        return padded

    def descend(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> Sweep:
        """Epochs over ``rows`` in random order until the violation is at most ``goal``.

        U does not depend on mu, so mu may change after each epoch; only where an epoch costs less than the looking at
        mu that follows it, several are made.
        """
        geometry, label_set = self.geometry, self.label_set
        curvature = mixed_lengths(self.lengths, mu) + self.losses.ridge
        mu = self._padded(mu)
        work = geometry.entries_per_row * mu.size
        most = 1 + int(CHEAP_EPOCHS / (1 + rows.size * work))
        n_epochs, violation = 0, np.inf
        while n_epochs < min(most, MOST_EPOCHS) and violation > goal:
            n_epochs += 1
            order = rng.permutation(rows)
            violation, loss = 0.0, 0.0
            for begin, end in slices(order.size, work):
                worst, total, _ = geometry.rows.descend(
                    label_set.starts, self.losses.cap, self.losses.ridge, curvature, self.alpha,
                    self.columns, mu, self.U, geometry.bias, order[begin:end],
                )  # fmt: skip
                violation, loss = max(violation, worst), loss + total
        return Sweep(violation, loss, n_epochs)

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        return np.asarray(np.einsum("kt,kt->t", self.U, self.U)[: len(self.labels)])

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row, in blocks so that no N x T array is made."""
        weighted = self.U * self._padded(mu)
        instance_margins = np.empty(self.geometry.n_instances)
        for begin, end in slices(self.geometry.n_instances, self.geometry.entries_per_row * self.U.shape[1]):
            Z = np.empty((end - begin, self.U.shape[1]))
            self.geometry.rows.scores(weighted, self.geometry.bias, begin, end, Z)
            instance_margins[begin:end] = np.einsum("jt,jt->j", Z, self.columns[begin:end])
        return self.label_set.sum_rows(instance_margins)

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance."""
        return self.geometry.project(self.weights(mu)[:, None])[:, 0]

    def weights(self, mu: FloatArray) -> FloatArray:
        """``w = sum_t mu_t u_t``, the intercept's weight last."""
        return np.ascontiguousarray(self.U[:, : mu.size] @ mu)
