"""clustering_prices: which six values of C Table 11 tries, chosen on sets that it does not have.

As in Table 11 the true classes choose the best of six kernels and six values of C. "paper's C" has the paper's values,
"with default" the default in place of 5, "C by scale" the default times 0.01 to 1,000; CPMMC, which pays for the mean
loss, the same times the number of rows. The first, third, ... sets chose, the others confirm.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.utils import Bunch

from experiments.data_sets import load_set
from experiments.internals import FloatArray
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.paper.protocol import load_protocol
from experiments.paper.two_clusters import grid, run
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts

__all__ = ["PRICE_STUDIES", "SETS", "two_classes"]

ROWS = 350
# Classes of a set against others: (positive, negative), None for all others; no pair for sets of two classes.
PAIRS: dict[str, list[tuple[int, int | None]]] = {
    "breast_cancer": [(0, 1)],
    "wine": [(0, None), (1, None), (2, None)],
    "iris": [(1, 2), (1, None)],
    "digits": [(3, 8), (4, 9), (1, 7), (5, 6), (2, 3), (8, 9), (0, None)],
    "usps_digits": [(3, 8), (4, 9), (2, 7), (5, 6)],
    "emb_topics": [(0, 1), (2, 3), (4, 5)],
    "lds_coil20": [(2, 5)],
}
OF_TWO = (
    "hwd_1_7", "hwd_2_3", "lds_g50c", "ssl_bci", "ssl_coil2", "ssl_digit1", "ssl_g241c", "ssl_g241d", "ssl_usps",
    "ssl_secstr", "uci_flare",
)  # fmt: skip
SETS = (
    *(f"{name} {a} {'others' if b is None else b}" for name, pairs in PAIRS.items() for a, b in pairs),
    *OF_TWO,
)
LOADED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}
PROTOCOL = load_protocol("11")
TABLE = PROTOCOL.settings
GRIDS: dict[str, tuple[str, list[Any]]] = {
    "WellSVM, paper's C": ("WellSVM", TABLE["Cs"]),
    "with default": ("WellSVM", ["scale", 0.1, 0.5, 1.0, 10.0, 100.0]),
    "C by scale": ("WellSVM", PROTOCOL.own["WellSVM"]["Cs"]),
    "CPMMC, paper's C": ("CPMMC", TABLE["Cs"]),
    "CPMMC, C by scale": ("CPMMC, C by scale", PROTOCOL.own["CPMMC, C by scale"]["Cs"]),
}


@cache
def two_classes(name: str) -> Bunch:
    """Rows of two classes, or of one and all others: 350 at random; a feature that is constant is left out."""
    source, *classes = name.split()
    data = LOADED[source]() if source in LOADED else load_set(source)
    X, y = (data["data"], data["target"]) if source in LOADED else (data.X, np.asarray(data.y))
    names = np.unique(y)
    first = names[int(classes[0])] if classes else names[0]
    of_second = y != first if not classes or classes[1] == "others" else y == names[int(classes[1])]
    chosen = np.flatnonzero((y == first) | of_second)
    chosen = np.sort(np.random.default_rng(0).permutation(chosen)[:ROWS])
    rows: FloatArray = np.asarray(X[chosen].todense() if hasattr(X, "todense") else X[chosen], dtype=np.float64)
    return Bunch(X=rows[:, rows.std(axis=0) > 0], y=(y[chosen] == first).astype(int))


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": column, "setting": "best of grid"}, partial(_run, name, column))
        for name in SETS
        for column in GRIDS
    ]


def _run(name: str, column: str) -> Entry:
    data, (method, Cs) = two_classes(name), GRIDS[column]
    larger = max(np.mean(data.y), 1 - np.mean(data.y))
    settings = TABLE | {"Cs": Cs, "balances": [0.3 if larger >= 0.6 else 0.03]}
    with fit_facts() as facts:
        found = [
            (run(data, settings | {"setting": setting}, method, 0, "accuracy").value, setting)
            for setting in grid(settings, method)
        ]
    value, setting = max(found, key=lambda pair: pair[0])
    chosen = ", ".join(f"{key}={value}" for key, value in setting.items() if key != "seeds")
    return {"accuracy": value, "chosen": chosen, **facts}


def _table(entries: Sequence[Entry], figure: str) -> str:
    found = {(entry["set"], entry["method"]): entry[figure] for entry in entries}
    names = [name for name in SETS if all((name, column) in found for column in GRIDS)]
    lines = []
    for part, of in (("first, third, ... set", names[::2]), ("the others", names[1::2]), ("all", names)):
        means = [np.mean([found[name, column] for name in of]) for column in GRIDS]
        lines.append([part, str(len(of)), *(f"{mean:.3f}" for mean in means)])
    return pipe_table(["mean accuracy", "sets", *GRIDS], lines)


PRICE_STUDIES = {
    "clustering_prices": Study(
        "which values of C Table 11 tries, on other sets",
        tuple(name for name in (*PAIRS, *OF_TWO) if name not in LOADED),
        _trials,
        _table,
    )
}
