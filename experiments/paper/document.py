"""A table as Markdown, to be read in a terminal as well: ours, ours beside the paper's, CPU time; then footnotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from experiments.markdown import pipe_table
from experiments.paper.cells import (
    OVERVIEW_HEAD,
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
from experiments.paper.figures import Comparison, PaperTable, Row
from experiments.paper.gains import gains
from experiments.paper.notes import footnotes, stand_in_legend
from experiments.paper.protocol import AS_IN_PAPER
from experiments.paper.reasons import reasons_text

__all__ = ["document", "markdown"]

# Methods side by side before another table is begun below; cells of the comparison are wider.
MOST_OURS, MOST_COMPARED, MOST_TIMED = 6, 4, 8

Item = TypeVar("Item")


def document(tables: Sequence[PaperTable], about: str) -> str:
    """All tables under headings, after an overview; ``about`` says where they were made."""
    parts = [
        "# Tables of the paper, reproduced",
        about,
        pipe_table(OVERVIEW_HEAD, overview(tables)),
        stand_in_legend(tables),
    ]
    for table in tables:
        parts += [f"## {heading(table.protocol)}", markdown(table)]
    if why := reasons_text(tables):
        parts += ["## Why the paper's algorithm is off the paper's figures", why]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(table: PaperTable) -> str:
    """One table, without its heading."""
    rows = [row for row in table.rows if row.shown]
    parts = [table.protocol.notes.strip(), progress(table)]
    if rows:
        parts += [
            *_ours(table, rows),
            *_same_choice(table),
            *_folded("Beside the paper's figures, set by set", [*_compared(table, rows), *_gains(table)]),
            *_folded("CPU seconds and label vectors", list(_times(table, rows))),
        ]
    parts.append("\n".join(f"- {note}" for note in footnotes(table)))
    return "\n\n".join(part for part in parts if part)


def _folded(title: str, parts: Sequence[str]) -> Iterator[str]:
    """Parts that a browser shows once they are asked for."""
    if parts:
        yield f"<details>\n<summary>{title}</summary>"
        yield from parts
        yield "</details>"


def _ours(table: PaperTable, rows: Sequence[Row]) -> Iterator[str]:
    write = Writer(table.protocol)
    for methods in _blocks(table.methods, MOST_OURS):
        lines = [[case_name(row), *(write.ours(row.cells[m]) for m in methods)] for row in rows]
        lines += [[name, *(figures.get(m, "") for m in methods)] for name, figures in summary(table)]
        yield pipe_table(["ours", *methods], lines)


def _same_choice(table: PaperTable) -> Iterator[str]:
    """The second block: the same cases, methods that all have the same choice or knowledge."""
    if table.same_choice is None:
        return
    yield table.protocol.same_choice_means.strip()
    rows = [row for row in table.same_choice.rows if row.shown]
    yield from _ours(table.same_choice, rows)


def _compared(table: PaperTable, rows: Sequence[Row]) -> Iterator[str]:
    """Paper / ours / difference; of methods that are not run the paper's figure alone."""
    write = Writer(table.protocol)
    both = [m for m in table.methods if any(row.cells[m].paper is not None for row in rows)]
    for methods in _blocks([*both, *table.only_paper], MOST_COMPARED):
        lines = [[case_name(row), *(_beside(write, row, m) for m in methods)] for row in rows]
        for comparison in table.comparisons:
            lines += _averages(comparison, methods, write)
        yield pipe_table(["paper / ours / difference", *(m if m in both else f"{m} (paper)" for m in methods)], lines)


def _beside(write: Writer, row: Row, method: str) -> str:
    cell, paper = row.cells.get(method), write.paper(row.case.paper.get(method))
    if cell is None or cell.mean is None:
        return paper
    ours = f"{paper} / {write.number(cell.mean)}"
    return ours if cell.difference is None else f"{ours} / {write.difference(cell.difference)}"


def _averages(comparison: Comparison, methods: Sequence[str], write: Writer) -> Iterator[list[str]]:
    """The paper's averages and average ranks beside ours, on the same cases."""
    paper, ours = comparison.paper_means, comparison.means
    yield [
        average_name(comparison),
        *(
            f"{write.number(paper[m])} / {write.number(ours[m])} / {write.difference(ours[m] - paper[m])}"
            if m in paper
            else ""
            for m in methods
        ),
    ]
    if comparison.paper_ranking is not None:
        paper, ours = comparison.paper_ranking.ranks, comparison.ranking.ranks
        if paper.keys() == ours.keys():
            yield ["average rank", *(f"{paper[m]:.2f} / {ours[m]:.2f}" if m in paper else "" for m in methods)]
        else:  # ranks among different numbers of methods do not compare
            yield ["average rank in the paper", *(f"{paper[m]:.2f}" if m in paper else "" for m in methods)]


def _gains(table: PaperTable) -> Iterator[str]:
    """What the paper's algorithm gains over the SVM, there and here, and how far our SVM is from the paper's."""
    found, write = list(gains(table)), Writer(table.protocol)
    if not found:
        return
    lines = [
        [
            case_name(gain.row),
            *(f"{write.difference(value)} ± {write.number(error)}" for value, error in (gain.paper, gain.ours)),
            f"{gain.apart:.1f}",
            write.difference(gain.svm_off),
        ]
        for gain in found
    ]
    svm = table.protocol.reference
    yield pipe_table(
        [f"gain over {svm}", "paper", f"ours, {AS_IN_PAPER}", "apart", f"our {svm} less the paper's"], lines
    )


def _times(table: PaperTable, rows: Sequence[Row]) -> Iterator[str]:
    counted = [m for m in table.methods if any(row.cells[m].n_iter for row in rows)]
    columns = [(m, seconds) for m in table.methods] + [(m, iterations) for m in counted]
    for block in _blocks(columns, MOST_TIMED):
        lines = [[case_name(row), *(write(row.cells[m]) for m, write in block)] for row in rows]
        yield pipe_table(
            ["CPU seconds, median", *(m if f is seconds else f"{m}: label vectors" for m, f in block)], lines
        )


def _blocks(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """As few blocks as possible, of nearly the same length."""
    count = -(-len(items) // most)
    for k in range(count):
        yield items[k * len(items) // count : (k + 1) * len(items) // count]
