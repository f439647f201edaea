"""Coordinate descent on a kernel matrix, and Newton's method where it takes over."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from checks import KeyInstances, generic_master, random_problem, signed_rows
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.solver import begin, fit_svm, gram_cd

N = 14


def make_label_set(kind):
    if kind == "examples":
        return BalancedLabels(np.array([1, -1, 1] + [0] * (N - 3)), 3, 7)
    return KeyInstances([3, 1, 4, 1, 1, 2, 1, 1], v=1 if kind == "bags" else 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0.0, 100.0])  # 100: no row has slack
@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
def test_newton_solves_the_svm_of_squared_hinge_loss(rows, start, dtype):
    # It takes over at once, the second time before the first epoch.
    options = Options(newton_cost=0.0, epochs_per_mu=0 if start else 10)
    rng = np.random.default_rng(3)
    X, label_set = 3 * rng.standard_normal((N, 3)), make_label_set(rows)
    losses, mu = (
        Losses.of("squared_hinge", np.resize([1.0, 0.3, 5.0, 0.0], label_set.n_rows)),
        np.array([0.6, 0.3, 0.1]),
    )
    stored = (X @ X.T).astype(dtype)
    K, used = stored.astype(np.float64) + 1.0, np.flatnonzero(losses.cap > 0)
    state = begin(GramRows(stored, 1.0), label_set, losses, np.where(losses.cap > 0, start, 0.0), options)
    for _ in range(3):
        state.add(state.candidate(label_set.initial(rng)))
    sweep = state.descend(mu, used, rng, goal=0.0)
    # KKT: alpha = slack / ridge, by dense formulas
    alpha = state.alpha
    psis = signed_rows(label_set, state.labels)
    margins = sum(m * psi @ (K @ (alpha @ psi)) for m, psi in zip(mu, psis))
    slack = np.maximum(0.0, 1.0 - margins[used])
    np.testing.assert_allclose(alpha[used], slack / losses.ridge[used], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(state.margins(mu), margins, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sweep.loss, losses.total(margins, used), rtol=1e-9)
    assert np.all(alpha[losses.cap == 0] == 0)
    assert slack.min() == 0 < slack.max()  # else the test would be a linear system


def test_newton_leaves_what_is_not_definite_to_coordinate_descent():
    label_set = BalancedLabels(np.array([1, -1, 1, -1]), 0)
    losses = Losses.of("squared_hinge", np.full(4, 2.0))
    rows, options = GramRows(np.diag([1.0, 1.0, 1.0, -0.6])), Options(newton_cost=0.0)
    state = begin(rows, label_set, losses, options=options)
    state.add(state.candidate(np.array([1, -1, 1, -1], dtype=np.int8)))
    before = state.alpha.copy()
    assert not state._solve_by_newton(np.ones(1), np.arange(4), goal=1e-3)
    np.testing.assert_array_equal(state.alpha, before)


@pytest.mark.parametrize("C", [1e3, 1e5, 1e7])
def test_newton_turns_to_double_precision_where_single_does_not_do(monkeypatch, C):
    precisions = []
    solved_in = gram_cd.SlackSystem.__init__

    def watched(self, Q, ridge):
        precisions.append(Q.dtype)
        solved_in(self, Q, ridge)

    monkeypatch.setattr(gram_cd.SlackSystem, "__init__", watched)
    n = 300
    X = np.random.default_rng(0).standard_normal((n, 2))
    K = rbf_kernel(X, gamma=0.05).astype(np.float32)
    y = np.where(np.random.default_rng(1).random(n) < 0.5, 1, -1).astype(np.int8)
    label_set, losses = BalancedLabels(y, 0), Losses.of("squared_hinge", np.full(n, C))
    state = begin(GramRows(K, 1.0), label_set, losses)
    state.add(state.candidate(y))
    solved = state._solve_by_newton(np.ones(1), np.arange(n), goal=1e-3)
    assert precisions[0] == np.float32
    assert (np.dtype(np.float64) in precisions) == (C > 1e3)
    assert solved == (C < 1e7)  # there the rounded matrix itself is not definite
    if solved:
        margins = y * ((K.astype(np.float64) + 1.0) @ (y * state.alpha))
        np.testing.assert_allclose(state.alpha * losses.ridge, np.maximum(0.0, 1.0 - margins), atol=2e-6)


CONSTANTS = [
    {"epochs_per_mu": 1},
    {"patience": 0.0},  # every row is visited
    {"patience": 0.9},
    {"svm_epochs": 1},
    {"svm_patience": 0.0},
    {"svm_patience": 0.9},
    {"newton_cost": 0.0},  # Newton at once
    {"newton_rows": 0},  # never
    {"newton_steps": 1},
]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("constants", CONSTANTS, ids=lambda given: ", ".join(given))
def test_the_constants_change_the_way_but_not_the_end(constants, loss):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, "gram", loss)
    y = problem.label_set.initial(rng)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, [y]).value
    svm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, options=Options(**constants))
    assert abs(svm.upper - optimum) <= 2e-6 * optimum


def test_an_svm_is_solved_to_the_gap_asked_for_and_not_much_further():
    rng = np.random.default_rng(2)
    problem = random_problem(rng, "gram", "squared_hinge")
    y = problem.label_set.initial(rng)
    options = Options(newton_rows=0)
    for tol in (0.1, 0.01, 1e-3, 1e-4):
        svm = fit_svm(*problem[:3], y, tol=tol, rng=rng, options=options)
        assert 1e-3 * tol * svm.upper <= svm.gap <= tol * svm.upper
