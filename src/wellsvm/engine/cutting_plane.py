"""Algorithm 1: generate label vectors, combine them, until none is violated or the objective has stopped falling.

    max over alpha of min over y in B of G(alpha, y)                                      Eq. (4), the relaxation
    = min over mu, max over alpha of sum_t mu_t G(alpha, y_t),  y_t in B                   Eq. (6)

The restricted master keeps the few label vectors that matter; its optimum is an upper bound of the relaxation's and
never rises (Theorem 2).

The next label vector is a violated constraint of Eq. (5). The most violated one maximizes ``||u_y||^2 = y'Hy`` over B
(Eq. 15, 23), which is hard. It is convex in y, so ``y'Hy >= 2 y'Hz - z'Hz`` for any z in B, and the set's linear oracle
maximizes the right side exactly: by sorting. H has no ridge: over B the ridge would add the same constant to every
``y'Hy``, and it would hold the linearization back at z (docs/as_in_paper.md).

- "paper": one such step from the best label vector in use (Eq. 16, 24, 31).
- "first": the same, where of several best label vectors in use the one generated first is taken. At the optimum of a
  master all with a weight are equally good, so that "paper" picks any of them.
- "climb": steps repeated to a fixed point, from every label vector in use and from random ones; the best is taken. It
  solves the relaxation better and, on text, classifies worse (docs/choices_text.md): a choice, not the default.

Either way a label vector that raises ``y'Hy`` is violated (Prop. 4); finding none is no proof that none exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeAlias

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.engine.checkpoint import Cut, Stages
from wellsvm.engine.report import Record, Relaxation, Status, show
from wellsvm.solver.master import Aim, Candidate, Solution, State, solve_master

__all__ = ["ORACLES", "G", "climb", "cutting_plane"]

Callback: TypeAlias = Callable[[Record], bool | None]


def cutting_plane(
    state: State,
    first: Sequence[LabelArray],
    rng: np.random.Generator,
    *,
    title: str = "",
    callback: Callback | None = None,
    stages: Stages | None = None,
) -> Relaxation:
    """Run Algorithm 1 from the label vectors ``first``; a callback that returns True ends the run."""
    options, began = state.options, perf_counter()
    history: list[Record] = []
    rows, n_epochs = state.losses.priced(), 0
    mu, before, norms = np.empty(0), np.inf, np.empty(0)
    roughly, well = (options.rough * options.tol, options.rough_rounds), (options.tol, options.max_rounds)
    if stages is not None and (kept := stages.recall(state, rng)) is not None:
        mu, new, before, norms, n_epochs, history = kept
    else:
        new = state.candidates(first)
    while True:
        if stages is not None:
            stages.keep(state, rng, Cut(mu, new, before, norms, n_epochs, history))
        aim = _aim(state, before, norms)
        saved = {} if aim is None else state.saved()
        mu_before, mu = mu, _admit(state, mu, new, aim)  # step 3
        last = len(history) + 1 >= options.max_iter and not (options.relaxation_starts and len(state.labels) > 1)
        for tol, rounds in (well,) if last and aim is None else (roughly, well):
            # Label vectors are only as good as alpha: where they are no more than a start, the gap is enough.
            solution = solve_master(state, mu, rows, rng, tol, rounds, aim, options.relaxation_starts)  # step 4
            n_epochs, mu, small = n_epochs + solution.n_epochs, solution.mu, False
            if aim is not None and solution.lower >= aim.target:  # the new label vector is not worth its place
                state.restore(saved)
                solution = solve_master(state, mu_before, rows, rng, *well)
                n_epochs, mu, small = n_epochs + solution.n_epochs, solution.mu, True
            candidate = _separate(state, solution, rng)  # step 5
            violation = 0.5 * (candidate.squared_norm - float(solution.squared_norms.max()))
            violation = max(violation, 0.0)  # below 0 by rounding only
            status = _stopping_rule(solution.upper, violation, before, small, state)
            if small or (status is None and not last):
                break  # another label vector follows, or a search: no need to solve this master well
            aim = None

        record = Record(solution.upper, solution.gap, violation, len(state.labels), n_epochs, perf_counter() - began)
        history.append(record)
        if options.verbose:
            show(history, title)
        if status is not None and not solution.solved_to(options.tol):
            status = Status.MASTER_NOT_SOLVED
        if status is None and len(history) >= options.max_iter:
            status = Status.ENOUGH if options.relaxation_starts else Status.MAX_ITER
        if callback is not None and callback(record) and status is None:
            status = Status.STOPPED
        if status is not None:
            return Relaxation(solution, violation, history, status)

        mu, used = _drop_unused(state, mu, options.unused_weight * options.tol)
        before, new = solution.upper, [candidate]
        norms = np.append(solution.squared_norms[used], candidate.squared_norm)


def _aim(state: State, before: float, squared_norms: FloatArray) -> Aim | None:
    """What the next master is asked, if there was one before; the paper's closed form solves all to the end."""
    options = state.options
    if options.weight_update == "closed_form" or not squared_norms.size:
        return None
    fixed = _unit(0.0, before, state)  # the unit is linear in the objective: the target is where the rule turns
    target = (before - options.min_decrease * fixed) / (1 + options.min_decrease * (_unit(1.0, before, state) - fixed))
    return Aim(before, target, state.losses.dual_linear(state.alpha), squared_norms)


