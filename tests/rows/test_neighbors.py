"""The kernel that knows the neighbours: Sindhwani's formula, new rows by the plain kernel, sizes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from wellsvm import SemiSupervisedSVC
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
