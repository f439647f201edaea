"""Tables of the entries: one line of text cells per contest and method, written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from experiments.environment import described
from experiments.journal import Entry
from experiments.markdown import pipe_table

__all__ = ["COLUMNS", "ContestLine", "about", "latest", "lines_of", "markdown"]

SMALL_X = 2**20  # bytes; below, X is smaller than what any library allocates, and a share of it says nothing


def latest(entries: Sequence[Entry]) -> list[Entry]:
    """What counts: of every contest the entries of the environment it was last measured in, of every round the last."""
    last = {(e["workload"], e["case"]): e["environment"] for e in entries}
    kept = {
        (e["workload"], e["case"], e["method"], e["repeat"]): e
        for e in entries
        if "error" not in e and e["environment"] == last[e["workload"], e["case"]]
    }
    return list(kept.values())


class Column(NamedTuple):
    """A figure: its heading, how it is taken from an entry (None where there is none), written, and summed up."""

    title: str
    value: Callable[[Entry], Any]
    write: Callable[[Any], str]
    over_rounds: Callable[[list[Any]], Any] = median


def _field(name: str) -> Callable[[Entry], Any]:
    return lambda entry: entry.get(name)


def _memory(entry: Entry) -> float | None:
    return entry["extra_bytes"] / entry["x_bytes"] if entry.get("x_bytes", 0) >= SMALL_X else None


COLUMNS = {
    "seconds": Column("seconds", _field("wall"), "{:.3g}".format),
    "ratio": Column("ratio", _field("ratio"), "{:.2f}".format),
    "cpu": Column("CPU s", _field("cpu"), "{:.3g}".format),
    "memory": Column("extra memory / X", _memory, "{:.2f}".format),
    "test": Column("test accuracy", _field("accuracy_test"), "{:.3f}".format),
    "unlabeled": Column("accuracy on unlabeled", _field("accuracy_unlabeled"), "{:.3f}".format),
    "clusters": Column("clustering accuracy", _field("accuracy_clusters"), "{:.3f}".format),
    "objective": Column("objective", _field("objective"), "{:.5g}".format),
    "gap": Column("gap", _field("gap"), "{:.0e}".format),
    "n_iter": Column("n_iter", _field("n_iter"), "{:.0f}".format),
    "bits": Column("same bits", _field("same_bits"), lambda same: "yes" if same else "no", over_rounds=all),
}


class ContestLine(NamedTuple):
    """The rounds of one contest and method, summed up; ``figures`` maps names of `COLUMNS` to text."""

    data: str
    rows: str
    settings: str
    method: str
    figures: dict[str, str]
    note: str


def lines_of(entries: Sequence[Entry], workload: str) -> list[ContestLine]:
    """Lines of a workload. Of several rounds the median is shown; bits are the same if they are in all."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry["workload"] == workload:
            groups.setdefault((entry["case"], entry["method"]), []).append(entry)
    return [_line(group) for group in groups.values()]


def _line(group: list[Entry]) -> ContestLine:
    first, figures = group[0], {}
    for name, column in COLUMNS.items():
        values = [value for entry in group if (value := column.value(entry)) is not None]
        if values:
            figures[name] = column.write(column.over_rounds(values))
    settings = ", ".join(f"{key}={value}" for key, value in first["settings"].items())
    rows = f"{first['n']:,}" if first["n"] else ""
    return ContestLine(first["data"], rows, settings, first["method"], figures, _note(group))


def _note(group: list[Entry]) -> str:
    notes = [f"skipped: {entry['skipped']}" for entry in group if "skipped" in entry]
    notes += [entry["note"] for entry in group if "note" in entry]
    notes += [name for entry in group for name in entry.get("warnings", ())]
    notes += [entry["about_data"] for entry in group if entry.get("about_data")]
    return "; ".join(dict.fromkeys(notes))


def about(entries: Sequence[Entry], workload: str) -> str:
    """One line: profile, rounds, backend, processors, versions."""
    chosen = [entry for entry in entries if entry["workload"] == workload]
    here, rounds = chosen[-1]["environment"], 1 + max(entry["repeat"] for entry in chosen)
    return f"Profile {chosen[-1]['profile']}, {rounds} round{'s' * (rounds > 1)}; {described(here)}."


def markdown(lines: Sequence[ContestLine]) -> str:
    """A Markdown table; columns without a value are left out."""
    shown = {name: column.title for name, column in COLUMNS.items() if any(name in line.figures for line in lines)}
    head = ["data", "rows", "settings", "method", *shown.values(), "note"]
    cells = [
        [line.data, line.rows, line.settings, line.method, *(line.figures.get(name, "") for name in shown), line.note]
        for line in lines
    ]
    used = [k for k in range(len(head)) if any(row[k] for row in cells)]
    return pipe_table(
        [head[k] for k in used], [[row[k] for k in used] for row in cells], ("settings", "method", "note")
    )
