"""Fit at rising prices of the unlabeled rows, one after the other, as cross-validation does in each fold.

The first price is 0, which gives the supervised SVM. From there a search continues from price to price. There is no
relaxation in between: it would only add another start, at a cost in every fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wellsvm._typing import BoolArray
from wellsvm.engine.joint import joint_labels
from wellsvm.engine.search import search, search_together
from wellsvm.engine.smooth import SmoothSolution, smooth_path
from wellsvm.engine.task import Guess, Task
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.coordinates import Coordinates
from wellsvm.solver.master import Solution, fit_svm

__all__ = ["Found", "found_along_prices"]

Found = Sequence[Solution | SmoothSolution]
"""What was found at a price, one for each two-class problem."""


def found_along_prices(
    rows: Rows,
    label_sets: Sequence[BalancedLabels],
    free: BoolArray,
    losses: Sequence[Losses],
    together: bool,
    coordinates: Coordinates | None,
    options: Options,
    svm_tol: float,
    seed: int,
) -> Iterator[Found]:
    """Yield what is found at each price. Use it before asking for the next: that search continues from the same state.

    Parameters
    ----------
    rows : Rows
        All rows; those held out have a label and the price 0.
    label_sets : sequence of BalancedLabels
        One per two-class problem.
    free : bool array of shape (n_rows,)
        The unlabeled rows.
    losses : sequence of Losses
        One per price of the unlabeled rows, 0 first, rising.
    together : bool
        Whether the problems are searched together.
    coordinates : Coordinates or None
        Those of a smooth search; None asks for a search of labels.
    options : Options
        Constants.
    svm_tol : float
        Relative gap of the supervised SVM: it has few rows, and all others are compared with it.
    seed : int
        Seed of the orders of coordinate descent.
    """
    rngs = [np.random.default_rng([seed, k]) for k in range(len(label_sets))]
    svms = [
        fit_svm(
            rows, labels, losses[0], labels.y_known, tol=svm_tol, rng=rng, chosen=np.flatnonzero(labels.y_known),
            options=options,
        )
        for labels, rng in zip(label_sets, rngs)
    ]  # fmt: skip
    yield svms
    if coordinates is None:
        yield from _searched(rows, label_sets, free, losses[1:], together, svms, options, rngs)
    else:
        yield from _smoothly(coordinates, label_sets, free, losses[1:], options)


def _searched(
    rows: Rows,
    label_sets: Sequence[BalancedLabels],
    free: BoolArray,
    losses: Sequence[Losses],
    together: bool,
    svms: Sequence[Solution],
    options: Options,
    rngs: Sequence[np.random.Generator],
) -> Iterator[Sequence[Solution]]:
    """Search labels at each price from where the last one ended."""
    for now in losses:
        tasks = [Task(rows, labels, now, rising=free) for labels in label_sets]
        guesses = [Guess(svm.scores(), svm.alpha) for svm in svms]
        if together:
            svms = search_together(tasks, guesses, joint_labels, options, rngs)
        else:
            svms = [search(task, guess, options, rng) for task, guess, rng in zip(tasks, guesses, rngs)]
        yield svms


def _smoothly(
    coordinates: Coordinates,
    label_sets: Sequence[BalancedLabels],
    free: BoolArray,
    losses: Sequence[Losses],
    options: Options,
) -> Iterator[tuple[SmoothSolution, ...]]:
    """One smooth search up to the highest price, which passes all lower ones on its way."""
    if not losses:
        return iter(())
    C = losses[-1].prices
    most = float(C[free].max(initial=0.0))
    prices = [float(now.prices[free].max(initial=0.0)) / most if most > 0 else 1.0 for now in losses]
    before = [share * prices[0] for share in options.smooth_prices[:-1]]
    paths = [smooth_path(coordinates, labels, C, [*before, *prices], options) for labels in label_sets]
    return (found for k, found in enumerate(zip(*paths)) if k >= len(before))
