"""What makes the command line kind: quick help, versions, flags in hints, scaling, shares by class, reports."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellsvm
from wellsvm import MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.cli._defaults import defaults_of
from wellsvm.cli._flags import in_flags

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

HELP = """
import sys, time
sys.argv = ["wellsvm", *sys.argv[1:]]
from wellsvm.cli import main
try:
    main()
finally:
    print(time.process_time(), sorted({"numpy", "sklearn", "polars"} & set(sys.modules)), file=sys.stderr)
"""
BARE = "import time; print(time.process_time())"


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "semi-supervised", "--help"], ["predict", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    seconds = []
    for _ in range(3):  # the least of three: processor time grows on a busy machine too
        done = subprocess.run([sys.executable, "-c", HELP, *arguments], capture_output=True, text=True, check=True)
        told, loaded = done.stderr.split(maxsplit=1)
        assert loaded.strip() == "[]"
        bare = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
        seconds.append(float(told) - float(bare.stdout))
    assert min(seconds) < 0.5


def test_the_version_and_the_order_of_commands(command):
    assert command("--version").out == f"wellsvm {wellsvm.__version__}\n"
    listed = command("--help").out.partition("Commands:")[2]
    names = [line.split()[0] for line in listed.splitlines() if line.strip()]
    assert names[0] == "fit"
    assert {"predict", "info", "report", "demo", "versions"} <= set(names)


@pytest.mark.parametrize("estimator", [SemiSupervisedSVC, MultiInstanceSVC, MaxMarginClustering])
def test_defaults_read_from_the_source_are_those_of_the_class(estimator):
    found = defaults_of(estimator.__module__, estimator.__name__)
    own = estimator().get_params()
    assert {name: own[name] for name in found} == found
    assert {"C_unlabeled", "C_positive", "n_clusters"} & set(found)


@pytest.mark.parametrize(
    "text, told",
    [
        ("a larger max_iter or tol, a smaller C", "a larger --max-iter or --tol, a smaller --C"),
        ("unlabeled=-1 to confirm, or unlabeled=None if", "--unlabeled -1 to confirm, or --unlabeled none if"),
        ("use kernel='linear'", "use --kernel linear"),
        ("gamma must be a number; got gamma=-2.0", "--gamma must be a number; got --gamma -2.0"),
        ("pass safe=False", "pass --no-safe"),
        ("the kernel matrix and the balance of Vitamin C_2", "the kernel matrix and the balance of Vitamin C_2"),
    ],
)  # fmt: skip
def test_hints_name_flags(text, told):
    assert in_flags(text) == told


def test_dense_tables_are_scaled_and_the_model_remembers(command, files, tmp_path, rows):
    scaled = np.array([1.0, 1e3, 1e-3, 10.0]) * rows[0] + 5.0
    names = pl.read_csv(files / "rows.csv")["label"]
    pl.DataFrame(scaled, schema=list("abcd")).with_columns(names).write_csv(tmp_path / "rows.csv")
    done = command("fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "m.skops")
    assert "4, scaled (stored in the model)" in done.out
    model = wellsvm.load(tmp_path / "m.skops")
    X = pl.read_csv(tmp_path / "rows.csv").drop("label").to_numpy()
    reference = make_pipeline(StandardScaler(), SemiSupervisedSVC(random_state=0)).fit(X, names.to_list())
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), rtol=1e-9)
    how = ("fit", "semi-supervised", files / "rows.svm", "-o", tmp_path / "m.skops", "--unlabeled", "0", "--json")
    assert json.loads(command(*how).out)["scaled"] is False
    assert json.loads(command(*how, "--scale").out)["scaled"] is True
    assert type(wellsvm.load(tmp_path / "m.skops")[0]).__name__ == "MaxAbsScaler"


def wine(folder):
    """Three classes, a column of names."""
    rng = np.random.default_rng(0)
    X, y = (
        rng.standard_normal((90, 2)) + 4 * np.eye(3)[np.arange(90) % 3][:, :2],
        np.array(["a", "b", "c"])[np.arange(90) % 3],
    )
    label = [name if k < 24 else None for k, name in enumerate(y)]
    pl.DataFrame({"u": X[:, 0], "v": X[:, 1], "label": label}).write_csv(folder / "three.csv")
    return folder / "three.csv"


def test_shares_can_be_given_by_class(command, files, tmp_path):
    options = ["--balance", "a=0.3", "--balance", "b=0.3", "--balance", "c=0.35,0.45"]
    done = command("fit", "semi-supervised", wine(tmp_path), "-o", tmp_path / "m", *options)
    assert done.code == 0
    lacking = command("fit", "semi-supervised", wine(tmp_path), "-o", tmp_path / "m", *options[:2])
    assert lacking.err == "wellsvm: --balance: no share for b, c; give one CLASS=SHARE for each class\n"
    told = json.loads(command("info", tmp_path / "m", "--json").out)["parameters"]["balance"]
    assert told == {"a": 0.3, "b": 0.3, "c": [0.35, 0.45]}
    how = ("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "m", "--json")
    for option, share in (("yes=0.4", 0.4), ("no=0.75", 0.25)):  # of two classes the estimator takes that of the second
        assert json.loads(command(*how, "--balance", option).out)["balance"][1] == pytest.approx(share, abs=0.02)
    assert "no such class; the labels are no, yes" in command(*how, "--balance", "maybe=0.4").err
    assert command(*how, "--balance", "0.3", "--balance", "0.4").code == 2


@pytest.mark.parametrize(
    "column, told",
    [
        ("labels", "has no column 'labels' for the labels; did you mean 'label'?"),
        ("species", "for the labels; name it with --label-column. Its columns are 'a', 'b', 'c', 'd', 'label'"),
    ],
)  # fmt: skip
def test_a_missing_label_column_names_the_flag_and_all_columns(command, files, tmp_path, column, told):
    done = command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "m", "--label-column", column)
    assert done.code == 1
    assert told in done.err


def test_wide_files_show_their_last_columns_too(command, tmp_path):
    names = [f"feature_{k}" for k in range(60)] + ["species"]
    (tmp_path / "wide.csv").write_text(",".join(names) + "\n" + ",".join(["1"] * 61) + "\n")
    told = command("fit", "semi-supervised", tmp_path / "wide.csv", "-o", tmp_path / "m").err
    assert "'species' (61 in all)" in told


def test_reports(command, files, tmp_path):
    how = ("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "m.skops", "--report", tmp_path / "fit.html")
    done = command(*how)
    assert done.code == 0
    assert done.out.splitlines()[-1].split() == ["report", str(tmp_path / "fit.html")]
    done = command("report", tmp_path / "m.skops", files / "rows.csv", "-o", tmp_path / "later.html", "--title", "Mine")
    assert (done.code, done.out) == (0, "")
    for page in ("fit.html", "later.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        for part in ("What was found", "Least certain rows", "supervised SVM", "How the fit ended"):
            assert part in text, part
    assert "<h1>Mine" in text
    assert command("report", tmp_path / "m.skops", "-o", tmp_path / "bare.html").code == 0
    assert command("report", tmp_path / "m.skops", "-o", tmp_path / "bare.txt").code == 2
    assert command("report", tmp_path / "m.skops").code == 2


def test_folds_are_told_one_by_one(rows, caplog):
    caplog.set_level("INFO", logger="wellsvm")
    y = np.where(np.arange(60) < 12, rows[1], np.nan)
    wellsvm.SemiSupervisedSVCCV(cv=3, Cs_unlabeled=[0.1], neighbors=None, verbose=1, random_state=0).fit(rows[0], y)
    for k in (1, 2, 3):
        assert f"fold {k} of 3: score " in caplog.text


def test_a_wrong_choice_lists_the_right_ones(command, files, tmp_path):
    done = command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "m", "--kernel", "gauss")
    assert "'gauss' is not one of 'linear', 'rbf'" in done.err
    assert "Value error" not in done.err
