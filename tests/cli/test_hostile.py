"""Names that steer terminals, cells that run in spreadsheets, paths that are expanded twice, interrupts, full disks."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

import wellsvm
from wellsvm import SemiSupervisedSVC
from wellsvm._escape import as_cell, shown

pl = pytest.importorskip("polars")
pytest.importorskip("skops")

ESCAPE, FORMULA = "\x1b[2J\x1b]0;owned\x07", "=cmd|' /C calc'!A0"
FORGED = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture
def hostile(tmp_path, rows):
    """A table whose classes are an escape sequence and a formula."""
    X, y = rows
    named = [None if k > 20 else ESCAPE if label > 0 else FORMULA for k, label in enumerate(y)]
    path = tmp_path / "rows.csv"
    pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(label=pl.Series(named)).write_csv(path)
    return path


def test_escape_sequences_reach_no_terminal(command, hostile, tmp_path):
    model = tmp_path / "model.skops"
    told = [
        command("fit", "semi-supervised", hostile, "-o", model),
        command("info", model),
        command("predict", model, hostile, "-o", tmp_path / "out.csv"),
        command("predict", model, tmp_path / f"no{ESCAPE}such.csv"),
        command("fit", "semi-supervised", hostile, "-o", model, "--label-column", ESCAPE),
    ]
    assert [done.code for done in told] == [0, 0, 0, 1, 1] or told[-1].code == 2
    for done in told:
        assert not any(character in done.out + done.err for character in FORGED), done
    assert "\\x1b[2J" in told[0].out + told[1].out + told[2].err


def test_cells_that_a_spreadsheet_would_run_are_quoted(command, hostile, tmp_path):
    model, output = tmp_path / "model.skops", tmp_path / "out.csv"
    command("fit", "semi-supervised", hostile, "-o", model)
    assert command("predict", model, hostile, "-o", output).code == 0
    for frame in (pl.read_csv(output), pl.read_csv(command("predict", model, hostile).out.encode())):
        assert set(frame["prediction"].to_list()) <= {ESCAPE, f"'{FORMULA}"}
    command("predict", model, hostile, "-o", tmp_path / "out.parquet")
    assert FORMULA in pl.read_parquet(tmp_path / "out.parquet")["prediction"].to_list()


def test_what_counts_as_a_formula():
    assert [as_cell(text) for text in ("=1", "+a", "-a", "@a", "\ta", "a=1", "-1", "+1.5", "")] == [
        "'=1", "'+a", "'-a", "'@a", "'\ta", "a=1", "-1", "+1.5", "",
    ]  # fmt: skip
    assert shown("a\x1b[0m\nb\x85\u202e\u2028é") == "a\\x1b[0m\\nb\\x85\\u202e\\u2028é"


@pytest.mark.parametrize("name", ["rows.npz", "rows.csv", "rows.parquet", "rows.svm"])
def test_a_tilde_is_not_expanded_a_second_time(command, files, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    for folder in (home, tmp_path / "~"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / name).write_bytes(b"not this one")
    (tmp_path / "~" / name).write_bytes((files / name).read_bytes())
    assert command("fit", "semi-supervised", f"~/{name}", "-o", "model.skops", "-q").code == 0


def test_a_star_in_a_name_is_a_star(command, files, tmp_path):
    (tmp_path / "a*.csv").write_bytes((files / "rows.csv").read_bytes())
    (tmp_path / "ab.csv").write_bytes(b"x\n1\n")
    assert command("fit", "semi-supervised", tmp_path / "a*.csv", "-o", tmp_path / "m.skops", "-q").code == 0


def test_a_reader_that_crashes_takes_nobody_along(command, files, tmp_path, monkeypatch):
    from wellsvm.cli import _frames

    monkeypatch.setattr(_frames, "TRIAL", "import os; os.abort()")
    done = command("fit", "semi-supervised", files / "rows.parquet", "-o", tmp_path / "m.skops")
    assert done.code == 1
    assert "the reader crashed" in done.err


def test_notes_that_fit_never_wrote(command, tmp_path, rows):
    X, y = rows
    path = tmp_path / "m.skops"
    wellsvm.save(SemiSupervisedSVC(random_state=0).fit(X, np.where(np.arange(60) < 20, y, np.nan)), path)
    for training in ({}, {"data": 3}, [1], {"data": "d", "rows": "x"}, "text", 7):
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        mark = json.loads(members["wellsvm.json"])
        mark["notes"] = {"training": training, "data": training}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, json.dumps(mark) if name == "wellsvm.json" else content)
        done = command("info", path)
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npy"])
def test_a_full_disk_is_told_and_the_old_file_kept(command, files, tmp_path, suffix):
    model, output = tmp_path / "m.skops", tmp_path / f"out{suffix}"
    command("fit", "semi-supervised", files / "rows.csv", "-o", model, "-q")
    output.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        done = command("predict", model, files / "rows.csv", "-o", output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert done.code == 1
    assert done.err.startswith("wellsvm: ")
    assert "Error" not in done.err.split(":")[1]
    assert output.read_bytes() == b"old"
    assert not list(tmp_path.glob(".wellsvm-*"))


# An interrupt before `main` has taken over is Python's to answer: the clock begins with the first module it imports.
TELLS_ITS_FIRST_IMPORT = """
import sys, wellsvm.cli
class Tell:
    def find_spec(self, name, path=None, target=None):
        if name == "rich":
            print("ready", flush=True)
sys.meta_path.insert(0, Tell())
wellsvm.cli.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.0, 0.1])  # a fast machine has imported all after 0.3 s, and may be done
def test_an_interrupt_while_modules_are_imported_ends_quietly(after):
    with subprocess.Popen(
        [sys.executable, "-c", TELLS_ITS_FIRST_IMPORT, "versions"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "wellsvm: interrupted"


# As the console script begins; an interrupt comes with the import of some module that is not ours.
INTERRUPTS_AN_IMPORT = """
import os, sys
class Interrupt:
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        if not name.startswith("wellsvm"):
            Interrupt.left -= 1
            if Interrupt.left < 0:
                os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Interrupt())
from wellsvm.cli import main
main()
"""


@pytest.mark.parametrize("number", [0, 1, 2, 10, 100])
def test_an_interrupt_of_any_import_ends_quietly(number):
    command = [sys.executable, "-c", INTERRUPTS_AN_IMPORT, str(number), "versions"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr.strip()) == (130, "wellsvm: interrupted")
