"""Section 4.1 for two classes: start, cutting plane, refinement. No estimator, no class names in here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.refine import alternate, best_alternation
from wellsvm.engine.report import History, Record, Result
from wellsvm.engine.separation import ORACLES
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.geometry.base import Geometry, Losses
from wellsvm.labels.balanced import BalancedLabels

__all__ = ["BinaryFit", "Settings", "fit_binary"]

ALIGNMENT_STARTS = 20


@dataclass(frozen=True)
class Settings:
    """How to solve; all that does not depend on the data."""

    loss: str = "hinge"
    init: str = "svm"
    oracle: str = "paper"
    refine: bool = True
    tol: float = 1e-3
    max_iter: int = 50
    verbose: int = 0


@dataclass(frozen=True)
class BinaryFit:
    """A fitted two-class problem: the relaxation's result and, if asked for, the refined SVM."""

    result: Result
    refined: LabeledSVM | None
    y: LabelArray

    @property
    def predictor(self) -> tuple[object, FloatArray]:
        """The descent and the weights mu that make f."""
        if self.refined is not None:
            return self.refined.descent, self.refined.master.mu
        return self.result.descent, self.result.mu

    @property
    def alpha(self) -> FloatArray:
        """Dual variables of the relaxation."""
        return self.result.descent.alpha

    def scores(self) -> FloatArray:
        """f of every training row."""
        return self.refined.scores() if self.refined else self.result.descent.scores(self.result.mu)


def fit_binary(
    geometry: Geometry,
    labels: BalancedLabels,
    C: FloatArray,
    settings: Settings,
    *,
    rng: np.random.Generator,
    title: str = "",
    init: LabelArray | None = None,
    warm: BinaryFit | None = None,
    callback: Callable[[Record], bool | None] | None = None,
) -> BinaryFit:
    """Fit one two-class problem.

    Parameters
    ----------
    geometry, labels : Geometry, BalancedLabels
        The rows and the labels allowed for them.
    C : array of shape (n_rows,)
        Price of each row's loss; a row with C = 0 takes no part.
    init : array of shape (n_rows,), optional
        Starting labels instead of ``settings.init``.
    warm : BinaryFit, optional
        A fit of the same rows under other prices; its labels and dual variables are further starts.
    """
    losses = Losses.of(settings.loss, C)
    solve = {"tol": settings.tol, "rng": rng}
    labeled = np.flatnonzero(labels.y_known)
    supervised = fit_svm(geometry, labels, losses, labels.y_known, rows=labeled, **solve)
    start_scores = supervised.scores()

    descent = geometry.descent(labels, losses, supervised.descent.alpha if warm is None else warm.alpha)
    starts = [init if init is not None else _first_labels(geometry, labels, losses, settings, supervised, rng)]
    if warm is not None:
        starts += [y for y in warm.result.labels if labels.contains(y)]
    result = cutting_plane(
        descent,
        _distinct(starts),
        oracle=ORACLES[settings.oracle],
        tol=settings.tol,
        max_iter=settings.max_iter,
        rng=rng,
        history=History(settings.verbose, title),
        callback=callback,
    )
    scores = result.descent.scores(result.mu)
    if not settings.refine:
        return BinaryFit(result, None, labels.linear_oracle(scores))
    begin = [(start_scores, supervised.descent.alpha), (scores, result.descent.alpha)]
    if warm is not None and warm.refined is not None:
        begin.append((warm.scores(), warm.refined.descent.alpha))
    refined = best_alternation(geometry, labels, losses, begin, **solve)
    return BinaryFit(result, refined, labels.linear_oracle(refined.scores()))


def _first_labels(
    geometry: Geometry,
    labels: BalancedLabels,
    losses: Losses,
    settings: Settings,
    supervised: LabeledSVM,
    rng: np.random.Generator,
) -> LabelArray:
    """The first label vector: the supervised SVM's, refined or not, or the best aligned of some random ones."""
    if settings.init == "alignment":
        # With all dual variables one, ||u_y||^2 = y'Ky is the alignment of y with the kernel, up to constants.
        aligned = geometry.descent(labels, losses._replace(cap=np.full(labels.n_rows, np.inf)), np.ones(labels.n_rows))
        drawn = [aligned.candidate(labels.initial(rng)) for _ in range(ALIGNMENT_STARTS)]
        return max(drawn, key=lambda candidate: candidate.squared_norm).y
    if settings.init == "refined":
        scores, alpha = supervised.scores(), supervised.descent.alpha
        return alternate(geometry, labels, losses, scores, tol=settings.tol, rng=rng, alpha=alpha).y
    return labels.linear_oracle(supervised.scores())


def _distinct(starts: Sequence[LabelArray]) -> list[LabelArray]:
    """Each label vector once: two equal ones would leave their weights undetermined."""
    return list({y.tobytes(): y for y in starts}.values())
