"""The campaign in small: what runs on every change. ``make campaign`` is the same with more cases."""

from __future__ import annotations

import os

import pytest

from campaign import files, inputs, large, processes
from campaign.isolation import run_batch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="forks")

SEED = 2
TARGETS = [target for target in inputs.TARGETS if target.estimator is not None]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_bad_input_is_refused_in_words_or_the_result_is_sound(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # checkpoint="auto" is a file of that name
    counts, failures = run_batch([(target, SEED, number) for number in range(300)], inputs.attack)
    assert not failures
    assert counts["refused"] > 100
    assert counts["accepted"] > 30


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svmlight", "csv", "npz", "parquet", "skops"])
def test_damaged_files_are_refused_in_words(form, tmp_path, monkeypatch):
    pytest.importorskip("polars")
    pytest.importorskip("skops")
    monkeypatch.setattr("wellsvm.cli._frames._try_in_another_process", files.without_trial)
    counts, failures = run_batch([(form, SEED, number, str(tmp_path)) for number in range(300)], files.attack)
    assert not failures
    assert counts["refused"] > 100


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
    if number == 1:
        os.abort()
    if number == 2:
        raise KeyError("of the campaign itself")
    if number == 3:
        return "internal error", "words"
    return "refused", ""


def test_the_campaign_sees_crashes_and_goes_on():
    counts, failures = run_batch([0, 1, 2, 3, 4], crash)
    assert counts == {"refused": 2, "crash": 2, "internal error": 1}
    assert [failure["case"] for failure in failures] == [1, 2, 3]


def test_what_counts_as_a_refusal():
    from campaign.outcomes import outcome_of

    def refuse():
        raise ValueError("C must be positive")

    assert outcome_of(refuse) == ("refused", "C must be positive")
    assert outcome_of(lambda: None) == ("accepted", "")
    assert outcome_of(lambda: {}["a"])[0] == "internal error"
    assert outcome_of(lambda: int("a"))[0] == "internal error"  # a ValueError that nobody meant
