"""The kernel that knows the neighbors: Sindhwani's formula, new rows by the plain kernel, sizes that do not fit."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.engine.neighborhood import graph_of
from wellsvm.options import Options
from wellsvm.rows import GramRows, kernels
from wellsvm.rows import neighbors as module
from wellsvm.rows.neighbors import NeighborRows


def graph(n=40):
    X = np.random.default_rng(0).standard_normal((n, 3))
    K = rbf_kernel(X)
    return X, K, graph_of(GramRows(K), 4)


def test_the_matrix_is_the_mean_of_the_plain_kernel_and_the_deformed_one_at_the_same_diagonal():
    _, K, L = graph()
    rows = NeighborRows(K.copy(), L, 0.0)
    deformed = K @ np.linalg.inv(np.eye(len(K)) + Options.neighbor_strength * L @ K)
    np.testing.assert_allclose(deformed, deformed.T, atol=1e-12)
    deformed *= np.trace(K) / np.trace(deformed)
    np.testing.assert_allclose(rows.K, 0.5 * (K + deformed), atol=1e-10)
    assert np.linalg.eigvalsh(rows.K).min() > -1e-10


def test_coefficients_under_the_plain_kernel_give_the_same_values():
    _, K, L = graph()
    rows = NeighborRows(K.copy(), L, 0.5)
    coef = np.random.default_rng(1).standard_normal((2, len(K)))
    plain, intercept = rows.split_intercept(coef)
    np.testing.assert_allclose(K @ plain.T + intercept, rows.scores(np.ascontiguousarray(coef.T)), atol=1e-9)


def test_threads_may_ask_for_plain_coefficients_at_once():
    _, K, L = graph(300)
    rows, coef = NeighborRows(K.copy(), L, 0.5), np.random.default_rng(1).standard_normal((1, 300))
    expected, _ = rows.split_intercept(coef)
    with ThreadPoolExecutor(4) as pool:
        for plain, _ in pool.map(rows.split_intercept, [coef] * 2000):
            np.testing.assert_array_equal(plain, expected)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_training_rows_have_the_same_values_when_they_come_as_new_ones(kernel):
    X, truth = make_moons(120, noise=0.1, random_state=0)
    y = np.where(np.arange(120) < 12, truth, -1)
    model = SemiSupervisedSVC(kernel=kernel, neighbors=6, unlabeled=-1, random_state=0, balance=0.5).fit(X, y)
    assert np.mean(model.predict(X)[12:] == 1) == pytest.approx(model.balance_found_[1], abs=0.01)
    assert hasattr(model, "coef_") == (kernel == "linear")


def test_it_helps_on_images_of_digits():
    X, y = load_digits(return_X_y=True)
    chosen = np.flatnonzero(np.isin(y, (3, 8)))
    X, truth = X[chosen] / 16, (y[chosen] == 8).astype(int)
    scores = {None: [], 6: []}
    for seed in range(3):
        known = np.random.default_rng(seed).permutation(len(truth))[:12]
        y_partial = np.full(len(truth), -1)
        y_partial[known] = truth[known]
        for n, found in scores.items():
            model = SemiSupervisedSVC(kernel="rbf", neighbors=n, unlabeled=-1, random_state=0, balance=0.5, safe=False)
            found.append(model.fit(X, y_partial).score(X, truth))
    assert np.mean(scores[6]) > np.mean(scores[None]) - 0.005
    assert np.mean(scores[6]) > 0.95


def test_sizes_that_do_not_fit_are_refused_before_any_memory_is_taken(monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 2))
    y = np.where(np.arange(300) < 10, np.arange(300) % 2, -1)
    monkeypatch.setattr(module, "available_memory", lambda: 10**6)
    monkeypatch.setattr(kernels.Kernel, "gram", lambda *_: pytest.fail("a matrix was made"))
    with pytest.raises(MemoryError, match=r"neighbors needs .* for 300 rows.*neighbors=None"):
        SemiSupervisedSVC(neighbors=6, unlabeled=-1).fit(X, y)
    with pytest.raises(MemoryError, match=r"cache_size=1"):
        SemiSupervisedSVC(kernel="rbf", neighbors=6, unlabeled=-1, cache_size=1).fit(X, y)
    with pytest.raises(ValueError, match="neighbors must be a whole number of at least 1"):
        SemiSupervisedSVC(neighbors=0, unlabeled=-1).fit(X, y)


def test_large_features_are_deformed_as_exactly_as_small_ones():
    X = np.random.default_rng(0).standard_normal((60, 4))
    coef = np.random.default_rng(1).standard_normal((1, 60))
    for size in (1e3, 1e6):
        K = (size * X) @ (size * X).T
        L = graph_of(GramRows(K), 6)
        rows = NeighborRows(K.copy(), L, 0.0)
        inner = np.linalg.inv(np.eye(4) + Options.neighbor_strength * size**2 * X.T @ (L @ X))  # of 4 x 4: exact
        deformed = size**2 * X @ inner @ X.T
        deformed *= np.trace(K) / np.trace(deformed)
        np.testing.assert_allclose(rows.K, 0.5 * (K + deformed), rtol=0, atol=1e-10 * np.abs(K).max())
        plain = rows.split_intercept(coef)[0]
        np.testing.assert_allclose(K @ plain.T, rows.K @ coef.T, rtol=0, atol=1e-9 * np.abs(K).max())


def test_the_size_of_the_features_does_not_spoil_a_fit():
    X, y_partial, truth = two_blobs()
    scores = [
        SemiSupervisedSVC(neighbors=6, unlabeled=-1, random_state=0).fit(size * X, y_partial).score(size * X, truth)
        for size in (1.0, 1e5, 1e6)
    ]
    assert min(scores) > 0.95


def two_blobs():
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    X = rng.standard_normal((80, 5)) + 3.0 * truth[:, None] - 1.5
    return X, np.where(np.arange(80) < 12, truth, -1), truth


def test_features_too_large_for_neighbors_are_refused_by_that_name():
    X, y_partial, _ = two_blobs()
    with pytest.raises(ValueError, match=r"neighbors=6 cannot be used: .*too large for C=2.*use neighbors=None"):
        SemiSupervisedSVC(neighbors=6, unlabeled=-1).fit(1e8 * X, y_partial)
    with pytest.raises(ValueError, match=r"neighbors=6 cannot be used"):
        SemiSupervisedSVCCV(neighbors=[None, 6], unlabeled=-1).fit(1e8 * X, y_partial)


def test_a_search_leaves_out_the_neighbors_that_large_features_do_not_allow_and_says_so():
    X, y_partial, truth = two_blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SemiSupervisedSVCCV(unlabeled=-1, random_state=0).fit(1e6 * X, y_partial)
    assert [candidate["neighbors"] for candidate in model.candidates_] == [None, 6]
    with pytest.warns(UserWarning, match="does not try neighbors=6: .*too large for C=2"):
        model = SemiSupervisedSVCCV(unlabeled=-1, random_state=0).fit(1e8 * X, y_partial)
    assert [candidate["neighbors"] for candidate in model.candidates_] == [None]
    assert model.score(1e8 * X, truth) > 0.9
