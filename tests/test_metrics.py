"""clustering_accuracy: the best assignment of clusters to classes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from wellsvm.metrics import clustering_accuracy


def test_names_of_clusters_do_not_matter():
    y = np.array([0, 0, 1, 1, 2, 2])
    assert clustering_accuracy(y, (y + 1) % 3) == 1.0
    assert clustering_accuracy(y, np.array(["c", "c", "a", "a", "b", "b"])) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_best_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    best = max(np.mean(np.array(p)[labels] == y) for p in permutations(range(4)))
    assert clustering_accuracy(y, labels) == pytest.approx(best, abs=1e-12)


def test_one_cluster_has_the_rate_of_the_largest_class():
    assert clustering_accuracy([1, 1, 1, 0], [7, 7, 7, 7]) == 0.75


def test_a_class_gets_one_cluster_only():
    # Each row its own cluster: two of six clusters find a class.
    assert clustering_accuracy([0, 0, 0, 1, 1, 1], np.arange(6)) == pytest.approx(2 / 6)


def test_two_clusters_agree_with_the_paper_s_misclassification_error():
    rng = np.random.default_rng(0)
    y, f = rng.choice([-1, 1], 50), rng.standard_normal(50)
    error = np.mean(np.sign(f) != y)
    assert clustering_accuracy(y, f > 0) == pytest.approx(1 - min(error, 1 - error))


@pytest.mark.parametrize("y, labels", [([0, 1], [0, 1, 1]), ([], []), ([[0, 1], [1, 0]], [0, 1])])
def test_unequal_empty_and_two_dimensional_input_is_refused(y, labels):
    with pytest.raises(ValueError, match=r"inconsistent|empty|1d"):
        clustering_accuracy(y, labels)
