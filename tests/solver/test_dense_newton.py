"""Newton's method on dense rows: certified by plain NumPy, whatever the columns look like."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.solver import begin, fit_svm, solve_master
from wellsvm.solver.dense_newton import DenseNewton, _Problem

LOSSES = ["hinge", "squared_hinge"]


def problem(seed, n=120, d=6, scale=1.0, shift=0.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) @ rng.standard_normal((d, d))) * np.logspace(0, np.log10(scale), d) + shift
    y = np.where(X[:, 0] - X[:, 0].mean() + 0.3 * X[:, 0].std() * rng.standard_normal(n) > 0, 1, -1).astype(np.int8)
    return np.ascontiguousarray(X, dtype=dtype), y


def certified(X, bias, losses, alpha, labels, mu):
    """Upper and lower bound of a master, from alpha alone."""
    Z = np.column_stack([X, np.full(len(X), bias)]).astype(np.float64)
    U = [Z.T @ (alpha * y) for y in labels]
    norms = np.array([u @ u for u in U])
    margins = sum(m * y * (Z @ u) for m, y, u in zip(mu, labels, U))
    slack = np.maximum(0.0, 1.0 - margins)
    squared = losses.ridge > 0
    loss = np.sum(slack[squared] ** 2 / (2 * losses.ridge[squared])) + losses.cap[~squared] @ slack[~squared]
    linear = alpha.sum() - 0.5 * np.sum(losses.ridge * alpha**2)
    return 0.5 * mu @ norms + loss, linear - 0.5 * norms.max()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1e4, 0.0), (1e-4, 0.0), (1.0, 1e4)])
def test_an_svm_is_solved_whatever_the_columns_look_like(loss, scale, shift):
    X, y = problem(0, scale=scale, shift=shift)
    losses = Losses.of(loss, np.full(len(y), 0.5))
    rng = np.random.default_rng(0)
    svm = fit_svm(LinearRows(X, 1.0), BalancedLabels.known(y), losses, y, tol=1e-3, rng=rng)
    upper, lower = certified(X, 1.0, losses, svm.alpha, [y], np.ones(1))
    assert upper - lower <= 1.01e-3 * upper
    assert svm.n_epochs < 300


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n, d", [(120, 6), (20, 40)])
def test_newton_and_coordinate_descent_end_at_the_same_objective(loss, dtype, n, d):
    X, y = problem(1, n=n, d=d, dtype=dtype)
    losses = Losses.of(loss, np.full(n, 0.05))
    values = []
    for options in (Options(), Options(newton_columns=0)):  # no Hessian is small enough: coordinate descent
        rng = np.random.default_rng(0)
        svm = fit_svm(
            LinearRows(X, 1.0), BalancedLabels.known(y), losses, y, tol=1e-6, rng=rng, options=options,
        )  # fmt: skip
        assert svm.gap <= 1e-6 * svm.upper
        values.append(svm.upper)
    assert values[0] == pytest.approx(values[1], rel=2e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_the_gap_of_a_master_is_that_of_its_dual_variables(loss, scale):
    X, y = problem(2, n=40, d=4, scale=scale)
    labels = BalancedLabels(np.where(np.arange(40) < 8, y, 0), 12)
    losses = Losses.of(loss, np.full(40, 0.3))
    rng = np.random.default_rng(0)
    state = begin(LinearRows(X, 1.0), labels, losses)
    for _ in range(3):
        state.add(state.candidate(labels.initial(rng)))
    master = solve_master(state, np.full(3, 1 / 3), np.arange(40), rng, 1e-3)
    upper, here = certified(X, 1.0, losses, state.alpha, state.labels, master.mu)
    assert master.upper == pytest.approx(upper, rel=1e-6)
    assert master.gap <= 1.001e-3 * master.upper
    assert here <= master.upper
    assert master.lower <= master.upper


def test_a_hessian_of_two_label_vectors_is_that_of_the_definition():
    X, _ = problem(3, n=30, d=3)
    rng = np.random.default_rng(0)
    labels, weights, mu = rng.choice([-1, 1], (30, 2)).astype(np.int8), rng.random(30), np.array([0.7, 0.3])
    newton = DenseNewton(LinearRows(X, 0.5), Options())
    task = _Problem(newton.rows, labels, np.sqrt(mu), Options())
    Z = np.column_stack([X, np.full(30, 0.5)])
    stacked = np.hstack([np.sqrt(m) * labels[:, [t]] * Z for t, m in enumerate(mu)])
    for part in (weights, np.where(rng.random(30) < 0.2, 0.0, weights), 3.0 * weights):  # also from old moments
        got = task.hessian(newton._second_moments(part), part)
        np.testing.assert_allclose(got, np.eye(8) + stacked.T @ (part[:, None] * stacked), rtol=1e-9, atol=1e-9)


def test_rows_in_other_columns_have_the_same_inner_products():
    for X, uneven in ((problem(4, n=10, d=20)[0], False), (problem(4, n=50, d=5, scale=1e4)[0], True)):
        rows = LinearRows(X, 2.0)
        assert bool(rows.uneven_columns) == uneven
        np.testing.assert_allclose(rows.compact.X @ rows.compact.X.T, X @ X.T + 4.0, rtol=1e-8, atol=1e-6)
        assert rows.compact.X.shape[1] <= min(len(X), X.shape[1] + 1)
    even = LinearRows(problem(4)[0], 2.0)
    assert even.compact is even


def test_short_columns_are_left_to_coordinate_descent_however_uneven():
    X = np.random.default_rng(0).standard_normal((200, 20))
    dead = 0.05 * X * np.where(np.arange(20) == 7, 1e-8, 1.0)
    assert "column 7" in LinearRows(dead).uneven_columns
    assert not LinearRows(dead).steep
    for steep in (100 * dead, dead + np.where(np.arange(20) == 3, 50.0, 0.0)):
        assert LinearRows(steep).steep
    y = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    losses = Losses.of("squared_hinge", np.ones(200))
    svm = fit_svm(LinearRows(dead), BalancedLabels.known(y), losses, y, tol=1e-6, rng=np.random.default_rng(0))
    assert svm.solved_to(1e-6)
    assert svm.state._newton is None


def test_what_is_uneven_is_named():
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert LinearRows(X).uneven_columns == ""
    assert "column 1 of X spreads" in LinearRows(X * [1.0, 1e5, 1.0]).uneven_columns
    assert "column 2 of X lies" in LinearRows(X + [0.0, 0.0, 1e6]).uneven_columns
    assert LinearRows(np.ones((5, 2))).uneven_columns == ""
