"""Runs the measurements and appends their records to a file of JSON lines.

Inside a round the methods of a case run one after the other, the yardstick first, so that a machine that slows down
slows all of them; the ratio in a record is to the yardstick of its own round. A run that was stopped goes on: what the
file holds for the same environment is not measured again, but the yardstick is, beside what was missing. After a
``kill -9`` a folder ``.data-*`` may be left beside the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wellsvm import _journal
from wellsvm._versions import versions
from wellsvm.bench.adapters import ADAPTERS, NOT_INSTALLED
from wellsvm.bench.problems import make
from wellsvm.bench.process import TOO_SLOW, import_psutil, measure
from wellsvm.bench.workloads import PROFILES, Case, Workload

__all__ = ["Record", "Runner", "environment"]

Record = dict[str, Any]


def environment() -> dict[str, str]:
    """What figures depend on besides the code: backend, versions, processors."""
    return {**versions(), "processors": str(os.cpu_count())}


class Runner:
    """Measures what its file does not hold yet.

    Parameters
    ----------
    profile : {"small", "full"}
        Which cases of the workloads.
    path : Path
        File of JSON lines, appended to.
    repeats : int or None, default=None
        Rounds per case; None is the profile's number.
    tell : callable, optional
        Gets a line of text before every measurement.
    """

    def __init__(
        self,
        profile: str,
        path: Path,
        repeats: int | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.profile = profile
        self.path = path
        self.repeats = repeats or PROFILES[profile].repeats
        self.tell = tell

    def run(self, workloads: Sequence[Workload]) -> None:
        """Measure the cases of the workloads."""
        import_psutil()
        self.here = environment()
        self.known = [
            record for record in _journal.read(self.path, keys=("environment",)) if record["environment"] == self.here
        ]
        _journal.end_last_line(self.path)
        for workload in workloads:
            for case in workload.cases(self.profile):
                self._run_case(workload, case)

    def _run_case(self, workload: Workload, case: Case) -> None:
        rounds = list(self._missing(workload, case))
        if not rounds:
            return
        with TemporaryDirectory(prefix=".data-", dir=self.path.parent) as folder:
            problem = Path(folder) / "problem.npz"
            facts = _write_problem(case, problem)
            for repeat, methods in rounds:
                yardstick: Record = {}
                for method in methods:
                    self.tell(f"{workload.name}: {case.name}: {method} ({repeat + 1} of {self.repeats})")
                    record = self._identity(workload, case) | {"method": method, "repeat": repeat} | facts
                    seconds = PROFILES[self.profile].seconds
                    record |= self._hopeless(record) or measure(method, problem, case.settings, seconds)
                    if method == case.methods[0]:
                        yardstick = record
                    record |= _compare(record, yardstick, workload.same_bits)
                    self._append(record | {"environment": self.here})

    def _identity(self, workload: Workload, case: Case) -> Record:
        return {
            "profile": self.profile, "workload": workload.name, "case": case.name, "data": case.data,
            "settings": case.settings,
        }  # fmt: skip

    def _missing(self, workload: Workload, case: Case) -> Iterator[tuple[int, list[str]]]:
        """Rounds with something to measure, and what; a competitor that was not installed is tried again."""
        identity = self._identity(workload, case)
        done = {
            (record["repeat"], record["method"])
            for record in self.known
            if record.items() >= identity.items() and not record.get("skipped", "").startswith(NOT_INSTALLED)
        }
        for repeat in range(self.repeats):
            wanted = [method for method in case.methods if (repeat, method) not in done]
            if wanted:
                yield repeat, list(dict.fromkeys([case.methods[0], *wanted]))

    def _hopeless(self, wanted: Record) -> Record:
        """A word where a measurement need not be tried.

        There are more rows than the competitor can take, or it met the time limit on the same data or on fewer rows of
        the same kind.
        """
        most, n = ADAPTERS[wanted["method"]].max_rows, wanted["n"]
        if most is not None and n > most:
            return {"skipped": f"not tried beyond {most:,} rows"}
        alike = {key: wanted[key] for key in ("profile", "workload", "data", "settings", "method")}
        for record in self.known:
            slow = record.get("skipped", "").startswith(TOO_SLOW)
            if slow and record["n"] <= n and all(record[key] == value for key, value in alike.items()):
                return {"skipped": record["skipped"] if record["n"] == n else f"{record['skipped']}, n={record['n']:,}"}
        return {}

    def _append(self, record: Record) -> None:
        self.known.append(record)
        _journal.append(self.path, record)


def _write_problem(case: Case, path: Path) -> Record:
    """Make the data and write them; how many rows there are, and what is special about them."""
    if case.source is None:
        return {"n": 0}
    problem = make(case.source)
    problem.save(path)
    return {"n": int(problem.X.shape[0]), "about_data": problem.note}


def _compare(record: Record, yardstick: Record, same_bits: bool) -> Record:
    """Time and CPU time over the yardstick's of the same round and, if asked, whether the coefficients are the same."""
    if "wall" not in record or "wall" not in yardstick:
        return {}
    same = {"same_bits": record["coef_sha256"] == yardstick["coef_sha256"]} if same_bits else {}
    return {"ratio": record["wall"] / yardstick["wall"], "cpu_ratio": record["cpu"] / yardstick["cpu"], **same}
