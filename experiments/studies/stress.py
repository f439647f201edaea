"""The defaults on problems that no default was chosen on: how often are they below the SVM of the labels?

Problems of `stress_sets`; 5, 10 and 25 labels of each class, and 20 and 50 at random, with at least one of each class;
linear and RBF kernel; 400 rows to learn from, the others to score. Even draws are the development half, odd ones the
confirmation half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import Bunch

from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import Split, SplitPlan, make_split
from experiments.studies.few_labels import AT_RANDOM, BY_CLASS
from experiments.studies.few_labels_tables import HALVES, HARM, OURS
from experiments.studies.stress_sets import PROBLEMS, SETS, drawn
from experiments.studies.study import Study, fit_facts
from wellsvm import SemiSupervisedSVC

__all__ = ["METHODS", "STRESS_STUDIES", "Cell", "cells", "draw_cell"]

N_DRAWS, TEST = 10, 3 / 7
LABELS = ((5, BY_CLASS), (10, BY_CLASS), (25, BY_CLASS), (20, AT_RANDOM), (50, AT_RANDOM))
KERNELS = ("linear", "rbf")
ON_LABELS = "SVM of the labels"


class Cell(NamedTuple):
    """Rows and labels that all methods share."""

    set: str
    labels: int
    drawn: str
    kernel: str
    draw: int


def cells(draw: int) -> Iterator[Cell]:
    """The cells of one draw."""
    return (Cell(name, *how, kernel, draw) for how in LABELS for name in PROBLEMS for kernel in KERNELS)


@lru_cache(maxsize=2)  # the kernels of a cell follow one another
def _split(name: str, labels: int, how: str, draw: int) -> Split:
    problem, (X, y, strangers) = PROBLEMS[name], drawn(name, draw)
    n_classes = int(y.max()) + 1
    n_labeled, per_class = (labels * n_classes, labels) if how == BY_CLASS else (labels, 1)
    plan = SplitPlan(n_labeled, per_class, TEST, scale=problem.scale, dtype=problem.dtype)
    split = make_split(Bunch(X=X, y=y), plan, draw)
    if strangers is None:
        return split
    X = np.vstack([split.X, strangers.astype(problem.dtype)])
    return split._replace(X=X, y=np.append(split.y, np.full(len(strangers), np.nan)))


def draw_cell(cell: Cell) -> Split:
    """The rows and labels of a cell."""
    return _split(cell.set, cell.labels, cell.drawn, cell.draw)


def _ours(kernel: str, split: Split, **parameters: Any) -> Any:
    return SemiSupervisedSVC(kernel=kernel, random_state=0, **parameters).fit(split.X, split.y)


def _on_labels(kernel: str, split: Split) -> Any:
    model = LinearSVC(random_state=0) if kernel == "linear" else SVC()
    return model.fit(*split.labeled)


def _with_unlabeled(model: Callable[[], Any], kernel: str, split: Split) -> Any:
    """For scikit-learn, where -1 marks the unlabeled rows; the same for both kernels."""
    return model().fit(split.X, np.where(np.isnan(split.y), -1, split.y).astype(int))


METHODS: dict[str, Callable[[str, Split], Any]] = {
    OURS: _ours,
    "always used": partial(_ours, safe=False),
    ON_LABELS: _on_labels,
    "self-training": partial(
        _with_unlabeled, lambda: SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=1000))
    ),
    "LabelSpreading": partial(_with_unlabeled, lambda: LabelSpreading(kernel="knn")),
}


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {**cell._asdict(), "method": method}, partial(_run, cell, method))
        for draw in range(N_DRAWS)
        for cell in cells(draw)
        for method in METHODS
    ]


def _run(cell: Cell, method: str) -> Entry:
    try:
        split = draw_cell(cell)
    except ValueError as error:  # a class has too few rows
        return {"skipped": str(error)}
    with fit_facts() as facts:
        model = METHODS[method](cell.kernel, split)
    entry = {"accuracy": float(model.score(split.X_test, split.y_test)), "cpu_seconds": facts["cpu_seconds"]}
    if isinstance(model, SemiSupervisedSVC):
        entry["used_unlabeled"] = bool(model.used_unlabeled_)
    return entry


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Accuracies and harmed cells of a kernel and a half, as "linear development", or by problem: "linear sets"."""
    found: dict[tuple[object, ...], dict[str, Entry]] = {}
    for entry in (entry for entry in entries if "skipped" not in entry):
        found.setdefault(tuple(entry[name] for name in Cell._fields), {})[entry["method"]] = entry
    whole = [(Cell(*key), cell) for key, cell in found.items() if len(cell) == len(METHODS)]  # type: ignore[arg-type]
    kernel, _, part = figure.partition(" ")
    if kernel not in KERNELS:
        figures = [f"{name}, {half} half:\n\n{_means(whole, name, half)}" for name in KERNELS for half in HALVES]
        return "\n\n".join([*figures, *(f"{name}:\n\n{_by_problem(whole, name)}" for name in KERNELS)])
    return _by_problem(whole, kernel) if part == "sets" else _means(whole, kernel, part)


Whole = Sequence[tuple[Cell, dict[str, Entry]]]


def _means(whole: Whole, kernel: str, half: str) -> str:
    """A line for each method: mean accuracy and share of the cells far below the SVM of the labels."""
    kinds: dict[str, list[dict[str, Entry]]] = {}
    for cell, results in whole:
        if (cell.kernel, HALVES[cell.draw % 2]) == (kernel, half):
            kinds.setdefault(f"{cell.labels} {cell.drawn}", []).append(results)
    if not kinds:
        return ""
    kinds["all"] = [results for of_kind in kinds.values() for results in of_kind]
    lines = [[method, *(_entry(method, of_kind) for of_kind in kinds.values())] for method in METHODS]
    used = [f"{np.mean([r[OURS]['used_unlabeled'] for r in of_kind]):.0%}" for of_kind in kinds.values()]
    lines += [["today's defaults use the rows", *used], ["cells", *(str(len(of_kind)) for of_kind in kinds.values())]]
    return pipe_table(["method", *kinds], lines)


def _entry(method: str, cells: Sequence[dict[str, Entry]]) -> str:
    accuracy = np.mean([cell[method]["accuracy"] for cell in cells])
    harmed = np.mean([cell[method]["accuracy"] < cell[ON_LABELS]["accuracy"] - HARM for cell in cells])
    return f"{accuracy:.3f}, {harmed:.0%}"


def _by_problem(whole: Whole, kernel: str) -> str:
    """The same for each problem, over all labels and both halves."""
    of = {name: [r for cell, r in whole if (cell.set, cell.kernel) == (name, kernel)] for name in PROBLEMS}
    lines = [[name, *(_entry(method, cells) for method in METHODS)] for name, cells in of.items() if cells]
    return pipe_table(["problem", *METHODS], lines) if lines else ""


STRESS_STUDIES = {
    "stress": Study("the defaults on problems that no default was chosen on", SETS, _trials, _table),
}
