"""One problem for the recipe: rows, allowed labels, losses, and how to start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, LabelArray
from wellsvm.engine.smooth import SmoothSolution, search_smoothly
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.coordinates import Coordinates

if TYPE_CHECKING:
    from wellsvm.engine.checkpoint import Stages

__all__ = ["Descend", "Guess", "Opening", "Task"]

Descend: TypeAlias = Callable[[Coordinates, Any, Losses, Options], SmoothSolution]
"""A smooth search, for the kind of label set that it knows."""


class Guess(NamedTuple):
    """Where a search may start: a score for every instance, and dual variables that go with them."""

    scores: FloatArray
    alpha: FloatArray | None = None


class Opening(NamedTuple):
    """How a task starts.

    Attributes
    ----------
    labels : list of label vectors
        First label vectors of the cutting plane.
    guesses : list of Guess
        Where searches start before the cutting plane.
    alpha : array or None
        First dual variables of the cutting plane.
    best_first : bool
        Whether the best labeling that these searches reach is a first label vector too, with its dual variables.
    """

    labels: list[LabelArray]
    guesses: list[Guess]
    alpha: FloatArray | None
    best_first: bool


@dataclass(frozen=True)
class Task:
    """One problem: where the data live, which labels are allowed, what a row costs, how to start.

    Attributes
    ----------
    rows : Rows
        Where the data live.
    labels : LabelSet
        Which labels are allowed.
    losses : Losses
        What a row costs.
    opening : callable or None
        Makes the `Opening` from task, options and generator. None: the task can be searched, but not fitted.
    rising : bool array of shape (n_rows,) or None
        Rows whose price rises step by step in an annealed search. None: none does.
    title : str
        Heading of its progress, where there are several problems.
    stages : Stages or None
        Keeps the stages of the fit in a file (checkpoint.py), if asked.
    coordinates : Coordinates or None
        What the smooth search ``descend`` moves f in. None: labels are searched instead.
    descend : callable
        The smooth search for this kind of label set.
    """

    rows: Rows
    labels: LabelSet
    losses: Losses
    opening: Callable[[Task, Options, np.random.Generator], Opening] | None = None
    rising: BoolArray | None = None
    title: str = ""
    stages: Stages | None = None
    coordinates: Coordinates | None = None
    descend: Descend = search_smoothly
