"""``python -m experiments reproduce``: the tables of the paper, ours beside its figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.arguments import Commands, add_shared, say
from experiments.data_folder import ENVIRONMENT_VARIABLE
from experiments.environment import known_environment, note_environment
from experiments.marked_places import check_places
from experiments.paper import outputs
from experiments.paper.cells import count, heading
from experiments.paper.document import markdown
from experiments.paper.figures import tabulate
from experiments.paper.pictures import write_pictures
from experiments.paper.plan import TablePlan, flat, plan_tables
from experiments.paper.protocol import load_protocol, tables
from experiments.paper.times import costs_text
from experiments.runner import Trial, follow, left, run

__all__ = ["add_command", "reproduce"]

WAYS_OUT = f"Name their folder with --data or in {ENVIRONMENT_VARIABLE}, or fetch what OpenML has with --download."


def add_command(commands: Commands, results: Path) -> None:
    """Describe the command; ``results`` is where results are kept."""
    parser = commands.add_parser("reproduce", help="the paper's tables, ours beside its figures")
    parser.add_argument("tables", metavar="TABLE", nargs="*", help="if none, all of --list but those on request")
    parser.add_argument(
        "--fast", action="store_true", help="few repeats, sets and parameters, in a folder of their own: minutes"
    )
    add_shared(parser, results / "reproduction", jobs=True)
    parser.add_argument("--methods", metavar="METHOD", nargs="+", help="run these only; tables show all that is there")
    parser.add_argument("--cases", metavar="CASE", nargs="+", help="run these rows of the tables only")
    parser.add_argument("--download", action="store_true", help="fetch sets that are not there from OpenML")
    parser.add_argument("--fill", type=Path, help="page with places '<!-- reproduce 2 -->' ... '<!-- end -->' to fill")
    parser.add_argument("--pictures", type=Path, help="folder to draw the paper's figures into")
    parser.set_defaults(run=reproduce)


def reproduce(arguments: argparse.Namespace) -> None:
    """Run the experiments of the paper with its protocol and print ours beside its figures.

    Results are kept in the folder as they come: a run that was stopped goes on, and what is there is not run again. At
    the end the folder has report.md, report.html and results.parquet.
    """
    protocols = [load_protocol(name, arguments.fast) for name in dict.fromkeys(arguments.tables or tables())]
    if arguments.list:
        for protocol in protocols:
            when = ", on request" if protocol.on_request else ""
            size = f"{count(len(protocol.cases), 'case')}, {count(protocol.repeats, 'repeat')}{when}"
            print(f"{protocol.table}: {protocol.title} ({size})")
        return
    if arguments.fill is not None:
        check_places(arguments.fill, outputs.KIND, [protocol.table for protocol in protocols])
    target = arguments.out / "fast" if arguments.fast else arguments.out
    plans = plan_tables(protocols, target, arguments.download)
    wanted = [plan for plan in plans if arguments.tables or not plan.protocol.on_request]
    trials = [trial for plan in wanted for trial in plan.trials]
    for field, names in (("method", arguments.methods), ("case", arguments.cases)):
        trials = _named(trials, field, names)
    failed = [] if arguments.report_only else _run(plans, trials, target, arguments.jobs)
    _report(plans, target, arguments.fill, arguments.pictures)
    if failed:
        sys.exit(f"{count(len(failed), 'run')} failed; the same command tries again. The first: {failed[0]}")


def _named(trials: list[Trial], field: str, names: list[str] | None) -> list[Trial]:
    """The trials of these methods or cases, all if none is named."""
    there = dict.fromkeys(trial.identity["unit"][field] for trial in trials)
    if unknown := [name for name in names or () if name not in there]:
        sys.exit(f"--{field}s: no {unknown[0]!r} among the runs chosen; there are {', '.join(there)}")
    return [trial for trial in trials if names is None or trial.identity["unit"][field] in names]


def _run(plans: list[TablePlan], trials: list[Trial], target: Path, jobs: int) -> list[str]:
    """Run what is not there yet; what failed."""
    missing = dict.fromkeys(name for plan in plans for name in plan.missing)
    if missing:
        say(f"left out, as the data are not there: {', '.join(missing)}. {WAYS_OUT}")
    to_do = left(trials)
    if to_do:
        note_environment(target)
    entries = map(flat, run(to_do, jobs))
    return follow(entries, len(to_do), len(trials), lambda e: f"table {e['table']}, {e['case']}, {e['method']}")


def _report(plans: list[TablePlan], target: Path, page: Path | None, pictures: Path | None) -> None:
    results = [plan.results() for plan in plans]
    if not any(results):
        sys.exit(f"there is no result to show. {WAYS_OUT}")
    made = [tabulate(plan.protocol, found, plan.unknown, plan.runs) for plan, found in zip(plans, results)]
    entries = [entry for found in results for entry in found]
    outputs.write_files(made, entries, target, known_environment(target))
    for table in made:
        print(f"{heading(table.protocol)}\n\n{markdown(table)}\n")
    say(f"Reports: {', '.join(str(target / name) for name in outputs.FILES)}")
    if page is not None:
        everything = len(plans) == len(tables())
        outputs.fill(page, made, costs_text(plans) if everything else "")
        say(f"Filled in {page}")
    if pictures is not None:
        say(f"Pictures: {', '.join(map(str, write_pictures(entries, pictures)))}")
