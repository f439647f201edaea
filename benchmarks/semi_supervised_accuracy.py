"""Accuracy of SemiSupervisedSVC and SemiSupervisedSVCCV beside supervised SVMs on the same splits.

    python benchmarks/semi_supervised_accuracy.py text                         run, into benchmarks/results/text.jsonl
    python benchmarks/semi_supervised_accuracy.py table benchmarks/results/text.jsonl
    python benchmarks/fill.py docs/choices.md                               write the tables into the page

Every result is appended as soon as it is there; a run that was stopped goes on where it was. WELLSVM_DATA names the
data folder. Text: tf-idf, 75/25 random splits, 50 or 200 labels drawn at random (at least one of each class; for the
cross-validated models at least two). UCI: standardised features, 75/25, 10 % labeled. "rcv1 n" are n rows of
wellsvm.datasets.make_sparse_text.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm.datasets import load, make_sparse_text

TEXT = ["text_news20", "text_pcmac", "text_basehock", "text_relathe", "text_debian"]
UCI = [
    "uci_echocardiogram", "uci_house", "uci_heart9", "uci_heart_statlog", "uci_haberman", "uci_liver", "uci_spectf",
    "uci_ionosphere", "uci_house_votes", "uci_clean1", "uci_isolet", "uci_australian", "uci_diabetes", "uci_german",
    "uci_krvskp", "uci_sick",
]  # fmt: skip


def supervised(kernel: str) -> Callable:
    """A supervised SVM on the labeled rows, nothing tuned: the baseline of the text table."""

    def fit(X, y):
        labeled = ~np.isnan(y)
        model = LinearSVC(loss="hinge", dual=True, max_iter=20_000) if kernel == "linear" else SVC(kernel=kernel)
        return model.fit(X[labeled], y[labeled])

    return fit


def semi(**parameters) -> Callable:
    return lambda X, y: SemiSupervisedSVC(random_state=0, **parameters).fit(X, y)


def semi_cv(**parameters) -> Callable:
    return lambda X, y: SemiSupervisedSVCCV(random_state=0, **parameters).fit(X, y)


def same_but_supervised(**parameters) -> Callable:
    """The supervised SVM tuned the same way: the grid's only value is 0."""
    return lambda X, y: SemiSupervisedSVCCV(random_state=0, Cs_unlabeled=[0.0], **parameters).fit(X, y)


def mean_width(X) -> float:
    from wellsvm.geometry.kernels import resolve_gamma

    return resolve_gamma("mean", X)


def rbf_grid(X) -> list[float]:
    """The paper's widths: gamma = m / (2 s^2), s in {1/4, 1/2, 1, 2, 4}."""
    return [mean_width(X) / (2 * s**2) for s in (0.25, 0.5, 1.0, 2.0, 4.0)]


def tuned_rbf(grid_of_C: list[float] | None) -> Callable:
    def fit(X, y):
        model = SemiSupervisedSVCCV(kernel="rbf", gammas=rbf_grid(X), Cs_unlabeled=grid_of_C, random_state=0)
        return model.fit(X, y)

    return fit


PROFILES: dict[str, dict] = {
    "text": {
        "sets": TEXT, "splits": 10, "labels": [50, 200], "per_class": 1,
        "methods": {
            "LinearSVC": supervised("linear"),
            "relaxation, no intercept": semi(C_unlabeled=0.3, refine=False, fit_intercept=False),
            "refined, no intercept": semi(C_unlabeled=0.3, refine=True, fit_intercept=False),
            "relaxation": semi(C_unlabeled=0.3, refine=False, fit_intercept=True),
            "refined": semi(C_unlabeled=0.3, refine=True, fit_intercept=True),
        },
    },
    "text_init": {
        "sets": ["text_pcmac", "text_basehock", "text_relathe"], "splits": 10, "labels": [50, 200], "per_class": 1,
        "methods": {
            f"{init}, {oracle}, {'refined' if refine else 'relaxation'}": semi(
                C_unlabeled=0.3, init=init, oracle=oracle, refine=refine, fit_intercept=False
            )
            for init, oracle in (("refined", "paper"), ("svm", "paper"), ("alignment", "paper"), ("refined", "climb"))
            for refine in (False, True)
        },
    },
    "text_balance": {
        "sets": ["text_pcmac", "text_basehock", "text_relathe"], "splits": 10, "labels": [20, 50, 200], "per_class": 1,
        "methods": {
            str(balance): semi(C_unlabeled=0.3, balance=balance) for balance in ("labels", 0.5, (0.3, 0.7), None)
        },
    },
    "text_tol": {
        "sets": ["text_news20", "text_pcmac", "text_basehock", "text_relathe"], "splits": 5, "labels": [50, 200],
        "per_class": 1,
        "methods": {f"tol={tol:g}": semi(C_unlabeled=0.3, tol=tol) for tol in (1e-2, 1e-3, 1e-4)},
    },
    "text_prices": {
        "sets": ["text_pcmac", "text_basehock", "text_relathe"], "splits": 10, "labels": [50, 200], "per_class": 1,
        "methods": {
            f"{'refined' if refine else 'relaxation'}, {C:g}": semi(C_unlabeled=C, refine=refine)
            for refine in (False, True) for C in (0.01, 0.1, 1.0)
        },
    },
    "text_cv": {
        "sets": TEXT[1:4] + TEXT[:1] + TEXT[4:], "splits": 5, "labels": [50], "per_class": 2,
        "methods": {"supervised, same folds": same_but_supervised(), "SemiSupervisedSVCCV": semi_cv()},
    },
    "large": {
        "sets": ["rcv1 677399"], "splits": 5, "labels": [200], "per_class": 1,
        "methods": {
            "LinearSVC": supervised("linear"),
            "C_unlabeled=0.01": semi(C_unlabeled=0.01, fit_intercept=False),
            "C_unlabeled=0.1": semi(C_unlabeled=0.1, fit_intercept=False),
        },
    },
    "uci_cv_linear": {
        "sets": UCI, "splits": 5, "labels": [0.1], "per_class": 2,
        "methods": {"supervised, same folds": same_but_supervised(), "SemiSupervisedSVCCV": semi_cv()},
    },
    "uci_cv_rbf": {
        "sets": UCI, "splits": 5, "labels": [0.1], "per_class": 2,
        "methods": {"supervised, same folds": tuned_rbf([0.0]), "SemiSupervisedSVCCV": tuned_rbf(None)},
    },
    "uci": {
        "sets": UCI, "splits": 5, "labels": [0.1], "per_class": 1,
        "methods": {
            f"{kernel}, {'intercept' if bias else 'no intercept'}, {C:g}": semi(
                kernel=kernel, fit_intercept=bias, C_unlabeled=C, max_iter=30
            )
            for kernel in ("linear", "rbf") for bias in (False, True) for C in (0.0, 0.01, 0.1)
        },
    },
}  # fmt: skip


