"""Clusters of unequal sizes, and rows without clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from experiments.studies.cluster_sizes import GENERATED, generated
from wellsvm import MaxMarginClustering
from wellsvm.engine.starts import joined_means
from wellsvm.estimators.cluster_sizes import of_largest_value
from wellsvm.estimators.joint_clusters import Joint
from wellsvm.options import Options
from wellsvm.rows import CentredRows

UNEQUAL = ("150/60/30, 10-D", "300/30/30, 20-D", "500/50/50/20, 50-D")
SEEDS = (11, 12, 13)  # not among those that chose the defaults


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_unequal_clusters_are_found_better_than_by_k_means(kernel):
    ours, theirs = [], []
    for name in UNEQUAL:
        for seed in SEEDS:
            X, y = generated(seed=seed, **GENERATED[name])
            k = np.unique(y).size
            ours.append(adjusted_rand_score(y, MaxMarginClustering(k, kernel=kernel, random_state=0).fit(X).labels_))
            theirs.append(adjusted_rand_score(y, KMeans(k, n_init=10, random_state=0).fit(X).labels_))
    assert np.mean(ours) >= np.mean(theirs) + 0.05
    assert min(np.subtract(ours, theirs)) >= -0.1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_of_rows_without_clusters_none_takes_all(kernel):
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(60, 200))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            labels = MaxMarginClustering(3, kernel=kernel, random_state=0).fit(X).labels_
        assert np.bincount(labels).max() < 0.9 * labels.size


def test_joined_means_find_small_clusters_beside_a_large_one():
    X, y = generated(seed=13, **GENERATED["500/50/50/20, 50-D"])
    labels = np.argmax(joined_means(CentredRows(X), 4, 3, np.random.default_rng(0)), axis=1)
    means = KMeans(4, n_init=10, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.9 > 0.5 > adjusted_rand_score(y, means)


def test_there_may_be_fewer_rows_than_means_to_join():
    near = joined_means(CentredRows(np.array([[0.0], [1.0], [9.0], [10.0]])), 3, 3, np.random.default_rng(0))
    assert near.shape == (4, 3)
    assert np.unique(np.argmax(near, axis=1)).size == 3


# ------------------------------------------------------------------ work that is not done twice


def joint_of(X, n_clusters):
    def assign(values):
        return of_largest_value(values), np.zeros(n_clusters)

    rows = CentredRows(X)
    return Joint(rows, n_clusters, 0.1 / rows.squared_norms.mean(), "squared_hinge", assign, Options(), 0, None)


def test_a_start_that_is_not_better_is_not_annealed():
    X, _ = generated(seed=13, **GENERATED["150/60/30, 10-D"])
    start = joint_of(X, 3).start(5, CentredRows(X))
    alone, beside = (joint_of(X, 3).relabel(starts) for starts in ([start], [start, np.roll(start, 1)]))
    assert alone.n_rounds == beside.n_rounds
    np.testing.assert_array_equal(alone.labels, beside.labels)


def test_the_svm_of_a_cluster_that_did_not_change_is_not_solved_again():
    X, y = generated(seed=13, **GENERATED["150/60/30, 10-D"])
    joint = joint_of(X, 3)
    before = joint._against_the_rest(y, joint.C, 0.05, None)
    moved = y.copy()
    moved[np.flatnonzero(y == 0)[0]] = 1
    after = joint._against_the_rest(moved, joint.C, 0.05, before)
    assert [one is other for one, other in zip(before.solution, after.solution)] == [False, False, True]
    dearer = joint._against_the_rest(y, 2 * joint.C, 0.05, before)
    assert not any(one is other for one, other in zip(before.solution, dearer.solution))


# ------------------------------------------------------------------ two clusters, one of them small

CENTRES = [[6, 0], [0, 6]]


def two(sizes, seed=0, **params):
    X, y = make_blobs(sizes, centers=CENTRES, random_state=seed)
    return X, y, MaxMarginClustering(random_state=0, **params).fit(X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("sizes", [[180, 20], [300, 24]])
def test_a_small_cluster_is_found_whatever_the_draw(kernel, sizes):
    for seed in range(20, 28):  # not among those that chose the defaults
        X, y, model = two(sizes, seed, kernel=kernel)
        assert adjusted_rand_score(y, model.labels_) > 0.9
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(2))
def test_a_few_rows_that_lie_close_together_are_no_cluster_beside_two_large_ones(kernel, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 10))
    X[:150, 0] += 3.0
    few = 0.05 * rng.normal(size=(10, 10))
    few[:, 1] += 7.0
    model = MaxMarginClustering(kernel=kernel, random_state=0).fit(np.vstack([X, few]))
    assert np.bincount(model.labels_).min() > 80


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_outliers_are_no_cluster(kernel):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        far = rng.normal(size=(6, 5))
        X = np.vstack([rng.normal(size=(294, 5)), 12 * far / np.linalg.norm(far, axis=1)[:, None]])
        assert np.bincount(MaxMarginClustering(kernel=kernel, random_state=0).fit(X).labels_).min() >= 15


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_small_cluster_is_stored_as_any_two_clusters_are(kernel):
    small = 10 if kernel == "linear" else 20  # f has no valley before them, as history_ shows
    X, y = make_blobs([400 - small, small], centers=CENTRES, random_state=0)
    given = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=-1)) if kernel == "precomputed" else X
    model = MaxMarginClustering(kernel=kernel, random_state=0, refine=True).fit(given)
    np.testing.assert_array_equal(model.labels_, y)
    assert model.decision_function(given).shape == (400,)
    assert model.intercept_.shape == model.threshold_.shape == (1,)
    assert model.labelings_.shape == (1, 400)
    assert isinstance(model.objective_, float)
    assert isinstance(model.status_, str)
    assert 0 <= model.gap_ <= 0.01 * model.objective_
    assert model.refined_objective_ == model.objective_
    assert len(model.history_) == 1
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_C_is_the_same_whichever_clusters_are_taken(kernel):
    X, _y, replaced = two([180, 20], kernel=kernel)
    assert len(replaced.history_) == 1  # k-means' clusters, relabeled
    kept = MaxMarginClustering(kernel=kernel, balance=0.3, random_state=0).fit(X)
    assert replaced.C_ == kept.C_
    three = MaxMarginClustering(3, kernel=kernel, random_state=0).fit(X)
    assert three.C_ == kept.C_


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_a_clear_margin_two_clusters_are_about_as_good_as_those_of_k_means(kernel):
    ours, theirs = [], []
    for seed in range(20, 26):  # not among those that chose the rule
        X, y = generated(seed=seed, sizes=(350, 150), d=20, apart=3.0)
        ours.append(adjusted_rand_score(y, MaxMarginClustering(kernel=kernel, random_state=0).fit(X).labels_))
        theirs.append(adjusted_rand_score(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_))
    assert np.mean(ours) >= np.mean(theirs) - 0.01
    assert min(np.subtract(ours, theirs)) >= -0.05


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_long_clusters_beside_each_other_are_not_cut_across(kernel):
    theirs = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=300)
        X = np.column_stack([2 * rng.normal(size=300), 3 * y + 0.5 * rng.normal(size=300)])
        theirs.append(adjusted_rand_score(y, KMeans(2, n_init=10, random_state=0).fit(X).labels_))
        assert adjusted_rand_score(y, MaxMarginClustering(kernel=kernel, random_state=0).fit(X).labels_) > 0.95
    assert np.mean(theirs) < 0.5


def test_of_many_rows_some_find_the_small_cluster():
    X, y, model = two([4000, 150])
    np.testing.assert_array_equal(model.labels_, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_single_precision_and_threads_make_no_difference_to_a_small_cluster():
    X, _y, model = two([300, 24], seed=3)
    other = MaxMarginClustering(random_state=0, n_jobs=2).fit(X.astype(np.float32))
    np.testing.assert_array_equal(other.labels_, model.labels_)


def test_a_few_sparse_rows_that_share_a_rare_word_are_no_cluster():
    rng = np.random.default_rng(0)
    topic = rng.integers(2, size=600)
    words = np.where(rng.random((600, 40)) < np.where(topic[:, None] == np.arange(40) % 2, 0.3, 0.1), 1.0, 0.0)
    words[:40] *= rng.random((40, 40)) < 0.3
    rare = np.zeros((600, 1))
    rare[:40] = 5.0
    model = MaxMarginClustering(random_state=0).fit(sparse.csr_matrix(np.hstack([words, rare])))
    assert np.bincount(model.labels_).min() > 150


def test_a_balance_a_start_or_a_cut_that_is_given_keeps_to_similar_sizes_or_the_valley():
    X, _ = make_blobs([180, 20], centers=CENTRES, random_state=0)
    for given in ({"balance": 0.3}, {"cut": "balance"}, {"cut": "zero"}, {"init": "alignment", "cut": "balance"}):
        assert np.bincount(MaxMarginClustering(random_state=0, **given).fit(X).labels_).min() > 20
