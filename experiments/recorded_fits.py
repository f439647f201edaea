"""Fits whose bits are compared between two versions of wellsvm.

    python -m experiments.recorded_fits record before.json    # with one version on PYTHONPATH, as far back as 0.1
    python -m experiments.recorded_fits record after.json     # with the other
    python -m experiments.recorded_fits compare before.json after.json

Every parameter whose default has changed since 0.1 is given, so that both versions are asked for the same. A record is
a digest of the coefficients and of the label vectors, and the objective; `compare` names what differs.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.datasets import make_digit_bags, make_sparse_text

__all__ = ["compare", "differences", "fits", "record"]

# What 0.1 did, by the parameters that came later or have other defaults now.
SEMI_SUPERVISED_0_1 = {
    "C": 1.0,
    "C_unlabeled": 0.1,
    "balance": "labels",
    "loss": "paper",
    "search": "local",
    "safe": False,
    "neighbors": None,
}
CV_0_1 = {name: value for name, value in SEMI_SUPERVISED_0_1.items() if name != "C_unlabeled"}


def fits() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names of fits, and how to run them."""
    cancer, classes = load_breast_cancer(return_X_y=True)
    cancer = (cancer - cancer.mean(axis=0)) / cancer.std(axis=0)
    digits, digit_classes = load_digits(n_class=4, return_X_y=True)
    text, text_classes = make_sparse_text(3000, n_features=2000, random_state=0)
    tables = {
        "dense": (cancer, _hidden(classes, 40)),
        "CSR": (text, _hidden(text_classes, 60)),
        "four classes": (digits / 16, _hidden(digit_classes, 40)),
    }
    for name, (X, y) in tables.items():
        for kernel in ("linear", "rbf"):
            for dtype in (np.float64, np.float32):
                title = f"semi-supervised, {name}, {kernel}, {np.dtype(dtype).name}"
                yield title, _semi_supervised(SemiSupervisedSVC, X.astype(dtype), y, kernel, SEMI_SUPERVISED_0_1)
        yield f"cross-validation, {name}", _semi_supervised(SemiSupervisedSVCCV, X, y, "linear", CV_0_1)
    bags = make_digit_bags(target=3, n_bags=60, random_state=0)
    for form in (np.asarray, sparse.csr_matrix):
        for kernel in ("linear", "rbf"):
            instances = form(bags.X / 16)
            yield (
                f"bags, {form.__name__}, {kernel}",
                _fit(MultiInstanceSVC, {"kernel": kernel}, Bags(instances, bags.groups), bags.y),
            )
    blobs, _ = make_blobs(300, centers=4, n_features=5, random_state=1)
    for n_clusters in (2, 4):
        for kernel in ("linear", "rbf"):
            title = f"{n_clusters} clusters, {kernel}"
            yield title, _fit(MaxMarginClustering, {"n_clusters": n_clusters, "kernel": kernel}, blobs)
    yield "2 clusters, CSR", _fit(MaxMarginClustering, {}, text)


def _hidden(y: np.ndarray, n_labeled: int) -> np.ndarray:
    """All but the first labels hidden; every class is among them."""
    hidden = y.astype(np.float64)
    hidden[n_labeled:] = np.nan
    return hidden


def _semi_supervised(estimator: type, X: Any, y: np.ndarray, kernel: str, parameters: dict[str, Any]) -> Any:
    known = {**parameters, "kernel": kernel}
    if "search" not in inspect.signature(estimator).parameters:  # 0.1 itself
        known["loss"] = "auto"
    return _fit(estimator, known, X, y)


def _fit(estimator: type, parameters: dict[str, Any], *data: Any) -> Callable[[], Any]:
    known = inspect.signature(estimator).parameters
    chosen = {name: value for name, value in parameters.items() if name in known}
    return lambda: estimator(random_state=0, **chosen).fit(*data)


def record() -> dict[str, dict[str, Any]]:
    """Run all fits."""
    entries = {}
    for name, run in fits():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = run()
        coefficients = model.coef_ if hasattr(model, "coef_") else model.dual_coef_
        entries[name] = {
            "coefficients": _digest(coefficients),
            "labels": _digest(model.labelings_),
            "objective": np.atleast_1d(model.objective_).tolist(),
        }
    return entries


def _digest(values: Any) -> str:
    parts = values if isinstance(values, list) else [values]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    """What differs in every fit of both records; a fit that only one has differs whole."""
    found = {}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        parts = [part for part in ("coefficients", "labels", "objective") if old.get(part) != new.get(part)]
        if parts or not old or not new:
            found[name] = parts
    return found


def compare(before: Path, after: Path) -> int:
    """Print what differs; return in how many fits."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    different = differences(old, new)
    for name, parts in different.items():
        worst = max((abs(a / b - 1) for a, b in zip(new[name]["objective"], old[name]["objective"])), default=0.0)
        print(f"{name}: {', '.join(parts)}; objective by {worst:.1e}")
    print(f"{len(old) - len(different)} of {len(old)} fits have the same bits")
    return len(different)


def main() -> None:
    """Record, or compare; the exit code of a comparison is 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m experiments.recorded_fits", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("record").add_argument("out", type=Path)
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "record":
        arguments.out.write_text(json.dumps(record(), indent=1) + "\n")
    else:
        sys.exit(min(1, compare(arguments.before, arguments.after)))


if __name__ == "__main__":
    main()
