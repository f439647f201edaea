"""A first label vector without any label: well aligned with the kernel (section 5.3).

With all dual variables one, ``||u_y||^2 = y'Ky`` is the alignment of y with the kernel, up to constants.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import LabelArray
from wellsvm.engine.separation import climb
from wellsvm.geometry.base import Candidate, Descent, Geometry, Losses
from wellsvm.labels.base import LabelSet

__all__ = ["best_aligned", "climb_alignment"]


def best_aligned(geometry: Geometry, label_set: LabelSet, n_draws: int, rng: np.random.Generator) -> LabelArray:
    """Of ``n_draws`` random label vectors the one best aligned with the kernel; of equals the first."""
    return _best_drawn(_at_ones(geometry, label_set), n_draws, rng).y


def climb_alignment(geometry: Geometry, label_set: LabelSet, n_draws: int, rng: np.random.Generator) -> LabelArray:
    """`best_aligned`, then relabelled by ``argmax over z of z'Ky`` while that raises the alignment.

    Power iteration, its iterates rounded to members of B: it ends near the leading eigenvector of K, and costs two
    passes over the data per step. Where all of B is balanced (``sum y = 0``) that is K centred.
    """
    descent = _at_ones(geometry, label_set)
    return climb(descent, _best_drawn(descent, n_draws, rng)).y


def _at_ones(geometry: Geometry, label_set: LabelSet) -> Descent:
    ones = np.ones(label_set.n_rows)
    return geometry.descent(label_set, Losses.of("hinge", ones), ones)


def _best_drawn(descent: Descent, n_draws: int, rng: np.random.Generator) -> Candidate:
    drawn = (descent.candidate(descent.label_set.initial(rng)) for _ in range(n_draws))
    return max(drawn, key=lambda candidate: candidate.squared_norm)
