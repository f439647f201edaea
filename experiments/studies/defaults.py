"""What else the defaults of SemiSupervisedSVC could be: one of them changed at a time, on cells of `few_labels`.

Pairs of topics and UCI sets with 10 labels a class, UCI sets with 10 % and texts with 50 labels at random. Even draws
are the development half, on which the defaults were chosen, odd ones the confirmation half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.choices import TEXT
from experiments.studies.few_labels import EMBEDDINGS, SMALL_UCI, Cell, cells, draw_cell
from experiments.studies.study import Study, fit_facts
from wellsvm import SemiSupervisedSVC
from wellsvm.options import Options

__all__ = ["DEFAULT_STUDIES"]

DRAWS = {"pairs": 2, "uci": 10, "text": 8}
LABELS_OF_PAIRS = (10, "a class")
TODAY = "today's defaults"
HALVES = ("development", "confirmation")
LADDERS = {"one price on the way": (0.316,), "two": (0.1, 0.316), "four": (0.01, 0.0316, 0.1, 0.316)}

Variant = Callable[[], Any]  # a context in which the estimator is fitted


@contextmanager
def _constants(**values: Any) -> Iterator[dict[str, Any]]:
    """Other constants of `Options` that estimators read."""
    before = {name: getattr(Options, name) for name in values}
    try:
        for name, value in values.items():
            setattr(Options, name, value)
        yield {}
    finally:
        for name, value in before.items():
            setattr(Options, name, value)


@contextmanager
def _parameters(**values: Any) -> Iterator[dict[str, Any]]:
    yield values


VARIANTS: dict[str, Variant] = {
    TODAY: partial(_parameters),
    **{f"intercept_scaling={b:g}": partial(_parameters, intercept_scaling=b) for b in (1.0, 2.0)},
    **{f"C_unlabeled={C:g}": partial(_parameters, C_unlabeled=C) for C in (0.2, 0.5, 1.0)},
    **{name: partial(_constants, annealed_prices=l, hinge_prices=l) for name, l in LADDERS.items()},
    **{f"sure from {m:g}": partial(_constants, semi_supervised_margin=m) for m in (0.0, 0.5)},
    "safe=False": partial(_parameters, safe=False),
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {**cell._asdict(), "method": variant}, partial(_run, cell, variant))
        for draw in range(max(DRAWS.values()))
        for cell in cells(draw)
        if draw < DRAWS[cell.part] and (cell.part != "pairs" or (cell.labels, cell.drawn) == LABELS_OF_PAIRS)
        for variant in VARIANTS
    ]


def _run(cell: Cell, variant: str) -> Entry:
    split = draw_cell(cell).split
    with fit_facts() as facts, VARIANTS[variant]() as parameters:
        model = SemiSupervisedSVC(random_state=0, **parameters).fit(split.X, split.y)
    facts["accuracy"] = float(model.score(split.X_test, split.y_test))
    return facts


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Mean accuracies, a line for each variant and a column for each part and half."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for entry in entries:
        half = HALVES[entry["draw"] % 2]
        many = f"{entry['labels']:g}" if entry["labels"] >= 1 else f"{100 * entry['labels']:g} %"
        column = f"{entry['part']}, {many} {entry['drawn']}", half
        found.setdefault(column, {}).setdefault(entry["method"], []).append(entry["accuracy"])
    columns = sorted(found, key=_place)
    lines = [[v, *(f"{np.mean(found[c].get(v, [np.nan])):.4f}" for c in columns)] for v in VARIANTS]
    lines.append(["cells", *(str(len(found[c].get(TODAY, []))) for c in columns)])
    return pipe_table(["variant", *(f"{labels}, {half}" for labels, half in columns)], lines)


def _place(column: tuple[str, str]) -> tuple[int, str, int]:
    """Parts in their order, labels, then halves."""
    labels, half = column
    return list(DRAWS).index(labels.partition(",")[0]), labels, HALVES.index(half)


DEFAULT_STUDIES = {
    "defaults": Study(
        "what else the defaults of SemiSupervisedSVC could be, one at a time",
        (*SMALL_UCI, *TEXT, EMBEDDINGS),
        _trials,
        _table,
    )
}
