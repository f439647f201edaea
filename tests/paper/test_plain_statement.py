"""The plain statement itself: against enumeration of B, a generic convex solver, and its own claims."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from paper import plain_statement as plain
from paper.problems import SEEDS, all_problems, closest_call, make_problem, squared_distances

# ------------------------------------------------------------------ the oracles


@pytest.mark.parametrize("seed", range(5))
def test_balanced_argmax_is_the_best_of_all_label_vectors(seed):
    rng = np.random.default_rng(seed)
    y_known = np.array([1, -1, -1] + [0] * 7)
    r = rng.standard_normal(10)
    n_negative = int(np.ceil(7 * (1 - np.mean([1, -1, -1])) / 2))
    assert n_negative == 5  # ceil(4.67)
    allowed = [y for y in _sign_vectors(10) if np.all(y[:3] == y_known[:3]) and np.sum(y[3:] < 0) == n_negative]
    np.testing.assert_array_equal(plain.balanced_argmax(r, y_known), max(allowed, key=lambda y: r @ y))


@pytest.mark.parametrize("beta", [0.0, 0.5, 2.0, 3.0, 8.0])
def test_cluster_argmax_is_the_best_of_all_label_vectors(beta):
    r = np.random.default_rng(int(10 * beta)).standard_normal(8) + 0.5
    allowed = [y for y in _sign_vectors(8) if abs(y.sum()) <= beta]
    np.testing.assert_array_equal(plain.cluster_argmax(r, beta), max(allowed, key=lambda y: r @ y))


def test_cluster_argmax_refuses_an_empty_set():
    with pytest.raises(ValueError, match="beta=0"):
        plain.cluster_argmax(np.arange(3.0), 0)


def test_key_argmax_is_the_best_of_all_choices():
    r, bags = np.random.default_rng(0).standard_normal(7), np.array([0, 0, 0, 1, 1, 2, 2])
    choices = [np.isin(np.arange(7), keys).astype(int) for keys in product([0, 1, 2], [3, 4], [5, 6])]
    np.testing.assert_array_equal(plain.key_argmax(r, bags), max(choices, key=lambda s: r @ s))


def test_ties_follow_the_row_index():
    assert plain.balanced_argmax(np.zeros(6), np.array([1, -1, 0, 0, 0, 0])).tolist() == [1, -1, -1, -1, 1, 1]
    assert plain.cluster_argmax(np.zeros(4), 2).tolist() == [-1, 1, 1, 1]
    assert plain.key_argmax(np.zeros(4), np.array([0, 0, 1, 1])).tolist() == [1, 0, 1, 0]


# ------------------------------------------------------------------ the SVM and the master


@pytest.mark.parametrize("rank", [3, 12])
def test_box_solver_agrees_with_a_convex_solver(rank):
    rng = np.random.default_rng(rank)
    Z, upper = rng.standard_normal((12, rank)), rng.uniform(0.1, 1.0, 12)
    a = cp.Variable(12)
    problem = cp.Problem(cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(Z.T @ a)), [a >= 0, a <= upper])
    problem.solve(solver=cp.CLARABEL)
    ours = plain.solve_box(Z @ Z.T, upper, np.zeros(12))
    assert ours.sum() - 0.5 * np.sum((Z.T @ ours) ** 2) == pytest.approx(problem.value, rel=1e-7)


def test_nu_svm_is_the_squared_hinge_svm_on_another_scale():
    rng = np.random.default_rng(0)
    Z, C = rng.standard_normal((10, 4)), rng.uniform(0.5, 2.0, 10)
    Q = Z @ Z.T
    squared = plain.solve_box(Q + np.diag(1 / C), np.full(10, np.inf), np.zeros(10))
    a = cp.Variable(10)
    nu = cp.Problem(
        cp.Maximize(-0.5 * cp.sum_squares(Z.T @ a) - 0.5 * cp.sum_squares(cp.multiply(a, C**-0.5))),
        [a >= 0, cp.sum(a) == 1],
    )
    nu.solve(solver=cp.CLARABEL)
    objective = squared.sum() - 0.5 * squared @ (Q + np.diag(1 / C)) @ squared
    np.testing.assert_allclose(plain.solve_svm(Q, C, True, np.zeros(10)), a.value, atol=1e-5)
    np.testing.assert_allclose(squared / squared.sum(), a.value, atol=1e-5)
    assert nu.value == pytest.approx(-1 / (4 * objective), rel=1e-7)


@pytest.mark.parametrize("nu_svm", [True, False])
def test_master_agrees_with_a_convex_solver(nu_svm):
    """Eq. (5) over a working set of four label vectors; mu are its multipliers."""
    rng = np.random.default_rng(3)
    K, C = _random_kernel(rng, 12), np.full(12, 0.7)
    working_set = [np.where(rng.random(12) < 0.5, 1, -1) for _ in range(4)]
    task = plain.task_of_examples(K, C, nu_svm, lambda r: working_set[0])
    mu, alpha, _ = plain.multiple_label_kernel_learning(task, working_set)
    theta, mu_expected = _master_by_cvxpy(K, C, nu_svm, working_set)
    assert min(plain.G(task, alpha, task.base_kernel(y)) for y in working_set) == pytest.approx(theta, rel=1e-6)
    np.testing.assert_allclose(mu, mu_expected, atol=1e-3)


# ------------------------------------------------------------------ Algorithm 1


@pytest.mark.parametrize("nu_svm", [True, False])
def test_objective_is_between_the_relaxation_and_its_start(nu_svm):
    """All of B as the working set gives the optimum of Eq. (6); Algorithm 1 stays above it and below its start."""
    rng = np.random.default_rng(5)
    K, y_known = _random_kernel(rng, 9), np.array([1, -1, 0, 0, 0, 0, 0, 0, 0])
    fit = plain.semi_supervised(K, y_known, 1.0, 0.5, nu_svm, epsilon=1e-9, threshold=1e-9)
    B = [y for y in _sign_vectors(9) if y[0] == 1 and y[1] == -1 and np.sum(y[2:] < 0) == 4]
    relaxation, _ = _master_by_cvxpy(K, np.where(y_known == 0, 0.5, 1.0), nu_svm, B)
    assert relaxation <= fit.objectives[-1] + 1e-6 * abs(relaxation)
    assert fit.objectives[-1] <= fit.objectives[0]


def test_quadratic_form_of_bags_is_that_of_the_base_kernel():
    """Eq. (23): s'Hs + tau's differs from (alpha o y)'K^s(alpha o y) by a constant."""
    rng = np.random.default_rng(0)
    bags = np.array([0, 0, 0, 1, 1, 2, 2, -1, -1, -1])
    task = plain.task_of_bags(_random_kernel(rng, 10), bags, 1.0, 1.0, True)
    alpha = rng.random(task.C.size)
    H, tau = task.form(alpha)
    choices = [plain.key_argmax(rng.standard_normal(7), bags[:7]) for _ in range(5)]
    differences = [s @ H @ s + tau @ s - alpha @ task.base_kernel(s) @ alpha for s in choices]
    np.testing.assert_allclose(differences, differences[0])


