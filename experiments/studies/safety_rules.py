"""Whether to use unlabeled rows: rules beside one another, on cells of `few_labels`.

The SVM of the labels alone, unlabeled rows always used, and used where they lower the ramp loss of held-out labels at
all, by one, by one and a half, which is the default (engine/safety.py), or by two standard errors. Beside them the
other kind of safety: S4VM's labels, which gain most over the SVM's in the worst case of ten labelings, at the same
prices and the same estimated share. Even draws are the development half, odd ones the confirmation half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import Split
from experiments.studies.choices import TEXT
from experiments.studies.constants import constant
from experiments.studies.few_labels import EMBEDDINGS, SMALL_UCI, Cell, cells, draw_cell
from experiments.studies.few_labels_tables import HALVES, HARM
from experiments.studies.study import Study, fit_facts
from wellsvm import SemiSupervisedSVC
from wellsvm.baselines import S4VM

__all__ = ["SAFETY_STUDIES"]

DRAWS = {"uci": 6, "text": 2, "pairs": 2}
LABELS_OF_PAIRS = ((10, "a class"), (10, "at random"))
ALONE = "the SVM alone"


def _semi(split: Split, **parameters: Any) -> Any:
    return SemiSupervisedSVC(random_state=0, **parameters).fit(split.X, split.y)


def _by_errors(errors: float) -> Callable[[Split], Any]:
    def fit(split: Split) -> Any:
        with constant("judge_errors", errors):
            return _semi(split)

    return fit


def _in_the_worst_case(split: Split) -> Any:
    used = _semi(split, safe=False)
    share, C_unlabeled = float(used.balance_[1]), used.C_unlabeled_
    return S4VM(C=used.C, C_unlabeled=C_unlabeled, balance=share, random_state=0).fit(split.X, split.y)


RULES: dict[str, Callable[[Split], Any]] = {
    ALONE: partial(_semi, C_unlabeled=0.0),
    "always used": partial(_semi, safe=False),
    "any gain in ramp loss": _by_errors(0.0),
    "by one standard error": _by_errors(1.0),
    "by one and a half (the default)": _by_errors(1.5),
    "by two standard errors": _by_errors(2.0),
    "worst case of ten labelings": _in_the_worst_case,
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {**cell._asdict(), "method": rule}, partial(_run, cell, rule))
        for draw in range(max(DRAWS.values()))
        for cell in cells(draw)
        if draw < DRAWS[cell.part] and (cell.part != "pairs" or (cell.labels, cell.drawn) in LABELS_OF_PAIRS)
        for rule in RULES
    ]


def _run(cell: Cell, rule: str) -> Entry:
    split = draw_cell(cell).split
    with fit_facts() as facts:
        model = RULES[rule](split)
    facts["accuracy"] = float(model.score(split.X_test, split.y_test))
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Mean accuracy and share of cells harmed, a line for each rule, on the cells that have all of them."""
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for entry in entries:
        key = tuple(entry[name] for name in ("part", "drawn", "draw", "set", "labels"))
        found.setdefault(key, {})[entry["method"]] = entry["accuracy"]
    columns: dict[str, list[dict[str, float]]] = {}
    for (part, drawn, draw, *_), cell in found.items():
        if len(cell) == len(RULES):
            columns.setdefault(f"{part}, {drawn}, {HALVES[int(str(draw)) % 2]}", []).append(cell)
    lines = [[rule, *(_entry(rule, cells_of) for cells_of in columns.values())] for rule in RULES]
    lines.append(["cells", *(str(len(cells_of)) for cells_of in columns.values())])
    return pipe_table(["rule", *columns], lines)


def _entry(rule: str, found: Sequence[dict[str, float]]) -> str:
    harmed = np.mean([cell[rule] < cell[ALONE] - HARM for cell in found])
    return f"{np.mean([cell[rule] for cell in found]):.3f}, {100 * harmed:.0f} %"


SAFETY_STUDIES = {
    "safety_rules": Study(
        "whether to use unlabeled rows: rules beside one another",
        (*SMALL_UCI, *TEXT, EMBEDDINGS),
        _trials,
        _table,
    )
}
