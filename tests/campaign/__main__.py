"""``make campaign``: run the attacks, keep counts in a journal, write the table of docs/reliability.md from it.

A stopped run goes on where it was. ``ARGS="--only files"`` runs the classes whose name contains a word, ``--share 0.1``
a tenth of the cases, ``--again`` forgets what the journal has of them, ``--table`` writes the page and does no more.
The figures in the journal are counts; a failure is kept with its words, and repeated from seed and number. Every batch
names the state of the library that it ran on: Git's name of the folder ``src/wellsvm``, and of ``cpp``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from campaign import files, inputs, large, processes
from campaign.isolation import ask_for_memory_once, run_batch
from campaign.outcomes import FAILURES
from experiments.environment import code_state
from experiments.journal import Journal
from experiments.marked_places import fill

ROOT = Path(__file__).parents[2]
JOURNAL, PAGE = Path(__file__).parent / "journal.jsonl", ROOT / "docs" / "reliability.md"
KEPT_WORDS = 5
EXAMPLES = 200  # of every property
IN_MEMORY = "/dev/shm"  # a million files are written: not on a disk


@dataclass(frozen=True)
class Class:
    """A class of attacks: how many cases, in batches of how many, and how one is made from a number."""

    name: str
    cases: int
    batch: int
    attack: Callable[[Any], tuple[str, str]]
    case: Callable[[int, int, str], Any]
    alone: bool = False  # the attack forks itself
    prepare: Callable[[], None] = lambda: None  # in the child, before the first case
    make: Callable[[], None] = lambda: None  # before that child is made
    confirm: bool = False  # whether a crash counts only if it comes again in a child that is not prepared

    def run(self, seed: int, begin: int, end: int) -> tuple[Counter[str], list[dict[str, Any]]]:
        """Outcomes of the cases from ``begin`` to ``end``."""
        with tempfile.TemporaryDirectory() as folder:
            cases = [self.case(seed, number, folder) for number in range(begin, end)]
            self.make()
            if not self.alone:
                return run_batch(cases, self.attack, partial(self._begin, folder), self.confirm)
            told = [self.attack(case) for case in cases]
        failures = [{"case": k, "kind": kind, "words": w} for k, (kind, w) in enumerate(told) if kind in FAILURES]
        return Counter(kind for kind, _ in told), failures

    def _begin(self, folder: str) -> None:
        os.chdir(folder)  # checkpoint="auto" is a file of that name
        self.prepare()


def _as_is(seed: int, number: int, folder: str) -> tuple[int, int, str]:
    return seed, number, folder


def _sanitize(_: Any) -> tuple[str, str]:
    done = subprocess.run(["make", "sanitize"], cwd=ROOT, capture_output=True, text=True, check=False)
    return ("accepted", "") if done.returncode == 0 else ("crash", done.stdout[-300:] + done.stderr[-300:])


def _property(number: int) -> tuple[str, str]:
    """A property, over as many examples as WELLSVM_EXAMPLES says; Hypothesis draws them."""
    os.environ.setdefault("WELLSVM_EXAMPLES", str(EXAMPLES))
    from campaign import test_properties

    try:
        test_properties.PROPERTIES[number]()
    except AssertionError as error:
        return "wrong result", str(error)[:200]
    return "accepted", ""


CLASSES = [
    *(
        Class(
            f"input: {t.title}",
            5000,
            500,
            inputs.attack,
            lambda seed, k, _, t=t: (t, seed, k),
            prepare=ask_for_memory_once,
        )
        for t in inputs.TARGETS
    ),
    *(
        Class(
            f"files: {form}",
            100_000,
            5000,
            files.attack,
            lambda seed, k, folder, f=form: (f, seed, k, folder),
            prepare=files.prepare,
            make=partial(files.make_good, form),
            confirm=True,
        )
        for form in files.FORMS
    ),
    Class("kill -9 while a model is saved", 200, 50, processes.kill, _as_is, alone=True),
    Class("disk full while a model is saved", 100, 50, processes.full_disk, _as_is, alone=True),
    Class("Ctrl-C in a fit", 100, 25, processes.interrupt, _as_is, alone=True),
    Class("Ctrl-C while the command line imports", 20, 10, processes.interrupt_imports, _as_is, alone=True),
    Class("fit with little address space", 100, 25, processes.little_memory, _as_is, alone=True),
    Class(f"properties (Hypothesis, {EXAMPLES} examples each)", 7, 1, _property, lambda seed, k, _: k, alone=True),
    Class("predict more than 2^31 entries", 1, 1, large.predict_beyond_int32, _as_is, alone=True),
    Class("fit more than 2^31 entries", 1, 1, large.fit_beyond_int32, _as_is, alone=True),
    Class("a thousand classes", 1, 1, large.thousand_classes, _as_is),
    Class("native tests under sanitizers", 1, 1, _sanitize, _as_is, alone=True),
]


def run(chosen: list[Class], seed: int, share: float, journal: Journal) -> None:
    """Run what the journal does not have yet, batch by batch."""
    now = code_state()
    for one in chosen:
        total = max(1, round(share * one.cases))
        for begin in range(0, total, one.batch):
            identity = {"class": one.name, "seed": seed, "from": begin, "to": min(begin + one.batch, total)}
            if journal.result(identity):
                continue
            began = time.monotonic()
            counts, failures = one.run(seed, identity["from"], identity["to"])
            for failure in failures:
                failure["case"] += begin
            kept = failures[:KEPT_WORDS]
            journal.append({**identity, "state": now, "counts": dict(counts), "failures": kept})
            print(
                f"{one.name} {identity['from']}-{identity['to']}: {dict(counts)} ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
            for failure in failures:
                print("   ", failure)


def table(journal: Journal, seed: int) -> str:
    """The Markdown table: a row for every class."""
    heads = ["attack", "tried", "refused in words", "sound result", *FAILURES, "state"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in CLASSES:
        batches = {(e["from"], e["to"]): e for e in journal.entries if (e["class"], e["seed"]) == (one.name, seed)}
        counts: Counter[str] = Counter()
        for entry in batches.values():
            counts.update(entry["counts"])
        if counts:
            states = ", ".join(sorted({entry["state"] for entry in batches.values()}))
            figures = [sum(counts.values()), *(counts[kind] for kind in ("refused", "accepted", *FAILURES))]
            lines.append(f"| {one.name} | " + " | ".join(f"{figure:,}" for figure in figures) + f" | {states} |")
    return "\n".join(lines)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="words of the classes to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="share of the cases of each class")
    parser.add_argument("--again", action="store_true", help="run what the journal has already")
    parser.add_argument("--table", action="store_true", help="only write the page from the journal")
    parser.add_argument("--journal", type=Path, default=JOURNAL)
    given = parser.parse_args()
    chosen = [one for one in CLASSES if any(word in one.name for word in given.only)]
    if given.again:
        names = [one.name for one in chosen]
        kept = [e for e in Journal(given.journal).entries if e["class"] not in names or e["seed"] != given.seed]
        given.journal.unlink(missing_ok=True)
        for entry in kept:
            Journal(given.journal).append(entry)
    journal = Journal(given.journal, ("class", "seed", "from", "to", "state", "counts"))
    if not given.table:
        if Path(IN_MEMORY).is_dir() and "TMPDIR" not in os.environ:
            tempfile.tempdir = IN_MEMORY
        run(chosen, given.seed, given.share, journal)
    if given.journal == JOURNAL:
        fill(PAGE, "campaign", {"counts": table(journal, given.seed)})
    failed = sum(e["counts"].get(kind, 0) for e in journal.entries for kind in FAILURES)
    sys.exit(f"{failed} failures" if failed else None)


if __name__ == "__main__":
    main()
