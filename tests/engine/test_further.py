"""Before a run ends it climbs from many label vectors, where the relaxation is the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wellsvm.engine.cutting_plane import climb, cutting_plane
from wellsvm.engine.report import Relaxation, Status
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.solver import begin

N = 40


def relaxed(seed: int, seeks_further: bool) -> Relaxation:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 3))
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    known = np.where(np.arange(N) < 6, np.where(np.arange(N) % 2, 1, -1), 0).astype(np.int8)
    labels = BalancedLabels(known, (N - 6) // 2)
    options = replace(Options(), refine=False, min_decrease=1e-3, seeks_further=seeks_further)
    rows = GramRows(np.exp(-squared / squared.mean()), 1.0)
    losses = Losses.of("squared_hinge", np.where(known, 1.0, 0.2))
    state = begin(rows, labels, losses, None, options)
    return cutting_plane(state, [labels.initial(rng)], rng)


def test_objectives_are_lower_on_most_problems_and_much_lower_on_some():
    ratios = [relaxed(seed, True).solution.upper / relaxed(seed, False).solution.upper for seed in range(8)]
    assert np.median(ratios) < 1
    assert min(ratios) < 0.9
    assert max(ratios) < 1.01


def test_no_violated_label_is_said_only_where_climbing_from_those_in_use_finds_none():
    n_told = 0
    for seed in range(8):
        result = relaxed(seed, True)
        state = result.solution.state
        if result.status is Status.NO_VIOLATED_LABEL:
            n_told += 1
            most = max(climb(state, state.active(t)).squared_norm for t in range(len(state.labels)))
            violation = 0.5 * (most - result.solution.squared_norms.max())
            assert violation <= 1.01 * state.options.min_violation * result.solution.upper
        else:
            assert result.violation <= state.options.further_violation * result.solution.upper
    assert n_told < 8
