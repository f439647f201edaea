"""Refinement: from scores to one feasible labelling with a low mixed-integer objective.

Rounding f to a member of B and alternating "solve the SVM, relabel by its scores" lowers the objective of Eq. (3) until
nothing changes. It is local: the caller starts it from the supervised SVM and from the relaxation and keeps the best.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.engine.svm import LabeledSVM
from wellsvm.labels.base import LabelSet

__all__ = ["alternate"]

MAX_ROUNDS = 10


def alternate(
    solve: Callable[..., LabeledSVM],
    label_set: LabelSet,
    scores: FloatArray,
    alpha: FloatArray | None = None,
    max_rounds: int = MAX_ROUNDS,
    solve_roughly: Callable[..., LabeledSVM] | None = None,
    negligible: float = 0,
) -> LabeledSVM:
    """Label by ``scores``, solve the SVM, label by its scores, and so on until at most ``negligible`` labels change.

    ``solve(y, alpha=..., descent=...)`` trains the SVM on the labelling y as `fit_svm` does; ``solve_roughly``
    likewise, as long as the labels still change: those on the way need not be solved well.
    """
    y, train = label_set.linear_oracle(scores), solve_roughly or solve
    descent, well_solved = None, False
    for _ in range(max_rounds):
        svm, well_solved = train(y, alpha=alpha, descent=descent), train is solve
        descent, y_next = svm.descent, label_set.linear_oracle(svm.scores())
        if np.count_nonzero(y != y_next) <= negligible:
            if well_solved:
                return svm
            train = solve
        y = y_next
    return svm if well_solved else solve(y, descent=descent)
