"""``python -m experiments bench``: what a fit costs beside scikit-learn on the same rows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.arguments import Commands, add_shared, at_least_one, say
from experiments.bench.lines import about, latest, lines_of, markdown
from experiments.bench.pages import KIND, fill_page, write_file
from experiments.bench.rounds import missing_rounds, trials_of
from experiments.bench.workloads import PROFILES, WORKLOADS, chosen
from experiments.journal import Journal
from experiments.marked_places import check_places
from experiments.runner import follow, run

__all__ = ["add_command", "bench"]


def add_command(commands: Commands, results: Path) -> None:
    """Describe the command; ``results`` is where results are kept."""
    parser = commands.add_parser("bench", help="time, memory and accuracy beside scikit-learn")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="*", help="all of --list if none is named")
    parser.add_argument("--profile", choices=list(PROFILES), default="small", help="small: minutes; full: hours")
    add_shared(parser, results, jobs=False)
    parser.add_argument("--repeats", type=at_least_one, help="rounds per contest; 1 if small, 3 if full")
    parser.add_argument("--fill", type=Path, help="page with places '<!-- bench text -->' ... '<!-- end -->' to fill")
    parser.set_defaults(run=bench)


def bench(arguments: argparse.Namespace) -> None:
    """Measure time, memory and accuracy beside scikit-learn on the same rows.

    Every measurement runs in a process of its own. Entries are appended to bench_PROFILE.jsonl in the folder as they
    come: a run that was stopped goes on, and what is there is not measured again.
    """
    if arguments.list:
        for workload in WORKLOADS.values():
            print(f"{workload.name}: {workload.about}")
        return
    workloads, profile = chosen(arguments.workloads), arguments.profile
    names = [workload.name for workload in workloads]
    places = [] if arguments.fill is None else check_places(arguments.fill, KIND, names)
    journal = Journal(arguments.out / f"bench_{profile}.jsonl", required=("environment",))
    failed = []
    if not arguments.report_only:
        rounds = missing_rounds(workloads, profile, journal, arguments.repeats or PROFILES[profile].repeats)
        total = sum(map(len, rounds))
        entries = run(trials_of(rounds, journal))
        failed = follow(entries, total, total, lambda e: f"{e['workload']}: {e['case']}: {e['method']}")
    found = latest(journal.entries)
    for name in (name for name in names if any(entry["workload"] == name for entry in found)):
        print(f"\n{name}: {WORKLOADS[name].about}\n{about(found, name)}\n\n{markdown(lines_of(found, name))}")
    report = journal.path.with_suffix(".md")
    write_file(found, report)
    say(f"Tables and pictures: {report}; entries: {journal.path}")
    if arguments.fill is not None:
        fill_page(found, places, arguments.fill)
        say(f"Filled in {arguments.fill}: {', '.join(places)}")
    if failed:
        sys.exit(f"failed: {failed[0]}")
