"""First label vectors without any label: well aligned with the kernel (section 5.3).

With all dual variables one, ``||u_y||^2 = y'Ky`` is the alignment of y with the kernel, up to constants.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import LabelArray
from wellsvm.engine.cutting_plane import climb
from wellsvm.labels import ClusterLabels, LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver import Candidate, State, begin

__all__ = ["aligned_clusters", "best_aligned", "climb_alignment"]


def best_aligned(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """Of ``n_draws`` random label vectors the one best aligned with the kernel; of equals the first."""
    state = _at_ones(rows, label_set, options)
    return max(_drawn(state, n_draws, rng), key=lambda candidate: candidate.squared_norm).y


def climb_alignment(
    rows: Rows, label_set: LabelSet, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> LabelArray:
    """The best of a few random label vectors after relabelling by ``argmax over z of z'Ky`` while that aligns better.

    Power iteration, its iterates rounded to members of B: it ends near the leading eigenvectors of K, and costs two
    passes over the data per step. Where all of B is balanced (``sum y = 0``) that is K centred.
    """
    state = _at_ones(rows, label_set, options)
    drawn = sorted(_drawn(state, n_draws, rng), key=lambda candidate: -candidate.squared_norm)
    climbed = (climb(state, start) for start in drawn[: options.alignment_climbs])
    return max(climbed, key=lambda candidate: candidate.squared_norm).y


def aligned_clusters(
    rows: Rows, label_set: ClusterLabels, n_draws: int, rng: np.random.Generator, options: Options = Options()
) -> list[LabelArray]:
    """Well aligned halves of the rows and, where the rows allow it, what they become within the balance of B.

    Among halves alignment does not see the mean of the rows, which would else draw all of them into one cluster. Where
    rows are many, halves are found on some of them and carried over to all by the direction between their means.
    """
    some = rows.thinned(options.alignment_sample, rng)
    half = climb_alignment(some, ClusterLabels.halves(some.n_instances), n_draws, rng, options)
    if some is not rows:
        direction = some.combine(half.astype(np.float64)[:, None])
        return [ClusterLabels.halves(rows.n_instances).linear_oracle(rows.scores(direction)[:, 0])]
    if not rows.centred:
        return [half]
    state = _at_ones(rows, label_set, options)
    moved = label_set.oriented(climb(state, state.candidate(half)).y, half)
    return [half, moved]


def _at_ones(rows: Rows, label_set: LabelSet, options: Options) -> State:
    ones = np.ones(label_set.n_rows)
    return begin(rows, label_set, Losses.of("hinge", ones), ones, options)


def _drawn(state: State, n_draws: int, rng: np.random.Generator) -> list[Candidate]:
    return state.candidates([state.label_set.initial(rng) for _ in range(n_draws)])
