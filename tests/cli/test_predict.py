"""``wellsvm predict``: the file holds what the model decides, column by column."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellsvm
from wellsvm import Bags, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.bags import per_instance

pl = pytest.importorskip("polars")
pytest.importorskip("skops")


@pytest.fixture
def model(tmp_path, command, files):
    """A model of rows.csv: classes no and yes, columns a to d."""
    path = tmp_path / "model.skops"
    assert command("fit", "semi-supervised", files / "rows.csv", "-o", path, "--kernel", "rbf").code == 0
    return path


@pytest.fixture
def bag_model(tmp_path, command, files):
    path = tmp_path / "bags.skops"
    assert command("fit", "multi-instance", files / "bags.svm", "-o", path).code == 0
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_predictions_and_decision_values_have_the_models_bits(command, files, tmp_path, rows, model, suffix):
    output = tmp_path / f"out{suffix}"
    done = command("predict", model, files / "plain.csv", "-o", output)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("60 predictions (no: ")
    if suffix == ".npy":
        found = np.load(output, allow_pickle=False)
    else:
        found = pl.read_csv(output) if suffix == ".csv" else pl.read_parquet(output)
    loaded = wellsvm.load(model)
    np.testing.assert_array_equal(np.asarray(found["prediction"]), loaded.predict(rows[0]))
    np.testing.assert_array_equal(np.asarray(found["decision"]), loaded.decision_function(rows[0]))


def test_without_an_output_csv_goes_to_standard_output(command, files, rows, model):
    done = command("predict", model, files / "plain.csv")
    assert (done.code, done.err) == (0, "")
    found = pl.read_csv(io.StringIO(done.out))
    assert found.columns == ["prediction", "decision"]
    assert found["prediction"].to_list() == wellsvm.load(model).predict(rows[0]).tolist()


def test_more_classes_have_a_decision_column_each(command, tmp_path):
    lines = [f"{k % 3 + k / 99},{k},{'' if k > 17 else 'xyz'[k % 3]}" for k in range(30)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]))
    command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model")
    done = command("predict", tmp_path / "model", tmp_path / "rows.csv")
    assert done.out.splitlines()[0] == "prediction,decision_x,decision_y,decision_z"


def test_clusters(command, files, tmp_path, rows):
    command("fit", "clustering", files / "plain.csv", "-o", tmp_path / "model", "--clusters", "3")
    done = command("predict", tmp_path / "model", files / "plain.csv")
    found = pl.read_csv(io.StringIO(done.out))
    assert found.columns == ["prediction", "decision_0", "decision_1", "decision_2"]
    assert found["prediction"].to_list() == wellsvm.load(tmp_path / "model")[-1].labels_.tolist()


def test_bags_have_their_name_and_the_located_instance(command, files, tmp_path, rows, bag_of, bag_model):
    done = command("predict", bag_model, files / "bags.svm")
    assert (done.code, done.err) == (0, "")
    found = pl.read_csv(io.StringIO(done.out))
    assert found.columns == ["bag", "prediction", "decision", "instance"]
    loaded, bags = wellsvm.load(bag_model), Bags(rows[0], bag_of)
    assert found["bag"].to_list() == list(range(20))
    assert found["instance"].to_list() == loaded.locate(bags).tolist()
    assert set(found.filter(pl.col("prediction") == 0)["instance"]) == {-1}
    np.testing.assert_allclose(found["decision"], loaded.decision_function(bags), rtol=1e-12)


def test_columns_are_found_by_name_whatever_their_order(command, files, tmp_path, model):
    frame = pl.read_csv(files / "plain.csv")
    frame.select("d", pl.lit("text").alias("note"), "b", "a", "c").write_csv(tmp_path / "other.csv")
    assert command("predict", model, tmp_path / "other.csv") == command("predict", model, files / "plain.csv")


def test_names_of_a_model_trained_in_python_are_used_too(command, files, tmp_path, rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows[0], columns=list("abcd"))
    fitted = SemiSupervisedSVC(random_state=0).fit(frame, np.where(np.arange(60) < 12, rows[1], np.nan))
    wellsvm.save(fitted, tmp_path / "model")
    pl.read_csv(files / "plain.csv").select("d", "c", "b", "a").write_csv(tmp_path / "other.csv")
    done = command("predict", tmp_path / "model", tmp_path / "other.csv")
    assert done.err == ""
    assert pl.read_csv(io.StringIO(done.out))["decision"].to_list() == fitted.decision_function(frame).tolist()


def test_pipelines_of_rows_and_of_bags(command, files, tmp_path, rows, bag_of):
    bags = Bags(rows[0], bag_of)
    pipeline = make_pipeline(per_instance(StandardScaler()), MultiInstanceSVC(random_state=0))
    wellsvm.save(pipeline.fit(bags, np.arange(20) % 2), tmp_path / "bags")
    found = pl.read_csv(io.StringIO(command("predict", tmp_path / "bags", files / "bags.npz").out))
    assert found["decision"].to_list() == pipeline.decision_function(bags).tolist()
    assert found["instance"].to_list() == pipeline[-1].locate(pipeline[:-1].transform(bags)).tolist()
    assert "PerInstance > MultiInstanceSVC" in command("info", tmp_path / "bags").out


def test_narrower_svmlight_rows_are_padded_and_keep_the_models_first_index(command, tmp_path):
    train = "1 1:1 4:2\n-1 2:1\nnan 3:1\n1 1:2\n-1 2:2\n"
    (tmp_path / "train").write_text(train)
    assert command("fit", "semi-supervised", tmp_path / "train", "-o", tmp_path / "model").code == 0
    (tmp_path / "narrow").write_text("0 1:1\n0 2:3\n")
    found = pl.read_csv(io.StringIO(command("predict", tmp_path / "model", tmp_path / "narrow").out))
    loaded = wellsvm.load(tmp_path / "model")
    assert found["decision"].to_list() == loaded.decision_function([[1.0, 0, 0, 0], [0, 3.0, 0, 0]]).tolist()
    (tmp_path / "zero").write_text(train.replace("1:", "0:"))
    assert command("fit", "semi-supervised", tmp_path / "zero", "-o", tmp_path / "model").code == 0
    found = pl.read_csv(io.StringIO(command("predict", tmp_path / "model", tmp_path / "narrow").out))
    wanted = wellsvm.load(tmp_path / "model").decision_function([[0, 1.0, 0, 0, 0], [0, 0, 3.0, 0, 0]])
    assert found["decision"].to_list() == wanted.tolist()  # "1:" is the second column here, without index 0 in sight


@pytest.mark.parametrize(
    "content, told",
    [("0 1:1 9:2\n", "has 9 features; the model was trained with 4"), ("0 0:1\n", "indices should start at 1")],
)
def test_wider_svmlight_rows_are_refused(command, files, tmp_path, content, told):
    assert command("fit", "semi-supervised", files / "rows.svm", "-o", tmp_path / "model").code == 0
    (tmp_path / "wide").write_text(content)
    done = command("predict", tmp_path / "model", tmp_path / "wide", "-o", tmp_path / "out.csv")
    assert (done.code, done.out) == (1, "")
    assert told in done.err
    assert not (tmp_path / "out.csv").exists()


def test_other_widths_and_missing_columns_are_refused(command, files, tmp_path, model, rows):
    np.savez(tmp_path / "narrow.npz", X=rows[0][:, :2])
    done = command("predict", model, tmp_path / "narrow.npz")
    assert (done.code, done.out) == (1, "")
    assert "narrow.npz has 2 features; the model was trained with 4" in done.err
    pl.read_csv(files / "plain.csv").drop("c").write_csv(tmp_path / "rows.csv")
    done = command("predict", model, tmp_path / "rows.csv")
    assert (done.code, done.out) == (1, "")
    assert "has no column 'c'" in done.err


def test_a_column_that_the_model_needs_cannot_be_ignored(command, files, tmp_path, model):
    done = command("predict", model, files / "plain.csv", "--ignore-column", "b")
    assert (done.code, done.out) == (1, "")
    assert "--ignore-column 'b': the model was trained with this column" in done.err


def test_an_empty_cell_is_not_to_be_mended_by_ignoring_its_column(command, files, tmp_path, model):
    gap = tmp_path / "gap.csv"
    first, second, *rest = (files / "plain.csv").read_text().splitlines()
    gap.write_text("\n".join([first, "," + second.split(",", 1)[1], *rest]))
    done = command("predict", model, gap)
    assert (done.code, done.out) == (1, "")
    assert "column 'a' is empty in data row 1; the model was trained with this column" in done.err
    assert "--ignore-column" not in done.err


def test_bags_without_names_are_refused(command, files, bag_model):
    for name, told in (("plain.npz", "no array 'bag'"), ("plain.csv", "no column 'bag'"), ("rows.svm", "'qid:'")):
        done = command("predict", bag_model, files / name)
        assert (done.code, done.out) == (1, "")
        assert told in done.err


@pytest.mark.parametrize(
    "output, told",
    [
        ("out.txt", "must end in .csv, .parquet, .npy"),
        ("missing/out.csv", "does not exist"),
        ("folder.csv", "is a folder"),
        ("data.csv", "is an input"),
    ],
)
def test_outputs_that_cannot_be_written_are_wrong_usage(command, tmp_path, files, model, output, told):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "data.csv").write_bytes((files / "plain.csv").read_bytes())
    before = sorted(tmp_path.iterdir())
    done = command("predict", model, tmp_path / "data.csv", "-o", tmp_path / output)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_failing_write_leaves_the_old_file(command, files, tmp_path, model, monkeypatch):
    (tmp_path / "out.csv").write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = command("predict", model, files / "plain.csv", "-o", tmp_path / "out.csv")
    assert (done.code, done.err) == (1, "wellsvm: No space left on device\n")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert not list(tmp_path.glob(".wellsvm-*"))


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "cut"])
def test_bad_models(command, files, tmp_path, model, kind):
    bad = tmp_path / "bad"
    if kind == "folder":
        bad.mkdir()
    elif kind == "text":
        bad.write_text("no model")
    elif kind == "cut":
        bad.write_bytes(model.read_bytes()[:-100])
    for arguments in (("predict", bad, files / "plain.csv"), ("info", bad)):
        done = command(*arguments)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"wellsvm: {bad}")
        assert done.err.count("\n") == 1


def test_a_closed_pipe_is_no_traceback(files, tmp_path, model, rows):
    dump_svmlight_file(np.tile(rows[0], (300, 1)), np.zeros(18_000), str(tmp_path / "rows.svm"), zero_based=False)
    command = (
        f"{sys.executable} -c 'from wellsvm.cli import main; main()' predict {model} {tmp_path}/rows.svm | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout == "prediction,decision\n"
    assert done.stderr == ""


def test_columns_are_kept_beside_the_predictions(command, files, tmp_path, rows, model):
    table = pl.DataFrame(rows[0], schema=list("abcd")).with_columns(id=pl.Series([f"row {k}" for k in range(60)]), n=1)
    table.write_csv(tmp_path / "named.csv")
    how = ("predict", model, tmp_path / "named.csv", "--keep-column", "id", "--keep-column", "n")
    found = pl.read_csv(io.StringIO(command(*how).out))
    assert found.columns == ["id", "n", "prediction", "decision"]
    assert found["id"].to_list() == table["id"].to_list()
    assert found["prediction"].to_list() == wellsvm.load(model).predict(rows[0]).tolist()
    assert command(*how, "-o", tmp_path / "out.npy").code == 0
    assert np.load(tmp_path / "out.npy", allow_pickle=False)["id"][3] == "row 3"


def test_a_kept_column_of_bags_must_be_the_same_in_the_bag(command, files, tmp_path, bag_of):
    assert command("fit", "multi-instance", files / "bags.csv", "-o", tmp_path / "m.skops").code == 0
    table = pl.read_csv(files / "bags.csv").with_columns(
        site=pl.Series([f"site {k}" for k in bag_of]), row=pl.int_range(60)
    )
    table.write_csv(tmp_path / "sites.csv")
    how = ("predict", tmp_path / "m.skops", tmp_path / "sites.csv", "--keep-column")
    found = pl.read_csv(io.StringIO(command(*how, "site").out))
    assert found["site"].to_list() == [f"site {k}" for k in range(20)]
    assert "has different values within a bag" in command(*how, "row").err


@pytest.mark.parametrize(
    "options, told",
    [
        (["--keep-column", "idd"], "has no column 'idd' named by --keep-column; did you mean 'id'?"),
        (["--keep-column", "prediction"], "the output already has a column with that name"),
    ],
)
def test_columns_that_cannot_be_kept(command, tmp_path, rows, model, options, told):
    table = pl.DataFrame(rows[0], schema=list("abcd")).with_columns(id=1, prediction=2)
    table.write_csv(tmp_path / "named.csv")
    done = command("predict", model, tmp_path / "named.csv", *options)
    assert (done.code, done.out) == (1, "")
    assert told in done.err


def test_files_without_columns_have_none_to_keep(command, files, model):
    assert "leave out --keep-column" in command("predict", model, files / "rows.svm", "--keep-column", "a").err
