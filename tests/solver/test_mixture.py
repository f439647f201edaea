"""Weights of label vectors: the level method's projection and its bound, and the paper's closed form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from checks import dual_value, generic_master, random_problem
from wellsvm.labels import BalancedLabels
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.solver import begin, fit_svm, solve_master
from wellsvm.solver.mixture import ClosedForm, LevelMethod, _zero_sum_basis, project_below


def lowest_excess(slopes, bounds):
    """min over the simplex of ``max(slopes @ point - bounds)``: positive where no point lies below all bounds."""
    m, T = slopes.shape
    done = linprog(
        np.append(np.zeros(T), 1.0),
        A_ub=np.hstack([slopes, -np.ones((m, 1))]), b_ub=bounds,
        A_eq=np.append(np.ones(T), 0.0)[None], b_eq=[1.0],
        bounds=[(0, None)] * T + [(None, None)],
    )  # fmt: skip
    return done.fun


def random_level(rng):
    """A point of the simplex and a level set of it, empty about as often as not."""
    T, m = int(rng.integers(2, 9)), int(rng.integers(1, 21))
    scale = 10.0 ** rng.integers(-3, 4)
    mu = rng.dirichlet(np.full(T, 0.5))
    slopes = scale * rng.standard_normal((m, T))
    centre = rng.dirichlet(np.full(T, 0.5))
    bounds = slopes @ centre + scale * rng.uniform(-0.7, 0.5) * rng.random(m)
    return mu, slopes, bounds, scale


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_projection_is_the_nearest_point_of_the_level_set_or_none(block):
    rng = np.random.default_rng(block)
    n_empty = 0
    for _ in range(40):
        mu, slopes, bounds, scale = random_level(rng)
        excess = lowest_excess(slopes, bounds) / scale
        if abs(excess) < 1e-6:  # too close to call for either solver
            continue
        point = project_below(mu, slopes, bounds)
        if excess > 0:
            n_empty += 1
            assert point is None, "a point was found where there is none"
            continue
        assert point is not None, "an empty level set was claimed: the lower bound would be wrong"
        assert np.all(point >= 0)
        np.testing.assert_allclose(point.sum(), 1.0, rtol=1e-12)
        assert np.all(slopes @ point <= bounds + 1e-8 * scale)
        x = cp.Variable(mu.size)
        nearest = cp.Problem(
            cp.Minimize(cp.sum_squares(x - mu)), [x >= 0, cp.sum(x) == 1, (slopes / scale) @ x <= bounds / scale]
        )
        nearest.solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(point, x.value, atol=1e-5)
    assert 5 <= n_empty <= 35, "the cases are one-sided"


def test_a_point_below_all_bounds_stays_where_it_is():
    mu = np.array([0.2, 0.3, 0.5])
    point = project_below(mu, np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), np.array([2.5, 2.0]))
    np.testing.assert_allclose(point, mu, atol=1e-12)


def test_a_level_that_only_a_vertex_meets_gives_the_vertex():
    point = project_below(np.full(3, 1 / 3), np.array([[1.0, 2.0, 3.0]]), np.array([1.0 + 1e-9]))
    np.testing.assert_allclose(point, [1.0, 0.0, 0.0], atol=1e-6)
    assert project_below(np.full(3, 1 / 3), np.array([[1.0, 2.0, 3.0]]), np.array([0.9])) is None


@pytest.mark.parametrize("T", range(2, 10))
def test_the_basis_is_orthonormal_and_sums_to_zero(T):
    basis = _zero_sum_basis(T)
    np.testing.assert_allclose(basis.T @ basis, np.eye(T - 1), atol=1e-14)
    np.testing.assert_allclose(basis.sum(axis=0), 0.0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(6))
def test_the_lower_bound_is_valid_never_falls_and_reaches_the_optimum(seed, loss):
    rng = np.random.default_rng(seed)
    K, label_set, losses, labels = small_master(rng, loss)
    optimum = generic_master(K, label_set, losses, labels).value
    T = len(labels)
    mixture, bounds, best = LevelMethod(np.full(T, 1 / T), Options()), [-np.inf], np.inf
    for step in range(100):
        solved, F = solve_svm(K, label_set, losses, labels, mixture.mu)
        best = min(best, F)
        # Any feasible alpha gives a cut, also a poor one: every third is far from the solution.
        alpha = solved if step % 3 else np.minimum(rng.random(label_set.n_rows), losses.cap)
        norms = np.array([(alpha * y) @ K @ (alpha * y) for y in labels])
        mixture.add_cut(losses.dual_linear(alpha), norms)
        mixture.step(F, 1e-9 * abs(F))
        bounds.append(mixture.lower)
        assert mixture.lower <= optimum * (1 + 1e-6), "the lower bound exceeds the optimum"
        assert bounds[-1] >= bounds[-2], "the lower bound fell"
        assert np.all(mixture.mu >= 0)
        np.testing.assert_allclose(mixture.mu.sum(), 1.0, rtol=1e-12)
    assert best <= optimum * (1 + 1e-3)
    assert mixture.lower >= optimum * (1 - 1e-3)


@pytest.mark.slow
def test_the_lower_bound_is_what_the_cuts_prove_and_no_more():
    # The cuts' own minimum over the simplex, by linear programming; nothing above it is proven.
    rng = np.random.default_rng(1)
    n_raised = 0
    for _ in range(200):
        T, m = int(rng.integers(2, 7)), int(rng.integers(2, 12))
        offsets, norms = rng.uniform(0, 1, m), rng.uniform(0, 4, (m, T))
        mixture = LevelMethod(rng.dirichlet(np.ones(T)), Options())
        for linear, squared in zip(offsets, norms):
            mixture.add_cut(linear, squared)
        at_vertices = max(offsets - 0.5 * norms.max(axis=1))
        proven = lowest_excess(-0.5 * norms, -offsets)
        assert mixture.lower == at_vertices
        for _ in range(3):
            mixture.step(proven + rng.uniform(0.0, 1.0), 1e-9)
            assert mixture.lower <= proven + 1e-9
        n_raised += mixture.lower > at_vertices
    assert n_raised >= 20, "no level was ever empty"


def test_a_wrong_upper_bound_cannot_make_the_lower_bound_wrong():
    # solve_master passes an estimate of the upper bound; an estimate that is too low must do no harm.
    rng = np.random.default_rng(0)
    K, label_set, losses, labels = small_master(rng, "hinge")
    optimum = generic_master(K, label_set, losses, labels).value
    mixture = LevelMethod(np.full(len(labels), 1 / len(labels)), Options())
    for _ in range(40):
        alpha, F = solve_svm(K, label_set, losses, labels, mixture.mu)
        mixture.add_cut(losses.dual_linear(alpha), np.array([(alpha * y) @ K @ (alpha * y) for y in labels]))
        mixture.step(0.9 * F, 1e-9)
        assert mixture.lower <= optimum * (1 + 1e-6)


def dense_master(rng, loss):
    """A small master, and F, its optimum for fixed mu, with the squared norms at its alpha."""
    K, label_set, losses, labels = small_master(rng, loss)

    def value(mu):
        alpha, F = solve_svm(K, label_set, losses, labels, mu)
        return F, losses.dual_linear(alpha), np.array([(alpha * y) @ K @ (alpha * y) for y in labels])

    return value, generic_master(K, label_set, losses, labels)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_lowers_F_at_every_step_and_its_bound_holds(seed, loss):
    value, optimum = dense_master(np.random.default_rng(seed), loss)
    weights = ClosedForm(np.full(optimum.mu.size, 1 / optimum.mu.size), Options())
    last, linear, norms = value(weights.mu)
    first = last
    for _ in range(60):
        weights.add_cut(linear, norms)
        assert weights.lower <= optimum.value * (1 + 1e-6)
        weights.step(last, 0.0)
        assert np.all(weights.mu >= 0)
        np.testing.assert_allclose(weights.mu.sum(), 1.0, rtol=1e-12)
        before, (last, linear, norms) = last, value(weights.mu)
        assert last <= before * (1 + 1e-7), "a step raised F"
    assert last <= optimum.value * (1 + 2e-2)
    assert last - optimum.value <= 0.5 * (first - optimum.value) + 1e-4 * optimum.value  # slow, but it gets there


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimal_weights_are_a_fixed_point_of_the_closed_form(seed, loss):
    value, optimum = dense_master(np.random.default_rng(10 + seed), loss)
    weights = ClosedForm(optimum.mu, Options())
    F, linear, norms = value(optimum.mu)
    weights.add_cut(linear, norms)
    weights.step(F, 0.0)
    np.testing.assert_allclose(weights.mu, optimum.mu, atol=2e-3)
    np.testing.assert_allclose(value(weights.mu)[0], optimum.value, rtol=1e-5)


def test_a_fixed_point_of_the_closed_form_with_all_weights_positive_is_optimal():
    # mu_t ||u_t|| = mu_t c for all t means equal norms, where the cut at alpha is flat: nothing lies below it.
    rng = np.random.default_rng(0)
    for _ in range(50):
        mu, c, linear = rng.dirichlet(np.ones(4)), rng.uniform(0.1, 3.0), rng.uniform(5.0, 6.0)
        weights = ClosedForm(mu, Options())
        weights.add_cut(linear, np.full(4, c**2))
        weights.step(linear, 0.0)
        np.testing.assert_allclose(weights.mu, mu, rtol=1e-12)
        np.testing.assert_allclose(weights.lower, linear - 0.5 * c**2, rtol=1e-12)
        # Anything else is none: weight moves to the longer vectors.
        norms = c**2 * rng.uniform(0.5, 1.5, 4)
        weights.add_cut(linear, norms)
        weights.step(linear, 0.0)
        assert norms @ weights.mu > norms @ mu
    weights = ClosedForm(mu, Options())
    weights.add_cut(0.0, np.zeros(4))  # alpha = 0: no direction is better than another
    weights.step(0.0, 0.0)
    np.testing.assert_array_equal(weights.mu, mu)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_both_updates_reach_the_same_optimum(seed, loss, kind):
    rng = np.random.default_rng(20 + seed)
    problem = random_problem(rng, kind, loss)
    every = problem.labels()
    labels = [every[k] for k in rng.permutation(len(every))[:4]]
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    upper = {}
    for name in ("level", "closed_form"):
        state = begin(*problem[:3], options=Options(weight_update=name))
        for y in labels:
            state.add(state.candidate(y))
        master = solve_master(state, np.full(4, 0.25), np.arange(problem.label_set.n_rows), rng, 1e-5, 20_000)
        assert master.lower <= optimum * (1 + 1e-6)
        upper[name] = master.upper
    assert abs(upper["level"] - upper["closed_form"]) <= 1e-4 * optimum
    assert abs(upper["closed_form"] - optimum) <= 1e-4 * optimum


def small_master(rng, loss):
    problem = random_problem(rng, "gram", loss)
    every = problem.labels()
    chosen = rng.permutation(len(every))[: int(rng.integers(2, 6))]
    return problem.K, problem.label_set, problem.losses, [every[k] for k in chosen]


def solve_svm(K, label_set, losses, labels, mu):
    """alpha and F(mu) of the SVM whose kernel is ``sum_t mu_t K * y_t y_t'``, as one labeling of all +1."""
    mixed = np.ascontiguousarray(sum(m * K * np.outer(y, y) for m, y in zip(mu, labels)))
    ones = np.ones(label_set.n_rows, np.int8)
    svm = fit_svm(GramRows(mixed), BalancedLabels.known(ones), losses, ones, tol=1e-8, rng=np.random.default_rng(0))
    alpha = svm.alpha
    np.testing.assert_allclose(dual_value(K, label_set, losses, alpha, labels, mu), svm.upper, rtol=1e-6)
    return alpha, svm.upper
