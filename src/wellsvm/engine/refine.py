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
) -> LabeledSVM:
    """Label by ``scores``, solve the SVM, label by its scores, and so on until the labelling stays.

    ``solve(y, alpha=...)`` trains the SVM on the labelling y from the dual variables alpha.
    """
    y = label_set.linear_oracle(scores)
    for _ in range(max_rounds):
        svm = solve(y, alpha=alpha)
        alpha, y_next = svm.alpha, label_set.linear_oracle(svm.scores())
        if np.array_equal(y, y_next):
            break
        y = y_next
    return svm
