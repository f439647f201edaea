"""First label vectors by alignment with the kernel."""

from __future__ import annotations

import numpy as np
import pytest

from checks import random_kernel
from wellsvm.engine.starts import aligned_clusters, best_aligned, best_relabelled, climb_alignment
from wellsvm.engine.task import Task
from wellsvm.labels import BalancedLabels, ClusterLabels, LinkedLabels, Links
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import CentredRows, GramRows, LinearRows
from wellsvm.solver import fit_svm


def alignment(K, y):
    return float(y.astype(float) @ K @ y)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_the_draws_is_taken_and_climbing_does_not_end_below_it(seed):
    rng = np.random.default_rng(seed)
    K, labels = random_kernel(rng, 12, rank=4), BalancedLabels(np.array([1, -1] + [0] * 10), 4, 6)
    by_hand = np.random.default_rng([seed, 1])
    drawn = max((labels.initial(by_hand) for _ in range(8)), key=lambda y: alignment(K, y))
    best = best_aligned(GramRows(K), labels, 8, np.random.default_rng([seed, 1]))
    np.testing.assert_array_equal(best, drawn)
    climbed = climb_alignment(GramRows(K), labels, 8, np.random.default_rng([seed, 1]))
    assert labels.contains(climbed)
    assert alignment(K, climbed) >= alignment(K, best) * (1 - 1e-12)
    slope = K @ climbed
    assert slope @ labels.linear_oracle(slope) <= slope @ climbed * (1 + 1e-9), "it could climb on"


@pytest.mark.parametrize("make", [CentredRows, LinearRows, lambda X: GramRows(X @ X.T)])
def test_two_clouds_are_halved_on_every_form_of_rows_and_on_some_of_them(make):
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(60) % 2, 1, -1)
    X = rng.standard_normal((60, 3)) + 4.0 * np.outer(truth, [1.0, 1.0, 0.0])
    for sample in (10_000, 20):
        options, labels = Options(alignment_sample=sample), ClusterLabels.of_share(60, 0.3)
        for y in aligned_clusters(make(X), labels, 20, rng, options):
            assert labels.contains(y)
            assert abs(int(y.astype(int) @ truth)) == 60


def of_some(n):
    return ClusterLabels.of_share(n, 0.3)


def two_clouds(n=60, apart=1.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(n) % 2, 1, -1)
    return rng.standard_normal((n, 3)) + apart * np.outer(truth, [1.0, 1.0, 0.0]), truth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [CentredRows, lambda X: GramRows(X @ X.T)])
def test_the_best_start_has_a_lower_objective_than_those_of_alignment(make, seed):
    X, _ = two_clouds(seed=seed)
    rows, labels, losses = make(X), ClusterLabels.of_share(60, 0.3), Losses.of("hinge", np.full(60, 0.1))
    options, rng = Options(tol=1e-4), np.random.default_rng(seed)
    best = best_relabelled(Task(rows, labels, losses), of_some, 20, rng, options)
    assert labels.contains(best.y)

    def objective(y):
        return fit_svm(rows, BalancedLabels.known(y), losses, y, tol=1e-4, rng=rng, options=options).upper

    others = aligned_clusters(rows, labels, 20, np.random.default_rng(seed), options)
    assert objective(best.y) <= min(map(objective, others)) * (1 + 1e-2)
    assert objective(labels.linear_oracle(best.scores())) >= objective(best.y) * (1 - 1e-2), "it has settled"


@pytest.mark.parametrize("links", [False, True])
@pytest.mark.parametrize("make", [CentredRows, LinearRows])
def test_a_start_found_on_some_rows_is_carried_over_to_all(make, links):
    X, truth = two_clouds(400, apart=3.0)
    labels = ClusterLabels.of_share(400, 0.3)
    if links:
        labels = LinkedLabels(Links.of(400, np.array([[0, 2], [4, 5]]), np.array([[1, 8], [7, 9]])), 0.3)
    options, rng = Options(tol=1e-2, alignment_sample=100, k_means_sample=50), np.random.default_rng(0)
    losses = Losses.of("hinge", np.full(400, 0.1))
    best = best_relabelled(Task(make(X), labels, losses), of_some, 20, rng, options)
    assert labels.contains(best.y)
    assert abs(int(best.y.astype(int) @ truth)) >= 390
    (halves,) = aligned_clusters(make(X), labels, 20, rng, options)
    assert labels.contains(halves)
    assert abs(int(halves.astype(int) @ truth)) >= 390
