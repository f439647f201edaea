"""Algorithm 1: generate label vectors, combine them, until none is violated or the objective stands still.

    max over alpha of min over y in B of G(alpha, y)                                      Eq. (4), the relaxation
    = min over mu, max over alpha of sum_t mu_t G(alpha, y_t),  y_t in B                   Eq. (6)

with ``G(alpha, y) = sum alpha - 1/2 ||sum_i alpha_i psi_y(i)||^2 - 1/2 sum ridge alpha^2``. The restricted master keeps
the few label vectors that matter; its optimum is an upper bound of the relaxation's and never rises (Theorem 2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.master import solve_master
from wellsvm.engine.report import History, Record, Result, Status
from wellsvm.engine.separation import Oracle
from wellsvm.geometry.base import Descent

__all__ = ["cutting_plane"]

# A master need not be solved better than the next label vector will change it: its tolerance is this share of the last
# relative violation, but never above the first one's nor below tol.
INEXACT, ROUGH = 0.1, 0.01
ROUGH_EPOCHS, MAX_EPOCHS = 50, 1000


def cutting_plane(
    descent: Descent,
    start: Sequence[LabelArray],
    *,
    oracle: Oracle,
    tol: float = 1e-3,
    max_iter: int = 50,
    rng: np.random.Generator,
    history: History | None = None,
    callback: Callable[[Record], bool | None] | None = None,
) -> Result:
    """Run Algorithm 1 from the label vectors ``start``; a callback that returns True ends the run.

    Tolerances are relative to the objective, which grows with the number of rows.
    """
    history = History() if history is None else history
    rows = np.flatnonzero(descent.losses.cap > 0)
    for y in start:
        descent.add(descent.candidate(y))
    mu = np.full(len(start), 1 / len(start))
    began, n_epochs, objective, master_tol = perf_counter(), 0, np.inf, max(tol, ROUGH)

    while True:
        budget = MAX_EPOCHS if master_tol <= tol else ROUGH_EPOCHS
        master = solve_master(descent, mu, rows, rng, master_tol, budget)  # step 4
        n_epochs += master.n_epochs
        candidate = oracle(descent, master.squared_norms, rng)  # step 5
        violation = 0.5 * (candidate.squared_norm - master.squared_norms.max())
        scale = tol * abs(master.upper)
        small_decrease = objective - master.upper <= scale
        if (violation <= scale or small_decrease) and master_tol > tol:
            master_tol, mu = tol, master.mu  # about to stop on a rough master: solve it well and look again
            continue

        history.add(Record(master.upper, master.gap, violation, len(descent.labels), n_epochs, perf_counter() - began))
        status = _stopping_rule(
            violation <= scale, small_decrease, master.gap > 1.001 * scale, len(history) >= max_iter
        )
        if callback is not None and callback(history[-1]):
            status = Status.STOPPED
        if status is not None:
            return Result(descent, master.mu, master.upper, master.gap, violation, history, status, tol)

        objective = master.upper
        master_tol = max(tol, min(ROUGH, INEXACT * violation / abs(master.upper)))
        mu = _drop_unused(descent, master.mu, 0.1 * tol)
        descent.add(candidate)  # step 3
        mu = np.append(mu * mu.size, 1.0) / (mu.size + 1)


def _stopping_rule(none_violated: bool, small_decrease: bool, rough: bool, at_limit: bool) -> Status | None:
    if none_violated or small_decrease:
        if rough:
            return Status.MASTER_NOT_SOLVED
        return Status.NO_VIOLATED_LABEL if none_violated else Status.SMALL_DECREASE
    return Status.MAX_ITER if at_limit else None


def _drop_unused(descent: Descent, mu: FloatArray, negligible: float) -> FloatArray:
    """Drop label vectors without weight: the master's optimum does not need them."""
    used = np.flatnonzero(mu > negligible)
    if used.size == mu.size:
        return mu
    descent.keep(used)
    return np.asarray(mu[used] / mu[used].sum())
