"""MultiInstanceSVC beside MI-SVM, mi-SVM and MI-Kernel on the same folds, parameters chosen inside each fold.

    python benchmarks/multi_instance.py accuracy mil_musk1 mil_elephant --out benchmarks/results/multi_instance.jsonl
    python benchmarks/multi_instance.py roi mil_usps_roi mil_news_roi --out benchmarks/results/multi_instance_roi.jsonl
    python benchmarks/multi_instance.py table benchmarks/results/multi_instance.jsonl

Every result is appended as soon as it is there; a run that was stopped goes on where it was. WELLSVM_DATA names the
data folder.

accuracy: stratified 10-fold cross-validation, standardised instances, Gaussian kernel. roi: section 5.2 of the paper,
10 training bags of each of five concepts, the other 450 test, one concept against the rest; in each test bag predicted
as relevant the instance of largest value is located.

Width, C_negative and C_positive come from the paper's grids: width s in {1/4, 1/2, 1, 2, 4}, C_negative in {1, 10, 100}
and C_positive in {1, 4, 10} C_negative. Inside each training set a stratified 3-fold cross-validation (5-fold for the
Musk sets, whose training sets have fewer than 100 bags) chooses among the 45. After each inner fold the better ones
stay in the race, whose fits are to tol=0.01: for accuracy the better half, by the mean of accuracy and area under the
ROC curve (30 bags tell little by accuracy alone); for roi the better quarter, by accuracy and, where that ties, by the
area. --fast takes three widths and five prices.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from wellsvm import Bags, MultiInstanceSVC
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM
from wellsvm.datasets import load
from wellsvm.estimators._bags import BagClassifier
from wellsvm.geometry import GramGeometry
from wellsvm.geometry.kernels import Kernel, mean_squared_distance
from wellsvm.metrics import roi_success_rate

METHODS: dict[str, BagClassifier] = {
    "MultiInstanceSVC": MultiInstanceSVC(refine=False),
    "MultiInstanceSVC, refined": MultiInstanceSVC(refine=True),
    "MI-SVM": MISVM(),
    "mi-SVM": miSVM(),
    "MI-Kernel": MIKernelSVC(),
}
WIDTHS, FAST_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0), (0.5, 1.0, 2.0)
PRICES = tuple((ratio * C, C) for C in (1.0, 10.0, 100.0) for ratio in (1.0, 4.0, 10.0))
FAST_PRICES = ((1.0, 1.0), (10.0, 1.0), (10.0, 10.0), (100.0, 10.0), (100.0, 100.0))
INNER_FOLDS, FOLDS_OF_FEW_BAGS, FEW_BAGS = 3, 5, 100


class Race(NamedTuple):
    """How points of the grid are compared by (accuracy, area under the ROC curve), and what share of them stays."""

    weights: tuple[float, float]
    stays: float


RACES = {"accuracy": Race((0.5, 0.5), 1 / 2), "roi": Race((1.0, 1e-6), 1 / 4)}


class Point(NamedTuple):
    """A point of the grid: width s, C_positive, C_negative."""

    width: float
    C_positive: float
    C_negative: float


class Data:
    """Bags with their squared distances, and kernel matrices of parts of them."""

    def __init__(self, X: np.ndarray, groups: np.ndarray) -> None:
        self.bags = Bags(X.astype(np.float32), groups)
        self.squared = euclidean_distances(self.bags.X, squared=True)
        self.mean = mean_squared_distance(X)

    def rows(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Instances of the chosen bags, and the number of each one's bag among them."""
        parts = [np.arange(self.bags.offsets[i], self.bags.offsets[i + 1]) for i in chosen]
        return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])

    def kernel(self, width: float, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """gamma = m / (2 s^2) with m = 1 / (mean squared distance)."""
        K = self.squared[rows[:, None], columns[None, :]]
        K *= np.float32(-1 / (2 * self.mean * width**2))
        return np.exp(K, out=K)


class Part(NamedTuple):
    """Training and test kernels of one width."""

    train: Bags
    geometry: GramGeometry
    test: Bags

    @classmethod
    def of(cls, data: Data, width: float, train: np.ndarray, test: np.ndarray) -> Part:
        rows, groups = data.rows(train)
        test_rows, test_groups = data.rows(test)
        K = data.kernel(width, rows, rows)
        return cls(Bags(K, groups), GramGeometry(K, bias=1.0), Bags(data.kernel(width, test_rows, rows), test_groups))

    def fit(self, method: str, point: Point, y: np.ndarray, tol: float = 1e-3) -> BagClassifier:
        """Fit on the shared kernel matrix."""
        model = METHODS[method].set_params(
            kernel="precomputed", C_positive=point.C_positive, C_negative=point.C_negative, tol=tol, random_state=0
        )
        bags, codes = model._validate(self.train, y, None)
        return model._fit_on(bags, codes, Kernel("precomputed"), self.geometry)


def choose(
    data: Data, train: np.ndarray, y: np.ndarray, methods: list[str], grid: list[Point], race: Race, seed: int
) -> dict:
    """The best point of the grid for each method, by cross-validation inside ``train``."""
    n_folds = FOLDS_OF_FEW_BAGS if race is RACES["accuracy"] and len(train) < FEW_BAGS else INNER_FOLDS
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(train, y[train]))
    scores = {method: {point: [] for point in grid} for method in methods}
    for inner, held_out in folds:
        for width in dict.fromkeys(point.width for point in grid):
            running = [(m, p) for m in methods for p in scores[m] if p.width == width]
            if not running:
                continue
            part = Part.of(data, width, train[inner], train[held_out])
            for method, point in running:
                values = part.fit(method, point, y[train[inner]], tol=0.01).decision_function(part.test)
                truth = y[train[held_out]]
                both = np.mean((values > 0) == truth), roc_auc_score(truth, values)
                scores[method][point].append(np.dot(race.weights, both))
        for method in methods:
            best_first = sorted(scores[method], key=lambda p: -np.mean(scores[method][p]))
            stay = best_first[: math.ceil(race.stays * len(best_first))]
            scores[method] = {p: scores[method][p] for p in stay}
    return {method: next(iter(scores[method])) for method in methods}


