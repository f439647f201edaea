"""The campaign in small: what runs on every change. ``make campaign`` is the same with more cases."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from campaign import files, inputs, large, processes
from campaign.isolation import ask_for_memory_once, run_batch
from experiments.journal import Journal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks")

SEED, CASES = 2, 300
ROOT = Path(__file__).parents[2]
BY_POLARS = ("csv", "parquet", "convert")


@pytest.mark.slow
@pytest.mark.parametrize("target", inputs.TARGETS, ids=lambda target: target.title)
def test_bad_input_is_refused_in_words_or_the_result_is_sound(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # checkpoint="auto" is a file of that name
    cases = [(target, SEED, number) for number in range(CASES)]
    counts, failures = run_batch(cases, inputs.attack, ask_for_memory_once)
    assert not failures
    assert counts["refused"] > CASES / 3
    assert counts["accepted"] > CASES / 10


@pytest.mark.slow
@pytest.mark.parametrize("form", [form for form in files.FORMS if form not in BY_POLARS])
def test_damaged_files_are_refused_in_words(form, tmp_path):
    pytest.importorskip("skops")
    files.make_good(form)
    cases = [(form, SEED, number, str(tmp_path)) for number in range(CASES)]
    counts, failures = run_batch(cases, files.attack, files.prepare, confirm=True)
    assert not failures
    assert counts["refused"] > CASES / 3


@pytest.mark.slow
def test_damaged_files_that_polars_reads_are_refused_in_words(tmp_path):
    """By the program itself: polars hangs in a process that was forked after other tests have used it."""
    pytest.importorskip("polars")
    classes = [f"files: {form}" for form in BY_POLARS]
    command = ["--only", *classes, "--share", str(CASES / 100_000), "--seed", str(SEED), "--journal"]
    done = subprocess.run(
        [sys.executable, "-m", "campaign", *command, str(tmp_path / "journal.jsonl")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT), *sys.path])},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    journal = Journal(tmp_path / "journal.jsonl")
    assert {entry["class"]: sum(entry["counts"].values()) for entry in journal.entries} == dict.fromkeys(classes, CASES)


@pytest.mark.slow
@pytest.mark.parametrize("attack", [processes.kill, processes.full_disk, processes.interrupt, processes.little_memory])
def test_a_process_at_work_survives(attack, tmp_path):
    pytest.importorskip("skops")
    told = [attack((SEED, number, str(tmp_path))) for number in range(5)]
    assert {kind for kind, _ in told} <= {"accepted", "refused"}, told


@pytest.mark.slow
def test_a_thousand_classes():
    assert large.thousand_classes(None) == ("accepted", "")


def crash(number):
    """Attacks that must be told apart."""
    if number == 1 and os.environ.get("GUARD", "out") == "out":
        os.abort()
    if number == 2:
        raise KeyError("of the campaign itself")
    if number == 3:
        return "internal error", "words"
    return "refused", ""


def test_the_campaign_sees_crashes_and_goes_on(monkeypatch):
    counts, failures = run_batch([0, 1, 2, 3, 4], crash)
    assert counts == {"refused": 2, "crash": 2, "internal error": 1}
    assert [failure["case"] for failure in failures] == [1, 2, 3]
    monkeypatch.setenv("GUARD", "in")
    counts, _ = run_batch([0, 1, 2, 3, 4], crash, prepare=lambda: os.environ.update(GUARD="out"), confirm=True)
    assert counts == {"refused": 3, "crash": 1, "internal error": 1}


def test_what_counts_as_a_refusal():
    from campaign.outcomes import outcome_of

    def refuse():
        raise ValueError("C must be positive")

    assert outcome_of(refuse) == ("refused", "C must be positive")
    assert outcome_of(lambda: None) == ("accepted", "")
    assert outcome_of(lambda: {}["a"])[0] == "internal error"
    assert outcome_of(lambda: int("a"))[0] == "internal error"  # a ValueError that nobody meant
