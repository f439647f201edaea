"""The restricted master: multiple label-kernel learning over the label vectors found so far, Eq. (9).

    min over mu in the simplex, max over 0 <= alpha <= cap of
        sum_i alpha_i - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum_i ridge_i alpha_i^2,     u_t = sum_i alpha_i psi_t(i)

For fixed mu it is an SVM. Any feasible pair (alpha, mu) bounds the optimum on both sides:

    upper = 1/2 sum_t mu_t ||u_t||^2 + sum_i loss_i(margin_i)       the primal at w_t = mu_t u_t, Eq. (13)
    lower = sum alpha - 1/2 max_t ||u_t||^2 - 1/2 sum ridge alpha^2  the dual, mu at its worst

Epochs of coordinate descent in alpha alternate with steps in mu until ``upper - lower <= tol * upper``.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.mixture import Mixture
from wellsvm.geometry.base import Descent

__all__ = ["Master", "solve_master"]

# mu moves once the gap of the SVM at the present mu is below this share of the whole gap.
MIXTURE_LEAD = 0.5


class Master(NamedTuple):
    """Solution of the restricted master: weights, bounds, the norms ``||u_t||^2``, and the epochs it took."""

    mu: FloatArray
    upper: float
    lower: float
    squared_norms: FloatArray
    n_epochs: int

    @property
    def gap(self) -> float:
        """Upper minus lower bound."""
        return self.upper - self.lower


def solve_master(
    descent: Descent,
    mu: FloatArray,
    rows: IntArray,
    rng: np.random.Generator,
    tol: float,
    max_rounds: int = 2000,
) -> Master:
    """Solve the restricted master from the present alpha and ``mu`` to relative gap ``tol``.

    Only ``rows`` take part; the dual variables of all others stay as they are and their losses do not count. A round is
    a sweep over the rows and, if alpha is about right for the present mu, a step in mu; ``max_rounds`` bounds them.
    """
    losses, mixture = descent.losses, Mixture(mu)
    n_epochs, goal = 0, 0.1
    for n_rounds in count(1):
        with np.errstate(over="ignore", invalid="ignore"):  # looked at below
            sweep = descent.descend(mixture.mu, rows, rng, goal)
            squared_norms = descent.squared_norms()
            linear, half = losses.dual_linear(descent.alpha), 0.5 * float(mixture.mu @ squared_norms)
        n_epochs += sweep.n_epochs
        if not np.isfinite(linear + half):
            raise ValueError(
                "the dual has no maximum: the kernel is not positive semidefinite on these rows. Use loss='hinge', or "
                "another kernel, gamma or coef0"
            )
        mixture.add_cut(linear, squared_norms)
        # The losses seen during the epoch estimate the upper bound for free; one exact pass confirms it.
        upper = half + sweep.loss
        if upper - mixture.lower <= tol * abs(upper) or n_rounds >= max_rounds:
            upper = half + losses.total(descent.margins(mixture.mu), rows)
            if upper - mixture.lower <= tol * abs(upper) or n_rounds >= max_rounds:
                return Master(mixture.mu, upper, mixture.lower, squared_norms, n_epochs)
        svm_gap = upper - (linear - half)
        if mu.size > 1 and svm_gap <= MIXTURE_LEAD * (upper - mixture.lower):
            mixture.step(upper, 0.5 * tol * abs(upper))
        else:
            goal *= 0.5
    raise AssertionError("unreachable")
