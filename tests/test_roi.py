"""roi_success_rate on cases counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import Bags
from wellsvm.metrics import roi_success_rate

ROI = [[1, 0], [0, 1, 1], [1], [0, 0], [0, 1]]
RELEVANT = [True, True, True, False, False]


def test_all_found_is_one():
    assert roi_success_rate(RELEVANT, [0, 2, 0, -1, -1], ROI) == (1.0, 1.0, 1.0)


def test_rates_count_misses_wrong_places_and_false_alarms_apart():
    # bag 0 found; bag 1 in the wrong place; bag 2 missed; bags 3, 4 false alarms, even where the instance is marked
    rates = roi_success_rate(RELEVANT, [0, 0, -1, 1, 1], ROI)
    assert rates.of_relevant == pytest.approx(1 / 3)
    assert rates.of_located == pytest.approx(1 / 4)
    assert rates.success_rate == pytest.approx(2 * 1 / (3 + 4))


@pytest.mark.parametrize("located", [[0, 1, 0, 0, -1], [0, 1, -1, -1, -1], [0, 0, 0, 0, 0]])
def test_the_combined_rate_is_the_harmonic_mean_of_the_two(located):
    a, b, combined = roi_success_rate(RELEVANT, located, ROI)
    assert combined == pytest.approx(2 * a * b / (a + b))


def test_nothing_located_is_zero_not_an_error():
    assert roi_success_rate(RELEVANT, [-1] * 5, ROI) == (0.0, 0.0, 0.0)
    assert roi_success_rate([False], [-1], [[0]]) == (0.0, 0.0, 0.0)


def test_flat_marks_with_groups_or_bags_equal_marks_by_bag():
    groups = np.repeat(np.arange(5), [len(part) for part in ROI])
    flat, located = np.concatenate(ROI), [0, 0, 0, 1, -1]
    wanted = roi_success_rate(RELEVANT, located, ROI)
    order = np.random.default_rng(0).permutation(10)
    bags = Bags(np.zeros((10, 1)), groups[order])
    inside = {g: [flat[j] for j in order if groups[j] == g] for g in range(5)}
    assert roi_success_rate(RELEVANT, located, flat, groups) == wanted
    moved = roi_success_rate(RELEVANT, located, [inside[g] for g in range(5)])
    assert roi_success_rate(RELEVANT, located, flat[order], bags) == moved
    assert roi_success_rate(RELEVANT, located, flat[order], groups[order]) == moved


@pytest.mark.parametrize(
    "y, located, roi, match",
    [
        (["a", "b"], [0, 0], [[1], [1]], "boolean array"),
        ([True, False], [0, 5], [[1], [1]], "instance 5 of bag 1"),
        ([True, False], [0, -2], [[1], [1]], "or -1"),
        ([True, False], [0.5, 0.0], [[1], [1]], "index of an instance"),
        ([True, False], [0], [[1], [1]], "inconsistent"),
        ([True, False], [0, 0], [[1]], "inconsistent"),
    ],
)
def test_what_cannot_be_counted_is_refused(y, located, roi, match):
    with pytest.raises(ValueError, match=match):
        roi_success_rate(y, located, roi)
