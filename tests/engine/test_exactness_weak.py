"""Exactness on problems of other weak labels small enough to enumerate, as for the three tasks of the paper."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from checks import Problem as Enumerable
from checks import accurate, enumerate_labels, generic_master, mixed_integer_optimum
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.labels import (
    BalancedLabels,
    ClusterLabels,
    JoinedLabels,
    LinkedLabels,
    Links,
    NoisyLabels,
    ProportionLabels,
    candidate_sets,
)
from wellsvm.losses import Losses
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import begin

N = 8
TOL, BOUND, MASTER = 1e-5, 1e-5, 1e-4


def proportions(y, rng):
    return ProportionLabels(np.arange(N) // 4, [np.sum(y[:4] == 1), max(0, np.sum(y[4:] == 1) - 1)], [
        np.sum(y[:4] == 1), np.sum(y[4:] == 1)])  # fmt: skip


def noise(y, rng):
    flipped = np.where(np.arange(N) % 4 == 3, -y, y)
    counts = [int(np.sum(flipped == side)) for side in (-1, 1)]
    return NoisyLabels(flipped, (min(1, counts[0]), min(2, counts[1])))


def positives(y, rng):
    y_known = np.where((y > 0) & (np.arange(N) < 4), 1, 0)
    return BalancedLabels(y_known, int(np.sum((y > 0) & (y_known == 0))))


def candidates(y, rng):
    sets = rng.random((N, 3)) < 0.5
    sets[np.arange(N), np.where(y > 0, 0, 1)] = True
    return candidate_sets(sets, np.array([np.sum(y > 0), np.sum(y < 0), 0]))[0]


def joined(y, rng):
    return JoinedLabels(
        [([0, 1], BalancedLabels.known(y[:2])), (np.arange(2, N), ProportionLabels([0] * 3 + [1] * 3, [1, 2]))]
    )


def known_in_groups(y, rng):
    y_known = np.where(np.arange(N) % 4 == 0, y, 0)
    positives_left = [int(np.sum((y == 1) & (y_known == 0) & (np.arange(N) // 4 == g))) for g in (0, 1)]
    return ProportionLabels(np.arange(N) // 4, [max(0, n - 1) for n in positives_left], positives_left, y_known)


def noise_beside_clusters(y, rng):
    noisy, counts = y[:4], [int(np.sum(y[:4] == side)) for side in (-1, 1)]
    flips = (min(1, counts[0]), min(1, counts[1]))
    return JoinedLabels([(np.arange(4), NoisyLabels(noisy, flips)), (np.arange(4, N), ClusterLabels(4, 2))])


def linked(y, rng):
    return LinkedLabels(Links.of(N, np.array([[0, 2], [2, 5]]), np.array([[1, 3], [4, 6]])), 0.5)


KINDS = {
    f.__name__: f
    for f in (proportions, known_in_groups, noise, positives, candidates, joined, noise_beside_clusters, linked)
}
NO_CHOICE = ("candidates", "joined", "noise", "noise_beside_clusters")  # where one member can be the best alone


@lru_cache(maxsize=len(KINDS))
def campaign(kind):
    """Problems of a kind, linear and kernel, hinge and squared, and what the engine made of them."""
    solved = []
    for k in range(4):
        rng = np.random.default_rng([k, 23])
        y = rng.choice([-1, 1], N).astype(np.int8)
        y[:2] = 1, -1
        X = rng.standard_normal((N, 3)) + 0.7 * y[:, None]
        K = X @ X.T if k % 2 else np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 4)
        rows = LinearRows(X, 1.0) if k % 2 else GramRows(K, 1.0)
        losses = Losses.of(("hinge", "squared_hinge")[k // 2], np.full(N, rng.choice([0.3, 2.0])))
        problem = Enumerable(rows, KINDS[kind](y, rng), losses, K + 1.0)
        every = list(enumerate_labels(problem.label_set))
        optimum = generic_master(problem.K, problem.label_set, losses, every).value
        state = begin(*problem[:3], options=replace(accurate(TOL, "climb"), min_decrease=0.0))
        result = cutting_plane(state, [problem.label_set.initial(rng)], rng)
        solved.append((problem, result, optimum))
    return solved


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_final_master_has_the_optimum_of_a_generic_solver(kind):
    for problem, result, _ in campaign(kind):
        labels = result.solution.state.labels
        wanted = generic_master(problem.K, problem.label_set, problem.losses, labels).value
        assert -BOUND <= result.solution.upper / wanted - 1 <= MASTER


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_relaxation_lies_below_the_mixed_integer_optimum_and_is_reached(kind):
    below = 0
    for problem, result, optimum in campaign(kind):
        integer, _ = mixed_integer_optimum(problem)
        assert optimum <= integer * (1 + BOUND)
        assert result.solution.upper >= optimum * (1 - BOUND)
        assert result.solution.upper <= optimum * 1.01
        below += optimum < integer * (1 - 10 * BOUND)
    assert below or kind in NO_CHOICE, "strict on some problem, where there is a choice"
