"""Section 4.1 for two classes: start, cutting plane, refinement; and paths of such fits along the prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wellsvm._threads import run
from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.alignment import best_aligned
from wellsvm.engine.cutting_plane import ROUGH, cutting_plane
from wellsvm.engine.refine import alternate
from wellsvm.engine.report import History, Result
from wellsvm.engine.separation import ORACLES
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.estimators._callbacks import Task
from wellsvm.estimators._parameters import choice, flag, number, whole_number
from wellsvm.geometry import LinearGeometry
from wellsvm.geometry.base import Geometry, Losses
from wellsvm.labels.balanced import BalancedLabels

__all__ = ["BinaryFit", "Problem", "Settings", "fit_path", "settings_of"]

ALIGNMENT_STARTS = 20
# Refinement ends when no more than this many tol of the rows change their label.
NEGLIGIBLE = 0.1
LOSSES = ("hinge", "squared_hinge", "auto")


@dataclass(frozen=True)
class Settings:
    """How to solve; all that does not depend on the data."""

    loss: str = "hinge"
    init: str = "refined"
    oracle: str = "paper"
    refine: bool = True
    tol: float = 1e-3
    max_iter: int = 50
    verbose: int = 0


def settings_of(estimator: Any) -> Settings:
    """The settings that an estimator's parameters ask for, checked. ``loss="auto"``: hinge if linear, else squared."""
    number("C", estimator.C, low=0.0, open_low=True)
    flag("fit_intercept", estimator.fit_intercept)
    loss, linear = (
        choice("loss", estimator.loss, LOSSES),
        isinstance(estimator.kernel, str) and estimator.kernel == "linear",
    )
    verbose = estimator.verbose
    return Settings(
        loss=("hinge" if linear else "squared_hinge") if loss == "auto" else loss,
        oracle=choice("oracle", estimator.oracle, tuple(ORACLES)),
        refine=flag("refine", estimator.refine),
        tol=number("tol", estimator.tol, low=0.0, open_low=True),
        max_iter=whole_number("max_iter", estimator.max_iter, low=1),
        verbose=int(verbose) if isinstance(verbose, bool) else whole_number("verbose", verbose, low=0),
    )


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
        """Dual variables of f."""
        return self.refined.alpha if self.refined else self.result.descent.alpha

    def scores(self) -> FloatArray:
        """f of every training row."""
        return self.refined.scores() if self.refined else self.result.scores()


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
    on_the_way: Settings | None = None,
    task: Task | None = None,
) -> Iterator[list[BinaryFit]]:
    """Fit all problems for each vector of prices in turn, every fit starting from the one before.

    Parameters
    ----------
    geometry : Geometry
        The rows.
    problems : sequence of Problem
        One per class or pair; they run in ``n_jobs`` threads, which share the geometry. A single problem uses the
        threads for passes over all rows.
    prices : sequence of arrays of shape (n_rows,)
        C of every row; a row with C = 0 takes no part.
    seed : int
        With the number of the problem it fixes every random choice, whatever ``n_jobs`` is.
    warm : list of BinaryFit, optional
        Fits of the same problems to start from; of other problems: not used.
    on_the_way : Settings, optional
        How to solve for all prices but the last, where only that matters.
    task : Task, optional
        Tells callbacks of every label vector; made for ``len(prices) * len(problems)`` parts.

    Yields
    ------
    list of BinaryFit
        One per problem, for each vector of prices.
    """
    generators = [np.random.default_rng([seed, k]) for k in range(len(problems))]
    last: Sequence[BinaryFit | None] = warm or []
    if [fit.y.size for fit in warm or []] != [problem.labels.n_rows for problem in problems]:
        last = [None] * len(problems)
    task = task or Task()
    if len(problems) == 1 and isinstance(geometry, LinearGeometry):
        geometry.n_jobs = n_jobs  # one problem leaves the threads to the passes over its rows

    def fit(number: int, problem: Problem, *how: Any) -> BinaryFit:
        with task.part(number, problem.title or "fit", max_iter=settings.max_iter) as part:
            return fit_binary(geometry, problem, *how, task=part)

    for i, C in enumerate(prices):
        how = on_the_way if on_the_way is not None and i < len(prices) - 1 else settings
        tasks = [
            partial(fit, i * len(problems) + k, problem, C, how, rng, before, i > 0)
            for k, (problem, rng, before) in enumerate(zip(problems, generators, last))
        ]
        fits = run(tasks, n_jobs)
        yield fits
        last = fits


def fit_binary(
    geometry: Geometry,
    problem: Problem,
    C: FloatArray,
    settings: Settings,
    rng: np.random.Generator,
    warm: BinaryFit | None = None,
    follows: bool = False,
    *,
    task: Task,
) -> BinaryFit:
    """Fit one two-class problem; ``warm`` is a further start or, if it is the one before on a path, the only one."""
    labels = problem.labels
    losses = Losses.of(settings.loss, C)
    solve = partial(fit_svm, geometry, labels, losses, tol=settings.tol, rng=rng)
    refine = partial(
        alternate, solve, labels, solve_roughly=partial(solve, tol=ROUGH * settings.tol),
        negligible=NEGLIGIBLE * settings.tol * labels.n_rows,
    )  # fmt: skip
    before: BinaryFit | LabeledSVM
    if warm is not None and follows:
        before = warm
    else:
        before = solve(labels.y_known, rows=np.flatnonzero(labels.y_known))  # the supervised SVM
    reached = []  # labelings that refinement found; the best is kept
    if settings.refine or settings.init == "refined":
        reached.append(refine(before.scores(), before.alpha))

    if problem.init is not None and not follows:
        first = _made_feasible(labels, problem.init)
    elif settings.init == "refined":
        first = reached[0].y
    elif settings.init == "alignment" and not follows:
        first = best_aligned(geometry, labels, ALIGNMENT_STARTS, rng)
    else:
        first = labels.linear_oracle(before.scores())
    starts = [first]
    if warm is not None and not follows and labels.contains(warm.y):
        starts.append(warm.y)
    result = cutting_plane(
        geometry.descent(labels, losses, reached[0].alpha if settings.init == "refined" else before.alpha),
        _distinct(starts),
        oracle=ORACLES[settings.oracle],
        tol=settings.tol,
        max_iter=settings.max_iter,
        rng=rng,
        history=History(settings.verbose, problem.title),
        callback=task.label_vector,
    )
    if not settings.refine:
        return BinaryFit(result, None, labels.linear_oracle(result.scores()))
    reached.append(refine(result.scores(), result.descent.alpha))
    if warm is not None and not follows:
        reached.append(refine(warm.scores(), warm.alpha))
    refined = min(reached, key=lambda svm: svm.objective)
    return BinaryFit(result, refined, labels.linear_oracle(refined.scores()))


def _made_feasible(labels: BalancedLabels, y: LabelArray) -> LabelArray:
    """y itself, or the nearest allowed labels: a fold of cross-validation has another balance than the whole."""
    return y if labels.contains(y) else labels.linear_oracle(y.astype(np.float64))


def _distinct(starts: Sequence[LabelArray]) -> list[LabelArray]:
    """Each label vector once: two equal ones would leave their weights undetermined."""
    return list({y.tobytes(): y for y in starts}.values())
