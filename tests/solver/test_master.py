"""The restricted master: bounds that hold, and the optimum of a generic solver."""

from __future__ import annotations

import numpy as np
import pytest

from checks import KeyInstances, dense_loss, dual_value, generic_master, random_problem
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import Aim, begin, solve_master

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]


def some_labels(problem, rng, count):
    every = problem.labels()
    return [every[k] for k in rng.permutation(len(every))[:count]]


def start(rows, label_set, losses, labels):
    state = begin(rows, label_set, losses)
    for y in labels:
        state.add(state.candidate(y))
    return state, np.full(len(labels), 1 / len(labels)), np.arange(label_set.n_rows)


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_bracket_the_optimum_of_a_generic_solver(seed, kind, loss):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 1 + seed)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    for tol in (1e-2, 1e-4):
        state, mu, rows = start(*problem[:3], labels)
        master = solve_master(state, mu, rows, rng, tol)
        assert master.lower <= optimum * (1 + 1e-6)
        assert master.upper >= optimum * (1 - 1e-6)
        assert master.gap <= tol * abs(master.upper)
        assert np.all(master.mu >= 0)
        np.testing.assert_allclose(master.mu.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kind, loss", CASES)
def test_the_upper_bound_is_the_primal_at_the_returned_mu(kind, loss):
    rng = np.random.default_rng(10)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 4)
    state, mu, rows = start(*problem[:3], labels)
    master = solve_master(state, mu, rows, rng, 1e-3)
    alpha, K = state.alpha, problem.K
    margins = sum(m * y * (K @ (alpha * y)) for m, y in zip(master.mu, labels))
    norms = np.array([(alpha * y) @ K @ (alpha * y) for y in labels])
    np.testing.assert_allclose(master.squared_norms, norms, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(master.upper, 0.5 * master.mu @ norms + dense_loss(problem.losses, margins), rtol=1e-9)


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_weight_goes_only_to_label_vectors_of_largest_norm(seed, kind, loss):
    # The minimum over mu for fixed alpha: sum_t mu_t ||u_t||^2 = max_t ||u_t||^2. Twice the gap bounds the difference.
    rng = np.random.default_rng(20 + seed)
    problem = random_problem(rng, kind, loss)
    state, mu, rows = start(*problem[:3], some_labels(problem, rng, 5))
    master = solve_master(state, mu, rows, rng, 1e-4)
    lost = master.squared_norms.max() - master.mu @ master.squared_norms
    # lower may come from an earlier alpha: compare with the dual value of this one
    here = dual_value(problem.K, problem.label_set, problem.losses, state.alpha, state.labels, master.mu)
    assert lost >= -1e-12
    assert here <= master.upper * (1 + 1e-12)
    assert here >= master.lower - 1e-3 * abs(master.upper)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("v", [1, 2])
def test_rows_of_several_instances_reach_the_same_optimum(v, loss):
    rng = np.random.default_rng(v)
    label_set = KeyInstances([3, 1, 2, 1, 4, 1], v)
    losses = Losses.of(loss, rng.choice([0.3, 1.0], label_set.n_rows))
    X = rng.standard_normal((label_set.n_instances, 6))
    K = X @ X.T + 1.0
    labels = list({y.tobytes(): y for y in (label_set.initial(rng) for _ in range(4))}.values())
    optimum = generic_master(K, label_set, losses, labels).value
    for rows in (LinearRows(X, 1.0), GramRows(X @ X.T, 1.0)):
        master = solve_master(*start(rows, label_set, losses, labels), rng, 1e-4)
        assert abs(master.upper - optimum) <= 1.1e-4 * optimum
        assert master.lower <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("kind, loss", CASES)
def test_two_equal_label_vectors_change_nothing(kind, loss):
    rng = np.random.default_rng(6)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 2)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    state, mu, rows = start(*problem[:3], [*labels, labels[0].copy()])
    master = solve_master(state, mu, rows, rng, 1e-4)
    assert abs(master.upper - optimum) <= 1.1e-4 * optimum


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_a_limit_on_rounds_ends_the_run_with_bounds_that_hold(kind):
    rng = np.random.default_rng(7)
    problem = random_problem(rng, kind, "hinge")
    labels = some_labels(problem, rng, 4)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    state, mu, rows = start(*problem[:3], labels)
    master = solve_master(state, mu, rows, rng, 1e-12, max_rounds=3)
    assert master.n_epochs <= 3 + 10  # a state may make several epochs between two looks
    assert master.lower <= optimum * (1 + 1e-6)
    assert master.upper >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_warm_start_at_the_solution_needs_few_epochs(kind, loss):
    rng = np.random.default_rng(8)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 3)
    state, mu, rows = start(*problem[:3], labels)
    cold = solve_master(state, mu, rows, rng, 1e-4)
    again = solve_master(state, cold.mu, rows, rng, 1e-2)
    assert again.n_epochs <= 10
    assert again.upper <= cold.upper * (1 + 1e-2)


