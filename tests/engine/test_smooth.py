"""The smooth search: its gradient, its constraint, its prices, and where it must agree with what is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, sparse

from wellsvm.engine.smooth import search_smoothly, smooth_objective, smooth_path
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.coordinates import coordinates_of

OPTIONS = Options()


def problem(seed, n=60, n_labeled=8, share=0.5):
    """Two clusters, a few labels, and the rows under a Gaussian kernel and as they are."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    X = rng.standard_normal((n, 3)) + 1.5 * y[:, None]
    known = np.zeros(n, dtype=np.int8)
    for side in (1, -1):
        some = rng.choice(np.flatnonzero(y == side), n_labeled // 2, replace=False)
        known[some] = side
    labels = BalancedLabels(known, int(np.count_nonzero((known == 0) & (y == 1))))
    squares = np.sum((X[:, None] - X) ** 2, axis=2)
    return X, GramRows(np.exp(-squares / squares.mean()), 1.0), labels, y


def coordinates(rows, labels, options=OPTIONS):
    return coordinates_of(rows, np.flatnonzero(labels.y_known), np.random.default_rng(0), options)


@pytest.mark.parametrize("form", ["dense", "sparse", "far"])
def test_few_rows_of_many_features_are_searched_in_their_span(form):
    _, _, labels, y = problem(0)
    X = np.random.default_rng(1).standard_normal((60, 900)) + 0.3 * y[:, None]
    X = X + 50.0 if form == "far" else X
    rows = LinearRows(sparse.csr_matrix(X) if form == "sparse" else X, 1.0).settled()
    features, span = (coordinates(rows, labels, OPTIONS.but(span_saving=saving)) for saving in (0, 10**6))
    assert features.n_coordinates == 900
    assert span.n_coordinates <= 60
    losses = Losses.of("squared_hinge", np.ones(60))
    one, other = (search_smoothly(space, labels, losses, OPTIONS) for space in (features, span))
    np.testing.assert_allclose(other.objective, one.objective, rtol=1e-6)
    np.testing.assert_allclose(other.f, one.f, atol=1e-3)
    for found in (one, other):  # what is stored is what was found
        coefficients, intercepts = rows.split_intercept(found.coefficients()[None])
        np.testing.assert_allclose(X @ coefficients[0] + intercepts[0] + found.added, found.f, atol=1e-8)
    some = np.arange(0, 60, 7)
    np.testing.assert_allclose(span.part(some).values(other.w), span.values(other.w)[some])


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_the_objective(seed):
    X, gram, labels, _ = problem(seed)
    rng = np.random.default_rng(seed)
    for rows in (gram, LinearRows(X, 1.0), LinearRows(sparse.csr_matrix(X), 1.0)):
        space = coordinates(rows, labels)
        centre = space.combine(np.where(labels.y_known == 0, 1.0 / labels.free.size, 0.0))
        v = rng.standard_normal(space.n_coordinates + 1)
        more = (space, centre, labels.y_known, rng.random(60) + 0.5)
        _, gradient = smooth_objective(v, *more)
        numeric = optimize.approx_fprime(v, lambda v: smooth_objective(v, *more)[0], 1e-7)  # noqa: B023
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_rises_with_the_price_and_the_mean_is_that_of_the_balance(seed):
    X, gram, labels, _ = problem(seed, share=0.3)
    for rows in (gram, LinearRows(X, 1.0)):
        path = list(smooth_path(coordinates(rows, labels), labels, np.ones(60), OPTIONS.smooth_prices, OPTIONS))
        minima = [found.objective for found in path]
        assert all(a <= b * (1 + 1e-9) for a, b in pairwise(minima))
        mean = 2 * labels.low / labels.free.size - 1
        for found in path:
            assert found.f[labels.free].mean() == pytest.approx(mean, abs=1e-9)
        assert labels.contains(path[-1].y)


def test_clear_clusters_are_found():
    X, gram, labels, y = problem(0, share=0.3)
    for rows in (gram, LinearRows(X, 1.0)):
        found = search_smoothly(coordinates(rows, labels), labels, Losses.of("squared_hinge", np.ones(60)), OPTIONS)
        assert np.mean(found.y == y) >= 0.95


def test_an_interval_holds_the_mean_within_its_ends():
    _, gram, labels, _ = problem(1)
    n_free = labels.free.size
    for low, high in ((0, n_free // 5), (4 * n_free // 5, n_free), (0, n_free)):
        wide = BalancedLabels(labels.y_known, low, high)
        found = search_smoothly(coordinates(gram, wide), wide, Losses.of("squared_hinge", np.ones(60)), OPTIONS)
        mean = found.f[wide.free].mean()
        assert 2 * low / n_free - 1 - 1e-9 <= mean <= 2 * high / n_free - 1 + 1e-9
        assert wide.contains(found.y)


def test_all_rows_as_landmarks_give_the_function_of_the_whole_kernel():
    """With every eigenvector, and without a price on unlabeled rows, w solves the SVM with the mean of f held."""
    _, gram, labels, _ = problem(2)
    options = replace(OPTIONS, tol=1e-6, no_direction=1e-12)
    space = coordinates(gram, labels, options)
    K = gram.K.astype(np.float64)
    np.testing.assert_allclose(space.Z @ space.Z.T, K, atol=1e-6)
    (found,) = smooth_path(space, labels, np.ones(60), (1e-12,), options)
    centred = K - K[:, labels.free].mean(axis=1, keepdims=True)
    known, mean = labels.y_known != 0, found.f[labels.free].mean()

    def objective(c):
        f = mean + c @ centred
        slack = np.maximum(0.0, 1.0 - labels.y_known * f)[known]
        return 0.5 * c @ K @ c + 0.5 * slack @ slack

    best = optimize.minimize(objective, np.zeros(60), method="BFGS", options={"gtol": 1e-7}).fun
    assert found.objective == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("n_most", [20, 500])
def test_the_expansion_over_the_landmarks_is_f(n_most):
    _, gram, labels, _ = problem(3)
    options = replace(OPTIONS, smooth_landmarks=n_most, smooth_coordinates=10)
    found = search_smoothly(coordinates(gram, labels, options), labels, Losses.of("hinge", np.ones(60)), options)
    coef = found.coefficients()
    np.testing.assert_allclose(gram.scores(coef[:, None])[:, 0] + found.added, found.f, atol=1e-8)
    assert np.count_nonzero(coef) <= n_most


def test_labeled_rows_are_landmarks_first():
    _, gram, labels, _ = problem(4)
    options = replace(OPTIONS, smooth_landmarks=20)
    chosen = coordinates(gram, labels, options).landmarks.chosen
    assert chosen.size == 20
    assert set(np.flatnonzero(labels.y_known)) <= set(chosen.tolist())


def test_the_same_bits_twice_and_a_part_has_the_same_coordinates():
    _, gram, labels, _ = problem(5)
    losses = Losses.of("squared_hinge", np.ones(60))
    first, second = (search_smoothly(coordinates(gram, labels), labels, losses, OPTIONS) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    some = np.arange(0, 60, 2)
    space = coordinates(gram, labels)
    np.testing.assert_allclose(space.part(some).values(first.w), space.values(first.w)[some])


def test_prices_are_those_that_losses_were_made_of():
    C = np.array([0.0, 0.5, 2.0])
    for loss in ("hinge", "squared_hinge"):
        np.testing.assert_array_equal(Losses.of(loss, C).prices, C)
