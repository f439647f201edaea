"""The reports: Markdown, HTML, Parquet, and places in a page."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from experiments.paper.cells import Writer, overview
from experiments.paper.document import document, markdown
from experiments.paper.dots import Dot, dot_chart
from experiments.paper.figures import tabulate
from experiments.paper.glance import glance_text
from experiments.paper.html_page import page
from experiments.paper.outputs import fill, write_files

STAND_IN, SLOW = "made-up <stand-in> data", "more than an hour"  # as in conftest


class Text(HTMLParser):
    """Text of a page outside its style sheet; fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.attributes = [], "", []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + "\n"


@pytest.fixture
def table(protocol, make_records):
    return tabulate(protocol, make_records(protocol))


def line_of(text, name):
    """Cells of the first line of a Markdown table that begins with the name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name}"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_markdown_shows_ours_the_papers_and_the_difference(table):
    text = markdown(table)
    cell = table.rows[0].cells["WellSVM"]
    assert line_of(text, "Alpha")[3] == f"{cell.mean:.3f} ± {cell.std:.3f} ●"
    compared = text[text.index("| paper / ours / difference") :]
    assert line_of(compared, "Alpha")[3] == f"0.85 / {cell.mean:.3f} / {cell.difference:+.3f}"
    times = text[text.index("| CPU seconds") :]
    assert line_of(times, "Alpha")[3] == f"{cell.seconds:.3g}"
    assert line_of(times, "Alpha")[4] == f"{cell.n_iter[0]:g} ({cell.n_iter[1]})"
    assert "Chosen by us." in text
    assert "Unfinished" not in text


def test_averages_say_over_how_many_cases_and_leave_out_who_has_not_all(table):
    text = markdown(table)
    assert line_of(text, "average, 4 cases")[2] == ""
    assert line_of(text, "average, 3 cases")[2] == f"{table.comparisons[1].means['Rival']:.3f}"
    assert line_of(text, "SVM: win/tie/loss")[1:] == ["", *("/".join(map(str, w)) for w in table.wins.values())]
    assert "Friedman test of the ranks, 3 methods on 3 cases: p = " in text


def test_the_columns_of_every_markdown_table_line_up(table):
    blocks = re.findall(r"(?:^\|.*\n)+", document([table], "here"), re.MULTILINE)
    assert len(blocks) == 4
    for block in blocks:
        lines = block.splitlines()
        assert len({len(line) for line in lines}) == 1
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_many_methods_are_cut_into_several_tables(protocol, make_records):
    methods = ("SVM", *(f"Method {k}" for k in range(10)), "WellSVM")
    protocol = replace(protocol, methods=methods)
    text = markdown(tabulate(protocol, make_records(protocol, shift=np.linspace(0, 0.1, 12))))
    assert max(map(len, (line for line in text.splitlines() if line.startswith("|")))) < 150
    for method in methods:
        assert f" {method} " in text


def test_stand_ins_are_marked_in_every_table_of_every_output(table, protocol, make_records, tmp_path, environment):
    write_files([table], make_records(protocol), tmp_path, environment)
    target = tmp_path / "page.md"
    target.write_text("<!-- reproduce 2 -->\n<!-- end -->\n")
    fill(target, [table])
    for name in ("report.md", "page.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.startswith("| Beta")]
        assert len(lines) == 3
        assert all(line.startswith("| Beta † ") for line in lines)
        assert f"† Beta is not, or not surely, the paper's data: {STAND_IN}" in text
        assert "Alpha †" not in text
    html = Text((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "Beta †" in html
    assert not re.search(r"\bBeta\b(?! †| is not)", html)
    assert f"† Beta is not, or not surely, the paper's data: {STAND_IN}" in html


def test_fewer_runs_and_what_was_not_run_are_told(protocol, make_records):
    records = [r for r in make_records(protocol) if r["method"] != "WellSVM" or r["repeat"] < 2]
    table = tabulate(protocol, records)
    for text in (markdown(table), Text(page([table], {})).text):
        assert f"{table.rows[0].cells['WellSVM'].std:.3f} (2)" in text.replace(" ●", "")
        assert f"Rival is not run (-) on Delta: {SLOW}." in text
        assert "Unfinished: 50 of 66 runs." in text
    assert line_of(markdown(table), "Delta")[2] == "-"


def test_a_torn_table_says_so_and_leaves_out_what_is_not_there(protocol, make_records):
    table = tabulate(protocol, make_records(protocol)[:20], {"set_gamma": "no such file"})
    for text in (markdown(table), Text(page([table], {})).text):
        assert "Unfinished: 20 of 48 runs." in text
        assert "Gamma is left out: no such file." in text
        assert "Delta" not in text.replace("on Delta", "")
    empty = tabulate(protocol, [])
    assert "Unfinished: 0 of 66 runs." in markdown(empty)
    assert "Unfinished: 0 of 66 runs." in Text(page([empty], {})).text


def test_errors_are_per_cent_with_two_decimals(protocol):
    first = replace(protocol.cases[0], paper={"SVM": 35.6, "MMC": 3.2})
    protocol = replace(protocol, figure="error", cases=(first,))
    record = {"table": "2", "case": "Alpha", "method": "SVM", "value": 34.567, "seconds": 1.0, "chosen": {}}
    text = markdown(tabulate(protocol, [{**record, "repeat": k} for k in range(6)]))
    assert "35.6 / 34.57 / -1.03" in text
    assert line_of(text[text.index("| paper /") :], "Alpha")[2] == "3.2"
    assert "MMC (paper)" in text
    assert "Error in per cent, smaller is better" in text


@pytest.mark.parametrize("value, text", [(0.0004, "0.000"), (-0.0004, "0.000"), (0.0006, "+0.001"), (-0.02, "-0.020")])
def test_differences_have_a_sign_unless_they_are_zero(protocol, value, text):
    assert Writer(protocol).difference(value) == text


def test_the_overview_compares_like_with_like(protocol, table):
    ((title, cases, paper, ours, difference, runs),) = overview([table])
    everywhere = table.comparisons[0]
    assert (title, cases, runs) == ("Table 2: made up", "4 (1 †)", "66")
    assert (paper, ours) == (f"{everywhere.paper_means['WellSVM']:.3f}", f"{everywhere.means['WellSVM']:.3f}")
    assert float(difference) == pytest.approx(everywhere.means["WellSVM"] - everywhere.paper_means["WellSVM"], abs=1e-3)
    assert overview([tabulate(protocol, [])])[0][1:] == ("", "-", "-", "-", "0 of 66")


def test_at_a_glance_a_line_names_the_best_other_method_and_who_ranks_best_of_them(protocol, make_records):
    table = tabulate(protocol, make_records(protocol, shift=(0.0, 0.1, 0.05)))
    lines = [line_of(line, "Table 2") for line in glance_text([table]).splitlines()[2:]]
    assert [(line[1], line[2]) for line in lines] == [("4", "2"), ("3", "3")]
    for line, comparison in zip(lines, table.comparisons):
        others = {m: mean for m, mean in comparison.means.items() if m != "WellSVM"}
        best = max(others, key=others.get)
        assert line[3] == f"{others[best]:.3f} ({best})"
        assert line[5] == f"{comparison.means['WellSVM']:.3f}"
        ranks = comparison.ranking.ranks
        first = min(others, key=ranks.get)
        assert line[7] == f"{ranks['WellSVM']:.2f}; {ranks[first]:.2f} ({first})"
    assert glance_text([tabulate(protocol, [])]) == ""


def test_the_page_is_whole_needs_nothing_and_shows_every_figure(table, environment):
    text = page([table], environment)
    parsed = Text(text)
    assert not re.search(r"<(script|link|iframe|img|object)|url\(|@import|//", text)
    links = [value for name, value in parsed.attributes if name == "href"]
    assert links == ["#table-2"]
    assert ("id", "table-2") in parsed.attributes
    for row in table.rows:
        for cell in row.cells.values():
            if cell.mean is not None:
                assert f"{cell.mean:.3f} ± {cell.std:.3f}" in parsed.text
                assert f"paper {cell.paper:.2f}, {cell.difference:+.3f}" in parsed.text
    assert "paper: average, 3 cases" in parsed.text
    assert f"{table.comparisons[1].paper_means['Rival']:.3f}" in parsed.text
    assert "native (avx2)" in parsed.text
    assert text.count("<svg") == 2


def test_dots_stand_where_their_values_are():
    values = [0.2, 0.9, 0.5]
    for log in (False, True):
        lines = [(f"case {k} <b>", [Dot(v, f"{v}", error=None if log else 0.1)]) for k, v in enumerate(values)]
        svg = dot_chart(lines, label="", x_label="", log=log)
        points = np.array(re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg), dtype=float)
        assert np.argsort(points[:, 0]).tolist() == np.argsort(values).tolist()
        assert np.all(np.diff(points[:, 1]) > 0)
        share = (points[2, 0] - points[0, 0]) / (points[1, 0] - points[0, 0])
        assert share == pytest.approx(np.log(2.5) / np.log(4.5) if log else 0.3 / 0.7, abs=0.01)
        assert "case 0 <b>" in unescape(svg)
        assert "<b>" not in svg
    for log in (False, True):
        assert "<circle" in dot_chart([("one", [Dot(5.0, "")])], label="", x_label="", log=log)


def test_parquet_has_a_row_for_every_record(protocol, make_records, tmp_path, environment):
    polars = pytest.importorskip("polars")
    records = make_records(protocol)
    write_files([tabulate(protocol, records)], records, tmp_path, environment)
    frame = polars.read_parquet(tmp_path / "results.parquet")
    assert frame.height == len(records)
    for name in ("table", "case", "method", "repeat", "value", "seconds", "n_iter"):
        assert frame[name].to_list() == [record[name] for record in records]
    assert json.loads(frame["chosen"][0]) == {"C": 1.0}
    assert json.loads(frame["environment"][0]) == environment
    write_files([tabulate(protocol, [])], [], tmp_path, environment)
    assert polars.read_parquet(tmp_path / "results.parquet").height == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md", "results.parquet"]


def test_filling_a_page_again_changes_nothing_and_leaves_the_rest(table, tmp_path):
    target = tmp_path / "page.md"
    kept = "# Title\n\n<!-- reproduce 3 -->\nold\n<!-- end -->\n\n<!-- bench 2 -->\nother\n<!-- end -->\n"
    target.write_text(kept + "<!-- reproduce 2 -->\n<!-- end -->\nwords\n")
    fill(target, [table])
    once = target.read_text(encoding="utf-8")
    fill(target, [table])
    assert target.read_text(encoding="utf-8") == once
    assert once.startswith(kept)
    assert once.endswith("<!-- end -->\nwords\n")
    assert markdown(table) in once


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_the_page_without_requests(table, tmp_path, environment, scheme):
    playwright = pytest.importorskip("playwright.sync_api")
    system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    path = tmp_path / "report.html"
    path.write_text(page([table], environment), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=system, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("no Chromium is installed")
        view = browser.new_page(color_scheme=scheme, viewport={"width": 400, "height": 800})
        asked = []
        view.on("request", lambda request: asked.append(request.url))
        view.goto(path.as_uri())
        assert asked == [path.as_uri()]
        assert view.evaluate("document.documentElement.scrollWidth") <= 400  # wide tables scroll inside their card
        colour = "getComputedStyle(document.querySelector('svg circle.hollow')).stroke"
        ring = sum(map(int, re.findall(r"\d+", view.evaluate(colour))[:3]))
        assert ring < 200 if scheme == "light" else ring > 600
        browser.close()
