"""The sections of the report, each from what a fitted model has; a section that has nothing to show is empty."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from wellsvm._fitted_runs import Run
from wellsvm._report.page import Raw, legend, section, share_bar, table, tiles
from wellsvm._report.svg import MOST_COLOURS, Line, colour_of, histogram, line_chart
from wellsvm.engine.report import ACT, Status

__all__ = [
    "convergence",
    "figures",
    "key_instances",
    "label_vectors",
    "margins",
    "parameters",
    "search",
]

# Zero, and what rounding leaves of it, is drawn at this many tol on a logarithmic axis.
FLOOR = 1e-2
# Bags listed at most.
MOST_BAGS = 120


def figures(model: Any, runs: list[Run]) -> str:
    """The solver's figures."""
    if not runs:
        return ""
    last = [(run, run.history[-1]) for run in runs]
    many = len(runs) > 1
    worst = "largest " if many else ""
    shown = [
        ("two-class problems", str(len(runs))) if many else ("objective", f"{last[0][1].objective:.6g}"),
        (f"{'most ' if many else ''}label vectors generated", str(max(len(run.history) for run in runs))),
        (f"{worst}gap, relative", f"{max(_last(run, 'gap') for run in runs):.2g}"),
        (f"{worst}violation left, relative", f"{max(_last(run, 'violation') for run in runs):.2g}"),
        ("passes over the rows", str(sum(record.epochs for _, record in last))),
        ("seconds", f"{sum(record.seconds for _, record in last):.2g}"),
    ]
    if hasattr(model, "C_unlabeled_"):
        word = " chosen" if hasattr(model, "Cs_unlabeled_") else ""
        shown.insert(0, (f"C_unlabeled{word}", f"{model.C_unlabeled_:g}"))
    return tiles(shown, "The solver's figures")


def _name_of(model: Any, gamma: float, neighbors: int | None, balance: Any) -> str:
    """What tells a candidate of a search from the others."""
    tried = model.candidates_
    told = [f"gamma {gamma:.4g}"] if len({candidate["gamma"] for candidate in tried}) > 1 else []
    if any(candidate["neighbors"] is not None for candidate in tried):
        told.append("plain" if neighbors is None else f"{neighbors} neighbors")
    if len({str(candidate["balance"]) for candidate in tried}) > 1:
        told.append(f"balance {balance}")
    return ", ".join(told)


def search(model: Any) -> str:
    """Cross-validation: the score of every candidate, the choice marked."""
    if not hasattr(model, "Cs_unlabeled_"):
        return ""
    grid, candidates = model.Cs_unlabeled_.tolist(), [_name_of(model, **candidate) for candidate in model.candidates_]
    mean = model.scores_.mean(axis=2)
    error = model.scores_.std(axis=2, ddof=min(1, model.scores_.shape[2] - 1)) / np.sqrt(model.scores_.shape[2])
    places = [float(k) for k in range(len(grid))]
    lines = [
        Line(name, places, mean[k], colour_of(k, len(candidates)), error=error[k] if len(candidates) <= 2 else None)
        for k, name in enumerate(candidates)
    ]
    best = grid.index(model.C_unlabeled_)
    chart = line_chart(
        lines, label="mean score over the folds for every C_unlabeled", x_label="C_unlabeled", y_label="score",
        x_names=[f"{value:g}" for value in grid], marked=(float(best), "chosen"),
    )  # fmt: skip
    rows = [
        [*([name] if len(candidates) > 1 else []), value, float(mean[k, i]), float(error[k, i]),
         float(mean[k, i] - mean[k, 0])]
        for k, name in enumerate(candidates) for i, value in enumerate(grid)
    ]  # fmt: skip
    head = [
        *(["candidate"] if len(candidates) > 1 else []),
        "C_unlabeled",
        "mean score",
        "standard error",
        "gain over 0",
    ]
    chosen = model.best_candidate_ * len(grid) + best
    keys = legend((line.colour, line.name) for line in lines) if len(candidates) > 1 else ""
    return section(
        "Choice of C_unlabeled", keys, chart, table(head, rows, [chosen]),
        note=f"Mean over {model.scores_.shape[2]} folds of the labeled rows, and its standard error. 0 is the "
        "supervised SVM; another value is chosen only for a gain of more than two standard errors, or for any gain "
        "where the rows have many dimensions for every label.",
    )  # fmt: skip


