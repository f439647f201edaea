"""Runs the experiments of the protocols: in parallel, and on from where a killed run stopped.

Every result is a line in a file of its table as soon as it is there. A unit of work depends on nothing but its own key,
so that the order in which units run, and on how many processes, does not change a figure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import joblib
from sklearn.utils import Bunch

from wellsvm import _journal
from wellsvm.datasets import available, load, make_two_moons
from wellsvm.reproduce import clustering, regions, semi_supervised
from wellsvm.reproduce.outcome import Outcome
from wellsvm.reproduce.protocol import Case, Protocol

__all__ = ["Runner", "Unit"]

# Made here, of the size of the paper's, which was not found.
TWO_MOONS = "two_moons"
Experiment = Callable[[Bunch, dict[str, Any], str, int, str], Outcome]
EXPERIMENTS: dict[str, Experiment] = {
    "semi_supervised": semi_supervised.run,
    "clustering": clustering.run,
    "regions": regions.run,
}


class Unit(NamedTuple):
    """One method once on one case, in one setting of its grid if the table reports the best one."""

    table: str
    case: str
    method: str
    repeat: int
    setting: str = ""


class Job(NamedTuple):
    """A unit with all that a process needs to run it."""

    unit: Unit
    experiment: str
    figure: str
    data: str
    settings: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """Of all that the figure depends on besides the unit: a run in other settings is another run."""
        content = json.dumps([self.experiment, self.figure, self.data, self.settings], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]


class Runner:
    """Runs what the files of a folder do not hold yet.

    Parameters
    ----------
    folder : Path
        Where ``table-N.jsonl`` are, and new results go.
    jobs : int, default=1
        Processes; inside ``joblib.parallel_config`` its backend (Dask, Ray, ...) is used.
    data_home : Path or None, default=None
        The data folder; None means the environment variable ``WELLSVM_DATA``.
    download : bool, default=False
        Whether to fetch sets that are not there from OpenML, where they are known.
    """

    def __init__(self, folder: Path, jobs: int = 1, data_home: Path | None = None, download: bool = False) -> None:
        self.folder, self.jobs, self.data_home, self.download = folder, jobs, data_home, download
        self._jobs: dict[Unit, Job] = {}
        self._reasons: dict[str, str | None] = {}  # why a data set cannot be loaded; None: it can

    def _file(self, table: str) -> Path:
        return self.folder / (f"table-{table}.jsonl" if table.isdigit() else f"{table}.jsonl")

    def missing(self, protocols: Sequence[Protocol]) -> dict[str, str]:
        """Data sets that cannot be loaded, and why."""
        present = {TWO_MOONS, *available(self.data_home)}
        names = dict.fromkeys(case.data for protocol in protocols for case in protocol.cases)
        for name in names:
            if name not in present and name not in self._reasons:
                try:
                    load(name, self.data_home, download=self.download)
                except (OSError, ValueError) as error:
                    self._reasons[name] = str(error)
                else:
                    self._reasons[name] = None
        return {name: reason for name in names if (reason := self._reasons.get(name)) is not None}

    def total(self, protocols: Sequence[Protocol]) -> int:
        """Number of units, done or not, of cases whose data are there."""
        return len(self._present(protocols))

    def plan(self, protocols: Sequence[Protocol]) -> list[Unit]:
        """Units that are not done; the first repeat of all before the second of any, so that tables fill evenly."""
        units = self._present(protocols)
        done = {unit for protocol in protocols for unit in self._read(protocol.table)}
        return [unit for unit in units if unit not in done]

    def run(self, units: Sequence[Unit]) -> Iterator[dict[str, Any]]:
        """Run the units; yields each record once it is in its file. One that failed says so and is tried again next
        time."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for table in {unit.table for unit in units}:
            _journal.end_last_line(self._file(table))
        parallel = joblib.Parallel(n_jobs=self.jobs, return_as="generator_unordered")
        tasks = (joblib.delayed(_run)(self._jobs[unit], self.data_home, self.download) for unit in units)
        for record in parallel(tasks):
            _journal.append(self._file(record["unit"]["table"]), record)
            yield _flat(record)

    def records(self, protocols: Sequence[Protocol]) -> list[dict[str, Any]]:
        """All results of the protocols; where a table reports the best setting of a grid, those of that setting."""
        records = []
        for protocol in protocols:
            self._all([protocol])
            found = [_flat(line) for _, line in sorted(self._read(protocol.table).items())]
            records += _best_settings(found, protocol.higher_is_better)
        return records

    def _read(self, table: str) -> dict[Unit, dict[str, Any]]:
        """Results of known units, in their present settings."""
        lines: dict[Unit, dict[str, Any]] = {}
        for line in _journal.read(self._file(table), keys=("unit", "settings")):
            unit = tuple(line["unit"].get(key) for key in Unit._fields) if isinstance(line["unit"], dict) else ()
            if "value" in line and unit in self._jobs and line["settings"] == self._jobs[unit].fingerprint:
                lines[unit] = line
        return lines

    def _present(self, protocols: Sequence[Protocol]) -> list[Unit]:
        absent = self.missing(protocols)
        return [unit for unit in self._all(protocols) if self._jobs[unit].data not in absent]

    def _all(self, protocols: Sequence[Protocol]) -> list[Unit]:
        jobs = [
            _job(protocol, case, method, repeat, setting)
            for protocol in protocols
            for repeat in range(protocol.repeats)
            for case in protocol.cases
            for method in protocol.methods
            if method not in case.skip and repeat < case.repeats.get(method, protocol.repeats)
            for setting in _grid(protocol, method)
            if repeat < setting.get("seeds", 1_000_000)
        ]
        tables = {protocol.table for protocol in protocols}
        self._jobs = {unit: job for unit, job in self._jobs.items() if unit.table not in tables}
        self._jobs |= {job.unit: job for job in jobs}
        return [job.unit for job in jobs]


