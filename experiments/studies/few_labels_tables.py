"""Tables of the study of few labels. Only cells count that all methods of their part have been measured on.

A mean is over the means of the problems (pairs, sets), and its standard error too, as the cells of one problem are not
independent; where a part has one problem, both are over the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from experiments.journal import Entry
from experiments.markdown import pipe_table

__all__ = ["HALVES", "HARM", "OURS", "few_labels_table"]

PARTS = ("pairs", "seven", "uci", "text", "latent")
MANY_PROBLEMS = ("pairs", "uci")
OF_EVERY_CLASS = ("pairs", "seven", "latent")  # as many labels at random as there are of every class
HALVES = ("development", "confirmation")
OURS, BASE = "today's defaults", "LinearSVC"
# A cell where a method is so much below the base is one that it harms.
HARM = 0.02

Results: TypeAlias = dict[str, Entry]  # entries of one cell, by method


def few_labels_table(entries: Sequence[Entry], figure: str) -> str:
    """The table that a figure names: "PART HALF", "PART sets", "differences" or "shares"; else it is most of them.

    Empty where a part has no cell yet.
    """
    cells = _complete(entries)
    if figure == "differences":
        return _differences(cells)
    if figure == "shares":
        return _share_errors(cells)
    part, _, half = figure.partition(" ")
    if part in PARTS and half == "sets":
        return _by_set([cell for cell in cells if cell[OURS]["part"] == part])
    if part in PARTS:
        return _accuracies(_of(cells, part, half))
    shown = [(p, h) for p in PARTS for h in HALVES if _of(cells, p, h)]
    tables = [f"{p}, {h} half:\n\n{_accuracies(_of(cells, p, h))}" for p, h in shown]
    return "\n\n".join([*tables, _differences(cells), _share_errors(cells)])


def _complete(entries: Iterable[Entry]) -> list[Results]:
    """The cells that have a result of every method that their part was measured with."""
    cells: dict[tuple[object, ...], Results] = {}
    methods: dict[str, dict[str, None]] = {}
    for entry in entries:
        key = tuple(entry[name] for name in ("part", "set", "labels", "drawn", "draw"))
        cells.setdefault(key, {})[entry["method"]] = entry
        methods.setdefault(entry["part"], {})[entry["method"]] = None
    return [cell for (part, *_), cell in cells.items() if OURS in cell and len(cell) == len(methods[str(part)])]


def _of(cells: Sequence[Results], part: str, half: str) -> list[Results]:
    return [c for c in cells if (c[OURS]["part"], HALVES[c[OURS]["draw"] % 2]) == (part, half)]


def _by_labels(cells: Sequence[Results]) -> dict[str, list[Results]]:
    """The cells by how their labels were drawn, as a reader is told."""
    found: dict[str, list[Results]] = {}
    for cell in cells:
        labels, drawn = cell[OURS]["labels"], cell[OURS]["drawn"]
        if drawn == "at random" and cell[OURS]["part"] in OF_EVERY_CLASS:
            labels *= len(cell[OURS]["shares"])
        many = f"{labels:g}" if labels >= 1 else f"{100 * labels:g} %"
        found.setdefault(f"{many} {drawn}", []).append(cell)
    return found


def _mean(cells: Sequence[Results], value: Callable[[Results], float]) -> tuple[float, float]:
    """Mean and standard error of a value."""
    problems: dict[str, list[float]] = {}
    for cell in cells:
        problems.setdefault(cell[OURS]["set"], []).append(value(cell))
    means = [np.mean(values) for values in problems.values()] if len(problems) > 1 else next(iter(problems.values()))
    error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return float(np.mean(means)), float(error)


def _accuracy(method: str, cell: Results) -> float:
    return float(cell[method]["accuracy"])


def _above(method: str, cell: Results) -> float:
    return _accuracy(OURS, cell) - _accuracy(method, cell)


def _accuracies(cells: Sequence[Results]) -> str:
    """A line for each method: accuracy, its standard error and the share of cells it harms, for each kind of labels."""
    if not cells:
        return ""
    kinds = _by_labels(cells)
    lines = []
    for method in cells[0]:
        line = [method]
        for of_kind in kinds.values():
            mean, error = _mean(of_kind, partial(_accuracy, method))
            harmed = np.mean([_accuracy(method, cell) < _accuracy(BASE, cell) - HARM for cell in of_kind])
            line.append(f"{mean:.3f} ± {error:.3f}, {100 * harmed:.0f} %")
        used = [c[method]["used_unlabeled"] for c in cells if "used_unlabeled" in c[method]]
        seconds = np.mean([c[method]["cpu_seconds"] for c in cells])
        lines.append([*line, f"{np.mean(used):.2f}" if used else "", f"{seconds:.3f}"])
    lines.append(["cells", *(str(len(of_kind)) for of_kind in kinds.values()), "", ""])
    return pipe_table(["method", *kinds, "used", "CPU s"], lines)


def _by_set(cells: Sequence[Results]) -> str:
    """Mean accuracy on each set over the draws of both halves."""
    lines = []
    for kind, of_kind in _by_labels(cells).items():
        for name in dict.fromkeys(cell[OURS]["set"] for cell in of_kind):
            of_set = [cell for cell in of_kind if cell[OURS]["set"] == name]
            means = [np.mean([_accuracy(method, cell) for cell in of_set]) for method in of_set[0]]
            lines.append([name, kind, str(len(of_set)), *(f"{mean:.3f}" for mean in means)])
    return pipe_table(["set", "labels", "draws", *cells[0]], lines, text=("labels",)) if cells else ""


def _differences(cells: Sequence[Results]) -> str:
    """How far the defaults are above each other method on the same cells, with the standard error of the difference."""
    methods = list(dict.fromkeys(m for cell in cells for m in cell if m != OURS))
    lines = []
    for part, kind, half, of_kind in _lines(cells):
        line = [f"{part}, {kind}", half]
        for method in methods:
            if method not in of_kind[0]:
                line.append("-")
                continue
            mean, error = _mean(of_kind, partial(_above, method))
            line.append(f"{mean:+.3f} ± {error:.3f}")
        lines.append(line)
    return pipe_table(["labels", "half", *methods], lines, text=("half",))


def _share_errors(cells: Sequence[Results]) -> str:
    """Error of the estimated shares beside that of the labels' shares, and how often it is within its standard error.

    The error is the total variation distance: for two classes the absolute error of the share.
    """
    lines = []
    for part, kind, half, of_kind in [*_lines(cells), *_together(cells)]:
        by_labels, labels_error = _mean(of_kind, partial(_share_error, "label_shares"))
        estimated, error = _mean(of_kind, partial(_share_error, "balance"))
        off = [np.subtract(c[OURS]["balance"], c[OURS]["shares"]) for c in of_kind]
        ratios = np.abs(off) / np.maximum([c[OURS]["balance_se"] for c in of_kind], 1e-6)
        within = " / ".join(f"{np.mean(ratios <= k):.2f}" for k in (1, 2))
        figures = (f"{by_labels:.3f} ± {labels_error:.3f}", f"{estimated:.3f} ± {error:.3f}")
        lines.append([f"{part}, {kind}", half, *figures, f"{estimated / by_labels:.2f}", within])
    head = ["labels", "half", "labels' share", "estimate", "ratio", "within 1 / 2 se"]
    return pipe_table(head, lines, text=("half",))


def _together(cells: Sequence[Results]) -> list[tuple[str, str, str, list[Results]]]:
    """The same for the kinds of labels that two parts, which are of many problems each, have in common."""
    halves = [(half, [_by_labels(_of(cells, part, half)) for part in MANY_PROBLEMS]) for half in HALVES]
    return [
        (" and ".join(MANY_PROBLEMS), kind, half, [cell for kinds in parts for cell in kinds[kind]])
        for half, parts in halves
        for kind in parts[0]
        if all(kind in kinds for kinds in parts)
    ]


def _share_error(found: str, cell: Results) -> float:
    return float(np.abs(np.subtract(cell[OURS][found], cell[OURS]["shares"])).sum() / 2)


def _lines(cells: Sequence[Results]) -> list[tuple[str, str, str, list[Results]]]:
    """Part, kind of labels, half and cells of every line of a table over all parts."""
    found = [(part, half, _by_labels(_of(cells, part, half))) for part in PARTS for half in HALVES]
    return [(part, kind, half, of_kind) for part, half, kinds in found for kind, of_kind in kinds.items()]
