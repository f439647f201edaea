"""The first sections of the report: what was found, what is uncertain, what to do; the solver's figures come after."""

from __future__ import annotations

import warnings
from html import escape
from typing import Any, NamedTuple

import numpy as np

from wellsvm import SemiSupervisedSVC
from wellsvm._class_shares import NOT_USED
from wellsvm._fitted_runs import Run
from wellsvm._report.page import Raw, section, share_bar, table, tiles
from wellsvm._typing import BoolArray, FloatArray
from wellsvm.engine.report import Status
from wellsvm.partial_labels import normalize_partial_labels

__all__ = ["Rows", "least_certain", "outcome", "rows_of", "shares", "status", "supervised"]

# Rows listed at most.
LISTED = 10
# What an ending means, and what to do about it.
MEANING = {
    Status.NO_VIOLATED_LABEL: (
        "No label vector was found that would improve the solution.",
        "Nothing to do.",
    ),
    Status.SMALL_DECREASE: (
        "Another label vector would have changed the objective by less than the tolerance asks for.",
        "Nothing to do. A smaller tol continues the search, but rarely changes the predictions.",
    ),
    Status.ENOUGH: (
        "The relaxation was only the start of a search for one labeling, which made the result, and was not solved.",
        "Nothing to do. refine=False solves the relaxation and makes it the result.",
    ),
    Status.SETTLED: (
        "Almost no rows change their cluster any more.",
        "Nothing to do.",
    ),
    Status.STILL_MOVING: (
        "Some rows were still changing their cluster in the last round.",
        "Try another number of clusters, or scale the features. Overlapping clusters may never settle completely.",
    ),
    Status.MAX_ITER: (
        "The search stopped after max_iter label vectors, before it had finished.",
        "Scale the features if they are not scaled. Then raise max_iter, or tol if that takes too long.",
    ),
    Status.MASTER_NOT_SOLVED: (
        "The SVM for the label vectors in use was not solved to the tolerance.",
        "Scale the features: columns with very different scales are the usual cause. Otherwise lower C or raise tol.",
    ),
    Status.STOPPED: (
        "A callback stopped the fit. The model is usable, but the search had not finished.",
        "Allow more time if the predictions matter.",
    ),
}


class Rows(NamedTuple):
    """Rows, or bags, that the page is to tell about.

    Attributes
    ----------
    X : array, sparse matrix or bags
        As the model takes them.
    names : list
        What each is called: its index in a data frame, else its number.
    found : array of shape (n_rows,)
        Class or cluster of each.
    certainty : array of shape (n_rows,)
        The size of f; of several classes the lead of the best over the next.
    labeled : array of shape (n_rows,), or None
        Which had a label, if that is known.
    y : array of shape (n_rows,), or None
        The labels; meaningless where there is none.
    """

    X: Any
    names: list[Any]
    found: np.ndarray
    certainty: FloatArray
    labeled: BoolArray | None
    y: np.ndarray | None


