"""``wellsvm fit``: what it learns from a file is what the estimator learns from arrays."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import wellsvm
from wellsvm import (
    Bags,
    MaxMarginClustering,
    MultiInstanceSVC,
    MultiInstanceSVCCV,
    SemiSupervisedSVC,
    SemiSupervisedSVCCV,
)
from wellsvm._fitted_runs import final_estimator

pytest.importorskip("skops")
# An easy problem under the defaults ends with its first label vector; under these of the paper it does not.
PLAIN = ["--C", "1", "--C-unlabeled", "0.1", "--loss", "paper", "--balance", "labels", "--search", "local"]
PROGRAM = [sys.executable, "-c", "from wellsvm.cli import main; main()"]


def same(model, reference) -> None:
    """Both decide by the same bits."""
    model = final_estimator(model)
    names = ("coef_",) if hasattr(reference, "coef_") else ("dual_coef_", "support_vectors_")
    for name in (*names, "intercept_"):
        np.testing.assert_array_equal(np.asarray(getattr(model, name)), np.asarray(getattr(reference, name)))


@pytest.fixture(scope="module")
def target(rows):
    return np.where(np.arange(60) < 12, rows[1], np.nan)


# ------------------------------------------------------------------ the three tasks, as users start them


@pytest.mark.parametrize(
    "task, data, options",
    [
        ("semi-supervised", "rows.csv", ["--kernel", "rbf", "--C-unlabeled", "0.3", "--no-scale"]),
        ("multi-instance", "bags.svm", ["--kernel", "linear"]),
        ("clustering", "plain.npz", ["--clusters", "3"]),
    ],
)
def test_the_console_script_trains_saves_and_tells(files, tmp_path, rows, bag_of, target, task, data, options):
    model = tmp_path / "model.skops"
    done = subprocess.run(
        [*PROGRAM, "fit", task, str(files / data), "-o", str(model), *options], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search("(converged|ended): ", done.stdout)
    assert done.stdout.rstrip().endswith("model.skops")
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]
    loaded = wellsvm.load(model)
    X, _ = rows
    if task == "semi-supervised":
        names = np.array(["no", "yes"])[(np.nan_to_num(target) > 0).astype(int)].astype(object)
        names[np.isnan(target)] = None
        same(loaded, SemiSupervisedSVC(kernel="rbf", C_unlabeled=0.3, random_state=0).fit(X, names))
        assert loaded.classes_.tolist() == ["no", "yes"]
    elif task == "multi-instance":
        bags = Bags(sparse.csr_matrix(X), bag_of)  # rows of svmlight are sparse
        same(loaded, MultiInstanceSVC(kernel="linear", random_state=0).fit(bags, np.arange(20) % 2))
    else:
        assert np.unique(loaded.predict(X)).tolist() == [0, 1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_terminal_sees_the_fit_and_ctrl_c_ends_it_with_130_and_no_file(tmp_path):
    import pty  # not there on Windows

    X, y = np.random.default_rng(0).standard_normal((2000, 40)), np.arange(2000) % 2 + 1
    np.savez(tmp_path / "rows.npz", X=X, y=np.where(np.arange(2000) < 40, y, -1))
    options = ["--tol", "1e-12", "--C", "1e6", "--C-unlabeled", "1e6", "--max-iter", "100000", "--oracle", "climb"]
    options += ["--loss", "hinge", "--balance", "labels", "--search", "local"]
    command = [*PROGRAM, "fit", "semi-supervised", "rows.npz", "-o", "model.skops", *options]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    drawn = ""
    while "label vector" not in drawn:
        drawn += os.read(ours, 1 << 16).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == b""
    assert process.returncode == 130
    assert re.search(r"Fitting +\d+ label vectors?, objective \S+, gap \S+", drawn)
    with contextlib.suppress(OSError):  # how a pseudo terminal says that all is read
        while more := os.read(ours, 1 << 16).decode(errors="replace"):
            drawn += more
    os.close(ours)
    assert drawn.rstrip().endswith("wellsvm: interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npz"]


# ------------------------------------------------------------------ formats


@pytest.mark.parametrize("name", ["rows.svm", "rows.svm.gz", "rows.svm.bz2"])
def test_svmlight_files_plain_and_compressed(command, files, tmp_path, rows, target, name):
    done = command("fit", "semi-supervised", files / name, "-o", tmp_path / "model", "--quiet")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("wellsvm: warning: labels are -1, 0 and 1: rows of label 0 are taken as unlabeled")
    assert done.err.count("\n") == 1
    loaded = wellsvm.load(tmp_path / "model")
    assert loaded.classes_.tolist() == [-1, 1]
    assert loaded.n_features_in_ == 4


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.npz"])
def test_formats_agree(command, files, tmp_path, rows, target, name):
    done = command("fit", "semi-supervised", files / name, "-o", tmp_path / "model", "--json", "--no-scale")
    assert (done.code, done.err) == (0, "")
    same(wellsvm.load(tmp_path / "model"), SemiSupervisedSVC(random_state=0).fit(rows[0], target))
    summary = json.loads(done.out)
    assert (summary["rows"], summary["features"], summary["labeled"]) == (60, 4, 12)


@pytest.mark.parametrize("name", ["bags.csv", "bags.npz"])
def test_bags_by_column_and_array(command, files, tmp_path, rows, bag_of, name):
    done = command("fit", "multi-instance", files / name, "-o", tmp_path / "model", "--json", "--no-scale")
    assert (done.code, done.err) == (0, "")
    reference = MultiInstanceSVC(random_state=0).fit(Bags(rows[0], bag_of), np.arange(20) % 2)
    same(wellsvm.load(tmp_path / "model"), reference)
    summary = json.loads(done.out)
    assert (summary["bags"], summary["training_accuracy"]) == (
        20,
        reference.score(Bags(rows[0], bag_of), bag_of[::3] % 2),
    )


def test_the_format_can_be_said(command, files, tmp_path):
    (tmp_path / "data.txt").write_bytes((files / "rows.csv").read_bytes())
    assert command("fit", "semi-supervised", tmp_path / "data.txt", "-o", tmp_path / "model").code == 1
    assert (
        command("fit", "semi-supervised", tmp_path / "data.txt", "-o", tmp_path / "model", "--format", "csv").code == 0
    )


def test_columns_can_be_named_and_left_out(command, tmp_path):
    lines = [f"row {k},{k % 7},{k % 3},{'' if k > 9 else k % 2}" for k in range(30)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,b,class", *lines, ""]))
    done = command(
        "fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model", "--label-column", "class",
        "--ignore-column", "id",
    )  # fmt: skip
    assert done.code == 0
    assert wellsvm.load(tmp_path / "model").n_features_in_ == 2


def test_svmlight_indices_begin_at_0_if_0_occurs_or_if_said(command, tmp_path):
    (tmp_path / "rows").write_text("1 0:1 2:1\n-1 1:1\nnan 2:1\n1 0:2\n")
    assert command("fit", "semi-supervised", tmp_path / "rows", "-o", tmp_path / "model").code == 0
    assert wellsvm.load(tmp_path / "model").n_features_in_ == 3
    (tmp_path / "rows").write_text("1 2:1\n-1 1:1\nnan 2:1\n1 2:2\n")
    assert command("fit", "semi-supervised", tmp_path / "rows", "-o", tmp_path / "model", "--zero-based").code == 0
    assert wellsvm.load(tmp_path / "model").n_features_in_ == 3


# ------------------------------------------------------------------ options


@pytest.mark.parametrize(
    "options, parameters",
    [
        (["--gamma", "0.5", "--kernel", "rbf"], {"gamma": 0.5, "kernel": "rbf"}),
        (["--balance", "estimate"], {"balance": "estimate"}),
        (["--balance", "labels", "--loss", "paper"], {"balance": "labels", "loss": "paper"}),
        (["--balance", "none"], {"balance": None}),
        (["--balance", "0.4"], {"balance": 0.4}),
        (["--balance", "0.3,0.6"], {"balance": [0.3, 0.6]}),
        (["--no-refine", "--oracle", "climb", "--seed", "7"], {"refine": False, "oracle": "climb", "random_state": 7}),
        (["--C", "2", "--tol", "0.01", "--max-iter", "9"], {"C": 2.0, "tol": 0.01, "max_iter": 9}),
        (["--search", "local", "--no-safe"], {"search": "local", "safe": False}),
        (["--search", "annealed", "--safe"], {"search": "annealed", "safe": True}),
        (["--cv", "--folds", "2", "--search", "annealed"], {"search": "annealed", "cv": 2}),
    ],
)
def test_options_become_parameters(command, files, tmp_path, options, parameters):
    assert command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "model", *options).code == 0
    told = json.loads(command("info", tmp_path / "model", "--json").out)["parameters"]
    assert {name: told[name] for name in parameters} == parameters


@pytest.mark.parametrize(
    "task, estimator",
    [
        ("semi-supervised", SemiSupervisedSVC()),
        ("multi-instance", MultiInstanceSVC()),
        ("clustering", MaxMarginClustering()),
    ],
)
def test_without_options_the_parameters_are_the_estimators_own(command, files, tmp_path, task, estimator):
    data = {"semi-supervised": "rows.npz", "multi-instance": "bags.npz", "clustering": "plain.csv"}[task]
    assert command("fit", task, files / data, "-o", tmp_path / "model").code == 0
    found = final_estimator(wellsvm.load(tmp_path / "model"))
    assert found.get_params() == estimator.set_params(random_state=0).get_params()


def test_cross_validation_chooses_the_price(command, files, tmp_path, rows, target):
    done = command(
        "fit", "semi-supervised", files / "rows.npz", "-o", tmp_path / "model", "--cv", "--folds", "3", "--no-scale"
    )
    assert done.code == 0
    assert "chosen by cross-validation over 3 folds" in " ".join(done.out.split())
    loaded, reference = wellsvm.load(tmp_path / "model"), SemiSupervisedSVCCV(cv=3, random_state=0)
    assert loaded.C_unlabeled_ == reference.fit(rows[0], target).C_unlabeled_
    same(loaded, reference)


def test_the_unlabeled_marker_is_read_as_the_labels_are(command, files, tmp_path):
    (tmp_path / "rows.csv").write_text("a,label\n1,x\n2,y\n3,?\n4,x\n5,y\n")
    done = command(
        "fit", "semi-supervised", tmp_path / "rows.csv", "-o", tmp_path / "model", "--unlabeled", "?", "--json"
    )
    assert (done.code, json.loads(done.out)["labeled"]) == (0, 4)
    done = command("fit", "semi-supervised", files / "rows.svm", "-o", tmp_path / "model", "--unlabeled", "0", "--json")
    assert (done.code, done.err, json.loads(done.out)["labeled"]) == (0, "", 12)
    assert json.loads(done.out)["warnings"] == []


def test_the_positive_class_can_be_said(command, files, tmp_path):
    assert command("fit", "multi-instance", files / "bags.csv", "-o", tmp_path / "m", "--positive-class", "0").code == 0
    assert final_estimator(wellsvm.load(tmp_path / "m")).positive_class == 0


def test_labels_that_do_not_tell_the_positive_class_need_it_and_it_is_named(command, files, tmp_path):
    text = (files / "bags.csv").read_text().splitlines()
    column = text[0].split(",").index("label")
    lines = [line.split(",") for line in text[1:]]
    for cells in lines:
        cells[column] = "without" if float(cells[column]) == 0 else "with3"
    (tmp_path / "bags.csv").write_text("\n".join([text[0], *(",".join(cells) for cells in lines)]) + "\n")
    how = ("fit", "multi-instance", tmp_path / "bags.csv", "-o", tmp_path / "m")
    refused = command(*how)
    assert refused.code != 0
    assert "--positive-class" in refused.err
    assert "'with3'" in refused.err
    done = command(*how, "--positive-class", "with3")
    assert "positive class with3" in " ".join(done.out.split())
    assert "positive class with3" in " ".join(command("info", tmp_path / "m").out.split())
    assert json.loads(command("info", tmp_path / "m", "--json").out)["positive_class"] == "with3"


def test_cross_validation_chooses_prices_and_context_of_bags(command, files, tmp_path, rows, bag_of):
    how = ("fit", "multi-instance", files / "bags.npz", "-o", tmp_path / "m", "--no-scale")
    done = command(*how, "--cv", "--folds", "3")
    assert done.code == 0
    assert "by cross-validation over 3 folds" in " ".join(done.out.split())
    reference = MultiInstanceSVCCV(cv=3, random_state=0).fit(Bags(rows[0], bag_of), np.arange(20) % 2)
    assert wellsvm.load(tmp_path / "m").best_params_ == reference.best_params_
    assert "leave out --C-positive, --context" in command(*how, "--cv", "--C-positive", "2", "--context", "1").err
    assert command(*how, "--context", "2.5", "--C-negative", "3").code == 0
    loaded = wellsvm.load(tmp_path / "m")
    assert (loaded.context, loaded.C_negative, loaded.C_positive) == (2.5, 3.0, 1.0)


def test_the_positive_class_of_boolean_labels_can_be_said(command, tmp_path):
    polars = pytest.importorskip("polars")
    frame = {"bag": [0, 0, 1, 1, 2, 2, 3, 3], "label": [True, True, False, False] * 2, "a": [0.0, 5, 0, 1, 1, 6, 1, 0]}
    polars.DataFrame(frame).write_parquet(tmp_path / "bags.parquet")
    how = ("fit", "multi-instance", tmp_path / "bags.parquet", "-o", tmp_path / "m", "--positive-class")
    assert command(*how, "false").code == 0
    assert final_estimator(wellsvm.load(tmp_path / "m")).positive_class is False
    assert "neither true nor false" in command(*how, "maybe").err


def test_the_summary_names_what_was_asked_for(command, files, tmp_path):
    done = command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "model")
    told = " ".join(done.out.split())
    for part in ("SemiSupervisedSVC", "rows 60", "features 4", "labeled 12 rows (20.00%)", "classes no, yes"):
        assert part in told
    assert "on the labeled training rows, not on new data" in told


@pytest.mark.parametrize(
    "options, told",
    [
        ([], r"estimated 0\.\d\d \+- 0\.\d\d, found 0\.\d\d, of class yes"),
        (["--balance", "labels"], r"as labeled 0\.50 \+- 0\.14, found 0\.\d\d, of class yes"),
        (["--balance", "0.4"], r"given 0\.40, found 0\.\d\d, of class yes"),
        (["--balance", "none"], r"found 0\.\d\d, of class yes"),
        (["--cv", "--folds", "2"], r"estimated 0\.\d\d \+- 0\.\d\d, found 0\.\d\d, of class yes"),
    ],
)
def test_the_summary_tells_the_class_shares(command, files, tmp_path, options, told):
    done = command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "model", *options)
    assert re.search(rf"^class shares +{told}$", done.out, re.MULTILINE)


def test_shares_and_use_of_unlabeled_rows_are_in_the_json(command, files, tmp_path, rows, target):
    done = command("fit", "semi-supervised", files / "rows.npz", "-o", tmp_path / "model", "--json", "--no-scale")
    summary, model = json.loads(done.out), SemiSupervisedSVC(random_state=0).fit(rows[0], target)
    assert summary["balance"] == model.balance_.tolist()
    assert summary["balance_se"] == model.balance_se_.tolist()
    assert summary["balance_found"] == model.balance_found_.tolist()
    assert summary["used_unlabeled"] is model.used_unlabeled_


def test_the_summary_says_where_unlabeled_rows_were_not_used(command, tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "rows.npz", X=rng.standard_normal((90, 5)), y=np.r_[np.arange(30) % 3, np.full(60, np.nan)])
    line = r"^unlabeled rows +not used; this model is the supervised SVM$"
    for options, said in ((["--C-unlabeled", "0"], True), ([], True), (["--no-safe"], False)):
        done = command("fit", "semi-supervised", tmp_path / "rows.npz", "-o", tmp_path / "model", *options)
        assert bool(re.search(line, done.out, re.MULTILINE)) == said
        assert final_estimator(wellsvm.load(tmp_path / "model")).used_unlabeled_ is not said
        told = r"^class shares +0: estimated .*; 1: estimated .*; 2: estimated "
        assert re.search(told, done.out, re.MULTILINE)


def test_not_converged_is_a_warning_of_one_line_and_in_the_summary(command, files, tmp_path):
    done = command(
        "fit", "semi-supervised", files / "rows.npz", "-o", tmp_path / "model", "--max-iter", "1", "--no-scale", *PLAIN
    )
    assert done.code == 0
    assert done.err.startswith("wellsvm: warning: SemiSupervisedSVC stopped without convergence")
    assert done.err.count("\n") == 1
    assert "NOT converged: max_iter reached" in done.out
    told = json.loads(command("info", tmp_path / "model", "--json").out)
    assert told["converged"] is False


def test_quiet_prints_nothing(command, files, tmp_path):
    assert command("fit", "clustering", files / "plain.csv", "-o", tmp_path / "model", "-q") == (0, "", "")


def test_info_tells_parameters_classes_versions_and_convergence(command, files, tmp_path):
    command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "model", "--C", "3")
    told = " ".join(command("info", tmp_path / "model").out.split())
    for part in ("classes no, yes", "C 3.0", f"numpy {np.__version__}", "kernel linear"):
        assert part in told


def test_info_of_a_model_saved_from_python(command, tmp_path, rows, target):
    wellsvm.save(SemiSupervisedSVC(random_state=0).fit(rows[0], target), tmp_path / "model")
    told = " ".join(command("info", tmp_path / "model").out.split())
    for part in ("SemiSupervisedSVC", "features 4", "classes -1.0, 1.0", "label vector"):
        assert part in told


@pytest.mark.parametrize(
    "options",
    [
        ["--kernel", "cubic"],
        ["--gamma", "wide"],
        ["--balance", "half"],
        ["--balance", "0.1,0.2,0.3"],
        ["--cv", "--C-unlabeled", "0.1"],
        ["--cv", "--no-safe"],
        ["--cv", "--safe"],
        ["--search", "global"],
        ["--folds", "1"],
        ["--no-such-option"],
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(command, files, tmp_path, options):
    done = command("fit", "semi-supervised", files / "rows.csv", "-o", tmp_path / "model", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("wellsvm: ")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_fit_alone_lists_the_tasks(command):
    done = command("fit")
    assert done.code == 0
    for task in ("semi-supervised", "multi-instance", "clustering"):
        assert task in done.out
