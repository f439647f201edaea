"""bag_costs: what one fit of every baseline for bags costs beside MultiInstanceSVC, all at their defaults.

The training bags are those of the first fold of `bag_accuracy`, instances standardized. Methods run one after the other
in one thread and one process, after a warm-up of all of them on a few bags; ours is taken twice, first and last, and
its mean is the yardstick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import bag_folds
from experiments.studies.bag_accuracy import N_FOLDS, SETS
from experiments.studies.study import Study, fit_facts
from wellsvm import Bags, MultiInstanceSVC
from wellsvm.baselines import EMDD, MISVM, CitationKNN, DiverseDensity, MIKernelSVC, miSVM

__all__ = ["BAG_COST_STUDIES"]

OURS = "MultiInstanceSVC"
BASELINES: dict[str, Callable[[], Any]] = {
    "MI-SVM": partial(MISVM, random_state=0),
    "mi-SVM": partial(miSVM, random_state=0),
    "MI-Kernel": partial(MIKernelSVC, random_state=0),
    "CitationKNN": CitationKNN,
    "DiverseDensity": partial(DiverseDensity, random_state=0),
    "EMDD": partial(EMDD, random_state=0),
}


def _trials(journal: Journal) -> list[Trial]:
    return [Trial(journal, {"set": name, "method": OURS}, partial(_run, name)) for name in SETS]


def _run(name: str) -> Entry:
    data = load_set(name)
    bags, y = Bags(StandardScaler().fit_transform(data.X), data.groups), data.y > 0
    train, _ = next(iter(bag_folds(y, 0, N_FOLDS)))
    few = np.concatenate([np.flatnonzero(y == label)[:5] for label in (False, True)])
    _times(bags[few], y[few])
    return {"cpu": _times(bags[train], y[train]), "instances": bags[train].n_instances}


def _times(bags: Bags, y: np.ndarray) -> dict[str, float]:
    ours, times = partial(MultiInstanceSVC, random_state=0), {}
    first = _cpu(ours, bags, y)
    for name, model in BASELINES.items():
        times[name] = _cpu(model, bags, y)
    return {OURS: round((first + _cpu(ours, bags, y)) / 2, 4), **times}


def _cpu(model: Callable[[], Any], bags: Bags, y: np.ndarray) -> float:
    with fit_facts() as facts:
        model().fit(bags, y)
    return float(facts["cpu_seconds"])


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Seconds of ours, and multiples of them."""
    lines = []
    for entry in entries:
        own = entry["cpu"][OURS]
        ratios = [f"{entry['cpu'][name] / own:.2f}" for name in BASELINES]
        lines.append([entry["set"], f"{entry['instances']:,}", f"{own:.3f}", *ratios])
    return pipe_table(["set", "instances", "ours, CPU s", *(f"{name} / ours" for name in BASELINES)], lines)


BAG_COST_STUDIES = {"bag_costs": Study("time of one fit of every baseline for bags beside ours", SETS, _trials, _table)}
