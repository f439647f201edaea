"""What the ``fit`` commands share: read the file, train, save the model, print the summary."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import typer
from scipy import sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from wellsvm import Bags, save
from wellsvm import report as write_report
from wellsvm._class_shares import shares_told
from wellsvm.bags import per_instance
from wellsvm.cli._console import check_output, progress_of_fit, told_in_one_line, warnings_as_lines
from wellsvm.cli._data import Table, damage_told, read
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli._options import ROWS, number
from wellsvm.cli._summary import engine_facts, plain, print_json, print_table, rows_of_summary
from wellsvm.partial_labels import normalize_partial_labels
from wellsvm.rows.blocks import Blocks

__all__ = ["Job", "as_label", "asked_balance", "labels_of", "on_bags", "on_clusters", "on_rows", "pairs_in"]

# The suffix of saved models; a name without any will do, too.
MODEL = ".skops"
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
    scale: bool | None = None
    report: Path | None = None

    def run(self, task: str, model: Any, train: Trainer) -> None:
        """Do it. The model is written when all else has gone well."""
        check_output("--output", self.output, self.data)
        if self.output.suffix.lower() not in ("", MODEL):
            raise typer.BadParameter(
                f"--output: models are saved as {MODEL} files, and {self.output.name} has the suffix "
                f"{self.output.suffix}; name it {self.output.with_suffix(MODEL).name}"
            )
        if self.report is not None:
            check_output("--report", self.report, self.data)
        with told_in_one_line(), warnings_as_lines() as told:
            with progress_of_fit(not self.quiet) as verbose:
                table = read(self.data, self.form, self.layout)
                began = perf_counter()
                scaler, scaled = _scaled(table, self.scale)
                model.set_params(verbose=verbose)
                facts = train(model, scaled)
                model.set_params(verbose=0)
            files = {"data": str(self.data), "output": str(self.output)}
            shape = {"rows": table.X.shape[0], "features": table.X.shape[1], "scaled": scaler is not None}
            summary = plain({"task": task, "model": type(model).__name__, **files, **shape, **facts})
            summary |= {**engine_facts(model), "seconds": perf_counter() - began}
            whole = model if scaler is None else _pipeline(scaler, model, table)
            save(whole, self.output, notes={"data": asdict(table.layout), "training": summary})
            if self.report is not None:
                rows = table.X if table.groups is None else Bags(table.X, table.groups)
                write_report(whole, self.report, X=rows, y=table.y if task == "semi-supervised" else None)
        if self.as_json:
            print_json({**summary, "warnings": told})
        elif not self.quiet:
            page = [] if self.report is None else [("report", str(self.report))]
            print_table(summary["model"], rows_of_summary(summary) + page)


def _scaled(table: Table, asked: bool | None) -> tuple[Any, Table]:
    """The scaler, if there is one, and the rows that it makes. An SVM goes by distances: raw columns would be weighed
    by their units. Sparse rows, text mostly, keep their zeros, and are scaled only if asked."""
    is_sparse, in_blocks = sparse.issparse(table.X), isinstance(table.X, Blocks)
    if in_blocks and asked:
        raise ValueError("--scale is for rows in memory; scale the rows before they are converted into a folder")
    if asked is False or (asked is None and (is_sparse or in_blocks)):
        return None, table
    scaler = (MaxAbsScaler if is_sparse else StandardScaler)().fit(table.X)
    return scaler, replace(table, X=scaler.transform(table.X))


def _pipeline(scaler: Any, model: Any, table: Table) -> Pipeline:
    """Scaler and model as one; both are fitted."""
    if not hasattr(model, "locate"):  # rows, not bags
        return make_pipeline(scaler, model)
    wrapped = per_instance(scaler)
    wrapped.transformer_ = scaler
    return make_pipeline(wrapped, model)


def asked_balance(typed: Sequence[str] | None) -> Callable[[np.ndarray], Any]:
    """What --balance says, as a function of the labels, which a class that was typed must be one of."""
    expected = "'estimate', 'labels', 'none', a share such as 0.4, a range such as 0.3,0.5, or CLASS=SHARE"
    if not typed:
        return lambda _: ROWS["balance"]

    def share(text: str) -> Any:
        numbers = [number(part, expected) for part in text.split(",")]
        if len(numbers) > 2:
            raise typer.BadParameter(f"--balance: {text!r} is not {expected}")
        return numbers[0] if len(numbers) == 1 else tuple(numbers)

    if len(typed) == 1 and "=" not in typed[0]:
        only = typed[0]
        asked = {"estimate": "estimate", "labels": "labels", "none": None}[only] if only.isalpha() and only in (
            "estimate", "labels", "none") else share(only)  # fmt: skip
        return lambda _: asked
    pairs = [text.rpartition("=") for text in typed]
    if any(not name for name, _, _ in pairs):
        raise typer.BadParameter("--balance: given several times, each must be CLASS=SHARE")
    shares = {name: share(text) for name, _, text in pairs}
    return lambda y: _by_class({as_label(name, y): value for name, value in shares.items()}, y)


def _by_class(shares: dict[Any, Any], y: np.ndarray) -> Any:
    """The estimator's ``balance``: a dict, or for two classes the share of the second."""
    classes = np.unique(np.ma.compressed(y)).tolist()
    for name in shares:
        if name not in classes:
            raise ValueError(f"--balance {name}=...: no such class; the labels are {', '.join(map(str, classes))}")
    if len(classes) != 2:
        missing = [str(name) for name in classes if name not in shares]
        if missing:
            raise ValueError(f"--balance: no share for {', '.join(missing)}; give one CLASS=SHARE for each class")
        return shares
    if classes[1] in shares:
        return shares[classes[1]]
    first = shares[classes[0]]
    return tuple(1 - end for end in reversed(first)) if isinstance(first, tuple) else 1 - first


