"""What the engine asks of a geometry, linear or kernel."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet


class Losses(NamedTuple):
    """Box and ridge of the dual, one entry per row: what a loss and its C become (see docs/math.md).

    Hinge: ``cap = C``, ``ridge = 0``. Squared hinge: ``cap = inf``, ``ridge = 1 / C``. C = 0 in either: ``cap = 0``.
    """

    cap: FloatArray
    ridge: FloatArray

    @classmethod
    def of(cls, loss: str, C: FloatArray) -> Losses:
        """Box and ridge for ``loss`` "hinge" or "squared_hinge" and one C per row."""
        C = np.asarray(C, dtype=np.float64)
        if loss == "hinge":
            return cls(C, np.zeros_like(C))
        used = C > 0
        return cls(np.where(used, np.inf, 0.0), np.divide(1.0, C, out=np.zeros_like(C), where=used))

    def total(self, margins: FloatArray, rows: IntArray) -> float:
        """Sum of the losses of ``rows`` at the given margins of all rows."""
        every = rows.size == margins.size
        slack = np.maximum(0.0, 1.0 - (margins if every else margins[rows]))
        cap, ridge = (self.cap, self.ridge) if every else (self.cap[rows], self.ridge[rows])
        squared = ridge > 0
        if not squared.any():
            return float(cap @ slack)
        hinge = np.where(squared, 0.0, cap) @ slack
        return float(hinge + 0.5 * np.sum(slack[squared] ** 2 / ridge[squared]))

    def dual_linear(self, alpha: FloatArray) -> float:
        """The part of the dual value that does not know the data: ``sum alpha - 1/2 sum ridge alpha^2``."""
        return float(alpha.sum() - 0.5 * np.sum(self.ridge * alpha * alpha))


class Sweep(NamedTuple):
    """What one or more epochs saw: largest projected gradient, losses at the time of the visits, epochs."""

    violation: float
    loss: float
    n_epochs: int


def mixed_lengths(lengths: list[FloatArray], mu: FloatArray) -> FloatArray:
    """``sum_t mu_t ||psi_t(i)||^2`` of every row; a label set whose rows keep their length gives one array T times."""
    if all(length is lengths[0] for length in lengths):
        return lengths[0]
    return np.asarray(sum(m * length for m, length in zip(mu, lengths)))


class Candidate(NamedTuple):
    """A label vector y seen at the present alpha: ``||u||^2`` of ``u = sum_i alpha_i psi_y(i)``, and u itself in the
    form the geometry keeps (weights if linear, ``K spread(alpha, y)`` if kernel). Stale once alpha moves."""

    y: LabelArray
    squared_norm: float
    image: FloatArray


class Descent(Protocol):
    """Coordinate descent on the dual variables of one problem, for the label vectors added so far."""

    alpha: FloatArray
    labels: list[LabelArray]
    losses: Losses
    label_set: LabelSet

    def candidate(self, y: LabelArray) -> Candidate:
        """Look at a label vector that is not (yet) in use."""

    def active(self, t: int) -> Candidate:
        """Look at label vector t of those in use."""

    def candidate_scores(self, candidate: Candidate) -> FloatArray:
        """``K spread(alpha, y)`` of every instance."""

    def add(self, candidate: Candidate) -> None:
        """Take a label vector into use."""

    def keep(self, chosen: IntArray) -> None:
        """Drop all label vectors but the chosen ones."""

    def relabel(self, y: LabelArray) -> None:
        """Put y in the place of the only label vector; what did not change costs nothing."""

    def descend(self, mu: FloatArray, rows: IntArray, rng: np.random.Generator, goal: float) -> Sweep:
        """Raise the dual for fixed ``mu`` by at least one epoch over ``rows``, until the violation is at most ``goal``
        or the geometry finds it time to look at ``mu`` again."""

    def squared_norms(self) -> FloatArray:
        """``||u_t||^2`` of every label vector."""

    def margins(self, mu: FloatArray) -> FloatArray:
        """``sum_t mu_t psi_t(i)' u_t`` of every row."""

    def scores(self, mu: FloatArray) -> FloatArray:
        """``f(x_j) = sum_t mu_t u_t' phi(x_j)`` of every instance."""


class Geometry(Protocol):
    """A set of instances in a feature space."""

    n_instances: int

    def descent(self, label_set: LabelSet, losses: Losses, alpha: FloatArray | None = None) -> Descent:
        """A coordinate descent, started at ``alpha`` (zeros if None)."""
