"""Protocols and the trials that are made of them: choices, grids, a run that is killed and goes on."""

from __future__ import annotations

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
from sklearn.cluster import KMeans
from sklearn.utils import Bunch

from experiments.data_sets import load_set
from experiments.paper import protocol as protocol_module
from experiments.paper import two_clusters
from experiments.paper.figures import tabulate
from experiments.paper.partly_labeled import METHODS, Choices
from experiments.paper.plan import TablePlan, flat, plan_tables
from experiments.paper.protocol import Case, Protocol, load_protocol, tables
from experiments.runner import left, run
from experiments.splits import SplitPlan, make_split
from experiments.widths import gamma_of_width
from wellsvm import MaxMarginClustering
from wellsvm.datasets import make_digit_bags

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


@pytest.fixture(autouse=True)
def data_folder(data, monkeypatch) -> None:
    monkeypatch.setenv("WELLSVM_DATA", str(data))


def plan(protocol: Protocol, folder: Path) -> TablePlan:
    return plan_tables([protocol], folder)[0]


def run_tables(folder: Path, protocols: list[Protocol], jobs: int = 1) -> list[dict]:
    plans = plan_tables(protocols, folder)
    entries = list(run(left(trial for plan in plans for trial in plan.trials), jobs))
    assert not [entry["error"] for entry in entries if "error" in entry]
    return [entry for plan in plans for entry in plan.results()]


def figures(entries: list[dict]) -> list[tuple]:
    """All but the time, which is never the same."""
    return [tuple((k, str(v)) for k, v in entry.items() if k != "seconds") for entry in entries]


def test_a_run_that_was_killed_goes_on_to_the_same_table(tmp_path):
    whole = run_tables(tmp_path / "whole", [SEMI])
    code = (
        "import sys; from pathlib import Path; import test_plan as t; "
        "list(t.run(t.plan(t.SEMI, Path(sys.argv[1])).trials))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    file = tmp_path / "killed" / "table-2.jsonl"
    process = subprocess.Popen([sys.executable, "-c", code, str(file.parent)], env=environment)
    while process.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    lines = file.read_bytes().splitlines(keepends=True)
    assert 4 <= len(lines) < len(whole), "killed too late to show anything"
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])  # the last line torn
    resumed = run_tables(file.parent, [SEMI])
    assert figures(resumed) == figures(whole)
    tables_of = [tabulate(SEMI, entries, runs=(len(entries), len(entries))) for entries in (whole, resumed)]
    means = [[[cell.mean for cell in row.cells.values()] for row in table.rows] for table in tables_of]
    assert means[0] == means[1]


def test_processes_and_their_number_change_no_figure(tmp_path):
    alone = run_tables(tmp_path / "1", [SEMI, CLUSTERS])
    with joblib.parallel_config("threading"):  # any backend of joblib
        shared = run_tables(tmp_path / "2", [SEMI, CLUSTERS], jobs=2)
    assert figures(alone) == figures(shared)


def test_methods_run_as_often_as_the_protocol_says(tmp_path):
    units = [trial.identity["unit"] for trial in plan(SEMI, tmp_path).trials]
    assert len(units) == 3 * 3 + 3 + 1 + 3
    assert [unit["repeat"] for unit in units] == sorted(unit["repeat"] for unit in units), "tables fill evenly"
    skipping = replace(SEMI, cases=(Case("Blobs", "blobs", skip={"USVM": "a reason"}),))
    assert "USVM" not in {trial.identity["unit"]["method"] for trial in plan(skipping, tmp_path).trials}


def test_missing_data_are_told_and_left_out(tmp_path):
    absent = plan(replace(SEMI, cases=(*SEMI.cases, Case("Gone", "gone"))), tmp_path)
    assert list(absent.missing) == ["gone"]
    assert {trial.identity["unit"]["case"] for trial in absent.trials} == {"Blobs", "Other"}
    assert absent.runs == (0, len(absent.trials))


def test_results_of_another_machine_are_shown_where_the_data_are_missing(tmp_path, monkeypatch):
    here = run_tables(tmp_path, [SEMI])
    monkeypatch.setenv("WELLSVM_DATA", str(tmp_path))  # an empty folder
    elsewhere = plan(SEMI, tmp_path)
    assert elsewhere.trials == ()
    assert elsewhere.results() == here
    assert elsewhere.missing
    assert not elsewhere.unknown
    assert elsewhere.runs == (len(elsewhere.others), len(elsewhere.others)), "as where the data are"


