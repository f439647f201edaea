"""The study of few labels: its plan, its draws, a run that goes on, its tables from a small journal."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from experiments.journal import Entry, Journal
from experiments.runner import left, run
from experiments.studies import few_labels
from experiments.studies.few_labels import FEW_LABELS_STUDIES, METHODS, Cell, cells, cells_of_seven
from experiments.studies.few_labels_tables import OURS, few_labels_table

STUDY = FEW_LABELS_STUDIES["few_labels"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder with embeddings of three topics and a set of two classes."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 100, 40])
    np.savez(folder / "emb_topics.npz", X=rng.standard_normal((200, 6)).astype(np.float16) + np.eye(3, 6)[y] * 3, y=y)
    y = np.repeat([-1, 1], [120, 60])
    np.savez(folder / "uci_house.npz", X=rng.standard_normal((180, 3)) + y[:, None], y=y)
    monkeypatch.setenv("WELLSVM_DATA", str(folder))
    few_labels.draw_cell.cache_clear()
    few_labels._data.cache_clear()
    yield folder
    few_labels.draw_cell.cache_clear()
    few_labels._data.cache_clear()


def test_the_plan_takes_everything_in_every_draw(tmp_path):
    trials = STUDY.trials(Journal(tmp_path / "j.jsonl"))
    per_draw = (21 * 6 + 14 * 2) * len(METHODS) + (21 * 6 + 6 + 5) * (len(METHODS) - 1)
    assert len(trials) == 10 * per_draw
    assert len({tuple(trial.identity.values()) for trial in trials}) == len(trials)
    draws = [trial.identity["draw"] for trial in trials if trial.identity["part"] not in ("seven", "latent")]
    assert draws == sorted(draws), "a stopped run has measured a little of everything"
    assert trials[-1].identity["part"] == "seven"
    for left_out in (("text", "LabelSpreading"), ("seven", "version 0.1"), ("latent", "version 0.1")):
        assert not [t for t in trials if (t.identity["part"], t.identity["method"]) == left_out]


def test_a_cell_has_the_labels_that_it_tells(data):
    by_class = few_labels.draw_cell(Cell("pairs", "emb_topics, games-sound", 5, "a class", 0))
    assert by_class.split.X.dtype == np.float32
    assert by_class.split.X.shape[0] == 160 - 40
    assert by_class.label_shares.tolist() == [0.5, 0.5]
    assert np.count_nonzero(~np.isnan(by_class.split.y)) == 10
    at_random = few_labels.draw_cell(Cell("seven", "emb_topics", 5, "at random", 1))
    assert np.count_nonzero(~np.isnan(at_random.split.y)) == 15
    share = few_labels.draw_cell(Cell("uci", "uci_house", 0.1, "at random", 0))
    assert np.count_nonzero(~np.isnan(share.split.y)) == round(0.1 * 135)
    assert abs(share.split.X.mean()) < 1e-6, "standardised"
    text = few_labels.draw_cell(Cell("text", "uci_house", 50, "at random", 0))
    assert np.count_nonzero(~np.isnan(text.split.y)) == 50


def test_the_true_share_is_that_of_the_unlabeled_rows(data):
    drawn = few_labels.draw_cell(Cell("uci", "uci_house", 10, "a class", 3))
    n_unlabeled = np.count_nonzero(np.isnan(drawn.split.y))
    positive = 60 - np.count_nonzero(drawn.split.y_test) - 10
    np.testing.assert_allclose(drawn.shares, [1 - positive / n_unlabeled, positive / n_unlabeled])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "cell", [Cell("seven", "emb_topics", 5, "a class", 0), Cell("uci", "uci_house", 0.1, "at random", 0)]
)
def test_every_method_runs(data, cell, method):
    facts = few_labels._run(cell, method)
    assert facts["accuracy"] > 0.6
    assert ("used_unlabeled" in facts) == (method in (OURS, "true shares", "version 0.1"))


def test_a_stopped_run_goes_on(data, tmp_path, monkeypatch):
    monkeypatch.setattr(few_labels, "N_DRAWS", 2)
    monkeypatch.setattr(few_labels, "cells", lambda draw: iter([Cell("uci", "uci_house", 10, "a class", draw)]))
    monkeypatch.setattr(few_labels, "cells_of_news", lambda draw: iter(()))
    monkeypatch.setattr(few_labels, "cells_of_seven", lambda draw: iter(()))
    path = tmp_path / "j.jsonl"
    assert len(list(islice(run(STUDY.trials(Journal(path))), 5))) == 5
    to_do = left(STUDY.trials(Journal(path)))
    assert len(to_do) == 2 * len(METHODS) - 5
    list(run(to_do))
    journal = Journal(path)
    assert not left(STUDY.trials(journal))
    assert not [entry for entry in journal.entries if "error" in entry]
    assert f"| {OURS}" in STUDY.table(journal.entries, "uci confirmation")


def _entry(name: str, draw: int, method: str, accuracy: float, balance: float | None = None) -> Entry:
    entry = {"part": "pairs", "set": name, "labels": 10, "drawn": "at random", "draw": draw, "method": method}
    entry |= {"accuracy": accuracy, "cpu_seconds": 0.5}
    if balance is not None:
        entry |= {"used_unlabeled": True, "shares": [0.8, 0.2], "label_shares": [0.5, 0.5]}
        entry |= {"balance": [1 - balance, balance], "balance_se": [0.1, 0.1]}
    return entry


@pytest.fixture
def entries() -> list[Entry]:
    """Two problems; the second draw of one of them is not finished."""
    return [
        _entry("a", 0, OURS, 0.90, 0.26),
        _entry("a", 0, "LinearSVC", 0.80),
        _entry("b", 0, OURS, 0.70, 0.38),
        _entry("b", 0, "LinearSVC", 0.76),
        _entry("a", 1, OURS, 0.95, 0.20),
        _entry("a", 1, "LinearSVC", 0.90),
        _entry("b", 1, OURS, 0.10, 0.20),
    ]


def test_accuracies_come_with_standard_error_and_harm(entries):
    table = few_labels_table(entries, "pairs development").splitlines()
    assert table[0].split("|")[2].strip() == "20 at random"
    assert "0.800 ± 0.100, 50 % | 1.00 | 0.500 |" in table[2]
    assert "0.780 ± 0.020, 0 %" in table[3]
    assert table[4].split("|")[2].strip() == "2"


def test_a_cell_that_is_not_finished_does_not_count(entries):
    table = few_labels_table(entries, "pairs confirmation")
    assert "0.950 ± nan, 0 %" in table
    assert table.splitlines()[-1].split("|")[2].strip() == "1"


def test_sets_are_shown_one_by_one(entries):
    lines = few_labels_table(entries, "pairs sets").splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == ["a", "20 at random", "2", "0.925", "0.850"]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == ["b", "20 at random", "1", "0.700", "0.760"]
    assert few_labels_table(entries, "text sets") == ""


def test_differences_are_those_of_the_same_cells(entries):
    lines = few_labels_table(entries, "differences").splitlines()
    assert "development" in lines[2]
    assert "+0.020 ± 0.080" in lines[2]
    assert "+0.050" in lines[3]


def test_the_error_of_the_shares_stands_beside_that_of_the_labels(entries):
    line = few_labels_table(entries, "shares").splitlines()[2]
    assert "0.300 ± 0.000 | 0.120 ± 0.060 |  0.40 |     0.50 / 1.00" in line


def test_parts_of_many_problems_are_also_counted_together_where_their_labels_are_alike(entries):
    by_class = [{**entry, "drawn": "a class"} for entry in entries if entry["draw"] == 0]
    uci = [{**entry, "part": "uci", "set": "c"} for entry in by_class if entry["set"] == "b"]
    lines = few_labels_table([*entries, *by_class, *uci], "shares").splitlines()
    together = [line for line in lines if line.startswith("| pairs and uci")]
    assert len(together) == 1
    assert "10 a class" in together[0]
    assert "0.300 ± 0.000 | 0.140 ± 0.040 |  0.47" in together[0]


def test_without_a_figure_all_tables_are_shown(entries):
    text = few_labels_table(entries, "accuracy")
    assert text.startswith("pairs, development half:")
    assert text.count("| method") == 2
    assert "ratio" in text
    assert few_labels_table(entries, "seven development") == "", "nothing is measured yet"


def test_the_pairs_are_all_and_the_seven_classes_apart():
    assert len({cell.set for cell in cells(0) if cell.part == "pairs"}) == 21
    assert {cell.part for cell in cells_of_seven(0)} == {"seven"}
