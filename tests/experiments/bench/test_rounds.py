"""Rounds of measurements: fresh processes, ratios, what is skipped, and how a stopped run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.bench import child, process, rounds
from experiments.bench.competitors import ALL_LABELS, COMPETITORS, Competitor
from experiments.bench.contest_data import DataSource, make
from experiments.bench.rounds import missing_rounds, trials_of
from experiments.bench.workloads import Contest, Workload
from experiments.journal import Entry, Journal
from experiments.runner import run

METHODS = ("yardstick", "a", "b")


def workload(*sizes: int) -> Workload:
    contests = tuple(
        Contest("made up", DataSource("text", {"n": n, "n_features": 50, "nnz_per_row": 5.0}), METHODS) for n in sizes
    )
    return Workload("text", "made up", small=contests, full=contests)


def measure_all(path: Path, *sizes: int, repeats: int = 1) -> list[Entry]:
    """Measure what the journal lacks; all that it has then."""
    journal = Journal(path)
    list(run(trials_of(missing_rounds([workload(*sizes)], "small", journal, repeats), journal)))
    return Journal(path).entries


@pytest.fixture
def measured(monkeypatch):
    """Measurements asked for, of which none is made: a fit takes as many seconds as were made before it."""
    asked: list[str] = []

    def measure(method, data, settings, seconds):
        assert data.exists()
        asked.append(method)
        return {"wall": float(len(asked)), "cpu": 1.0}

    for method in METHODS:
        monkeypatch.setitem(COMPETITORS, method, Competitor())
    monkeypatch.setattr(rounds, "measure", measure)
    return asked


def test_rounds_are_interleaved_and_ratios_are_to_the_yardstick_of_the_same_round(tmp_path, measured):
    entries = measure_all(tmp_path / "r.jsonl", 20, repeats=2)
    assert measured == ["yardstick", "a", "b"] * 2
    assert [entry["ratio"] for entry in entries] == [1, 2 / 1, 3 / 1, 1, 5 / 4, 6 / 4]
    assert all(entry["environment"]["backend"] for entry in entries)
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]  # the data are gone


def test_a_stopped_run_goes_on_and_measures_the_yardstick_beside_what_was_missing(tmp_path, measured, monkeypatch):
    path, whole = tmp_path / "r.jsonl", rounds.measure

    def stopped(method, *rest):
        if method == "b":
            raise KeyboardInterrupt
        return whole(method, *rest)

    monkeypatch.setattr(rounds, "measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        measure_all(path, 20, 30)
    with path.open("a") as file:
        file.write('{"half a rec')  # what a kill in the middle of a write leaves
    measured.clear()
    monkeypatch.setattr(rounds, "measure", whole)
    entries = measure_all(path, 20, 30)
    assert measured == ["yardstick", "b", "yardstick", "a", "b"]
    assert {(entry["n"], entry["method"]) for entry in entries} == {(n, m) for n in (20, 30) for m in METHODS}
    measured.clear()
    measure_all(path, 20, 30)
    assert measured == []


def test_another_environment_is_measured_anew(tmp_path, measured, monkeypatch):
    measure_all(tmp_path / "r.jsonl", 20)
    monkeypatch.setattr(rounds, "environment", lambda: {"backend": "other"})
    measure_all(tmp_path / "r.jsonl", 20)
    assert measured == ["yardstick", "a", "b"] * 2


def test_a_method_that_met_the_time_limit_is_not_tried_on_larger_data(tmp_path, measured, monkeypatch):
    quick = rounds.measure

    def measure(method, *rest):
        return quick(method, *rest) if method != "a" else measured.append("a") or {"skipped": "over 60 s"}

    monkeypatch.setattr(rounds, "measure", measure)
    monkeypatch.setitem(COMPETITORS, "b", Competitor(max_rows=25))
    entries = measure_all(tmp_path / "r.jsonl", 20, 30, repeats=2)
    assert measured.count("a") == 1
    words = [(entry["n"], entry["method"], entry["skipped"]) for entry in entries if "skipped" in entry]
    expected = [(20, "a", "over 60 s"), (30, "a", "over 60 s, n=20"), (30, "b", "not tried beyond 25 rows")]
    assert sorted(set(words)) == expected


def test_a_competitor_that_is_not_installed_is_skipped_and_tried_again(tmp_path, measured, monkeypatch):
    def missing(data, settings):
        raise ModuleNotFoundError("No module named 'rival'", name="rival")

    monkeypatch.setitem(COMPETITORS, "a", Competitor(missing, ALL_LABELS))
    word = child.measure("a", make(DataSource("gaussians", {"n": 30, "labels": 10})), {})
    assert word == {"skipped": "not installed: rival"}
    quick = rounds.measure
    monkeypatch.setattr(rounds, "measure", lambda method, *rest: word if method == "a" else quick(method, *rest))
    entries = measure_all(tmp_path / "r.jsonl", 20)
    assert [entry.get("ratio") for entry in entries] == [1, None, 2]
    monkeypatch.setattr(rounds, "measure", quick)
    measured.clear()
    measure_all(tmp_path / "r.jsonl", 20)
    assert measured == ["yardstick", "a"]


@pytest.mark.parametrize(
    "code, word",
    [
        ("import time; time.sleep(60)", "over 0.5 s"),
        ("raise ValueError('no such thing')", "failed: ValueError: no such thing"),
        ("import os; os._exit(3)", "failed: ended with exit code 3"),
    ],
)
def test_processes_that_hang_or_fail_are_skipped_with_a_word(tmp_path, monkeypatch, code, word):
    monkeypatch.setitem(COMPETITORS, "bad", Competitor(code=code))
    assert process.measure("bad", tmp_path / "none", {}, seconds=0.5 if "sleep" in code else 60) == {"skipped": word}


def test_threads_are_pinned(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    code = "import json, os; print(json.dumps({'threads': os.environ['OMP_NUM_THREADS']}))"
    for threads in (1, 2):
        monkeypatch.setitem(COMPETITORS, "asks", Competitor(code=code, threads=threads))
        assert process.measure("asks", tmp_path / "none", {}, seconds=60) == {"threads": str(threads)}


def test_extra_memory_is_the_highest_during_the_fit(tmp_path, monkeypatch):
    told = {"wall": 1.0, "cpu": 1.0, "began": 10.0, "ended": 11.0, "rss_before": 100, "rss_after": 150}
    samples = [(9.9, 900), (10.5, 400), (10.9, 300), (11.1, 800)]
    monkeypatch.setattr(process, "_watched", lambda *arguments: (dict(told), samples))
    assert process.measure("KMeans", tmp_path, {}, 60.0) == {"wall": 1.0, "cpu": 1.0, "extra_bytes": 300}


def test_entries_tell_what_was_measured(tmp_path, measured):
    for entry in measure_all(tmp_path / "r.jsonl", 20):
        assert {"profile", "workload", "case", "method", "repeat", "n", "settings"} <= set(entry)
