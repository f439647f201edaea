"""Classifiers of bags with a Gaussian kernel: width and prices from a grid, chosen inside the training bags.

A stratified cross-validation chooses among all points of the grid. It is a race: after each inner fold only the better
points go on, and its fits are to tol=0.01.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances

from experiments.splits import bag_folds
from experiments.widths import mean_squared_distance
from wellsvm import Bags, MultiInstanceSVC
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM

__all__ = ["BAG_METHODS", "BagKernels", "Instances", "Point", "Race", "choose", "grid_of"]

BAG_METHODS: dict[str, Any] = {
    "WellSVM": MultiInstanceSVC(refine=True),
    "WellSVM, not refined": MultiInstanceSVC(refine=False),
    "as in the paper": MultiInstanceSVC.as_in_paper(),
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


class Instances:
    """Bags with their squared distances, and kernel matrices of parts of them."""

    def __init__(self, X: np.ndarray, groups: np.ndarray) -> None:
        self.bags = Bags(X.astype(np.float32), groups)
        self.mean = mean_squared_distance(X)

    @cached_property
    def squared(self) -> np.ndarray:
        """Squared distances between all instances; only kernels need them."""
        return euclidean_distances(self.bags.X, squared=True)

    def rows(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Instances of the chosen bags, and the number of each one's bag among them."""
        parts = [np.arange(self.bags.offsets[i], self.bags.offsets[i + 1]) for i in chosen]
        return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])

    def kernel(self, width: float, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The Gaussian kernel of a width, as `experiments.widths.gamma_of_width` has it."""
        K = self.squared[rows[:, None], columns[None, :]]
        K *= np.float32(-1 / (2 * self.mean * width**2))
        return np.exp(K, out=K)


class BagKernels(NamedTuple):
    """Training and test kernels of one width."""

    train: Bags
    test: Bags

    @classmethod
    def of(cls, data: Instances, width: float, train: np.ndarray, test: np.ndarray) -> BagKernels:
        """Training and test bags by their numbers."""
        rows, groups = data.rows(train)
        test_rows, test_groups = data.rows(test)
        return cls(Bags(data.kernel(width, rows, rows), groups), Bags(data.kernel(width, test_rows, rows), test_groups))

    def fit(self, method: str, point: Point, y: np.ndarray, tol: float = 1e-3) -> Any:
        """Fit on the training kernel."""
        model = clone(BAG_METHODS[method]).set_params(
            kernel="precomputed", C_positive=point.C_positive, C_negative=point.C_negative, tol=tol, random_state=0
        )
        return model.fit(self.train, y)


def choose(
    data: Instances, train: np.ndarray, y: np.ndarray, method: str, grid: list[Point], race: Race, seed: int
) -> Point:
    """The best point of the grid, by cross-validation inside ``train``."""
    scores: dict[Point, list[float]] = {point: [] for point in grid}
    for inner, held_out in bag_folds(y[train], seed, race.folds):
        truth = y[train[held_out]]
        for width in dict.fromkeys(point.width for point in scores):
            kernels = BagKernels.of(data, width, train[inner], train[held_out])
            for point in (point for point in scores if point.width == width):
                values = kernels.fit(method, point, y[train[inner]], RACE_TOL).decision_function(kernels.test)
                both = np.mean((values > 0) == truth), roc_auc_score(truth, values)
                scores[point].append(float(np.dot(race.weights, both)))
        best_first = sorted(scores, key=lambda point: -np.mean(scores[point]))
        scores = {point: scores[point] for point in best_first[: math.ceil(race.stays * len(best_first))]}
    return next(iter(scores))
