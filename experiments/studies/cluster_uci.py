"""clustering_uci: two clusters of the paper's UCI sets by ``labels_``, the best setting of the paper's grid (Table 11).

As in the paper the true labels choose the setting, so that the figures compare and promise nothing. The paper's grid
has two balances; the last column adds balance="auto", by which the sizes of the clusters are estimated.
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
LARGE = ("uci_sick", "uci_krvskp")  # their grids take as long as all others together
SETS = (*(case.data for case in PROTOCOL.cases if case.data not in LARGE), *LARGE)
GRID = {**PROTOCOL.settings, "balances": [*PROTOCOL.settings["balances"], "auto"]}
COLUMNS = {"accuracy_given": "balance 0.03 or 0.3", "accuracy": 'these or "auto"'}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": "MaxMarginClustering", "setting": "best of grid"}, partial(_run, name))
        for name in SETS
    ]


def _run(name: str) -> Entry:
    data = load_set(name)
    X = np.asarray(data.X, dtype=np.float64)
    X = scaling(X, "overall" if name == "uci_isolet" else "features")(X)
    best: tuple[float, str] = (-1.0, "")
    given = -1.0
    with fit_facts() as facts, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for setting in grid(GRID, "as in the paper"):
            chosen = {key: value for key, value in setting.items() if key != "seeds"}
            told = ", ".join(f"{key}={value}" for key, value in chosen.items())
            if chosen["kernel"] != "linear":
                chosen |= {"kernel": "rbf", "gamma": gamma_of_width(X, chosen["kernel"])}
            labels = MaxMarginClustering(random_state=0, **chosen).fit_predict(X)
            accuracy = clustering_accuracy(data.y, labels)
            best = max(best, (accuracy, told))
            given = given if chosen["balance"] == "auto" else max(given, accuracy)
    return {"accuracy": best[0], "accuracy_given": given, "chosen": best[1], **facts}


def _table(entries: Sequence[Entry], figure: str) -> str:
    lines = [[entry["set"], *(f"{entry[column]:.3f}" for column in COLUMNS)] for entry in entries]
    means = [f"**{np.mean([entry[column] for entry in entries]):.3f}**" for column in COLUMNS]
    return pipe_table(["set", *COLUMNS.values()], [*lines, ["**mean**", *means]])


UCI_STUDIES = {"clustering_uci": Study("two clusters of UCI sets by labels_, best of the grid", SETS, _trials, _table)}
