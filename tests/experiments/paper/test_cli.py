"""``wellsvm reproduce`` around a runner that computes nothing."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import NamedTuple

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("polars")

from wellsvm import cli
from wellsvm.reproduce import protocol as protocols_of
from wellsvm.reproduce import runner as runner_of


class Unit(NamedTuple):
    table: str
    case: str
    method: str
    repeat: int


@pytest.fixture
def fake(monkeypatch, protocol, make_records):
    """Two tables of made-up protocols and a runner that has the results at once; what happens can be set on it."""

    class Fake:
        missing_data, stop_after, fail_at, made = {}, None, None, []

        def __init__(self, folder, jobs, data_home, download):
            self.file = folder / "records.jsonl"
            self.made.append((jobs, data_home, download))

        def units(self, protocols):
            found = {}
            for p in protocols:
                absent = {case.name for case in p.cases if case.data in self.missing_data}
                found |= {
                    Unit(*(r[key] for key in Unit._fields)): r for r in make_records(p) if r["case"] not in absent
                }
            return found

        def missing(self, protocols):
            return self.missing_data

        def total(self, protocols):
            return len(self.units(protocols))

        def plan(self, protocols):
            done = {Unit(*(r[key] for key in Unit._fields)) for r in self.read()}
            return [unit for unit in self.units(protocols) if unit not in done]

        def read(self):
            return list(map(json.loads, self.file.read_text().splitlines())) if self.file.exists() else []

        def run(self, units):
            results = self.units([load(name) for name in ("2", "figure-1")])
            for k, unit in enumerate(units):
                if k == self.stop_after:
                    raise KeyboardInterrupt
                if k == self.fail_at:
                    yield {**unit._asdict(), "error": "ValueError: no luck\n" + "x\n" * 300 + "at all"}
                    continue
                with self.file.open("a") as file:
                    file.write(json.dumps(results[unit]) + "\n")
                yield results[unit]

        def records(self, protocols):
            return self.read()

    def load(name, fast=False):
        if name not in ("2", "figure-1"):
            raise ValueError(f"table={name!r} is not one of 2, figure-1")
        return replace(protocol, table=name, repeats=2 if fast else 6)

    monkeypatch.setattr(runner_of, "Runner", Fake)
    monkeypatch.setattr(protocols_of, "load_protocol", load)
    monkeypatch.setattr(protocols_of, "tables", lambda: ("2", "figure-1"))
    return Fake


@pytest.fixture
def command(fake, monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["wellsvm", "reproduce", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, *capsys.readouterr()

    return run


def test_tables_are_run_printed_and_written(command, fake, tmp_path):
    (tmp_path / "data").mkdir()
    code, out, err = command("2", "--jobs", "3", "--data", "data", "--download", "--out", "results")
    assert code == 0, err
    assert fake.made[-1][0] == 3
    assert fake.made[-1][1].name == "data"
    assert fake.made[-1][2] is True
    assert out.startswith("Table 2: made up\n\n")
    assert "| paper / ours / difference" in out
    assert "Figure" not in out
    assert "66 of 66 runs" in err
    assert "results/report.html" in err.replace("\\", "/")
    written = {path.name for path in (tmp_path / "results").iterdir()}
    assert written == {"environment.json", "records.jsonl", "report.html", "report.md", "results.parquet"}
    assert "Beta †" in (tmp_path / "results" / "report.md").read_text(encoding="utf-8")


def test_a_second_run_has_nothing_to_do_and_prints_the_same(command, tmp_path):
    first = command("2")
    before = (tmp_path / "wellsvm-reproduce" / "records.jsonl").read_bytes()
    again = command("2")
    assert again[:2] == first[:2]
    assert "runs, last" not in again[2]
    assert (tmp_path / "wellsvm-reproduce" / "records.jsonl").read_bytes() == before


def test_all_tables_of_the_fast_kind_have_a_folder_of_their_own(command, tmp_path):
    code, out, err = command("--fast")
    assert code == 0
    assert "Table 2: made up" in out
    assert "Figure 1: made up" in out
    assert "44 of 44 runs" in err
    assert [path.name for path in tmp_path.iterdir()] == ["wellsvm-reproduce-fast"]


def test_ctrl_c_says_what_is_saved_and_the_same_command_goes_on(command, fake, tmp_path):
    fake.stop_after = 10
    code, out, err = command("2")
    assert (code, out) == (130, "")
    assert "10 of 66 runs are in wellsvm-reproduce; the same command goes on" in err
    assert err.rstrip().endswith("interrupted")
    torn = command("2", "--report-only")
    assert torn[0] == 0
    assert "Unfinished: 10 of 66 runs." in torn[1]
    fake.stop_after = None
    resumed = command("2")
    whole = command("2", "--out", "other")
    assert resumed[:2] == whole[:2]
    for name in ("report.md", "report.html", "results.parquet"):
        paths = [tmp_path / folder / name for folder in ("wellsvm-reproduce", "other")]
        assert paths[0].read_bytes() == paths[1].read_bytes(), name


def test_runs_that_fail_are_told_and_tried_again(command, fake):
    fake.fail_at = 3
    code, out, err = command("2")
    assert code == 1
    assert "1 run failed; the same command tries again. The first: table 2, " in err
    assert "ValueError: no luck x" in err
    assert all(len(line) < 350 for line in err.splitlines())
    assert err.rstrip().endswith("x at all")
    assert "Unfinished: 65 of 66 runs." in out
    fake.fail_at = None
    code, out, err = command("2")
    assert code == 0
    assert "Unfinished" not in out


def test_missing_data_are_left_out_with_a_word(command, fake):
    fake.missing_data = {"set_gamma": "not in the folder"}
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
def test_wrong_usage_is_one_line_and_exit_code_2_before_any_work(command, tmp_path, arguments, word):
    (tmp_path / "page.md").write_text("<!-- reproduce 3 -->\n<!-- end -->\n")
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
