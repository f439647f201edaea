"""What all of it costs: CPU time of the runs there are and, by them, of the runs that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from experiments.markdown import pipe_table
from experiments.paper.cells import heading
from experiments.paper.plan import TablePlan

__all__ = ["Cost", "cost", "costs_text"]


class Cost(NamedTuple):
    """Runs of a table that are done, left with a known time, and left without one; seconds of the first two."""

    done: int
    left: int
    unknown: int
    seconds: float
    seconds_left: float


def cost(plan: TablePlan) -> Cost:
    """Sum up a table: a run that is left takes the median of the same method on the same case. Of an experiment on
    request none is left."""
    known: dict[tuple[str, str], list[float]] = {}
    left: list[tuple[str, str]] = []
    for trial in (*plan.trials, *plan.others):
        what, entry = (trial.identity["unit"]["method"], trial.identity["unit"]["case"]), trial.result
        if entry is not None and "seconds" in entry:
            known.setdefault(what, []).append(float(entry["seconds"]))
        elif not plan.protocol.on_request:
            left.append(what)
    ahead = [median(known[what]) for what in left if what in known]
    times = [seconds for found in known.values() for seconds in found]
    return Cost(len(times), len(ahead), len(left) - len(ahead), sum(times), sum(ahead))


def costs_text(plans: Sequence[TablePlan]) -> str:
    """A line for every table and one for all, in minutes of one core."""
    costs = [cost(plan) for plan in plans]
    total = Cost(*(sum(column) for column in zip(*costs)))
    names = [*(heading(plan.protocol) for plan in plans), "all"]
    head = [
        "",
        "runs done",
        "CPU minutes",
        "runs left",
        "CPU minutes, by the median of those done",
        "left, never timed",
    ]
    return pipe_table(head, [[name, *_cells(of)] for name, of in zip(names, [*costs, total])])


def _cells(of: Cost) -> Iterator[str]:
    yield f"{of.done:,}"
    yield f"{of.seconds / 60:.1f}"
    yield f"{of.left:,}"
    yield f"{of.seconds_left / 60:.1f}"
    yield f"{of.unknown:,}"