@pytest.mark.parametrize("kind, loss", CASES)
def test_the_same_seed_gives_the_same_bits(kind, loss):
    problem = random_problem(np.random.default_rng(9), kind, loss)
    labels = some_labels(problem, np.random.default_rng(0), 4)
    runs = []
    for _ in range(2):
        state, mu, rows = start(*problem[:3], labels)
        master = solve_master(state, mu, rows, np.random.default_rng(1), 1e-4)
        runs.append((state.alpha, master.mu, np.array([master.upper, master.lower])))
    for first, second in zip(*runs):
        np.testing.assert_array_equal(first, second)


# ------------------------------------------------------------------ a master that is asked one question


def one_more(problem, labels, rng):
    """A master of all label vectors but the last, solved, and what the next one is asked, but for the target."""
    state, mu, rows = start(*problem[:3], labels[:-1])
    before = solve_master(state, mu, rows, rng, 1e-3)
    new = state.candidate(labels[-1])
    norms = np.append(before.squared_norms, new.squared_norm)
    linear = problem.losses.dual_linear(state.alpha)
    return state, before, new, rows, lambda target: Aim(before.upper, target, linear, norms)


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_answer_of_a_master_is_that_of_a_generic_solver(seed, kind, loss):
    rng = np.random.default_rng(30 + seed)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 2 + seed)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    for share in (0.5, 1.5):  # a target between start and optimum, and one below the optimum
        state, before, new, rows, aim = one_more(problem, labels, rng)
        target = before.upper - share * (before.upper - optimum)
        if before.upper - optimum < 1e-2 * optimum:
            continue  # the last label vector does nothing
        state.add(new)
        mu = np.append(before.mu, 0.0)
        master = solve_master(state, mu, rows, rng, 1e-6, aim=aim(target))
        assert (master.lower >= target) == (share > 1)
        assert (master.upper <= target) == (share < 1)
        assert master.lower <= optimum * (1 + 1e-6)
        whole = solve_master(*start(*problem[:3], labels), rng, 1e-6)
        assert master.n_epochs < whole.n_epochs


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_state_goes_back_to_where_it_was_saved(kind, loss):
    rng = np.random.default_rng(40)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 3)
    state, before, new, rows, _ = one_more(problem, labels, rng)
    saved, margins = state.saved(), state.margins(before.mu).copy()
    alpha, norms, scores = state.alpha.copy(), state.squared_norms(), state.scores(before.mu)
    state.add(new)
    solve_master(state, np.full(3, 1 / 3), rows, rng, 1e-5)
    state.restore(saved)
    assert [y.tobytes() for y in state.labels] == [y.tobytes() for y in labels[:-1]]
    np.testing.assert_array_equal(state.alpha, alpha)
    for now, then in (
        (state.squared_norms(), norms),
        (state.margins(before.mu), margins),
        (state.scores(before.mu), scores),
    ):
        np.testing.assert_allclose(now, then, rtol=1e-12, atol=1e-12)
    again = solve_master(state, before.mu, rows, rng, 1e-3)
    assert again.upper <= before.upper * (1 + 1e-3)
