"""The restricted master: multiple label-kernel learning over the label vectors found so far, Eq. (9).

    min over mu in the simplex, max over 0 <= alpha <= cap of
        sum_i alpha_i - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum_i ridge_i alpha_i^2,     u_t = sum_i alpha_i psi_t(i)

For fixed mu it is an SVM. Any feasible pair (alpha, mu) bounds the optimum on both sides:

    upper = 1/2 sum_t mu_t ||u_t||^2 + sum_i loss_i(margin_i)       the primal at w_t = mu_t u_t, Eq. (13)
    lower = sum alpha - 1/2 max_t ||u_t||^2 - 1/2 sum ridge alpha^2  the dual, mu at its worst

Epochs of coordinate descent in alpha alternate with steps in mu until ``upper - lower <= tol * upper``. A master that
is only asked whether a new label vector lowers the objective enough ends earlier: see `Aim`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from itertools import count
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.mixture import UPDATES

__all__ = ["Aim", "Candidate", "Solution", "State", "Sweep", "begin", "fit_svm", "solve_master", "solve_svm"]


class Sweep(NamedTuple):
    """What one or more epochs saw: the losses at the time of the visits, and how many epochs there were.

    Where those of an SVM end with a look at all rows the loss is exact, and ``exact`` holds the part of the dual that
    does not know the data and half the squared norm.
    """

    loss: float
    n_epochs: int
    exact: tuple[float, float] | None = None


class Candidate(NamedTuple):
    """A label vector y seen at the present alpha: ``||u||^2`` of ``u = sum_i alpha_i psi_y(i)``, and u itself in the
    form the state keeps (weights if linear, ``K spread(alpha, y)`` if kernel). Stale once alpha moves."""

    y: LabelArray
    squared_norm: float
    image: FloatArray


class Aim(NamedTuple):
    """What a master is asked that holds one label vector more than the one before: does the objective fall enough?

    Attributes
    ----------
    start : float
        The objective before.
    target : float
        What it must fall to for the new label vector to be worth its place. The master ends once its lower bound is
        not below: then no weights get there. It also ends once its upper bound is below.
    linear : float
        Of the dual value at the alpha before, what does not depend on mu, ...
    squared_norms : array of shape (T,)
        ... and ``||u_t||^2``, the new label vector's included: a first lower bound of the objective, for every mu.
    """

    start: float
    target: float
    linear: float
    squared_norms: FloatArray


class State(ABC):
    """Dual variables and label vectors of one problem, and coordinate descent on them.

    Attributes
    ----------
    alpha : array of shape (n_rows,)
        Dual variables.
    labels : list of label vectors
        Those in use.
    """

    _moving: tuple[str, ...] = ("alpha", "labels", "lengths")  # attributes that descending and adding labels change

    def __init__(
        self,
        rows: Rows,
        label_set: LabelSet,
        losses: Losses,
        alpha: FloatArray | None = None,
        options: Options = Options(),
    ) -> None:
        self.rows, self.label_set, self.losses, self.options = rows, label_set, losses, options
        self.alpha = np.zeros_like(losses.cap) if alpha is None else np.minimum(alpha, losses.cap)
        self.gave_up = False  # whether rounding is known to be in the way of a solution
        self.labels: list[LabelArray] = []
        self.lengths: list[FloatArray] = []

    # -------------------------------------------------------------- rows of several instances

    @cached_property
    def row_of(self) -> IntArray:
        """The row of every instance."""
        starts = self.label_set.starts
        return np.arange(self.alpha.size) if starts is None else np.repeat(np.arange(self.alpha.size), np.diff(starts))

    def at_instances(self, values: FloatArray) -> FloatArray:
        """The value of its row for every instance."""
        return values if self.label_set.starts is None else values[self.row_of]

    def spread(self, values: FloatArray, y: LabelArray) -> FloatArray:
        """Coefficients of the instances in ``sum_i values_i psi_y(i)``."""
        return self.at_instances(values) * y

    def sum_rows(self, values: FloatArray) -> FloatArray:
        """Each row's sum over its instances."""
        starts = self.label_set.starts
        return values if starts is None else np.add.reduceat(values, starts[:-1])

    def squared_lengths(self, y: LabelArray) -> FloatArray:
        """An upper bound of ``||psi_y(i)||^2`` for each row i.

        Exact while a row holds one labeled instance; by Cauchy-Schwarz ``||a_1 + ... + a_v||^2 <= v sum ||a_j||^2``
        where it holds more.
        """
        if self.label_set.starts is None:
            return self.rows.squared_norms  # |y_i| = 1
        used = np.abs(y).astype(np.float64)
        return self.sum_rows(used) * self.sum_rows(used * self.rows.squared_norms)

    def curvature(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t ||psi_t(i)||^2 + ridge_i`` of every row; rows that keep their length have one array T times."""
        if all(length is self.lengths[0] for length in self.lengths):
            return self.lengths[0] + self.losses.ridge if self.losses.ridge.any() else self.lengths[0]
        return np.asarray(sum(m * length for m, length in zip(mu, self.lengths)) + self.losses.ridge)

    # -------------------------------------------------------------- label vectors

    @abstractmethod
    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector that is not (yet) in use."""

    def candidates(self, labels: Sequence[LabelArray]) -> list[Candidate]:
        """Look at several label vectors."""
        return [self.candidate(y) for y in labels]

    @abstractmethod
    def active(self, t: int) -> Candidate:
        """Look at label vector t of those in use."""

    @abstractmethod
    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance."""

    @abstractmethod
    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""

    @abstractmethod
    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""

    @abstractmethod
    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector, or take it as the first; what did not change costs nothing."""

    def saved(self) -> dict[str, Any]:
        """All that descending and new label vectors change, as it is now, for `restore`."""
        values = {name: getattr(self, name) for name in self._moving if hasattr(self, name)}
        return {
            name: value.copy() if isinstance(value, (np.ndarray, list)) else value for name, value in values.items()
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to where the state was `saved`; this can be done once."""
        for name, value in saved.items():
            setattr(self, name, value)

    def priced(self) -> IntArray | None:
        """The rows that have a price; None where all do."""
        return self.losses.priced()

    def most_rounds(self) -> float:
        """How many rounds make sense: few where rounding, or what the rows are like, is in the way of a solution."""
        return self.options.rounds_after_failure if self.gave_up else np.inf

    def rest(self) -> None:  # noqa: B027 (not all have something to let go of)
        """Let go of what can be had again, while the state is kept to be compared with others."""

    def retire(self) -> None:
        """As `rest`; nothing but labels, their weights and `coefficients` is asked for any more."""
        self.rest()

    # -------------------------------------------------------------- the SVM for given mu

    @abstractmethod
    def reprice(self, losses: Losses, rise: bool = True) -> None:
        """Go on with other prices; the dual variables follow them (`Losses.carried`)."""

    @abstractmethod
    def descend(
        self, mu: FloatArray, rows: IntArray | None, rng: np.random.Generator, goal: float, tol: float = 0.0
    ) -> Sweep:
        """Raise the dual for fixed ``mu`` by epochs over ``rows`` (None: all), until the projected gradient is at most
        ``goal`` or it is time to look at ``mu`` again; also once the gap is at most ``tol``, where epochs see it."""

    @abstractmethod
    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""

    @abstractmethod
    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row; not to be written to."""

    @abstractmethod
    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j) = sum_t mu_t u_t' phi(x_j)`` of every instance."""

    @abstractmethod
    def coefficients(self, mu: FloatArray) -> FloatArray:
        """f in the form that the rows keep: weights of the features, or coefficients of the instances."""


@singledispatch
def begin(
    rows: Rows,
    label_set: LabelSet,
    losses: Losses,
    alpha: FloatArray | None = None,
    options: Options = Options(),
) -> State:
    """The state that fits the rows, at ``alpha`` (zeros if None) and without label vectors."""
    raise TypeError(f"no solver is registered for {type(rows).__name__}")


@dataclass(frozen=True)
class Solution:
    """A solved master: an SVM if there is one label vector.

    Attributes
    ----------
    state : State
        Dual variables and label vectors. A search that goes on from here takes it along.
    mu : array of shape (T,)
        Weights of the label vectors.
    upper, lower : float
        Certified bounds of the optimum.
    squared_norms : array of shape (T,)
        ``||u_t||^2``.
    n_epochs : int
        Epochs it took.
    """

    state: State
    mu: FloatArray
    upper: float
    lower: float
    squared_norms: FloatArray
    n_epochs: int

    @property
    def gap(self) -> float:
        """Upper minus lower bound."""
        return self.upper - self.lower

    def solved_to(self, tol: float) -> bool:
        """Whether the bounds are within ``tol`` of each other, relatively."""
        return self.gap <= self.state.options.solved_slack * tol * abs(self.upper)

    @property
    def y(self) -> LabelArray:
        """The first label vector; of an SVM, its labels."""
        return self.state.labels[0]

    @property
    def alpha(self) -> FloatArray:
        """Dual variables."""
        return self.state.alpha

    def scores(self) -> FloatArray:
        """``f(x_j)`` of every instance."""
        return self.state.scores(self.mu)

    def coefficients(self) -> FloatArray:
        """f in the form that the rows keep."""
        return self.state.coefficients(self.mu)


def solve_master(
    state: State,
    mu: FloatArray,
    rows: IntArray | None,
    rng: np.random.Generator,
    tol: float,
    max_rounds: float = Options.svm_rounds,
    aim: Aim | None = None,
    at_gap: bool = False,
) -> Solution:
    """Solve the restricted master from the present alpha and ``mu`` to relative gap ``tol``.

    Only ``rows`` take part (None: all); the dual variables of all others stay as they are and their losses do not
    count. A round is a sweep over the rows and, if alpha is about right for the present mu, a step in mu;
    ``max_rounds`` bounds them. With an ``aim`` it ends as soon as that is decided, too; ``at_gap`` says that epochs may
    end once the gap is reached, wherever the projected gradient is.
    """
    losses, options = state.losses, state.options
    mixture = UPDATES[options.weight_update](mu, options)
    if aim is not None:
        mixture.aim(aim.start, aim.target)
        mixture.add_cut(aim.linear, aim.squared_norms)
        mixture.step(aim.start, options.weights_goal * tol * abs(aim.start))
    n_epochs, goal, least_gap = 0, options.first_goal, np.inf
    for n_rounds in count(1):
        sweep = state.descend(mixture.mu, rows, rng, goal, tol if at_gap else 0.0)
        if sweep.exact is not None:
            linear, half = sweep.exact
            squared_norms = np.array([2.0 * half])
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                squared_norms = state.squared_norms()
                linear, half = losses.dual_linear(state.alpha), 0.5 * float(mixture.mu @ squared_norms)
        n_epochs += sweep.n_epochs
        max_rounds = min(max_rounds, state.most_rounds())
        _require_maximum(linear + half)
        mixture.add_cut(linear, squared_norms)
        # Losses seen during the epoch estimate the upper bound for free; unless exact, one pass confirms it.
        upper, is_last = half + sweep.loss, n_rounds >= max_rounds
        is_over = is_last or _is_over(upper, mixture.lower, tol, aim, options)
        if is_over and sweep.exact is None:
            with np.errstate(over="ignore", invalid="ignore"):
                upper = half + losses.total(state.margins(mixture.mu), rows)
            is_over = is_last or _is_over(upper, mixture.lower, tol, aim, options)
        if is_over:
            _require_maximum(upper)
            return Solution(state, mixture.mu, upper, mixture.lower, squared_norms, n_epochs)
        svm_gap = upper - (linear - half)
        error = upper - mixture.lower
        if aim is not None:  # what the lower bound leaves open at first says nothing: the new vector may not hold it
            error = min(error, max(aim.start - aim.target, aim.start - upper))
        lags = mu.size == 1 or svm_gap > options.weights_lead * error
        if not lags:
            mixture.step(upper, options.weights_goal * tol * abs(upper))
        if lags or upper - mixture.lower > options.stalled * least_gap:
            goal *= options.goal_factor
        least_gap = min(least_gap, upper - mixture.lower)
    raise AssertionError("unreachable")


def _require_maximum(value: float) -> None:
    """Refuse a dual value, or a bound, that has grown beyond all numbers."""
    if not isfinite(value):
        raise ValueError(
            "the dual has no maximum: the kernel is not positive semidefinite on these rows, or its values are so "
            "large that rounding hides it. Scale the features, or use loss='hinge', or another kernel, gamma or coef0"
        )


def _is_over(upper: float, lower: float, tol: float, aim: Aim | None, options: Options) -> bool:
    """Whether the bounds are as near as asked for, or tell what was asked."""
    if upper - lower <= tol * abs(upper):
        return True
    if aim is None:
        return False
    return lower >= aim.target or (upper <= aim.target and upper - lower <= options.enough_known * (aim.start - upper))


def solve_svm(
    state: State, y: LabelArray, rng: np.random.Generator, tol: float, rows: IntArray | None = None
) -> Solution:
    """Train the SVM on the labels ``y`` and on ``rows``, all that have a price if None.

    The state goes on from its dual variables. One that has solved an SVM before is taken over: that SVM is gone.
    """
    state.relabel(y)
    return solve_master(state, np.array([1.0]), state.priced() if rows is None else rows, rng, tol, at_gap=True)


def fit_svm(
    rows: Rows,
    label_set: LabelSet,
    losses: Losses,
    y: LabelArray,
    *,
    tol: float,
    rng: np.random.Generator,
    alpha: FloatArray | None = None,
    chosen: IntArray | None = None,
    options: Options = Options(),
) -> Solution:
    """Train the SVM on the labels ``y`` from the dual variables ``alpha``, on the ``chosen`` rows (all if None)."""
    return solve_svm(begin(rows, label_set, losses, alpha, options), y, rng, tol, chosen)
