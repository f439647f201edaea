"""Labels spread over neighbors: they follow curved sheets, and do not see labels held out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from wellsvm.engine.neighborhood import graph_of, joined, neighbor_scores, neighborhood_of, spread
from wellsvm.engine.supervised import fold_of
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows


def moons():
    X, truth = make_moons(400, noise=0.05, random_state=0)
    codes = np.full(400, -1)
    for k in (0, 1):
        codes[np.flatnonzero(truth == k)[:4]] = k
    return X, codes, truth


def spread_labels(X, codes, options=Options()):
    rng = np.random.default_rng(0)
    near = neighborhood_of(LinearRows(X, 1.0), codes, np.ones(codes.size), rng, options)
    return neighbor_scores(near, 2, rng, options)


def test_scores_follow_curved_sheets_for_unlabeled_rows_and_for_labels_held_out():
    X, codes, truth = moons()
    labeled, unlabeled = spread_labels(X, codes)
    assert np.mean(unlabeled.argmax(axis=1) == truth[codes < 0]) > 0.95
    assert np.mean(labeled.argmax(axis=1) == codes[codes >= 0]) >= 0.75


def test_a_label_held_out_has_the_score_of_an_unlabeled_row():
    X, codes, _ = moons()
    options = Options(folds=4)  # one label of each class in every fold
    held_out, _ = spread_labels(X, codes, options)
    labeled = np.flatnonzero(codes >= 0)
    fold = fold_of(codes[labeled], 4, np.random.default_rng(0))
    hidden = codes.copy()
    hidden[labeled[fold == 0]] = -1
    _, unlabeled = spread_labels(X, hidden, options)
    found = unlabeled[np.isin(np.flatnonzero(hidden < 0), labeled[fold == 0])]
    np.testing.assert_allclose(np.diff(found), np.diff(held_out[fold == 0]), atol=0.05)


def test_spreading_solves_its_system_to_a_thousandth_of_the_mean():
    X, codes, _ = moons()
    L, graph = (make(LinearRows(X, 0.0), Options.graph_neighbors) for make in (graph_of, joined))
    seeds = np.eye(2)[np.maximum(codes, 0)] * (codes >= 0)[:, None]
    exact = np.linalg.solve(np.eye(len(X)) + Options.graph_strength * L.toarray(), seeds)
    found = spread(graph, seeds, Options())
    assert found.min() >= 0
    np.testing.assert_allclose(found, exact, atol=2e-3 * exact.mean())


def test_a_kernel_matrix_gives_the_graph_of_its_points():
    X, _, _ = moons()
    linear, gram = graph_of(LinearRows(X, 0.0), 6), graph_of(GramRows(X @ X.T), 6)
    assert abs(linear - gram).max() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("n, n_neighbors", [(5, 4), (20, 3), (333, 12), (900, 1)])
def test_neighbours_by_kernel_values_are_the_nearest(n, n_neighbors):
    X = np.random.default_rng(n).standard_normal((n, 3))
    K = rbf_kernel(X, gamma=0.5)
    K *= np.outer(d := 1 + np.arange(n) / n, d)  # squared lengths differ
    distances = np.diag(K)[:, None] + np.diag(K) - 2 * K
    nearest = np.argsort(distances + np.diag(np.full(n, np.inf)), axis=1)[:, :n_neighbors]
    joined = np.zeros((n, n), dtype=bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    L = graph_of(GramRows(K), n_neighbors, normalized=False).toarray()
    np.testing.assert_array_equal(L < 0, joined | joined.T)


def test_equal_rows_have_as_many_neighbours_as_others():
    L = graph_of(GramRows(np.ones((50, 50))), 3, normalized=False).toarray()
    assert np.all(np.diag(L) >= 3)


def test_rows_left_out_are_not_looked_at_and_of_many_a_sample_is_taken():
    X, codes, _ = moons()
    kept = np.arange(400) % 4 > 0
    kept[codes >= 0] = True
    _, apart = spread_labels(X[kept], codes[kept])
    _, marked = spread_labels(X, np.where(kept, codes, -2))
    np.testing.assert_array_equal(apart, marked)
    _, sampled = spread_labels(X, codes, Options(graph_rows=100))
    assert sampled.shape == (100, 2)
