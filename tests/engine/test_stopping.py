"""The two rules of Algorithm 1, and what their thresholds are measured against."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import cvxpy as cp
import numpy as np
import pytest

from checks import accurate, random_problem
from wellsvm.engine.cutting_plane import ORACLES, cutting_plane
from wellsvm.engine.report import ACT, Status
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.solver import begin, solve_master

LOSSES = ["hinge", "squared_hinge"]


def run(problem, options):
    """A cutting plane from a random label vector, its masters solved to ``options.tol`` throughout."""
    rng = np.random.default_rng(0)
    state = begin(*problem[:3], options=replace(options, rough=1.0, rough_rounds=options.max_rounds))
    return cutting_plane(state, [problem.label_set.initial(rng)], rng)


def unit(stopping, loss, upper, before):
    """What one unit of a threshold is worth in the library's objective."""
    if stopping == "relative":
        return upper
    return 4 * upper * before if stopping == "paper" and loss == "squared_hinge" else 1.0


# ------------------------------------------------------------------ the rules


@pytest.mark.slow
@pytest.mark.parametrize("stopping", ["relative", "absolute", "paper"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_run_ends_where_a_rule_says_so_and_not_before(loss, stopping):
    ended = set()
    for seed, thresholds in product(range(6), [(1e-4, 3e-2), (3e-2, 1e-4), (0.0, 1e-3)]):
        problem = random_problem(np.random.default_rng(seed), "gram", loss)
        min_violation, min_decrease = thresholds
        options = replace(accurate(1e-6, "climb"), stopping=stopping)
        result = run(problem, replace(options, min_violation=min_violation, min_decrease=min_decrease))
        records = result.history
        violated = [r.violation > min_violation * unit(stopping, loss, r.objective, r.objective) for r in records]
        fell = [
            before.objective - after.objective > min_decrease * unit(stopping, loss, after.objective, before.objective)
            for before, after in pairwise(records)
        ]
        assert all(violated[:-1]), "a label vector was added that is not violated enough"
        assert all(fell[:-1]), "a label vector was added after one that lowered the objective by too little"
        if result.status is Status.NO_VIOLATED_LABEL:
            assert not violated[-1]
        else:
            assert result.status is Status.SMALL_DECREASE
            assert len(records) > 1
            assert not fell[-1]
        ended.add(result.status)
    assert ended == {Status.NO_VIOLATED_LABEL, Status.SMALL_DECREASE}, "one rule is not tested"


def test_only_a_run_without_a_violated_label_vector_is_called_converged():
    # clusters relabeled together generate none: they are converged once they have settled
    assert [status for status in Status if status.converged] == [Status.NO_VIOLATED_LABEL, Status.SETTLED]
    assert Status.SMALL_DECREASE.word == "ended"
    assert {status.word for status in ACT} == {"NOT converged"}
    assert Status("objective stands still") is Status.SMALL_DECREASE  # the word of models saved before


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_a_label_vector_that_is_not_worth_its_place_is_not_in_the_result(kind):
    dropped = 0
    for seed in range(8):
        problem = random_problem(np.random.default_rng(seed), kind, "squared_hinge")
        result = run(problem, replace(accurate(1e-4, "climb"), min_violation=1e-4, min_decrease=5e-2))
        before, last = result.history[-2:] if len(result.history) > 1 else result.history * 2
        if result.status is Status.SMALL_DECREASE and last.labelings <= before.labelings:
            dropped += 1
            assert last.violation > 1e-4 * last.objective
            assert before.objective * (1 + 1e-4) >= last.objective >= before.objective / 1.05
            assert len(result.solution.state.labels) == last.labelings == result.solution.mu.size
    assert dropped


@pytest.mark.parametrize("stopping", ["relative", "absolute", "paper"])
def test_a_master_is_solved_to_the_same_accuracy_whatever_the_thresholds_mean(stopping):
    problem = random_problem(np.random.default_rng(1), "gram", "squared_hinge")
    result = run(problem, Options(tol=1e-4, stopping=stopping, min_violation=1e-3, min_decrease=1e-3))
    assert result.solution.gap <= 1.001e-4 * result.solution.upper


@pytest.mark.parametrize("loss", LOSSES)
def test_only_a_relative_threshold_does_not_see_the_scale_of_the_objective(loss):
    # Features c times as large at prices c^2 times as small: the same SVM, its objective c^2 times as small.
    problem = random_problem(np.random.default_rng(3), "gram", loss)
    K, c2 = problem.K, 1e-3
    C = problem.losses.cap if loss == "hinge" else 1 / problem.losses.ridge
    scaled = problem._replace(rows=GramRows(K / c2), losses=Losses.of(loss, C * c2))
    plain = problem._replace(rows=GramRows(K))
    n_records = {}
    for stopping in ("relative", "absolute"):
        options = replace(accurate(1e-6, "climb"), min_violation=1e-3, min_decrease=1e-3, stopping=stopping)
        first, second = run(plain, options), run(scaled, options)
        n_records[stopping] = len(first.history), len(second.history)
        if stopping == "relative":
            assert second.solution.upper == pytest.approx(c2 * first.solution.upper, rel=1e-4)
    assert n_records["relative"][0] == n_records["relative"][1] > 1
    assert n_records["absolute"][1] == 1, "a small objective is below an absolute threshold at once"


# ------------------------------------------------------------------ the paper's nu-SVM


def tiny():
    """Six rows, two labels known, squared hinge loss; a few label vectors of B."""
    rng = np.random.default_rng(0)
    X, known = rng.standard_normal((6, 3)), np.array([1, -1, 0, 0, 0, 0])
    C = np.where(known != 0, 1.0, 0.5)
    label_set = BalancedLabels(known, 2)
    labels = [label_set.linear_oracle(scores) for scores in rng.standard_normal((20, 6))]
    return X @ X.T + 1.0, label_set, C, list({y.tobytes(): y for y in labels}.values())


def dense_nu_svm(K, C, labels):
    """The paper's Eq. (4) over some label vectors: ``max over alpha in the simplex of min over y of g_y(alpha)``.

    g_y(alpha) = - 1/2 alpha' (K * yy' + diag(1 / C)) alpha: its optimum, and alpha.
    """
    alpha, least = cp.Variable(len(C), nonneg=True), cp.Variable()
    factors = [np.linalg.cholesky(K * np.outer(y, y) + np.diag(1 / C)).T for y in labels]
    constraints = [least <= -0.5 * cp.sum_squares(factor @ alpha) for factor in factors]
    cp.Problem(cp.Maximize(least), [*constraints, cp.sum(alpha) == 1]).solve(solver=cp.CLARABEL)
    return float(least.value), alpha.value


def solve(K, label_set, C, labels):
    state = begin(GramRows(K), label_set, Losses.of("squared_hinge", C), options=Options(tol=1e-9))
    for y in labels:
        state.add(state.candidate(y))
    return solve_master(state, np.full(len(labels), 1 / len(labels)), np.arange(6), np.random.default_rng(0), 1e-9)


@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_the_objective_and_alpha_of_the_nu_svm(n_labels):
    K, label_set, C, labels = tiny()
    solution = solve(K, label_set, C, labels[:n_labels])
    value, alpha = dense_nu_svm(K, C, labels[:n_labels])
    assert value == pytest.approx(-1 / (4 * solution.upper), rel=1e-6)
    assert solution.alpha.sum() == pytest.approx(2 * solution.upper, rel=1e-4)  # alpha is known to sqrt(gap)
    np.testing.assert_allclose(solution.alpha / solution.alpha.sum(), alpha, atol=1e-4)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_a_violation_and_a_decrease_in_the_units_of_the_nu_svm(n_labels):
    K, label_set, C, labels = tiny()
    solution = solve(K, label_set, C, labels[:n_labels])
    value, alpha = dense_nu_svm(K, C, labels[:n_labels])
    candidate = ORACLES["climb"](solution.state, solution.squared_norms, np.random.default_rng(0))
    violation = 0.5 * (candidate.squared_norm - solution.squared_norms.max())
    assert violation > 0
    H = K * np.outer(candidate.y, candidate.y) + np.diag(1 / C)
    in_nu_form = value + 0.5 * alpha @ H @ alpha  # by how much g_y lies below the optimum
    assert in_nu_form == pytest.approx(violation / (4 * solution.upper**2), rel=1e-3)
    after = solve(K, label_set, C, [*labels[:n_labels], candidate.y])
    fallen = value - dense_nu_svm(K, C, [*labels[:n_labels], candidate.y])[0]
    assert fallen == pytest.approx((solution.upper - after.upper) / (4 * solution.upper * after.upper), rel=1e-3)
