"""Linear geometry: dense or CSR rows, and the T weight vectors ``u_t`` interleaved as ``U[feature, t]``.

One pass over a row serves all T label vectors. The intercept is a constant feature of value ``bias``, regularised
like the others (LIBLINEAR's way): the last row of U.

Most rows rest at a bound of their dual variable. So the margins of all rows are computed in one sequential pass, and
coordinate descent visits only the rows that this pass found free or in violation: a working set, tested anew each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse

from wellsvm._threads import run
from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.geometry.base import Candidate, Losses, Sweep, mixed_lengths
from wellsvm.labels.base import LabelSet
from wellsvm.native import make_rows, slices

__all__ = ["LinearDescent", "LinearGeometry"]


# Epochs over the working set end when they have visited this many times as many rows as there are: a visit in random
# order costs a few times one in a pass over all rows, which comes next. Where rows are few and short, and the looking
# at mu that follows costs more than either, as many multiply-adds as this are added; and never more epochs than these.
VISITS_PER_PASS, CHEAP_EPOCHS, MOST_EPOCHS = 0.5, 300_000, 10
# Multiply-adds of a pass from which threads pay, and how much smaller its pieces then are, so that all have some.
LEAST_WORK_FOR_THREADS, MORE_PIECES = 1_000_000, 20


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

    Attributes
    ----------
    n_jobs : int or None
        Threads of the passes over all rows; they change no bit of the result.
    """

    n_jobs: int | None = None

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
        self.pass_over(lambda begin, end: self.rows.scores(U, self.bias, begin, end, Z[begin:end]), U.shape[1])
        return Z

    def pass_over(self, look_at: Callable[[int, int], None], width: int) -> None:
        """Call ``look_at(begin, end)`` for pieces of all rows; each looks at its rows with ``width`` label vectors."""
        work = self.entries_per_row * width
        if self.n_jobs is None or self.n_jobs == 1 or self.n_instances * work < LEAST_WORK_FOR_THREADS:
            for begin, end in slices(self.n_instances, work):
                look_at(begin, end)
        else:
            run([partial(look_at, *piece) for piece in slices(self.n_instances, MORE_PIECES * work)], self.n_jobs)

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

    def _forget_margins(self) -> None:
        """To be called whenever alpha or the labels change."""
        self._margins, self._mu_of_margins = np.empty(0), np.empty(0)
        self._working: tuple[IntArray | None, IntArray] = None, np.empty(0, dtype=np.intp)  # of these rows, those

    def _lay_out(self, U: FloatArray) -> None:
        """Put labels and weights side by side, padded to a width the kernels have a loop for."""
        self._forget_margins()
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
        self._forget_margins()
        if padded_width(T + 1) == self.U.shape[1]:
            self.U[:, T], self.columns[:, T] = candidate.image, candidate.y
        else:
            self._lay_out(np.hstack([self.U[:, :T], candidate.image[:, None]]))

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""
        self.labels, self.lengths = [self.labels[t] for t in chosen], [self.lengths[t] for t in chosen]
        self._lay_out(self.U[:, chosen])

    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector; what did not change costs nothing.

        The margins become what they would be if the weights had not moved: good enough for a working set.
        """
        before, self.labels[0] = self.labels[0], y
        change = self.label_set.spread(self.alpha, y) - self.label_set.spread(self.alpha, before)
        self.U[:, 0] += self.geometry.weights(change[:, None])[:, 0]
        self.columns[:, 0] = y
        self.lengths[0] = self.label_set.squared_lengths(self.geometry.diagonal, y)
        guess = self._margins * (y * before) if self._margins.size and self.label_set.starts is None else np.empty(0)
        self._forget_margins()
        self._margins = guess

    def _padded(self, mu: FloatArray) -> FloatArray:
        padded = np.zeros(self.U.shape[1])
        padded[: mu.size] = mu
        return padded

    def descend(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> Sweep:
        """Epochs over the working set in random order until the violation is at most ``goal``; at least one.

        The loss is that of a pass over all rows, whose margins the next working set is made of. Where ``rows`` are few
        they are all visited, and the loss is what was seen on the way.
        """
        geometry, label_set, losses = self.geometry, self.label_set, self.losses
        few = 2 * rows.size < self.alpha.size
        if few:
            working = rows
        elif self._working[0] is rows:  # a step in mu moves the margins too little for another pass to pay
            working = self._working[1]
        else:
            working, _ = self._unsettled(self._margins if self._margins.size else self.margins(mu), rows)
        curvature = mixed_lengths(self.lengths, mu) + losses.ridge
        padded = self._padded(mu)
        work = geometry.entries_per_row * padded.size
        most_visits = VISITS_PER_PASS * self.alpha.size + CHEAP_EPOCHS / (1 + work)
        n_epochs, violation, loss = 0, np.inf, 0.0
        while violation > goal and n_epochs < MOST_EPOCHS and n_epochs * working.size <= most_visits:
            n_epochs += 1
            order = rng.permutation(working)
            violation, loss = 0.0, 0.0
            for begin, end in slices(order.size, work):
                worst, total, _ = geometry.rows.descend(
                    label_set.starts, losses.cap, losses.ridge, curvature, self.alpha,
                    self.columns, padded, self.U, geometry.bias, order[begin:end],
                )  # fmt: skip
                violation, loss = max(violation, worst), loss + total
        self._forget_margins()
        if few:
            return Sweep(violation, loss, n_epochs)
        margins = self.margins(mu)
        working, violation = self._unsettled(margins, rows)
        self._working = rows, working
        return Sweep(violation, losses.total(margins, rows), n_epochs)

    def _unsettled(self, margins: FloatArray, rows: IntArray) -> tuple[IntArray, float]:
        """Of ``rows``, those whose dual variable is free or wants to move, and the largest projected gradient."""
        gradient = 1.0 - margins - self.losses.ridge * self.alpha
        settled = np.where(gradient < 0, self.alpha <= 0, self.alpha >= self.losses.cap)
        working = rows[~settled[rows]] if rows.size < settled.size else np.flatnonzero(~settled)
        return working, float(np.abs(gradient[working]).max(initial=0.0))

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        return np.asarray(np.einsum("kt,kt->t", self.U, self.U)[: len(self.labels)])

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row, in blocks so that no N x T array is made; not to be written to."""
        if np.array_equal(mu, self._mu_of_margins):
            return self._margins
        weighted = self.U * self._padded(mu)
        instance_margins = np.empty(self.geometry.n_instances)

        def look_at(begin: int, end: int) -> None:
            Z = np.empty((end - begin, self.U.shape[1]))
            self.geometry.rows.scores(weighted, self.geometry.bias, begin, end, Z)
            instance_margins[begin:end] = np.einsum("jt,jt->j", Z, self.columns[begin:end])

        self.geometry.pass_over(look_at, self.U.shape[1])
        self._margins, self._mu_of_margins = self.label_set.sum_rows(instance_margins), mu.copy()
        return self._margins

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance; for one label vector they are the margins, but for the sign."""
        if mu.size == 1 and self.label_set.starts is None and np.all(self.labels[0]):
            return self.margins(mu) * self.labels[0]
        return self.geometry.project(self.weights(mu)[:, None])[:, 0]

    def weights(self, mu: FloatArray) -> FloatArray:
        """``w = sum_t mu_t u_t``, the intercept's weight last."""
        return np.ascontiguousarray(self.U[:, : mu.size] @ mu)
