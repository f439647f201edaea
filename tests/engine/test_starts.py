"""First label vectors by alignment with the kernel."""

from __future__ import annotations

import numpy as np
import pytest

from checks import random_kernel
from wellsvm.engine.starts import aligned_clusters, best_aligned, climb_alignment
from wellsvm.labels import BalancedLabels, ClusterLabels
from wellsvm.options import Options
from wellsvm.rows import CentredRows, GramRows, LinearRows


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
