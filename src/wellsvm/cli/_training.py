"""What the ``fit`` commands share: read the file, train, save the model, tell what it came to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from wellsvm import Bags, save
from wellsvm._class_shares import shares_told
from wellsvm.cli._console import check_output, progress_of_fit, told_in_one_line, warnings_as_lines
from wellsvm.cli._data import Format, Layout, Table, read
from wellsvm.cli._summary import engine_facts, plain, print_json, print_table, rows_of_summary
from wellsvm.partial_labels import normalize_partial_labels

__all__ = ["Job", "as_label", "labels_of", "on_bags", "on_clusters", "on_rows"]

# Fits a model to a table and gives what there is to tell of this task.
Trainer: TypeAlias = Callable[[Any, Table], dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """One run of a ``fit`` command: from which file to which, and how to tell of it."""

    data: Path
    form: Format
    layout: Layout
    output: Path
    as_json: bool
    quiet: bool

    def run(self, task: str, model: Any, train: Trainer) -> None:
        """Do it. The model is written when all else has gone well."""
        check_output("--output", self.output, self.data)
        with told_in_one_line(), warnings_as_lines() as told:
            with progress_of_fit(not self.quiet) as verbose:
                table = read(self.data, self.form, self.layout)
                began = perf_counter()
                model.set_params(verbose=verbose)
                facts = train(model, table)
                model.set_params(verbose=0)
            files = {"data": str(self.data), "output": str(self.output)}
            shape = {"rows": table.X.shape[0], "features": table.X.shape[1]}
            summary = plain({"task": task, "model": type(model).__name__, **files, **shape, **facts})
            summary |= {**engine_facts(model), "seconds": perf_counter() - began}
            save(model, self.output, notes={"data": asdict(table.layout), "training": summary})
        if self.as_json:
            print_json({**summary, "warnings": told})
        elif not self.quiet:
            print_table(summary["model"], rows_of_summary(summary))


def on_rows(unlabeled: str) -> Trainer:
    """Trains a semi-supervised model; ``unlabeled`` is what the user typed."""

    def train(model: Any, table: Table) -> dict[str, Any]:
        y = labels_of(table)
        model.set_params(unlabeled=_marker(unlabeled, table))
        model.fit(table.X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `fit` has told already
            labeled = normalize_partial_labels(y, model.unlabeled).labeled
        chosen = hasattr(model, "C_unlabeled_")
        right = model.predict(table.X[labeled]) == np.ma.getdata(y)[labeled]
        return {
            "labeled": np.count_nonzero(labeled),
            "classes": model.classes_,
            "C_unlabeled": model.C_unlabeled_ if chosen else model.C_unlabeled,
            "chosen_by": f"cross-validation over {model.scores_.shape[-1]} folds" if chosen else None,
            "used_unlabeled": model.used_unlabeled_,
            "balance": model.balance_,
            "balance_se": model.balance_se_,
            "balance_found": model.balance_found_,
            "class_shares": shares_told(model),
            "training_accuracy": right.mean(),
        }

    return train


def on_bags(positive_class: str | None) -> Trainer:
    """Trains a model of bags; ``positive_class`` is what the user typed."""

    def train(model: Any, table: Table) -> dict[str, Any]:
        labels = labels_of(table)
        if np.any(labels.mask):
            raise ValueError(f"data row {np.flatnonzero(labels.mask)[0] + 1} has no label; every bag needs one")
        bags = Bags(table.X, table.groups)
        y = bags.bag_labels(np.ma.getdata(labels))
        model.set_params(positive_class=None if positive_class is None else as_label(positive_class, y))
        model.fit(bags, y)
        return {"bags": len(bags), "classes": model.classes_, "training_accuracy": model.score(bags, y)}

    return train


def on_clusters(model: Any, table: Table) -> dict[str, Any]:
    """Trains a clustering."""
    model.fit(table.X)
    return {"cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters)}


def labels_of(table: Table) -> np.ma.MaskedArray:
    """The labels of a table that must have some."""
    if table.y is None:
        raise ValueError("the data has no labels: there is no array 'y' in the file")
    return table.y


def _marker(text: str, table: Table) -> Any:
    """The estimator's ``unlabeled`` for what was typed."""
    if text == "none":
        return None
    y = labels_of(table)
    if text != "auto":
        return as_label(text, y)
    if table.form is Format.SVMLIGHT and np.array_equal(np.unique(y.compressed()), [-1, 0, 1]):
        warnings.warn(
            "labels are -1, 0 and 1: rows of label 0 are taken as unlabeled, as in SVMlight; pass --unlabeled 0 to "
            "confirm, or another value",
            UserWarning,
            stacklevel=1,
        )
        return 0
    return "auto"


def as_label(text: str, y: np.ndarray) -> Any:
    """What was typed, as the kind of label that the data has."""
    if y.dtype.kind == "b":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{text!r} is neither true nor false, but the labels are")
        return text.lower() == "true"
    if y.dtype.kind not in "iuf":
        return text
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number, but the labels are") from None
    return int(value) if value.is_integer() else value
