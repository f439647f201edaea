"""Coordinate descent on linear rows: the T weight vectors ``u_t`` are kept, interleaved as ``U[feature, t]``.

    max over 0 <= alpha <= cap of  sum_i alpha_i - 1/2 sum_t mu_t || u_t ||^2 - 1/2 sum_i ridge_i alpha_i^2

With ``U`` at hand the best alpha_i with all others fixed is a clipped Newton step (Hsieh et al. 2008, for T = 1).
Most rows rest at a bound of their dual variable. So the margins of all rows are computed in one sequential pass, and
coordinate descent visits only the rows that this pass found free or in violation: a working set, tested anew each time.
Dense rows go to Newton's method (dense_newton.py) where this takes many epochs, as for correlated columns; at once
where columns are of very different scale or far from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.losses import Losses, pieces
from wellsvm.rows.base import instances_of
from wellsvm.rows.linear import Dual, LinearRows
from wellsvm.solver.dense_newton import DenseNewton, Outcome
from wellsvm.solver.master import Candidate, State, Sweep, begin
from wellsvm.threads import slices

__all__ = ["LinearState"]


def padded_width(n_labels: int) -> int:
    """Columns of U and of the labels: a power of two up to 16 (these have compiled loops), then multiples of 8."""
    return 1 << (n_labels - 1).bit_length() if n_labels <= 16 else -(-n_labels // 8) * 8


class LinearState(State):
    """alpha and, always in step with it, ``U[:, t] = u_t``."""

    rows: LinearRows
    _moving = (*State._moving, "U", "columns", "_margins", "_mu_of_margins", "_working")

    def __init__(self, rows: LinearRows, *problem: Any, **how: Any) -> None:
        super().__init__(rows, *problem, **how)
        self._lay_out(np.empty((rows.n_features + 1, 0)))
        self._newton: tuple[IntArray, DenseNewton] | None = None  # of these rows
        self.gave_up = False
        self._visits, self._last_goal = 0, np.inf  # of coordinate descent to the present labels

    def _forget_margins(self) -> None:
        """To be called whenever alpha or the labels change."""
        self._margins, self._mu_of_margins = np.empty(0), np.empty(0)
        self._working: tuple[IntArray | None, IntArray] | None = None  # of these rows, those

    def _lay_out(self, U: FloatArray) -> None:
        """Put labels and weights side by side, padded to a width the kernels have a loop for."""
        self._forget_margins()
        width = padded_width(max(1, len(self.labels)))
        self.U = np.zeros((U.shape[0], width))
        self.U[:, : U.shape[1]] = U
        self._fill_columns(width)

    def _fill_columns(self, width: int) -> None:
        """The labels, side by side; a single label vector is its own column."""
        if width == len(self.labels) == 1:
            self.columns: LabelArray = np.ascontiguousarray(self.labels[0], dtype=np.int8)[:, None]
            return
        self.columns = np.zeros((self.rows.n_instances, width), dtype=np.int8)
        for t, y in enumerate(self.labels):
            self.columns[:, t] = y

    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector: one pass over the data."""
        u = self.rows.combine(self.spread(self.alpha, y)[:, None])[:, 0]
        return Candidate(y, float(u @ u), u)

    def candidates(self, labels: Sequence[LabelArray]) -> list[Candidate]:
        """Look at several label vectors; in one pass where passes over the data are what costs."""
        if self.rows.in_memory or not labels:
            return super().candidates(labels)
        U = self.rows.combine(np.stack([self.spread(self.alpha, y) for y in labels], axis=1))
        images = [np.ascontiguousarray(u) for u in U.T]
        return [Candidate(y, float(u @ u), u) for y, u in zip(labels, images)]

    def active(self, t: int) -> Candidate:
        """Look at label vector t: its weights are at hand."""
        u = np.ascontiguousarray(self.U[:, t])
        return Candidate(self.labels[t], float(u @ u), u)

    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance: one pass over the data."""
        return self.rows.scores(candidate.image[:, None])[:, 0]

    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""
        T, self._visits = len(self.labels), 0
        self.labels.append(candidate.y)
        self.lengths.append(self.squared_lengths(candidate.y))
        self._forget_margins()
        if padded_width(T + 1) == self.U.shape[1]:
            self.U[:, T] = candidate.image
            self._fill_columns(self.U.shape[1])
        else:
            self._lay_out(np.hstack([self.U[:, :T], candidate.image[:, None]]))

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""
        self.labels, self.lengths = [self.labels[t] for t in chosen], [self.lengths[t] for t in chosen]
        self._lay_out(self.U[:, chosen])

    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector, or take it as the first; what did not change costs nothing.

        The margins become what they would be if the weights had not moved: good enough for a working set.
        """
        if not self.labels:
            self.add(self.candidate(y))
            return
        before, self.labels[0], self._visits = self.labels[0], y, 0
        self.U[:, 0] += self.rows.combine(self.spread(self.alpha, y - before)[:, None])[:, 0]
        self._fill_columns(self.U.shape[1])
        self.lengths[0] = self.squared_lengths(y)
        guess = self._margins * (y * before) if self._margins.size and self.label_set.starts is None else np.empty(0)
        self._forget_margins()
        self._margins = guess

    def rest(self) -> None:
        """Margins cost 8 bytes a row; where rows do not fit into memory that counts more than a pass to have them."""
        if not self.rows.in_memory:
            self._forget_margins()

    def retire(self) -> None:
        """Weights are at hand; dual variables of rows that do not fit into memory go, too."""
        self.rest()
        if not self.rows.in_memory:
            self.alpha, self.columns = np.empty(0), np.empty((0, self.U.shape[1]), dtype=np.int8)

    def saved(self) -> dict[str, Any]:
        """As of any state, but what can be had again."""
        self.rest()
        return super().saved()

    def reprice(self, losses: Losses, rise: bool = True) -> None:
        """Go on with other prices: what the dual variables move by is added to the weights at once.

        The margins may stay as they are: where rows are many, good enough for a working set.
        """
        guess = self._margins if self.options.stale_margins else np.empty(0)
        self._forget_margins()
        self._margins = guess
        before, self.alpha, self.losses = self.alpha, self.losses.carried(self.alpha, losses, rise), losses
        change = np.subtract(self.alpha, before, out=before)
        for t, y in enumerate(self.labels):
            self.U[:, t] += self.rows.combine(self.spread(change, y)[:, None])[:, 0]

    def _padded(self, mu: FloatArray) -> FloatArray:
        padded = np.zeros(self.U.shape[1])
        padded[: mu.size] = mu
        return padded

    def squared_lengths(self, y: LabelArray) -> FloatArray:
        """As of any rows; those in blocks keep the norms of the working rows only."""
        if self.rows.in_memory or self.label_set.starts is not None:
            return super().squared_lengths(y)
        return np.empty(0)

    @np.errstate(over="ignore", invalid="ignore")  # the master looks at what comes of it
    def descend(
        self, mu: FloatArray, rows: IntArray | None, rng: np.random.Generator, goal: float, tol: float = 0.0
    ) -> Sweep:
        """Epochs over the working set in random order until the projected gradient is at most ``goal``; at least one.

        The loss is that of a pass over all rows, whose margins the next working set is made of. Where ``rows`` are few
        they are all visited, and the loss is what was seen on the way.
        """
        if goal > self._last_goal:  # another master
            self._visits = 0
        self._last_goal = goal
        if self._newton_is_due(rows, goal) and (sweep := self._descend_by_newton(mu, rows, goal)) is not None:
            return sweep
        losses, options = self.losses, self.options
        if rows is not None and rows.size < options.few_rows * self.alpha.size:
            few, working = True, rows
        elif self._working is not None and self._working[0] is rows:
            # A step in mu moves the margins too little for another pass to pay.
            few, working = False, self._working[1]
        else:
            few, working = False, self._unsettled(self._margins if self._margins.size else self.margins(mu), rows)
        known = self.rows.in_memory or self.label_set.starts is not None
        dual = Dual(self.label_set.starts, *losses, self.curvature(mu) if known else None, self.alpha)
        padded = self._padded(mu)
        work = self.rows.entries_per_row * padded.size
        most_visits = options.visits_per_pass * self.alpha.size + options.cheap_epochs / (1 + work)
        n_epochs, violation, loss = 0, np.inf, 0.0
        while violation > goal and n_epochs < options.most_epochs and n_epochs * working.size <= most_visits:
            n_epochs += 1
            order = rng.permutation(working)
            violation, loss = 0.0, 0.0
            for portion, hand in self._portions(order):
                with hand:
                    for begin_, end in slices(portion.size, work):
                        worst, seen = self.rows.descend(dual, self.columns, padded, self.U, portion[begin_:end])
                        violation, loss = max(violation, worst), loss + seen
        self._visits += n_epochs * working.size
        self._forget_margins()
        if few:
            return Sweep(loss, n_epochs)
        margins = self.margins(mu)
        self._working = rows, self._unsettled(margins, rows)
        return Sweep(losses.total(margins, rows), n_epochs)

    def most_rounds(self) -> float:
        """Few also where rows have long columns."""
        few = self.options.rounds_on_long_columns if self.rows.long_columns else np.inf
        return min(super().most_rounds(), few)

    def _portions(self, order: IntArray) -> Iterable[tuple[IntArray, AbstractContextManager[None]]]:
        """The rows in the order of their visits, as many at a time as can be at hand: all of them in memory."""
        starts = self.label_set.starts
        if self.rows.in_memory or starts is None:
            return self.rows.in_portions(order)
        instances, ends = instances_of(starts, order)
        labeled = self.columns[instances].any(axis=1)  # in any label vector
        return self.rows.in_portions(order, instances[labeled], np.cumsum(labeled, dtype=np.int64)[ends - 1])

    def _newton_is_due(self, rows: IntArray | None, goal: float) -> bool:
        """Whether Newton's method suits these rows, and coordinate descent has had its chance.

        The hinge it rounds off; where a solution is to be nearly exact, coordinate descent has its chance again.
        """
        dense = self.rows.dense and (self.label_set.starts is None or self._is_one_instance_a_row())
        n_rows = self.alpha.size if rows is None else rows.size
        if not dense or self.gave_up or n_rows == 0:
            return False
        n, p = self.rows.n_instances, self.rows.n_features
        if self.rows.steep and n * p * min(n, p) > self.options.svd_work:
            return False
        if not self.rows.can_be_compact:
            return False
        if self.rows.steep or self.rows.widest_spread > self.options.uneven:
            return True
        late = self._visits > self.options.dense_epochs * n_rows
        if goal < self.options.least_rounded_goal and not np.all(self.losses.ridge[... if rows is None else rows] > 0):
            return late and len(self.labels) == 1  # masters of several come nearer by coordinate descent
        # Where coordinate descent was too slow for one labeling it is for the next.
        return self._newton is not None or late

    def _is_one_instance_a_row(self) -> bool:
        """Whether every bag has at most one key instance, and there is one choice of them: instances are then rows."""
        return len(self.labels) == 1 and bool(self.sum_rows(np.abs(self.labels[0])).max() <= 1)

    def _descend_by_newton(self, mu: FloatArray, rows: IntArray | None, goal: float) -> Sweep | None:
        """Solve the SVM at ``mu`` by Newton's method; None where that got nowhere."""
        rows = np.arange(self.alpha.size) if rows is None else rows
        if self.label_set.starts is not None:
            return self._descend_on_keys(mu, rows, goal)
        n, few = self.alpha.size, rows.size < self.options.few_rows * self.alpha.size
        if self._newton is None or not np.array_equal(self._newton[0], rows):
            part = self.rows.part(rows) if few else self.rows
            self._newton = rows, DenseNewton(part.compact, self.options)
        newton, chosen = self._newton[1], rows if few else np.arange(n)
        taking_part = np.zeros(n, dtype=bool)
        taking_part[rows] = True
        if not newton.affordable(mu) or np.any(self.alpha[~taking_part]):
            return None
        losses = Losses(np.where(taking_part, self.losses.cap, 0.0)[chosen], self.losses.ridge[chosen])
        columns = self.columns[chosen][:, : mu.size]
        U = newton.rows.combine(self.alpha[chosen][:, None] * columns) if newton.rows is not self.rows else self.U
        outcome = newton.solve(columns, mu, losses, U[:, : mu.size], self._newton_gap(goal))
        alpha = self.alpha.copy()
        alpha[chosen] = outcome.alpha
        return self._took(alpha, mu, rows, outcome)

    def _newton_gap(self, goal: float) -> float:
        """The relative gap that Newton's method is asked for, where a projected gradient of ``goal`` is wanted."""
        return self.options.newton_goal * max(goal, self.options.least_newton_goal)

    def _descend_on_keys(self, mu: FloatArray, rows: IntArray, goal: float) -> Sweep | None:
        """As `_descend_by_newton` where the one labeled instance of a row stands for it; others have no price."""
        if self._newton is None:
            self._newton = rows, DenseNewton(self.rows.compact, self.options)
        newton = self._newton[1]
        taking_part = np.zeros(self.alpha.size, dtype=bool)
        taking_part[rows] = True
        if not newton.affordable(mu) or np.any(self.alpha[~taking_part]):
            return None
        columns = self.columns[:, :1]
        priced = self.at_instances(taking_part) & (columns[:, 0] != 0)
        losses = Losses(np.where(priced, self.at_instances(self.losses.cap), 0.0), self.at_instances(self.losses.ridge))
        U = newton.rows.combine(self.spread(self.alpha, self.labels[0])[:, None])
        outcome = newton.solve(columns, mu, losses, U, self._newton_gap(goal))
        return self._took(self.sum_rows(outcome.alpha * priced), mu, rows, outcome)

    def _took(self, alpha: FloatArray, mu: FloatArray, rows: IntArray, outcome: Outcome) -> Sweep | None:
        """Go on with dual variables that Newton's method found; None where they are no better."""
        weights = self.rows.combine(self.at_instances(alpha)[:, None] * self.columns[:, : mu.size])
        if not outcome.reached:
            self.gave_up = True
            if not self._dual(alpha, weights, mu) > self._dual(self.alpha, self.U[:, : mu.size], mu):  # or it is NaN
                return None
        self.alpha, self._visits = alpha, 0
        self.U[:, : mu.size] = weights
        self._forget_margins()
        return Sweep(self.losses.total(self.margins(mu), rows), max(1, outcome.n_steps))

    def _dual(self, alpha: FloatArray, U: FloatArray, mu: FloatArray) -> float:
        """The dual value of dual variables and their weights."""
        return self.losses.dual_linear(alpha) - 0.5 * float(np.sum(U * U, axis=0) @ mu)

    def _unsettled(self, margins: FloatArray, rows: IntArray | None) -> IntArray:
        """Of ``rows``, all if None, those whose dual variable is free or wants to move."""
        settled = np.empty(margins.size, dtype=bool)
        for piece in pieces(margins.size):  # no further vector of all rows
            cap, ridge, alpha = (part[piece] for part in (*self.losses, self.alpha))
            gradient = 1.0 - margins[piece] - ridge * alpha
            settled[piece] = np.where(gradient < 0, alpha <= 0, alpha >= cap)
        np.logical_not(settled, out=settled)
        return np.flatnonzero(settled) if rows is None or rows.size == settled.size else rows[settled[rows]]

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        return np.asarray(np.einsum("kt,kt->t", self.U, self.U)[: len(self.labels)])

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row; not to be written to."""
        if not np.array_equal(mu, self._mu_of_margins):
            of_instances = self.rows.weighted_scores(self.U * self._padded(mu), self.columns)
            self._margins, self._mu_of_margins = self.sum_rows(of_instances), mu.copy()
        return self._margins

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance; for one label vector they are the margins, but for the sign."""
        if mu.size == 1 and self.label_set.starts is None and np.all(self.labels[0]):
            return self.margins(mu) * self.labels[0]
        return self.rows.scores(self.coefficients(mu)[:, None])[:, 0]

    def coefficients(self, mu: FloatArray) -> FloatArray:
        """``w = sum_t mu_t u_t``, the intercept's weight last."""
        return np.ascontiguousarray(self.U[:, : mu.size] @ mu)


begin.register(LinearRows, LinearState)
