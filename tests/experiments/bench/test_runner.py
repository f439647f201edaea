"""The runner: fresh processes, ratios, what is skipped, and how a stopped run goes on."""

from __future__ import annotations

import json
import sys

import pytest

pytest.importorskip("psutil")

from wellsvm._journal import read
from wellsvm.bench import child, process, runner
from wellsvm.bench.adapters import ADAPTERS, ALL_LABELS, Adapter
from wellsvm.bench.problems import Source, make
from wellsvm.bench.runner import Runner
from wellsvm.bench.workloads import Case, Workload

METHODS = ("yardstick", "a", "b")


def workload(*sizes: int) -> Workload:
    cases = tuple(
        Case("made up", Source("text", {"n": n, "n_features": 50, "nnz_per_row": 5.0}), METHODS) for n in sizes
    )
    return Workload("text", "made up", small=cases, full=cases)  # fmt: skip


@pytest.fixture
def measured(monkeypatch):
    """Measurements asked for, of which none is made: a fit takes as many seconds as were made before it."""
    asked: list[str] = []

    def measure(method, problem, settings, seconds):
        assert problem.exists()
        asked.append(method)
        return {"wall": float(len(asked)), "cpu": 1.0}

    for method in METHODS:
        monkeypatch.setitem(ADAPTERS, method, Adapter())
    monkeypatch.setattr(runner, "measure", measure)
    return asked


def test_rounds_are_interleaved_and_ratios_are_to_the_yardstick_of_the_same_round(tmp_path, measured):
    Runner("small", tmp_path / "r.jsonl", repeats=2).run([workload(20)])
    assert measured == ["yardstick", "a", "b"] * 2
    records = read(tmp_path / "r.jsonl")
    assert [record["ratio"] for record in records] == [1, 2 / 1, 3 / 1, 1, 5 / 4, 6 / 4]
    assert all(record["environment"]["backend"] for record in records)
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]  # the data are gone


def test_a_stopped_run_goes_on_and_measures_the_yardstick_beside_what_was_missing(tmp_path, measured, monkeypatch):
    path, whole = tmp_path / "r.jsonl", runner.measure

    def stopped(method, *rest):
        if method == "b":
            raise KeyboardInterrupt
        return whole(method, *rest)

    monkeypatch.setattr(runner, "measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        Runner("small", path, repeats=1).run([workload(20, 30)])
    with path.open("a") as file:
        file.write('{"half a rec')  # what a kill in the middle of a write leaves
    measured.clear()
    monkeypatch.setattr(runner, "measure", whole)
    Runner("small", path, repeats=1).run([workload(20, 30)])
    assert measured == ["yardstick", "b", "yardstick", "a", "b"]
    assert {(r["n"], r["method"]) for r in read(path)} == {(n, m) for n in (20, 30) for m in METHODS}
    measured.clear()
    Runner("small", path, repeats=1).run([workload(20, 30)])
    assert measured == []


def test_another_environment_is_measured_anew(tmp_path, measured, monkeypatch):
    Runner("small", tmp_path / "r.jsonl", repeats=1).run([workload(20)])
    monkeypatch.setattr(runner, "environment", lambda: {"backend": "other"})
    Runner("small", tmp_path / "r.jsonl", repeats=1).run([workload(20)])
    assert measured == ["yardstick", "a", "b"] * 2


def test_a_method_that_met_the_time_limit_is_not_tried_on_larger_data(tmp_path, measured, monkeypatch):
    quick = runner.measure

    def measure(method, *rest):
        return quick(method, *rest) if method != "a" else measured.append("a") or {"skipped": "over 60 s"}

    monkeypatch.setattr(runner, "measure", measure)
    monkeypatch.setitem(ADAPTERS, "b", Adapter(max_rows=25))
    Runner("small", tmp_path / "r.jsonl", repeats=2).run([workload(20, 30)])
    assert measured.count("a") == 1
    words = [(r["n"], r["method"], r["skipped"]) for r in read(tmp_path / "r.jsonl") if "skipped" in r]
    expected = [(20, "a", "over 60 s"), (30, "a", "over 60 s, n=20"), (30, "b", "not tried beyond 25 rows")]
    assert sorted(set(words)) == expected


def test_a_competitor_that_is_not_installed_is_skipped_and_tried_again(tmp_path, measured, monkeypatch):
    def missing(problem, settings):
        raise ModuleNotFoundError("No module named 'rival'", name="rival")

    monkeypatch.setitem(ADAPTERS, "a", Adapter(missing, ALL_LABELS))
    word = child.measure("a", make(Source("gaussians", {"n": 30, "labels": 10})), {})
    assert word == {"skipped": "not installed: rival"}
    quick = runner.measure
    monkeypatch.setattr(runner, "measure", lambda method, *rest: word if method == "a" else quick(method, *rest))
    Runner("small", tmp_path / "r.jsonl", repeats=1).run([workload(20)])
    assert [record.get("ratio") for record in read(tmp_path / "r.jsonl")] == [1, None, 2]
    monkeypatch.setattr(runner, "measure", quick)
    measured.clear()
    Runner("small", tmp_path / "r.jsonl", repeats=1).run([workload(20)])
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
    monkeypatch.setitem(ADAPTERS, "bad", Adapter(code=code))
    assert process.measure("bad", tmp_path / "none", {}, seconds=0.5 if "sleep" in code else 60) == {"skipped": word}


def test_threads_are_pinned(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    code = "import json, os; print(json.dumps({'threads': os.environ['OMP_NUM_THREADS']}))"
    for threads in (1, 2):
        monkeypatch.setitem(ADAPTERS, "asks", Adapter(code=code, threads=threads))
        assert process.measure("asks", tmp_path / "none", {}, seconds=60) == {"threads": str(threads)}


def test_extra_memory_is_the_highest_during_the_fit(tmp_path, monkeypatch):
    told = {"wall": 1.0, "cpu": 1.0, "began": 10.0, "ended": 11.0, "rss_before": 100, "rss_after": 150}
    samples = [(9.9, 900), (10.5, 400), (10.9, 300), (11.1, 800)]
    monkeypatch.setattr(process, "_watch", lambda *arguments: (dict(told), samples))
    assert process.measure("KMeans", tmp_path, {}, 60.0) == {"wall": 1.0, "cpu": 1.0, "extra_bytes": 300}


def test_without_psutil_the_extra_is_named_before_any_work(tmp_path, measured, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(ImportError, match=r"pip install 'wellsvm\[bench\]'"):
        Runner("small", tmp_path / "r.jsonl").run([workload(20)])
    assert measured == []


def test_records_are_plain_json_lines(tmp_path, measured):
    Runner("small", tmp_path / "r.jsonl", repeats=1).run([workload(20)])
    for line in (tmp_path / "r.jsonl").read_text().splitlines():
        assert {"profile", "workload", "case", "method", "repeat", "n", "settings"} <= set(json.loads(line))
