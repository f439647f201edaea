"""From workloads to trials: rounds of measurements.

Inside a round the competitors of a contest run one after the other, the yardstick first, so that a machine that slows
down slows all of them; the ratio in an entry is to the yardstick of its own round. A run that was stopped goes on: what
the journal holds for the same environment is not measured again, but the yardstick is, beside what was missing. After a
``kill -9`` a folder ``.data-*`` may be left beside the journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.bench.competitors import COMPETITORS, NOT_INSTALLED
from experiments.bench.contest_data import make
from experiments.bench.process import TOO_SLOW, measure
from experiments.bench.workloads import PROFILES, Contest, Workload
from experiments.environment import environment
from experiments.journal import Entry, Journal
from experiments.runner import Trial

__all__ = ["Rounds", "missing_rounds", "trials_of"]


@dataclass(frozen=True)
class Rounds:
    """What is left to measure of a contest: numbers of rounds, and the competitors of each, the yardstick first."""

    workload: Workload
    contest: Contest
    identity: Entry
    methods: dict[int, list[str]]

    def __len__(self) -> int:
        return sum(map(len, self.methods.values()))


def missing_rounds(workloads: Sequence[Workload], profile: str, journal: Journal, repeats: int) -> list[Rounds]:
    """Rounds with something to measure, and what; a competitor that was not installed is tried again."""
    here, found = environment(), []
    for workload in workloads:
        for contest in workload.contests(profile):
            identity = {
                "profile": profile, "workload": workload.name, "case": contest.name, "data": contest.data,
                "settings": contest.settings, "environment": here,
            }  # fmt: skip
            methods = {}
            for repeat in range(repeats):
                results = {m: journal.result(identity | {"method": m, "repeat": repeat}) for m in contest.methods}
                wanted = [m for m, result in results.items() if result is None or _not_installed(result)]
                if wanted:
                    methods[repeat] = list(dict.fromkeys([contest.methods[0], *wanted]))
            if methods:
                found.append(Rounds(workload, contest, identity, methods))
    return found


def _not_installed(result: Entry) -> bool:
    return str(result.get("skipped", "")).startswith(NOT_INSTALLED)


def trials_of(rounds: Sequence[Rounds], journal: Journal) -> Iterator[Trial]:
    """The trials, for one process; the data of a contest are there as long as its trials are asked for."""
    journal.path.parent.mkdir(parents=True, exist_ok=True)
    for left in rounds:
        with TemporaryDirectory(prefix=".data-", dir=journal.path.parent) as folder:
            path = Path(folder) / "data.npz"
            about = _write_data(left.contest, path)
            for repeat, methods in left.methods.items():
                yardstick: Entry = {}
                for method in methods:
                    identity = left.identity | {"method": method, "repeat": repeat}
                    word = _hopeless(identity | about, journal.entries)
                    work = partial(_work, word, method, path, left, yardstick)
                    yield Trial(journal, identity, work, about)
                    if method == left.contest.methods[0]:
                        yardstick = journal.entries[-1]


def _write_data(contest: Contest, path: Path) -> Entry:
    """Make the data and write them; how many rows there are, and what is special about them."""
    if contest.source is None:
        return {"n": 0}
    data = make(contest.source)
    data.save(path)
    return {"n": int(data.X.shape[0]), "about_data": data.note}


def _hopeless(wanted: Entry, known: Sequence[Entry]) -> Entry:
    """A word where a measurement need not be tried.

    There are more rows than the competitor can take, or it met the time limit on the same data or on fewer rows of the
    same kind.
    """
    most, n = COMPETITORS[wanted["method"]].max_rows, wanted["n"]
    if most is not None and n > most:
        return {"skipped": f"not tried beyond {most:,} rows"}
    alike = {key: wanted[key] for key in ("profile", "workload", "data", "settings", "method", "environment")}
    for entry in known:
        slow = str(entry.get("skipped", "")).startswith(TOO_SLOW)
        if slow and entry["n"] <= n and all(entry[key] == value for key, value in alike.items()):
            return {"skipped": entry["skipped"] if entry["n"] == n else f"{entry['skipped']}, n={entry['n']:,}"}
    return {}


def _work(word: Entry, method: str, path: Path, left: Rounds, yardstick: Entry) -> Entry:
    """Measure, and compare with the yardstick; the yardstick itself is compared with itself."""
    seconds = PROFILES[left.identity["profile"]].seconds
    facts = word or measure(method, path, left.contest.settings, seconds)
    return facts | _compare(facts, yardstick or facts, left.workload.same_bits)


def _compare(facts: Entry, yardstick: Entry, same_bits: bool) -> dict[str, Any]:
    """Time and CPU time over the yardstick's and, if asked, whether the coefficients are the same."""
    if "wall" not in facts or "wall" not in yardstick:
        return {}
    same = {"same_bits": facts["coef_sha256"] == yardstick["coef_sha256"]} if same_bits else {}
    return {"ratio": facts["wall"] / yardstick["wall"], "cpu_ratio": facts["cpu"] / yardstick["cpu"], **same}
