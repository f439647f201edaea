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
from wellsvm.engine.master import Master, solve_master
from wellsvm.engine.report import History, Record, Result, Status
from wellsvm.engine.separation import Oracle
from wellsvm.geometry.base import Candidate, Descent

__all__ = ["cutting_plane"]

# On the way the master is solved to ROUGH * tol within a budget of rounds, and to tol before the run may end.
ROUGH, ROUGH_ROUNDS = 5.0, 50
# Second rule of Algorithm 1: a label vector that lowers the objective by less than this many tol is the last.
LEAST_DECREASE = 10.0


def cutting_plane(
    descent: Descent,
    start: Sequence[LabelArray],
    *,
    oracle: Oracle,
    tol: float = 1e-3,
    max_iter: int = 50,
    max_rounds: int = 1000,
    rng: np.random.Generator,
    history: History | None = None,
    callback: Callable[[Record], bool | None] | None = None,
) -> Result:
    """Run Algorithm 1 from the label vectors ``start``; a callback that returns True ends the run.

    Tolerances are relative to the objective, which grows with the number of rows. ``max_iter`` bounds the label vectors
    and ``max_rounds`` the rounds of the last master (see `solve_master`).
    """
    history = History() if history is None else history
    rows = np.flatnonzero(descent.losses.cap > 0)
    began, n_epochs, objective = perf_counter(), 0, np.inf
    for y in start:
        descent.add(descent.candidate(y))
    mu = np.full(len(start), 1 / len(start))

    def solve_and_separate(master_tol: float, budget: int) -> tuple[Master, Candidate, Record, Status | None]:
        nonlocal n_epochs
        master = solve_master(descent, mu, rows, rng, master_tol, budget)  # step 4
        candidate = oracle(descent, master.squared_norms, rng)  # step 5
        n_epochs += master.n_epochs
        violation = 0.5 * (candidate.squared_norm - float(master.squared_norms.max()))
        record = Record(master.upper, master.gap, violation, len(descent.labels), n_epochs, perf_counter() - began)
        return master, candidate, record, _stopping_rule(record, objective, tol)

    while True:
        master, candidate, record, status = solve_and_separate(ROUGH * tol, ROUGH_ROUNDS)
        if status is not None or len(history) + 1 >= max_iter:
            mu = master.mu
            master, candidate, record, status = solve_and_separate(tol, max_rounds)
            if status is not None and master.gap > 1.001 * tol * abs(master.upper):
                status = Status.MASTER_NOT_SOLVED
        history.add(record)
        if status is None and len(history) >= max_iter:
            status = Status.MAX_ITER
        if callback is not None and callback(record) and status is None:
            status = Status.STOPPED
        if status is not None:
            return Result(descent, master.mu, master.upper, master.gap, record.violation, history, status, tol)

        objective = master.upper
        mu = _drop_unused(descent, master.mu, 0.1 * tol)
        descent.add(candidate)  # step 3
        mu = np.append(mu * mu.size, 1.0) / (mu.size + 1)


def _stopping_rule(record: Record, objective: float, tol: float) -> Status | None:
    """The two rules of Algorithm 1, relative to the objective."""
    scale = tol * abs(record.objective)
    if record.violation <= scale:
        return Status.NO_VIOLATED_LABEL
    if objective - record.objective <= LEAST_DECREASE * scale:
        return Status.SMALL_DECREASE
    return None


def _drop_unused(descent: Descent, mu: FloatArray, negligible: float) -> FloatArray:
    """Drop label vectors without weight: the master's optimum does not need them."""
    used = np.flatnonzero(mu > negligible)
    if used.size == mu.size:
        return mu
    descent.keep(used)
    return np.asarray(mu[used] / mu[used].sum())
