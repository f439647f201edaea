"""What the estimators of other weak labels share: from label sets and first scores to a fitted model.

    X, weak labels -> check -> label set, first scores, prices -> Task -> recipe.fit -> attributes

Each of them decides which labels are allowed, which scores to start from and what a row costs. The rest is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wellsvm._arguments import price, require_prices, sample_weights, seed_of, threads
from wellsvm._input import check_matrix
from wellsvm._typing import BoolArray, FloatArray, LabelArray, Matrix
from wellsvm.engine.recipe import Fit, Guess, Opening, Task
from wellsvm.engine.task import Descend
from wellsvm.estimators.base import make_kernel
from wellsvm.estimators.semi_supervised_base import SemiSupervisedBase
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows
from wellsvm.rows.coordinates import Coordinates
from wellsvm.rows.kernels import Kernel
from wellsvm.solver.master import fit_svm

__all__ = ["FromScores", "Ground", "WeakBase", "class_labels", "svm_scores"]


@dataclass(frozen=True)
class FromScores:
    """How a task starts that has a score for every row: the search leads from these to the first label vector."""

    scores: Sequence[FloatArray]

    def __call__(self, task: Task, options: Options, rng: np.random.Generator) -> Opening:
        """The guesses; the labeling of least objective that they lead to is the first label vector."""
        return Opening([], [Guess(scores) for scores in self.scores], None, True)


@dataclass(frozen=True)
class Ground:
    """What every fit needs besides labels: checked rows under a kernel, their weights, the loss, how to solve."""

    X: Matrix
    kernel: Kernel
    rows: Rows
    weight: FloatArray
    loss: str
    options: Options
    n_jobs: int | None
    seed: int

    def rng(self, number: int) -> np.random.Generator:
        """Random numbers of one of several problems."""
        return np.random.default_rng([self.seed, number])


class WeakBase(SemiSupervisedBase):
    """Common part of the estimators of other weak labels; they add parameters and `fit`."""

    # What is a parameter of SemiSupervisedSVC only: thresholds follow tol, and balances are in the label sets.
    min_violation = min_decrease = None
    stopping, weight_update = "relative", "level"
    unlabeled: Any = "auto"

    _searches = ("annealed", "local")

    def _options(self) -> Options:
        # Rows count whole in a search: weighing them by how sure their labels are was not measured for other labels.
        return super()._options().but(sure_margin=0.0)

    def _checked(self, X: Any) -> Matrix:
        """X, checked after the parameters that say how to solve. Labels are read next."""
        self._options()
        threads(self.n_jobs)
        return check_matrix(self, X, reset=True)

    def _ground(self, X: Matrix, sample_weight: Any, n_classes: int, most: float) -> Ground:
        """Make the rows of a checked X; ``most`` is the largest price of a row of weight 1.

        Two classes are one problem, which leaves the threads to the passes over its rows.
        """
        options, n_jobs = self._options(), threads(self.n_jobs)
        weight = sample_weights(sample_weight, X)
        if not np.any(weight > 0):  # scikit-learn refuses it from 1.7 on
            raise ValueError("sample_weight is 0 for every row; nothing is left to learn from")
        with np.errstate(over="ignore"):
            prices = most * weight
        require_prices(prices, "sample_weight")
        weight = np.where(prices > 0, weight, 0.0)
        loss, kernel = self._loss(X), make_kernel(self, X)
        rows = self._rows_of(X, kernel, float(prices.max()), n_jobs if n_classes == 2 else None)
        seed = seed_of(self.random_state)
        return Ground(X, kernel, rows, weight, loss, options, n_jobs, seed)

    def _fit_sets(
        self,
        ground: Ground,
        known: PartialLabels,
        label_sets: Sequence[LabelSet],
        scores: Sequence[Sequence[FloatArray]],
        prices: FloatArray,
        rising: BoolArray,
        together: bool = False,
        smooth: tuple[Coordinates, Descend] | None = None,
    ) -> list[Fit]:
        """Fit one label set, or one per class, from first scores; store the model.

        ``known`` holds the classes and the codes of the rows whose label is certain. ``prices`` are those of the rows,
        of which those ``rising`` rise in an annealed search; ``together`` gives every row one class in it. ``smooth``
        asks for a smooth search in place of it.
        """
        losses = Losses.of(ground.loss, prices)
        titles = self._titles(known.classes)
        tasks = [
            Task(ground.rows, labels, losses, FromScores(first), rising, title, None, *(smooth or ()))
            for labels, first, title in zip(label_sets, scores, titles)
        ]
        progress = self._progress(ground.X, parts=len(tasks), max_iter=ground.options.max_iter)
        rngs = [ground.rng(k) for k in range(len(tasks))]
        fits = self._fit_tasks(tasks, ground.options, rngs, ground.n_jobs, progress, together=together)
        self._store(ground.X, ground.kernel, ground.rows, known, fits, ground.options)
        del self.balance_found_  # for those whose balance is a parameter
        progress.end(fitted=True)
        return fits

    def _price(self, name: str = "C") -> float:
        return price(name, getattr(self, name))


def class_labels(codes: np.ndarray, n_classes: int) -> list[LabelArray]:
    """+1 for the class of every two-class problem (the second of two, else each), -1 for others, 0 where unknown."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes < 0, 0, np.where(codes == k, 1, -1)).astype(np.int8) for k in positive]


def svm_scores(ground: Ground, y: LabelArray, prices: FloatArray, number: int = 0, rough: float = 1.0) -> FloatArray:
    """Values of the SVM on labels ``y`` that are taken for true, at these prices."""
    losses = Losses.of(ground.loss, prices)
    tol, rng = rough * ground.options.tol, ground.rng(number)
    labels = BalancedLabels.known(y)
    return fit_svm(ground.rows, labels, losses, y, tol=tol, rng=rng, options=ground.options).scores()
