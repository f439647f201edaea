"""One linear function per cluster, all at once: a row's own value should exceed every other one by a margin of 1.

    min over U of  1/2 ||U||^2 + 1/2 sum_i C_i sum_{j != y_i} max(0, 1 - (f_{y_i}(x_i) - f_j(x_i)))^2,   f_j(x) = u_j' x

the squared hinge loss over pairs of Weston and Watkins (1999). Unlike one function per cluster against the rest, these
separate clusters in a row, as the nearest of their means does. With ``a_ij = C_i slack_ij`` as dual variables,

    lower = sum a - 1/2 ||U(a)||^2 - 1/2 sum a^2 / C,   U(a) = sum_ij a_ij x_i (e_{y_i} - e_j)'

Newton's method: each step is found by conjugate gradients, one pass over the rows and back per product, and taken as
far as the objective falls. It ends when ``upper - lower <= tol * upper``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.options import Options
from wellsvm.rows.linear import LinearRows

__all__ = ["PairSolution", "fit_pairs"]


class PairSolution(NamedTuple):
    """Weights of shape (n_features + 1, k), values of all rows, and per cluster the upper bound and the gap."""

    U: FloatArray
    values: FloatArray
    upper: FloatArray
    gap: FloatArray


class Pairs:
    """The problem for given clusters: rows, the cluster of each, the price of each."""

    def __init__(self, rows: LinearRows, labels: IntArray, C: FloatArray) -> None:
        self.rows, self.labels, self.price = rows, labels, C[:, None]
        self.own = np.arange(labels.size), labels

    def slack(self, values: FloatArray) -> FloatArray:
        """What is missing to the margin, for every row and every other cluster."""
        slack: FloatArray = np.maximum(0.0, 1.0 - values[self.own][:, None] + values)
        slack[self.own] = 0.0
        return slack

    def combine(self, a: FloatArray) -> FloatArray:
        """``U(a)``."""
        coef = -a
        coef[self.own] = a.sum(axis=1)
        return self.rows.combine(coef)

    def upper(self, U: FloatArray, slack: FloatArray) -> float:
        """The objective."""
        return float(0.5 * np.sum(U * U) + 0.5 * np.sum(self.price * slack * slack))

    def newton_step(self, slack: FloatArray, residual: FloatArray, options: Options) -> tuple[FloatArray, FloatArray]:
        """``(I + X' C X)^-1 residual`` over the pairs with slack, and what it changes the values of the rows by."""
        active = self.price * (slack > 0)
        step, change = np.zeros_like(residual), np.zeros(active.shape)
        direction, norm = residual, float(np.sum(residual * residual))
        enough = options.pair_residual**2 * norm
        for _ in range(options.pair_products):
            if norm <= enough:
                break
            seen = self.rows.scores(np.ascontiguousarray(direction))
            product = direction + self.combine(active * (seen[self.own][:, None] - seen))
            length = norm / float(np.sum(direction * product))
            step, change, residual = step + length * direction, change + length * seen, residual - length * product
            before, norm = norm, float(np.sum(residual * residual))
            direction = residual + (norm / before) * direction
        return step, change

    def bounds(self, U: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Upper bound and gap, each divided among the clusters; the gap in proportion to the bound."""
        a = self.price * slack
        dual = self.combine(a)
        losses = np.bincount(self.labels, weights=0.5 * np.sum(a * slack, axis=1), minlength=U.shape[1])
        upper = 0.5 * np.sum(U * U, axis=0) + losses
        lower = float(a.sum() - 0.5 * np.sum(dual * dual) - losses.sum())
        total = float(upper.sum())
        return upper, upper * ((total - lower) / max(total, np.finfo(np.float64).tiny))


def fit_pairs(
    rows: LinearRows, labels: IntArray, C: FloatArray, U: FloatArray, tol: float, options: Options = Options()
) -> PairSolution:
    """Solve for the clusters ``labels``, rows priced C, from the weights U on."""
    pairs, values = Pairs(rows, labels, C), rows.scores(U)
    slack = pairs.slack(values)
    for _ in range(options.pair_steps):
        upper, a = pairs.upper(U, slack), pairs.price * slack
        dual = pairs.combine(a)
        lower = float(a.sum() - 0.5 * np.sum(dual * dual) - 0.5 * np.sum(a * slack))
        if upper - lower <= tol * upper:
            break
        step, change = pairs.newton_step(slack, dual - U, options)
        share, new_slack = 1.0, pairs.slack(values + change)
        for _ in range(options.bisections):  # the objective is convex: a short enough step lowers it
            if pairs.upper(U + share * step, new_slack) < upper:
                break
            share *= 0.5
            new_slack = pairs.slack(values + share * change)
        U, values, slack = U + share * step, values + share * change, new_slack
    return PairSolution(U, values, *pairs.bounds(U, slack))
