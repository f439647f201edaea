"""Tables of the records: one line of text cells per case and method, written as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from wellsvm._versions import described
from wellsvm.bench.runner import Record

__all__ = ["COLUMNS", "Line", "about", "latest", "lines_of", "markdown"]

SMALL_X = 2**20  # bytes; below, X is smaller than what any library allocates, and a share of it says nothing


def latest(records: Sequence[Record]) -> list[Record]:
    """What counts: of every case the records of the environment it was last measured in, of every round the last."""
    last = {(r["workload"], r["case"]): r["environment"] for r in records}
    kept = {
        (r["workload"], r["case"], r["method"], r["repeat"]): r
        for r in records
        if r["environment"] == last[r["workload"], r["case"]]
    }
    return list(kept.values())


class Column(NamedTuple):
    """A figure: its heading, how it is taken from a record (None where there is none), written, and summed up."""

    title: str
    value: Callable[[Record], Any]
    write: Callable[[Any], str]
    over_rounds: Callable[[list[Any]], Any] = median


def _field(name: str) -> Callable[[Record], Any]:
    return lambda record: record.get(name)


def _memory(record: Record) -> float | None:
    return record["extra_bytes"] / record["x_bytes"] if record.get("x_bytes", 0) >= SMALL_X else None


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


class Line(NamedTuple):
    """The rounds of one case and method, summed up; ``figures`` maps names of `COLUMNS` to text."""

    data: str
    rows: str
    settings: str
    method: str
    figures: dict[str, str]
    note: str


def lines_of(records: Sequence[Record], workload: str) -> list[Line]:
    """Lines of a workload. Of several rounds the median is shown; bits are the same if they are in all."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record["workload"] == workload:
            groups.setdefault((record["case"], record["method"]), []).append(record)
    return [_line(group) for group in groups.values()]


def _line(group: list[Record]) -> Line:
    first, figures = group[0], {}
    for name, column in COLUMNS.items():
        values = [value for record in group if (value := column.value(record)) is not None]
        if values:
            figures[name] = column.write(column.over_rounds(values))
    settings = ", ".join(f"{key}={value}" for key, value in first["settings"].items())
    rows = f"{first['n']:,}" if first["n"] else ""
    return Line(first["data"], rows, settings, first["method"], figures, _note(group))


def _note(group: list[Record]) -> str:
    notes = [f"skipped: {record['skipped']}" for record in group if "skipped" in record]
    notes += [record["note"] for record in group if "note" in record]
    notes += [name for record in group for name in record.get("warnings", ())]
    notes += [record["about_data"] for record in group if record.get("about_data")]
    return "; ".join(dict.fromkeys(notes))


def about(records: Sequence[Record], workload: str) -> str:
    """One line: profile, rounds, backend, processors, versions."""
    chosen = [record for record in records if record["workload"] == workload]
    here, rounds = chosen[-1]["environment"], 1 + max(record["repeat"] for record in chosen)
    return f"Profile {chosen[-1]['profile']}, {rounds} round{'s' * (rounds > 1)}; {described(here)}."


def markdown(lines: Sequence[Line]) -> str:
    """A Markdown table; columns without a value are left out."""
    shown = [name for name in COLUMNS if any(name in line.figures for line in lines)]
    heading = ["data", "rows", "settings", "method", *(COLUMNS[name].title for name in shown), "note"]
    rule = ["---", "---:", "---", "---", *("---:" for _ in shown), "---"]
    cells = [
        [line.data, line.rows, line.settings, line.method, *(line.figures.get(name, "") for name in shown), line.note]
        for line in lines
    ]
    used = [k for k in range(len(heading)) if any(row[k] for row in cells)]
    return "\n".join(
        "| " + " | ".join(row[k].replace("|", "\\|") for k in used) + " |" for row in (heading, rule, *cells)
    )
