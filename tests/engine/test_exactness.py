"""Exactness on problems small enough to enumerate B: the engine against a generic convex solver.

The campaign: N_BLOCKS x BLOCK random semi-supervised problems of 8 to 12 rows with 2 to 4 known labels, in turn linear
and kernel, hinge and squared hinge, with and without bias, every kind of balance. Each claim carries its tolerance.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from checks import (
    Problem,
    accurate,
    generic_master,
    mixed_integer_optimum,
    random_problem,
    relaxation_optimum,
    sdp_relaxation,
)
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.report import Relaxation
from wellsvm.solver import begin, fit_svm, solve_master

N_BLOCKS, BLOCK = 10, 20
TOL = 1e-5  # of the engine, relative to the objective
MASTER = 1e-4  # relative difference to the generic solver's optimum of the same master
# Climbing ends this near to the relaxation's optimum on all but a few problems of a block. Of the 200 it misses one or
# two, which ones differs with the processor: products are rounded otherwise, and climbing may then turn another way.
WITHIN, MISSED = 0.01, 2
BOUND = 1e-5  # relative accuracy of the solvers where two optima are compared by <=

ORACLES = ("paper", "climb")
CASES = [(kind, loss) for loss in ("hinge", "squared_hinge") for kind in ("linear", "gram")]


class Solved(NamedTuple):
    """A problem of the campaign, what the engine made of it with either oracle, and the relaxation's true optimum."""

    name: str
    problem: Problem
    results: dict[str, Relaxation]
    optimum: float


def run(problem: Problem, oracle: str, seed: list[int]) -> Relaxation:
    rng = np.random.default_rng(seed)
    state = begin(*problem[:3], options=accurate(TOL, oracle))
    return cutting_plane(state, [problem.label_set.initial(rng)], rng)


def solve(block: int, k: int) -> Solved:
    kind, loss = CASES[k % len(CASES)]
    problem = random_problem(np.random.default_rng([block, k]), kind, loss)
    results = {oracle: run(problem, oracle, [block, k, len(oracle)]) for oracle in ORACLES}
    return Solved(f"problem [{block}, {k}] ({kind}, {loss})", problem, results, relaxation_optimum(problem))


@lru_cache(maxsize=2)  # the tests of a block run one after the other
def campaign(block: int) -> list[Solved]:
    return [solve(block, k) for k in range(BLOCK)]


def listed(failures: list[str]) -> str:
    return "\n".join(["", *failures])


@pytest.mark.slow
@pytest.mark.parametrize("block", range(N_BLOCKS), scope="module")
class TestCampaign:
    def test_the_final_master_has_the_optimum_of_a_generic_solver(self, block):
        failures = []
        for name, problem, results, _ in campaign(block):
            for oracle, result in results.items():
                labels = result.solution.state.labels
                wanted = generic_master(problem.K, problem.label_set, problem.losses, labels).value
                error = (result.solution.upper - wanted) / wanted
                if not -BOUND <= error <= MASTER:
                    failures.append(f"{name}, {oracle}: off by {error:.1e}, {result.status}")
        assert not failures, listed(failures)

    def test_a_master_of_random_label_vectors_has_the_optimum_of_a_generic_solver(self, block):
        failures = []
        for k, (name, problem, _, _) in enumerate(campaign(block)):
            rng = np.random.default_rng([block, k, 1])
            every = problem.labels()
            labels = [every[j] for j in rng.permutation(len(every))[: int(rng.integers(2, 9))]]
            wanted = generic_master(problem.K, problem.label_set, problem.losses, labels).value
            state = begin(*problem[:3])
            for y in labels:
                state.add(state.candidate(y))
            rows = np.arange(problem.label_set.n_rows)
            master = solve_master(state, np.full(len(labels), 1 / len(labels)), rows, rng, TOL)
            error = (master.upper - wanted) / wanted
            if not -BOUND <= error <= MASTER or master.lower > wanted * (1 + BOUND):
                failures.append(f"{name}: off by {error:.1e}, {len(labels)} label vectors, {master.n_epochs} epochs")
        assert not failures, listed(failures)

    def test_the_objective_never_rises_from_one_label_vector_to_the_next(self, block):
        # Theorem 2 for the optima; what is recorded is an upper bound, at most its own gap above the optimum.
        steps = 0
        for name, _, results, _ in campaign(block):
            for oracle, result in results.items():
                for before, after in pairwise(result.history):
                    steps += 1
                    allowed = after.gap + TOL * abs(before.objective)
                    assert after.objective <= before.objective + allowed, f"{name}, {oracle}"
        assert steps >= BLOCK

    def test_no_objective_lies_below_the_optimum_of_the_relaxation(self, block):
        for name, _, results, optimum in campaign(block):
            for oracle, result in results.items():
                assert result.solution.upper >= optimum * (1 - BOUND), f"{name}, {oracle}"

    def test_climbing_reaches_the_optimum_of_the_relaxation_on_nearly_all_problems(self, block):
        far = [
            f"{name}: {result.solution.upper / optimum - 1:.1%} above, {result.status}"
            for name, _, results, optimum in campaign(block)
            if (result := results["climb"]).solution.upper > optimum * (1 + WITHIN)
        ]
        assert len(far) <= MISSED, listed(far)

    def test_the_papers_oracle_stops_above_the_relaxation_where_climbing_does_not(self, block):
        # Why "no violated label found" is not called optimal: on most problems one linearization is not enough.
        solved = campaign(block)
        far = {o: sum(s.results[o].solution.upper > s.optimum * (1 + WITHIN) for s in solved) for o in ORACLES}
        assert far["climb"] < far["paper"]


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_theorem_1_the_relaxation_lies_between_the_sdp_and_the_mixed_integer_optimum(kind, loss):
    n_above_sdp = n_below_integer = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, 77])
        problem = random_problem(rng, kind, loss, n_range=(8, 10))
        sdp, relaxation = sdp_relaxation(problem), relaxation_optimum(problem)
        integer, best = mixed_integer_optimum(problem)
        well = run(problem, "climb", [seed, 78]).solution.upper

        # The relaxation itself, to the solvers' accuracy; then what the engine reached of it.
        assert sdp <= relaxation * (1 + BOUND)
        assert relaxation <= integer * (1 + BOUND)
        assert sdp <= well * (1 + BOUND)
        assert well <= integer * (1 + MASTER)
        n_above_sdp += relaxation > sdp * (1 + 10 * BOUND)
        n_below_integer += relaxation < integer * (1 - 10 * BOUND)

        # One of the enumerated SVMs, and the best one, by the generic solver.
        every = problem.labels()
        for y in (best, every[int(rng.integers(len(every)))]):
            svm = fit_svm(*problem[:3], y, tol=1e-7, rng=rng).upper
            generic = generic_master(problem.K, problem.label_set, problem.losses, [y]).value
            assert abs(svm - generic) <= 2e-6 * generic
    # On some problems the inequalities are strict: the three values are not one.
    assert n_above_sdp >= 1
    assert n_below_integer >= 1
