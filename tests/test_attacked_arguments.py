"""What attacks on later versions found in parameters, labels and functions beside the estimators, each as a test."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import wellsvm
from wellsvm import (
    Bags,
    CandidateLabelSVC,
    MaxMarginClustering,
    MultiInstanceSVC,
    MultiInstanceSVCCV,
    PositiveUnlabeledSVC,
    SemiSupervisedSVC,
    SemiSupervisedSVCCV,
    WeakLabelSVC,
)
from wellsvm.datasets import load_npz, make_sparse_text
from wellsvm.images import images_to_bags
from wellsvm.labels import (
    BalancedLabels,
    ClusterLabels,
    JoinedLabels,
    KeyInstances,
    LabelSet,
    LinkedLabels,
    NoisyLabels,
    ProportionLabels,
)
from wellsvm.metrics import clustering_accuracy, roi_success_rate
from wellsvm.model_selection import SemiSupervisedSplit, hide_labels

N = 16
TRUTH = np.arange(N) % 2
X = np.random.default_rng(0).standard_normal((N, 3)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(N) < 10, TRUTH, np.nan)
BAGS, LABELS = [X[k : k + 2] for k in range(0, N, 2)], np.arange(N // 2) % 2
QUICK = {"safe": False, "balance": "labels", "search": "local", "max_iter": 2, "random_state": 0}


class BytesPath:
    """A path that is bytes to the system."""

    def __fspath__(self):
        return b"fit"


# ------------------------------------------------------------------ parameters


@pytest.mark.parametrize("path", ["", "a\0b", b"fit", BytesPath()], ids=["empty", "NUL", "bytes", "path of bytes"])
def test_a_checkpoint_that_is_no_path_is_refused_by_name(path):
    for fit in (
        lambda: SemiSupervisedSVC(checkpoint=path, **QUICK).fit(X, Y),
        lambda: MultiInstanceSVC(kernel="linear", checkpoint=path).fit(BAGS, LABELS),
        lambda: MaxMarginClustering(checkpoint=path).fit(X),
    ):
        with pytest.raises(TypeError, match="checkpoint must be the path"):
            fit()


def test_an_empty_path_is_not_the_present_folder():
    for call in (wellsvm.open_rows, wellsvm.load, load_npz, lambda path: wellsvm.write_rows(path, X)):
        with pytest.raises(TypeError, match="path must be the path"):
            call("")


def test_warm_start_is_true_or_false():
    for value in (np.array([1.0, 2.0]), np.array([]), "yes", None):
        with pytest.raises(TypeError, match="warm_start must be True or False"):
            SemiSupervisedSVC(warm_start=value, **QUICK).fit(X, Y)


@pytest.mark.parametrize("cv", [b"ab", "ab", np.array(1.0), StratifiedKFold, True, 0.5], ids=repr)
def test_folds_that_are_none_are_refused(cv):
    for fit in (
        lambda: SemiSupervisedSVCCV(cv=cv).fit(X, Y),
        lambda: MultiInstanceSVCCV(cv=cv).fit(BAGS, LABELS),
    ):
        with pytest.raises((TypeError, ValueError), match=r"cv.* must be"):
            fit()


def test_a_tolerance_whose_square_overflows():
    model = SemiSupervisedSVC(kernel="rbf", search="smooth", tol=1e300, safe=False, balance="labels", random_state=0)
    assert np.isfinite(model.fit(X, Y).decision_function(X)).all()


def test_markers_of_unlabeled_rows_are_values():
    for unlabeled in ({}, {0: 0.5}, [[0]], [{}]):
        with pytest.raises(TypeError, match=r"unlabeled=.* must be a value"):
            PositiveUnlabeledSVC(unlabeled=unlabeled).fit(X, TRUTH)


# ------------------------------------------------------------------ labels


@pytest.mark.parametrize("y", [[{}] * N, ["a", 1] * (N // 2), [np.inf, 1.0] * (N // 2), [b"a"] * N, TRUTH + 0.5])
def test_labels_that_are_none_cannot_be_scored(y):
    with pytest.raises((TypeError, ValueError), match=r"[Ll]abel|mixes strings|infinity"):
        SemiSupervisedSVC(**QUICK).fit(X, Y).score(X, y)
    with pytest.raises((TypeError, ValueError), match=r"[Ll]abel|mixes strings|infinity"):
        CandidateLabelSVC(search="local", random_state=0).fit(X, [{int(t)} for t in TRUTH]).score(X, y)
    with pytest.raises((TypeError, ValueError), match=r"[Ll]abel|mixes strings|infinity"):
        MultiInstanceSVC(random_state=0).fit(BAGS, LABELS).score(BAGS, y[: len(BAGS)])


class Silent(LabelSet):
    """A set that says nothing about some row."""

    n_instances = N

    def linear_oracle(self, scores):
        return np.where(np.arange(N) == 3, 0, np.where(scores >= 0, 1, -1)).astype(np.int8)

    def contains(self, y):
        return True


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_row_that_an_oracle_leaves_without_a_label_is_named(kernel):
    with pytest.raises(ValueError, match="Silent: linear_oracle left row 3 without a label"):
        WeakLabelSVC(kernel=kernel).fit(X, Silent())


@pytest.mark.parametrize(
    "make",
    [
        lambda bad: BalancedLabels(bad, 1),
        lambda bad: BalancedLabels(np.zeros(4), bad),
        lambda bad: ClusterLabels(bad, 1),
        lambda bad: ClusterLabels(4, bad),
        lambda bad: JoinedLabels(bad),
        lambda bad: JoinedLabels([(bad, ClusterLabels(2, 0))]),
        lambda bad: KeyInstances(bad, [True]),
        lambda bad: KeyInstances([0, 2], [True], bad),
        lambda bad: LinkedLabels(bad, 0.5),
        lambda bad: NoisyLabels(bad, (0, 0)),
        lambda bad: NoisyLabels([1, -1], bad),
        lambda bad: NoisyLabels([1, -1], (0, 0), bad),
        lambda bad: ProportionLabels(bad, [1]),
        lambda bad: ProportionLabels([0, 0], bad),
        lambda bad: ProportionLabels([0, 0], [1], y_known=bad),
    ],
)
@pytest.mark.parametrize(
    "bad", ["a", {}, 10**400, np.nan, [0.5, 0.5], [[1], [1, 2]], [300, 300], len], ids=lambda bad: f"{bad!r:.12}"
)
def test_what_no_label_set_is_made_of_is_refused(make, bad):
    with pytest.raises((TypeError, ValueError), match=r"must|is not an array|allows no labeling|labels 2 instances"):
        make(bad)


# ------------------------------------------------------------------ bags, folders, folds, metrics, images


def test_functions_beside_the_estimators_refuse_in_words(tmp_path):
    rows = wellsvm.open_rows(wellsvm.write_rows(tmp_path / "rows", X, block_rows=5))
    for key in (None, True, "a", 10**30, 0.5, [[0, 1]], {}):
        with pytest.raises(IndexError, match="rows are chosen by a number"):
            rows[key]
    with pytest.raises(TypeError, match="bags must be a list"):
        Bags.from_list(3)
    with pytest.raises(TypeError, match="images must be a list"):
        images_to_bags(3)
    with pytest.raises(ValueError, match="expected one group for each of the 16 rows"):
        list(SemiSupervisedSplit(StratifiedKFold(2)).split(X, Y, groups=[1, 2]))
    with pytest.raises(TypeError, match="must be True or False"):
        hide_labels(TRUTH, 0.5, stratify=np.array([1, 2]))
    with pytest.raises(TypeError, match="cannot be combined with labels of type int64"):
        hide_labels(TRUTH, 0.5, unlabeled=np.datetime64("2020-01-01"))
    with pytest.raises(TypeError, match="numbers or text"):
        clustering_accuracy(np.array(["a", 1], dtype=object), [0, 1])
    with pytest.raises(TypeError, match="roi must be given"):
        roi_success_rate([True], [0], None)
    with pytest.raises(ValueError, match="roi of bag 0 must be a list"):
        roi_success_rate([True], [0], [True])
    with pytest.raises(TypeError, match="whole numbers"):
        make_sparse_text(True)


def test_notes_that_are_an_array_are_refused(tmp_path):
    pytest.importorskip("skops")
    for notes in (np.array([1.0, 2.0]), np.array([]), "", 0):
        with pytest.raises(TypeError, match="notes must be what JSON can hold"):
            wellsvm.save(SemiSupervisedSVC(**QUICK).fit(X, Y), tmp_path / "m.skops", notes=notes)


def test_a_client_of_dask_and_its_times_are_checked():
    pytest.importorskip("distributed")
    from wellsvm.dask import rows

    for client in (3, "tcp://localhost", X):
        with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
            rows([X], client=client)
    for seconds in (10**400, 1e300, 0, -1, np.nan, True, "1"):
        with pytest.raises(ValueError, match="must be a number of seconds"):
            rows([X], timeout=seconds)


@pytest.mark.parametrize(("length", "tol"), [(1e-300, 1e-3), (1e18, 1e-3), (1.0, 1e300)])
def test_proportions_of_rows_of_any_length_and_any_tol_give_no_warning_of_numpy(length, tol):
    X = np.random.default_rng(0).standard_normal((48, 3)).astype(np.float32 if length > 1 else np.float64) * length
    groups = np.arange(48) // 8
    model = wellsvm.ProportionSVC(tol=tol, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X, groups=groups, proportions=np.array([0.25, 0.5, 0.75, 0.0, 1.0, 0.5]))
        assert np.isfinite(model.decision_function(X)).all()
