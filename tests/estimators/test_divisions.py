"""Clusters by division and relabeled together: the cut, the margins on the way down, the repair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from wellsvm import MaxMarginClustering
from wellsvm.estimators.cluster_sizes import of_largest_value, within_sizes
from wellsvm.estimators.cuts import choose_cut
from wellsvm.estimators.divisions import Tree
from wellsvm.estimators.joint_clusters import Joint
from wellsvm.labels import ClusterLabels
from wellsvm.metrics import clustering_accuracy
from wellsvm.options import Options
from wellsvm.rows import CentredRows
from wellsvm.rows.kernels import Kernel
from wellsvm.rows.landmarks import Landmarks

FOUR, TRUTH_OF_FOUR = make_blobs([50, 40, 35, 30], centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)


def free(values):
    return of_largest_value(values), np.zeros(values.shape[1])


def test_the_cut_is_the_nearest_one_between_different_scores():
    labels = ClusterLabels(6, 2)
    y, threshold, split = choose_cut(np.array([3.0, 2.0, 1.0, -1.0, -2.0, -3.0]), labels, 1e-9)
    assert (y.tolist(), threshold, split) == ([1, 1, 1, -1, -1, -1], 0.0, False)
    y, threshold, split = choose_cut(np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), labels, 1e-9)
    assert (y.tolist(), threshold, split) == ([1, 1, 1, 1, -1, -1], 2.5, False)
    # Four positives would divide the equal scores 3, 3: three is the next cut that does not.
    y, threshold, split = choose_cut(np.array([6.0, 5.0, 4.0, 3.0, 3.0, 1.0]), labels, 1e-9)
    assert (y.tolist(), threshold, split) == ([1, 1, 1, -1, -1, -1], 3.5, False)
    y, threshold, split = choose_cut(np.ones(6), labels, 1e-9)
    assert (y.tolist(), split) == ([1, 1, 1, 1, -1, -1], True)


def test_the_margin_of_a_cluster_is_the_least_on_the_way_to_it():
    # Division 0: cluster 0, or division 1: cluster 2, or cluster 1.
    children, values = np.array([[-1, 1], [-3, -2]]), np.array([[-2.0, 5.0], [3.0, 1.0], [0.5, -4.0]])
    np.testing.assert_array_equal(
        Tree.margins(children, values), [[2.0, -2.0, -5.0], [-3.0, 1.0, -1.0], [-0.5, -4.0, 0.5]]
    )


def test_relabelling_together_repairs_a_bad_start():
    start = TRUTH_OF_FOUR.copy()
    wrong = np.random.default_rng(0).permutation(len(start))[: len(start) // 4]
    start[wrong] = (start[wrong] + 1) % 4
    bent = CentredRows(Landmarks.drawn(FOUR, Kernel("rbf", 0.05), 100, np.random.default_rng(0)).coordinates)
    for rows in (bent, CentredRows(FOUR)):
        joint = Joint(rows, 4, 0.1 / rows.squared_norms.mean(), "squared_hinge", free, Options(tol=1e-2), 0, None)
        found = joint.relabel([start])
        assert clustering_accuracy(TRUTH_OF_FOUR, found.labels) == 1.0 > clustering_accuracy(TRUTH_OF_FOUR, start)
        values = rows.X @ found.weights.T + found.intercepts
        np.testing.assert_array_equal(np.argmax(values, axis=1), found.labels)
        assert found.status == "hardly a row changes its cluster"


def test_a_cluster_that_is_nobodys_first_choice_keeps_the_row_it_misses_least():
    F = np.array([[3.0, 1.0, 0.0], [3.0, 2.5, 0.0], [2.0, 2.9, 2.0], [1.0, 3.0, 2.8]])
    np.testing.assert_array_equal(of_largest_value(F), [0, 0, 1, 2])
    np.testing.assert_array_equal(of_largest_value(np.zeros((3, 3))), [1, 2, 0])


@pytest.mark.parametrize("seed", range(5))
def test_sizes_are_kept_by_offsets_at_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((12, 3)) + [1.5, 0.0, -0.5]
    labels, offsets = within_sizes(F, 4, 4)
    np.testing.assert_array_equal(np.bincount(labels), [4, 4, 4])
    np.testing.assert_array_equal(np.argmax(F + offsets, axis=1), labels)
    # The assignment problem, by SciPy: every cluster stands for four places.
    rows, places = linear_sum_assignment(-np.repeat(F, 4, axis=1))
    assert F[np.arange(12), labels].sum() == pytest.approx(np.repeat(F, 4, axis=1)[rows, places].sum())


def test_equal_values_are_divided_to_keep_the_sizes():
    labels, _ = within_sizes(np.zeros((7, 3)), 2, 3)
    assert sorted(np.bincount(labels)) == [2, 2, 3]


@pytest.mark.parametrize("how", [{"kernel": "rbf"}, {"kernel": "rbf", "cache_size": 1}, {"kernel": "poly"}])
def test_clusters_under_a_kernel_are_divided_too(how):
    X, truth = make_blobs(200, 5, centers=4, random_state=1)
    model = MaxMarginClustering(4, many="divided", random_state=0, **how).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
