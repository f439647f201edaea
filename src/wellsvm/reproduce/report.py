"""What a reader gets of the records: Parquet, Markdown and one HTML page, and tables inside a page of documentation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wellsvm import _marked
from wellsvm._files import replacing
from wellsvm._versions import described
from wellsvm.reproduce.markdown import document, markdown
from wellsvm.reproduce.page import page
from wellsvm.reproduce.protocol import Protocol
from wellsvm.reproduce.tables import Record, Table, tabulate

__all__ = ["FILES", "KIND", "fill", "known_environment", "note_environment", "write_report"]

# What `write_report` writes, and the file of `note_environment`.
FILES = ("results.parquet", "report.md", "report.html")
ENVIRONMENTS = "environment.json"
# Kind of the marked places of a page, see `wellsvm._marked`.
KIND = "reproduce"


def write_report(
    protocols: Sequence[Protocol],
    records: Sequence[Record],
    folder: Path,
    environment: Mapping[str, str],
    missing: Mapping[str, str] | None = None,
    runs: Mapping[str, tuple[int, int]] | None = None,
) -> list[Table]:
    """Write the files of a run into its folder; each is whole or as it was.

    Parameters
    ----------
    protocols : sequence of Protocol
        The tables to show.
    records : sequence of dict
        As `wellsvm.reproduce.tables` describes them.
    folder : Path
        Where ``results.parquet``, ``report.md`` and ``report.html`` go.
    environment : dict
        Backend, versions and processors of the runs.
    missing : dict, optional
        Data sets that are not there, with the reason.
    runs : dict, optional
        Per table runs done and asked for, see `tabulate`.

    Returns
    -------
    tables : list of Table
        What was written.
    """
    tables = [tabulate(p, records, missing, (runs or {}).get(p.table)) for p in protocols]
    _write_parquet(records, folder / FILES[0], environment)
    for name, text in zip(FILES[1:], (document(tables, f"{described(environment)}."), page(tables, environment))):
        with replacing(folder / name) as file:
            file.write(text.encode("utf-8"))
    return tables


def fill(target: Path, tables: Sequence[Table]) -> None:
    """Write tables into the marked places of a page, ``<!-- reproduce 2 -->`` ... ``<!-- end -->``."""
    _marked.fill(target, KIND, {table.protocol.table: markdown(table) for table in tables})


def note_environment(folder: Path, environment: Mapping[str, str]) -> None:
    """Keep in the folder where runs were made: a run may go on elsewhere, and a report be written anywhere."""
    known = _environments(folder)
    if dict(environment) not in known:
        with replacing(folder / ENVIRONMENTS) as file:
            file.write(json.dumps([*known, dict(environment)], indent=1).encode("utf-8"))


def known_environment(folder: Path) -> dict[str, str]:
    """Where the runs of a folder were made; empty if it does not tell. Of several places, all values."""
    merged: dict[str, list[str]] = {}
    for environment in _environments(folder):
        for name, value in environment.items():
            merged.setdefault(name, []).append(value)
    return {name: " and ".join(dict.fromkeys(values)) for name, values in merged.items()}


def _environments(folder: Path) -> list[dict[str, str]]:
    path = folder / ENVIRONMENTS
    if not path.exists():
        return []
    try:
        found: list[dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged ({error}); remove it, it is written anew by the next run") from None
    return found


def _write_parquet(records: Sequence[Record], path: Path, environment: Mapping[str, str]) -> None:
    """One row for every record; parameters and environment as JSON."""
    try:
        import polars
    except ImportError:
        raise ImportError("results as Parquet need polars: pip install 'wellsvm[cli]'") from None
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
        {**{name: record.get(name) for name in schema}, "chosen": json.dumps(record["chosen"]), "environment": where}
        for record in records
    ]
    with replacing(path) as file:
        polars.DataFrame(rows, schema=schema).write_parquet(file)
