"""Rows seen from another point: the loops take it off each row as they read it."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import native
from wellsvm.native import reference

MODULES = [native.backend, reference] if native.backend is not reference else [reference]
N, D = 11, 13
X = np.random.default_rng(0).standard_normal((N, D)) + 7.0
ORIGIN = np.where(np.arange(D) % 3 == 0, 0.0, 7.0)


def looked(rows, width):
    """Everything that the loops make of rows."""
    rng = np.random.default_rng(width)
    norms, Z, U = np.empty(N), np.empty((N, width)), np.zeros((D + 1, width))
    rows.squared_norms(0, N, norms)
    rows.scores(rng.standard_normal((D + 1, width)), 2.0, 0, N, Z)
    rows.combine(rng.standard_normal((N, width)), 2.0, 0, N, U)
    labels = rng.choice([-1, 1], (N, width)).astype(np.int8)
    alpha, weights, mu = np.zeros(N), np.zeros((D + 1, width)), np.full(width, 1.0 / width)
    seen = rows.descend(None, np.ones(N), np.zeros(N), norms + 4.0, alpha, labels, mu, weights, 2.0, rng.permutation(N))
    return norms, Z, U, alpha, weights, np.array(seen[:2])


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 8])
def test_shifted_rows_are_the_rows_less_the_origin(module, dtype, width):
    matrix = X.astype(dtype)
    less = module.dense_rows(matrix.astype(np.float64) - ORIGIN)
    for ours, theirs in zip(looked(module.shifted_rows(matrix, ORIGIN), width), looked(less, width)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("module", MODULES)
def test_shifted_rows_at_hand_have_the_bits_of_all_rows(module):
    chosen = np.array([7, 2, 9])
    places = np.full(N, -1, dtype=np.int64)
    places[chosen] = np.arange(3)
    weights = np.random.default_rng(1).standard_normal((D + 1, 1))
    all_scores, scores = np.empty((N, 1)), np.empty((1, 1))
    module.shifted_rows(X, ORIGIN).scores(weights, 1.0, 0, N, all_scores)
    some = module.shifted_rows(np.ascontiguousarray(X[chosen]), ORIGIN, places)
    for row in chosen:
        some.scores(weights, 1.0, row, row + 1, scores)
        assert scores[0, 0] == pytest.approx(all_scores[row, 0], rel=1e-14)
    with pytest.raises(ValueError, match="not at hand"):
        some.scores(weights, 1.0, 0, 1, scores)


@pytest.mark.parametrize("module", MODULES)
def test_an_origin_of_another_length_or_type_is_refused(module):
    with pytest.raises(ValueError, match="one entry per column"):
        module.shifted_rows(X, ORIGIN[:-1])
    with pytest.raises(TypeError):
        module.shifted_rows(X, ORIGIN.astype(np.float32))
    with pytest.raises(TypeError):
        module.shifted_rows(X, None)
