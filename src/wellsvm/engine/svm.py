"""The SVM for one given labelling: the restricted master with a single label vector."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.engine.master import Master, solve_master
from wellsvm.geometry.base import Descent, Geometry, Losses
from wellsvm.labels.base import LabelSet

__all__ = ["LabeledSVM", "fit_svm"]


class LabeledSVM(NamedTuple):
    """An SVM and the labelling it was trained on."""

    descent: Descent
    master: Master

    @property
    def y(self) -> LabelArray:
        """The labelling."""
        return self.descent.labels[0]

    @property
    def alpha(self) -> FloatArray:
        """Dual variables."""
        return self.descent.alpha

    @property
    def objective(self) -> float:
        """Primal value: the mixed-integer objective of Eq. (3) at this labelling."""
        return self.master.upper

    def scores(self) -> FloatArray:
        """``f(x_j)`` of every instance."""
        return self.descent.scores(self.master.mu)


def fit_svm(
    geometry: Geometry,
    label_set: LabelSet,
    losses: Losses,
    y: LabelArray,
    *,
    tol: float,
    rng: np.random.Generator,
    alpha: FloatArray | None = None,
    rows: IntArray | None = None,
    descent: Descent | None = None,
) -> LabeledSVM:
    """Train on ``rows`` (all if None) under the labelling ``y``, from the dual variables ``alpha``.

    A ``descent`` of an SVM that is needed no more can be given instead of alpha; it goes on from there.
    """
    if descent is None:
        descent = geometry.descent(label_set, losses, alpha)
        descent.add(descent.candidate(y))
    else:
        descent.relabel(y)
    rows = np.flatnonzero(losses.cap > 0) if rows is None else rows
    return LabeledSVM(descent, solve_master(descent, np.ones(1), rows, rng, tol))
