"""Bad data files: exit code 1, one line that names what is wrong, no traceback, and nothing written."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

GOOD = "1 1:0.5 2:1\n-1 1:2 2:0.25\n0 1:1\n1 2:3\n-1 1:3\n"
CSV = "a,b,label\n1,2,x\n3,4,y\n5,6,\n1,3,x\n3,5,y\n"
BAGS = "bag,a,label\nu,1,0\nu,2,0\nv,3,1\nv,4,1\n"
ROWS, BAG, CLUSTER = "semi-supervised", "multi-instance", "clustering"


class Bad(NamedTuple):
    """A file that must be refused: for which task, under which name, what it holds, and what the user is told."""

    task: str
    name: str
    content: bytes | str | Callable[[], bytes]
    told: str


def npz(**arrays: object) -> Callable[[], bytes]:
    """An archive of arrays."""

    def content() -> bytes:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    return content


def csc() -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csc_matrix(np.eye(3)))
    return buffer.getvalue()


def csr_with_wild_indices() -> bytes:
    X = sparse.csr_matrix(np.eye(3))
    arrays = {"data": X.data, "indices": np.array([0, 1, 99]), "indptr": X.indptr, "shape": (3, 3), "format": b"csr"}
    return npz(**arrays, y=np.array([0, 1, -1]))()


def parquet(cut: int = 0, **columns: list[object]) -> Callable[[], bytes]:
    def content() -> bytes:
        buffer = io.BytesIO()
        pytest.importorskip("polars").DataFrame(columns).write_parquet(buffer)
        return buffer.getvalue()[: len(buffer.getvalue()) - cut]

    return content


NOISE = np.random.default_rng(0).bytes(5000)
OBJECTS = np.array([{}, {}, {}], dtype=object)
X3, Y3 = np.eye(3), np.array([0.0, 1.0, np.nan])
BAD = {
    # svmlight
    "svmlight: empty": Bad(ROWS, "d.svm", "", "has no rows"),
    "svmlight: comments only": Bad(ROWS, "d.svm", "# nothing\n\n", "has no rows"),
    "svmlight: labels only": Bad(ROWS, "d.svm", "1\n-1\n", "has no features"),
    "svmlight: binary rubbish": Bad(ROWS, "d.svm", NOISE, "is not an svmlight file: line 1"),
    "svmlight: no label": Bad(ROWS, "d.svm", GOOD + "1:2 2:3\n", "line 6, '1:2 2:3'"),
    "svmlight: text label": Bad(ROWS, "d.svm", GOOD + "spam 1:2\n", "line 6, 'spam 1:2'"),
    "svmlight: text value": Bad(ROWS, "d.svm", GOOD + "1 1:two\n", "line 6, '1 1:two'"),
    "svmlight: bad line far down": Bad(ROWS, "d.svm", GOOD * 500 + "1 1:x\n" + GOOD, "line 2501, '1 1:x'"),
    "svmlight: indices not sorted": Bad(ROWS, "d.svm", GOOD + "1 2:1 1:1\n", "sorted"),
    "svmlight: negative index": Bad(ROWS, "d.svm", GOOD + "1 -4:1\n", "line 6"),
    "svmlight: index beyond 64 bits": Bad(ROWS, "d.svm", GOOD + f"1 {10**25}:1\n", "line 6"),
    "svmlight: index beyond 32 bits": Bad(ROWS, "d.svm", GOOD + "1 5000000000:1\n", "line 6"),
    "svmlight: nan value": Bad(ROWS, "d.svm", GOOD + "1 1:nan\n", "contains NaN, first in row 5"),
    "svmlight: inf value": Bad(ROWS, "d.svm", GOOD + "1 1:1e999\n", "contains infinity (inf), first in row 5"),
    "svmlight: one class": Bad(ROWS, "d.svm", "1 1:1\n1 2:1\nnan 1:1\n", "at least 2 classes"),
    "svmlight: no label known": Bad(ROWS, "d.svm", "nan 1:1\nnan 2:1\n", "y is all unlabeled"),
    "svmlight: fractional labels": Bad(ROWS, "d.svm", "0.5 1:1\n1.5 2:1\n", "continuous"),
    "svmlight: ambiguous -1": Bad(ROWS, "d.svm", "-1 1:1\n3 2:1\n", "-1 may be a class or mark unlabeled rows"),
    "svmlight: qid missing": Bad(BAG, "d.svm", GOOD, "every row needs one"),
    "svmlight: qid missing once": Bad(BAG, "d.svm", "1 qid:1 1:1\n0 1:2\n", "has 1 rows with a bag ('qid:') of 2"),
    "svmlight: bag with two labels": Bad(
        BAG, "d.svm", "1 qid:1 1:1\n0 qid:1 1:2\n", "y has different labels within bag 1"
    ),
    "svmlight: bags of one class": Bad(BAG, "d.svm", "1 qid:1 1:1\n1 qid:2 1:2\n", "at least 2 classes"),
    "svmlight: bag without label": Bad(BAG, "d.svm", "1 qid:1 1:1\nnan qid:2 1:2\n", "data row 2 has no label"),
    "gz: cut": Bad(ROWS, "d.svm.gz", gzip.compress(GOOD.encode() * 99)[:60], "is damaged"),
    "gz: not compressed": Bad(ROWS, "d.svm.gz", GOOD, "is damaged"),
    "bz2: cut": Bad(ROWS, "d.svm.bz2", bz2.compress(GOOD.encode() * 99)[:60], "is damaged"),
    "bz2: not compressed": Bad(ROWS, "d.svm.bz2", GOOD, "cannot be read"),
    # CSV
    "csv: empty": Bad(ROWS, "d.csv", "", "cannot be read as csv: empty CSV"),
    "csv: header only": Bad(ROWS, "d.csv", "a,b,label\n", "has no rows"),
    "csv: no header": Bad(CLUSTER, "d.csv", "1,2\n3,4\n5,6\n", "numbers in its first line"),
    "csv: not UTF-8": Bad(ROWS, "d.csv", CSV.encode() + b"\xff\xfe,2,x\n", "utf"),
    "csv: binary rubbish": Bad(ROWS, "d.csv", NOISE, "d.csv"),
    "csv: too many cells": Bad(
        ROWS,
        "d.csv",
        CSV + "1,2,x,4\n",
        "line 7 has 4 cells; columns named in the first line: 3",
    ),
    "csv: decimal commas": Bad(
        ROWS, "d.csv", "a;b;label\n1,5;2,0;x\n2,5;1,0;\n", "its cells seem to be separated by ';'"
    ),
    "csv: decimal commas, a comma in a name": Bad(
        ROWS, "d.csv", "a;b, cm;label\n1,5;2,0;x\n", "its cells seem to be separated by ';'"
    ),
    "csv: decimal commas, not UTF-8": Bad(
        ROWS, "d.csv", "\xe4;b;label\n1,5;2,0;x\n".encode("latin-1"), "its cells seem to be separated by ';'"
    ),
    "csv: decimal commas in quotes": Bad(
        ROWS, "d.csv", 'a,label\n"1,5",x\n"2,5",\n', "save the file with decimal points, not commas"
    ),
    "csv: a title above the names": Bad(
        ROWS, "d.csv", "My data\n" + CSV, "line 2 has 3 cells; columns named in the first line: 1"
    ),
    "csv: first line blank": Bad(
        ROWS, "d.csv", "\na;b;label\n1,5;2,5;x\n", "its first line, which must name the columns, is blank"
    ),
    "csv: too few cells": Bad(ROWS, "d.csv", CSV + "7\n", "column 'b' is empty in data row 6"),
    "csv: empty cell": Bad(ROWS, "d.csv", CSV + ",2,x\n", "column 'a' is empty in data row 6"),
    "csv: NaN cell": Bad(ROWS, "d.csv", CSV + "1,NaN,x\n", "column 'b' holds nan in data row 6"),
    "csv: inf cell": Bad(ROWS, "d.csv", CSV + "inf,1,x\n", "column 'a' holds inf in data row 6"),
    "csv: text cell": Bad(
        ROWS, "d.csv", CSV + "1,n/a,x\n", "column 'b' holds 'n/a' in data row 6, which is not a number"
    ),
    "csv: text column": Bad(CLUSTER, "d.csv", CSV, "column 'label' holds 'x' in data row 1"),
    "csv: other separator": Bad(ROWS, "d.csv", CSV.replace(",", ";"), "its cells seem to be separated by ';'"),
    "csv: no label column": Bad(
        ROWS,
        "d.csv",
        "a,b\n1,2\n",
        "no column 'label' for the labels; name it with --label-column. Its columns are 'a', 'b'",
    ),
    "csv: labels only": Bad(ROWS, "d.csv", "label\nx\ny\n", "no column left for the features"),
    "csv: no label at all": Bad(ROWS, "d.csv", "a,label\n1,\n2,\n", "y is all unlabeled"),
    "csv: one class": Bad(ROWS, "d.csv", "a,label\n1,x\n2,x\n3,\n", "at least 2 classes"),
    "csv: no bag column": Bad(BAG, "d.csv", CSV, "no column 'bag'"),
    "csv: bag with two labels": Bad(BAG, "d.csv", BAGS + "u,5,1\n", "y has different labels within bag 'u': 0 and 1"),
    "csv: row without bag": Bad(BAG, "d.csv", BAGS + ",5,1\n", "missing value in row 4"),
    "csv: bag without label": Bad(BAG, "d.csv", BAGS + "w,5,\n", "data row 5 has no label"),
    # Parquet
    "parquet: text": Bad(ROWS, "d.parquet", CSV, "cannot be read as parquet"),
    "parquet: cut": Bad(ROWS, "d.parquet", parquet(cut=20, a=[1.0, 2.0], label=[0, 1]), "cannot be read as parquet"),
    "parquet: lists": Bad(ROWS, "d.parquet", parquet(a=[[1], [2]], label=[0, 1]), "column 'a' holds List"),
    # archives of arrays
    "npz: empty": Bad(ROWS, "d.npz", "", "damaged or not a data set"),
    "npz: text": Bad(ROWS, "d.npz", CSV, "damaged or not a data set"),
    "npz: rubbish": Bad(ROWS, "d.npz", NOISE, "damaged or not a data set"),
    "npz: cut": Bad(ROWS, "d.npz", lambda: npz(X=X3, y=Y3)()[:-40], "damaged or not a data set"),
    "npz: no X": Bad(ROWS, "d.npz", npz(y=Y3), "neither an array X nor a CSR matrix; it holds ['y']"),
    "npz: no y": Bad(ROWS, "d.npz", npz(X=X3), "no labels: there is no array 'y'"),
    "npz: pickled objects": Bad(ROWS, "d.npz", npz(X=X3, y=OBJECTS), "holds Python objects, which are not read"),
    "npz: X of one dimension": Bad(ROWS, "d.npz", npz(X=Y3, y=Y3), "expected two dimensions"),
    "npz: X of text": Bad(ROWS, "d.npz", npz(X=np.full((3, 2), "one"), y=Y3), "X holds <U3, not numbers"),
    "npz: NaN in X": Bad(ROWS, "d.npz", npz(X=X3 * np.nan, y=Y3), "contains NaN, first in row 0"),
    "npz: y too short": Bad(ROWS, "d.npz", npz(X=X3, y=Y3[:2]), "y has 2 entries, expected 3"),
    "npz: CSC": Bad(CLUSTER, "d.npz", csc, "expected csr"),
    "npz: wild indices": Bad(ROWS, "d.npz", csr_with_wild_indices, "X.indices holds"),
    "npz: no bags": Bad(BAG, "d.npz", npz(X=X3, y=Y3), "no array 'bag'"),
    "npz: bag too short": Bad(BAG, "d.npz", npz(X=X3, y=Y3[:2], bag=np.array([0, 1])), "bag has 2 entries for 3 rows"),
    "npz: negative bag": Bad(BAG, "d.npz", npz(X=X3, y=Y3[:2], bag=np.array([0, 1, -1])), "starting at 0"),
    # clustering has needs of its own
    "clustering: fewer rows than clusters": Bad(CLUSTER, "d.csv", "a,b\n1,2\n", "n_samples=1 is smaller than"),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_told_in_one_line_and_nothing_is_written(command, tmp_path, bad):
    content = bad.content() if callable(bad.content) else bad.content
    data = tmp_path / bad.name
    data.write_bytes(content.encode() if isinstance(content, str) else content)
    done = command("fit", bad.task, data, "-o", tmp_path / "model.skops")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("wellsvm: ")
    assert done.err.count("\n") == 1
    assert bad.told in done.err
    assert "Error" not in done.err.split(":")[1]  # no name of a Python class before the message
    assert [path.name for path in tmp_path.iterdir()] == [bad.name]


def test_an_index_beyond_memory_is_refused_before_memory_is_taken(command, tmp_path, monkeypatch):
    monkeypatch.setattr("wellsvm.cli._data.available_memory", lambda: 10**9)
    (tmp_path / "rows").write_text(GOOD + "1 2147483646:1\n")
    done = command("fit", "semi-supervised", tmp_path / "rows", "-o", tmp_path / "model")
    assert (done.code, done.out) == (1, "")
    assert "has a feature with index 2147483646: too many features for the memory" in done.err


def test_missing_files_and_folders(command, tmp_path):
    done = command("fit", "clustering", tmp_path / "nothing.csv", "-o", tmp_path / "model")
    assert (done.code, done.err) == (1, f"wellsvm: {tmp_path}/nothing.csv does not exist\n")
    done = command("fit", "clustering", tmp_path, "-o", tmp_path / "model")
    assert done.code == 1
    assert f"{tmp_path} has no manifest.json: it is not a folder of rows" in done.err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads and writes everything")
def test_what_may_not_be_read_or_written(command, files, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = command("fit", "clustering", files / "plain.csv", "-o", locked / "model")
    assert done.code == 2
    assert "cannot be written to" in done.err


@pytest.mark.parametrize(
    "output, told", [("missing/model", "does not exist"), (".", "is a folder"), ("rows.csv", "rows.csv is an input")]
)
def test_bad_outputs_are_found_before_any_work(command, tmp_path, monkeypatch, output, told):
    monkeypatch.setattr("wellsvm.cli._training.read", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "rows.csv").write_text(CSV)
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / output)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert (tmp_path / "rows.csv").read_text() == CSV


@pytest.mark.parametrize(
    "options, told",
    [
        (["--C", "-1"], "--C must be a finite number greater than 0; got --C -1.0"),
        (["--C-unlabeled", "nan"], "--C-unlabeled must be"),
        (["--tol", "0"], "--tol must be"),
        (["--max-iter", "0"], "--max-iter must be a whole number of at least 1"),
        (["--balance", "1.5"], "--balance must be"),
        (["--kernel", "rbf", "--gamma", "-2"], "--gamma must be"),
        (["--ignore-column", "z"], "no column 'z'"),
        (["--unlabeled", "none"], "y has 1 missing cell"),
    ],
)
def test_bad_parameters(command, tmp_path, options, told):
    (tmp_path / "rows.csv").write_text(CSV)
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model", *options)
    assert (done.code, done.out) == (1, "")
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "model").exists()


def test_a_bad_file_by_the_console_script(tmp_path):
    (tmp_path / "rows.csv").write_text(CSV + "1,n/a,x\n")
    program = [sys.executable, "-c", "from wellsvm.cli import main; main()"]
    command = [*program, "fit", "semi-supervised", "rows.csv", "-o", "model.skops"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    told = "rows.csv: column 'b' holds 'n/a' in data row 6, which is not a number; fill it in, or leave the column out"
    assert done.stderr == f"wellsvm: {told}: --ignore-column 'b'\n"
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_two_columns_of_one_name_are_refused(command, tmp_path):
    header, *rest = CSV.splitlines(keepends=True)
    (tmp_path / "rows.csv").write_text(header.replace("b", "a", 1) + "".join(rest))
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model")
    assert (done.code, done.out) == (1, "")
    assert "has two columns named 'a', of which the second was read as 'a_duplicated_0'" in done.err
    assert not (tmp_path / "model").exists()


def test_columns_of_one_name_that_are_not_used_do_no_harm(command, tmp_path):
    content = "\n".join(f"{line},u,v" for line in CSV.splitlines()).replace("label,u,v", "label,note,note") + "\n"
    (tmp_path / "rows.csv").write_text(content)
    ignored = ("--ignore-column", "note", "--ignore-column", "note_duplicated_0")
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model.skops", *ignored)
    assert done.code == 0, done.err
    assert command("predict", tmp_path / "model.skops", tmp_path / "rows.csv").code == 0


def test_a_name_that_looks_as_if_renamed_is_taken_as_it_is(command, tmp_path):
    (tmp_path / "rows.csv").write_text(CSV.replace("a,b", "b,b_duplicated_0", 1))
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model.skops", "--json")
    assert done.code == 0, done.err
    assert command("predict", tmp_path / "model.skops", tmp_path / "rows.csv").code == 0
    assert command("convert", tmp_path / "rows.csv", tmp_path / "rows", "--label-column", "label").code == 0


@pytest.mark.parametrize("name", ["model.pkl", "model.csv", "model.v2"])
def test_a_model_of_another_suffix_is_refused_before_the_fit(command, files, tmp_path, name):
    done = command("fit", "clustering", files / "plain.csv", "-o", tmp_path / name)
    assert done.code == 2
    assert ".skops files" in done.err
    assert "name it model.skops" in " ".join(done.err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "separator"), [("rows.csv", ";"), ("rows.csv", "\t"), ("rows.tsv", ",")])
def test_another_separator_is_told(command, tmp_path, name, separator):
    (tmp_path / name).write_text(CSV.replace(",", separator))
    done = command("fit", "semi-supervised", tmp_path / name, "-o", tmp_path / "model.skops")
    assert done.code == 1
    assert f"its cells seem to be separated by {separator!r}" in done.err
    assert "Save it with decimal points, separated by commas, or by tabs with the suffix .tsv" in done.err


def test_text_that_is_not_utf_8_is_told(command, tmp_path):
    (tmp_path / "rows.csv").write_bytes(CSV.replace("x", "s\xed").encode("latin-1"))
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model.skops")
    assert done.code == 1
    assert "save it as UTF-8" in done.err