def rows_of(model: Any, fitted: Any, X: Any, y: Any) -> Rows | None:
    """What the model says of X; None without X, or for a model without values of f."""
    if X is None or not hasattr(model, "decision_function"):
        return None
    values, found = np.asarray(model.decision_function(X)), np.asarray(model.predict(X))
    if not np.isfinite(values).all():  # a single cluster
        return None
    if values.ndim == 2:
        best = np.sort(values, axis=1)
        values = best[:, -1] - best[:, -2]
    index = getattr(X, "index", None)
    names = list(range(len(found))) if index is None or callable(index) else list(index)
    labeled = labels = None
    if y is not None and hasattr(fitted, "classes_"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the reading of y warns of, `fit` has told
            partial = normalize_partial_labels(y, getattr(fitted, "unlabeled", None))
        if partial.labeled.size != len(found):
            raise ValueError(f"y has {partial.labeled.size} entries for the {len(found)} rows of X")
        labeled, labels = partial.labeled, partial.classes[partial.codes]
    return Rows(X, names, found, np.abs(values), labeled, labels)


def _unit(fitted: Any) -> str:
    return "bags" if hasattr(fitted, "locate") else "rows"


def _uncertain(rows: Rows, fitted: Any) -> BoolArray:
    """Inside the margin: f below 1 in size; of several classes, a lead below 1."""
    inside = rows.certainty < 1
    return inside if rows.labeled is None else inside & ~rows.labeled


def outcome(fitted: Any, rows: Rows | None) -> str:
    """How many rows were labeled, found and uncertain; classes or clusters with their numbers."""
    found = getattr(fitted, "transduction_", getattr(fitted, "labels_", None)) if rows is None else rows.found
    if found is None:
        return ""
    unit, n = _unit(fitted), len(found)
    what = "cluster" if hasattr(fitted, "labels_") else "class"
    figures, note = [(unit, f"{n:,}")], ""
    labeled = None if rows is None else rows.labeled
    if labeled is not None:
        figures += [("labeled", f"{labeled.sum():,}"), ("labels found", f"{n - labeled.sum():,}")]
    if rows is not None:
        figures.append(("uncertain", f"{_uncertain(rows, fitted).sum():,}"))
        note = f"Uncertain {unit} lie inside the margin: a small change of the model could change their {what}."
    names = np.unique(found).tolist()
    head, lines = [what, unit, "share"], []
    for name in names:
        own = found == name
        line = [str(name), int(own.sum()), share_bar(own.mean())]
        if labeled is not None:
            assert rows is not None
            assert rows.y is not None
            line[1:1] = [int(np.sum(labeled & (rows.y == name))), int(np.sum(~labeled & own))]
        lines.append(line)
    if labeled is not None:
        head[1:1] = ["labeled", "found"]
    positive = getattr(fitted, "positive_class", None)
    if hasattr(fitted, "locate") and len(getattr(fitted, "classes_", ())) == 2:
        second = fitted.classes_.tolist()[1]
        note += f" The positive class is {second if positive is None else positive}."
    return tiles(figures) + section("What was found", table(head, lines), note=note)


def least_certain(fitted: Any, rows: Rows | None) -> str:
    """The rows to look at, or to label next."""
    if rows is None:
        return ""
    free = np.ones(len(rows.found), dtype=bool) if rows.labeled is None else ~rows.labeled
    order = [k for k in np.argsort(rows.certainty, kind="stable") if free[k]][:LISTED]
    if not order:
        return ""
    unit = _unit(fitted)
    lines = [[str(rows.names[k]), str(rows.found[k]), float(rows.certainty[k])] for k in order]
    several = len(getattr(fitted, "classes_", ())) > 2
    value = "lead over the next class" if several else "distance from the boundary, |f|"
    note = f"The {unit} that the model is least certain about: inspect them, or label them next."
    head = [unit[:-1], "cluster" if hasattr(fitted, "labels_") else "class", value]
    return section(f"Least certain {unit}", table(head, lines), note=note)


def supervised(model: Any, fitted: Any, rows: Rows | None) -> str:
    """The supervised SVM with the same kernel and C, beside the model."""
    if not hasattr(fitted, "used_unlabeled_"):
        return ""
    if not fitted.used_unlabeled_:
        note = (
            "The unlabeled rows were not used, because they did not help to predict held-out labels or because "
            "C_unlabeled is 0. This model is the supervised SVM."
        )
        return section("Compared with the supervised SVM", note=note)
    if rows is None or rows.labeled is None or rows.y is None or fitted.kernel == "precomputed":
        return ""
    X = rows.X if model is fitted else _steps_before(model).transform(rows.X)
    plain = _supervised_twin(fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = plain.fit(X[rows.labeled], rows.y[rows.labeled]).predict(X)
    free = ~rows.labeled
    differ = free & (other != rows.found)
    pairs, counts = np.unique(
        np.column_stack([other[differ], rows.found[differ]]).astype(str), axis=0, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:LISTED]
    lines = [[*pairs[k].tolist(), int(counts[k])] for k in order]
    note = (
        f"An SVM with the same kernel and C, trained on the {rows.labeled.sum():,} labeled rows alone, predicts the "
        f"same class for {100 * (1 - differ.sum() / max(free.sum(), 1)):.1f} % of the unlabeled rows. For the other "
        "rows, only labels can show which of the two is right, so they are the best ones to label next."
    )
    where = ", ".join(str(rows.names[k]) for k in np.flatnonzero(differ)[:LISTED])
    shown = [
        table(["supervised SVM", "this model", "rows"], lines),
        f"<p>The first rows on which they differ: {escape(where)}</p>",
    ]
    return section("Compared with the supervised SVM", *(shown if differ.any() else []), note=note)


def _steps_before(model: Any) -> Any:
    """What a Pipeline, or the best one of a search, does before the estimator."""
    return getattr(model, "best_estimator_", model)[:-1]


def _supervised_twin(fitted: Any) -> Any:
    given, known = fitted.get_params(deep=False), SemiSupervisedSVC().get_params(deep=False)
    same = {name: value for name, value in given.items() if name in known and name != "init"}
    same |= {"C_unlabeled": 0.0, "unlabeled": None, "probability": False, "verbose": 0, "warm_start": False}
    same |= {"neighbors": None, "checkpoint": None}  # the graph is one of all rows; a file belongs to one fit
    return SemiSupervisedSVC(**{**same, "balance": "labels", "gamma": fitted._kernel.gamma})


def shares(fitted: Any, rows: Rows | None) -> str:
    """Shares of the classes: among the labels, given or estimated, and found among the unlabeled rows."""
    if not hasattr(fitted, "balance_found_"):
        return ""
    asked = fitted.balance
    source = (
        {"estimate": "estimated", "labels": "as labeled"}.get(asked, "given") if isinstance(asked, str) else "given"
    )
    source = "found" if asked is None else source
    head, lines = ["class", f"share {source}", "standard error", "share found"], []
    labels = None if rows is None or rows.labeled is None or rows.y is None else rows.y[rows.labeled]
    if labels is not None:
        head.insert(1, "share of the labels")
    for name, share, error, found in zip(
        fitted.classes_.tolist(), fitted.balance_, fitted.balance_se_, fitted.balance_found_
    ):
        line = [str(name), float(round(share, 3)), float(round(error, 3)), float(round(found, 3))]
        if labels is not None:
            line.insert(1, float(round(np.mean(labels == name), 3)))
        lines.append(line)
    note = (
        "Class shares among the unlabeled rows. If you know the true shares, set balance: nothing else helps as much."
    )
    parts = [table(head, lines)]
    if not fitted.used_unlabeled_:
        parts.append(f"<p>Unlabeled rows: {escape(NOT_USED)}</p>")
    return section("Class shares", *parts, note=note)


def status(runs: list[Run]) -> str:
    """What every ending means, and what to do."""
    if not runs:
        return ""
    counts: dict[Status, int] = {}
    for run in runs:
        counts[Status(run.status)] = counts.get(Status(run.status), 0) + 1
    lines = []
    for ending, count in counts.items():
        meaning, act = MEANING.get(ending, (str(ending), ""))
        number = [f"{count} of {len(runs)}"] if len(runs) > 1 else []
        lines.append([*number, str(ending), Raw(escape(meaning)), Raw(f"<b>{escape(act)}</b>")])
    head = [*(["problems"] if len(runs) > 1 else []), "ended with", "what it means", "what to do"]
    return section("How the fit ended", table(head, lines))
