"""Coordinate descent on a kernel matrix: the margins of all rows are kept up to date.

For one label vector on rows of one instance, the SVMs of a search, f is kept, in a compiled loop of its own. Else kept
is what every instance adds to the margin of its row, ``sum_t mu_t y_tj (K c_t)_j`` with ``c_t = spread(alpha,
y_t)``. That depends on mu, so a change of mu costs one product ``K [c_1 ... c_T]``; therefore several epochs are made
for each mu and, where they do not suffice, a Newton step on the free rows (see newton.py).

Where the matrix does not fit into memory, rows of it are computed when needed. A step needs the row of K only where
alpha moves: which rows will is seen from the margins of a few hundred at a time, and one that turns out to want a move
in between is left for the next epoch. All else is the same, and so is the result, up to tol.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.losses import Losses
from wellsvm.rows.gram import GramRows
from wellsvm.solver.master import Candidate, State, Sweep, begin
from wellsvm.solver.newton import SlackSystem, best_step
from wellsvm.threads import stop_if_cancelled, work_per_call

__all__ = ["GramState"]


class Visit(NamedTuple):
    """What stays the same for the rows that an epoch visits."""

    mu: FloatArray
    curvature: FloatArray
    threshold: float


class GramState(State):
    """alpha; the products ``Z[:, t] = K c_t``, their coefficients c_t, which are those of the alpha and the labels they
    were last asked for, and whether these have changed since; what every instance adds to the margin of its row, at the
    present alpha and the mu last descended for."""

    rows: GramRows
    _moving = (*State._moving, "_Z", "_coef", "_behind", "_signed", "_mu_of_signed", "columns", "_patterns")

    def __init__(self, rows: GramRows, *problem: Any, **how: Any) -> None:
        super().__init__(rows, *problem, **how)
        self._Z = self._coef = np.empty((rows.n_instances, 0))
        self._behind = False
        self._signed, self._mu_of_signed = np.empty(0), np.empty(0)
        self._patterns: tuple[LabelArray, IntArray] | None = None  # of the columns, once they are asked for
        self._spent: float = 0  # multiply-adds of the epochs since the SVM was last solved
        self._newton_failed = False  # then it is not tried a second time
        self._most_moves = work_per_call(rows.n_instances)  # in one call
        self._cap_of_priced, self._priced = np.empty(0), np.empty(0, np.int64)

    def _set_labels(self, labels: list[LabelArray], Z: FloatArray, coef: FloatArray) -> None:
        self.labels = labels
        self.lengths = [self.squared_lengths(y) for y in labels]
        self._Z, self._coef, self._mu_of_signed = Z, coef, np.empty(0)
        if labels:
            self.columns = labels[0][:, None] if len(labels) == 1 else np.ascontiguousarray(np.stack(labels, axis=1))
            self._patterns = None

    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector: one product with K."""
        coef = self.spread(self.alpha, y)
        image = self.rows.scores(coef[:, None])[:, 0]
        return Candidate(y, float(coef @ image), image)

    def active(self, t: int) -> Candidate:
        """Look at label vector t: its product with K is at hand."""
        image = np.ascontiguousarray(self._products()[:, t])
        return Candidate(self.labels[t], float(self.spread(self.alpha, self.labels[t]) @ image), image)

    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance."""
        return candidate.image

    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""
        Z, y = np.column_stack([self._products(), candidate.image]), candidate.y
        self._set_labels([*self.labels, y], Z, np.column_stack([self._coef, self.spread(self.alpha, y)]))

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""
        Z, coef = (np.ascontiguousarray(columns[:, chosen]) for columns in (self._products(), self._coef))
        self._set_labels([self.labels[t] for t in chosen], Z, coef)

    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector, or take it as the first; what did not change costs nothing, and
        one product brings both the labels and other prices up to date."""
        self._take_margins()
        if not self.labels:
            self._Z, self._coef = np.zeros((y.size, 1)), np.zeros((y.size, 1))
        self._set_labels([y], self._Z, self._coef)
        self._behind = True

    def reprice(self, losses: Losses, rise: bool = True) -> None:
        """Go on with other prices; the products with K follow when they are asked for."""
        self._take_margins()
        self.alpha, self.losses = self.losses.carried(self.alpha, losses, rise), losses
        self._behind = True

    def _take_margins(self) -> None:
        """Before labels or prices change: what the margins tell of the products, which they then tell no more."""
        if self._mu_of_signed.size:
            self._products()
            self._mu_of_signed = np.empty(0)

    def priced(self) -> IntArray:
        """The rows that have a price: the same from SVM to SVM while no box changes, as in a search."""
        if self._cap_of_priced is not self.losses.cap:
            priced = self.losses.priced()
            self._cap_of_priced = self.losses.cap
            self._priced = np.arange(self.alpha.size) if priced is None else priced
        return self._priced

    def _spread_all(self, alpha: FloatArray) -> FloatArray:
        return np.stack([self.spread(alpha, y) for y in self.labels], axis=1)

    def _products(self) -> FloatArray:
        """``Z``, brought up to date: only the rows whose coefficients have changed cost anything, and with one label
        vector that labels every instance nothing does: the scores are the margins, but for the sign."""
        if not (self._behind and self.labels):
            return self._Z
        coef = self._spread_all(self.alpha)
        change = coef - self._coef
        if np.any(change):
            if self._mu_of_signed.size == 1 and np.all(self.columns):
                self._Z = (self._signed / self._mu_of_signed)[:, None] * self.columns
            else:
                self._Z += self._product_of(change)
        self._coef, self._behind = coef, False
        return self._Z

    def _product_of(self, coef: FloatArray) -> FloatArray:
        """``K [c_1 ... c_T]``; label vectors much alike differ from the first in few rows."""
        rest = coef[:, 1:] - coef[:, :1]
        if 2 * np.count_nonzero(rest) >= np.count_nonzero(coef[:, 1:]):
            return self.rows.scores(coef)
        first = self.rows.scores(coef[:, :1])
        return np.hstack([first, first + self.rows.scores(rest)])

    def descend(
        self, mu: FloatArray, rows: IntArray | None, rng: np.random.Generator, goal: float, tol: float = 0.0
    ) -> Sweep:
        """Epochs over ``rows`` until the violation is at most ``goal`` or it is time for a new mu; those on one
        label vector, on rows of one instance whose matrix is in memory, may end at a gap of ``tol`` > 0, too."""
        rows = np.arange(self.alpha.size) if rows is None else np.ascontiguousarray(rows)
        alone = tol > 0 and mu.size == 1 and self.label_set.starts is None and self.rows.capacity is None
        sweep, solved = self._epochs_alone(rows, rng, goal, tol) if alone else self._epochs(mu, rows, rng, goal)
        if solved:
            self._spent, self._newton_failed = 0, False
        elif self._newton_is_due(mu, rows):
            self._newton_failed, self._spent = not self._solve_by_newton(mu, rows, goal), 0
            sweep = Sweep(self.losses.total(self.margins(mu), rows), sweep.n_epochs)
        return sweep

    @np.errstate(over="ignore", invalid="ignore")  # the master looks at what comes of it
    def _epochs(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> tuple[Sweep, bool]:
        """Epochs, and whether they came to the goal."""
        options, curvature = self.options, self.curvature(mu)
        self._signed_scores(mu)
        self._behind = True
        violation, loss = self._visit_all(Visit(mu, curvature, np.inf), rows)  # a look: none moves
        n_epochs = 0
        while n_epochs < options.epochs_per_mu and violation > goal:
            n_epochs += 1
            visit = Visit(mu, curvature, options.patience * violation)
            violation, loss = self._visit_all(visit, rng.permutation(rows))
        return Sweep(loss, n_epochs), violation <= goal

    def _epochs_alone(self, rows: IntArray, rng: np.random.Generator, goal: float, tol: float) -> tuple[Sweep, bool]:
        """The same on f, in one call, or in some that each keep an interrupt short: most of a small SVM would be
        Python."""
        options, losses, n_epochs = self.options, self.losses, 0
        f, coef, curvature = self._Z[:, 0], self._coef[:, 0], self.lengths[0] + losses.ridge
        most, tol = self._most_moves, options.own_gap * tol
        self._mu_of_signed = np.empty(0)
        while True:
            stop_if_cancelled()
            seed = rng.bit_generator.random_raw() >> 1
            _, loss, half, linear, n_moved, n_more, solved = self.rows.native.descend_svm(
                losses.cap, losses.ridge, curvature, self.alpha, self.labels[0], coef, f, self.rows.bias,
                goal, tol, options.svm_patience, options.svm_epochs - n_epochs, most, seed, rows,
            )  # fmt: skip
            self._spent += n_moved * self.rows.n_instances
            n_epochs += n_more
            if solved or n_epochs >= options.svm_epochs:
                self._behind = False
                return Sweep(loss, n_epochs, (linear, half)), solved

    def _visit_all(self, visit: Visit, rows: IntArray) -> tuple[float, float]:
        """Visit rows in turn: the largest projected gradient, and their losses, as they were found."""
        violation, loss = 0.0, 0.0
        for begin_, end in self.rows.portions(rows.size, self.rows.n_instances):
            worst, total, n_moved = self._visit(visit, rows[begin_:end])
            violation, loss = max(violation, worst), loss + total
            self._spent += n_moved * self.rows.n_instances
        return violation, loss

    def _visit(self, visit: Visit, rows: IntArray) -> tuple[float, float, int]:
        """Visit some rows in turn: the largest projected gradient, their losses, and how many moved."""
        if self.rows.capacity is None:
            return self._step(visit, rows)
        with self.rows.at_hand(self._to_move(visit, rows, self.rows.capacity)):
            return self._step(visit, rows)

    def _step(self, visit: Visit, rows: IntArray) -> tuple[float, float, int]:
        native, places = self.rows.near(rows)
        if self._patterns is None:
            self._patterns = _patterns(self.columns)
        patterns, pattern_of = self._patterns
        report: tuple[float, float, int] = native.descend(
            self.label_set.starts, self.losses.cap, self.losses.ridge, visit.curvature, self.alpha, pattern_of,
            patterns, visit.mu, self._signed, self.rows.bias, visit.threshold, places,
        )  # fmt: skip
        return report

    def _to_move(self, visit: Visit, rows: IntArray, capacity: int) -> IntArray:
        """The labeled instances of the first ``rows`` that would move now, as many as can be at hand."""
        alpha, cap, ridge = self.alpha[rows], self.losses.cap[rows], self.losses.ridge[rows]
        gradient = 1.0 - self.sum_rows(self._signed)[rows] - ridge * alpha
        blocked = ((alpha <= 0) & (gradient < 0)) | ((alpha >= cap) & (gradient > 0))
        instances = self._instances_of(rows[~blocked & (np.abs(gradient) > visit.threshold)])
        instances = instances[np.any(self.columns[instances], axis=1)]
        owner = self.row_of[instances]
        whole = np.flatnonzero(np.diff(owner[: capacity + 1], append=-1)) + 1  # ends of rows
        end = instances.size if instances.size <= capacity else int(np.append(0, whole[whole <= capacity])[-1])
        if end == 0 and instances.size:
            n_needed = int(np.count_nonzero(owner == owner[0]))
            raise ValueError(
                f"cache_size holds {capacity} rows of kernel values and a bag needs {n_needed} at once; give a larger "
                "cache_size"
            )
        return instances[:end]

    def _instances_of(self, rows: IntArray) -> IntArray:
        """The instances of the given rows, row by row."""
        starts = self.label_set.starts
        if starts is None:
            return rows
        sizes = starts[rows + 1] - starts[rows]
        ends = np.cumsum(sizes)
        return np.asarray(np.arange(sizes.sum()) + np.repeat(starts[rows] - ends + sizes, sizes))

    @np.errstate(over="ignore", invalid="ignore")
    def _newton_is_due(self, mu: FloatArray, rows: IntArray) -> bool:
        """Whether the epochs since the SVM was last solved have cost as much as Newton's method would."""
        n_slack = int(np.count_nonzero(self.margins(mu)[rows] < 1))
        most = min(self.options.newton_rows, self.rows.max_block)
        affordable = n_slack <= most and self._spent >= self.options.newton_cost * n_slack**3
        return not self._newton_failed and affordable and bool(np.all(self.losses.ridge[rows] > 0))

    @np.errstate(over="ignore", invalid="ignore")
    def _solve_by_newton(self, mu: FloatArray, rows: IntArray, goal: float) -> bool:
        """Solve the SVM of squared hinge loss at ``mu``; False where that was given up."""
        options = self.options
        exact = min(max(options.newton_share * goal, options.least_newton_error), options.most_newton_error)
        ridge, Z, dtype = self.losses.ridge[rows], self._products(), self.rows.dtype
        alpha_before, Z_before = self.alpha.copy(), Z.copy()
        margins = self.margins(mu)[rows]
        slack, solved = margins < 1, False
        for _ in range(options.newton_steps):
            system = self._slack_system(mu, rows[slack], dtype)
            if system is None:
                break
            target = self.alpha.copy()
            target[rows] = 0.0
            target[rows[slack]] = system.solve(np.ones(int(np.count_nonzero(slack))))
            Z_target = self.rows.scores(self._spread_all(target))
            error = self._refine(system, mu, rows[slack], target, Z_target, exact)
            if not error <= exact and dtype != np.float64:
                dtype = np.dtype(np.float64)
                continue
            if not error <= options.most_newton_error:
                break
            target_margins = self._margins_at(Z_target, mu)[rows]
            solved = np.array_equal(target_margins < 1, slack)  # the target is where it was computed for
            if solved:
                self.alpha[:], Z[:] = target, Z_target
                break
            coef, Z_change = self._spread_all(target - self.alpha), Z_target - Z
            slope, curvature = (float(np.einsum("jt,jt,t->", coef, products, mu)) for products in (Z, Z_change))
            s = best_step(slope, curvature, margins, target_margins - margins, ridge, options.bisections)
            self.alpha += s * (target - self.alpha)
            Z += s * Z_change
            margins += s * (target_margins - margins)
            slack = margins < 1
        if not solved:  # on the way alpha may be negative: nothing to go on from
            self.alpha[:], Z[:] = alpha_before, Z_before
        self._coef = self._spread_all(self.alpha)
        self.alpha[rows] = np.maximum(self.alpha[rows], 0.0)
        self._behind, self._mu_of_signed = True, np.empty(0)
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
            Z += self.rows.scores(self._spread_all(change))

    def _mixed_kernel(self, mu: FloatArray, rows: IntArray, dtype: np.dtype) -> np.ndarray:
        """``sum_t mu_t psi_t(i)' psi_t(k)`` of the given rows."""
        instances = self._instances_of(rows)
        instances = instances[np.any(self.columns[instances], axis=1)]
        signs = (self.columns[instances] * np.sqrt(mu)).astype(dtype)
        Q = self.rows.block(instances).astype(dtype, copy=False)
        Q += dtype.type(self.rows.bias**2)
        Q *= signs @ signs.T
        if instances.size > rows.size:  # rows of several instances
            first = np.flatnonzero(np.diff(self.row_of[instances], prepend=-1))
            Q = np.add.reduceat(np.add.reduceat(Q, first, axis=0), first, axis=1)
        return Q

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""
        if len(self.labels) == 1:
            return np.array([self.alpha @ self.margins(np.ones(1))])
        return np.asarray(np.einsum("jt,jt->t", self._spread_all(self.alpha), self._products()))

    def _signed_scores(self, mu: FloatArray) -> FloatArray:
        """What every instance adds to the margin of its row; `descend` keeps it up to date."""
        if not np.array_equal(mu, self._mu_of_signed):
            self._signed = self._signed_at(self._products(), mu)
            self._mu_of_signed = mu.copy()
        return self._signed

    def _signed_at(self, Z: FloatArray, mu: FloatArray) -> FloatArray:
        if mu.size == 1:  # a product of vectors, without the overhead of a sum
            return np.asarray(Z[:, 0] * self.labels[0] * mu[0])
        return np.asarray(np.einsum("jt,jt,t->j", Z, self.columns, mu))

    def _margins_at(self, Z: FloatArray, mu: FloatArray) -> FloatArray:
        return self.sum_rows(self._signed_at(Z, mu))

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row."""
        return self.sum_rows(self._signed_scores(mu))

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j)`` of every instance."""
        Z = self._products()
        return Z[:, 0] * mu[0] if mu.size == 1 else Z @ mu

    def coefficients(self, mu: FloatArray) -> FloatArray:
        """Coefficients of the instances in ``f = sum_t mu_t u_t``."""
        return self._spread_all(self.alpha) @ mu


def _patterns(columns: LabelArray) -> tuple[LabelArray, IntArray]:
    """Patterns of shape (T, n), which instances with the same labels in all T vectors share, and the number of each."""
    if columns.shape[1] == 1:
        return np.array([[-1, 0, 1]], dtype=np.int8), np.add(columns[:, 0], 1, dtype=np.int32)
    # np.unique sorts whole rows when it sees each as one opaque item, which is far faster than by column.
    items = columns.view(np.dtype((np.void, columns.shape[1]))).ravel()
    _, first, pattern_of = np.unique(items, return_index=True, return_inverse=True)
    return np.ascontiguousarray(columns[first].T), pattern_of.ravel().astype(np.int32)


begin.register(GramRows, GramState)
