"""The tables as one HTML page that needs nothing but itself: no network, no script, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from experiments.internals import MOST_COLOURS, Raw, legend, section
from experiments.internals import page as whole_page
from experiments.internals import table as html_table
from experiments.paper.cells import (
    OURS,
    OVERVIEW_HEAD,
    SKIPPED,
    Writer,
    average_name,
    case_name,
    heading,
    iterations,
    overview,
    progress,
    seconds,
    summary,
)
from experiments.paper.dots import Dot, dot_chart
from experiments.paper.figures import PaperTable, Row
from experiments.paper.notes import footnotes, stand_in_legend

__all__ = ["page"]

STYLE = """
main { max-width: 1120px; }
td small { display: block; color: var(--soft); font-size: 12px; white-space: nowrap; }
td, th { white-space: nowrap; } td:first-child { font-weight: 600; white-space: normal; min-width: 120px; }
tr.chosen td { border-bottom: 0; font-size: 13px; background: var(--page); }
tr.chosen td:first-child { padding-left: 6px; }
.notes { margin: 12px 0 0; padding-left: 18px; color: var(--soft); font-size: 13px; max-width: 95ch; }
svg { max-width: 860px; } svg circle.hollow { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.legend i.dot { width: 10px; height: 10px; border-radius: 5px; vertical-align: -1px; }
.legend i.hollow { background: none; border: 2px solid var(--ink); }
a { color: inherit; }
"""
TITLE = "Tables of the paper, reproduced"


def page(tables: Sequence[PaperTable], environment: Mapping[str, str]) -> str:
    """One page with an overview, then for every table its figures, pictures and footnotes."""
    rows = [
        [Raw(f'<a href="#table-{escape(table.protocol.table)}">{escape(line[0])}</a>'), *line[1:]]
        for table, line in zip(tables, overview(tables))
    ]
    about = (
        "Experiments of Li, Tsang, Kwok and Zhou, Convex and Scalable Weakly Labeled SVMs (2013), run again. "
        f"{stand_in_legend(tables)}"
    )
    footer = ", ".join(f"{name} {value}" for name, value in environment.items())
    parts = [section("Overview", html_table(OVERVIEW_HEAD, rows)), *(_section(table) for table in tables)]
    return whole_page(TITLE, f"<h1>{escape(TITLE)}</h1>\n<p>{escape(about)}</p>", parts, footer, STYLE)


def _section(table: PaperTable) -> str:
    rows = [row for row in table.rows if row.shown]
    notes = "".join(f"<li>{escape(note)}</li>" for note in footnotes(table))
    parts = [_badge(progress(table)), f'<ul class="notes">{notes}</ul>']
    if rows:
        parts[1:1] = [_figures(table, rows), _beside_paper(table, rows), _times(table, rows)]
    made = section(heading(table.protocol), *parts, note=table.protocol.notes)
    return made.replace("<section>", f'<section id="table-{escape(table.protocol.table)}">', 1)


def _badge(unfinished: str) -> str:
    return f'<span class="badge warn" style="margin: 0 0 8px">{escape(unfinished)}</span>' if unfinished else ""


def _figures(table: PaperTable, rows: Sequence[Row]) -> str:
    """Ours, and below in every cell the paper's figure and the difference."""
    write = Writer(table.protocol)
    methods = [*table.methods, *table.only_paper]
    lines: list[list[str]] = [[case_name(row), *(_cell(write, row, m) for m in methods)] for row in rows]
    below = [[name, *(figures.get(m, "") for m in methods)] for name, figures in [*summary(table), *_of_paper(table)]]
    head = ["", *table.methods, *(f"{m} (paper only)" for m in table.only_paper)]
    return html_table(head, lines + below, range(len(lines), len(lines) + len(below)))


def _of_paper(table: PaperTable) -> Iterator[tuple[str, dict[str, str]]]:
    """The paper's averages and average ranks on the cases of ours."""
    write = Writer(table.protocol)
    for comparison in table.comparisons:
        if comparison.paper_means:
            figures = {m: write.number(value) for m, value in comparison.paper_means.items()}
            yield f"paper: {average_name(comparison)}", figures
        if comparison.paper_ranking is not None:
            yield "paper: average rank", {m: f"{value:.2f}" for m, value in comparison.paper_ranking.ranks.items()}


def _cell(write: Writer, row: Row, method: str) -> Raw:
    cell, paper = row.cells.get(method), row.case.paper.get(method)
    ours = SKIPPED if cell is None else write.ours(cell)
    if paper is None:
        return Raw(escape(ours))
    gap = None if cell is None else cell.difference
    difference = "" if gap is None else f", {write.difference(gap)}"
    return Raw(f"{escape(ours)}<small>paper {write.paper(paper)}{difference}</small>")


def _beside_paper(table: PaperTable, rows: Sequence[Row]) -> str:
    """Our method: the paper's figures and ours with the standard deviation."""
    write, lines = Writer(table.protocol), []
    for row in rows:
        cell = row.cells.get(OURS)
        if cell is None or cell.mean is None:
            continue
        dots = [Dot(cell.mean, f"{case_name(row)}, ours: {write.ours(cell)}", error=cell.std)]
        if cell.paper is not None:
            dots.append(Dot(cell.paper, f"{case_name(row)}, paper: {write.paper(cell.paper)}", hollow=True))
        lines.append((case_name(row), dots))
    if not lines:
        return ""
    unit = "error, per cent" if table.protocol.figure == "error" else table.protocol.figure
    keys = legend([("s0 dot", "ours, with its standard deviation"), ("hollow dot", "paper")])
    chart = dot_chart(lines, label=f"{OURS}: {unit} of every case, ours and the paper's", x_label=unit)
    return f"<h3>{OURS}, ours and the paper's</h3>{keys}{chart}"


def _times(table: PaperTable, rows: Sequence[Row]) -> str:
    """CPU time of every method, drawn; as a table with the label vectors behind a click."""
    colours = {m: f"s{k}" if k < MOST_COLOURS else "quiet" for k, m in enumerate(_ours_first(table.methods))}
    lines = []
    for row in rows:
        known = [(m, row.cells[m]) for m in reversed(colours) if row.cells[m].seconds]
        dots = [Dot(c.seconds or 0.0, f"{case_name(row)}, {m}: {seconds(c)} s", colours[m]) for m, c in known]
        lines.append((case_name(row), dots))
    if not any(dots for _, dots in lines):
        return ""
    chart = dot_chart(
        lines, label="CPU seconds of every case and method", x_label="CPU seconds of a fit, median", log=True
    )
    keys = legend((f"{colour} dot", m) for m, colour in colours.items())
    counted = [m for m in table.methods if any(row.cells[m].n_iter for row in rows)]
    cells = [
        [
            case_name(row),
            *(seconds(row.cells[m]) for m in table.methods),
            *(iterations(row.cells[m]) for m in counted),
        ]
        for row in rows
    ]
    figures = html_table(["", *table.methods, *(f"{m}: label vectors" for m in counted)], cells)
    return (
        f"<h3>CPU time</h3>{keys}{chart}"
        f"<details><summary>CPU seconds and label vectors</summary><div>{figures}</div></details>"
    )


def _ours_first(methods: Sequence[str]) -> list[str]:
    return sorted(methods, key=lambda method: method != OURS)
