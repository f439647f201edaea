"""Clusters of unequal sizes, and rows without clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from experiments.studies.cluster_sizes import GENERATED, generated
from wellsvm import MaxMarginClustering
from wellsvm.engine.starts import joined_means
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
    labels = np.argmax(joined_means(CentredRows(X), 4, np.random.default_rng(0)), axis=1)
    means = KMeans(4, n_init=10, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.9 > 0.5 > adjusted_rand_score(y, means)


def test_there_may_be_fewer_rows_than_means_to_join():
    near = joined_means(CentredRows(np.array([[0.0], [1.0], [9.0], [10.0]])), 3, np.random.default_rng(0))
    assert near.shape == (4, 3)
    assert np.unique(np.argmax(near, axis=1)).size == 3