def test_the_papers_own_data_take_the_place_of_a_stand_in(tmp_path, monkeypatch):
    case = Case("real-sim, 4 labels", "text_debian", real="real-sim", settings={"labeled": 4, "scale": "none"})
    protocol = replace(SEMI, methods=("SVM",), repeats=1, cases=(case,), settings={"kernels": ["linear"]})
    rng = np.random.default_rng(0)
    lines = [f"{y:+d} 1:{y + rng.normal():.3f} 3:{rng.random():.3f}" for y in (1, -1) * 20]
    (tmp_path / "real-sim").write_text("\n".join(lines), encoding="ascii")
    monkeypatch.setenv("WELLSVM_DATA", str(tmp_path))
    planned = plan(protocol, tmp_path / "out")
    assert [(c.data, c.stand_in) for c in planned.protocol.cases] == [("real-sim", None)]
    (entry,) = [flat(entry) for entry in run(planned.trials)]
    assert 0 <= entry["value"] <= 1
    regions = Case("castle, as digit 1", "mil_usps_roi", real="corel_roi").with_real_data()
    assert (regions.name, regions.data, regions.stand_in) == ("castle", "corel_roi", None)


def test_a_protocol_like_another_has_its_keys_but_for_its_own():
    check, tables = load_protocol("check-readings"), {share: load_protocol(t) for share, t in zip((5, 10, 15), "234")}
    expected = [
        (f"{case.name}, {share} %", case.data, {"labeled": share / 100} | case.settings)
        for share, table in tables.items()
        for case in table.cases
    ]
    assert [(case.name, case.data, case.settings) for case in check.cases] == expected
    of_tables = [case for table in tables.values() for case in table.cases]
    for case, other in zip(check.cases, of_tables, strict=True):
        kept = {name: other.paper[name] for name in ("SVM", "WellSVM")}
        assert (case.paper, case.skip) == (kept, {}), "what is said of its own columns alone"
    assert check.settings == tables[5].settings
    for table in tables.values():
        assert {**table.settings, "labeled": 0} == {**check.settings, "labeled": 0}, "they differ in labels alone"
    assert (check.repeats, check.paper_repeats, tables[5].paper_repeats) == (30, 30, 0)
    assert (check.on_request, tables[5].on_request) == (True, False)
    plain = {"larger class", "SVM", "as in the paper, true shares"}
    assert {name for name in check.own if ": " in name} == set(check.methods) - plain, "each has a setting of its own"


NAMED = 'methods = ["SVM"]\nfigure = "error"\ncases = [{name = "g50c"}]'
NAMING = 'like = "7"\ncases = ["g50c", "nobody"]'


def test_a_protocol_like_others_may_name_the_cases_it_takes(tmp_path, monkeypatch):
    readings = {case.name: case for case in load_protocol("check-readings").cases}
    splits = load_protocol("check-splits").cases
    assert 0 < len(splits) < len(readings)
    for case in splits:  # the same runs but for their number, so that the first ones are those of Tables 2 to 4
        assert case == replace(readings[case.name], repeats=case.repeats)
    (moons,) = load_protocol("check-bound").cases
    assert moons.settings == next(c for c in load_protocol("7").cases if c.name == moons.name).settings
    (tmp_path / "protocols").mkdir()
    for name, text in (
        ("table-7", 'methods = ["SVM"]\ncases = [{name = "g50c"}]\nfigure = ""'),
        ("check-bound", NAMING),
    ):
        (tmp_path / "protocols" / f"{name}.toml").write_text(text)
    monkeypatch.setattr(protocol_module, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=r"check-bound\.toml: no nobody among the cases of 7"):
        load_protocol("check-bound")


