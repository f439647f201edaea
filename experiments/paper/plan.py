"""From a protocol to its trials and, once they are run, to its results.

A trial is one method once on one case, in one setting of its grid if the table reports the best one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

from experiments.data_folder import available
from experiments.data_sets import load_set, why_missing
from experiments.journal import Entry, Journal
from experiments.paper import partly_labeled, regions, two_clusters
from experiments.paper.outcome import Outcome
from experiments.paper.protocol import Case, Protocol
from experiments.runner import Trial, left

__all__ = ["EXPERIMENTS", "TablePlan", "flat", "plan_tables"]

Experiment = Callable[[Bunch, dict[str, Any], str, int, str], Outcome]
EXPERIMENTS: dict[str, Experiment] = {
    "semi_supervised": partly_labeled.run,
    "clustering": two_clusters.run,
    "regions": regions.run,
}


@dataclass(frozen=True)
class TablePlan:
    """The trials of a table.

    Attributes
    ----------
    protocol : Protocol
        What they are made of.
    trials : tuple of Trial
        Those of cases whose data are there; the first repeat of all before the second of any, so that a table fills
        evenly.
    others : tuple of Trial
        Those of cases whose data are not there; they may have results of another machine.
    missing : dict
        Data sets that are not there, and why.
    """

    protocol: Protocol
    trials: tuple[Trial, ...]
    others: tuple[Trial, ...]
    missing: dict[str, str]

    @property
    def unknown(self) -> dict[str, str]:
        """Data sets that are not there and have no results of another machine either, and why they are not there."""
        seen = {self._data_of(trial) for trial in self.others if trial.result}
        return {name: why for name, why in self.missing.items() if name not in seen}

    @property
    def known(self) -> list[Trial]:
        """The trials on all other data sets: what is told of them is the same on every machine."""
        unknown = self.unknown
        return [*self.trials, *(trial for trial in self.others if self._data_of(trial) not in unknown)]

    def _data_of(self, trial: Trial) -> str:
        return next(case.data for case in self.protocol.cases if case.name == trial.identity["unit"]["case"])

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that are done, and that can be done."""
        return len(self.known) - len(left(self.known)), len(self.known)

    def results(self) -> list[Entry]:
        """All results; where the table reports the best setting of a grid, those of that setting."""
        entries = [entry for trial in (*self.trials, *self.others) if (entry := trial.result) and "value" in entry]
        entries.sort(key=lambda entry: tuple(entry["unit"].values()))
        return _best_settings([flat(entry) for entry in entries], self.protocol.higher_is_better)


def plan_tables(protocols: Sequence[Protocol], folder: Path, download: bool = False) -> list[TablePlan]:
    """Plan tables whose journals are in ``folder``; data are looked for as `experiments.data_sets` does."""
    protocols = [_on_real_data(protocol) for protocol in protocols]
    missing = why_missing((case.data for protocol in protocols for case in protocol.cases), download)
    plans = []
    for protocol in protocols:
        name = f"table-{protocol.table}.jsonl" if protocol.table.isdigit() else f"{protocol.table}.jsonl"
        journal = Journal(folder / name, required=("unit", "settings"))
        present: list[Trial] = []
        absent: list[Trial] = []
        for case, method, repeat, setting in _runs(protocol):
            trial = _trial(journal, protocol, case, method, repeat, setting, download)
            (absent if case.data in missing else present).append(trial)
        here = {case.data: missing[case.data] for case in protocol.cases if case.data in missing}
        plans.append(TablePlan(protocol, tuple(present), tuple(absent), here))
    return plans


def _on_real_data(protocol: Protocol) -> Protocol:
    """The protocol with the paper's own data in place of stand-ins, where they are in the data folder."""
    present = set(available())
    cases = tuple(case.with_real_data() if case.real in present else case for case in protocol.cases)
    return replace(protocol, cases=cases)


def _runs(protocol: Protocol) -> list[tuple[Case, str, int, dict[str, Any]]]:
    return [
        (case, method, repeat, setting)
        for repeat in range(protocol.repeats)
        for case in protocol.cases
        for method in protocol.all_methods
        if method not in case.skip and repeat < case.repeats.get(method, protocol.repeats)
        for setting in _grid(protocol, method)
        if repeat < setting.get("seeds", protocol.repeats)
        if case.balance is None or setting.get("balance", case.balance) == case.balance
    ]


def _grid(protocol: Protocol, method: str) -> list[dict[str, Any]]:
    if protocol.experiment != "clustering":
        return [{}]
    return two_clusters.grid(protocol.settings | protocol.own.get(method, {}), method)


def _trial(
    journal: Journal,
    protocol: Protocol,
    case: Case,
    method: str,
    repeat: int,
    setting: dict[str, Any],
    download: bool,
) -> Trial:
    settings = {**protocol.settings, **case.settings, **({"setting": setting} if setting else {})}
    settings |= protocol.own.get(method, {})
    # Of all that the figure depends on besides the unit: a run in other settings is another run.
    content = json.dumps([protocol.experiment, protocol.figure, case.data, settings], sort_keys=True)
    unit = {
        "table": protocol.table,
        "case": case.name,
        "method": method,
        "repeat": repeat,
        "setting": ", ".join(f"{key}={value}" for key, value in setting.items() if key != "seeds"),
    }
    identity = {"unit": unit, "settings": hashlib.sha256(content.encode()).hexdigest()[:12]}
    work = partial(_run, protocol.experiment, case.data, download, settings, method, repeat, protocol.figure)
    return Trial(journal, identity, work)


def _run(
    experiment: str, data: str, download: bool, settings: dict[str, Any], method: str, repeat: int, figure: str
) -> Entry:
    return EXPERIMENTS[experiment](load_set(data, download), settings, method, repeat, figure)._asdict()


def flat(entry: Entry) -> Entry:
    """An entry with what tells it apart at its top."""
    return {**entry["unit"], **{key: value for key, value in entry.items() if key != "unit"}}


def _best_settings(entries: list[Entry], higher_is_better: bool) -> list[Entry]:
    """Of every case and method the entries of the setting with the best mean."""
    groups: dict[tuple[str, str], dict[str, list[Entry]]] = {}
    for entry in entries:
        groups.setdefault((entry["case"], entry["method"]), {}).setdefault(entry["setting"], []).append(entry)

    def mean(group: list[Entry]) -> float:
        return sum(entry["value"] for entry in group) / len(group) * (1 if higher_is_better else -1)

    return [entry for settings in groups.values() for entry in max(settings.values(), key=mean)]
