"""far_columns: from which distance on dense columns are seen from their mean, on sets whose columns are not centered.

UCI sets with columns scaled to 0 .. 1, pairs of digits and of USPS digits as they are; 10 labels of each class. The
accuracy is that on the unlabeled rows. Draw 0 is the even half, draw 1 the odd one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import draw_of_each
from experiments.studies.constants import constant
from experiments.studies.few_labels import SMALL_UCI
from experiments.studies.study import Study, fit_facts, mean_of
from wellsvm import SemiSupervisedSVC

__all__ = ["FAR_STUDIES"]

N_DRAWS, N_LABELED = 2, 10
PAIRS = {"digits": ("38", "17", "27", "49", "56", "09"), "usps_digits": ("38", "17", "23", "49")}
SETS = {
    "UCI, 0 to 1": SMALL_UCI,
    **{name: tuple(f"{name}, {pair}" for pair in pairs) for name, pairs in PAIRS.items()},
}
TRIED = {"never": np.inf, "10": 10.0, "3": 3.0, "2": 2.0, "1": 1.0, "always": 0.0}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(
            journal, {"part": part, "set": name, "draw": draw, "method": method}, partial(_run, name, draw, method)
        )
        for part, names in SETS.items()
        for draw in range(N_DRAWS)
        for name in names
        for method in TRIED
    ]  # fmt: skip


def _run(name: str, draw: int, method: str) -> Entry:
    X, y = _data(name)
    labeled = draw_of_each(y, N_LABELED, np.random.default_rng(draw))
    known = np.isin(np.arange(y.size), labeled)
    with constant("far_columns", TRIED[method]), fit_facts() as facts:
        model = SemiSupervisedSVC(random_state=0).fit(X, np.where(known, y, np.nan))
    facts["accuracy"] = float(np.mean(model.predict(X[~known]) == y[~known]))
    return facts


def _data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes 0 and 1."""
    file, _, pair = name.partition(", ")
    data = load_set(file)
    chosen = np.isin(data.y, [int(digit) for digit in pair]) if pair else np.ones(len(data.y), dtype=bool)
    X, y = np.asarray(data.X[chosen], dtype=np.float64), np.unique(data.y[chosen], return_inverse=True)[1]
    return X if pair else MinMaxScaler().fit_transform(X), y


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Means of even and odd draws, and processor time over that of "never"."""
    lines = []
    for part in SETS:
        own = [e for e in entries if e["part"] == part]
        for half, rest in (("even", 0), ("odd", 1)):
            drawn = [e for e in own if e["draw"] % 2 == rest]
            lines.append([f"{part}, {half} draws", *(f"{mean_of(drawn, figure, method=m):.4f}" for m in TRIED)])
        plain = mean_of(own, "cpu_seconds", method="never")
        lines.append([f"{part}, time", *(f"{mean_of(own, 'cpu_seconds', method=m) / plain:.2f}" for m in TRIED)])
    return pipe_table(["sets", *TRIED], lines)


FAR_STUDIES = {
    "far_columns": Study(
        "from which distance to 0 on dense columns are seen from their mean",
        (*SMALL_UCI, "usps_digits"),
        _trials,
        _table,
    )
}
