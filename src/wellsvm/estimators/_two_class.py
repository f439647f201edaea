"""Section 4.1 for two classes: start, cutting plane, refinement; and paths of such fits along the prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.refine import alternate, best_alternation
from wellsvm.engine.report import History, Result
from wellsvm.engine.separation import ORACLES
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.geometry.base import Geometry, Losses
from wellsvm.labels.balanced import BalancedLabels

__all__ = ["BinaryFit", "Problem", "Settings", "fit_path"]

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


class Problem(NamedTuple):
    """A two-class problem: the labels allowed, a title for the table, and the user's first labels if any."""

    labels: BalancedLabels
    title: str = ""
    init: LabelArray | None = None


def fit_path(
    geometry: Geometry,
    problems: Sequence[Problem],
    prices: Sequence[FloatArray],
    settings: Settings,
    *,
    seed: int,
    n_jobs: int | None = None,
    warm: list[BinaryFit] | None = None,
) -> Iterator[list[BinaryFit]]:
    """Fit all problems for each vector of prices in turn, every fit starting from the one before.

    Parameters
    ----------
    geometry : Geometry
        The rows.
    problems : sequence of Problem
        One per class or pair; they run in ``n_jobs`` threads, which share the geometry.
    prices : sequence of arrays of shape (n_rows,)
        C of every row; a row with C = 0 takes no part.
    seed : int
        With the number of the problem it fixes every random choice, whatever ``n_jobs`` is.
    warm : list of BinaryFit, optional
        Fits of the same problems to start from; of other problems: not used.

    Yields
    ------
    list of BinaryFit
        One per problem, for each vector of prices.
    """
    generators = [np.random.default_rng([seed, k]) for k in range(len(problems))]
    fits = list(warm or [])
    if [fit.y.size for fit in fits] != [problem.labels.n_rows for problem in problems]:
        fits = [None] * len(problems)
    for C in prices:
        fits = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(fit_binary)(geometry, problem, C, settings, rng, last)
            for problem, rng, last in zip(problems, generators, fits)
        )
        yield fits


def fit_binary(
    geometry: Geometry,
    problem: Problem,
    C: FloatArray,
    settings: Settings,
    rng: np.random.Generator,
    warm: BinaryFit | None = None,
) -> BinaryFit:
    """Fit one two-class problem; the labels and dual variables of ``warm`` are further starts."""
    labels, title, init = problem
    losses = Losses.of(settings.loss, C)
    solve = {"tol": settings.tol, "rng": rng}
    labeled = np.flatnonzero(labels.y_known)
    supervised = fit_svm(geometry, labels, losses, labels.y_known, rows=labeled, **solve)
    start_scores = supervised.scores()

    descent = geometry.descent(labels, losses, supervised.descent.alpha if warm is None else warm.alpha)
    if init is None:
        init = _first_labels(geometry, labels, losses, settings, supervised, rng)
    elif not labels.contains(init):  # a fold has another balance than the whole
        init = labels.linear_oracle(init.astype(np.float64))
    starts = [init]
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
        aligned = geometry.descent(
            labels, losses._replace(cap=np.full(labels.n_rows, np.inf)), np.ones(labels.n_rows)
        )
        drawn = [aligned.candidate(labels.initial(rng)) for _ in range(ALIGNMENT_STARTS)]
        return max(drawn, key=lambda candidate: candidate.squared_norm).y
    if settings.init == "refined":
        scores, alpha = supervised.scores(), supervised.descent.alpha
        return alternate(geometry, labels, losses, scores, tol=settings.tol, rng=rng, alpha=alpha).y
    return labels.linear_oracle(supervised.scores())


def _distinct(starts: Sequence[LabelArray]) -> list[LabelArray]:
    """Each label vector once: two equal ones would leave their weights undetermined."""
    return list({y.tobytes(): y for y in starts}.values())
