"""How the figures of a table are written. Markdown and HTML use the same, so that marks are the same in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.paper.figures import Cell, Comparison, PaperTable, Row
from experiments.paper.protocol import Protocol

__all__ = [
    "BETTER", "DAGGER", "OURS", "OVERVIEW_HEAD", "SKIPPED", "WORSE", "Writer", "average_name", "case_name", "count",
    "heading", "iterations", "overview", "progress", "seconds", "summary",
]  # fmt: skip

# What protocols call the method of this package.
OURS = "WellSVM"
DAGGER, BETTER, WORSE, SKIPPED = "†", "●", "○", "-"
OVERVIEW_HEAD = ("", "cases", f"{OURS}: paper", "ours", "difference", "runs")


class Writer:
    """Writes figures of one table with equally many decimals: ours with one more than the paper's shares."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        percent = protocol.figure == "error"
        self.decimals = 2 if percent else 3
        printed = (f"{value:g}".partition(".")[2] for case in protocol.cases for value in case.paper.values())
        self.paper_decimals = max([1 if percent else 2, *map(len, printed)])

    def ours(self, cell: Cell) -> str:
        """Mean, standard deviation, mark and, if there are fewer than the protocol's, number of runs."""
        if cell.mean is None:
            return SKIPPED if cell.skipped is not None else ""
        text = self.number(cell.mean)
        if cell.std is not None:
            text += f" ± {self.number(cell.std)}"
        if cell.verdict:
            text += f" {BETTER if cell.verdict > 0 else WORSE}"
        return text + (f" ({cell.n})" if cell.n < self.protocol.repeats else "")

    def number(self, value: float) -> str:
        """A figure of ours."""
        return f"{value:.{self.decimals}f}"

    def paper(self, value: float | None) -> str:
        """A figure of the paper; ``-`` for none."""
        return SKIPPED if value is None else f"{value:.{self.paper_decimals}f}"

    def difference(self, value: float) -> str:
        """With its sign; 0 has none."""
        text = f"{value:+.{self.decimals}f}"
        return text[1:] if float(text) == 0 else text


def case_name(row: Row) -> str:
    """The case, with a dagger where its data are not, or not surely, the paper's."""
    return f"{row.case.name} {DAGGER}" if row.case.stand_in else row.case.name


def heading(protocol: Protocol) -> str:
    """The title of a table."""
    name = f"Table {protocol.table}" if protocol.table.isdigit() else protocol.table.replace("-", " ").capitalize()
    return f"{name}: {protocol.title}"


def progress(table: PaperTable) -> str:
    """What an unfinished table says of itself; empty for a finished one."""
    done, total = table.runs
    return "" if done >= total else f"Unfinished: {done} of {total} runs."


def average_name(comparison: Comparison) -> str:
    """Over how many cases an average goes."""
    return f"average, {count(len(comparison.cases), 'case')}"


def summary(table: PaperTable) -> Iterator[tuple[str, dict[str, str]]]:
    """Lines below a table: averages, average ranks, their z against the reference, win/tie/loss; by method."""
    write, reference = Writer(table.protocol), table.protocol.reference
    for comparison in table.comparisons:
        ranking = comparison.ranking
        yield average_name(comparison), {m: write.number(value) for m, value in comparison.means.items()}
        if len(ranking.ranks) > 1:
            yield "average rank", {m: f"{value:.2f}" for m, value in ranking.ranks.items()}
        if ranking.p is not None and ranking.z:
            yield f"z against {reference}", {m: f"{value:+.2f}" for m, value in ranking.z.items()}
    if table.wins:
        yield f"{reference}: win/tie/loss", {m: "/".join(map(str, counts)) for m, counts in table.wins.items()}
    used = {m: _share_used(table, m) for m in table.methods}
    if any(used.values()):
        yield "runs that use unlabeled rows", used


def _share_used(table: PaperTable, method: str) -> str:
    counts = [row.cells[method].used for row in table.rows if row.cells[method].used is not None]
    yes, total = (sum(column) for column in zip(*counts)) if counts else (0, 0)
    return f"{100 * yes / total:.0f} %" if total else ""


def seconds(cell: Cell) -> str:
    """Median CPU seconds."""
    return "" if cell.seconds is None else f"{cell.seconds:.3g}" if cell.seconds < 1000 else f"{cell.seconds:,.0f}"


def iterations(cell: Cell) -> str:
    """Label vectors generated: median and, in brackets, the most."""
    return "" if cell.n_iter is None else f"{cell.n_iter[0]:g} ({cell.n_iter[1]})"


def overview(tables: Sequence[PaperTable]) -> list[tuple[str, str, str, str, str, str]]:
    """Lines under `OVERVIEW_HEAD`, one per table."""
    lines = []
    for table in tables:
        write, (done, total) = Writer(table.protocol), table.runs
        cases, paper, ours, difference = "", SKIPPED, SKIPPED, SKIPPED
        for comparison in [c for c in table.comparisons if OURS in c.methods][:1]:
            marked = sum(row.case.name in comparison.cases and row.case.stand_in is not None for row in table.rows)
            cases = f"{len(comparison.cases)} ({marked} {DAGGER})" if marked else str(len(comparison.cases))
            ours = write.number(comparison.means[OURS])
            if OURS in comparison.paper_means:
                paper = write.number(comparison.paper_means[OURS])
                difference = write.difference(comparison.means[OURS] - comparison.paper_means[OURS])
        runs = str(done) if done >= total else f"{done} of {total}"
        lines.append((heading(table.protocol), cases, paper, ours, difference, runs))
    return lines


def count(n: int, what: str) -> str:
    """A number and a noun."""
    return f"{n} {what}{'s' * (n != 1)}"
