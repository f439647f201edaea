"""Folds over the labeled rows, and hiding labels for experiments."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.semi_supervised import SelfTrainingClassifier

from wellsvm.model_selection import SemiSupervisedSplit, hide_labels
from wellsvm.partial_labels import normalize_partial_labels


@pytest.fixture
def y():
    """Three classes of ten labeled rows each, and thirty unlabeled rows between them."""
    labels = np.full(60, -1)
    labels[::2] = np.arange(30) % 3
    return labels


def placeholder(y):
    return np.zeros((len(y), 1))


# SemiSupervisedSplit


@pytest.mark.parametrize(
    "cv, n_splits",
    [(2, 2), (5, 5), (np.int64(10), 10), (KFold(3), 3), (ShuffleSplit(4, test_size=0.3, random_state=0), 4)],
)
def test_every_unlabeled_row_trains_and_none_is_tested(y, cv, n_splits):
    splitter = SemiSupervisedSplit(cv)
    parts = list(splitter.split(placeholder(y), y))
    assert len(parts) == splitter.get_n_splits(placeholder(y), y) == splitter.get_n_splits() == n_splits
    unlabeled = np.flatnonzero(y == -1)
    for train, test in parts:
        assert np.isin(unlabeled, train).all()
        assert (y[test] != -1).all()
        assert not np.intersect1d(train, test).size
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
        assert test.size


def test_int_folds_partition_the_labeled_rows_and_hold_each_class(y):
    tests = [test for _, test in SemiSupervisedSplit(5).split(placeholder(y), y)]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.flatnonzero(y != -1))
    assert all(np.bincount(y[test]).tolist() == [2, 2, 2] for test in tests)


@pytest.mark.parametrize("missing", [None, float("nan"), "masked"])
def test_missing_labels_give_the_same_folds_as_a_marker(y, missing):
    other = np.ma.masked_equal(y, -1) if missing == "masked" else [missing if v == -1 else v for v in y]
    for (a, b), (c, d) in zip(
        SemiSupervisedSplit(3).split(placeholder(y), y), SemiSupervisedSplit(3).split(placeholder(y), other)
    ):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_unlabeled_is_passed_on():
    y = np.array([-1, 0, 1] * 4)
    splitter = SemiSupervisedSplit(2, unlabeled=0)
    assert all((y[test] != 0).all() for _, test in splitter.split(placeholder(y), y))
    assert sum(test.size for _, test in SemiSupervisedSplit(2, unlabeled=None).split(placeholder(y), y)) == 12


def test_shuffling_follows_its_seed(y):
    def folds(seed):
        splitter = SemiSupervisedSplit(5, shuffle=True, random_state=seed)
        return [test.tolist() for _, test in splitter.split(placeholder(y), y)]

    assert folds(0) == folds(0)
    assert folds(0) != folds(1)


def test_groups_of_the_labeled_rows_reach_the_splitter(y):
    groups = np.arange(60) // 10
    splitter = SemiSupervisedSplit(GroupKFold(3))
    assert splitter.get_n_splits(placeholder(y), y, groups) == 3
    for train, test in splitter.split(placeholder(y), y, groups):
        assert not np.intersect1d(groups[train[y[train] != -1]], groups[test]).size


def test_iterable_holds_indices_of_all_rows(y):
    halves = ((np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30)))
    splitter = SemiSupervisedSplit(half for half in halves)  # a generator must survive repeated use
    assert splitter.get_n_splits() == 2
    for _ in range(2):
        (train, test), _ = splitter.split(placeholder(y), y)
        assert test.tolist() == list(range(30, 60, 2))
        assert train.tolist() == list(range(30)) + list(range(31, 60, 2))


def test_a_splitter_made_for_all_rows_is_refused(y):
    predefined = PredefinedSplit(np.arange(60) // 30)
    with pytest.raises(ValueError, match=r"beyond the 30 labeled rows.*cv=list"):
        list(SemiSupervisedSplit(predefined).split(placeholder(y), y))
    parts = SemiSupervisedSplit(predefined.split()).split(placeholder(y), y)
    assert [test.size for _, test in parts] == [15, 15]


def test_a_fold_without_labeled_test_rows_is_refused(y):
    with pytest.raises(ValueError, match="Fold 0 of cv has no labeled row"):
        list(SemiSupervisedSplit([(np.arange(10), np.arange(11, 60, 2))]).split(placeholder(y), y))


def test_folds_are_lowered_to_the_smallest_class():
    y = np.array([0] * 10 + [1] * 3 + [-1] * 5)
    splitter = SemiSupervisedSplit(5, unlabeled=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert splitter.get_n_splits(placeholder(y), y) == 3
    with pytest.warns(UserWarning, match="cv=5 lowered to 3 folds.*smaller cv") as caught:
        assert len(list(splitter.split(placeholder(y), y))) == 3
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)


def test_a_class_with_one_labeled_row_is_an_error():
    y = np.array(["a"] * 10 + ["b"] + [None] * 5, dtype=object)
    message = r"Class b has 1 labeled row.*cv=5.*Label more.*leave it out.*KFold"
    with pytest.raises(ValueError, match=message):
        list(SemiSupervisedSplit(5).split(placeholder(y), y))
    with pytest.raises(ValueError, match=message):
        SemiSupervisedSplit(5).get_n_splits(placeholder(y), y)


@pytest.mark.parametrize(
    "params, match",
    [
        ({"cv": 1}, "cv=1 must be at least 2"),
        ({"cv": 2.5}, "cv=2.5 must be an int"),
        ({"cv": True}, "cv=True must be an int"),
        ({"cv": "five"}, "cv='five' must be an int"),
        ({"cv": KFold(3), "shuffle": True}, "int cv only"),
        ({"cv": 3, "random_state": 0}, "random_state=0 has no effect without shuffle=True"),
    ],
)
def test_parameters_are_checked(params, match):
    with pytest.raises(ValueError, match=match):
        SemiSupervisedSplit(**params)


def test_repr_and_copies(y):
    splitter = SemiSupervisedSplit(3, unlabeled=-1)
    assert repr(splitter) == "SemiSupervisedSplit(cv=3, random_state=None, shuffle=False, unlabeled=-1)"
    for other in (copy.deepcopy(splitter), clone(splitter, safe=False)):
        assert other.get_n_splits(placeholder(y), y) == 3


def test_cross_validation_and_grid_search():
    X, truth = make_blobs(120, centers=3, random_state=0, cluster_std=0.5)
    y = hide_labels(truth, 0.75, random_state=0)
    model = SelfTrainingClassifier(GaussianNB())
    scores = cross_val_score(model, X, y, cv=SemiSupervisedSplit(5))
    assert scores.shape == (5,)
    assert scores.min() > 0.6
    search = GridSearchCV(model, {"threshold": [0.7, 0.9]}, cv=SemiSupervisedSplit(3)).fit(X, y)
    assert search.n_splits_ == 3
    assert search.score(X, truth) > 0.8


def test_grid_search_with_lowered_folds():
    X, truth = make_blobs(60, centers=3, random_state=0)
    y = hide_labels(truth, n_labeled=9, random_state=0)
    search = GridSearchCV(SelfTrainingClassifier(GaussianNB()), {"threshold": [0.7, 0.9]}, cv=SemiSupervisedSplit(5))
    with pytest.warns(UserWarning, match="lowered to 3"):
        assert search.fit(X, y).n_splits_ == 3


# hide_labels


@pytest.mark.parametrize(
    "classes, kind",
    [
        (np.array([0, 1, 2]), "i"),
        (np.array([3, 7], dtype=np.uint8), "i"),
        (np.array([-1, 1]), "i"),
        (np.array([-2, 0, 4], dtype=np.int8), "i"),
        (np.array([False, True]), "b"),
        (np.array([0.0, 1.0], dtype=np.float32), "f"),
        (np.array([-1.0, 1.0]), "f"),
        (np.array(["a", "bcd"]), "O"),
        (np.array(["a", "bcd"], dtype=object), "O"),
        (np.array(["2020", "2021"], dtype="M8[D]"), "M"),
    ],
)
@pytest.mark.filterwarnings("ignore:y contains -1, 0 and 1")
def test_hidden_labels_are_read_back_as_unlabeled(classes, kind):
    y = np.resize(classes, 40)
    out = hide_labels(y, 0.5, random_state=0)
    assert out.dtype.kind == kind
    partial = normalize_partial_labels(out)
    assert partial.labeled.sum() == 20
    assert partial.classes.tolist() == classes.tolist()
    assert (partial.classes[partial.codes[partial.labeled]] == y[partial.labeled]).all()


@pytest.mark.parametrize(
    "y, marker, hidden",
    [
        ([0, 1, 2, 0, 1, 2], 9, 9),
        ([0, 1, 2, 0, 1, 2], -5, -5),
        (["a", "b", "a", "b"], "unknown", "unknown"),
        (np.array(["a", "b", "a", "b"], dtype=object), "?", "?"),
        (np.array([0, 1, 0, 1], dtype=np.uint8), 255, 255),
        ([True, False, True, False], -1, -1),
        ([0.0, 1.0, 0.0, 1.0], -1, -1.0),
    ],
)
def test_a_chosen_marker_is_written(y, marker, hidden):
    out = hide_labels(y, 0.5, unlabeled=marker, random_state=0)
    partial = normalize_partial_labels(out, unlabeled=marker)
    assert partial.labeled.sum() == len(y) // 2 + len(y) // 2 % len(partial.classes)
    assert all(v == hidden for v in out[~partial.labeled])
    assert all(a == b for a, b in zip(out[partial.labeled], np.asarray(y)[partial.labeled]))


@pytest.mark.parametrize("y", [[0, 1, 0, 1], ["a", "b", "a", "b"]])
def test_nan_as_marker(y):
    out = hide_labels(y, 0.5, unlabeled=np.nan, random_state=0)
    assert normalize_partial_labels(out).labeled.sum() == 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("stratify", [True, False])
def test_each_class_keeps_a_label(seed, stratify):
    y = np.array([0] * 95 + [1] * 4 + [2])
    for fraction, kept in [(0.0, 100), (0.3, 70), (0.9, 10), (0.97, 3), (0.999, 3)]:
        partial = normalize_partial_labels(hide_labels(y, fraction, stratify=stratify, random_state=seed), -1)
        assert partial.classes.tolist() == [0, 1, 2]
        assert partial.labeled.sum() == kept
    assert normalize_partial_labels(hide_labels(y, n_labeled=17, stratify=stratify), -1).labeled.sum() == 17


def test_stratification_keeps_the_proportions():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    out = hide_labels(y, n_labeled=20, random_state=0)
    assert np.bincount(out[out >= 0]).tolist() == [12, 6, 2]


def test_hiding_follows_its_seed_and_leaves_the_input_alone():
    y = np.arange(50) % 2
    a, b, c = (hide_labels(y, 0.5, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()
    assert (y == np.arange(50) % 2).all()


@pytest.mark.parametrize(
    "y, params",
    [
        ([0, 1, 2, None] * 5, {}),
        ([0, 1, 2, -1] * 5, {}),
        ([0, 1, 2, 9] * 5, {"unlabeled": 9}),
        (np.ma.array([0, 1, 2, 0] * 5, mask=[0, 0, 0, 1] * 5), {}),
    ],
)
def test_rows_already_unlabeled_stay_so_and_do_not_count(y, params):
    out = hide_labels(y, 0.4, random_state=0, **params)
    marker = params.get("unlabeled", -1)
    assert (out == marker).sum() == 5 + 6
    assert (out[3::4] == marker).all()


def test_missing_cells_of_a_series_stay_missing():
    pd = pytest.importorskip("pandas")
    out = hide_labels(pd.Series([0, 1, None] * 4, dtype="Int64"), 0.5, random_state=0)
    assert isinstance(out, pd.Series)
    assert out.isna().sum() == 8
    assert out[2::3].isna().all()
    assert out.value_counts().tolist() == [2, 2]


@pytest.mark.parametrize(
    "params, error, match",
    [
        ({}, ValueError, "one of fraction and n_labeled"),
        ({"fraction": 0.5, "n_labeled": 3}, ValueError, "one of fraction and n_labeled"),
        ({"fraction": 1.0}, ValueError, r"fraction=1.0 must be in \[0, 1\)"),
        ({"fraction": -0.1}, ValueError, r"fraction=-0.1 must be in \[0, 1\)"),
        ({"fraction": float("nan")}, ValueError, r"fraction=nan must be in \[0, 1\)"),
        ({"fraction": "half"}, TypeError, "fraction='half' must be a float"),
        ({"n_labeled": 1}, ValueError, r"n_labeled=1 must be in \[2, 6\]"),
        ({"n_labeled": 7}, ValueError, r"n_labeled=7 must be in \[2, 6\]"),
        ({"n_labeled": 2.5}, TypeError, "n_labeled=2.5 must be an int"),
        ({"n_labeled": 3, "unlabeled": "?"}, TypeError, "can never occur"),
        ({"n_labeled": 3, "unlabeled": [8, 9]}, TypeError, "must be a single value"),
    ],
)
def test_hide_labels_checks_its_parameters(params, error, match):
    with pytest.raises(error, match=match):
        hide_labels([0, 1, 0, 1, 0, 1], **params)


def test_an_empty_string_is_a_class_where_every_label_is_given():
    hidden = hide_labels(["", "a", "b"] * 4, n_labeled=3, random_state=0)
    assert sorted(label for label in hidden if label is not None) == ["", "a", "b"]


def test_hide_labels_needs_two_classes():
    with pytest.raises(ValueError, match="at least 2 classes"):
        hide_labels([1, 1, 1], 0.5)
