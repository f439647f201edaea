"""``wellsvm convert``, and folders of rows in fit and predict."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wellsvm import open_rows


@pytest.mark.parametrize("name", ["rows.svm", "rows.svm.gz", "rows.svm.bz2", "rows.csv", "rows.parquet", "rows.npz"])
def test_a_folder_gives_the_model_of_the_file(command, files, tmp_path, name, monkeypatch):
    monkeypatch.setattr("wellsvm.cli._batches.TEXT", 300)  # several batches
    monkeypatch.setattr("wellsvm.cli._frames.ROWS", 17)
    column = ("--label-column", "label") if name.endswith(("csv", "parquet")) else ()
    done = command("convert", files / name, tmp_path / "rows", "--block-rows", 25, *column)
    assert (done.code, done.out) == (0, "")
    assert "60 rows x 4 features in 3 blocks" in done.err
    models = []
    for data in (files / name, tmp_path / "rows"):
        fit = command(
            "fit", "semi-supervised", data, "-o", tmp_path / "model.skops", "--json", "--unlabeled",
            "0" if name.startswith("rows.svm") else "auto", "--no-scale",  # rows in a folder are never scaled
        )  # fmt: skip
        assert fit.code == 0, fit.err
        told = json.loads(fit.out)
        predicted = command("predict", tmp_path / "model.skops", data)
        models.append(({k: told[k] for k in ("rows", "features", "labeled", "classes", "objective")}, predicted.out))
    assert models[0] == models[1]


def test_bags_and_clusters(command, files, tmp_path):
    assert command("convert", files / "bags.svm", tmp_path / "bags", "--bag-column", "qid", "-q").code == 0
    assert np.unique(open_rows(tmp_path / "bags").groups).size == 20
    outputs = []
    for data in (files / "bags.svm", tmp_path / "bags"):
        done = command("fit", "multi-instance", data, "-o", tmp_path / "bags.skops", "--kernel", "linear", "-q")
        assert done.code == 0, done.err
        outputs.append(command("predict", tmp_path / "bags.skops", data, "--memory", "1 MB").out)
    assert outputs[0] == outputs[1]
    assert command("convert", files / "plain.csv", tmp_path / "plain", "--float32").code == 0
    assert open_rows(tmp_path / "plain").dtype == np.float32
    done = command("fit", "clustering", tmp_path / "plain", "-o", tmp_path / "model", "--memory", "2 MB")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    "content, told",
    [
        ("1 1:2\n1 2:x\n", "line 2"), ("", "no rows"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_converted_leave_no_folder(command, tmp_path, content, told):
    (tmp_path / "rows").write_text(content)
    done = command("convert", tmp_path / "rows", tmp_path / "folder")
    assert done.code == 1
    assert told in done.err
    assert not (tmp_path / "folder").exists()


def test_names_that_lead_nowhere(command, files, tmp_path):
    assert "does not exist" in command("convert", tmp_path / "nothing", tmp_path / "folder").err
    assert "is a folder" in command("convert", tmp_path, tmp_path / "folder").err
    assert command("convert", files / "plain.csv", tmp_path / "rows", "-q").code == 0
    assert "already contains rows" in command("convert", files / "plain.csv", tmp_path / "rows").err
    done = command("fit", "clustering", tmp_path / "rows", "-o", tmp_path / "model", "--memory", "much")
    assert "memory='much'" in done.err
    done = command("fit", "clustering", tmp_path / "rows", "-o", tmp_path / "model", "--kernel", "rbf")
    assert "Nystroem" in done.err
    done = command("fit", "multi-instance", tmp_path / "rows", "-o", tmp_path / "model", "--kernel", "linear")
    assert "has no bags" in done.err
