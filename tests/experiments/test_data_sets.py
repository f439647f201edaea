"""The data folder: what is there is read, what is not is told, and stand-ins are marked."""

from __future__ import annotations

import bz2
import lzma

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from experiments import data_folder, data_sets
from experiments.data_folder import STAND_INS, available, load_stored
from experiments.data_sets import load_set, why_missing
from wellsvm.datasets._openml import OPENML_SETS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("WELLSVM_DATA", raising=False)
    monkeypatch.setattr(data_folder, "BESIDE", tmp_path / "nowhere")
    y = np.array([1, -1, 1, -1, 1, -1], dtype=np.int8)
    np.savez_compressed(
        tmp_path / "uci_heart9.npz", X=np.random.default_rng(0).random((6, 3)), y=y,
        labeled_idx_2=np.array([[0, 1], [2, 3]], dtype=np.int32),
    )  # fmt: skip
    counts = sp.csr_matrix(np.array([[3, 0, 1], [0, 2, 0], [0, 0, 0], [1, 1, 1], [0, 4, 0], [200, 0, 0]], np.uint8))
    parts = {"data": counts.data, "indices": counts.indices.astype(np.uint16), "indptr": counts.indptr}
    np.savez_compressed(
        tmp_path / "text_tiny.npz", **parts, shape=np.array([6, 3]), format=np.array(b"csr"), y=y,
        vocab=np.array("ape\nbee\ncat"),
    )  # fmt: skip
    return tmp_path


def test_stored_splits_and_stand_ins(folder):
    data = load_stored("uci_heart9", folder)
    assert data.X.shape == (6, 3)
    assert list(data.labeled_idx) == [2]
    assert data.labeled_idx[2].shape == (2, 2)
    assert data.stand_in.startswith("guess")
    assert data.name == "uci_heart9"


def test_text_is_normalised_as_documented_or_left_as_counts(folder):
    raw = load_stored("text_tiny", folder, normalize=False)
    assert raw.X.toarray()[5, 0] == 200
    assert raw.vocab == ["ape", "bee", "cat"]
    assert raw.stand_in is None
    data = load_stored("text_tiny", folder)
    expected = np.log1p(raw.X.toarray()) * np.log(6 / (raw.X.toarray() > 0).sum(axis=0))
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(data.X.toarray(), expected / np.where(lengths > 0, lengths, 1), rtol=1e-12)
    assert load_stored("text_tiny", folder, dtype=np.float32).X.dtype == np.float32


def test_the_folder_is_given_or_named_or_beside_the_repository(folder, monkeypatch):
    assert available(folder) == ["text_tiny", "uci_heart9"]
    assert available() == []
    assert available(folder / "nowhere") == []
    monkeypatch.setattr(data_folder, "BESIDE", folder)
    assert len(available()) == 2
    monkeypatch.setenv("WELLSVM_DATA", str(folder / "nowhere"))
    assert available() == []


def test_what_is_missing_is_told_with_a_way_out(folder):
    with pytest.raises(FileNotFoundError, match=r"text_tinny.*did you mean one of \['text_tiny'\]"):
        load_stored("text_tinny", folder)
    with pytest.raises(ValueError, match="without folder"):
        load_stored("../uci_heart9", folder)
    with pytest.raises(FileNotFoundError, match=r"no data folder; name it by --data, or in WELLSVM_DATA"):
        load_stored("uci_diabetes")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_stored("text_tiny", folder / "nowhere")


def test_splits_outside_the_rows_are_refused(folder):
    np.savez(folder / "bad.npz", X=np.ones((3, 2)), labeled_idx_1=np.array([[3]]))
    with pytest.raises(ValueError, match=r"bad.npz is damaged: labeled_idx"):
        load_stored("bad", folder)


def test_sets_are_loaded_by_name_wherever_they_come_from(folder, monkeypatch):
    monkeypatch.setenv("WELLSVM_DATA", str(folder))
    fetched = []
    monkeypatch.setattr(data_sets, "fetch_uci", lambda name: fetched.append(name) or Bunch(X=np.eye(2), y=[1, -1]))
    assert load_set("two_moons").X.shape == (200, 102)
    assert load_set("rcv1 50").X.shape == (50, 47_236)
    assert load_set("text_tiny").name == "text_tiny"
    assert load_set("text_tiny") is load_set("text_tiny"), "kept"
    assert fetched == []
    assert load_set("uci_isolet", download=True).stand_in == STAND_INS["uci_isolet"]
    assert fetched == ["uci_isolet"]


def test_sets_that_cannot_be_loaded_are_told_with_the_reason(folder, monkeypatch):
    monkeypatch.setenv("WELLSVM_DATA", str(folder))
    assert why_missing(["two_moons", "rcv1 10", "digits", "text_tiny"]) == {}
    assert list(why_missing(["text_tiny", "gone"])) == ["gone"]
    assert "OpenML does not help" in why_missing(["gone"], download=True)["gone"]


@pytest.mark.data
def test_every_small_file_of_the_real_folder_loads(data_home):
    large = {"sparse_words_fr_de", "text_imdb"}
    codes = {"ssl_secstr_unlabeled"}  # no rows but codes of amino acids; no experiment uses it
    for name in set(available(data_home)) - large - codes:
        data = load_stored(name, data_home)
        assert data.X.dtype.kind == "f", name
        if name.startswith("text_"):
            lengths = np.sqrt(np.asarray(data.X.multiply(data.X).sum(axis=1))).ravel()
            np.testing.assert_allclose(lengths[np.diff(data.X.indptr) > 0], 1, rtol=1e-9, err_msg=name)


@pytest.mark.data
def test_real_sets_have_the_documented_shapes(data_home):
    for name, spec in OPENML_SETS.items():
        assert load_stored(name, data_home).X.shape == spec.shape, name
    news = load_stored("text_news20", data_home)
    assert news.X.shape == (18845, 42988)
    assert len(news.vocab) == 42988
    musk = load_stored("mil_musk1", data_home)
    assert (len(musk.groups), len(musk.y)) == (476, 92)
    assert sorted(load_stored("ssl_g241c", data_home).labeled_idx) == [10, 100]


@pytest.mark.parametrize("opened, name", [(open, "real-sim"), (bz2.open, "real-sim.bz2"), (lzma.open, "real-sim.xz")])
def test_files_of_libsvm_are_read_under_the_papers_names(folder, opened, name):
    with opened(folder / name, "wt") as file:
        file.write("+1 1:0.5 3:2\n-1 2:1\n")
    assert "real-sim" in available(folder)
    data = load_stored("real-sim", folder)
    assert data.X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert data.y.tolist() == [1, -1]
    assert data.stand_in is None
