"""`wellsvm.report`: one page about a fitted model, to read in a browser or to send to somebody."""

from __future__ import annotations

import os
import platform
from collections import Counter
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wellsvm._files import replacing
from wellsvm._fitted_runs import Run, final_estimator, has_runs, runs_of
from wellsvm._report import people, sections
from wellsvm._report.page import page
from wellsvm._report.weak import weak_labels
from wellsvm.engine.report import Status

__all__ = ["report"]


def report(model: Any, path: str | os.PathLike[str], *, X: Any = None, y: Any = None, title: str | None = None) -> Path:
    """Write an HTML page about a fitted model: what was found, what is uncertain, what to do, and how it was solved.

    The page is self-contained: it needs no network and no scripts, includes its plots, and has a light and a dark
    layout.

    Parameters
    ----------
    model : fitted estimator
        An estimator of this package, or a Pipeline or a search that contains one. A saved model works too, but the page
        then lacks the labels of the training rows, which are not stored in files.
    path : path
        The file, ``.html``; an existing file is replaced in one step.
    X : array, sparse matrix or bags, optional
        Rows to describe, such as the training rows: what was found, which rows are least certain, and their margins.
    y : array, optional
        Labels of X with unlabeled rows marked, as passed to `fit`. The page then distinguishes given labels from found
        ones, and shows the predictions of the supervised SVM.
    title : str, optional
        The heading; the name of the estimator if None.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import wellsvm
    >>> wellsvm.report(model, "model.html", X=X, y=y_partial)  # doctest: +SKIP
    """
    fitted = final_estimator(model)
    if not any(base.__module__.partition(".")[0] == "wellsvm" for base in type(fitted).__mro__):
        raise TypeError(f"model must be an estimator of wellsvm, or contain one; got {type(fitted).__name__}")
    runs = runs_of(fitted) if has_runs(fitted) else []
    heading = type(fitted).__name__ if title is None else title
    inside = "" if fitted is model else f"Inside {type(model).__name__}. "
    header = f"<h1>{escape(heading)}{_badge(runs)}</h1>\n<p>{escape(inside + _about(fitted))}</p>"
    rows = people.rows_of(model, fitted, X, y)
    parts = [
        people.outcome(fitted, rows),
        people.least_certain(fitted, rows),
        people.supervised(model, fitted, rows),
        people.shares(fitted, rows),
        people.status(runs),
        sections.search(fitted),
        sections.figures(fitted, runs),
        sections.convergence(fitted, runs),
        sections.label_vectors(fitted, runs),
        weak_labels(fitted),
        sections.key_instances(fitted),
        sections.margins(model, fitted, X),
        sections.parameters(fitted),
    ]
    footer = (
        f"wellsvm {_version('wellsvm')}, scikit-learn {_version('scikit-learn')}, Python {platform.python_version()}"
    )
    with replacing(path) as file:
        file.write(page(heading, header, parts, footer).encode())
    return Path(path)


def _badge(runs: list[Run]) -> str:
    """Why the runs ended: each reason once, with its count where there are several runs."""
    counts = Counter(Status(run.status) for run in runs)
    return " ".join(
        sections.status_badge(status, f" ({n} of {len(runs)})" if len(runs) > 1 else "") for status, n in counts.items()
    )


def _about(model: Any) -> str:
    """One line: kernel, features, classes or clusters."""
    facts = [f"Kernel {model.kernel if isinstance(model.kernel, str) else 'given as a function'}"]
    if hasattr(model, "n_features_in_"):
        facts.append(f"{model.n_features_in_} features")
    if hasattr(model, "classes_"):
        names = [str(name) for name in model.classes_.tolist()]
        facts.append(f"{len(names)} classes" + (f" ({' and '.join(names)})" if len(names) == 2 else ""))
        if getattr(model, "positive_class_", None) is not None:
            facts.append(f"positive class {model.positive_class_}")
    elif hasattr(model, "labels_"):
        facts.append(f"{len(set(model.labels_.tolist()))} clusters")
    if hasattr(model, "support_"):
        facts.append(f"{len(model.support_)} support vectors")
    return ", ".join(facts) + "."


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a source tree that was never installed
        return "unknown"