def test_a_column_of_a_method_in_other_settings_runs_that_method(tmp_path):
    columns = ("SVM", "SVM: narrow", "SVM: by distance")
    own = {"SVM: narrow": {"kernels": [0.01]}, "SVM: by distance": {"kernels": [0.01], "squared_distance": False}}
    chosen = {
        entry["method"]: entry["chosen"]
        for entry in run_tables(tmp_path, [replace(SEMI, methods=columns, own=own, repeats=1, cases=SEMI.cases[:1])])
    }
    assert set(chosen) == set(columns)
    assert chosen["SVM: narrow"]["gamma"] != chosen["SVM: by distance"]["gamma"]
    split = make_split(load_set("blobs", False), SplitPlan(labeled=0.2), 0)
    assert chosen["SVM: by distance"]["gamma"] == gamma_of_width(split.X, 0.01, squared=False)


def test_of_equal_settings_the_papers_choice_may_be_the_last(tmp_path):
    columns, prices = ("as in the paper", "as in the paper: last"), [0.1, 0.1 + 1e-12]
    protocol = replace(
        SEMI,
        methods=columns,
        own={columns[1]: {"of_equals": "last"}},
        repeats=1,
        cases=SEMI.cases[:1],
        settings=SETTINGS | {"kernels": ["linear"], "Cs_unlabeled": prices},
    )
    assert [entry["chosen"]["C_unlabeled"] for entry in run_tables(tmp_path, [protocol])] == prices


def test_the_larger_class_scores_its_share(tmp_path):
    (entry,) = run_tables(tmp_path, [replace(SEMI, methods=("larger class",), repeats=1, cases=SEMI.cases[:1])])
    split = make_split(load_set("blobs", False), SplitPlan(labeled=0.2), 0)
    classes, counts = np.unique(split.labeled[1], return_counts=True)
    assert entry["value"] == pytest.approx(np.mean(split.y_test == classes[counts.argmax()]))


def test_of_two_balances_a_case_may_use_one(tmp_path):
    both = replace(CLUSTERS, methods=("KM", "CPMMC"), settings=CLUSTERS.settings | {"balances": [0.03, 0.3]})
    one = replace(both, cases=(replace(both.cases[0], balance=0.03),))
    settings = {trial.identity["unit"]["setting"] for trial in plan(one, tmp_path).trials}
    assert settings == {"", "kernel=linear, C=1.0, balance=0.03", "kernel=1.0, C=1.0, balance=0.03"}
    digests = {str(trial.identity) for trial in plan(both, tmp_path).trials}
    assert {str(trial.identity) for trial in plan(one, tmp_path).trials} < digests, "runs that are there stay valid"


def test_a_failure_is_told_and_tried_again(tmp_path):
    broken = replace(SEMI, methods=("SVM", "WellSVM"), settings=SETTINGS | {"loss": "no such loss"})
    entries = [flat(entry) for entry in run(plan(broken, tmp_path).trials)]
    failed = [entry for entry in entries if "error" in entry]
    assert {entry["method"] for entry in failed} == {"WellSVM"}
    assert all("no such loss" in entry["error"] for entry in failed)
    again = plan(broken, tmp_path)
    assert {entry["method"] for entry in again.results()} == {"SVM"}
    assert len(left(again.trials)) == len(failed)


def test_of_a_grid_the_best_setting_is_reported(tmp_path):
    clusters_plan = plan(CLUSTERS, tmp_path)
    every = [flat(entry) for entry in run(clusters_plan.trials)]
    results = clusters_plan.results()
    best = {entry["method"]: entry["value"] for entry in results}
    ours = [entry["value"] for entry in every if entry["method"] == "WellSVM"]
    assert len(ours) == 2
    assert best["WellSVM"] == max(ours)
    assert len([entry for entry in results if entry["method"] == "KM"]) == 2, "one per seed"


@pytest.mark.parametrize("kernel", ["linear", 1.0])
def test_a_price_may_be_a_multiple_of_what_follows_the_scale_of_the_rows(kernel):
    rng = np.random.default_rng(0)
    data = Bunch(X=5.0 + 3.0 * rng.standard_normal((60, 4)), y=np.repeat([0, 1], 30))

    def chosen(C: str) -> dict:
        settings = {"setting": {"kernel": kernel, "C": C}, "scale": "none"}
        return two_clusters.run(data, settings, "WellSVM", 0, "accuracy").chosen

    known = {"kernel": "linear"} if kernel == "linear" else {"kernel": "rbf", "gamma": chosen("scale")["gamma"]}
    scale = MaxMarginClustering(random_state=0, **known).fit(data.X).C_
    assert chosen("10 x scale")["C"] == pytest.approx(10 * scale, rel=1e-4)
    assert chosen("scale")["C"] == "scale"


