"""Where values are cut into two: in the valley of their density, if there is one."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.estimators.cuts import choose_cut, deepest_valley
from wellsvm.labels import ClusterLabels


def humps(*parts, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(middle, spread, n) for middle, spread, n in parts])


@pytest.mark.parametrize("scale, shift", [(1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 50.0)])
@pytest.mark.parametrize("n_small", [40, 200, 400])
def test_the_cut_lies_between_two_humps_of_any_size_scale_and_place(n_small, scale, shift):
    values = scale * (humps((5.0, 0.5, 400), (9.0, 0.5, n_small)) + shift)
    assert 6.4 < deepest_valley(values, 0.05) / scale - shift < 7.6


def test_zero_is_kept_where_it_lies_as_deep():
    assert deepest_valley(humps((-4.0, 0.3, 100), (5.0, 0.3, 100)), 0.05) == 0.0


@pytest.mark.parametrize("values", [np.zeros(10), np.full(7, 1e6), np.arange(400.0), np.array([0.0, 1.0])])
def test_values_without_a_valley_are_not_cut_there(values):
    found = deepest_valley(values, 0.05)
    assert found is None or values.min() < found < values.max()
    if np.ptp(values) == 0 or values.size == 400:
        assert found is None


def test_a_few_outliers_are_no_cluster():
    values = humps((0.5, 1.0, 500), (40.0, 0.1, 5))
    found = deepest_valley(values, 0.05)
    assert found is None or np.count_nonzero(values > found) >= 0.05 * values.size


def test_a_cut_elsewhere_than_at_zero_keeps_the_balance_asked_for():
    values, labels = np.arange(10.0), ClusterLabels.of_share(10, 0.4)
    for at, n_positive in ((1.5, 7), (4.5, 5), (8.5, 3)):
        y, threshold, ties_split = choose_cut(values, labels, 1e-9, at=at)
        assert np.count_nonzero(y > 0) == n_positive
        assert not ties_split
        np.testing.assert_array_equal(y > 0, values > threshold)
