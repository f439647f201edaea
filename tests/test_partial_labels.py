"""One target, many ways to leave a label out: all must be read the same way."""

from __future__ import annotations

import inspect
import warnings
from decimal import Decimal

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from wellsvm import partial_labels
from wellsvm.partial_labels import PartialLabels, normalize_partial_labels, require_two_classes

nan = float("nan")


def read(y, unlabeled="auto"):
    """Normalize, and fail on any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return normalize_partial_labels(y, unlabeled)


def check(partial, classes, codes, kind):
    assert partial.classes.tolist() == classes
    assert partial.codes.tolist() == codes
    assert partial.labeled.tolist() == [c >= 0 for c in codes]
    assert partial.classes.dtype.kind == kind
    assert partial.labeled.dtype == bool
    assert partial.codes.dtype == np.intp


@pytest.mark.parametrize(
    "y, classes, codes, kind",
    [
        ([0, 1, 2], [0, 1, 2], [0, 1, 2], "i"),
        ((5, 3, 5), [3, 5], [1, 0, 1], "i"),
        (range(2), [0, 1], [0, 1], "i"),
        ([0, None, 1], [0, 1], [0, -1, 1], "i"),
        ([0, nan, 1], [0.0, 1.0], [0, -1, 1], "f"),
        ([0.0, nan, -1.0], [-1.0, 0.0], [1, -1, 0], "f"),
        ([True, None, False], [False, True], [1, -1, 0], "b"),
        ([True, False], [False, True], [1, 0], "b"),
        (["b", "a"], ["a", "b"], [1, 0], "U"),
        (["b", None, "a"], ["a", "b"], [1, -1, 0], "U"),
        (["b", nan, "a"], ["a", "b"], [1, -1, 0], "U"),
        (["b", np.float32("nan"), "nane"], ["b", "nane"], [0, -1, 1], "U"),
        (["-1", "0", "1"], ["-1", "0", "1"], [0, 1, 2], "U"),
        (["-1", "5"], ["-1", "5"], [0, 1], "U"),
        (np.array([0, 1, 1], dtype=np.uint8), [0, 1], [0, 1, 1], "u"),
        (np.array([0, 1, 1], dtype=np.int8), [0, 1], [0, 1, 1], "i"),
        (np.array([0, nan, 1], dtype=np.float32), [0.0, 1.0], [0, -1, 1], "f"),
        (np.array(["b", "a"]), ["a", "b"], [1, 0], "U"),
        (np.array(["b", "a"], dtype=object), ["a", "b"], [1, 0], "O"),
        (np.array(["b", None, "a"], dtype=object), ["a", "b"], [1, -1, 0], "O"),
        (np.array([0, 1], dtype=object), [0, 1], [0, 1], "i"),
        (np.array([0, nan, 1], dtype=object), [0, 1], [0, -1, 1], "i"),
        (np.array([0, None, 1.0], dtype=object), [0.0, 1.0], [0, -1, 1], "f"),
        (np.array([True, None, 2], dtype=object), [1, 2], [0, -1, 1], "i"),
        (np.ma.array([0, 1, 2], mask=[0, 1, 0]), [0, 2], [0, -1, 1], "i"),
        (np.ma.array([0.0, 0.5, 2.0], mask=[0, 1, 0]), [0.0, 2.0], [0, -1, 1], "f"),
        (np.ma.array([0.0, nan, 2.0], mask=[1, 0, 0]), [2.0], [-1, -1, 0], "f"),
        (np.ma.array(["a", "b"], mask=False), ["a", "b"], [0, 1], "U"),
        (np.ma.array([None, "a"], mask=[0, 0], dtype=object), ["a"], [-1, 0], "O"),
    ],
)
def test_builtin_and_numpy_targets(y, classes, codes, kind):
    check(read(y), classes, codes, kind)


def test_dates_are_classes_and_nat_is_missing():
    partial = read(np.array(["2020-01-02", "NaT", "2020-01-01"], dtype="M8[D]"))
    assert partial.codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    "values, dtype, classes, codes, kind",
    [
        ([0, None, 1], "Int64", [0, 1], [0, -1, 1], "i"),
        ([0, None, 1], "Float64", [0.0, 1.0], [0, -1, 1], "f"),
        ([0, None, 1], "category", [0, 1], [0, -1, 1], "i"),
        ([0, None, 1], "object", [0, 1], [0, -1, 1], "i"),
        ([0, None, 1], "float64", [0.0, 1.0], [0, -1, 1], "f"),
        ([0, 1, 1], "int64", [0, 1], [0, 1, 1], "i"),
        ([True, None, False], "boolean", [False, True], [1, -1, 0], "b"),
        (["b", None, "a"], "string", ["a", "b"], [1, -1, 0], "O"),
        (["b", None, "a"], "category", ["a", "b"], [1, -1, 0], "O"),
        (["b", None, "a"], "object", ["a", "b"], [1, -1, 0], "O"),
    ],
)
def test_pandas_series(values, dtype, classes, codes, kind):
    pd = pytest.importorskip("pandas")
    # An index that is no range: rows must be taken by position.
    check(read(pd.Series(values, dtype=dtype, index=[7, 7, 0])), classes, codes, kind)


def test_pandas_missing_values_in_lists_arrays_and_frames():
    pd = pytest.importorskip("pandas")
    check(read([0, pd.NA, 1]), [0, 1], [0, -1, 1], "i")
    check(read(["a", pd.NaT, "b"]), ["a", "b"], [0, -1, 1], "U")
    check(read(pd.array([0, None, 1], dtype="Int64")), [0, 1], [0, -1, 1], "i")
    check(read(pd.Categorical(["b", None, "a"])), ["a", "b"], [1, -1, 0], "O")
    check(read(pd.Index([3, 4])), [3, 4], [0, 1], "i")
    with pytest.warns(DataConversionWarning, match="column-vector"):
        check(normalize_partial_labels(pd.DataFrame({"y": [0, 1]})), [0, 1], [0, 1], "i")


@pytest.mark.parametrize(
    "values, classes, codes, kind",
    [
        ([0, None, 1], [0, 1], [0, -1, 1], "i"),
        ([0.0, None, nan, 1.0], [0.0, 1.0], [0, -1, -1, 1], "f"),
        ([True, None, False], [False, True], [1, -1, 0], "b"),
        (["b", None, "a"], ["a", "b"], [1, -1, 0], "O"),
        ([0, 1], [0, 1], [0, 1], "i"),
    ],
)
def test_polars_series(values, classes, codes, kind):
    pl = pytest.importorskip("polars")
    check(read(pl.Series(values)), classes, codes, kind)


def test_polars_categories():
    pl = pytest.importorskip("polars")
    check(read(pl.Series(["b", None, "a"], dtype=pl.Categorical)), ["a", "b"], [1, -1, 0], "O")


def test_pandas_and_polars_are_not_imported():
    source = inspect.getsource(partial_labels)
    assert "import pandas" not in source
    assert "import polars" not in source


# unlabeled="auto"


@pytest.mark.parametrize(
    "y, classes, codes",
    [
        ([-1, 1, 2], [1, 2], [-1, 0, 1]),
        ([-1, 0, 2], [0, 2], [-1, 0, 1]),
        ([-1, 0, 1, 2], [0, 1, 2], [-1, 0, 1, 2]),
        ([-1, -2, 1], [-2, 1], [-1, 0, 1]),
        ([-1.0, 3.0, 1.0], [1.0, 3.0], [-1, 1, 0]),
        ([-2, 2], [-2, 2], [0, 1]),
        ([1, 1], [1], [0, 0]),
        ([-1, 0, nan], [-1.0, 0.0], [0, 1, -1]),
        ([-1, None, -1], [-1], [0, -1, 0]),
        ([-1, 1, None], [-1, 1], [0, 1, -1]),
        ([-1, 0, 1, None], [-1, 0, 1], [0, 1, 2, -1]),
        (np.ma.array([-1, 0, 1, 2], mask=[0, 0, 0, 1]), [-1, 0, 1], [0, 1, 2, -1]),
    ],
)
def test_auto_reads_minus_one_without_a_warning(y, classes, codes):
    partial = read(y)
    assert partial.classes.tolist() == classes
    assert partial.codes.tolist() == codes


@pytest.mark.parametrize(
    "y, classes, codes, advice",
    [
        ([-1, 1, 1], [-1, 1], [0, 1, 1], ["unlabeled=-1", "unlabeled=None"]),
        ([-1.0, 1.0], [-1.0, 1.0], [0, 1], ["unlabeled=-1", "unlabeled=None"]),
        (np.array([-1, 1], dtype=object), [-1, 1], [0, 1], ["unlabeled=-1", "unlabeled=None"]),
        ([-1, 0, 1], [0, 1], [-1, 0, 1], ["unlabeled=-1", "unlabeled=0", "unlabeled=None"]),
        ([-1.0, 0.0, 1.0], [0.0, 1.0], [-1, 0, 1], ["unlabeled=-1", "unlabeled=0", "unlabeled=None"]),
    ],
)
def test_auto_says_what_it_assumed(y, classes, codes, advice):
    with pytest.warns(UserWarning, match="y contains") as caught:
        partial = normalize_partial_labels(y)
    assert partial.classes.tolist() == classes
    assert partial.codes.tolist() == codes
    assert len(caught) == 1
    assert caught[0].filename == __file__  # points at the caller
    message = str(caught[0].message)
    assert "\n" not in message
    assert all(a in message for a in advice)


@pytest.mark.parametrize("y", [[-1, 5], [-1, 0], [0.0, -1.0], [-1, -2]])
def test_auto_refuses_to_guess(y):
    with pytest.raises(ValueError, match=r"unlabeled=None .* unlabeled=-1"):
        normalize_partial_labels(y)


def test_auto_with_nothing_but_minus_one():
    with pytest.raises(ValueError, match=r"every row is unlabeled .*MaxMarginClustering.* 1 class"):
        normalize_partial_labels([-1, -1])


@pytest.mark.parametrize(
    "y",
    [
        ["", "a", "", "b"],
        ["", None, "", "b"],
        np.array(["", "a", "", "b"]),
        np.array(["", None, "", "b"], dtype=object),
        np.ma.array(["", "a", "", "b"], mask=[0, 1, 0, 0]),
    ],
)
def test_auto_does_not_guess_what_an_empty_string_means(y):
    with pytest.raises(ValueError, match=r"2 empty string\(s\), the first at index 0.*unlabeled=None .* unlabeled=''"):
        normalize_partial_labels(y)


def test_empty_strings_of_series():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for y in (pd.Series([None, "", "b"]), pd.Series([None, "", "b"], dtype="string"), pl.Series([None, "", "b"])):
        with pytest.raises(ValueError, match=r"1 empty string\(s\), the first at index 1"):
            normalize_partial_labels(y)
        check(read(y, ""), ["b"], [-1, -1, 0], "O")


# explicit markers, and none


@pytest.mark.parametrize(
    "y, unlabeled, classes, codes",
    [
        ([-1, 0, 1], -1, [0, 1], [-1, 0, 1]),
        ([-1, 0, 1], 0, [-1, 1], [0, -1, 1]),
        ([-1, 1], -1, [1], [-1, 0]),
        ([-1, 5], -1, [5], [-1, 0]),
        ([0, 1, 9], np.int8(9), [0, 1], [0, 1, -1]),
        ([0, 1, 9], np.array(9), [0, 1], [0, 1, -1]),
        ([0, 1, 9], 9.0, [0, 1], [0, 1, -1]),
        ([0, 1, 8, 9], [8, 9], [0, 1], [0, 1, -1, -1]),
        ([0, 1, 8, 9], (8, 9), [0, 1], [0, 1, -1, -1]),
        ([0, 1, 8, 9], {8, 9}, [0, 1], [0, 1, -1, -1]),
        ([0, 1, 8, 9], np.array([8, 9]), [0, 1], [0, 1, -1, -1]),
        ([0, 1, 8, 9], range(8, 10), [0, 1], [0, 1, -1, -1]),
        ([0, None, 9], 9, [0], [0, -1, -1]),
        ([-1, 1], 7, [-1, 1], [0, 1]),
        ([-1, 1], [], [-1, 1], [0, 1]),
        ([-1, 0, 1], nan, [-1, 0, 1], [0, 1, 2]),
        ([0, None, 1], [None], [0, 1], [0, -1, 1]),
        ([0.0, 0.5, 1.0], 0.5, [0.0, 1.0], [0, -1, 1]),
        ([0.0, np.inf, 1.0], np.inf, [0.0, 1.0], [0, -1, 1]),
        ([True, False], False, [True], [0, -1]),
        (["a", "?", "b"], "?", ["a", "b"], [0, -1, 1]),
        (np.array(["a", "?", "b"], dtype=object), "?", ["a", "b"], [0, -1, 1]),
        (np.array(["a", "?", "b"], dtype=object), np.array(["?", "!"]), ["a", "b"], [0, -1, 1]),
        (["a", "auto", "b"], ["auto"], ["a", "b"], [0, -1, 1]),
        (["a", "", "b"], "", ["a", "b"], [0, -1, 1]),
        (["a", "", None, "b"], "", ["a", "b"], [0, -1, -1, 1]),
        (["a", "", None, "b"], [], ["", "a", "b"], [1, 0, -1, 2]),
        (["a", "", "b"], None, ["", "a", "b"], [1, 0, 2]),
        (["a", "-1", "b"], [-1, "?"], ["-1", "a", "b"], [1, 0, 2]),
        (np.array([0, 1, 2], dtype=np.uint8), -1, [0, 1, 2], [0, 1, 2]),
        (np.array([0, 1, 255], dtype=np.uint8), [-1, 255], [0, 1], [0, 1, -1]),
    ],
)
def test_explicit_markers_win(y, unlabeled, classes, codes):
    partial = read(y, unlabeled)
    assert partial.classes.tolist() == classes
    assert partial.codes.tolist() == codes


@pytest.mark.parametrize("y", [[-1, 1], [-1, 0, 1], [-1, 5], [-1, 0, 1, 2]])
def test_none_means_fully_labeled(y):
    partial = read(y, None)
    assert partial.classes.tolist() == y
    assert partial.labeled.all()


@pytest.mark.parametrize("y", [[0, 1, None, None], [0, 1, nan, nan], np.ma.array([0, 1, 2, 3], mask=[0, 0, 1, 1])])
def test_none_refuses_missing_cells(y):
    with pytest.raises(ValueError, match=r"2 missing cell\(s\), the first at index 2"):
        normalize_partial_labels(y, unlabeled=None)


@pytest.mark.parametrize("y, unlabeled", [(["-1", "a"], -1), ([0, 1], "?"), ([0, 1], [b"x", "y"])])
def test_markers_of_a_type_that_cannot_occur(y, unlabeled):
    with pytest.raises(TypeError, match="can never occur"):
        normalize_partial_labels(y, unlabeled)


# what is no target


@pytest.mark.parametrize(
    "y, error, match",
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([], ValueError, "0 samples"),
        (5, ValueError, "y should be a 1d array"),
        ("abc", ValueError, "y should be a 1d array"),
        ([[0, 1], [1, 0]], ValueError, "y should be a 1d array"),
        (np.ma.array([[0, 1], [1, 0]]), ValueError, "y should be a 1d array"),
        ([0.5, 1.0], ValueError, "Unknown label type: continuous"),
        ([0.0, nan, 1.5], ValueError, r"continuous.*y\[2\] = 1.5"),
        ([0.5, None], ValueError, "Unknown label type: continuous"),
        ([0, np.inf], ValueError, "infinity, first at index 1"),
        ([nan, 0, -np.inf], ValueError, "infinity, first at index 2"),
        ([1j, 2], ValueError, "Complex data not supported"),
        ([1j, None], ValueError, "Complex data not supported"),
        (["a", 1], TypeError, r"mixes strings with other types \(int, str\)"),
        (["a", 1, None], TypeError, "mixes strings"),
        (np.array(["a", True], dtype=object), TypeError, "mixes strings"),
        ([b"a", b"b"], TypeError, "bytes"),
        ([b"a", None], TypeError, "bytes"),
        ([Decimal(1), None], ValueError, "Unknown label type: Decimal"),
        ([2**70, None], ValueError, "at most 64 bits"),
        (np.array([(1, 2), None], dtype=object), ValueError, "Unknown label type: tuple"),
        (np.array([(1, 2), (1,), None], dtype=object), ValueError, "Unknown label type: tuple"),
        ([nan, nan], ValueError, "all unlabeled.*MaxMarginClustering"),
        ([None, None], ValueError, "all unlabeled.*MaxMarginClustering"),
        (np.ma.array([0, 1], mask=True), ValueError, "all unlabeled.*MaxMarginClustering"),
    ],
)
def test_errors(y, error, match):
    with pytest.raises(error, match=match):
        normalize_partial_labels(y)


def test_every_label_named_as_marker():
    with pytest.raises(ValueError, match="all unlabeled"):
        normalize_partial_labels([0, 1, 0], unlabeled=[0, 1])


@pytest.mark.parametrize("y", [np.array([[0], [1]]), [[0], [1]], np.ma.array([[0], [1]], mask=[[0], [0]])])
def test_column_vector_is_flattened_with_a_warning(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        check(normalize_partial_labels(y), [0, 1], [0, 1], "i")


def test_input_is_not_changed():
    y = np.ma.array([0.0, nan, 2.0], mask=[True, False, False])
    y.flags.writeable = False
    normalize_partial_labels(y)
    assert y.mask.tolist() == [True, False, False]


@pytest.mark.parametrize("y, name", [([1, 1], "1"), (["a", None], "a")])
def test_require_two_classes(y, name):
    with pytest.raises(ValueError, match=f"at least 2 classes; y has 1 class: {name}"):
        require_two_classes(normalize_partial_labels(y))
    require_two_classes(normalize_partial_labels([0, 1]))


def test_result_is_frozen():
    partial = normalize_partial_labels([0, 1])
    assert isinstance(partial, PartialLabels)
    with pytest.raises(AttributeError):
        partial.classes = None


# inside a classifier


class Labeled(ClassifierMixin, BaseEstimator):
    """Least classifier that reads its target through the normalizer."""

    def fit(self, X, y):
        X = validate_data(self, X)
        partial = normalize_partial_labels(y)
        check_consistent_length(X, partial.codes)
        require_two_classes(partial)
        self.classes_ = partial.classes
        self.inner_ = LogisticRegression().fit(X[partial.labeled], partial.codes[partial.labeled])
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.classes_[self.inner_.predict(validate_data(self, X, reset=False))]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@pytest.mark.parametrize(
    "name",
    [
        "check_classifiers_one_label",
        "check_classifiers_classes",
        "check_classifiers_regression_target",
        "check_classifiers_train",
        "check_classifier_data_not_an_array",
        "check_complex_data",
        "check_estimators_dtypes",
        "check_estimators_empty_data_messages",
        "check_fit2d_1sample",
        "check_requires_y_none",
        "check_supervised_y_2d",
        "check_supervised_y_no_nan",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_checks_accept_the_messages(name):
    getattr(estimator_checks, name)("Labeled", Labeled())
