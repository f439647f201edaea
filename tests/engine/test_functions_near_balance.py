"""Functions are moved to where the share of their positives is near the one asked for, and no farther."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.engine.functions import Functions
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.options import Options


def moved(f, n_low, n_high=None, n_labeled=0):
    """What becomes of a function with these values of unlabeled rows; labeled ones come first, and are far away."""
    values = np.concatenate([np.full(n_labeled, 100.0), f])[:, None]
    known = np.concatenate([np.ones(n_labeled, dtype=np.int8), np.zeros(len(f), dtype=np.int8)])
    given = Functions(np.zeros((1, 2)), np.zeros(1), values)
    found = given.near_balance([BalancedLabels(known, n_low, n_high)], Options.share_slack)
    np.testing.assert_allclose(found.values - values, found.intercepts[0])
    return found


@pytest.mark.parametrize("wanted", [20, 50, 90])
def test_positives_end_at_the_slack(wanted):
    f = np.random.default_rng(0).standard_normal(100) + 0.1
    n_positive, slack = np.count_nonzero(f > 0), int(Options.share_slack * 100)
    found = moved(f, wanted, n_labeled=7)
    expected = np.clip(n_positive, wanted - slack, wanted + slack)
    assert np.count_nonzero(found.values[7:] > 0) == expected


def test_what_is_near_enough_stays_as_it_is():
    f = np.linspace(-1, 1, 100)  # half of them positive
    near, far = (round(50 + 100 * Options.share_slack * part) for part in (0.8, 1.2))
    assert moved(f, near).intercepts == moved(f, 100 - near).intercepts == moved(f, 10, 60).intercepts == 0
    assert moved(f, far).intercepts > 0 > moved(f, 100 - far).intercepts


def test_where_all_rows_are_to_be_on_one_side_there_is_no_border():
    f = np.array([-2.0, 1.0, 3.0])
    assert moved(f, 0).intercepts == moved(f, 3).intercepts == moved(np.zeros(0), 0).intercepts == 0


def test_equal_values_are_not_parted():
    assert moved(np.ones(40), 20).intercepts == 0
    nearly = 1 + 1e-9 * np.arange(40)
    assert moved(nearly, 20).intercepts == 0
    groups = np.repeat([-3.0, -2.0, 1.0, 2.0], [40, 20, 30, 10])
    assert np.count_nonzero(moved(groups, 69).values > 0) == 60  # 59 are asked for, within the slack
    assert moved(groups, 10).intercepts == -1.5  # 20: 10 are nearer than the 40 that are there
    assert moved(groups, 60).intercepts == 0  # 50: 60 are no nearer


def test_a_border_that_is_nearer_already_stays():
    f = np.repeat([-1.0, 1.0], [70, 30])
    assert moved(f, 60).intercepts == 0  # 50 are asked for: all or 30 could be had