def on_rows(unlabeled: str, balance: Callable[[np.ndarray], Any]) -> Trainer:
    """Trains a semi-supervised model; ``unlabeled`` is what the user typed, ``balance`` comes from `asked_balance`."""

    def train(model: Any, table: Table) -> dict[str, Any]:
        y = labels_of(table)
        marker = _marker(unlabeled, table)
        model.set_params(unlabeled=marker, balance=balance(y if marker in (None, "auto") else y[y != marker]))
        model.fit(table.X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `fit` has told already
            labeled = normalize_partial_labels(y, model.unlabeled).labeled
        chosen = hasattr(model, "Cs_unlabeled_")
        right = model.predict(table.X[labeled]) == np.ma.getdata(y)[labeled]
        return {
            "labeled": np.count_nonzero(labeled),
            "classes": model.classes_,
            "C_unlabeled": model.C_unlabeled_,
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
        facts = {"bags": len(bags), "classes": model.classes_, "positive_class": model.positive_class_}
        if hasattr(model, "best_params_"):
            n_folds = sum(name.endswith("_test_score") and name.startswith("split") for name in model.cv_results_)
            facts |= {"chosen_params": model.best_params_, "folds": n_folds}
        return {**facts, "training_accuracy": model.score(bags, y)}

    return train


def on_clusters(must_link: Path | None, cannot_link: Path | None) -> Trainer:
    """Trains a clustering, with pairs of rows from files if there are some."""

    def train(model: Any, table: Table) -> dict[str, Any]:
        links = {
            name: pairs_in(path) for name, path in (("must_link", must_link), ("cannot_link", cannot_link)) if path
        }
        model.fit(table.X, **links)
        told = {name: len(pairs) for name, pairs in links.items()}
        return told | {"cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters)}

    return train


def pairs_in(path: Path) -> np.ndarray:
    """Pairs of row numbers, two in each line, apart by a comma, a semicolon or white space; empty lines are skipped."""
    pairs = []
    with damage_told(path):
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    for number_, line in enumerate(lines, 1):
        cells = line.replace(",", " ").replace(";", " ").split()
        if cells and not (len(cells) == 2 and all(cell.isascii() and cell.isdigit() for cell in cells)):
            raise ValueError(f"{path}, line {number_}: expected two row numbers, such as '3,17'; got {line[:40]!r}")
        if cells:
            pairs.append([int(cell) for cell in cells])
    return np.array(pairs).reshape(-1, 2)


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
        raise ValueError(f"{text!r} is not a number, but the labels are") from None
    return int(value) if value.is_integer() else value
