"""Exactness on bags small enough to enumerate every choice of key instances, as for semi-supervised learning.

Random problems with at most 10 instances in positive bags, in turn linear and kernel, hinge and squared hinge, with one
key instance or two, with and without bias. The truth is a generic convex solver's over all of B.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np
import pytest

from checks import Problem, accurate, generic_master, mixed_integer_optimum, relaxation_optimum, row_of
from wellsvm.engine.cutting_plane import ORACLES, cutting_plane
from wellsvm.engine.report import Relaxation
from wellsvm.labels import KeyInstances
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import begin, fit_svm

N_PROBLEMS = 24
TOL = 1e-5  # of the engine, relative to the objective
MASTER = 1e-4  # relative difference to the generic solver's optimum of the same master
WITHIN, SHARE = 0.01, 0.95  # climbing ends this near to the relaxation's optimum, on this share of the problems
BOUND = 1e-5  # relative accuracy of the solvers where two optima are compared by <=
CASES = [(kind, loss, v) for v in (1, 2) for loss in ("hinge", "squared_hinge") for kind in ("linear", "gram")]


class BagProblem(Problem):
    """A problem whose B is listed bag by bag: trying every vector of -1, 0, 1 would take too long."""

    def labels(self) -> list[np.ndarray]:
        """All of B."""
        base = np.where(self.label_set.positive_rows, 0, -1)[row_of(self.label_set)].astype(np.int8)
        bags = [np.flatnonzero(row_of(self.label_set) == row) for row in np.flatnonzero(self.label_set.positive_rows)]
        every = []
        for keys in product(*(combinations(bag, min(self.label_set.v, bag.size)) for bag in bags)):
            y = base.copy()
            y[np.concatenate(keys)] = 1
            assert self.label_set.contains(y)
            every.append(y)
        return every


class Solved(NamedTuple):
    name: str
    problem: Problem
    results: dict[str, Relaxation]
    optimum: float


def random_bags(rng: np.random.Generator, kind: str, loss: str, v: int) -> Problem:
    """Two to four positive bags of two to four instances, ten in all at most, and some negative ones, in any order."""
    sizes = [2, 3, 4] if rng.integers(2) else [3, 2, 2, 2]
    sizes = [*sizes, *rng.integers(1, 4, int(rng.integers(1, 4)))]
    positive = np.arange(len(sizes)) < (3 if len(sizes) and sizes[0] == 2 else 4)
    order = rng.permutation(len(sizes))
    sizes, positive = np.array(sizes)[order], positive[order]
    label_set = KeyInstances(np.concatenate([[0], np.cumsum(sizes)]), positive, v)
    assert sizes[positive].sum() <= 10
    n, d, bias = label_set.n_instances, int(rng.integers(2, 5)), float(rng.integers(2))
    X = rng.standard_normal((n, d))
    X[label_set.linear_oracle(rng.standard_normal(n)) == 1] += rng.uniform(0.0, 2.0) * rng.standard_normal(d)
    if kind == "linear":
        rows, K = LinearRows(X, bias), X @ X.T
    else:
        squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        K = np.exp(-squared * rng.choice([0.25, 1.0, 4.0]) / squared.mean())
        rows = GramRows(K, bias)
    C = np.where(label_set.positive_rows, rng.choice([0.3, 1.0, 10.0]), rng.choice([0.1, 1.0]))
    return BagProblem(rows, label_set, Losses.of(loss, C), K + bias**2)


def run(problem: Problem, oracle: str, seed: list[int]) -> Relaxation:
    rng = np.random.default_rng(seed)
    state = begin(*problem[:3], options=accurate(TOL, oracle))
    return cutting_plane(state, [problem.label_set.initial(rng)], rng)


@lru_cache(maxsize=1)
def campaign() -> list[Solved]:
    solved = []
    for k in range(N_PROBLEMS):
        kind, loss, v = CASES[k % len(CASES)]
        problem = random_bags(np.random.default_rng([k, 5]), kind, loss, v)
        results = {oracle: run(problem, oracle, [k, len(oracle)]) for oracle in ORACLES}
        solved.append(Solved(f"problem {k} ({kind}, {loss}, v={v})", problem, results, relaxation_optimum(problem)))
    return solved


@pytest.mark.slow
class TestCampaign:
    def test_the_final_master_has_the_optimum_of_a_generic_solver(self):
        for name, problem, results, _ in campaign():
            for oracle, result in results.items():
                labels = result.solution.state.labels
                wanted = generic_master(problem.K, problem.label_set, problem.losses, labels).value
                error = (result.solution.upper - wanted) / wanted
                assert -BOUND <= error <= MASTER, f"{name}, {oracle}: off by {error:.1e}, {result.status}"

    def test_the_objective_never_rises_from_one_choice_to_the_next(self):
        steps = 0
        for name, _, results, _ in campaign():
            for oracle, result in results.items():
                for before, after in pairwise(result.history):
                    steps += 1
                    assert after.objective <= before.objective + after.gap + TOL * abs(before.objective), (name, oracle)
        assert steps >= N_PROBLEMS

    def test_no_objective_lies_below_the_optimum_of_the_relaxation(self):
        for name, _, results, optimum in campaign():
            for oracle, result in results.items():
                assert result.solution.upper >= optimum * (1 - BOUND), f"{name}, {oracle}"

    def test_climbing_reaches_the_optimum_of_the_relaxation_on_nearly_all_problems(self):
        far = [s.name for s in campaign() if s.results["climb"].solution.upper > s.optimum * (1 + WITHIN)]
        assert len(far) <= (1 - SHARE) * N_PROBLEMS, far

    def test_the_relaxation_lies_below_the_best_choice_and_sometimes_strictly(self):
        n_strict, above = 0, []
        for name, problem, results, optimum in campaign()[:12]:
            integer, best = mixed_integer_optimum(problem)
            assert optimum <= integer * (1 + BOUND), name
            if results["climb"].solution.upper > integer * (1 + MASTER):  # climbing is local too
                above.append(name)
            state = begin(*problem[:3], options=accurate(TOL, "climb"))
            from_best = cutting_plane(state, [best], np.random.default_rng(0))
            assert from_best.solution.upper <= integer * (1 + MASTER), name
            svm = fit_svm(*problem[:3], best, tol=1e-7, rng=np.random.default_rng(0)).upper
            generic = generic_master(problem.K, problem.label_set, problem.losses, [best]).value
            assert abs(svm - generic) <= 2e-6 * generic, name
            n_strict += optimum < integer * (1 - 10 * BOUND)
        assert n_strict >= 1
        assert len(above) <= 2, above
