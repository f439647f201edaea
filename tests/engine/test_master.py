"""The restricted master: bounds that hold, the optimum of a generic solver, and the plain SVM as its smallest case."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from checks import KeyInstances, dense_loss, dual_value, generic_master, random_kernel, random_problem
from wellsvm.engine.master import solve_master
from wellsvm.engine.svm import fit_svm
from wellsvm.geometry import GramGeometry, LinearGeometry
from wellsvm.geometry.base import Losses
from wellsvm.labels import BalancedLabels

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]


def some_labels(problem, rng, count):
    every = problem.labels()
    return [every[k] for k in rng.permutation(len(every))[:count]]


def start(geometry, label_set, losses, labels):
    descent = geometry.descent(label_set, losses)
    for y in labels:
        descent.add(descent.candidate(y))
    return descent, np.full(len(labels), 1 / len(labels)), np.arange(label_set.n_rows)


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_bracket_the_optimum_of_a_generic_solver(seed, kind, loss):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 1 + seed)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    for tol in (1e-2, 1e-4):
        descent, mu, rows = start(*problem[:3], labels)
        master = solve_master(descent, mu, rows, rng, tol)
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
    descent, mu, rows = start(*problem[:3], labels)
    master = solve_master(descent, mu, rows, rng, 1e-3)
    alpha, K = descent.alpha, problem.K
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
    descent, mu, rows = start(*problem[:3], some_labels(problem, rng, 5))
    master = solve_master(descent, mu, rows, rng, 1e-4)
    lost = master.squared_norms.max() - master.mu @ master.squared_norms
    # lower may come from an earlier alpha: compare with the dual value of this one
    here = dual_value(problem.K, problem.label_set, problem.losses, descent.alpha, descent.labels, master.mu)
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
    for geometry in (LinearGeometry(X, 1.0), GramGeometry(X @ X.T, 1.0)):
        master = solve_master(*start(geometry, label_set, losses, labels), rng, 1e-4)
        assert abs(master.upper - optimum) <= 1.1e-4 * optimum
        assert master.lower <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_one_labelling_is_the_svm_of_liblinear(loss, bias):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(60) > 0, 1, -1).astype(np.int8)
    C = 0.7 if loss == "hinge" else 0.35  # LIBLINEAR's squared hinge loss has no 1/2
    svc = LinearSVC(loss=loss, C=C, fit_intercept=bias > 0, tol=1e-9, max_iter=200_000, random_state=0).fit(X, y)
    w = np.append(svc.coef_, svc.intercept_)
    losses, label_set = Losses.of(loss, np.full(60, 0.7)), BalancedLabels(y, 0)
    expected = 0.5 * w @ w + dense_loss(losses, y * (X @ w[:-1] + w[-1]))
    for geometry in (LinearGeometry(X, bias), GramGeometry(X @ X.T, bias)):
        svm = fit_svm(geometry, label_set, losses, y, tol=1e-6, rng=rng)
        assert abs(svm.objective - expected) <= 2e-6 * expected
        np.testing.assert_allclose(svm.scores(), X @ w[:-1] + w[-1], atol=5e-3)
        np.testing.assert_array_equal(svm.y, y)


@pytest.mark.parametrize("kind, loss", CASES)
def test_an_svm_on_some_rows_is_the_svm_without_the_others(kind, loss):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, kind, loss)
    y = problem.label_set.initial(rng)
    rows = np.flatnonzero(problem.label_set.y_known)
    svm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, rows=rows)
    part = BalancedLabels(y[rows], 0)
    losses = Losses(problem.losses.cap[rows], problem.losses.ridge[rows])
    alone = generic_master(problem.K[np.ix_(rows, rows)], part, losses, [y[rows]]).value
    assert abs(svm.objective - alone) <= 2e-6 * alone
    assert not svm.descent.alpha[problem.label_set.free].any()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rows_of_price_zero_take_no_part(loss):
    rng = np.random.default_rng(5)
    K = random_kernel(rng, 10)
    y = rng.choice([-1, 1], 10).astype(np.int8)
    C = np.where(np.arange(10) < 6, 1.0, 0.0)
    svm = fit_svm(GramGeometry(K), BalancedLabels(y, 0), Losses.of(loss, C), y, tol=1e-7, rng=rng)
    part = BalancedLabels(y[:6], 0)
    alone = generic_master(K[:6, :6], part, Losses.of(loss, C[:6]), [y[:6]]).value
    assert abs(svm.objective - alone) <= 1e-6 * alone
    assert not svm.descent.alpha[6:].any()


@pytest.mark.parametrize("kind, loss", CASES)
def test_two_equal_label_vectors_change_nothing(kind, loss):
    rng = np.random.default_rng(6)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 2)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    descent, mu, rows = start(*problem[:3], [*labels, labels[0].copy()])
    master = solve_master(descent, mu, rows, rng, 1e-4)
    assert abs(master.upper - optimum) <= 1.1e-4 * optimum


@pytest.mark.parametrize("kind", ["linear", "gram"])
def test_a_limit_on_rounds_ends_the_run_with_bounds_that_hold(kind):
    rng = np.random.default_rng(7)
    problem = random_problem(rng, kind, "hinge")
    labels = some_labels(problem, rng, 4)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, labels).value
    descent, mu, rows = start(*problem[:3], labels)
    master = solve_master(descent, mu, rows, rng, 1e-12, max_rounds=3)
    assert master.n_epochs <= 3 + 10  # a geometry may make several epochs between two looks
    assert master.lower <= optimum * (1 + 1e-6)
    assert master.upper >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_warm_start_at_the_solution_needs_few_epochs(kind, loss):
    rng = np.random.default_rng(8)
    problem = random_problem(rng, kind, loss)
    labels = some_labels(problem, rng, 3)
    descent, mu, rows = start(*problem[:3], labels)
    cold = solve_master(descent, mu, rows, rng, 1e-4)
    again = solve_master(descent, cold.mu, rows, rng, 1e-2)
    assert again.n_epochs <= 10
    assert again.upper <= cold.upper * (1 + 1e-2)


@pytest.mark.parametrize("kind, loss", CASES)
def test_the_same_seed_gives_the_same_bits(kind, loss):
    problem = random_problem(np.random.default_rng(9), kind, loss)
    labels = some_labels(problem, np.random.default_rng(0), 4)
    runs = []
    for _ in range(2):
        descent, mu, rows = start(*problem[:3], labels)
        master = solve_master(descent, mu, rows, np.random.default_rng(1), 1e-4)
        runs.append((descent.alpha, master.mu, np.array([master.upper, master.lower])))
    for first, second in zip(*runs):
        np.testing.assert_array_equal(first, second)
