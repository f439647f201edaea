"""Assignments that keep all counts: the best there is, by scipy's solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from wellsvm.engine.assignment import apportion, assign, barred, half_leads


@pytest.mark.parametrize("seed", range(12))
def test_the_assignment_keeps_the_counts_and_has_the_largest_sum(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(3, 120)), int(rng.integers(2, 8))
    F = rng.standard_normal((n_rows, n_classes)) + 2 * rng.standard_normal(n_classes)
    if seed % 3 == 0:
        F = np.round(F)  # many ties
    counts = apportion(rng.dirichlet(np.full(n_classes, 0.7)), n_rows)
    classes, _ = assign(F, counts)
    np.testing.assert_array_equal(np.bincount(classes, minlength=n_classes), counts)
    columns = np.repeat(np.arange(n_classes), counts)
    best = F[:, columns][linear_sum_assignment(F[:, columns], maximize=True)].sum()
    assert F[np.arange(n_rows), classes].sum() == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_among_candidates_the_assignment_has_the_largest_sum_and_no_class_that_is_excluded(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(3, 80)), int(rng.integers(2, 8))
    F = 10.0 ** rng.integers(-3, 4) * (rng.standard_normal((n_rows, n_classes)) + 2 * rng.standard_normal(n_classes))
    truth = rng.integers(0, n_classes, n_rows)  # some assignment has these counts
    excluded = rng.random(F.shape) < 0.6
    excluded[np.arange(n_rows), truth] = False
    counts = np.bincount(truth, minlength=n_classes)
    classes, _ = assign(barred(F, excluded), counts)
    np.testing.assert_array_equal(np.bincount(classes, minlength=n_classes), counts)
    assert not excluded[np.arange(n_rows), classes].any()
    columns = np.repeat(np.arange(n_classes), counts)
    gains = np.where(excluded, -1e9, F)[:, columns]
    best = F[:, columns][linear_sum_assignment(gains, maximize=True)].sum()
    assert F[np.arange(n_rows), classes].sum() == pytest.approx(best, rel=1e-9, abs=1e-6)


def test_two_classes_are_cut_as_by_sorting_and_leads_are_distances_to_the_cut():
    f = np.random.default_rng(0).standard_normal(31)
    F = np.stack([-f, f], axis=1)
    classes, prices = assign(F, np.array([20, 11]))
    np.testing.assert_array_equal(classes == 1, f >= np.sort(f)[20])
    ordered = np.sort(f)
    cut = 0.5 * (ordered[19] + ordered[20])
    np.testing.assert_allclose(half_leads(F, classes, prices), np.abs(f - cut), atol=1e-12)


def test_apportioned_counts_sum_to_the_rows_and_stay_within_one_of_the_shares():
    shares = np.array([0.335, 0.335, 0.33])
    counts = apportion(shares, 10)
    assert counts.sum() == 10
    assert np.all(np.abs(counts - 10 * shares) < 1)
    np.testing.assert_array_equal(apportion(np.array([0.5, 0.5]), 3), [2, 1])
