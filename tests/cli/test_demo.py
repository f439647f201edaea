"""The command line: the demo's figures, its picture, and how it fails."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

pytest.importorskip("typer")
pytest.importorskip("rich")

from wellsvm import cli
from wellsvm.cli import demo as demo_module


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Two pairs of digits and two numbers of labels, in an empty folder."""
    monkeypatch.setattr(demo_module, "PAIRS", ((1, 8), (8, 9)))
    monkeypatch.setattr(demo_module, "LABEL_COUNTS", (8, 16))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch, capsys, *arguments: str) -> tuple[int, str, str]:
    """Exit code and what was printed."""
    monkeypatch.setattr(sys, "argv", ["wellsvm", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


def test_unlabeled_rows_lift_accuracy_on_held_out_rows(small):
    trials = list(demo_module.run_trials(load_digits(), splits=2))
    assert len(trials) == 2 * 2 * 2
    accuracy = dict(zip(demo_module.METHODS, demo_module._accuracies(trials, 8).mean(axis=0)))
    assert accuracy["wellsvm"] > accuracy["supervised SVM"] + 0.02


def test_every_method_gets_the_same_rows_and_labels(small, monkeypatch):
    seen = []

    class Spy:
        def fit(self, X, y):
            seen.append((X, y))
            return self

        def predict(self, X):
            return np.zeros(len(X))

    methods = {name: lambda gamma, seed: Spy() for name in ("one", "other")}
    monkeypatch.setattr(demo_module, "METHODS", methods)
    trials = list(demo_module.run_trials(load_digits(), splits=1))
    assert len(seen) == 2 * len(trials) == 8
    for (X, y), (other_X, other_y), trial in zip(seen[::2], seen[1::2], trials):
        np.testing.assert_array_equal(X, other_X)
        np.testing.assert_array_equal(y, other_y)
        assert np.count_nonzero(y >= 0) == trial.n_labels
        assert trial.right.shape == (2, trial.rows.size)


def test_trials_depend_on_the_seed_alone(small):
    first, again = (list(demo_module.run_trials(load_digits(), 1, seed=3)) for _ in range(2))
    for a, b in zip(first, again):
        assert (a.pair, a.n_labels) == (b.pair, b.n_labels)
        for x, y in zip(a[2:], b[2:]):
            np.testing.assert_array_equal(x, y)


def test_demo_prints_a_table_and_saves_the_picture_whole(small, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    code, out, err = run(monkeypatch, capsys, "demo", "--splits", "1", "--output", "picture.png")
    assert (code, err) == (0, "")
    assert "Accuracy on held-out rows" in out
    for name in ("SelfTrainingClassifier", "LabelSpreading", "SemiSupervisedSVC"):
        assert name in out
    assert "1 random split each" in " ".join(out.split())
    assert "picture.png" in out
    assert [path.name for path in small.iterdir()] == ["picture.png"]
    assert (small / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_demo_works_without_matplotlib(small, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    code, out, _ = run(monkeypatch, capsys, "demo", "--splits", "1")
    assert code == 0
    assert "pip install 'wellsvm[plot]'" in out
    assert list(small.iterdir()) == []


def test_a_failing_save_leaves_the_old_picture_and_nothing_else(small, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    (small / "picture.png").write_text("old")

    class Broken:
        def savefig(self, file, **options):
            file.write(b"half")
            raise OSError("disk full")

    monkeypatch.setattr(demo_module, "_figure", lambda *_: Broken())
    code, _, err = run(monkeypatch, capsys, "demo", "--splits", "1", "--output", "picture.png")
    assert code == 1
    assert err == "wellsvm: OSError: disk full\n"
    assert [path.name for path in small.iterdir()] == ["picture.png"]
    assert (small / "picture.png").read_text() == "old"


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--output", "missing-folder/picture.png"),
        ("demo", "--output", "."),
        ("demo", "--output", "picture.unknown"),
        ("demo", "--splits", "0"),
        ("demo", "--no-such-option"),
        ("no-such-command",),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2_before_any_work(small, monkeypatch, capsys, arguments):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo_module, "load_digits", lambda: pytest.fail("work was begun"))
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("wellsvm: ")
    assert err.count("\n") == 1
    assert list(small.iterdir()) == []


def test_interrupt_is_one_line(small, monkeypatch, capsys):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "run_trials", interrupt)
    code, _, err = run(monkeypatch, capsys, "demo")
    assert code == 130
    assert err.split() == ["wellsvm:", "interrupted"]
    assert list(small.iterdir()) == []


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_the_commands(monkeypatch, capsys, arguments):
    code, out, _ = run(monkeypatch, capsys, *arguments)
    assert code == 0
    assert "demo" in out
    assert "versions" in out


def test_versions(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "versions")
    assert code == 0
    assert "scikit-learn" in out


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_says_what_to_install(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from wellsvm.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == f"wellsvm: {cli.MISSING_EXTRA}"
    assert "Traceback" not in done.stderr


def test_the_package_does_not_need_the_extra():
    code = "import sys; sys.modules['typer'] = sys.modules['rich'] = sys.modules['matplotlib'] = None; import wellsvm"
    subprocess.run([sys.executable, "-c", code], check=True)
