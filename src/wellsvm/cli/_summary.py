"""The summary of a fit: one dictionary of plain values, printed as a table or as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from wellsvm._class_shares import NOT_USED
from wellsvm._escape import shown
from wellsvm.engine.report import Status

__all__ = ["engine_facts", "plain", "print_json", "print_table", "rows_of_engine", "rows_of_summary"]


def engine_facts(model: Any) -> dict[str, Any]:
    """What the engine tells of a fitted estimator; several problems give lists. Nothing for the baselines."""
    if not hasattr(model, "history_"):
        return {}
    single = isinstance(model.status_, str)
    statuses = [model.status_] if single else model.status_
    histories = [model.history_] if single else model.history_
    generated = [len(history) for history in histories]
    return {
        "label_vectors": generated[0] if single else generated,
        "objective": plain(model.objective_),
        "gap": plain(model.gap_),
        "violation": plain(model.oracle_violation_),
        "status": model.status_,
        "converged": all(Status(status).converged for status in statuses),
    }


def plain(value: Any) -> Any:
    """Python's own numbers and lists for NumPy's; other objects by their text."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def print_json(values: dict[str, Any]) -> None:
    """Print as JSON on standard output."""
    print(json.dumps(plain(values), indent=2))


def print_table(title: str, rows: list[tuple[str, str]]) -> None:
    """Print names and values on standard output; a long value is left to the terminal to wrap, so it can be copied."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    width = max(len(name) for name, _ in rows)
    console.print(shown(title), style="bold")
    for name, text in rows:
        console.print(Text.assemble((f"{shown(name):{width}}", "dim"), f"  {shown(text)}") if name else "")


def rows_of_summary(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary of a fit for readers."""
    rows = [("data", summary["data"])]
    if "bags" in summary:
        rows.append(("bags", f"{summary['bags']:,} of {summary['rows']:,} instances"))
    else:
        rows.append(("rows", f"{summary['rows']:,}"))
    scaled = ", scaled (stored in the model)" if summary.get("scaled") else ""
    rows.append(("features", f"{summary['features']:,}{scaled}"))
    if "groups" in summary:
        rows.append(("groups", f"{summary['groups']:,}"))
    if "labeled" in summary:
        rows.append(("labeled", f"{summary['labeled']:,} rows ({summary['labeled'] / summary['rows']:.2%})"))
    if "classes" in summary:
        rows.append(("classes", ", ".join(str(name) for name in summary["classes"])))
    if summary.get("positive_class") is not None:
        rows.append(("positive class", str(summary["positive_class"])))
    if "chosen_params" in summary:
        told = ", ".join(f"{name} {value:.4g}" for name, value in summary["chosen_params"].items())
        rows.append(("chosen", f"{told}, by cross-validation over {summary['folds']} folds"))
    if "cluster_sizes" in summary:
        rows.append(("clusters", f"{len(summary['cluster_sizes'])} of sizes {_numbers(summary['cluster_sizes'], ',')}"))
    if "C_unlabeled" in summary:
        chosen = f", chosen by {summary['chosen_by']}" if summary["chosen_by"] else ""
        rows.append(("C_unlabeled", f"{summary['C_unlabeled']:g}{chosen}"))
    if "noise" in summary:
        rows.append(("wrong labels", f"at most {_numbers(summary['noise'], '.2g')} of those of each class"))
    if summary.get("suspects"):
        rows.append(("suspects", f"data rows {_numbers(summary['suspects'], 'd', most=len(summary['suspects']))}"))
    if summary.get("class_shares"):
        rows.append(("class shares", summary["class_shares"]))
    if "used_unlabeled" in summary and not summary["used_unlabeled"] and summary["labeled"] < summary["rows"]:
        rows.append(("unlabeled rows", NOT_USED))
    rows += rows_of_engine(summary)
    if "training_accuracy" in summary:
        what = "training bags" if "bags" in summary else "labeled training rows"
        rows.append(("accuracy", f"{summary['training_accuracy']:.4f} on the {what}, not on new data"))
    return rows + [("seconds", f"{summary['seconds']:.2f}"), ("model", summary["output"])]


def rows_of_engine(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What `engine_facts` found, for readers."""
    if not facts.get("status"):  # a baseline, or a single cluster
        return []
    statuses = [facts["status"]] if isinstance(facts["status"], str) else facts["status"]
    counts = {status: statuses.count(status) for status in statuses}
    told = [status if len(statuses) == 1 else f"{status} ({n} of {len(statuses)})" for status, n in counts.items()]
    gaps, objectives = np.atleast_1d(facts["gap"]), np.atleast_1d(facts["objective"])
    return [
        ("label vectors", _numbers(facts["label_vectors"], "d")),
        ("objective", _numbers(facts["objective"], ".6g")),
        ("relative gap", _numbers((gaps / np.maximum(np.abs(objectives), 1e-300)).tolist(), ".1e")),
        ("violation left", _numbers(facts["violation"], ".3g")),
        ("status", f"{_least_word(statuses)}: {'; '.join(told)}"),
    ]


def _least_word(statuses: list[str]) -> str:
    """One word for all problems: that of the one that ended worst."""
    words = [Status(status).word for status in statuses]
    return next(word for word in ("NOT converged", "ended", "converged") if word in words)


def _numbers(values: Any, how: str, most: int = 6) -> str:
    """One number, or several, the middle left out where they are many."""
    values = values if isinstance(values, list) else [values]
    texts = [format(value, how) for value in values]
    return ", ".join(texts if len(texts) <= most else [*texts[: most - 1], "...", texts[-1]])