def test_two_instances_of_a_bag_make_their_sum_the_row():
    bags = np.array([0, 0, 1, -1])
    expected = [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, -1]]
    np.testing.assert_array_equal(plain.psi(np.array([1, 1, 1]), bags), expected)


def test_svm_start_agrees_with_the_known_labels_and_the_balance():
    problem = make_problem("semi_supervised", "rbf", 4)
    y, known = plain.svm_start(problem.K, problem.labels, problem.C_1, True), problem.labels != 0
    np.testing.assert_array_equal(y[known], problem.labels[known])
    share = np.mean(problem.labels[known] < 0)
    assert np.sum(y[~known] < 0) == np.ceil(np.sum(~known) * share)


def test_best_aligned_is_the_best_of_the_draws():
    rng = np.random.default_rng(1)
    K, draws = _random_kernel(rng, 15), plain.random_assignments(15, 5.0, rng)
    assert draws.shape == (20, 15)
    assert np.all(np.abs(draws.sum(axis=1)) <= 5)
    best = plain.best_aligned(K, draws)
    assert best @ K @ best == max(y @ K @ y for y in draws)


# ------------------------------------------------------------------ the twenty problems


@pytest.mark.parametrize("problem", all_problems(), ids=lambda p: f"{p.kind}-{p.kernel}-{p.seed}")
def test_no_choice_of_the_twenty_problems_is_nearly_a_tie(problem):
    fit = problem.solve()
    call = closest_call(problem, fit)
    assert call.is_clear(), call
    assert np.all(np.diff(fit.objectives) <= 1e-8)
    assert all(one.violation >= 1e-3 for one in fit.rounds[:-1])
    generated = [one.generated for one in fit.rounds[:-1]]  # the last one is not added
    np.testing.assert_array_equal(fit.labels, [fit.labels[0], *generated])


@pytest.mark.parametrize("problem", all_problems(), ids=lambda p: f"{p.kind}-{p.kernel}-{p.seed}")
def test_small_changes_of_the_data_change_little_in_the_twenty_problems(problem):
    noise = 1 + 1e-6 * np.random.default_rng(0).standard_normal(problem.X.shape)
    one, other = problem.solve(), replace(problem, X=problem.X * noise).solve()
    np.testing.assert_array_equal(other.labels, one.labels)
    np.testing.assert_allclose(other.mu, one.mu, atol=2e-4)
    np.testing.assert_allclose(other.f, one.f, atol=1e-3 * np.max(np.abs(one.f)))
    assert other.ended_by == one.ended_by


def test_there_are_twenty_problems():
    assert len(all_problems()) == 20
    assert len(SEEDS) == 6  # three tasks, two kernels


# ------------------------------------------------------------------ helpers


def _sign_vectors(n: int) -> list[plain.Labels]:
    """All vectors of n signs."""
    return [np.array(signs) for signs in product([-1, 1], repeat=n)]


def _random_kernel(rng: np.random.Generator, n: int) -> plain.Array:
    """A positive definite kernel matrix."""
    return np.exp(-squared_distances(rng.standard_normal((n, 3))) / 6)


def _master_by_cvxpy(
    K: plain.Array, C: plain.Array, nu_svm: bool, working_set: list[plain.Labels]
) -> tuple[float, plain.Array]:
    """Eq. (5) over the working set: its optimum, and the multipliers of its constraints."""
    root = np.linalg.cholesky(K + 1e-12 * np.eye(C.size))
    alpha, theta = cp.Variable(C.size), cp.Variable()
    if nu_svm:
        fixed, allowed = -0.5 * cp.sum_squares(cp.multiply(alpha, C**-0.5)), [alpha >= 0, cp.sum(alpha) == 1]
    else:
        fixed, allowed = cp.sum(alpha), [alpha >= 0, alpha <= C]
    values = [fixed - 0.5 * cp.sum_squares((root * y[:, None]).T @ alpha) for y in working_set]
    constraints = [value >= theta for value in values]
    problem = cp.Problem(cp.Maximize(theta), constraints + allowed)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value), np.hstack([constraint.dual_value for constraint in constraints])
