"""What a reader gets of the results: Parquet, Markdown and one HTML page, and tables inside a page of documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments import marked_places
from experiments.environment import described
from experiments.internals import replacing
from experiments.journal import Entry
from experiments.paper.document import document, markdown
from experiments.paper.figures import PaperTable
from experiments.paper.glance import glance_text
from experiments.paper.html_page import page
from experiments.paper.reasons import reasons_text

__all__ = ["COSTS", "FILES", "GLANCE", "KIND", "REASONS", "fill", "write_files"]

# What `write_files` writes.
FILES = ("results.parquet", "report.md", "report.html")
# Kind of the marked places of a page.
KIND = "reproduce"
# Places of what is said of several tables.
REASONS, GLANCE, COSTS = "reasons", "glance", "costs"


def write_files(
    tables: Sequence[PaperTable], entries: Sequence[Entry], folder: Path, environment: Mapping[str, str]
) -> None:
    """Write the files of `FILES` into a folder; each is whole or as it was.

    Parameters
    ----------
    tables : sequence of PaperTable
        What to show.
    entries : sequence of dict
        What they were made of, as `experiments.paper.figures` describes it.
    folder : Path
        Where the files go.
    environment : dict
        Backend, versions and processors of the runs; empty if they are not known.
    """
    about = f"{described(environment)}." if environment else "The environment was not recorded."
    _write_parquet(entries, folder / FILES[0], environment)
    for name, text in zip(FILES[1:], (document(tables, about), page(tables, environment))):
        with replacing(folder / name) as file:
            file.write(text.encode("utf-8"))


def fill(target: Path, tables: Sequence[PaperTable], costs: str = "") -> None:
    """Write tables into the marked places of a page, ``<!-- reproduce 2 -->`` ... ``<!-- end -->``.

    A place "reasons" has why the paper's algorithm is off, if all tables that show it are among them. What is said of
    all tables, "glance" and "costs", is written with the text of costs, which is there if all tables are.
    """
    sections = {table.protocol.table: markdown(table) for table in tables}
    more = {REASONS: reasons_text(tables), COSTS: costs, GLANCE: glance_text(tables) if costs else ""}
    marked_places.fill(target, KIND, sections | {name: text for name, text in more.items() if text})


def _write_parquet(entries: Sequence[Entry], path: Path, environment: Mapping[str, str]) -> None:
    """One row for every entry; parameters and environment as JSON."""
    import polars

    schema: dict[str, Any] = {
        "table": polars.String,
        "case": polars.String,
        "method": polars.String,
        "repeat": polars.Int64,
        "value": polars.Float64,
        "seconds": polars.Float64,
        "n_iter": polars.Int64,
        "chosen": polars.String,
        "environment": polars.String,
    }
    where = json.dumps(dict(environment))
    rows = [
        {**{name: entry.get(name) for name in schema}, "chosen": json.dumps(entry["chosen"]), "environment": where}
        for entry in entries
    ]
    with replacing(path) as file:
        polars.DataFrame(rows, schema=schema).write_parquet(file)
