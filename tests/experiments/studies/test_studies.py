"""The studies: every method runs, committed results are those of their trials, pages are filled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import RESULTS
from experiments.journal import Journal
from experiments.runner import run
from experiments.studies import bag_accuracy, bag_costs, choices, cluster_accuracy
from experiments.studies.choices import CHOICES
from experiments.studies.command import STUDIES
from experiments.studies.parallel_descent import epochs
from wellsvm.datasets import make_digit_bags, make_sparse_text

# Their journals hold what there was time for.
UNFINISHED = (
    "large",
    "few_labels",
    "defaults",
    "weak_labels",
    "clustering_sparse",
    "clustering_uci",
    "cluster_objectives",
    "constants",
    "objectives",
    "fit_costs",
    "safety_rules",
    "stress",
)


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A data folder with one set of every kind that the studies know."""
    folder = tmp_path / "data"
    folder.mkdir()
    y = np.repeat([-1, 1], 40)
    np.savez(folder / "rows.npz", X=np.random.default_rng(0).standard_normal((80, 3)) + 0.8 * y[:, None], y=y)
    bags = make_digit_bags(n_bags=40, bag_size=4, random_state=0)
    np.savez(folder / "bags.npz", X=bags.X, bag=bags.groups, y=bags.y)
    monkeypatch.setenv("WELLSVM_DATA", str(folder))
    return folder


@pytest.mark.parametrize("name", STUDIES)
def test_committed_results_are_those_of_the_trials(name):
    journal = Journal(RESULTS / f"{name}.jsonl")
    identities = [trial.identity for trial in STUDIES[name].trials(journal)]
    found = [trial.result for trial in STUDIES[name].trials(journal)]
    methods = {identity["method"] for identity in identities}
    assert {entry["method"] for entry in journal.entries} <= methods
    assert len(journal.entries) == sum(result is not None for result in found)
    assert name in UNFINISHED or len(journal.entries) == len(identities)
    figures = {"accuracy", "adjusted_rand", "error_percent", "least", "objective", "cpu", "clusters", "skipped"}
    assert all(figures & set(entry) for entry in journal.entries)
    of_methods = name.startswith("clustering") or name in (
        "few_labels",
        "defaults",
        "five_digits",
        "constants",
        "kernel_search",
        "kernel_safety",
        "objectives",
        "cluster_objectives",
        "fit_costs",
        "bag_costs",
        "safety_rules",
        "far_columns",
        "stress",
    )
    assert of_methods or "| **mean**" in STUDIES[name].table(journal.entries, "accuracy")


@pytest.mark.parametrize("name", CHOICES)
def test_every_method_of_a_choice_runs(name, data, monkeypatch):
    choice = CHOICES[name]
    for method in choice.methods:
        facts = choices._run(name, "rows", 0.2, 0, method)
        assert 0 <= facts["accuracy"] <= 1
        assert facts["seconds"] >= 0


def test_bags_are_scored_on_every_fold(data, monkeypatch, tmp_path):
    monkeypatch.setattr(bag_accuracy, "SETS", ("bags",))
    monkeypatch.setattr(bag_accuracy, "REPEATS", 1)
    monkeypatch.setattr(bag_accuracy, "GRID", bag_accuracy.grid_of((1.0,), (1.0, 10.0), (1.0,)))
    (study,) = bag_accuracy.BAG_STUDIES.values()
    entries = list(run(study.trials(Journal(tmp_path / "j.jsonl"))))
    assert not [entry["error"] for entry in entries if "error" in entry]
    assert len(entries) == 10 * 5, "the relaxation alone is for Musk1"
    assert np.mean([entry["accuracy"] for entry in entries]) > 0.6
    assert study.table(entries, "accuracy").splitlines()[2].startswith("| bags     |   10 |")


def test_every_baseline_for_bags_is_timed_beside_ours(data, monkeypatch, tmp_path):
    monkeypatch.setattr(bag_costs, "SETS", ("bags",))
    (study,) = bag_costs.BAG_COST_STUDIES.values()
    (entry,) = run(study.trials(Journal(tmp_path / "j.jsonl")))
    assert set(entry["cpu"]) == {bag_costs.OURS, *bag_costs.BASELINES}
    assert entry["instances"] == 36 * 4
    assert study.table([entry], "accuracy").count("/ ours") == len(bag_costs.BASELINES)


def test_no_baseline_for_bags_takes_ten_times_as_long_as_ours():
    for entry in Journal(RESULTS / "bag_costs.jsonl").entries:
        assert max(entry["cpu"].values()) <= 10 * entry["cpu"][bag_costs.OURS]


def test_digits_are_clustered(data):
    for method in cluster_accuracy.DIGIT_METHODS:
        facts = cluster_accuracy._run_digits("digits", 4, method, 0)
        assert facts["adjusted_rand"] > 0.2


def test_sparse_rows_are_clustered_in_a_process_of_its_own(monkeypatch):
    source = cluster_accuracy.DataSource("text", {"n": 200, "n_features": 500, "nnz_per_row": 20.0})
    monkeypatch.setitem(cluster_accuracy.SPARSE, "tiny", source)
    facts = cluster_accuracy._run_sparse("tiny", "MaxMarginClustering, C=1")
    assert facts["accuracy"] >= 0.5
    assert facts["extra_mib"] >= 0
    committed = Journal(RESULTS / "clustering_sparse.jsonl").entries[0]
    assert set(facts) | {"set", "method", "setting"} == set(committed)


def test_pages_are_filled_from_the_journals(experiment, tmp_path):
    (tmp_path / "page.md").write_text(
        "<!-- study text_tol -->\n<!-- end -->\n<!-- study text_tol seconds -->\n<!-- end -->\n"
    )
    code, out, err = experiment("study", "text_tol", "--report-only", "--out", str(RESULTS), "--fill", "page.md")
    assert code == 0, err
    assert "tol=0.001" in out
    assert (tmp_path / "page.md").read_text().count("| **mean**") == 4


def test_a_study_is_run_once(experiment, data, monkeypatch, tmp_path):
    few = replace(CHOICES["text_tol"], sets=("rows",), n_splits=2, labels=(20,))
    monkeypatch.setitem(CHOICES, "text_tol", few)
    monkeypatch.setitem(STUDIES, "text_tol", STUDIES["text_tol"]._replace(sets=("rows", "gone")))
    code, out, err = experiment("study", "text_tol")
    assert code == 0, err
    assert "text_tol: left out, as the data are not there: gone" in err
    assert "6 of 6 runs" in err
    assert "| rows     |     20 |" in out
    again = experiment("study", "text_tol")
    assert again[:2] == (0, out)
    assert "runs" not in again[2]


def test_an_unknown_study_is_told_with_the_known_ones(experiment):
    code, _, err = experiment("study", "nope")
    assert code == 2
    assert "study 'nope' is not one of text, text_init" in err


def test_halves_that_are_averaged_need_more_epochs():
    X, y = make_sparse_text(300, n_features=500, nnz_per_row=20, dtype=np.float64, random_state=0)
    y = y.astype(np.float64)
    alone, averaged = epochs(X, y, 0.1, 1, 1.0), epochs(X, y, 0.1, 2, 0.5)
    assert 1 <= alone < averaged < 300
