"""Bags: flat instances that scikit-learn splits by bag."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing

from wellsvm import Bags, MultiInstanceSVC
from wellsvm.bags import as_bags, per_instance

X = np.arange(16.0).reshape(8, 2)
SORTED, MIXED = np.array([0, 0, 0, 1, 2, 2, 3, 3]), np.array([2, 0, 2, 1, 0, 3, 2, 0])


def dense(part):
    return part.toarray() if sparse.issparse(part) else np.asarray(part)


def test_rows_in_the_order_of_the_bags_are_not_copied():
    assert np.shares_memory(Bags(X, SORTED).X, X)
    assert np.shares_memory(Bags(X, SORTED)[1:3].X, X)
    assert np.shares_memory(Bags(X, SORTED)[[1, 2]].X, X)
    csr = sparse.csr_matrix(X)
    assert np.shares_memory(Bags(csr, SORTED).X.data, csr.data)
    assert np.shares_memory(Bags(csr, SORTED).X.indices, csr.indices)
    cube = np.zeros((3, 2, 5))
    assert np.shares_memory(Bags.from_list(cube).X, cube)


def test_unsorted_groups_bring_rows_together_and_values_go_back():
    bags = Bags(X, MIXED)
    assert bags.sizes.tolist() == [3, 1, 3, 1]
    for g, part in enumerate(bags):
        np.testing.assert_array_equal(part, X[g == MIXED])
    np.testing.assert_array_equal(bags.restore(bags.X), X)
    np.testing.assert_array_equal(bags.arrange(X), bags.X)
    np.testing.assert_array_equal(bags.restore(bags.bag_of), MIXED)


@pytest.mark.parametrize("names", [["d", "a", "c", "b"], [3.5, -1.0, 2.0, 0.0], np.array([9, 7, 8, 2])])
def test_bags_come_in_sorted_order_of_their_names(names):
    names = np.asarray(names)
    bags = Bags(X, names[MIXED])
    np.testing.assert_array_equal(bags.names, np.sort(names))
    for name, part in zip(bags.names, bags):
        np.testing.assert_array_equal(part, X[names[MIXED] == name])


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize(
    "key",
    [0, -1, np.int64(2), slice(1, 3), slice(None, None, -1), [2, 0], np.array([1, 1, 3]), [True, False, True, False],
     np.array([False] * 3 + [True]), np.array([-1, 0])],
)  # fmt: skip
def test_indexing_gives_the_bags_a_list_would_give(matrix, key):
    bags = Bags(matrix(X), MIXED)
    parts = [dense(part) for part in bags]
    wanted = np.atleast_1d(np.arange(4)[key])
    part = bags[key]
    assert isinstance(part, Bags)
    assert len(part) == len(wanted)
    for k, got in zip(wanted, part):
        np.testing.assert_array_equal(dense(got), parts[k])
    np.testing.assert_array_equal(part.names, wanted)


def test_scikit_learn_indexes_bags_as_samples():
    bags = Bags(X, SORTED)
    for key in ([3, 1], np.array([3, 1]), np.array([False, True, False, True]), slice(1, 3)):
        got = _safe_indexing(bags, key)
        assert isinstance(got, Bags)
        assert got.names.tolist() == np.arange(4)[key].tolist()
    train, test, y_train, y_test = train_test_split(bags, np.arange(4), test_size=0.5, random_state=0)
    assert train.names.tolist() == y_train.tolist()
    assert test.names.tolist() == y_test.tolist()


def test_from_list_from_groups_and_from_a_frame_agree():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    wanted = Bags(X, MIXED)
    from_list = Bags.from_list(list(wanted))
    np.testing.assert_array_equal(from_list.X, wanted.X)
    np.testing.assert_array_equal(from_list.offsets, wanted.offsets)
    label = np.array(["n", "p", "n", "p"])[MIXED]
    columns = {"molecule": MIXED, "a": X[:, 0], "active": label, "b": X[:, 1]}
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        bags, y = Bags.from_frame(frame, bag="molecule", label="active")
        np.testing.assert_array_equal(bags.X, wanted.X)
        np.testing.assert_array_equal(bags.offsets, wanted.offsets)
        assert y.tolist() == ["n", "p", "n", "p"]
        unlabeled, none = Bags.from_frame(frame, bag="molecule", features=["b"])
        assert none is None
        np.testing.assert_array_equal(unlabeled.X, wanted.X[:, 1:])


def test_labels_of_instances_become_labels_of_bags_in_the_bags_order():
    assert Bags(X, MIXED).bag_labels(MIXED * 10).tolist() == [0, 10, 20, 30]


def test_bags_survive_a_pickle():
    bags = pickle.loads(pickle.dumps(Bags(X, MIXED)))
    np.testing.assert_array_equal(bags.restore(bags.X), X)


def test_bags_are_no_array():
    with pytest.raises(TypeError, match=r"bags\.X"):
        np.asarray(Bags(X, SORTED))


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("make", [lambda: StandardScaler(with_mean=False), TfidfTransformer])
def test_per_instance_transforms_instances_as_if_there_were_no_bags(matrix, make):
    bags = Bags(matrix(X), MIXED)
    transformed = per_instance(make()).fit_transform(bags)
    np.testing.assert_allclose(dense(transformed.X), dense(make().fit_transform(sparse.csr_matrix(bags.X))))
    np.testing.assert_array_equal(transformed.order, bags.order)
    assert clone(per_instance(make())).get_params()["transformer__" + next(iter(make().get_params()))] is not ...


def known_keys(n_bags=40, seed=0):
    rng = np.random.default_rng(seed)
    rows, y = rng.standard_normal((4 * n_bags, 3)), np.arange(n_bags) % 2
    rows[::4][y == 1] += 5
    return Bags(rows, np.repeat(np.arange(n_bags), 4)), y


def test_cross_val_score_and_grid_search_split_by_bag():
    bags, y = known_keys()
    model = make_pipeline(per_instance(StandardScaler()), MultiInstanceSVC(random_state=0))
    assert cross_val_score(model, bags, y, cv=4, error_score="raise").min() == 1.0
    assert cross_val_score(model, list(bags), y, cv=4, error_score="raise").min() == 1.0
    search = GridSearchCV(model, {"multiinstancesvc__C_positive": [0.1, 1.0]}, cv=3, error_score="raise").fit(bags, y)
    assert search.best_score_ == 1.0
    assert search.predict(bags[:5]).tolist() == y[:5].tolist()


def test_nystroem_before_a_linear_model_works_on_bags():
    bags, y = known_keys()
    features = per_instance(Nystroem(n_components=20, random_state=0))
    model = make_pipeline(features, MultiInstanceSVC(kernel="linear", C_positive=10, C_negative=10, random_state=0))
    assert model.fit(bags, y).score(bags, y) == 1.0


BAD = {
    "one dimension": (lambda: Bags(np.arange(8.0), SORTED), "two dimensions"),
    "groups too short": (lambda: Bags(X, SORTED[:-1]), "7 entries for 8 instances"),
    "groups with two dimensions": (lambda: Bags(X, SORTED[:, None]), "one dimension"),
    "NaN in groups": (lambda: Bags(X, [0, 0, 0, 1, np.nan, 2, 3, 3]), "missing value in row 4"),
    "None in groups": (lambda: Bags(X, ["a", None] + ["b"] * 6), "missing value in row 1"),
    "groups of mixed kinds": (lambda: Bags(X, np.array(["a", 1] * 4, dtype=object)), "cannot be sorted"),
    "no rows": (lambda: Bags(np.empty((0, 2)), []), "no rows"),
    "text in X": (lambda: Bags(np.array([["a", "b"]] * 8), SORTED), "not a number"),
    "no bags": (lambda: Bags.from_list([]), "list of bags is empty"),
    "an empty bag": (lambda: Bags.from_list([X, np.empty((0, 2))]), "bag 1 is empty"),
    "an empty sparse bag": (lambda: Bags.from_list([sparse.csr_matrix((0, 2))]), "bag 0 is empty"),
    "a cube without instances": (lambda: Bags.from_list(np.empty((3, 0, 2))), "is empty"),
    "an instance for a bag": (lambda: Bags.from_list([X, X[0]]), "bag 1 has shape"),
    "different widths": (lambda: Bags.from_list([X, X, X[:, :1]]), "bag 2 has 1 features but bag 0 has 2"),
    "dense and sparse mixed": (lambda: Bags.from_list([X, sparse.csr_matrix(X)]), "bag 1 is sparse but bag 0 is dense"),
    "ragged bag": (lambda: Bags.from_list([[[1.0, 2.0], [3.0]]]), "bag 0"),
    "labels that differ": (lambda: Bags(X, MIXED).bag_labels(np.arange(8)), "has different labels within bag 0"),
    "labels of the wrong length": (lambda: Bags(X, MIXED).bag_labels([1, 2]), "each of 8 instances"),
    "flat rows without groups": (lambda: as_bags(X), "without groups"),
    "groups for bags": (lambda: as_bags(Bags(X, SORTED), SORTED), "already consists of bags"),
    "other number of rows": (lambda: Bags(X, SORTED).with_instances(X[:3]), "3 rows for 8"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_bags_are_refused_by_an_error_that_says_what_is_wrong(case):
    make, match = BAD[case]
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("key", [4, -5, [0, 9], [True, False], 1.5, "a", [[0, 1]]])
def test_a_wrong_index_is_an_index_error(key):
    with pytest.raises(IndexError):
        Bags(X, SORTED)[key]


@pytest.mark.parametrize("bag, label, match", [("z", None, "no column 'z'"), ("g", "z", "no column 'z'")])
def test_a_frame_without_the_column_is_refused(bag, label, match):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=match):
        Bags.from_frame(pandas.DataFrame({"g": SORTED, "a": X[:, 0]}), bag=bag, label=label)


def test_a_frame_with_text_or_with_labels_that_differ_inside_a_bag_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"g": SORTED, "a": X[:, 0], "text": ["x"] * 8, "y": np.arange(8)})
    with pytest.raises(ValueError, match="column 'text'"):
        Bags.from_frame(frame, bag="g", label="y")
    with pytest.raises(ValueError, match="has different labels within bag 0"):
        Bags.from_frame(frame, bag="g", label="y", features=["a"])
    with pytest.raises(ValueError, match="no column left"):
        Bags.from_frame(frame[["g", "y"]], bag="g", label="y")


def test_features_named_in_another_order_are_refused_by_a_transformer_too():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"bag": [0, 0, 1], "a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 9.0]})
    scaler = per_instance(StandardScaler()).fit(Bags.from_frame(frame, bag="bag")[0])
    assert scaler.transform(Bags.from_frame(frame, bag="bag")[0]).feature_names == ["a", "b"]
    with pytest.raises(ValueError, match=r"\['b', 'a'\].*fitted to \['a', 'b'\]"):
        scaler.transform(Bags.from_frame(frame[["bag", "b", "a"]], bag="bag")[0])


@pytest.mark.parametrize("kind", ["string", "Int64", "masked", "dates", "polars"])
def test_missing_groups_and_labels_are_told_however_they_are_marked(kind):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    make = {
        "string": lambda v: pandas.Series([None if g < 0 else str(g) for g in v], dtype="string"),
        "Int64": lambda v: pandas.Series([None if g < 0 else g for g in v], dtype="Int64"),
        "masked": lambda v: np.ma.masked_less(v, 0),
        "dates": lambda v: np.array(["NaT" if g < 0 else f"2000-01-0{g + 1}" for g in v], dtype="datetime64[D]"),
        "polars": lambda v: polars.Series([None if g < 0 else g for g in v]),
    }[kind]
    hole = np.where(np.arange(8) == 4, -1, SORTED)
    with pytest.raises(ValueError, match="groups has a missing value in row 4"):
        Bags(X, make(hole))
    if kind == "dates":
        return
    bags, labels = Bags(X, SORTED), np.array([0, 0, 0, 1, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="bag 1 has no label"):
        MultiInstanceSVC().fit(bags, make([0, -1, 0, 1]))
    with pytest.raises(ValueError, match="bag 3 has no label"):  # one label per instance, none in the whole bag
        MultiInstanceSVC().fit(bags, make([*labels[:6], -1, -1]))
    with pytest.raises(ValueError, match="y has different labels within bag 3"):
        MultiInstanceSVC().fit(bags, make([*labels[:7], -1]))
    if kind != "masked":
        frame = {"bag": SORTED, "a": X[:, 0], "y": make([*labels[:6], -1, -1])}
        frame = (polars if kind == "polars" else pandas).DataFrame(frame)
        y = Bags.from_frame(frame, bag="bag", label="y")[1]
        assert y[3] is None or np.isnan(y[3])
        assert [str(v) for v in y[:3]] in (["0", "1", "0"], ["0.0", "1.0", "0.0"])


def test_frames_in_a_list_agree_in_their_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0], "b": [2.0]})
    assert Bags.from_list([frame, frame]).feature_names == ["a", "b"]
    with pytest.raises(ValueError, match=r"bag 1 has the columns \['b', 'a'\] but bag 0 has \['a', 'b'\]"):
        Bags.from_list([frame, frame[["b", "a"]]])
    with pytest.raises(ValueError, match="bag 1 has the columns None"):
        Bags.from_list([frame, frame.to_numpy()])


def test_arrays_of_bags_hold_numbers_in_three_dimensions():
    with pytest.raises(ValueError, match="the array of bags contains something that is not a number"):
        Bags.from_list(np.full((2, 1, 3), "x"))
    assert Bags.from_list(np.ones((2, 1, 3), dtype=object)).X.dtype == np.float64
    if (flat := sparse.coo_array(np.ones(3))).ndim == 1:  # SciPy before 1.13 makes a row of it
        with pytest.raises(ValueError, match=r"bag 0 has shape \(3,\)"):
            Bags.from_list([flat])


def test_masked_cells_are_refused():
    masked = np.ma.masked_equal(X, 5.0)
    for make in (lambda: Bags(masked, SORTED), lambda: Bags.from_list([X[:2], masked[2:4]])):
        with pytest.raises(ValueError, match=r"masked cells, first in row \d, column 1"):
            make()
    assert Bags(np.ma.masked_equal(X, 99.0), SORTED).X.shape == X.shape
