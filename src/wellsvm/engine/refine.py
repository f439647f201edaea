"""Refinement: from the relaxation's mixture of label vectors to one feasible labelling with a low objective.

The relaxation's f is a combination of label vectors; rounding it to a member of B and alternating "solve the SVM,
relabel by its scores" lowers the mixed-integer objective of Eq. (3) at every round until nothing changes. It is local, so
it is run from several starts (the supervised SVM, the relaxation) and the labelling of lowest objective is kept.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.geometry.base import Geometry, Losses
from wellsvm.labels.base import LabelSet

__all__ = ["alternate", "best_alternation"]

MAX_ROUNDS = 10


def alternate(
    geometry: Geometry,
    label_set: LabelSet,
    losses: Losses,
    scores: FloatArray,
    *,
    tol: float,
    rng: np.random.Generator,
    alpha: FloatArray | None = None,
) -> LabeledSVM:
    """Label by ``scores``, solve the SVM, label by its scores, and so on until the labelling stays."""
    y = label_set.linear_oracle(scores)
    for _ in range(MAX_ROUNDS):
        svm = fit_svm(geometry, label_set, losses, y, tol=tol, rng=rng, alpha=alpha)
        alpha, y_next = svm.descent.alpha, label_set.linear_oracle(svm.scores())
        if np.array_equal(y, y_next):
            break
        y = y_next
    return svm


def best_alternation(
    geometry: Geometry,
    label_set: LabelSet,
    losses: Losses,
    starts: Iterable[tuple[FloatArray, FloatArray | None]],
    *,
    tol: float,
    rng: np.random.Generator,
) -> LabeledSVM:
    """The labelling of lowest objective among those reached from ``starts`` = (scores, alpha) pairs."""
    reached = [
        alternate(geometry, label_set, losses, scores, tol=tol, rng=rng, alpha=alpha)
        for scores, alpha in starts
    ]
    return min(reached, key=lambda svm: svm.objective)