def _admit(state: State, mu: FloatArray, new: list[Candidate], aim: Aim | None) -> FloatArray:
    """Take label vectors into use: without weight where the master looks for it, else each with the mean of all
    weights; the closed form begins with equal ones."""
    for candidate in new:
        state.add(candidate)
    if state.options.weight_update == "closed_form":
        return np.full(len(state.labels), 1 / len(state.labels))
    if aim is not None:
        return np.append(mu, np.zeros(len(new)))
    return np.append(mu * mu.size, np.ones(len(new))) / (mu.size + len(new))


def _stopping_rule(upper: float, violation: float, before: float, small: bool, state: State) -> Status | None:
    """The two rules of Algorithm 1; ``small`` says that the decrease is known to be."""
    options = state.options
    if violation <= options.min_violation * _unit(upper, upper, state):
        return Status.NO_VIOLATED_LABEL
    if small or (np.isfinite(before) and before - upper <= options.min_decrease * _unit(upper, before, state)):
        return Status.SMALL_DECREASE
    return None


def _unit(upper: float, before: float, state: State) -> float:
    """What the thresholds are multiples of.

    With the squared hinge loss the paper's nu-SVM has the objective ``-1 / (4 upper)`` and the dual variables ``alpha /
    sum alpha``, where ``sum alpha = 2 upper``: differences are ``4 upper before`` times smaller there.
    """
    if state.options.stopping == "relative":
        return abs(upper)
    squared = np.any(state.losses.ridge > 0)
    return 4.0 * upper * before if state.options.stopping == "paper" and squared else 1.0


def _drop_unused(state: State, mu: FloatArray, negligible: float) -> tuple[FloatArray, IntArray]:
    """Drop label vectors without weight, which the master's optimum does not need; the weights and numbers kept.

    Where y and -y mean the same the first stays: all others were turned to agree with it.
    """
    used = np.flatnonzero((mu > negligible) | (np.arange(mu.size) < int(state.label_set.symmetric)))
    if used.size < mu.size:
        state.keep(used)
        mu = np.asarray(mu[used] / mu[used].sum())
    return mu, used


# ------------------------------------------------------------------ step 5: the next label vector


def G(state: State, candidate: Candidate) -> float:
    """``G(alpha, y)`` of Eq. (4), at the present alpha: what the label vector y allows the dual."""
    return state.losses.dual_linear(state.alpha) - 0.5 * candidate.squared_norm


def _separate(state: State, solution: Solution, rng: np.random.Generator) -> Candidate:
    """The next label vector, under the name that agrees best with those in use."""
    found = ORACLES[state.options.oracle](state, solution.squared_norms, rng)
    if not state.label_set.symmetric:
        return found
    y = state.label_set.oriented(found.y, state.labels[0])
    return found if y is found.y else Candidate(y, found.squared_norm, -found.image)


def _next_label(state: State, start: Candidate) -> Candidate | None:
    """Maximize the linearization at ``start``; None where ``start`` itself attains the maximum."""
    slope = state.at_instances(state.alpha) * state.candidate_scores(start)  # r = H z
    y = state.label_set.linear_oracle(slope)
    if slope @ y <= (slope @ start.y) * (1 + state.options.no_gain):
        return None
    return state.candidate(y)


def linearized_once(state: State, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
    """The paper's oracle: one linearization at the label vector in use of largest ``y'Hy`` (Eq. 16)."""
    start = state.active(int(np.argmax(squared_norms)))
    return _next_label(state, start) or start


def linearized_at_first(state: State, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
    """The same at the first label vector whose ``y'Hy`` is the largest up to the master's rounding."""
    least = squared_norms.max() * (1 - state.options.equal_norms)
    start = state.active(int(np.argmax(squared_norms >= least)))
    return _next_label(state, start) or start


def climb(state: State, start: Candidate) -> Candidate:
    """Linearize again and again: every step lowers G and B is finite, so it ends, in a local minimum."""
    while (better := _next_label(state, start)) is not None and G(state, better) < G(state, start):
        start = better
    return start


def climb_from_many(state: State, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
    """The best of climbing from every label vector in use and from random members of B."""
    starts = [state.active(t) for t in range(len(state.labels))]
    starts += [state.candidate(state.label_set.initial(rng)) for _ in range(state.options.oracle_starts)]
    return max((climb(state, start) for start in starts), key=lambda candidate: candidate.squared_norm)


ORACLES: dict[str, Callable[[State, FloatArray, np.random.Generator], Candidate]] = {
    "paper": linearized_once,
    "first": linearized_at_first,
    "climb": climb_from_many,
}