def test_one_cluster_may_be_accurate_but_has_no_adjusted_rand_index(monkeypatch):
    data = Bunch(X=np.random.default_rng(0).standard_normal((40, 2)), y=np.repeat([0, 1], [30, 10]))
    monkeypatch.setitem(two_clusters.MODELS, "KM", lambda setting, seed: KMeans(1))
    figures = {f: two_clusters.run(data, {"setting": {}}, "KM", 0, f).value for f in two_clusters.FIGURES}
    assert figures == {"accuracy": 0.75, "adjusted Rand index": 0.0}


def test_figures_of_another_kind_do_not_stand_beside_the_papers():
    table, other = load_protocol("11"), load_protocol("check-clusters")
    assert (table.figure, other.figure) == ("accuracy", "adjusted Rand index")
    assert [case.name for case in other.cases] == [case.name for case in table.cases]
    assert all(case.paper for case in table.cases)
    assert not any(case.paper for case in other.cases)


@pytest.mark.parametrize("method", ["SVM", "WellSVM"])
def test_three_classes_are_told_apart_one_against_the_rest(method):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 2)), np.repeat([0.0, 1.0, 2.0], 30)
    split = make_split(Bunch(X=X + 4 * np.eye(3, 2)[y.astype(int)], y=y), SplitPlan(labeled=30), 0)
    chosen = METHODS[method](split, Choices(kernels=(1.0,)), 0)
    assert chosen.model.decision_function(split.X_test).shape == (split.y_test.size, 3)
    if method == "SVM":
        assert len(chosen.model.estimators_) == 3


def test_regions_are_located(tmp_path, monkeypatch):
    bags = make_digit_bags(n_bags=60, bag_size=6, random_state=0)
    arrays = {"X": bags.X, "bag": bags.groups, "y": bags.y, "concept": (bags.y > 0).astype(int), "roi": bags.roi}
    np.savez(tmp_path / "digit_bags.npz", **arrays)
    protocol = Protocol(
        table="10", title="", experiment="regions", figure="success rate", methods=("WellSVM", "MI-SVM"), repeats=1,
        cases=(Case("target", "digit_bags", settings={"concept": 1}),),
        settings={"bags_per_concept": 15, "widths": [1.0], "prices": [1.0, 10.0], "ratios": [1.0]},
    )  # fmt: skip
    monkeypatch.setenv("WELLSVM_DATA", str(tmp_path))
    entries = run_tables(tmp_path / "out", [protocol])
    assert all(entry["value"] > 0.5 for entry in entries)  # one of six by chance


@pytest.mark.parametrize("table", tables())
def test_protocols_are_whole_and_their_fast_form_is_smaller(table):
    whole, fast = load_protocol(table), load_protocol(table, fast=True)
    assert whole.reference is None or whole.reference in whole.methods
    for case in whole.cases:
        assert set(case.skip) | set(case.repeats) <= set(whole.all_methods)
    assert 0 < fast.repeats * len(fast.cases) < whole.repeats * len(whole.cases)
    assert {case.name for case in fast.cases} <= {case.name for case in whole.cases}
    if whole.experiment == "clustering":
        for method in whole.methods:
            assert len(two_clusters.grid(fast.settings, method)) <= len(two_clusters.grid(whole.settings, method))


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


def test_results_of_other_settings_do_not_count(tmp_path):
    small = replace(SEMI, settings=SETTINGS | {"Cs_unlabeled": [0.1]})
    run_tables(tmp_path, [small])
    other = plan(SEMI, tmp_path)
    assert not other.results()
    assert len(left(other.trials)) == len(other.trials)
    assert not left(plan(small, tmp_path).trials)


def test_a_journal_of_something_else_is_refused(tmp_path):
    (tmp_path / "table-2.jsonl").write_text('{"set": "uci"}\n')
    with pytest.raises(ValueError, match=r"table-2.jsonl, line 1: no unit"):
        plan(SEMI, tmp_path)