def accuracy_problems(name: str, repeats: int) -> Iterator[tuple]:
    data = load(name)
    bags = Data(StandardScaler().fit_transform(data.X), data.groups)
    y = data.y > 0
    for repeat in range(repeats):
        split = StratifiedKFold(10, shuffle=True, random_state=repeat).split(y, y)
        for fold, (train, test) in enumerate(split):
            yield {"set": name, "repeat": repeat, "fold": fold}, bags, y, train, test, None


def roi_problems(name: str, splits: int) -> Iterator[tuple]:
    data = load(name)
    bags = Data(np.asarray(data.X, dtype=np.float64), data.groups)
    roi = np.split(np.asarray(data.roi) > 0, bags.bags.offsets[1:-1])
    for split in range(splits):
        rng = np.random.default_rng(split)
        train = np.concatenate([rng.choice(np.flatnonzero(data.concept == c), 10, replace=False) for c in range(5)])
        test = np.setdiff1d(np.arange(len(data.concept)), train)
        for c in range(5):
            yield {"set": name, "repeat": split, "fold": c}, bags, data.concept == c, train, test, roi


def run(task: str, names: list[str], repeats: int, fast: bool, methods: list[str], out: Path) -> None:
    done = set()
    if out.exists():
        done = {tuple(json.loads(line)[k] for k in ("set", "repeat", "fold", "method")) for line in out.open()}
    out.parent.mkdir(parents=True, exist_ok=True)
    widths, prices = (FAST_WIDTHS, FAST_PRICES) if fast else (WIDTHS, PRICES)
    grid = [Point(s, *C) for s in widths for C in prices]
    problems = accuracy_problems if task == "accuracy" else roi_problems
    for name in names:
        for key, data, y, train, test, roi in problems(name, repeats):
            wanted = [m for m in methods if (*key.values(), m) not in done]
            points = choose(data, train, y, wanted, grid, RACES[task], seed=key["repeat"])
            for method in wanted:
                point = points[method]
                part = Part.of(data, point.width, train, test)
                began = time.perf_counter()
                model = part.fit(method, point, y[train])
                record = {
                    **key, "method": method, "accuracy": float(model.score(part.test, y[test])), **point._asdict(),
                    "seconds": round(time.perf_counter() - began, 3), "grid": len(grid),
                }  # fmt: skip
                if roi is not None:
                    rates = roi_success_rate(y[test], model.locate(part.test), [roi[i] for i in test])
                    record |= {k: round(v, 5) for k, v in rates._asdict().items()}
                with out.open("a") as file:
                    file.write(json.dumps(record) + "\n")


def table(paths: list[Path]) -> str:
    """Mean per set (and concept, for the ROI task) and method, in Markdown; a method with fewer runs shows how many."""
    records = [json.loads(line) for path in paths for line in path.open()]
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    lines = ["| set | runs | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    rows = []
    for r in records:
        r["row"] = f"{r['set']}, concept {r['fold']}" if "success_rate" in r else r["set"]
    for row in dict.fromkeys(r["row"] for r in records):
        chosen = [r for r in records if r["row"] == row]
        values = [[r.get("success_rate", r["accuracy"]) for r in chosen if r["method"] == m] for m in methods]
        most = max(len(v) for v in values)
        rows.append([np.mean(v) if len(v) == most else np.nan for v in values])
        cells = [f"{np.mean(v):.3f}" + (f" ({len(v)})" if len(v) < most else "") if v else "-" for v in values]
        lines.append(f"| {row} | {most} | " + " | ".join(cells) + " |")
    means = np.mean(rows, axis=0)
    lines.append("| **mean** | | " + " | ".join("-" if np.isnan(v) else f"**{v:.3f}**" for v in means) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["accuracy", "roi", "table"])
    parser.add_argument("names", nargs="*", help="data sets, or files for the table")
    parser.add_argument("--repeats", type=int, default=None, help="5 repeats of cross-validation, or 10 splits for roi")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/multi_instance.jsonl"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if arguments.task == "table":
        print(table([Path(name) for name in arguments.names]))
    else:
        repeats = arguments.repeats or (5 if arguments.task == "accuracy" else 10)
        run(arguments.task, arguments.names, repeats, arguments.fast, arguments.methods, arguments.out)
