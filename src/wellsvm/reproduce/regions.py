"""Section 5.2: locating regions of interest. Width and prices from the paper's grids, chosen inside the training bags.

Inside each training set a stratified cross-validation chooses among all points of the grid. It is a race: after each
inner fold only the better ones go on, and its fits are to tol=0.01.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Bunch

from wellsvm import Bags, MultiInstanceSVC
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM
from wellsvm.estimators._bags import BagClassifier
from wellsvm.geometry import GramGeometry
from wellsvm.geometry.kernels import Kernel, mean_squared_distance
from wellsvm.metrics import roi_success_rate
from wellsvm.reproduce.outcome import Outcome

__all__ = ["METHODS", "Instances", "Part", "Point", "Race", "choose", "grid_of", "run"]

METHODS: dict[str, BagClassifier] = {
    "WellSVM": MultiInstanceSVC(refine=True),
    "WellSVM, not refined": MultiInstanceSVC(refine=False),
    "MI-SVM": MISVM(),
    "mi-SVM": miSVM(),
    "MI-Kernel": MIKernelSVC(),
}
RACE_TOL = 0.01


class Point(NamedTuple):
    """A point of the grid: width s, C_positive, C_negative."""

    width: float
    C_positive: float
    C_negative: float


def grid_of(widths: Sequence[float], prices: Sequence[float], ratios: Sequence[float]) -> list[Point]:
    """All points: ``prices`` are those of C_negative, ``ratios`` of C_positive to it."""
    return [Point(s, ratio * C, C) for s, C, ratio in product(widths, prices, ratios)]


class Race(NamedTuple):
    """Weights of accuracy and area under the ROC curve in the comparison, the share of points that stays, the folds."""

    weights: tuple[float, float]
    stays: float
    folds: int = 3


REGIONS_RACE = Race((1.0, 1e-6), 1 / 4)  # by accuracy and, where that ties, by the area


class Instances:
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


class SharedGram(GramGeometry):
    """A kernel matrix for many fits on the same bags: their means are taken once."""

    def __init__(self, K: np.ndarray, bias: float) -> None:
        super().__init__(K, bias)
        self._averaged: dict[bytes, GramGeometry] = {}

    def averaged(self, starts: np.ndarray) -> GramGeometry:
        """As of any geometry."""
        key = starts.tobytes()
        if key not in self._averaged:
            self._averaged[key] = super().averaged(starts)
        return self._averaged[key]


class Part(NamedTuple):
    """Training and test kernels of one width."""

    train: Bags
    geometry: SharedGram
    test: Bags

    @classmethod
    def of(cls, data: Instances, width: float, train: np.ndarray, test: np.ndarray) -> Part:
        """Training and test bags by their numbers."""
        rows, groups = data.rows(train)
        test_rows, test_groups = data.rows(test)
        K = data.kernel(width, rows, rows)
        return cls(Bags(K, groups), SharedGram(K, bias=1.0), Bags(data.kernel(width, test_rows, rows), test_groups))

    def fit(self, method: str, point: Point, y: np.ndarray, tol: float = 1e-3) -> BagClassifier:
        """Fit on the shared kernel matrix."""
        model = clone(METHODS[method]).set_params(
            kernel="precomputed", C_positive=point.C_positive, C_negative=point.C_negative, tol=tol, random_state=0
        )
        bags, codes = model._validate(self.train, y, None)
        return model._fit_on(bags, codes, Kernel("precomputed"), self.geometry)


def choose(
    data: Instances, train: np.ndarray, y: np.ndarray, method: str, grid: list[Point], race: Race, seed: int
) -> Point:
    """The best point of the grid, by cross-validation inside ``train``."""
    scores: dict[Point, list[float]] = {point: [] for point in grid}
    for inner, held_out in StratifiedKFold(race.folds, shuffle=True, random_state=seed).split(train, y[train]):
        truth = y[train[held_out]]
        for width in dict.fromkeys(point.width for point in scores):
            part = Part.of(data, width, train[inner], train[held_out])
            for point in (point for point in scores if point.width == width):
                values = part.fit(method, point, y[train[inner]], RACE_TOL).decision_function(part.test)
                both = np.mean((values > 0) == truth), roc_auc_score(truth, values)
                scores[point].append(float(np.dot(race.weights, both)))
        best_first = sorted(scores, key=lambda point: -np.mean(scores[point]))
        scores = {point: scores[point] for point in best_first[: math.ceil(race.stays * len(best_first))]}
    return next(iter(scores))


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """Ten training bags of each of five concepts, one concept against the rest; the others are the test."""
    instances = Instances(np.asarray(data.X, dtype=np.float64), data.groups)
    roi = np.split(np.asarray(data.roi) > 0, instances.bags.offsets[1:-1])
    rng, concepts = np.random.default_rng(repeat), np.unique(data.concept)
    n_train = settings["bags_per_concept"]
    train = np.concatenate([rng.choice(np.flatnonzero(data.concept == c), n_train, replace=False) for c in concepts])
    test = np.setdiff1d(np.arange(len(data.concept)), train)
    y = data.concept == settings["concept"]
    began = process_time()
    grid = grid_of(settings["widths"], settings["prices"], settings["ratios"])
    point = choose(instances, train, y, method, grid, REGIONS_RACE, seed=repeat)
    part = Part.of(instances, point.width, train, test)
    model = part.fit(method, point, y[train])
    seconds = process_time() - began
    rates = roi_success_rate(y[test], model.locate(part.test), [roi[i] for i in test])
    return Outcome(float(rates.success_rate), seconds, None, point._asdict())
