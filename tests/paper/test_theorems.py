"""Theorem 2, Propositions 2 and 3, and the problems over matrices, Eq. (7), (8) and (28), on problems small enough to
enumerate B.

Algorithm 1 runs as it is printed: masters by a generic solver, the most violated label vector by trying all of B. With
the hinge loss and a kernel matrix K > 0 the theorem's constants are known: A is the box ``[0, C]^n``, and

    g_y(alpha) = 1/2 alpha' (K o yy') alpha - sum alpha

is strongly convex with the least eigenvalue of K (that of ``K o yy'`` is the same) and has gradients no longer than
``M = ||K|| ||C|| + sqrt(n)`` on A.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from checks import dual_value, enumerate_labels, generic_master, mixed_integer_optimum, random_problem
from wellsvm.labels import BalancedLabels, ClusterLabels, LabelSet
from wellsvm.losses import Losses
from wellsvm.rows import GramRows
from wellsvm.solver import fit_svm

EPSILON = 1e-3  # of Algorithm 1's first rule
SEEDS = range(12)
ACCURACY = 2e-6  # of the generic solver, relative to the objective


class Run(NamedTuple):
    """Algorithm 1 on one problem: objectives p, violations epsilon_r, the relaxation's optimum, and the constant c."""

    p: list[float]
    violations: list[float]
    optimum: float
    c: float

    def eta(self, epsilon: float) -> float:
        """The least decrease, Eq. (10)."""
        return ((np.sqrt(self.c**2 + 4 * epsilon) - self.c) / 2) ** 2


def small_problem(seed: int) -> tuple[np.ndarray, BalancedLabels, Losses]:
    """Overlapping clouds under a narrow Gaussian kernel, two known labels, hinge loss."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    X = rng.standard_normal((n, 2))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    known = np.zeros(n, dtype=np.int8)
    known[:2] = 1, -1
    C = np.where(known != 0, 3.0, rng.choice([1.0, 3.0]))
    return np.exp(-0.5 * squares), BalancedLabels(known, 1, n - 3), Losses.of("hinge", C)


@lru_cache
def algorithm_1(seed: int) -> Run:
    K, label_set, losses = small_problem(seed)
    every = list(enumerate_labels(label_set))
    size = np.linalg.norm(losses.cap)
    M, lam = np.linalg.norm(K, 2) * size + np.sqrt(len(K)), np.linalg.eigvalsh(K)[0]
    working, p, violations = [every[seed % len(every)]], [], []
    while True:
        master = generic_master(K, label_set, losses, working)
        p.append(master.value)
        G = [dual_value(K, label_set, losses, master.alpha, [y], np.ones(1)) for y in every]
        in_use = min(dual_value(K, label_set, losses, master.alpha, [y], np.ones(1)) for y in working)
        violations.append(in_use - min(G))
        if violations[-1] < EPSILON:
            break
        working = [*working, every[int(np.argmin(G))]]
    return Run(p, violations, generic_master(K, label_set, losses, every).value, M * np.sqrt(2 / lam))


@pytest.mark.parametrize("seed", SEEDS)
def test_theorem_2_every_iteration_lowers_the_objective_by_eta_at_least(seed):
    run = algorithm_1(seed)
    for before, after, epsilon in zip(run.p, run.p[1:], run.violations):
        assert after <= before - run.eta(epsilon) + ACCURACY * abs(before)


@pytest.mark.parametrize("seed", SEEDS)
def test_proposition_2_bounds_the_number_of_iterations(seed):
    run = algorithm_1(seed)
    assert len(run.p) - 1 <= (run.p[0] - run.optimum) / run.eta(EPSILON) + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_proposition_3_the_decreases_sum_to_no_more_than_there_is_to_gain(seed):
    run = algorithm_1(seed)
    promised = sum(run.eta(epsilon) for epsilon in run.violations[:-1])
    assert promised <= run.p[0] - run.optimum + ACCURACY * abs(run.p[0])


def test_the_problems_are_no_trivial_ones():
    runs = [algorithm_1(seed) for seed in SEEDS]
    assert np.mean([len(run.p) for run in runs]) > 3
    decreases = np.concatenate([-np.diff(run.p) for run in runs])
    promised = np.concatenate([[run.eta(epsilon) for epsilon in run.violations[:-1]] for run in runs])
    assert np.all(promised > 0)
    assert np.all(promised < 2 * decreases)  # a bound, of the decreases that are there


def test_at_its_end_algorithm_1_is_within_epsilon_of_the_relaxation():
    for seed in SEEDS:
        run = algorithm_1(seed)
        assert run.optimum - ACCURACY <= run.p[-1] <= run.optimum + EPSILON + ACCURACY


# ------------------------------------------------------------------ label matrices


def svm_value(Q: np.ndarray, losses: Losses) -> float:
    """``max over 0 <= alpha <= cap of sum alpha - 1/2 alpha' (Q + diag ridge) alpha`` by a generic solver."""
    values, vectors = np.linalg.eigh(Q + np.diag(losses.ridge))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    alpha = cp.Variable(len(Q), nonneg=True)
    capped = np.flatnonzero(np.isfinite(losses.cap))
    constraints = [alpha[capped] <= losses.cap[capped]] if capped.size else []
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - 0.5 * cp.sum_squares(root @ alpha)), constraints)
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_equations_7_and_8_over_label_matrices_are_3_and_6(loss, seed):
    problem = random_problem(np.random.default_rng(seed), "gram", loss, n_range=(6, 8))
    every = problem.labels()
    by_matrix = min(svm_value(problem.K * np.outer(y, y), problem.losses) for y in every)
    assert by_matrix == pytest.approx(mixed_integer_optimum(problem)[0], rel=1e-5)
    master = generic_master(problem.K, problem.label_set, problem.losses, every)
    mixture = sum(m * np.outer(y, y) for m, y in zip(master.mu, every))
    assert svm_value(problem.K * mixture, problem.losses) == pytest.approx(master.value, rel=1e-4)
    # (8) is a minimum: no other convex combination of label matrices is lower
    rng = np.random.default_rng(seed)
    for mu in rng.dirichlet(np.ones(len(every)), 3):
        other = sum(m * np.outer(y, y) for m, y in zip(mu, every))
        assert svm_value(problem.K * other, problem.losses) >= master.value * (1 - 1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equation_28_clustering_over_label_matrices_is_27(loss):
    K, _, _ = small_problem(1)
    n = len(K)
    label_set: LabelSet = ClusterLabels(n, 2)
    losses = Losses.of(loss, np.full(n, 1.0))
    rng = np.random.default_rng(0)
    every = list(enumerate_labels(label_set))
    by_labels = [fit_svm(GramRows(K), label_set, losses, y, tol=1e-8, rng=rng).upper for y in every]
    by_matrix = [svm_value(K * np.outer(y, y), losses) for y in every]
    np.testing.assert_allclose(by_matrix, by_labels, rtol=1e-5)
    mirrored = {(-y).tobytes() for y in every}
    assert mirrored == {y.tobytes() for y in every}  # y and -y are one matrix, hence one clustering