def convergence(model: Any, runs: list[Run]) -> str:
    """Objective, gap and violation label vector by label vector."""
    if not runs:
        return ""
    parts = []
    if max(len(run.history) for run in runs) > 1:
        parts += _curves(model, runs)
    if len(runs) > 1:
        head = ["", "ended", "label vectors", "objective", "relative gap", "relative violation"]
        parts.append(table(head, [_summary(model, run) for run in runs]))
    every = "\n".join(f"<h3>{escape(run_name(model, run))}</h3>{_records(run)}" for run in runs)
    parts.append(f"<details><summary>Every label vector</summary>{every}</details>")
    return section(
        "Convergence", *parts,
        note="The objective bounds the relaxation from above and falls with every label vector. A violation below tol "
        "means that the oracle found nothing better; this does not prove that nothing better exists.",
    )  # fmt: skip


def _curves(model: Any, runs: list[Run]) -> list[str]:
    tol = float(model.tol)
    upper, lower = [], []
    for k, run in enumerate(runs):
        name, colour = run_name(model, run), colour_of(k, len(runs))
        number = list(range(1, len(run.history) + 1))
        upper.append(Line(name, number, [record.objective for record in run.history], colour))
        for quantity, dotted in (("violation", False), ("gap", True)):
            values = run.relative(quantity, FLOOR * tol)
            lower.append(Line(f"{name} {quantity}".strip(), number, values, colour, dotted))
    keys = legend((line.colour, line.name) for line in upper) if 1 < len(runs) <= MOST_COLOURS else ""
    kinds = legend([("full", "violation of the next label vector"), ("dots", "gap of the restricted master")])
    objective = line_chart(upper, label="objective by label vector", x_label="label vector", y_label="objective")
    shares = line_chart(
        lower, label="relative violation and gap by label vector", x_label="label vector", y_label="share of objective",
        log=True, level=("tol", tol),
    )  # fmt: skip
    return [keys, objective, kinds, shares]


def run_name(model: Any, run: Run) -> str:
    """How the report calls a run."""
    if run.name is None:
        return ""
    return f"class {run.name}" if hasattr(model, "classes_") else f"division {run.name}"


def _summary(model: Any, run: Run) -> list[Any]:
    figures = run.history[-1].objective, _last(run, "gap"), _last(run, "violation")
    return [run_name(model, run), status_badge(run.status), len(run.history), *figures]


def _last(run: Run, quantity: str) -> float:
    return _rounded(run.relative(quantity)[-1])


def _rounded(share: float) -> float:
    """What rounding errors leave of 0 is 0."""
    return 0.0 if share < 1e-12 else float(share)


def _records(run: Run) -> str:
    head = ["label vector", "objective", "relative gap", "relative violation", "in use", "passes", "seconds"]
    pairs = zip(run.history, run.relative("gap"), run.relative("violation"))
    rows = [
        [k, r.objective, _rounded(gap), _rounded(violation), r.labelings, r.epochs, round(r.seconds, 3)]
        for k, (r, gap, violation) in enumerate(pairs, 1)
    ]
    return table(head, rows)


def status_badge(status: str, count: str = "") -> Raw:
    """Why runs ended: green where no label vector is violated, a warning where the user should act."""
    kind = "good" if Status(status).converged else "warn" if Status(status) in ACT else "plain"
    return Raw(f'<span class="badge {kind}">{escape(Status(status) + count)}</span>')


