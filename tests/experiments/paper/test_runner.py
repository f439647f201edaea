"""The experiments and the runner: splits, choices, a run that is killed and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.utils import Bunch

from wellsvm.baselines import LaplacianSVM
from wellsvm.datasets import make_digit_bags
from wellsvm.reproduce import clustering, semi_supervised
from wellsvm.reproduce.protocol import Case, Protocol, load_protocol, tables
from wellsvm.reproduce.runner import Runner
from wellsvm.reproduce.semi_supervised import METHODS, Settings, make_split
from wellsvm.reproduce.tables import tabulate

SETTINGS = {"labeled": 0.2, "kernels": ["linear", 1.0], "Cs_unlabeled": [0.1, 1.0], "loss": "squared_hinge"}
SEMI = Protocol(
    table="2", title="", experiment="semi_supervised", figure="accuracy", methods=("SVM", "USVM", "WellSVM"), repeats=3,
    cases=(Case("Blobs", "blobs"), Case("Other", "other", repeats={"USVM": 1})), reference="SVM", settings=SETTINGS,
)  # fmt: skip
CLUSTERS = Protocol(
    table="11", title="", experiment="clustering", figure="accuracy", methods=("KM", "WellSVM"), repeats=2,
    cases=(Case("Blobs", "blobs"),),
    settings={"kernels": ["linear", 1.0], "Cs": [1.0], "balances": [0.3], "seeds": {"KM": 2}},
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("blobs", "other")):
        rng = np.random.default_rng(seed)
        y = np.repeat([-1, 1], 40).astype(np.int8)
        np.savez(folder / f"{name}.npz", X=rng.standard_normal((80, 3)) + 0.8 * y[:, None], y=y)
    return folder


def run(folder: Path, data: Path, protocols: list[Protocol], jobs: int = 1) -> list[dict]:
    runner = Runner(folder, jobs, data)
    records = list(runner.run(runner.plan(protocols)))
    assert not [record["error"] for record in records if "error" in record]
    return runner.records(protocols)


def figures(records: list[dict]) -> list[tuple]:
    """All but the time, which is never the same."""
    return [tuple((k, str(v)) for k, v in record.items() if k != "seconds") for record in records]


def test_a_run_that_was_killed_goes_on_to_the_same_table(tmp_path, data):
    whole = run(tmp_path / "whole", data, [SEMI])
    code = (
        "import sys; from pathlib import Path; import test_runner as t; "
        "r = t.Runner(Path(sys.argv[1]), 1, Path(sys.argv[2])); list(r.run(r.plan([t.SEMI])))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    file = tmp_path / "killed" / "table-2.jsonl"
    process = subprocess.Popen([sys.executable, "-c", code, str(file.parent), str(data)], env=environment)
    while process.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    lines = file.read_bytes().splitlines(keepends=True)
    assert 4 <= len(lines) < len(whole), "killed too late to show anything"
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])  # the last line torn
    resumed = run(file.parent, data, [SEMI])
    assert figures(resumed) == figures(whole)
    tables_of = [tabulate(SEMI, records, runs=(len(records), len(records))) for records in (whole, resumed)]
    means = [[[cell.mean for cell in row.cells.values()] for row in table.rows] for table in tables_of]
    assert means[0] == means[1]


def test_processes_and_their_number_change_no_figure(tmp_path, data):
    alone = run(tmp_path / "1", data, [SEMI, CLUSTERS])
    with joblib.parallel_config("threading"):  # any backend of joblib
        shared = run(tmp_path / "2", data, [SEMI, CLUSTERS], jobs=2)
    assert figures(alone) == figures(shared)


def test_methods_run_as_often_as_the_protocol_says(tmp_path, data):
    runner = Runner(tmp_path, 1, data)
    units = runner.plan([SEMI])
    assert len(units) == runner.total([SEMI]) == 3 * 3 + 3 + 1 + 3
    assert [unit.repeat for unit in units] == sorted(unit.repeat for unit in units), "tables fill evenly"
    skipping = replace(SEMI, cases=(Case("Blobs", "blobs", skip={"USVM": "a reason"}),))
    assert "USVM" not in {unit.method for unit in runner.plan([skipping])}


def test_missing_data_are_told_and_left_out(tmp_path, data):
    absent = replace(SEMI, cases=(*SEMI.cases, Case("Gone", "gone")))
    runner = Runner(tmp_path, 1, data)
    assert list(runner.missing([absent])) == ["gone"]
    assert {unit.case for unit in runner.plan([absent])} == {"Blobs", "Other"}


def test_a_failure_is_told_and_tried_again(tmp_path, data):
    broken = replace(SEMI, methods=("SVM", "WellSVM"), settings=SETTINGS | {"loss": "no such loss"})
    runner = Runner(tmp_path, 1, data)
    records = list(runner.run(runner.plan([broken])))
    failed = [record for record in records if "error" in record]
    assert {record["method"] for record in failed} == {"WellSVM"}
    assert all("no such loss" in record["error"] for record in failed)
    assert {record["method"] for record in runner.records([broken])} == {"SVM"}
    assert len(runner.plan([broken])) == len(failed)


def test_of_a_grid_the_best_setting_is_reported(tmp_path, data):
    runner = Runner(tmp_path, 1, data)
    every = list(runner.run(runner.plan([CLUSTERS])))
    best = {record["method"]: record["value"] for record in runner.records([CLUSTERS])}
    ours = [record["value"] for record in every if record["method"] == "WellSVM"]
    assert len(ours) == 2
    assert best["WellSVM"] == max(ours)
    assert len([r for r in runner.records([CLUSTERS]) if r["method"] == "KM"]) == 2, "one per seed"


@pytest.mark.parametrize("repeat", range(5))
def test_splits_hide_what_they_test(data, repeat):
    archive = np.load(data / "blobs.npz")
    bunch = type("Bunch", (), {"X": archive["X"], "y": archive["y"]})
    how = Settings(labeled=6, test=0.25, scale="none")
    split = make_split(bunch, how, repeat)
    assert split.X.shape[0] == 60
    assert split.X_test.shape[0] == 20
    assert not set(map(tuple, split.X)) & set(map(tuple, split.X_test))
    known = split.y[~np.isnan(split.y)]
    assert known.size == 6
    assert min(np.sum(known == -1), np.sum(known == 1)) >= how.per_class
    again = make_split(bunch, how, repeat)
    np.testing.assert_array_equal(split.y, again.y)
    unlabeled = make_split(bunch, replace(how, test=0.0), repeat)
    assert unlabeled.X_test.shape[0] == 80 - 6, "without test rows the unlabeled ones are the test"


def test_every_one_of_many_classes_is_labeled():
    bunch = Bunch(X=np.random.default_rng(0).standard_normal((400, 2)), y=np.repeat(np.arange(20), 20))
    split = make_split(bunch, Settings(labeled=45, test=0.0), 0)  # a plain draw of 45 hardly ever has two of each
    known = split.y[~np.isnan(split.y)]
    assert known.size == 45
    assert np.unique(known, return_counts=True)[1].min() >= 2


@pytest.mark.parametrize("method", ["SVM", "WellSVM"])
def test_three_classes_are_told_apart_one_against_the_rest(method):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 2)), np.repeat([0.0, 1.0, 2.0], 30)
    split = make_split(Bunch(X=X + 4 * np.eye(3, 2)[y.astype(int)], y=y), Settings(labeled=30, kernels=(1.0,)), 0)
    fitted = METHODS[method](split, Settings(labeled=30, kernels=(1.0,)), 0)
    assert fitted.model.decision_function(split.X_test).shape == (split.y_test.size, 3)
    if method == "SVM":
        assert len(fitted.model.estimators_) == 3


def test_regions_are_located(tmp_path):
    bags = make_digit_bags(n_bags=60, bag_size=6, random_state=0)
    arrays = {"X": bags.X, "bag": bags.groups, "y": bags.y, "concept": (bags.y > 0).astype(int), "roi": bags.roi}
    np.savez(tmp_path / "digits.npz", **arrays)
    protocol = Protocol(
        table="10", title="", experiment="regions", figure="success rate", methods=("WellSVM", "MI-SVM"), repeats=1,
        cases=(Case("target", "digits", settings={"concept": 1}),),
        settings={"bags_per_concept": 15, "widths": [1.0], "prices": [1.0, 10.0], "ratios": [1.0]},
    )  # fmt: skip
    records = run(tmp_path / "out", tmp_path, [protocol])
    assert all(record["value"] > 0.5 for record in records)  # one of six by chance


@pytest.mark.parametrize("table", tables())
def test_protocols_are_whole_and_their_fast_form_is_smaller(table):
    whole, fast = load_protocol(table), load_protocol(table, fast=True)
    assert whole.reference is None or whole.reference in whole.methods
    for case in whole.cases:
        assert set(case.skip) | set(case.repeats) <= set(whole.methods)
    assert fast.repeats < whole.repeats
    assert fast.cases
    assert {case.name for case in fast.cases} <= {case.name for case in whole.cases}
    if whole.experiment == "clustering":
        for method in whole.methods:
            assert len(clustering.grid(fast.settings, method)) <= len(clustering.grid(whole.settings, method))


@pytest.mark.parametrize(
    "table, method, printed",
    [("2", "WellSVM", 0.778), ("3", "WellSVM", 0.807), ("4", "WellSVM", 0.811), ("2", "SVM", 0.763)],
)
def test_the_papers_figures_have_the_averages_it_prints(table, method, printed):
    """They are rounded to two digits, so the averages agree to a few thousandths."""
    figures = [case.paper[method] for case in load_protocol(table).cases]
    assert len(figures) == 16
    assert np.mean(figures) == pytest.approx(printed, abs=0.0025)


def test_an_unknown_table_is_told_with_the_known_ones():
    with pytest.raises(ValueError, match="'99' is not one of 2, 3, 4"):
        load_protocol("99")


def test_results_of_other_settings_do_not_count(tmp_path, data):
    small = replace(SEMI, settings=SETTINGS | {"Cs_unlabeled": [0.1]})
    run(tmp_path, data, [small])
    runner = Runner(tmp_path, 1, data)
    assert not runner.records([SEMI])
    assert len(runner.plan([SEMI])) == runner.total([SEMI])
    assert not runner.plan([small])


@pytest.mark.parametrize(
    "line, word",
    [("[1]", "no record"), ('{"settings": "x"}', "no unit"), ('{"unit": {}}', "no settings")],
)
def test_a_line_that_is_no_result_is_told_by_file_and_number(data, tmp_path, line, word):
    (tmp_path / "table-2.jsonl").write_text('{"unit": "torn\n' + line + "\n")
    with pytest.raises(ValueError, match=rf"table-2.jsonl, line 2: {word}"):
        Runner(tmp_path, data_home=data).plan([SEMI])


def test_results_without_a_figure_or_of_unknown_units_are_run_again(data, tmp_path):
    runner = Runner(tmp_path, data_home=data)
    planned = runner.plan([SEMI])
    lines = [{"unit": planned[0]._asdict(), "settings": "x"}, {"unit": "2", "settings": "x", "value": 1.0}]
    (tmp_path / "table-2.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert runner.plan([SEMI]) == planned


def test_lapsvm_searches_with_shared_graphs_as_without(data, monkeypatch):
    archive = np.load(data / "blobs.npz")
    how = Settings(labeled=12, Cs_unlabeled=(0.1, 1.0), neighbors=(3, 5), kernels=("linear", 1.0))
    split = make_split(Bunch(X=archive["X"], y=archive["y"]), how, 0)
    shared = METHODS["LapSVM"](split, how, 0)
    assert not semi_supervised.SharedGraphs.graphs, "nothing is kept after a search"
    monkeypatch.setattr(semi_supervised.SharedGraphs, "_rows", LaplacianSVM._rows)
    alone = METHODS["LapSVM"](split, how, 0)
    assert shared.chosen == alone.chosen
    values = [fitted.model.decision_function(split.X_test) for fitted in (shared, alone)]
    np.testing.assert_array_equal(*values)
