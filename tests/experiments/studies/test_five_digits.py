"""The study of README's example: its plan, a run, its table."""

from __future__ import annotations

from experiments.journal import Journal
from experiments.studies.five_digits import DIGIT_STUDIES, METHODS

STUDY = DIGIT_STUDIES["five_digits"]


def test_every_method_is_run_on_every_split_and_the_table_has_their_means(tmp_path):
    trials = STUDY.trials(Journal(tmp_path / "j.jsonl"))
    assert len(trials) == 5 * len(METHODS)
    first = next(trial for trial in trials if trial.identity["method"] == "SVC on the labels")
    assert 0.8 < first.work()["accuracy"] < 1.0
    entries = [{"method": m, "accuracy": a, "cpu_seconds": 0.1} for m in METHODS for a in (0.5, 0.7)]
    assert "0.600" in STUDY.table(entries, "accuracy").splitlines()[2]
