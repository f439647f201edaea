"""One problem, and where its searches may start."""

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
        Whether the best labelling that these searches reach is a first label vector too, with its dual variables.
    """

    labels: list[LabelArray]
    guesses: list[Guess]
    alpha: FloatArray | None
    best_first: bool


@dataclass(frozen=True)
class Task:
    """One problem: where the data live, which labels are allowed, what a row costs, how to start.

    ``open`` is asked for the `Opening` by `fit`; ``rising`` are the rows whose price rises in an annealed search;
    ``stages`` are where a fit is kept, if it is (checkpoint.py); ``coordinates`` are what the smooth search ``descend``
    moves in, and None asks for another search.
    """

    rows: Rows
    labels: LabelSet
    losses: Losses
    open: Callable[[Task, Options, np.random.Generator], Opening] | None = None
    rising: BoolArray | None = None
    title: str = ""
    stages: Stages | None = None
    coordinates: Coordinates | None = None
    descend: Descend = search_smoothly