def label_vectors(model: Any, runs: list[Run]) -> str:
    """How many label vectors the solution combines, what they weigh and where they differ."""
    if not runs:
        return ""
    if runs[0].labelings is None:
        note = "This model was saved or pickled. Label vectors and the labels of the rows are not stored."
        return section("Label vectors", note=note)
    rows = []
    for run in runs:
        assert run.labelings is not None
        inside = run.labelings[:, np.any(run.labelings != 0, axis=0)]  # of a division its rows
        differ = float(np.mean(np.any(inside != inside[0], axis=0)))
        order = np.argsort(-run.weights, kind="stable")
        if len(runs) > 1:
            heaviest = share_bar(float(run.weights[order[0]]))
            rows.append([run_name(model, run), len(run.weights), heaviest, share_bar(differ)])
            continue
        for k in order:
            agreement = float(np.mean(inside[k] == inside[order[0]]))
            rows.append([int(k) + 1, share_bar(float(run.weights[k])), share_bar(agreement)])
    note = "The solution of the relaxation mixes these label vectors, each with its weight."
    if len(runs) > 1:
        head = ["", "label vectors", "weight of the heaviest", f"{_unit(model)} on which they differ"]
        return section("Label vectors", table(head, rows), note=note)
    note += f" They differ on {100 * differ:.1f} % of the {_unit(model)}."
    return section("Label vectors", table(["label vector", "weight", "same as the heaviest"], rows), note=note)


def _unit(model: Any) -> str:
    return "instances" if hasattr(model, "key_instances_") else "rows"


def key_instances(model: Any) -> str:
    """Which instance of every positive bag was taken."""
    keys = getattr(model, "key_instances_", None)
    if keys is None:
        return ""
    keys = keys.reshape(len(keys), -1)
    with_key = np.flatnonzero((keys >= 0).any(axis=1))
    each = []
    for bag in with_key[:MOST_BAGS]:
        chosen = ", ".join(str(key) for key in keys[bag] if key >= 0)
        each.append(f"<span><i>bag {bag}:</i> <b>{chosen}</b></span>")
    if with_key.size > MOST_BAGS:
        each.append(f"<span>and {with_key.size - MOST_BAGS} more</span>")
    return section(
        "Key instances", f'<div class="chips">{"".join(each)}</div>',
        note=f"{with_key.size} of {len(keys)} training bags have a key instance, given by its number in the bag.",
    )  # fmt: skip


def margins(model: Any, fitted: Any, X: Any) -> str:
    """Values of f of some rows; the valley at 0 is what the method looks for."""
    if X is None or not hasattr(model, "decision_function"):
        return ""
    values = np.asarray(model.decision_function(X))
    several = values.ndim == 2
    values = values.max(axis=1) if several else values
    if not np.isfinite(values).all():  # a single cluster
        return ""
    inside = float(np.mean(np.abs(values) < 1))
    unit = "bags" if hasattr(fitted, "locate") else "rows"
    chart = histogram(
        values, label="values of f", x_label="largest f" if several else "f", y_label=unit, levels=(-1.0, 0.0, 1.0)
    )
    note = f"{values.size} {unit}; {100 * inside:.1f} % lie inside the margin, between -1 and 1."
    return section("Margins", chart, note=note)


def parameters(model: Any) -> str:
    """All parameters, with their defaults where they differ."""
    try:
        defaults = type(model)().get_params(deep=False)
    except TypeError:  # an estimator of the user's that needs arguments
        defaults = {}
    rows = []
    for name, value in model.get_params(deep=False).items():
        text, default = _short(value), _short(defaults.get(name, value))
        other = Raw("") if text == default else Raw(f"<code>{escape(default)}</code>")
        rows.append([Raw(f"<code>{escape(name)}</code>"), Raw(f"<code>{escape(text)}</code>"), other])
    head = ["parameter", "value", "default, where changed"]
    return section("Parameters", table(head, rows, [k for k, row in enumerate(rows) if row[2]]))


def _short(value: Any, most: int = 120) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 3] + "..."
