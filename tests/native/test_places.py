"""Rows at hand: the loops find row i at ``places[i]``, and refuse a row that is missing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wellsvm import native
from wellsvm.native import reference
from wellsvm.rows.linear import native_rows

MODULES = [native.backend, reference] if native.backend is not reference else [reference]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((10, 4)) * (RNG.random((10, 4)) < 0.7)
ORDER = np.array([7, 2, 9, 4, 0, 1])  # rows at hand, as they lie in the matrix that holds them


def held(module, kind, chosen=ORDER):
    places = np.full(10, -1, dtype=np.int64)
    places[chosen] = np.arange(len(chosen))
    matrix = X[chosen] if kind == "dense" else sparse.csr_matrix(X[chosen])
    return native_rows(matrix, module, places)


def descended(rows, order, starts=None):
    n = 10 if starts is None else len(starts) - 1
    alpha, U = np.zeros(n), np.zeros((5, 2))
    labels = np.where(np.arange(20).reshape(10, 2) % 3 == 0, 1, -1).astype(np.int8)
    if starts is not None:
        labels[[3, 5]] = 0  # not at hand, and without a label: not looked at
    report = rows.descend(
        starts, np.ones(n), np.zeros(n), np.full(n, 9.0), alpha, labels, np.array([0.5, 0.5]), U, 1.0, order
    )
    return report, alpha, U


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_descent_on_rows_at_hand_gives_the_bits_of_all_rows(module, kind):
    everything = native_rows(X if kind == "dense" else sparse.csr_matrix(X), module)
    order = np.array([9, 0, 7, 2, 9], dtype=np.int64)
    for ours, theirs in zip(descended(held(module, kind), order), descended(everything, order)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.skipif(native.backend is reference, reason="the reference looks at all instances of a row")
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_instances_of_a_bag_lie_anywhere_and_those_without_a_label_are_not_needed(kind):
    starts, order = np.array([0, 1, 4, 6, 10], dtype=np.int64), np.array([1, 2, 0], dtype=np.int64)
    everything = native_rows(X if kind == "dense" else sparse.csr_matrix(X))
    for ours, theirs in zip(descended(held(native.backend, kind), order, starts), descended(everything, order, starts)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_row_that_is_missing_is_refused(module, kind):
    rows = held(module, kind)
    with pytest.raises(ValueError, match="not at hand"):
        descended(rows, np.array([7, 3], dtype=np.int64))
    with pytest.raises(ValueError, match="not at hand"):
        rows.squared_norms(3, 4, np.empty(1))
    places = np.full(10, 6, dtype=np.int64)  # beyond the rows held
    matrix = X[:6] if kind == "dense" else sparse.csr_matrix(X[:6])
    with pytest.raises(ValueError, match="not at hand"):
        native_rows(matrix, module, places).scores(np.zeros((5, 1)), 0.0, 0, 1, np.empty((1, 1)))
    norms = np.empty(1)
    rows.squared_norms(9, 10, norms)
    np.testing.assert_allclose(norms, X[9] @ X[9])
