"""``python -m experiments reproduce`` around experiments that compute nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from experiments.paper import command as reproduce
from experiments.paper import plan
from experiments.paper.outcome import Outcome


class Made:
    """Experiments whose results are there at once; what happens can be set on it."""

    def __init__(self, outcomes):
        self.outcomes, self.missing, self.asked, self.stop_at, self.fail_at = outcomes, {}, [], None, None

    def run(self, data, settings, method, repeat, figure):
        self.asked.append((data, method, repeat))
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        if len(self.asked) == self.fail_at:
            raise ValueError("no luck\n" + "x\n" * 300 + "at all")
        return self.outcomes[data, method, repeat]


@pytest.fixture
def made(monkeypatch, protocol, make_records):
    """Two tables of a made-up protocol."""
    data_of = {case.name: case.data for case in protocol.cases}
    outcomes = {
        (data_of[r["case"]], r["method"], r["repeat"]): Outcome(r["value"], r["seconds"], r["n_iter"], r["chosen"])
        for r in make_records(protocol)
    }

    def load(name, fast=False):
        if name not in ("2", "figure-1"):
            raise ValueError(f"table={name!r} is not one of 2, figure-1")
        return replace(protocol, table=name, repeats=2 if fast else 6)

    made = Made(outcomes)
    monkeypatch.setitem(plan.EXPERIMENTS, "none", made.run)
    monkeypatch.setattr(plan, "load_set", lambda name, download: name)
    monkeypatch.setattr(plan, "why_missing", lambda names, download: made.missing)
    monkeypatch.setattr(reproduce, "load_protocol", load)
    monkeypatch.setattr(reproduce, "tables", lambda: ("2", "figure-1"))
    return made


@pytest.fixture
def command(made, experiment):
    """Run the command around them."""
    return partial(experiment, "reproduce")


def test_tables_are_run_printed_and_written(command, tmp_path):
    code, out, err = command("2", "--out", "here")
    assert code == 0, err
    assert out.startswith("Table 2: made up\n\n")
    assert "| paper / ours / difference" in out
    assert "Figure" not in out
    assert "66 of 66 runs" in err
    assert "here/report.html" in err.replace("\\", "/")
    written = {path.name for path in (tmp_path / "here").iterdir()}
    assert written == {"environment.json", "table-2.jsonl", "report.html", "report.md", "results.parquet"}
    assert "Beta †" in (tmp_path / "here" / "report.md").read_text(encoding="utf-8")


def test_a_second_run_has_nothing_to_do_and_prints_the_same(command, made, tmp_path):
    first = command("2")
    before = (tmp_path / "results" / "reproduction" / "table-2.jsonl").read_bytes()
    made.asked.clear()
    again = command("2")
    assert again[:2] == first[:2]
    assert made.asked == []
    assert (tmp_path / "results" / "reproduction" / "table-2.jsonl").read_bytes() == before


def test_methods_and_cases_that_are_named_are_run_alone(command, made, protocol):
    method, case = protocol.methods[0], protocol.cases[-1]
    assert command("2", "--methods", method, "--cases", case.name)[0] == 0
    assert made.asked == [(case.data, method, repeat) for repeat in range(6)]
    code, out, err = command("2", "--methods", "nobody")
    assert (code, out) == (1, "")
    assert "--methods: no 'nobody' among the runs chosen; there are " in err
    assert method in err


def test_what_is_on_request_is_run_only_where_it_is_named(command, made, monkeypatch):
    load = reproduce.load_protocol
    monkeypatch.setattr(
        reproduce, "load_protocol", lambda name, fast: replace(load(name, fast), on_request=name == "figure-1")
    )
    assert command()[0] == 0
    once = len(made.asked)
    assert command("figure-1")[0] == 0
    assert len(made.asked) == 2 * once
    assert "repeats, on request)" in command("--list")[1]


def test_all_tables_of_the_fast_kind_have_a_folder_of_their_own(command, tmp_path):
    code, out, err = command("--fast")
    assert code == 0
    assert "Table 2: made up" in out
    assert "Figure 1: made up" in out
    assert "44 of 44 runs" in err
    assert [path.name for path in (tmp_path / "results" / "reproduction").iterdir()] == ["fast"]


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(command, made, tmp_path):
    made.stop_at = 11
    code, out, err = command("2")
    assert (code, out) == (130, "")
    assert err.rstrip().endswith("interrupted; what is done is kept, and the same command goes on")
    torn = command("2", "--report-only")
    assert torn[0] == 0
    assert "Unfinished: 10 of 66 runs." in torn[1]
    resumed = command("2")
    whole = command("2", "--out", "other")
    assert resumed[:2] == whole[:2]
    for name in ("report.md", "report.html", "results.parquet"):
        paths = [tmp_path / folder / name for folder in ("results/reproduction", "other")]
        assert paths[0].read_bytes() == paths[1].read_bytes(), name


def test_runs_that_fail_are_told_and_tried_again(command, made):
    made.fail_at = 4
    code, out, err = command("2")
    assert code == 1
    assert "1 run failed; the same command tries again. The first: table 2, " in err
    assert "ValueError: no luck x" in err
    assert all(len(line) < 350 for line in err.splitlines())
    assert err.rstrip().endswith("x at all")
    assert "Unfinished: 65 of 66 runs." in out
    code, out, err = command("2")
    assert code == 0
    assert "Unfinished" not in out


def test_missing_data_are_left_out_with_a_word(command, made):
    made.missing = {"set_gamma": "not in the folder"}
    code, out, err = command("2")
    assert code == 0
    assert "left out, as the data are not there: set_gamma." in err
    assert "--data" in err
    assert "Gamma is left out: not in the folder." in out
    assert "Unfinished" not in out
    assert "| Gamma" not in out


def test_a_page_is_filled(command, tmp_path):
    target = tmp_path / "page.md"
    target.write_text("<!-- reproduce 2 -->\n<!-- end -->\n<!-- reproduce 9 -->\n<!-- end -->\n")
    assert command("--fill", "page.md")[0] == 0
    assert "| Alpha " in target.read_text(encoding="utf-8")
    assert target.read_text(encoding="utf-8").endswith("<!-- reproduce 9 -->\n<!-- end -->\n")


def test_without_results_there_is_nothing_to_report(command):
    code, out, err = command("2", "--report-only")
    assert (code, out) == (1, "")
    assert err.startswith("there is no result to show.")


def test_list_runs_nothing(command, tmp_path):
    code, out, _ = command("--list")
    assert code == 0
    assert "made up (4 cases, 6 repeats)" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments, word",
    [
        (("99",), "table='99' is not one of 2, figure-1"),
        (("2", "--jobs", "0"), "jobs"),
        (("2", "--data", "nowhere"), "nowhere"),
        (("2", "--fill", "missing.md"), "--fill: missing.md is not a file"),
        (("2", "--fill", "page.md"), "page.md has no place for 2"),
    ],
)
def test_wrong_usage_is_exit_code_2_before_any_work(command, tmp_path, arguments, word):
    (tmp_path / "page.md").write_text("<!-- reproduce 3 -->\n<!-- end -->\n")
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
