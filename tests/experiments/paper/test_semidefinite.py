"""The semidefinite relaxations are what section 3.3 says of them."""

from __future__ import annotations

import numpy as np
import pytest

from checks import enumerate_labels, generic_master
from experiments.paper.semidefinite import relaxed_clusters, relaxed_labels
from wellsvm.labels import BalancedLabels, ClusterLabels
from wellsvm.losses import Losses


def clouds(n, shift, seed):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, 2)) + shift * truth[:, None]
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4) + 1e-6 * np.eye(n), truth


@pytest.mark.parametrize("seed", range(3))
def test_two_far_clouds_are_told_apart_without_and_with_labels(seed):
    K, truth = clouds(14, 3.0, seed)
    assert abs(relaxed_clusters(K, 1.0, 2.0).y @ truth) == 14
    known = np.where(np.arange(14) < 2, truth, 0)
    np.testing.assert_array_equal(relaxed_labels(K, np.ones(14), known, 6).y, truth)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_1_our_relaxation_is_at_least_as_tight(seed):
    K, truth = clouds(8, 0.7, seed)
    losses = Losses.of("hinge", np.ones(8))
    clusters = ClusterLabels(8, 2)
    ours = generic_master(K, clusters, losses, list(enumerate_labels(clusters))).value
    assert relaxed_clusters(K, 1.0, 2.0).value <= ours * (1 + 1e-5)
    labels = BalancedLabels(np.where(np.arange(8) < 2, truth, 0), 3)
    ours = generic_master(K, labels, losses, list(enumerate_labels(labels))).value
    assert relaxed_labels(K, np.ones(8), labels.y_known, 3).value <= ours * (1 + 1e-5)
