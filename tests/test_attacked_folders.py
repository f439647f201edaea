"""What the campaign found in folders of rows, checkpoints and conversions, each as a test."""

from __future__ import annotations

import gzip
import json
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import wellsvm
from wellsvm import CandidateLabelSVC, PositiveUnlabeledSVC, ProportionSVC, SemiSupervisedSVC, WeakLabelSVC
from wellsvm.engine.checkpoint import Checkpoint
from wellsvm.labels import LabelSet
from wellsvm.rows.folder import MANIFEST, checksum

N = 12
X = np.random.default_rng(0).standard_normal((N, 3)) + 2 * (np.arange(N) % 2)[:, None]
Y = np.arange(N) % 2


@pytest.fixture
def folder(tmp_path):
    return wellsvm.write_rows(tmp_path / "rows", sp.csr_matrix(X), Y, block_rows=5)


def change(folder, edit):
    manifest = json.loads((folder / MANIFEST).read_text())
    edit(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


# ------------------------------------------------------------------ folders

EDITS = {
    "shape": lambda m: m.update(shape=[N]),
    "a negative shape": lambda m: m.update(shape=[N, -3]),
    "no shape": lambda m: m.pop("shape"),
    "blocks": lambda m: m.update(blocks={}),
    "rows of a block": lambda m: m["blocks"][0].update(rows=True),
    "other rows": lambda m: m["blocks"][0].update(rows=4),
    "a name that leads elsewhere": lambda m: m["blocks"][0].update(name="../rows/00000"),
    "checksums": lambda m: m["blocks"][0].update(checksums={}),
    "dtype": lambda m: m.update(dtype="object"),
    "index_dtype": lambda m: m.update(index_dtype=None),
    "sparse": lambda m: m.update(sparse=1),
    "feature_names": lambda m: m.update(feature_names=["a"]),
    "beside": lambda m: m.update(beside=["y"]),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_no_folder_has_is_refused(folder, edit):
    change(folder, EDITS[edit])
    with pytest.raises(ValueError, match=r"rows is damaged: in manifest.json .*; write the folder again"):
        wellsvm.open_rows(folder)


def forge(folder, block, kind, values):
    """Other values in a block, with the checksum that belongs to them."""
    np.save(folder / f"0000{block}.{kind}.npy", values)
    change(folder, lambda m: m["blocks"][block]["checksums"].update({kind: checksum(values)}))


@pytest.mark.parametrize("kind", ["data", "indices"], ids=["values", "columns"])
def test_a_forged_block_is_refused(folder, kind):
    values = np.load(folder / f"00001.{kind}.npy")
    values[2] = {"data": np.nan, "indices": 2**31 - 1}[kind]
    forge(folder, 1, kind, values)
    with pytest.raises(ValueError, match=r"is damaged: .*block 1"):
        SemiSupervisedSVC().fit(wellsvm.open_rows(folder), Y)


def test_a_forged_block_with_columns_out_of_order_is_refused(folder):
    forge(folder, 0, "indices", np.load(folder / "00000.indices.npy")[::-1].copy())
    with pytest.raises(ValueError, match="names a column twice, or columns out of order"):
        wellsvm.open_rows(folder)[:]


def test_labels_of_other_rows_are_refused(folder):
    np.save(folder / "y.npy", Y[:-1])
    change(folder, lambda m: m["beside"].update(y=checksum(Y[:-1])))
    with pytest.raises(ValueError, match=r"length or checksum of y\.npy differ"):
        wellsvm.open_rows(folder).y  # noqa: B018


def test_what_cannot_be_written_is_refused_in_words(tmp_path):
    broken = sp.coo_matrix(X)
    broken.row[3] = 2**31 - 1
    for rows, words in ((broken, "X.row holds"), (3, "X must be a matrix"), ([[1.0], [1.0, 2.0]], "is not a matrix")):
        with pytest.raises((ValueError, TypeError), match=words):
            wellsvm.write_rows(tmp_path / "rows", rows)
    for block_rows in ("a", 1.5, 0, True, [1]):
        with pytest.raises(ValueError, match="block_rows must be a whole number"):
            wellsvm.write_rows(tmp_path / "rows", X, block_rows=block_rows)
    wellsvm.write_rows(tmp_path / "rows", np.tile(X, (20, 1)), block_rows=np.int8(100))  # int8 cannot count the rows
    for path in (None, 3, "a\0b"):
        with pytest.raises(TypeError, match="path must be the path"):
            wellsvm.open_rows(path)
    with pytest.raises(ValueError, match="memory must be bytes"):
        wellsvm.open_rows(tmp_path / "rows", memory=10**400)
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows"]


def test_a_large_price_on_dense_rows_in_blocks_takes_few_passes(tmp_path):
    rows = wellsvm.open_rows(wellsvm.write_rows(tmp_path / "rows", X, block_rows=5))
    with_newton = SemiSupervisedSVC(C=1e6, safe=False, random_state=0).fit(rows, np.arange(N) % 3)
    in_memory = SemiSupervisedSVC(C=1e6, safe=False, random_state=0).fit(X, np.arange(N) % 3)
    np.testing.assert_allclose(with_newton.objective_, in_memory.objective_, rtol=1e-3)
    assert all(history[-1].epochs < 2000 for history in with_newton.history_)


# ------------------------------------------------------------------ checkpoints


@pytest.fixture
def left(tmp_path, monkeypatch):
    """The file that a fit leaves which does not come to its end."""
    monkeypatch.setattr(Checkpoint, "close", lambda self: None)
    path = tmp_path / "fit.checkpoint"
    SemiSupervisedSVC(checkpoint=path, safe=False, random_state=0).fit(X, np.where(np.arange(N) < 6, Y, -1))
    return path


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def go_on(path):
    return SemiSupervisedSVC(checkpoint=path, safe=False, random_state=0).fit(X, np.where(np.arange(N) < 6, Y, -1))


def test_a_checkpoint_goes_on_only_as_it_was_written(left):
    expected = go_on(left).coef_
    members = members_of(left)
    name = next(name for name in members if name.endswith("alpha.npy"))
    changed = bytearray(members[name])
    changed[-1] ^= 0x40
    for content in ({**members, name: bytes(changed)}, {k: v for k, v in members.items() if k != name}, {}):
        with zipfile.ZipFile(left, "w") as archive:
            for member, value in content.items():
                archive.writestr(member, value)
        with pytest.raises(ValueError, match=r"cannot be read: it is damaged, or it was changed"):
            go_on(left)
    left.unlink()
    np.testing.assert_array_equal(go_on(left).coef_, expected)


def test_a_checkpoint_that_would_fill_memory_is_refused(left):
    with zipfile.ZipFile(left, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("padding.npy", bytes(300_000_000))
    with pytest.raises(ValueError, match="MiB"):
        go_on(left)


# ------------------------------------------------------------------ conversions


def test_convert_reads_damaged_parquet_in_another_process_first(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    from wellsvm.cli import _frames
    from wellsvm.cli._batches import batches
    from wellsvm.cli._data import Format, Layout

    path = tmp_path / "rows.parquet"
    _frames.polars().DataFrame({"a": [1.0, 2.0]}).write_parquet(path)
    assert [table.X.shape for table, _ in batches(path, Format.AUTO, Layout())] == [(2, 1)]
    monkeypatch.setattr(_frames, "TRIAL", "import os; os.abort()")
    with pytest.raises(ValueError, match=r"rows.parquet cannot be read as parquet: .*reader crashed"):
        list(batches(path, Format.AUTO, Layout()))


def test_convert_unpacks_under_a_limit(tmp_path, monkeypatch):
    from wellsvm.cli import _batches
    from wellsvm.cli._data import Format, Layout

    path = tmp_path / "rows.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:0.5\n" * 20_000))
    monkeypatch.setattr(_batches, "ALWAYS", 1000)
    monkeypatch.setattr(_batches, "PACKED", 2)
    with pytest.raises(ValueError, match="unpacks to more than"):
        list(_batches.batches(path, Format.AUTO, Layout()))


@pytest.mark.parametrize("column", ["label", "bag", "keep"])
def test_integers_of_more_than_64_bits_are_refused_by_the_name_of_their_column(tmp_path, column):
    pl = pytest.importorskip("polars")
    from wellsvm.cli._batches import batches
    from wellsvm.cli._data import Format, Layout, read

    path = tmp_path / "rows.csv"
    path.write_text(f"label,bag,keep,x\n0,0,0,1\n1,1,1,2\n{','.join(['9' * 20] * 3)},3\n")
    if pl.read_csv(path, infer_schema_length=None, ignore_errors=True).schema[column] != pl.Int128:
        pytest.skip("this release of polars does not read such integers as integers")
    others = tuple({"label", "bag", "keep"} - {column})
    layout = Layout(**{column: (column,) if column == "keep" else column}, ignore=others)
    for act in (lambda: list(batches(path, Format.AUTO, layout)), lambda: read(path, Format.AUTO, layout)):
        with pytest.raises(ValueError, match=rf"rows.csv: column '{column}' holds Int128, which cannot be used"):
            act()


# ------------------------------------------------------------------ weak labels


class Odd(LabelSet):
    """A label set that answers whatever it was told to."""

    def __init__(self, answer, **parts):
        self.n_instances, self.answer = N, answer
        self.__dict__.update(parts)

    def linear_oracle(self, scores):
        return self.answer(np.where(scores >= 0, 1, -1))

    def contains(self, y):
        return True


def test_a_label_set_that_answers_nonsense_is_named():
    answers = (lambda y: y[:-1], lambda y: 5 * y, lambda y: y * np.nan, lambda y: None, lambda y: y[:, None])
    parts = ({"starts": np.arange(40)}, {"starts": np.arange(1.0, 14)}, {"keeps": "abc"}, {"y_known": np.full(N, 7)})
    sets = [*(Odd(answer) for answer in answers), *(Odd(lambda y: y, **part) for part in parts)]
    for labels in sets:
        with pytest.raises(ValueError, match=r"^Odd: .*check_label_set"):
            WeakLabelSVC().fit(X, labels)
    for answer in (np.ndarray.tolist, lambda y: y.astype(np.int64), lambda y: np.repeat(y, 2)[::2]):
        assert WeakLabelSVC(init="random", random_state=0).fit(X, Odd(answer)).predict(X).shape == (N,)


def test_what_is_no_class_or_no_share_is_refused():
    for bad in ({0: 0.5}, [1], np.array([1, 2])):
        with pytest.raises(TypeError, match="positive_class must be a class"):
            PositiveUnlabeledSVC(positive_class=bad).fit(X, Y)
    with pytest.raises(ValueError, match="two or more classes"):
        ProportionSVC().fit(X, groups=np.arange(N) // 6, proportions={0: {}, 1: {}})
    broken = sp.csr_matrix(np.c_[Y, 1 - Y])
    broken.indices[3] = 2**31 - 1
    with pytest.raises(ValueError, match=r"y\.indices holds"):
        CandidateLabelSVC().fit(X, broken)


# ------------------------------------------------------------------ paths and notes


def test_paths_and_notes_that_are_none_are_refused_in_words(tmp_path):
    pytest.importorskip("skops")
    model = SemiSupervisedSVC(safe=False, balance="labels", max_iter=1, random_state=0).fit(X, [0, 1] * 3 + [None] * 6)
    for path in (3, b"m.skops", "a\0b"):
        for call in (lambda path=path: wellsvm.load(path), lambda path=path: wellsvm.save(model, path)):
            with pytest.raises(TypeError, match="path must be the path"):
                call()
    for notes in ([1], {(1, 2): 3}, {"a": object()}):
        with pytest.raises(TypeError, match="notes must be what JSON can hold"):
            wellsvm.save(model, tmp_path / "m.skops", notes=notes)
    assert not list(tmp_path.iterdir())


def test_a_dual_without_maximum_is_told_and_nothing_warns():
    rng = np.random.default_rng(0)
    bags = [rng.standard_normal((2, 3)) * 8 for _ in range(8)]
    outcomes = set()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for C in (1e3, 1e6, 1e9):
            for gamma in (0.1, 1.0):
                model = wellsvm.MultiInstanceSVC(kernel="sigmoid", gamma=gamma, C_negative=C, random_state=0)
                try:
                    outcomes.add(bool(np.isfinite(model.fit(bags, np.arange(8) % 2).objective_)))
                except ValueError as error:
                    outcomes.add(str(error)[:23])
    assert outcomes <= {True, "the dual has no maximum"}
