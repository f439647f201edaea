"""``python -m experiments study``: accuracies behind the defaults and beside the rivals."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.arguments import Commands, add_shared, say
from experiments.data_sets import why_missing
from experiments.journal import Journal
from experiments.marked_places import check_places, fill, places
from experiments.runner import follow, left, run
from experiments.studies.bag_accuracy import BAG_STUDIES
from experiments.studies.bag_costs import BAG_COST_STUDIES
from experiments.studies.choices import CHOICE_STUDIES
from experiments.studies.cluster_accuracy import CLUSTER_STUDIES
from experiments.studies.constants import CONSTANT_STUDIES
from experiments.studies.defaults import DEFAULT_STUDIES
from experiments.studies.far_columns import FAR_STUDIES
from experiments.studies.few_labels import FEW_LABELS_STUDIES
from experiments.studies.fit_costs import COST_STUDIES
from experiments.studies.five_digits import DIGIT_STUDIES
from experiments.studies.kernel_safety import KERNEL_SAFETY_STUDIES
from experiments.studies.kernel_search import KERNEL_STUDIES
from experiments.studies.objectives import OBJECTIVE_STUDIES
from experiments.studies.safety_rules import SAFETY_STUDIES
from experiments.studies.stress import STRESS_STUDIES
from experiments.studies.study import Study
from experiments.studies.weak_labels import WEAK_STUDIES

__all__ = ["STUDIES", "add_command", "study"]

STUDIES: dict[str, Study] = (
    CHOICE_STUDIES
    | FEW_LABELS_STUDIES
    | DEFAULT_STUDIES
    | SAFETY_STUDIES
    | DIGIT_STUDIES
    | KERNEL_STUDIES
    | KERNEL_SAFETY_STUDIES
    | STRESS_STUDIES
    | BAG_STUDIES
    | BAG_COST_STUDIES
    | CLUSTER_STUDIES
    | WEAK_STUDIES
    | OBJECTIVE_STUDIES
    | COST_STUDIES
    | CONSTANT_STUDIES
    | FAR_STUDIES
)
KIND = "study"
DEFAULT_FIGURE = "accuracy"


def add_command(commands: Commands, results: Path) -> None:
    """Describe the command; ``results`` is where results are kept."""
    parser = commands.add_parser("study", help="accuracies behind the defaults and beside the rivals")
    parser.add_argument("studies", metavar="STUDY", nargs="*", help="all of --list if none is named")
    add_shared(parser, results, jobs=True)
    parser.add_argument(
        "--fill", type=Path, nargs="+", default=[], help="pages with places '<!-- study text -->' ... '<!-- end -->'"
    )
    parser.set_defaults(run=study)


def study(arguments: argparse.Namespace) -> None:
    """Run studies and print their tables. Entries are appended to STUDY.jsonl as they come; a stopped run goes on."""
    names = list(dict.fromkeys(arguments.studies or STUDIES))
    for name in names:
        if name not in STUDIES:
            raise ValueError(f"study {name!r} is not one of {', '.join(STUDIES)}")
    if arguments.list:
        for name in names:
            print(f"{name}: {STUDIES[name].about}")
        return
    wanted = _places_in(arguments.fill, names)
    journals = {name: Journal(arguments.out / f"{name}.jsonl") for name in names}
    failed = []
    for name, journal in journals.items():
        if not arguments.report_only:
            failed += _run(name, journal, arguments.jobs)
        if _results(journal):
            print(f"{name}: {STUDIES[name].about}\n\n{_table(name, journal)}\n")
    for page, sections in wanted.items():
        made = {section: _table(section, journals[section.split()[0]]) for section in sections}
        fill(page, KIND, {section: text for section, text in made.items() if text})
        say(f"Filled in {page}: {', '.join(made)}")
    if failed:
        sys.exit(f"{len(failed)} failed; the same command tries again. The first: {failed[0]}")


def _places_in(pages: list[Path], names: list[str]) -> dict[Path, list[str]]:
    """Places of every page for these studies; a place may name a figure after its study. Some pages may have none."""
    found = {page: _places(page, names) if page.is_file() else [] for page in pages}
    for page in pages:
        if not page.is_file() or not any(found.values()):
            check_places(page, KIND, names)
    return {page: sections for page, sections in found.items() if sections}


def _places(page: Path, names: list[str]) -> list[str]:
    return [place for place in places(page, KIND) if place.split()[0] in names]


def _run(name: str, journal: Journal, jobs: int) -> list[str]:
    missing = why_missing(STUDIES[name].sets)
    if missing:
        say(f"{name}: left out, as the data are not there: {', '.join(missing)}")
    trials = [trial for trial in STUDIES[name].trials(journal) if not _lacks(trial.identity["set"], missing)]
    to_do = left(trials)
    return follow(run(to_do, jobs), len(to_do), len(trials), lambda e: f"{name}: {e['set']}, {e['method']}")


def _lacks(name: str, missing: dict[str, str]) -> bool:
    return name.split(",")[0] in missing


def _results(journal: Journal) -> list[dict[str, object]]:
    return [entry for entry in journal.entries if "error" not in entry]


def _table(section: str, journal: Journal) -> str:
    """The table of a place: a study, and the figure if it is not the accuracy; empty without results."""
    name, _, figure = section.partition(" ")
    entries = _results(journal)
    return STUDIES[name].table(entries, figure or DEFAULT_FIGURE) if entries else ""