def splits(y: np.ndarray, n_labels: float, n_splits: int, per_class: int) -> Iterator[tuple]:
    """Training rows, test rows and the partly hidden labels of the training rows, one seed per split."""
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(y.size)
        train, test = np.split(rows, [int(0.75 * y.size)])
        wanted = n_labels if n_labels >= 1 else max(2 * per_class, round(n_labels * train.size))
        while True:
            labeled = rng.choice(train.size, wanted, replace=False)
            if min(np.sum(y[train][labeled] == c) for c in (-1, 1)) >= per_class:
                break
        y_partial = np.full(train.size, np.nan)
        y_partial[labeled] = y[train][labeled]
        yield seed, train, test, y_partial


def run(profile: str, out: Path) -> None:
    spec = PROFILES[profile]
    done = set()
    if out.exists():
        done = {tuple(json.loads(line)[k] for k in ("set", "labels", "split", "method")) for line in out.open()}
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in spec["sets"]:
        if name.startswith("rcv1"):
            X, y = make_sparse_text(int(name.split()[1]), random_state=0)
        else:
            data = load(name)
            X, y = data.X, data.y
        for n_labels in spec["labels"]:
            for seed, train, test, y_partial in splits(y, n_labels, spec["splits"], spec["per_class"]):
                X_train, X_test = X[train], X[test]
                if isinstance(X_train, np.ndarray):
                    scaler = StandardScaler().fit(X_train)
                    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
                for method, fit in spec["methods"].items():
                    if (name, n_labels, seed, method) in done:
                        continue
                    began = time.perf_counter()
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        model = fit(X_train, y_partial)
                    record = {
                        "set": name, "labels": n_labels, "split": seed, "method": method,
                        "accuracy": float(model.score(X_test, y[test])),
                        "seconds": round(time.perf_counter() - began, 3),
                        "C_unlabeled": getattr(model, "C_unlabeled_", None),
                        "warnings": sorted({w.category.__name__ for w in caught}),
                    }  # fmt: skip
                    if hasattr(model, "scores_"):
                        record["scores"] = model.scores_.mean(axis=2).round(4).tolist()
                    with out.open("a") as file:
                        file.write(json.dumps(record) + "\n")


def table(path: Path, figure: str = "accuracy") -> str:
    """Mean of a figure per set and method, in Markdown, with the mean over the sets last."""
    records = [json.loads(line) for line in path.open()]
    methods = list(dict.fromkeys(r["method"] for r in records))
    lines = ["| set | labels | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    rows: dict[tuple, list[float]] = {}
    for key in dict.fromkeys((r["set"], r["labels"]) for r in records):
        chosen = [r for r in records if (r["set"], r["labels"]) == key]
        rows[key] = [float(np.mean([r[figure] for r in chosen if r["method"] == m] or [np.nan])) for m in methods]
        lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(f"{v:.3f}" for v in rows[key]) + " |")
    for n_labels in dict.fromkeys(labels for _, labels in rows):
        mean = np.mean([v for (_, labels), v in rows.items() if labels == n_labels], axis=0)
        lines.append(f"| **mean** | {n_labels} | " + " | ".join(f"**{v:.3f}**" for v in mean) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", choices=[*PROFILES, "table"])
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    if arguments.profile == "table":
        print(table(arguments.path))
    else:
        run(arguments.profile, arguments.results / f"{arguments.profile}.jsonl")
