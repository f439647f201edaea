"""Splits hide what they test, are the same for the same number, and hold what their plan says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import Bunch

from experiments.splits import SplitPlan, bag_folds, draw_of_each, make_split, scaling
from experiments.widths import gamma_of_width, mean_distance, mean_squared_distance


@pytest.fixture
def blobs() -> Bunch:
    y = np.repeat([-1, 1], 40)
    return Bunch(X=np.random.default_rng(0).standard_normal((80, 3)) + 0.8 * y[:, None], y=y)


@pytest.mark.parametrize("repeat", range(5))
def test_splits_hide_what_they_test(blobs, repeat):
    plan = SplitPlan(labeled=6, test=0.25, scale="none")
    split = make_split(blobs, plan, repeat)
    assert split.X.shape[0] == 60
    assert split.X_test.shape[0] == 20
    assert not set(map(tuple, split.X)) & set(map(tuple, split.X_test))
    known = split.y[~np.isnan(split.y)]
    np.testing.assert_array_equal(known, split.labeled[1])
    assert known.size == 6
    assert min(np.sum(known == -1), np.sum(known == 1)) >= plan.per_class
    again = make_split(blobs, plan, repeat)
    np.testing.assert_array_equal(split.y, again.y)
    unlabeled = make_split(blobs, replace(plan, test=0.0), repeat)
    assert unlabeled.X_test.shape[0] == 80 - 6, "without test rows the unlabeled ones are the test"


def test_numbers_of_rows_and_shares_of_them_are_the_same(blobs):
    shares = make_split(blobs, SplitPlan(labeled=0.1, test=0.25), 0)
    numbers = make_split(blobs, SplitPlan(labeled=8, test=20), 0)
    for one, other in zip(shares, numbers):
        np.testing.assert_array_equal(one, other)


def test_labels_may_be_a_share_of_the_training_rows(blobs):
    of_training = make_split(blobs, SplitPlan(labeled=0.1, test=0.25, share_of="training"), 0)
    assert of_training.labeled[1].size == 6
    assert make_split(blobs, SplitPlan(labeled=0.1, test=0.25), 0).labeled[1].size == 8


def test_hidden_labels_are_those_of_the_unlabeled_training_rows(blobs):
    split = make_split(blobs, SplitPlan(labeled=6, test=0.25, scale="none"), 0)
    of_row = {tuple(row): label for row, label in zip(blobs.X, blobs.y)}
    hidden = [of_row[tuple(row)] for row in split.X[np.isnan(split.y)]]
    assert sorted(split.y_hidden) == sorted(hidden)


def test_every_one_of_many_classes_is_labeled():
    bunch = Bunch(X=np.random.default_rng(0).standard_normal((400, 2)), y=np.repeat(np.arange(20), 20))
    split = make_split(bunch, SplitPlan(labeled=45, test=0.0), 0)  # a plain draw of 45 hardly ever has two of each
    known = split.labeled[1]
    assert known.size == 45
    assert np.unique(known, return_counts=True)[1].min() >= 2


def test_labels_by_shares_have_the_shares_of_the_training_rows():
    bunch = Bunch(X=np.random.default_rng(0).standard_normal((200, 2)), y=np.repeat([-1, 1], [150, 50]))
    drawn = [make_split(bunch, SplitPlan(labeled=20, draw="shares"), repeat) for repeat in range(5)]
    for repeat, split in enumerate(drawn):
        plain = make_split(bunch, SplitPlan(labeled=20), repeat)
        np.testing.assert_array_equal(split.X, plain.X, err_msg="the same training rows")
        known = split.labeled[1]
        in_training = (50 - np.sum(split.y_test == 1)) / 150
        assert np.sum(known == 1) == round(20 * in_training)
    few = make_split(bunch, SplitPlan(labeled=3, draw="shares"), 0).labeled[1]
    assert np.sum(few == 1) == 2, "at least two of each class"


def test_stored_splits_are_taken_as_they_are(blobs):
    blobs.labeled_idx = {4: np.array([[0, 1, 40, 41], [2, 3, 42, 43]])}
    split = make_split(blobs, SplitPlan(labeled=4, split="stored", test=0.0), 1)
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(split.y)), [2, 3, 42, 43])
    assert split.y_test.size == 76


def test_a_class_that_is_too_small_is_told(blobs):
    blobs.y = np.where(np.arange(80) == 0, 1, -1)
    with pytest.raises(ValueError, match="class 1 has 1 training rows, fewer than 2"):
        make_split(blobs, SplitPlan(labeled=6, test=0.0), 0)


def test_scaling_is_learnt_from_the_rows_given(blobs):
    X = blobs.X * [1, 10, 100]
    np.testing.assert_allclose(scaling(X[:40], "features")(X[:40]).std(axis=0), 1)
    overall = scaling(X, "overall")(X)
    np.testing.assert_allclose(overall.std(axis=0) / overall.std(axis=0)[0], X.std(axis=0) / X.std(axis=0)[0])
    np.testing.assert_allclose(np.linalg.norm(scaling(X, "rows")(X), axis=1), 1)
    assert scaling(X, "none")(X) is X


def test_bags_are_drawn_and_folded():
    y = np.repeat([0, 1, 2], 10)
    drawn = draw_of_each(y, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(y[drawn]), [4, 4, 4])
    tests = [test for _, test in bag_folds(y, repeat=0, n_folds=5)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(30))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_mean_squared_distance_is_over_pairs_of_different_rows(blobs, sparse):
    squared = euclidean_distances(blobs.X, squared=True)
    X = csr_matrix(blobs.X) if sparse else blobs.X
    mean = squared[~np.eye(80, dtype=bool)].mean()
    assert mean_squared_distance(X) == pytest.approx(mean)
    assert gamma_of_width(X, 2.0) == pytest.approx(1 / (8 * mean))
    distance = np.sqrt(squared)[~np.eye(80, dtype=bool)].mean()
    assert mean_distance(X) == pytest.approx(distance)
    assert gamma_of_width(X, 2.0, squared=False) == pytest.approx(1 / (8 * distance))


def test_test_rows_by_shares_have_the_shares_of_all_rows():
    y = np.repeat([0, 1], [30, 90])
    data = Bunch(X=np.arange(120.0)[:, None], y=y)
    draws = [make_split(data, SplitPlan(labeled=10, test_draw="shares", scale="none"), k) for k in range(5)]
    for split in draws:
        assert np.bincount(split.y_test.astype(int)).tolist() == [8, 22]
        assert set(split.X.ravel()).isdisjoint(split.X_test.ravel())
        assert split.X.size + split.X_test.size == 120
    assert not np.array_equal(draws[0].X_test, draws[1].X_test)
