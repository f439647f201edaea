"""MultiInstanceSVC beside MI-SVM, mi-SVM and MI-Kernel on the same folds, parameters chosen inside each fold.

Stratified 10-fold cross-validation, standardized instances, Gaussian kernel. Width, C_negative and C_positive come from
the paper's grids: width s in {1/4, 1/2, 1, 2, 4}, C_negative in {1, 10, 100} and C_positive in {1, 4, 10} C_negative.
Inside each training set a stratified 3-fold cross-validation (5-fold for the Musk sets, whose training sets have fewer
than 100 bags) chooses among the 45: after each inner fold the better half stays in the race, by the mean of accuracy
and area under the ROC curve, as 30 bags tell little by accuracy alone. MultiInstanceSVCCV chooses by itself, with all
its parameters at their defaults. Regions of interest are Table 10 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.bag_search import BagKernels, Instances, Race, choose, grid_of
from experiments.data_sets import load_set
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.splits import bag_folds
from experiments.studies.study import Study, fit_facts
from wellsvm import Bags, MultiInstanceSVCCV

__all__ = ["BAG_STUDIES"]

SETS = ("mil_musk1", "mil_elephant", "mil_tiger", "mil_fox", "mil_musk2")
METHODS = {
    "MultiInstanceSVCCV": "",
    "MultiInstanceSVC": "WellSVM, not refined",
    "MultiInstanceSVC, refined": "WellSVM",
    "MI-SVM": "MI-SVM",
    "mi-SVM": "mi-SVM",
    "MI-Kernel": "MI-Kernel",
}
GRID = grid_of((0.25, 0.5, 1.0, 2.0, 4.0), (1.0, 10.0, 100.0), (1.0, 4.0, 10.0))
FOLDS, FOLDS_OF_FEW_BAGS, FEW_BAGS = 3, 5, 100
N_FOLDS, REPEATS = 10, 5


def _repeats(name: str, method: str) -> int:
    """Five; the relaxation alone is shown on one set."""
    if method == "MultiInstanceSVC":
        return REPEATS if name == "mil_musk1" else 0
    return REPEATS


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(
            journal,
            {"set": name, "repeat": repeat, "fold": fold, "method": method},
            partial(_run if METHODS[method] else _run_cv, name, repeat, fold, method),
        )
        for name in SETS
        for repeat in range(REPEATS)
        for fold in range(N_FOLDS)
        for method in METHODS
        if repeat < _repeats(name, method)
    ]


@lru_cache(maxsize=1)
def _instances(name: str) -> tuple[Instances, np.ndarray]:
    data = load_set(name)
    return Instances(StandardScaler().fit_transform(data.X), data.groups), data.y > 0


def _run(name: str, repeat: int, fold: int, method: str) -> Entry:
    bags, y = _instances(name)
    train, test = list(bag_folds(y, repeat, N_FOLDS))[fold]
    race = Race((0.5, 0.5), 1 / 2, FOLDS_OF_FEW_BAGS if len(train) < FEW_BAGS else FOLDS)
    point = choose(bags, train, y, METHODS[method], GRID, race, seed=repeat)
    kernels = BagKernels.of(bags, point.width, train, test)
    with fit_facts() as facts:
        model = kernels.fit(METHODS[method], point, y[train])
    return {"accuracy": float(model.score(kernels.test, y[test])), **point._asdict(), **facts, "grid": len(GRID)}


def _run_cv(name: str, repeat: int, fold: int, method: str) -> Entry:
    data = load_set(name)
    bags, y = Bags(StandardScaler().fit_transform(data.X), data.groups), data.y > 0
    train, test = list(bag_folds(y, repeat, N_FOLDS))[fold]
    with fit_facts() as facts:
        model = MultiInstanceSVCCV(random_state=repeat).fit(bags[train], y[train])
    chosen = {key: float(f"{value:.6g}") for key, value in model.best_params_.items()}
    return {"accuracy": float(model.score(bags[test], y[test])), **chosen, **facts}


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Mean per set and method; a method with fewer runs shows how many."""
    if not entries:
        return ""
    methods = [m for m in METHODS if any(entry["method"] == m for entry in entries)]
    lines, rows = [], []
    for name in dict.fromkeys(entry["set"] for entry in entries):
        values = [[e[figure] for e in entries if e["set"] == name and e["method"] == m] for m in methods]
        most = max(map(len, values))
        rows.append([np.mean(found) if len(found) == most else np.nan for found in values])
        cells = [f"{np.mean(v):.3f}" + (f" ({len(v)})" if len(v) < most else "") if v else "-" for v in values]
        lines.append([name, str(most), *cells])
    means = np.mean(rows, axis=0)
    lines.append(["**mean**", "", *("-" if np.isnan(value) else f"**{value:.3f}**" for value in means)])
    return pipe_table(["set", "runs", *methods], lines)


BAG_STUDIES = {"multi_instance": Study("accuracy of bags on ten folds, beside rivals", SETS, _trials, _table)}
