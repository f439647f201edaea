"""clustering_uci: two clusters of the paper's UCI sets by ``labels_``, the best setting of the paper's grid (Table 11).

As in the paper the true labels choose the setting, so that the figures compare and promise nothing. "climbed" is the
start of earlier releases, alignment alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import numpy as np

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.paper.protocol import load_protocol
from experiments.paper.two_clusters import grid
from experiments.runner import Trial
from experiments.splits import scaling
from experiments.studies.study import Study, fit_facts
from experiments.widths import gamma_of_width
from wellsvm import MaxMarginClustering
from wellsvm.metrics import clustering_accuracy

__all__ = ["UCI_STUDIES"]

PROTOCOL = load_protocol("11")
LARGE = ("uci_krvskp", "uci_sick")  # their grids take as long as all others together
SETS = tuple(case.data for case in PROTOCOL.cases if case.data not in LARGE)
STARTS = ("climbed", "best")


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": start, "setting": "best of grid"}, partial(_run, name, start))
        for name in SETS
        for start in STARTS
    ]


def _run(name: str, start: str) -> Entry:
    data = load_set(name)
    X = np.asarray(data.X, dtype=np.float64)
    X = scaling(X, "overall" if name == "uci_isolet" else "features")(X)
    best: tuple[float, str] = (-1.0, "")
    with fit_facts() as facts, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for setting in grid(PROTOCOL.settings, "WellSVM, balanced"):
            chosen = {key: value for key, value in setting.items() if key != "seeds"}
            told = ", ".join(f"{key}={value}" for key, value in chosen.items())
            if chosen["kernel"] != "linear":
                chosen |= {"kernel": "rbf", "gamma": gamma_of_width(X, chosen["kernel"])}
            labels = MaxMarginClustering(init=start, random_state=0, **chosen).fit_predict(X)
            best = max(best, (clustering_accuracy(data.y, labels), told))
    return {"accuracy": best[0], "chosen": best[1], **facts}


def _table(entries: Sequence[Entry], figure: str) -> str:
    found = {(entry["set"], entry["method"]): entry["accuracy"] for entry in entries}
    names = [name for name in SETS if all((name, start) in found for start in STARTS)]
    lines = [[name, *(f"{found[name, start]:.3f}" for start in STARTS)] for name in names]
    means = [f"**{np.mean([found[name, start] for name in names]):.3f}**" for start in STARTS]
    return pipe_table(["set", "alignment's start", "the better of two starts"], [*lines, ["**mean**", *means]])


UCI_STUDIES = {"clustering_uci": Study("two clusters of UCI sets by labels_, best of the grid", SETS, _trials, _table)}
