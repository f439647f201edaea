"""The runner: results are kept as they come, failures are told, what is there is not run again."""

from __future__ import annotations

from functools import partial

import joblib
import pytest

from experiments.journal import Journal
from experiments.runner import Trial, follow, left, run


def work(k: int) -> dict:
    if k == 3:
        raise ValueError("three\nis\nbad " + "x" * 500)
    return {"value": k**2}


@pytest.fixture
def trials(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    return [Trial(journal, {"k": k}, partial(work, k), {"about": "squares"}) for k in range(5)]


def test_entries_hold_identity_facts_and_results(trials):
    entries = list(run(trials))
    assert entries[2] == {"k": 2, "about": "squares", "value": 4}
    assert entries == Journal(trials[0].journal.path).entries
    assert trials[2].result == entries[2]


def test_a_failure_is_one_short_line_and_all_that_is_left(trials):
    error = list(run(trials))[3]["error"]
    assert error.startswith("ValueError: three is bad x")
    assert len(error) < 220
    assert left(trials) == [trials[3]]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_any_number_of_processes_gives_the_same(trials, backend):
    with joblib.parallel_config(backend):
        list(run(trials, jobs=2))
    assert [trial.result["value"] for trial in trials if trial is not trials[3]] == [0, 1, 4, 16]


def test_with_one_job_a_trial_is_asked_for_after_the_entry_of_the_one_before(trials):
    journal = trials[0].journal

    def asked():
        for k, trial in enumerate(trials):
            assert len(journal.entries) == k
            yield trial

    assert len(list(run(asked()))) == 5


def test_what_is_done_and_what_failed_is_told(trials, capsys):
    to_do = trials[1:]
    failed = follow(run(to_do), len(to_do), len(trials), lambda entry: f"trial {entry['k']}")
    assert [line[:8] for line in failed] == ["trial 3:"]
    told = capsys.readouterr().err
    assert "5 of 5 runs" in told
    assert "last: trial 4" in told
    assert "failed: trial 3: ValueError" in told
