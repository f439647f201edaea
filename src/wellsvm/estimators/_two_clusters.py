"""Section 4.3: one set of rows into two clusters. Start, cutting plane, refinement, and the cut that makes labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.alignment import climb_alignment, climb_from
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.refine import alternate
from wellsvm.engine.report import History, Result
from wellsvm.engine.separation import ORACLES, Oracle
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.estimators._callbacks import Task
from wellsvm.estimators._two_class import Settings
from wellsvm.geometry.base import Candidate, Descent, Geometry, Losses
from wellsvm.labels.clusters import ClusterLabels

__all__ = ["TwoClusters", "choose_cut", "fit_two_clusters", "halves"]

# Scores nearer than this, relative to the largest, count as equal: computed twice they may change places.
TIE = {"f": 1e-5, "d": 1e-9}


@dataclass(frozen=True)
class TwoClusters:
    """Two clusters: the relaxation, the refined SVM if asked for, and f cut at ``threshold`` into the labels y.

    ``gain`` is the loss that f saves beside f = 0, its own price ``||f||^2 / 2`` deducted: the margin's worth.
    """

    result: Result
    refined: LabeledSVM | None
    y: LabelArray
    threshold: float
    ties_split: bool
    gain: float

    @property
    def predictor(self) -> tuple[Any, FloatArray]:
        """The descent and the weights mu that make f."""
        if self.refined is not None:
            return self.refined.descent, self.refined.master.mu
        return self.result.descent, self.result.mu


def fit_two_clusters(
    geometry: Geometry,
    label_set: ClusterLabels,
    C: float,
    settings: Settings,
    n_init: int,
    rng: np.random.Generator,
    *,
    first: LabelArray | None = None,
    precision: str = "d",
    task: Task | None = None,
) -> TwoClusters:
    """Cluster the rows of ``geometry`` in two, from the labels ``first`` if they are given.

    Else from halves: among them alignment does not see the mean of the rows, which would else draw all rows into one
    cluster; and from what they become within the balance. ``precision`` is the character of the rows' dtype.
    """
    task = task or Task()
    if first is not None:
        starts = [first]
    else:
        half = climb_alignment(geometry, halves(label_set.n_rows), n_init, rng)
        moved = ClusterLabels.toward(climb_from(geometry, label_set, half), half)
        starts = [half] if np.array_equal(half, moved) else [half, moved]
    losses = Losses.of(settings.loss, np.full(label_set.n_rows, C))
    result = cutting_plane(
        geometry.descent(label_set, losses),
        starts,
        oracle=_with_one_sign(ORACLES[settings.oracle]),
        tol=settings.tol,
        max_iter=settings.max_iter,
        rng=rng,
        history=History(settings.verbose, task.title),
        callback=task.label_vector,
    )
    scores, objective, refined = result.scores(), result.objective, None
    if settings.refine:
        solve = partial(fit_svm, geometry, label_set, losses, tol=settings.tol, rng=rng)
        refined = alternate(solve, label_set, scores, result.descent.alpha)
        scores, objective = refined.scores(), refined.objective
    y, threshold, ties_split = choose_cut(scores, label_set, TIE[precision])
    without = losses.total(np.zeros(label_set.n_rows), np.arange(label_set.n_rows))
    return TwoClusters(result, refined, y, threshold, ties_split, without - objective)


def halves(n_rows: int) -> ClusterLabels:
    """The label vectors that halve the rows."""
    return ClusterLabels(n_rows, n_rows % 2)


def _with_one_sign(oracle: Oracle) -> Oracle:
    """y and -y are one partition: take the sign that agrees with the first label vector in use."""

    def signed(descent: Descent, squared_norms: FloatArray, rng: np.random.Generator) -> Candidate:
        found = oracle(descent, squared_norms, rng)
        y = ClusterLabels.toward(found.y, descent.labels[0])
        return found if y is found.y else Candidate(y, found.squared_norm, -found.image)

    return signed


def choose_cut(scores: FloatArray, label_set: ClusterLabels, tie: float) -> tuple[LabelArray, float, bool]:
    """Labels and a threshold b such that ``y = sign(scores - b)`` keeps the balance.

    b = 0, the paper's rule, where it does. Else the nearest cut, by the number of rows that change sides, that does and
    that falls between two different scores. Where none does, equal scores are divided by row index; b then puts all of
    them on one side, and the third value returned is True.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    least = tie * float(np.abs(falling[[0, -1]]).max())
    wanted = int(np.count_nonzero(scores > 0))
    sizes = np.arange(max(1, label_set.low), min(label_set.high, scores.size - 1) + 1)
    gaps = falling[sizes - 1] - falling[sizes]
    clear = sizes[gaps > least]
    ties_split = clear.size == 0
    candidates = sizes if ties_split else clear
    n_positive = int(candidates[np.argmin(np.abs(candidates - wanted))])
    above, below = falling[n_positive - 1], falling[n_positive]
    zero_is_clear = above > 0.25 * least and below < -0.25 * least
    y = np.full(scores.size, -1, dtype=np.int8)
    y[order[:n_positive]] = 1
    return y, 0.0 if zero_is_clear else 0.5 * float(above + below), ties_split