def _grid(protocol: Protocol, method: str) -> list[dict[str, Any]]:
    return clustering.grid(protocol.settings, method) if protocol.experiment == "clustering" else [{}]


def _job(protocol: Protocol, case: Case, method: str, repeat: int, setting: dict[str, Any]) -> Job:
    name = ", ".join(f"{key}={value}" for key, value in setting.items() if key != "seeds")
    settings = {**protocol.settings, **case.settings, **({"setting": setting} if setting else {})}
    unit = Unit(protocol.table, case.name, method, repeat, name)
    return Job(unit, protocol.experiment, protocol.figure, case.data, settings)


def _run(job: Job, data_home: Path | None, download: bool) -> dict[str, Any]:
    record: dict[str, Any] = {"unit": job.unit._asdict(), "settings": job.fingerprint}
    try:
        data = _load(job.data, data_home, download)
        outcome = EXPERIMENTS[job.experiment](data, job.settings, job.unit.method, job.unit.repeat, job.figure)
    except Exception as error:  # one failure must not end a run of hours
        return record | {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    return record | outcome._asdict()


@lru_cache(maxsize=2)
def _load(name: str, data_home: Path | None, download: bool) -> Bunch:
    if name == TWO_MOONS:
        return make_two_moons(200, noise=0.01, n_features=102, random_state=0)
    return load(name, data_home, download=download)


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    return {**record["unit"], **{key: value for key, value in record.items() if key != "unit"}}


def _best_settings(records: list[dict[str, Any]], higher_is_better: bool) -> list[dict[str, Any]]:
    """Of every case and method the records of the setting with the best mean."""
    groups: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for record in records:
        groups.setdefault((record["case"], record["method"]), {}).setdefault(record["setting"], []).append(record)

    def mean(group: list[dict[str, Any]]) -> float:
        return sum(record["value"] for record in group) / len(group) * (1 if higher_is_better else -1)

    return [record for settings in groups.values() for record in max(settings.values(), key=mean)]
