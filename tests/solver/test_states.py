"""States keep what their dense formulas say on every form of rows, and agree with each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from checks import KeyInstances, check_rows, projected_gradient
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import begin

N, D = 14, 5


def make_label_set(kind):
    if kind == "examples":
        return BalancedLabels(np.array([1, -1, 1] + [0] * (N - 3)), 3, 7)
    return KeyInstances([3, 1, 4, 1, 1, 2, 1, 1], v=1 if kind == "bags" else 2)


def make_losses(loss, n_rows):
    C = np.resize([1.0, 0.3, 5.0, 0.0], n_rows)
    return Losses.of(loss, C)


def make_rows(kind, X, bias):
    if kind == "gram":
        return GramRows(X @ X.T, bias)
    return LinearRows(sparse.csr_matrix(X) if kind == "csr" else X, bias)


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
@pytest.mark.parametrize("kind", ["dense", "csr", "gram"])
def test_a_state_keeps_what_the_dense_formulas_say(kind, rows, loss, bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.7)
    label_set = make_label_set(rows)
    check_rows(make_rows(kind, X, bias), label_set, make_losses(loss, label_set.n_rows), X @ X.T + bias**2, rng)


@pytest.mark.parametrize("kind", ["dense", "csr", "gram"])
def test_float32_data_are_used_in_float64_sums(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D)).astype(np.float32)
    label_set, wide = make_label_set("examples"), X.astype(np.float64)
    K = wide @ wide.T
    if kind == "gram":
        narrow = np.ascontiguousarray(K.astype(np.float32))
        rows, K = GramRows(narrow, 1.0), narrow.astype(np.float64)
    else:
        rows = make_rows(kind, X, 1.0)
    check_rows(rows, label_set, make_losses("hinge", N), K + 1.0, rng)


@pytest.mark.parametrize("rows", ["examples", "bags-of-two"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_dense_and_sparse_rows_take_the_same_steps(loss, rows):
    X = np.random.default_rng(2).standard_normal((N, D))
    label_set = make_label_set(rows)
    ends = []
    for kind in ("dense", "csr"):
        rng = np.random.default_rng(3)
        state = begin(make_rows(kind, X, 1.0), label_set, make_losses(loss, label_set.n_rows))
        for _ in range(3):
            state.add(state.candidate(label_set.initial(rng)))
        for _ in range(5):
            state.descend(np.full(3, 1 / 3), np.arange(label_set.n_rows), rng, 0.0)
        ends.append(state)
    np.testing.assert_allclose(ends[0].alpha, ends[1].alpha, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ends[0].U, ends[1].U, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("rows", ["examples", "bags", "bags-of-two"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_and_gram_rows_reach_the_same_function_on_the_same_kernel(loss, rows):
    X = np.random.default_rng(4).standard_normal((N, D))
    label_set = make_label_set(rows)
    scores, norms = [], []
    for kind in ("dense", "csr", "gram"):
        rng = np.random.default_rng(5)
        state = begin(make_rows(kind, X, 1.0), label_set, make_losses(loss, label_set.n_rows))
        for _ in range(3):
            state.add(state.candidate(label_set.initial(rng)))
        mu = np.array([0.5, 0.3, 0.2])
        for _ in range(5000):
            state.descend(mu, np.arange(label_set.n_rows), rng, 1e-11)
            if projected_gradient(state, mu) <= 1e-11:
                break
        scores.append(state.scores(mu))
        norms.append(mu @ state.squared_norms())  # alpha need not be unique, f and its norm are
    for k in (1, 2):
        np.testing.assert_allclose(scores[k], scores[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(norms[k], norms[0], rtol=1e-7)


def test_linear_weights_and_gram_coefficients_are_the_same_function():
    X = np.random.default_rng(6).standard_normal((N, D))
    label_set, mu = make_label_set("examples"), np.array([0.6, 0.4])
    alpha = np.random.default_rng(7).random(N)
    losses = Losses.of("squared_hinge", np.ones(N))
    linear, gram = (begin(make_rows(kind, X, 1.0), label_set, losses, alpha) for kind in ("dense", "gram"))
    for seed in (0, 1):
        y = label_set.initial(np.random.default_rng(seed))
        linear.add(linear.candidate(y))
        gram.add(gram.candidate(y))
    w, coef = linear.coefficients(mu), gram.coefficients(mu)
    np.testing.assert_allclose(w, np.append(X.T @ coef, coef.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "gram"])
def test_a_start_outside_the_box_is_cut_to_it_and_not_changed(kind):
    X = np.random.default_rng(8).standard_normal((N, D))
    losses, alpha = Losses.of("hinge", np.full(N, 0.5)), np.full(N, 0.9)
    state = begin(make_rows(kind, X, 0.0), make_label_set("examples"), losses, alpha)
    np.testing.assert_array_equal(state.alpha, 0.5)
    np.testing.assert_array_equal(alpha, 0.9)


@pytest.mark.parametrize("kind", ["dense", "gram"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_descending_does_not_change_the_start_it_was_given(kind, loss):
    X = np.random.default_rng(8).standard_normal((N, D))
    label_set, rng, alpha = make_label_set("examples"), np.random.default_rng(0), np.full(N, 0.1)
    state = begin(make_rows(kind, X, 0.0), label_set, Losses.of(loss, np.ones(N)), alpha)
    state.add(state.candidate(label_set.initial(rng)))
    state.descend(np.ones(1), np.arange(N), rng, 0.0)
    assert not np.array_equal(state.alpha, alpha)
    np.testing.assert_array_equal(alpha, 0.1)
