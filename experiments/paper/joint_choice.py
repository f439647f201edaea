"""The paper's choice of parameters: the best mean accuracy over the folds, of all candidates together.

Nothing is left out that could win. A candidate is given up as soon as even a perfect score on its other folds would
leave it behind: the same choice as that of a whole search, for a part of its fits. Of equals the first is taken. Kernel
matrices are made once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from experiments.internals import FloatArray, IntArray, Matrix
from experiments.splits import Split
from wellsvm.model_selection import SemiSupervisedSplit

__all__ = ["FoldFits", "best_candidate"]

# Two means of fold scores closer than this are equal: accuracies are counts over counts.
SAME = 1e-9


def best_candidate(
    n_candidates: int, n_folds: int, score: Callable[[int, int], float], to_beat: float = -np.inf
) -> int | None:
    """The candidate of the best mean score over the folds, of equals the first; None if none is above ``to_beat``.

    Parameters
    ----------
    n_candidates, n_folds : int
        Their numbers.
    score : callable
        Score, at most 1, of a candidate on a fold.
    to_beat : float
        Mean score that a candidate must exceed.
    """
    best, best_sum = None, n_folds * to_beat
    sums, counts = np.zeros(n_folds), np.zeros(n_folds)
    for candidate in range(n_candidates):
        total = 0.0
        hardest_first = np.argsort(sums / np.maximum(counts, 1), kind="stable")
        for done, fold in enumerate(hardest_first):
            value = score(candidate, int(fold))
            sums[fold] += value
            counts[fold] += 1
            total += value
            if total + (n_folds - 1 - done) <= best_sum + SAME:
                break
        else:
            best, best_sum = candidate, total
    return best


class FoldFits:
    """Accuracies of a model on the folds of a split, for kernels that share their matrices.

    Parameters
    ----------
    model : estimator
        What is fitted; for a Gaussian kernel on its matrix, made once.
    split : Split
        Rows and labels.
    n_folds : int
        Folds of the labeled rows; unlabeled ones are in every training part.
    """

    def __init__(self, model: Any, split: Split, n_folds: int) -> None:
        self.model, self.split = model, split
        self.folds: Sequence[tuple[IntArray, IntArray]] = list(SemiSupervisedSplit(n_folds).split(split.X, split.y))
        self._matrices: dict[float, FloatArray] = {}

    def score(self, parameters: dict[str, Any], fold: int) -> float:
        """Accuracy on the held-out rows of a fold."""
        train, test = self.folds[fold]
        y = self.split.y
        model = clone(self.model).set_params(**parameters)
        if parameters["kernel"] == "rbf":
            K = self._matrix_of(parameters["gamma"])
            model.set_params(kernel="precomputed", gamma=1.0).fit(K[np.ix_(train, train)], y[train])
            return float(model.score(K[np.ix_(test, train)], y[test]))
        X: Matrix = self.split.X
        return float(model.fit(X[train], y[train]).score(X[test], y[test]))

    def supervised_score(self, svm: Any, fold: int) -> float:
        """Accuracy of an SVM that sees the labeled rows of a fold alone."""
        train, test = self.folds[fold]
        X, y = self.split.X, self.split.y
        train = train[~np.isnan(y[train])]
        return float(svm.fit(X[train], y[train]).score(X[test], y[test]))

    def _matrix_of(self, gamma: float) -> FloatArray:
        if gamma not in self._matrices:
            self._matrices[gamma] = rbf_kernel(self.split.X, gamma=gamma)
        return self._matrices[gamma]
