"""The tables at a glance: our averages and average ranks, beside the best other method and the paper's figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.markdown import pipe_table
from experiments.paper.cells import OURS, SKIPPED, Writer
from experiments.paper.figures import Comparison, PaperTable
from experiments.paper.protocol import AS_IN_PAPER

__all__ = ["glance_text"]

# Of bags, what chooses its parameters by itself: what a user takes.
BAGS = "MultiInstanceSVCCV"
HEAD = (
    "",
    "cases",
    "methods",
    "best of the others",
    AS_IN_PAPER,
    "ours",
    f"paper's {OURS}",
    "rank of ours; best of the others",
)
FEWEST = 3  # cases, for an average rank


def glance_text(tables: Sequence[PaperTable]) -> str:
    """A line for every comparison of a numbered table that our method is part of; empty if there is none."""
    lines = [
        line
        for table in tables
        if table.protocol.table.isdigit()
        for comparison in table.comparisons
        if OURS in comparison.methods and len(comparison.cases) >= FEWEST
        for line in _lines(table, comparison)
    ]
    return pipe_table(HEAD, lines) if lines else ""


def _lines(table: PaperTable, comparison: Comparison) -> Iterator[list[str]]:
    write, means, ranks = Writer(table.protocol), comparison.means, comparison.ranking.ranks
    others = [m for m in comparison.methods if not m.startswith((OURS, BAGS, AS_IN_PAPER))]
    if not others:
        return
    ours = BAGS if BAGS in means else OURS
    best = (max if table.protocol.higher_is_better else min)(others, key=lambda m: means[m])
    first = min(others, key=lambda m: ranks[m])
    paper = comparison.paper_means.get(OURS)
    yield [
        f"Table {table.protocol.table}",
        str(len(comparison.cases)),
        str(len(comparison.methods)),
        f"{write.number(means[best])} ({best})",
        write.number(means[AS_IN_PAPER]) if AS_IN_PAPER in means else SKIPPED,
        write.number(means[ours]) + (f" ({ours})" if ours != OURS else ""),
        SKIPPED if paper is None else write.number(paper),
        f"{ranks[ours]:.2f}; {ranks[first]:.2f} ({first})",
    ]
