"""Whether to use unlabeled rows under the Gaussian kernel: by the loss of values as they are, and of one size.

Generated sets, some of whose clusters are not the classes, and UCI sets, standardized; 5, 10 and 30 labels of each
class, where there are as many, scored on a quarter of the rows. Besides two standard errors of the loss of held-out
labels, unlabeled rows must save `judge_sized_errors` of the loss of values divided by their root mean square. Even
draws are the development half, odd ones the confirmation half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import Split, SplitPlan, make_split
from experiments.studies.constants import constant
from experiments.studies.few_labels import SMALL_UCI
from experiments.studies.few_labels_tables import HALVES, HARM
from experiments.studies.study import Study, fit_facts
from experiments.studies.two_class_generators import GENERATORS, generate
from wellsvm import SemiSupervisedSVC

__all__ = ["KERNEL_SAFETY_STUDIES"]

DRAWS, LABELS = 6, (5, 10, 30)
TOO_FEW_ROWS = ("uci_echocardiogram", 30)
ALONE = "the SVM alone"


def _semi(split: Split, **parameters: Any) -> SemiSupervisedSVC:
    return SemiSupervisedSVC(kernel="rbf", random_state=0, **parameters).fit(split.X, split.y)


def _saving(errors: float) -> Callable[[Split], SemiSupervisedSVC]:
    def fit(split: Split) -> SemiSupervisedSVC:
        with constant("judge_sized_errors", errors):
            return _semi(split)

    return fit


RULES: dict[str, Callable[[Split], SemiSupervisedSVC]] = {
    ALONE: partial(_semi, C_unlabeled=0.0),
    "always used": partial(_semi, safe=False),
    "by the loss as it is": _saving(-np.inf),
    "and any gain at one size": _saving(0.0),
    "and half an error (the default)": _saving(0.5),
    "and one error": _saving(1.0),
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(
            journal,
            {"part": part, "set": name, "labels": labels, "draw": draw, "method": rule},
            partial(_run, part, name, labels, draw, rule),
        )
        for draw in range(DRAWS)
        for part, names in (("generators", tuple(GENERATORS)), ("uci", SMALL_UCI))
        for name in names
        for labels in LABELS
        if (name, labels) != TOO_FEW_ROWS
        for rule in RULES
    ]


def _run(part: str, name: str, labels: int, draw: int, rule: str) -> Entry:
    data = load_set(name) if part == "uci" else Bunch(**dict(zip("Xy", generate(name, draw))))
    split = make_split(data, SplitPlan(2 * labels, labels), draw)
    with fit_facts() as facts:
        model = RULES[rule](split)
    facts["accuracy"] = float(model.score(split.X_test, split.y_test))
    facts["used_unlabeled"] = bool(model.used_unlabeled_)
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Mean accuracy, share of cells harmed and share that use unlabeled rows, on the cells that have all rules."""
    found: dict[tuple[str, int, str, int], dict[str, Entry]] = {}
    for entry in entries:
        key = (entry["part"], entry["draw"] % 2, entry["set"], 1000 * entry["draw"] + entry["labels"])
        found.setdefault(key, {})[entry["method"]] = entry
    columns: dict[str, list[dict[str, Entry]]] = {}
    for (part, half, *_), cell in sorted(found.items(), key=lambda item: item[0][:2]):
        if len(cell) == len(RULES):
            columns.setdefault(f"{part}, {HALVES[half]}", []).append(cell)
    lines = [[rule, *(_entry(rule, cells) for cells in columns.values())] for rule in RULES]
    lines.append(["cells", *(str(len(cells)) for cells in columns.values())])
    return pipe_table(["rule", *columns], lines)


def _entry(rule: str, cells: Sequence[dict[str, Entry]]) -> str:
    accuracy = np.mean([cell[rule]["accuracy"] for cell in cells])
    harmed = np.mean([cell[rule]["accuracy"] < cell[ALONE]["accuracy"] - HARM for cell in cells])
    used = np.mean([cell[rule]["used_unlabeled"] for cell in cells])
    return f"{accuracy:.3f}, {harmed:.0%}, {used:.0%}"


KERNEL_SAFETY_STUDIES = {
    "kernel_safety": Study(
        "whether to use unlabeled rows under the Gaussian kernel, by losses of held-out labels",
        SMALL_UCI,
        _trials,
        _table,
    )
}
