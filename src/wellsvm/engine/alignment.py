"""A first label vector without any label: well aligned with the kernel (section 5.3).

With all dual variables one, ``||u_y||^2 = y'Ky`` is the alignment of y with the kernel, up to constants.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wellsvm._typing import LabelArray
from wellsvm.engine.separation import climb
from wellsvm.geometry.base import Candidate, Descent, Geometry, Losses
from wellsvm.labels.base import LabelSet

__all__ = ["best_aligned", "climb_alignment", "climb_from"]

CLIMBS = 5


def best_aligned(geometry: Geometry, label_set: LabelSet, n_draws: int, rng: np.random.Generator) -> LabelArray:
    """Of ``n_draws`` random label vectors the one best aligned with the kernel; of equals the first."""
    drawn = _drawn(_at_ones(geometry, label_set), n_draws, rng)
    return max(drawn, key=lambda candidate: candidate.squared_norm).y


def climb_alignment(geometry: Geometry, label_set: LabelSet, n_draws: int, rng: np.random.Generator) -> LabelArray:
    """The best of a few random label vectors after relabelling by ``argmax over z of z'Ky`` while that aligns better.

    Power iteration, its iterates rounded to members of B: it ends near the leading eigenvectors of K, and costs two
    passes over the data per step. Where all of B is balanced (``sum y = 0``) that is K centred. Of ``n_draws`` random
    ones the best `CLIMBS` are climbed from.
    """
    descent = _at_ones(geometry, label_set)
    drawn = sorted(_drawn(descent, n_draws, rng), key=lambda candidate: -candidate.squared_norm)
    return max((climb(descent, start) for start in drawn[:CLIMBS]), key=lambda candidate: candidate.squared_norm).y


def climb_from(geometry: Geometry, label_set: LabelSet, y: LabelArray) -> LabelArray:
    """The same from the label vector ``y``."""
    descent = _at_ones(geometry, label_set)
    return climb(descent, descent.candidate(y)).y


def _at_ones(geometry: Geometry, label_set: LabelSet) -> Descent:
    ones = np.ones(label_set.n_rows)
    return geometry.descent(label_set, Losses.of("hinge", ones), ones)


def _drawn(descent: Descent, n_draws: int, rng: np.random.Generator) -> Iterator[Candidate]:
    return (descent.candidate(descent.label_set.initial(rng)) for _ in range(n_draws))
