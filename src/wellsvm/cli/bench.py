"""``wellsvm bench``: what a fit costs beside scikit-learn on the same rows."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from wellsvm.cli._console import check_places, stderr, told_in_one_line
from wellsvm.cli._summary import print_table

if TYPE_CHECKING:
    from wellsvm.bench.table import Line

__all__ = ["bench"]

# Columns of `wellsvm.bench.table` for the terminal, under short headings.
SHOWN = {
    "seconds": "seconds", "ratio": "ratio", "memory": "mem/X", "test": "test", "unlabeled": "unlab.",
    "clusters": "accuracy", "bits": "bits",
}  # fmt: skip
METHOD_WIDTH = 35


class ProfileName(StrEnum):
    """Sizes of the data."""

    SMALL = "small"
    FULL = "full"


Names = Annotated[list[str] | None, typer.Argument(metavar="WORKLOAD", help="All of --list if none is named.")]
Profile = Annotated[ProfileName, typer.Option(help="small: a minute or two; full: hours.")]
Out = Annotated[Path, typer.Option(help="Folder of the records, tables and pictures.")]
Repeats = Annotated[int | None, typer.Option(min=1, max=1000, help="Rounds per case; 1 if small, 3 if full.")]
Page = Annotated[Path | None, typer.Option(help="Page with places '<!-- bench text -->' ... '<!-- end -->' to fill.")]
List = Annotated[bool, typer.Option("--list", help="Print the workloads and measure nothing.")]


def bench(
    workloads: Names = None,
    profile: Profile = ProfileName.SMALL,
    out: Out = Path("wellsvm-bench"),
    repeats: Repeats = None,
    fill: Page = None,
    show: List = False,
) -> None:
    """Measure time, memory and accuracy beside scikit-learn on the same rows.

    Every measurement runs in a process of its own. Records are appended to PROFILE.jsonl in the folder as they come: a
    run that was stopped goes on, and what is there is not measured again.
    """
    # Imported here: the other commands do not need it, and start faster without.
    from wellsvm._journal import read
    from wellsvm.bench.report import fill_page, write_report
    from wellsvm.bench.runner import Runner
    from wellsvm.bench.table import latest
    from wellsvm.bench.workloads import WORKLOADS, chosen

    if show:
        print_table("workloads", [(workload.name, workload.about) for workload in WORKLOADS.values()])
        return
    try:
        wanted = chosen(workloads or [])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    names = [workload.name for workload in wanted]
    places = [] if fill is None else check_places("--fill", fill, "bench", names)
    with told_in_one_line():
        out.mkdir(parents=True, exist_ok=True)
        path = out / f"{profile.value}.jsonl"
        Runner(profile.value, path, repeats, lambda line: stderr().print(line, markup=False)).run(wanted)
        records = latest(read(path))
        for name in names:
            _show(records, name)
        write_report(records, path.with_suffix(".md"))
        stderr().print(f"Tables and pictures: {path.with_suffix('.md')}; records: {path}", markup=False)
        if fill is not None:
            fill_page(records, places, fill)
            stderr().print(f"Filled in {fill}: {', '.join(places)}", markup=False)


def _show(records: list[dict[str, Any]], name: str) -> None:
    """Print the figures of a workload that fit a terminal; the Markdown file has all of them."""
    from wellsvm.bench.table import about, lines_of
    from wellsvm.bench.workloads import WORKLOADS

    console = Console(highlight=False, markup=False)
    console.print(f"\n{name}: {WORKLOADS[name].about}", style="bold")
    console.print(about(records, name), style="dim")
    for case, lines in groupby(lines_of(records, name), key=lambda line: (line.data, line.rows, line.settings)):
        console.print("\n" + ", ".join(part for part in (case[0], case[1] and f"{case[1]} rows", case[2]) if part))
        _print_case(console, list(lines))


def _print_case(console: Console, lines: list[Line]) -> None:
    shown = [column for column in SHOWN if any(column in line.figures for line in lines)]
    table = Table(box=None, padding=(0, 1), collapse_padding=True, header_style="dim")
    table.add_column("", min_width=METHOD_WIDTH)
    for column in shown:
        table.add_column(SHOWN[column], justify="right", min_width=len(SHOWN["seconds"]), no_wrap=True)
    for line in lines:
        table.add_row(line.method, *(line.figures.get(column, "") for column in shown))
    console.print(table)
    for line in lines:
        if line.note:
            console.print(f"  {line.method}: {line.note}", style="dim")
