"""Data sets: generators keep their promises, files are read or refused, OpenML's sets are coded as in the paper."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from wellsvm import datasets
from wellsvm.datasets import _openml

# --- sparse text --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text() -> tuple[sp.csr_matrix, np.ndarray]:
    return datasets.make_sparse_text(6000, random_state=0)


def test_sparse_text_has_the_promised_shape_labels_and_types(text):
    X, y = text
    assert X.shape == (6000, 47_236)
    assert X.dtype == np.float32
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert set(y.tolist()) == {-1, 1}
    assert np.mean(y > 0) == pytest.approx(0.53, abs=1e-3)
    assert X.nnz / 6000 == pytest.approx(100, rel=0.05)


def test_sparse_text_rows_are_unit_sorted_and_without_duplicates(text):
    X, _ = text
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    np.testing.assert_allclose(norms, 1, atol=1e-5)
    same_row = np.ones(X.nnz - 1, dtype=bool)
    same_row[X.indptr[1:-1] - 1] = False
    assert (np.diff(X.indices)[same_row] > 0).all()  # strictly: sorted and no duplicate
    assert (X.data > 0).all()
    X.check_format(full_check=True)


def test_sparse_text_is_the_same_to_the_bit_for_one_seed_and_differs_between_seeds():
    first, second, other = (
        datasets.make_sparse_text(5000, 3000, 30, random_state=seed) for seed in (7, 7, 8)
    )  # 5000 rows: more than one block
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(first[0], name), getattr(second[0], name))
    np.testing.assert_array_equal(first[1], second[1])
    assert not np.array_equal(first[0].indices[:1000], other[0].indices[:1000])


def test_sparse_text_words_follow_zipf_and_lengths_are_skewed(text):
    X, _ = text
    frequency = np.sort(np.bincount(X.indices, minlength=X.shape[1]))[::-1].astype(float)
    ranks = np.arange(300, 10_000)
    slope = np.polyfit(np.log(ranks), np.log(frequency[ranks]), 1)[0]
    assert -1.2 < slope < -0.8
    lengths = np.diff(X.indptr)
    assert np.median(lengths) < 0.95 * lengths.mean()
    assert lengths.min() >= 1


def test_sparse_text_class_vocabulary_gives_each_class_words_of_its_own():
    share = 0.3
    X, y = datasets.make_sparse_text(4000, 2000, 40, class_vocabulary=share, random_state=0)
    in_positive = np.bincount(X[y > 0].indices, minlength=2000) > 0
    in_negative = np.bincount(X[y < 0].indices, minlength=2000) > 0
    for label, other in ((1, in_negative), (-1, in_positive)):
        rows = X[y == label]
        assert np.mean(~other[rows.indices]) == pytest.approx(share, abs=0.06)
    X, y = datasets.make_sparse_text(200, 501, 20, class_vocabulary=1.0, random_state=0)
    assert not (set(X[y > 0].indices.tolist()) & set(X[y < 0].indices.tolist()))


def test_sparse_text_classes_separate_with_class_sep_and_not_without():
    gaps = []
    for class_sep in (0.0, 0.5):
        X, y = datasets.make_sparse_text(2000, 5000, 50, class_sep=class_sep, random_state=0)
        G = (X @ X.T).toarray()
        same = y[:, None] == y
        gaps.append(G[same].mean() - G[~same].mean() - (1 / 1000) * (1 - G.mean()))  # without the diagonal
    assert abs(gaps[0]) < 5e-4
    assert gaps[1] > 3e-3


def test_sparse_text_double_precision_single_row_and_one_class():
    X, y = datasets.make_sparse_text(1, 100, 10, dtype=np.float64, positive_fraction=1.0, random_state=0)
    assert X.dtype == np.float64
    assert y.tolist() == [1]
    assert X.multiply(X).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_features": 100, "nnz_per_row": 50}, "nnz_per_row"),
        ({"n_topics": 3}, "n_topics=3"),
        ({"class_sep": 1.5}, "class_sep"),
        ({"class_vocabulary": -0.1}, "class_vocabulary"),
        ({"dtype": np.int32}, "dtype=int32"),
    ],
)
def test_sparse_text_names_the_wrong_parameter(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.make_sparse_text(**parameters)


# --- embedded sets, bags, moons -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape"),
    [("digits", (1797, 64)), ("breast_cancer", (569, 30)), ("wine", (178, 13)), ("iris", (150, 4))],
)
def test_semi_supervised_hides_all_labels_but_the_chosen(name, shape):
    data = datasets.load_semi_supervised(name, 40)
    assert data.X.shape == shape
    assert data.labeled.sum() == 40
    np.testing.assert_array_equal(data.y_partial[data.labeled], data.y[data.labeled])
    assert (data.y_partial[~data.labeled] == -1).all()
    shares = np.bincount(data.y) / len(data.y)
    assert np.abs(np.bincount(data.y[data.labeled]) - 40 * shares).max() < 1.5
    assert len(data.feature_names) == shape[1]
    assert len(data.target_names) == len(shares)
    assert data.DESCR
    again = datasets.load_semi_supervised(name, 40)
    np.testing.assert_array_equal(again.labeled, data.labeled)
    assert (datasets.load_semi_supervised(name, 40, random_state=1).labeled != data.labeled).any()


def test_semi_supervised_at_the_ends_of_n_labeled():
    data = datasets.load_semi_supervised("digits", 10)
    assert sorted(data.y[data.labeled]) == list(range(10))
    assert datasets.load_semi_supervised("wine", 178).labeled.all()
    assert datasets.load_semi_supervised("wine", 1, stratify=False).labeled.sum() == 1
    for wrong in (2, 179, 3.5):
        with pytest.raises(ValueError, match=f"n_labeled={wrong}"):
            datasets.load_semi_supervised("wine", wrong)
    with pytest.raises(ValueError, match="name='mnist'"):
        datasets.load_semi_supervised("mnist", 10)


def test_clustering_set_is_raw():
    data = datasets.load_clustering("wine")
    assert data.X.max() > 1000
    assert "y_partial" not in data


@pytest.mark.parametrize(("target", "bag_size"), [(3, 8), (0, 1), (9, 30)])
def test_digit_bags_are_positive_exactly_where_they_hold_the_target(target, bag_size):
    data = datasets.make_digit_bags(target, n_bags=60, bag_size=bag_size)
    assert data.X.shape == (60 * bag_size, 64)
    np.testing.assert_array_equal(data.roi == 1, data.digit == target)
    holds = np.bincount(data.groups, weights=data.roi) > 0
    np.testing.assert_array_equal(holds, data.y == 1)
    assert (data.y == 1).sum() == 30
    np.testing.assert_array_equal(datasets.make_digit_bags(target, 60, bag_size).X, data.X)


def test_digit_bags_reject_what_is_no_digit():
    with pytest.raises(ValueError, match="target"):
        datasets.make_digit_bags(10)


def test_two_moons_in_the_plane_and_in_102_dimensions():
    data = datasets.make_two_moons(random_state=0)
    assert data.X.shape == (200, 2)
    assert sorted(data.y_partial[data.labeled]) == [0, 1]
    assert np.bincount(data.y).tolist() == [100, 100]
    wide = datasets.make_two_moons(n_features=102, n_labeled=6, noise=0.0, random_state=0)
    assert wide.X.shape == (200, 102)
    assert np.linalg.matrix_rank(wide.X) == 2  # without noise only the moons are left
    assert np.abs(wide.X).max(axis=0).min() > 1e-4  # and every coordinate sees them
    again = datasets.make_two_moons(n_features=102, n_labeled=6, noise=0.0, random_state=0)
    np.testing.assert_array_equal(wide.X, again.X)
    with pytest.raises(ValueError, match="n_labeled=1"):
        datasets.make_two_moons(n_labeled=1)


# --- files --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    y = np.array([1, -1, 1, -1, 1, -1], dtype=np.int8)
    np.savez_compressed(
        tmp_path / "dense.npz", X=np.random.default_rng(0).random((6, 3)), y=y, names=np.array(["a", "b", "c"])
    )
    counts = sp.csr_matrix(np.array([[3, 0, 1], [0, 2, 0], [0, 0, 0], [1, 1, 1], [0, 4, 0], [200, 0, 0]], np.uint8))
    parts = {"data": counts.data, "indices": counts.indices.astype(np.uint16), "indptr": counts.indptr}
    np.savez_compressed(
        tmp_path / "sparse.npz", **parts, shape=np.array([6, 3]), format=np.array(b"csr"), y=y, n_train=np.array(4)
    )
    bag = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    np.savez_compressed(
        tmp_path / "bags.npz", X=np.full((5, 2), 255, np.uint8), bag=bag, y=np.array([1, -1], np.int8), roi=bag
    )
    return tmp_path


def test_dense_rows_with_names(folder):
    data = datasets.load_npz(folder / "dense.npz")
    assert data.X.shape == (6, 3)
    assert data.y.dtype == np.int64
    assert data.names == ["a", "b", "c"]


def test_sparse_rows_are_floating(folder):
    data = datasets.load_npz(str(folder / "sparse.npz"))
    assert data.X.toarray()[5, 0] == 200
    assert data.X.dtype == np.float64
    assert data.n_train == 4
    assert datasets.load_npz(folder / "sparse.npz", dtype=np.float32).X.dtype == np.float32
    with pytest.raises(ValueError, match="dtype=int64"):
        datasets.load_npz(folder / "sparse.npz", dtype=np.int64)


@pytest.mark.parametrize("kept, given", [(np.float32, np.float32), (np.float64, np.float64), (np.float64, np.float16)])
def test_floating_rows_keep_their_type_unless_it_is_too_short(tmp_path, kept, given):
    np.savez(tmp_path / "rows.npz", X=np.ones((2, 2), dtype=given))
    assert datasets.load_npz(tmp_path / "rows.npz").X.dtype == kept


def test_bags_and_integers_become_floating(folder):
    data = datasets.load_npz(folder / "bags.npz")
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 1, 1])
    assert len(data.y) == 2
    assert "roi" in data


def test_what_scipy_wrote_is_read(tmp_path):
    X = sp.random(20, 30, density=0.2, format="csr", random_state=0)
    sp.save_npz(tmp_path / "X.npz", X)
    data = datasets.load_npz(tmp_path / "X.npz")
    assert (data.X != X).nnz == 0
    assert data.y is None


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.npz is not a file"):
        datasets.load_npz(tmp_path / "none.npz")


@pytest.mark.parametrize("name", ["dense", "sparse", "bags"])
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_truncated_file_is_a_value_error_that_names_it(folder, name, keep):
    path = folder / f"{name}.npz"
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(ValueError, match=f"{name}.npz is damaged"):
        datasets.load_npz(path)


def test_files_that_do_not_fit_together_or_need_pickle_are_refused(tmp_path):
    arrays = {
        "short": {"X": np.ones((3, 2)), "y": np.ones(2)},
        "flat": {"X": np.ones(3)},
        "none": {"y": np.ones(3)},
        "column": {"data": np.ones(1), "indices": np.array([5]), "indptr": np.array([0, 1]),
                   "shape": np.array([1, 2]), "format": np.array(b"csr")},
        "objects": {"X": np.array([[{}]], dtype=object)},
    }  # fmt: skip
    for name, content in arrays.items():
        np.savez(tmp_path / f"{name}.npz", **content)
        with pytest.raises(ValueError, match=f"{name}.npz is damaged"):
            datasets.load_npz(tmp_path / f"{name}.npz")


# --- OpenML -------------------------------------------------------------------------------------------------


def _fake_openml(monkeypatch, **content):
    calls = []

    def fetch_openml(name, **options):
        calls.append((name, options))
        return Bunch(**content)

    monkeypatch.setattr(_openml, "fetch_openml", fetch_openml)
    return calls


def test_a_set_is_fetched_and_coded(monkeypatch):
    calls = _fake_openml(
        monkeypatch,
        data=np.arange(768 * 8, dtype=float).reshape(768, 8),
        target=np.array(["tested_positive"] * 268 + ["tested_negative"] * 500, dtype=object),
        feature_names=list("abcdefgh"),
        categories={},
    )
    data = datasets.fetch_uci("uci_diabetes")
    assert calls[0][0] == "diabetes"
    assert data.X.shape == (768, 8)
    assert (data.y == 1).sum() == 268
    assert data.source.startswith("OpenML")


def test_fetching_warns_of_another_shape_and_refuses_other_classes(monkeypatch):
    content = {"data": np.ones((2, 1)) * [[1], [2]], "feature_names": ["a"], "categories": {}}
    _fake_openml(monkeypatch, target=np.array(["g", "b"]), **content)
    with pytest.warns(UserWarning, match=r"\(2, 1\), the paper has \(351, 34\)"):
        datasets.fetch_uci("uci_ionosphere")
    _fake_openml(monkeypatch, target=np.array(["0", "1"]), **content)
    with pytest.raises(ValueError, match="expected 'g'"):
        datasets.fetch_uci("uci_ionosphere")


def test_an_unknown_set_is_told_with_the_known_ones():
    with pytest.raises(ValueError, match=r"name='uci_nothing' is not one of \['uci_australian'"):
        datasets.fetch_uci("uci_nothing")


def test_categorical_rule():
    nan = np.nan
    cells = np.array([
        # number, two values, three of four values, constant, empty
        [1.0, 0, 0, 5, nan],
        [nan, 1, 3, 5, nan],
        [3.0, 1, 1, 5, nan],
        [8.0, nan, 1, 5, nan],
    ])  # fmt: skip
    features = ["number", "two", "three", "constant", "empty"]
    categories = {"two": ["n", "y"], "three": ["r", "g", "unused", "b"]}
    X, names = _openml.code_features(cells, features, categories)
    assert names == ["number", "two=y", "three=r", "three=g", "three=b"]
    np.testing.assert_array_equal(X[:, 0], [1, 3, 3, 8])
    np.testing.assert_array_equal(X[:, 1], [0, 1, 1, 1])
    np.testing.assert_array_equal(X[:, 2:], [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])
    X, names = _openml.code_features(cells, features, categories, ordinal=True, keep_constant=True)
    assert names == ["number", "two", "three", "constant"]
