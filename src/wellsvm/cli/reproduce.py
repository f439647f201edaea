"""``wellsvm reproduce``: the tables of the paper, ours beside its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from wellsvm.cli._console import Failure, check_places, stderr, told_in_one_line
from wellsvm.cli._summary import print_table

if TYPE_CHECKING:
    from wellsvm.reproduce.protocol import Protocol
    from wellsvm.reproduce.runner import Runner

__all__ = ["reproduce"]

# Without a terminal a line is printed after every such share of the runs.
LINES = 20
WAYS_OUT = "Name their folder with --data or in WELLSVM_DATA, or fetch what OpenML has with --download."
# Letters of an error.
LONGEST = 200
# Seconds over which the time left is estimated: runs differ a lot.
ESTIMATED_OVER = 600.0

Names = Annotated[list[str] | None, typer.Argument(metavar="TABLE", help="All of --list if none is named.")]
Fast = Annotated[bool, typer.Option("--fast", help="Few repeats, sets and parameters: minutes, to see it run.")]
Jobs = Annotated[int, typer.Option(min=1, max=4096, help="Processes.")]
Out = Annotated[
    Path | None, typer.Option(help="Folder of the results; wellsvm-reproduce, or wellsvm-reproduce-fast with --fast.")
]
Data = Annotated[
    Path | None, typer.Option(exists=True, file_okay=False, help="Folder of the data sets; WELLSVM_DATA if left out.")
]
Download = Annotated[bool, typer.Option("--download", help="Fetch sets that are not there from OpenML.")]
Page = Annotated[Path | None, typer.Option(help="Page with places '<!-- reproduce 2 -->' ... '<!-- end -->' to fill.")]
ReportOnly = Annotated[bool, typer.Option("--report-only", help="Run nothing; write the reports of what is there.")]
List = Annotated[bool, typer.Option("--list", help="Print the tables and run nothing.")]


def reproduce(
    tables: Names = None,
    fast: Fast = False,
    jobs: Jobs = 1,
    out: Out = None,
    data: Data = None,
    download: Download = False,
    fill: Page = None,
    report_only: ReportOnly = False,
    show: List = False,
) -> None:
    """Run the experiments of the paper with its protocol and print ours beside its figures.

    Results are kept in the folder as they come: a run that was stopped goes on, and what is there is not run again. At
    the end the folder has report.md, report.html and results.parquet. From Python, wellsvm.reproduce.runner.Runner
    inside joblib.parallel_config runs on any backend of joblib, Dask and Ray among them.
    """
    # Imported here: the other commands do not need it, and start faster without.
    from wellsvm.reproduce import protocol as protocols_of
    from wellsvm.reproduce.cells import count
    from wellsvm.reproduce.runner import Runner

    try:
        protocols = [protocols_of.load_protocol(name, fast) for name in dict.fromkeys(tables or protocols_of.tables())]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if show:
        print_table("tables", [(p.table, f"{p.title} ({len(p.cases)} cases, {p.repeats} repeats)") for p in protocols])
        return
    if fill is not None:
        check_places("--fill", fill, "reproduce", [protocol.table for protocol in protocols])
    with told_in_one_line():
        folder = out or Path(f"wellsvm-reproduce{'-fast' * fast}")
        folder.mkdir(parents=True, exist_ok=True)
        runner = Runner(folder, jobs, data, download)
        missing = runner.missing(protocols)
        if missing and not report_only:
            absent = f"left out, as the data are not there: {', '.join(missing)}. {WAYS_OUT}"
            stderr().print(f"wellsvm: {absent}", markup=False)
        failed = [] if report_only else _run(runner, protocols, folder)
        if not failed and not runner.records(protocols):
            raise Failure(f"there is no result to show. {'Leave out --report-only.' if report_only else WAYS_OUT}")
        _report(runner, protocols, folder, missing, fill)
    if failed:
        raise Failure(f"{count(len(failed), 'run')} failed; the same command tries again. The first: {failed[0]}")


def _run(runner: Runner, protocols: Sequence[Protocol], folder: Path) -> list[str]:
    """Run what is not there yet, and show how far it is; what failed."""
    from wellsvm.bench.runner import environment
    from wellsvm.reproduce.report import note_environment

    units, total = runner.plan(protocols), runner.total(protocols)
    done, failed, console = total - len(units), [], stderr()
    if not units:
        return []
    note_environment(folder, environment())
    columns = (
        BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    plain = not console.is_terminal
    try:
        with Progress(
            *columns, console=console, transient=True, disable=plain, speed_estimate_period=ESTIMATED_OVER
        ) as progress:
            task = progress.add_task("Starting", total=total, completed=done)
            for record in runner.run(units):
                done += 1
                what = f"table {record['table']}, {record['case']}, {record['method']}"
                if "error" in record:
                    failed.append(f"{what}: {_in_a_line(record['error'])}")
                    console.print(f"wellsvm: failed: {failed[-1]}", markup=False)
                progress.update(task, description=what, completed=done)
                if plain and (done * LINES // total > (done - 1) * LINES // total):
                    console.print(f"{done} of {total} runs, last: {what}", markup=False)
    except KeyboardInterrupt:
        saved = f"{done - len(failed)} of {total} runs are in {folder}"
        console.print(f"{saved}; the same command goes on, --report-only shows what is there.", markup=False)
        raise
    return failed


def _in_a_line(error: str) -> str:
    """An error without its line breaks; of one with a traceback the beginning and the end."""
    text = " ".join(error.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def _report(
    runner: Runner, protocols: Sequence[Protocol], folder: Path, missing: dict[str, str], page: Path | None
) -> None:
    from wellsvm.reproduce import report
    from wellsvm.reproduce.cells import heading
    from wellsvm.reproduce.markdown import markdown

    left = Counter(unit.table for unit in runner.plan(protocols))
    runs: dict[str, tuple[int, int]] = {}
    for protocol in protocols:
        total = runner.total([protocol])
        runs[protocol.table] = (total - left[protocol.table], total)
    here = report.known_environment(folder) or {"environment": "not recorded"}
    records: list[dict[str, Any]] = runner.records(protocols)
    tables = report.write_report(protocols, records, folder, here, missing, runs)
    for table in tables:
        print(f"{heading(table.protocol)}\n\n{markdown(table)}\n")
    stderr().print(f"Reports: {', '.join(str(folder / name) for name in report.FILES)}", markup=False)
    if page is not None:
        report.fill(page, tables)
        stderr().print(f"Filled in {page}", markup=False)
