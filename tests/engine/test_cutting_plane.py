"""Algorithm 1: its stopping rules, its label vectors, its oracles; and refinement after it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from checks import enumerate_labels, mixed_integer_optimum, random_problem, relaxation_optimum
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.refine import MAX_ROUNDS, alternate
from wellsvm.engine.report import Status
from wellsvm.engine.separation import ORACLES, climb, climb_from_many, linearized_once
from wellsvm.engine.svm import fit_svm
from wellsvm.labels import BalancedLabels

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]


def run(problem, oracle="climb", seed=0, tol=1e-4, **options):
    rng = np.random.default_rng(seed)
    descent = problem.geometry.descent(problem.label_set, problem.losses)
    first = problem.label_set.initial(rng)
    return cutting_plane(descent, [first], oracle=ORACLES[oracle], tol=tol, rng=rng, **options)


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


@pytest.mark.parametrize("oracle", ["paper", "climb"])
@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_result_is_consistent_with_itself(seed, kind, loss, oracle):
    problem = random_problem(np.random.default_rng(seed), kind, loss)
    result = run(problem, oracle, tol=1e-3)
    assert result.status.converged
    assert all(problem.label_set.contains(y) for y in result.labels)
    assert len({y.tobytes() for y in result.labels}) == len(result.labels) == result.mu.size
    assert np.all(result.mu >= 0)
    np.testing.assert_allclose(result.mu.sum(), 1.0, rtol=1e-12)
    last = result.history[-1]
    assert (last.objective, last.gap, last.violation) == (result.objective, result.gap, result.violation)
    assert result.gap <= 1.001e-3 * result.objective
    assert last.labelings == len(result.labels)
    assert all(left.epochs < right.epochs for left, right in pairwise(result.history))
    assert all(left.seconds <= right.seconds for left, right in pairwise(result.history))


@pytest.mark.parametrize("oracle", ["paper", "climb"])
@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_and_all_of_B_bound_the_relaxation_from_below(seed, kind, loss, oracle):
    # Eq. (4) at the final alpha, with the most violated label of all of B: the certificate a perfect oracle would give.
    problem = random_problem(np.random.default_rng(50 + seed), kind, loss)
    result = run(problem, oracle)
    alpha = result.descent.alpha
    lower = problem.losses.dual_linear(alpha) - 0.5 * largest_norm(problem, alpha)
    optimum = relaxation_optimum(problem)
    assert lower <= optimum * (1 + 1e-6)
    assert result.objective >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_with_all_labels_known_the_first_svm_is_the_answer(kind):
    problem = random_problem(np.random.default_rng(0), kind, "hinge")
    y = problem.label_set.initial(np.random.default_rng(1))
    problem = problem._replace(label_set=BalancedLabels(y, 0))
    for oracle in ORACLES:
        result = run(problem, oracle)
        assert result.status is Status.NO_VIOLATED_LABEL
        assert len(result.history) == 1
        np.testing.assert_array_equal(result.mu, [1.0])
        np.testing.assert_array_equal(result.labels[0], y)


@pytest.mark.parametrize("kind, loss", CASES)
def test_the_limit_on_label_vectors_is_kept_and_told(kind, loss):
    problem, _ = next(long_runs(kind, loss))
    short = run(problem, max_iter=2)
    assert short.status is Status.MAX_ITER
    assert not short.status.converged
    assert len(short.history) == 2
    with pytest.warns(ConvergenceWarning, match="max_iter reached"):
        short.warn_unless_converged()


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
    np.testing.assert_array_equal(first.mu, second.mu)
    np.testing.assert_array_equal(first.descent.alpha, second.descent.alpha)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert [r.objective for r in first.history] == [r.objective for r in second.history]


@pytest.mark.parametrize("kind, loss", CASES)
def test_more_label_vectors_at_the_start_do_not_raise_the_first_master(kind, loss):
    rng = np.random.default_rng(6)
    problem = random_problem(rng, kind, loss)
    every = problem.labels()
    few = [every[k] for k in rng.permutation(len(every))[:4]]
    first = {}
    for count in (1, 4):
        descent = problem.geometry.descent(problem.label_set, problem.losses)
        result = cutting_plane(descent, few[:count], oracle=ORACLES["paper"], tol=1e-4, max_iter=1, rng=rng)
        first[count] = result.objective
    assert first[4] <= first[1] * (1 + 1e-2)  # the first master is a rough one


# The oracles


@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("seed", range(5))
def test_oracles_stay_in_B_and_never_lower_the_norm_they_maximise(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, "squared_hinge")
    descent = problem.geometry.descent(problem.label_set, problem.losses, rng.random(problem.label_set.n_rows))
    for _ in range(3):
        descent.add(descent.candidate(problem.label_set.initial(rng)))
    norms, every = descent.squared_norms(), {y.tobytes() for y in enumerate_labels(problem.label_set)}
    largest = largest_norm(problem, descent.alpha)
    found = {}
    for name, oracle in (("paper", linearized_once), ("climb", climb_from_many)):
        candidate = oracle(descent, norms, rng)
        assert candidate.y.tobytes() in every
        assert norms.max() * (1 - 1e-12) <= candidate.squared_norm <= largest * (1 + 1e-12)
        spread = descent.alpha * candidate.y
        np.testing.assert_allclose(candidate.squared_norm, spread @ problem.K @ spread, rtol=1e-10)
        found[name] = candidate.squared_norm
    assert found["climb"] >= found["paper"] * (1 - 1e-12)


@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("seed", range(5))
def test_climbing_ends_where_the_linearisation_gains_nothing(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, "squared_hinge")
    descent = problem.geometry.descent(problem.label_set, problem.losses, rng.random(problem.label_set.n_rows))
    start = descent.candidate(problem.label_set.initial(rng))
    end = climb(descent, start)
    assert end.squared_norm >= start.squared_norm
    slope = descent.alpha * (problem.K @ (descent.alpha * end.y))
    assert (np.stack(problem.labels()) @ slope).max() <= slope @ end.y + 1e-9 * abs(slope @ end.y)


# Refinement


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_refinement_ends_in_B_between_the_best_labelling_and_its_start(seed, kind, loss):
    rng = np.random.default_rng(70 + seed)
    problem = random_problem(rng, kind, loss, n_range=(8, 9))
    label_set, seen = problem.label_set, []
    best, _ = mixed_integer_optimum(problem, tol=1e-6)

    def solve(y, **start):
        svm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, **start)
        seen.append(svm.objective)
        return svm

    for scores in rng.standard_normal((3, label_set.n_instances)):
        seen.clear()
        svm = alternate(solve, label_set, scores, np.zeros(label_set.n_rows))
        assert label_set.contains(svm.y)
        assert svm.objective == seen[-1]
        assert all(after <= before * (1 + 1e-5) for before, after in pairwise(seen)), "a round raised the objective"
        assert svm.objective >= best * (1 - 1e-5)
        if len(seen) < MAX_ROUNDS:
            np.testing.assert_array_equal(label_set.linear_oracle(svm.scores()), svm.y)


@pytest.mark.parametrize("max_rounds", [1, 2, 3])
def test_refinement_never_ends_with_a_rough_solution(max_rounds):
    problem = random_problem(np.random.default_rng(5), "linear", "hinge", n_range=(8, 9))
    rng, calls = np.random.default_rng(0), []

    def train(name):
        def solve(y, **start):
            calls.append(name)
            return fit_svm(*problem[:3], y, tol=1e-6, rng=rng, **start)

        return solve

    scores = rng.standard_normal(problem.label_set.n_instances)
    alternate(train("well"), problem.label_set, scores, None, max_rounds, train("roughly"))
    assert calls[0] == "roughly"
    assert calls[-1] == "well"
