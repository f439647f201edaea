"""The SVM on given labels, the master's smallest case: LIBLINEAR's, on some rows, from any start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from checks import dense_loss, generic_master, random_kernel, random_problem
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import begin, fit_svm, solve_svm

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]


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
    for rows in (LinearRows(X, bias), GramRows(X @ X.T, bias)):
        svm = fit_svm(rows, label_set, losses, y, tol=1e-6, rng=rng)
        assert abs(svm.upper - expected) <= 2e-6 * expected
        np.testing.assert_allclose(svm.scores(), X @ w[:-1] + w[-1], atol=5e-3)
        np.testing.assert_array_equal(svm.y, y)


@pytest.mark.parametrize("kind, loss", CASES)
def test_an_svm_on_some_rows_is_the_svm_without_the_others(kind, loss):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, kind, loss)
    y = problem.label_set.initial(rng)
    rows = np.flatnonzero(problem.label_set.y_known)
    svm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, chosen=rows)
    part = BalancedLabels(y[rows], 0)
    losses = Losses(problem.losses.cap[rows], problem.losses.ridge[rows])
    alone = generic_master(problem.K[np.ix_(rows, rows)], part, losses, [y[rows]]).value
    assert abs(svm.upper - alone) <= 2e-6 * alone
    assert not svm.alpha[problem.label_set.free].any()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rows_of_price_zero_take_no_part(loss):
    rng = np.random.default_rng(5)
    K = random_kernel(rng, 10)
    y = rng.choice([-1, 1], 10).astype(np.int8)
    C = np.where(np.arange(10) < 6, 1.0, 0.0)
    svm = fit_svm(GramRows(K), BalancedLabels(y, 0), Losses.of(loss, C), y, tol=1e-7, rng=rng)
    part = BalancedLabels(y[:6], 0)
    alone = generic_master(K[:6, :6], part, Losses.of(loss, C[:6]), [y[:6]]).value
    assert abs(svm.upper - alone) <= 1e-6 * alone
    assert not svm.alpha[6:].any()


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_state_that_goes_on_with_other_labels_reaches_what_a_new_one_does(kind, loss):
    rng = np.random.default_rng(7)
    problem = random_problem(rng, kind, loss)
    state, labels = begin(*problem[:3]), problem.labels()
    for k in rng.permutation(len(labels))[:5]:
        y = labels[k]
        taken_over = solve_svm(state, y, rng, 1e-6)
        assert taken_over.state is state
        np.testing.assert_array_equal(taken_over.y, y)
        assert abs(taken_over.upper - fit_svm(*problem[:3], y, tol=1e-6, rng=rng).upper) <= 2e-6 * taken_over.upper


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_start_at_the_solution_is_the_solution(kind, loss):
    rng = np.random.default_rng(8)
    problem = random_problem(rng, kind, loss)
    y = problem.label_set.initial(rng)
    cold = fit_svm(*problem[:3], y, tol=1e-8, rng=rng)
    warm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, alpha=cold.alpha)
    assert warm.n_epochs <= min(10, cold.n_epochs)
    assert abs(warm.upper - cold.upper) <= 1e-6 * cold.upper


def test_rows_without_a_solver_are_refused_by_name():
    with pytest.raises(TypeError, match="no solver is registered for ndarray"):
        begin(np.eye(3), BalancedLabels.known(np.ones(3, np.int8)), Losses.of("hinge", np.ones(3)))


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("first, rise", [(0.1, True), (0.1, False), (10.0, True)])
def test_a_state_goes_on_at_other_prices(kind, loss, first, rise):
    rng = np.random.default_rng(9)
    problem = random_problem(rng, kind, loss)
    y = problem.label_set.initial(rng)
    state = begin(*problem[:2], problem.losses.eased(np.ones(problem.label_set.n_rows, dtype=bool), first))
    before = solve_svm(state, y, rng, 1e-6).upper
    state.reprice(problem.losses, rise)
    assert np.all(state.alpha <= problem.losses.cap)
    np.testing.assert_allclose(state.squared_norms(), [state.candidate(y).squared_norm], rtol=1e-9, atol=1e-12)
    after = solve_svm(state, y, rng, 1e-6).upper
    expected = generic_master(problem.K, problem.label_set, problem.losses, [y]).value
    assert (before < after) == (first < 1)
    assert abs(after - expected) <= 2e-6 * expected
