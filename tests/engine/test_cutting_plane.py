"""Algorithm 1: its stopping rules, its label vectors, its oracles."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from checks import dual_value, enumerate_labels, random_problem, relaxation_optimum
from wellsvm.engine.cutting_plane import (
    ORACLES,
    G,
    climb,
    cutting_plane,
    linearized_at_first,
    linearized_once,
)
from wellsvm.engine.report import Status, warn
from wellsvm.labels import BalancedLabels
from wellsvm.options import Options
from wellsvm.solver import begin

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]


def run(problem, oracle="climb", seed=0, tol=1e-4, callback=None, **others):
    rng = np.random.default_rng(seed)
    options = Options(**{"tol": tol, "min_violation": tol, "min_decrease": 10 * tol, "oracle": oracle, **others})
    state = begin(*problem[:3], options=options)
    return cutting_plane(state, [problem.label_set.initial(rng)], rng, callback=callback)


def largest_norm(problem, alpha):
    """max over B of ``||sum_i alpha_i psi_y(i)||^2``, by enumeration."""
    spreads = np.stack(problem.labels()) * alpha
    return np.einsum("tj,jk,tk->t", spreads, problem.K, spreads).max()


def long_runs(kind, loss):
    """Problems that need four label vectors or more, and their runs."""
    for seed in range(50):
        problem = random_problem(np.random.default_rng(seed), kind, loss)
        result = run(problem)
        if len(result.history) >= 4:
            yield problem, result


# The run


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_result_is_consistent_with_itself(seed, kind, loss, oracle):
    problem = random_problem(np.random.default_rng(seed), kind, loss)
    result = run(problem, oracle, tol=1e-3)
    assert result.status in (Status.NO_VIOLATED_LABEL, Status.SMALL_DECREASE)
    solution = result.solution
    labels, mu = solution.state.labels, solution.mu
    assert all(problem.label_set.contains(y) for y in labels)
    assert len({y.tobytes() for y in labels}) == len(labels) == mu.size
    assert np.all(mu >= 0)
    np.testing.assert_allclose(mu.sum(), 1.0, rtol=1e-12)
    last = result.history[-1]
    assert (last.objective, last.gap, last.violation) == (solution.upper, solution.gap, result.violation)
    assert solution.gap <= 1.001e-3 * solution.upper
    assert last.labelings == len(labels)
    assert all(left.epochs < right.epochs for left, right in pairwise(result.history))
    assert all(left.seconds <= right.seconds for left, right in pairwise(result.history))


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ["paper", "climb"])
@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_and_all_of_B_bound_the_relaxation_from_below(seed, kind, loss, oracle):
    # Eq. (4) at the final alpha, with the most violated label of all of B: the certificate a perfect oracle would give.
    problem = random_problem(np.random.default_rng(50 + seed), kind, loss)
    result = run(problem, oracle)
    alpha = result.solution.alpha
    lower = problem.losses.dual_linear(alpha) - 0.5 * largest_norm(problem, alpha)
    optimum = relaxation_optimum(problem)
    assert lower <= optimum * (1 + 1e-6)
    assert result.solution.upper >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_with_all_labels_known_the_first_svm_is_the_answer(kind):
    problem = random_problem(np.random.default_rng(0), kind, "hinge")
    y = problem.label_set.initial(np.random.default_rng(1))
    problem = problem._replace(label_set=BalancedLabels(y, 0))
    for oracle in ORACLES:
        result = run(problem, oracle)
        assert result.status is Status.NO_VIOLATED_LABEL
        assert len(result.history) == 1
        np.testing.assert_array_equal(result.solution.mu, [1.0])
        np.testing.assert_array_equal(result.solution.y, y)


@pytest.mark.parametrize("kind, loss", CASES)
def test_the_limit_on_label_vectors_is_kept_and_told(kind, loss):
    problem, _ = next(long_runs(kind, loss))
    short = run(problem, max_iter=2)
    assert short.status is Status.MAX_ITER
    assert not short.status.converged
    assert len(short.history) == 2
    with pytest.warns(ConvergenceWarning, match="max_iter reached"):
        warn(short, "wellsvm", 1e-4)


def test_a_callback_sees_every_record_and_can_stop_the_run():
    problem, full = next(long_runs("gram", "squared_hinge"))
    seen = []
    again = run(problem, callback=seen.append)
    assert len(seen) == len(full.history)
    assert [r.objective for r in again.history] == [r.objective for r in full.history], "looking changed the run"
    assert seen[:-1] == list(again.history[:-1])  # the last master is solved once more, to tol
    stopped = run(problem, callback=lambda record: record.labelings == 2)
    assert stopped.status is Status.STOPPED
    assert len(stopped.history) == 2


@pytest.mark.parametrize("oracle", ["paper", "climb"])
@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_the_same_seed_gives_the_same_bits(kind, oracle):
    problem = random_problem(np.random.default_rng(5), kind, "hinge")
    first, second = (run(problem, oracle, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.solution.mu, second.solution.mu)
    np.testing.assert_array_equal(first.solution.alpha, second.solution.alpha)
    np.testing.assert_array_equal(first.solution.state.labels, second.solution.state.labels)
    assert [r.objective for r in first.history] == [r.objective for r in second.history]


@pytest.mark.parametrize("kind, loss", CASES)
def test_more_label_vectors_at_the_start_do_not_raise_the_first_master(kind, loss):
    rng = np.random.default_rng(6)
    problem = random_problem(rng, kind, loss)
    every = problem.labels()
    few = [every[k] for k in rng.permutation(len(every))[:4]]
    first = {}
    for count in (1, 4):
        state = begin(*problem[:3], options=Options(tol=1e-4, max_iter=1))
        first[count] = cutting_plane(state, few[:count], rng).solution.upper
    assert first[4] <= first[1] * (1 + 1e-2)  # the first master is a rough one


# The oracles


@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("seed", range(5))
def test_oracles_stay_in_B_and_never_lower_the_norm_they_maximise(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, "squared_hinge")
    state = begin(*problem[:3], rng.random(problem.label_set.n_rows))
    for _ in range(3):
        state.add(state.candidate(problem.label_set.initial(rng)))
    norms, every = state.squared_norms(), {y.tobytes() for y in enumerate_labels(problem.label_set)}
    largest = largest_norm(problem, state.alpha)
    found = {}
    for name, oracle in ORACLES.items():
        candidate = oracle(state, norms, rng)
        assert candidate.y.tobytes() in every
        assert norms.max() * (1 - 1e-12) <= candidate.squared_norm <= largest * (1 + 1e-12)
        spread = state.alpha * candidate.y
        np.testing.assert_allclose(candidate.squared_norm, spread @ problem.K @ spread, rtol=1e-10)
        found[name] = candidate.squared_norm
    assert found["climb"] >= found["paper"] * (1 - 1e-12)


@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("seed", range(5))
def test_climbing_ends_where_the_linearisation_gains_nothing(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, "squared_hinge")
    state = begin(*problem[:3], rng.random(problem.label_set.n_rows))
    start = state.candidate(problem.label_set.initial(rng))
    end = climb(state, start)
    assert end.squared_norm >= start.squared_norm
    slope = state.alpha * (problem.K @ (state.alpha * end.y))
    assert (np.stack(problem.labels()) @ slope).max() <= slope @ end.y + 1e-9 * abs(slope @ end.y)


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_G_is_the_dual_value_that_a_label_vector_allows(seed, kind, loss):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, loss)
    state = begin(*problem[:3], np.minimum(rng.random(problem.label_set.n_rows), problem.losses.cap))
    for y in (problem.label_set.initial(rng) for _ in range(5)):
        dense = dual_value(problem.K, problem.label_set, problem.losses, state.alpha, [y], np.ones(1))
        np.testing.assert_allclose(G(state, state.candidate(y)), dense, rtol=1e-10, atol=1e-12)
        state.add(state.candidate(y))
    # The same of those in use, and the least of them is what the master's lower bound is made of.
    values = [G(state, state.active(t)) for t in range(5)]
    dense = [
        dual_value(problem.K, problem.label_set, problem.losses, state.alpha, [y], np.ones(1)) for y in state.labels
    ]
    np.testing.assert_allclose(values, dense, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_of_equally_good_label_vectors_one_oracle_takes_the_first(kind):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, kind, "squared_hinge")
    state = begin(*problem[:3], rng.random(problem.label_set.n_rows))
    for _ in range(3):
        state.add(state.candidate(problem.label_set.initial(rng)))
    nearly = np.array([1.0, 1.0 + 0.1 * state.options.equal_norms, 1.0 - 0.1 * state.options.equal_norms])
    clearly = np.array([1.0, 1.0 + 10 * state.options.equal_norms, 1.0])
    steps = [next_label(problem, state, y) for y in state.labels]
    assert linearized_at_first(state, nearly, rng).y.tobytes() == steps[0].tobytes()
    assert linearized_at_first(state, clearly, rng).y.tobytes() == steps[1].tobytes()
    assert linearized_once(state, nearly, rng).y.tobytes() == steps[1].tobytes()


def next_label(problem, state, y):
    """One linearization at y, by enumeration; y itself where nothing is gained."""
    slope = state.alpha * (problem.K @ (state.alpha * y))
    best = max(problem.labels(), key=lambda z: slope @ z)
    return best if slope @ best > slope @ y * (1 + 1e-12) else y
