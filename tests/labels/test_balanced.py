"""Labels with known entries and a balance: the oracle is exact, feasible, and breaks ties by row index."""

from __future__ import annotations

import numpy as np
import pytest

from checks import KeyInstances, check_label_set, enumerate_labels
from wellsvm.labels import BalancedLabels
from wellsvm.labels.balanced import largest, positive_bounds


@pytest.mark.parametrize(
    "y_known, low, high",
    [
        ([1, -1, 0, 0, 0, 0, 0], 2, 2),  # Joachims' constraint
        ([1, -1, 0, 0, 0, 0, 0], 1, 3),  # an interval
        ([0, 0, 0, 1, 0, 0, -1, 0], 0, 6),  # no constraint
        ([0, 1, 0, -1, 0, 1, 0], 0, 0),  # no positives
        ([0, 1, 0, -1, 0, 1, 0], 4, 4),  # all positives
        ([1, -1, 1], 0, 0),  # nothing to choose
        ([0, 0, 0, 0, 0], 2, 3),  # nothing known
    ],
)
def test_balanced_labels_keep_the_contract_of_label_sets(y_known, low, high):
    check_label_set(BalancedLabels(np.array(y_known), low, high), np.random.default_rng(0))


@pytest.mark.parametrize("v", [1, 2])
def test_the_checks_hold_for_rows_of_several_instances_too(v):
    check_label_set(KeyInstances([3, 1, 2, 1], v), np.random.default_rng(v))


@pytest.mark.parametrize("seed", range(5))
def test_enumeration_counts_binomially_many_label_vectors(seed):
    rng = np.random.default_rng(seed)
    known = rng.choice([-1, 0, 0, 1], 8)
    free = int(np.count_nonzero(known == 0))
    low = int(rng.integers(free + 1))
    high = int(rng.integers(low, free + 1))
    every = list(enumerate_labels(BalancedLabels(known, low, high)))
    binomial = [1]
    for k in range(free):
        binomial.append(binomial[-1] * (free - k) // (k + 1))
    assert len(every) == sum(binomial[low : high + 1])
    assert len({y.tobytes() for y in every}) == len(every)


def test_rows_without_influence_are_labeled_by_index():
    # alpha = 0 gives r = 0: with an equality the first rows become positive.
    y = BalancedLabels(np.array([-1, 0, 0, 0, 0]), 2).linear_oracle(np.zeros(5))
    np.testing.assert_array_equal(y, [-1, 1, 1, -1, -1])


def test_scores_of_known_rows_change_nothing():
    labels = BalancedLabels(np.array([1, -1, 0, 0, 0, 0]), 1, 3)
    scores = np.array([0.0, 0.0, 0.3, -0.2, 0.1, -0.5])
    y = labels.linear_oracle(scores)
    scores[:2] = -100.0, 100.0
    np.testing.assert_array_equal(labels.linear_oracle(scores), y)
    np.testing.assert_array_equal(y, [1, -1, 1, -1, 1, -1])


def test_membership_asks_for_known_labels_balance_and_signs():
    labels = BalancedLabels(np.array([1, -1, 0, 0, 0]), 1, 2)
    assert labels.contains(np.array([1, -1, 1, -1, -1], np.int8))
    assert labels.contains(np.array([1, -1, 1, 1, -1], np.int8))
    assert not labels.contains(np.array([1, -1, 1, 1, 1], np.int8))  # too many positives
    assert not labels.contains(np.array([1, -1, -1, -1, -1], np.int8))  # too few
    assert not labels.contains(np.array([-1, -1, 1, -1, -1], np.int8))  # a known label flipped
    assert not labels.contains(np.array([1, -1, 1, 0, -1], np.int8))  # an undecided row


@pytest.mark.parametrize("low, high", [(-1, 2), (2, 1), (0, 4), (4, 4)])
def test_bounds_that_no_labelling_meets_are_refused(low, high):
    with pytest.raises(ValueError, match="3 unlabeled rows"):
        BalancedLabels(np.array([1, 0, 0, 0]), low, high)


@pytest.mark.parametrize(
    "balance, expected",
    [
        ("labels", (7, 7)),  # 3 of 4 labels are positive: 7.5 of 10
        (0.29, (2, 2)),
        (0.7, (7, 7)),  # 0.7 * 10 is not quite 7
        (0.0, (0, 0)),
        (1.0, (10, 10)),
        (None, (0, 10)),
        ((0.25, 0.75), (3, 7)),
        ((0.3, 0.3), (3, 3)),
        ((0.31, 0.35), (3, 3)),  # no whole number inside: the next below
    ],
)
def test_balance_becomes_bounds_on_the_number_of_positives(balance, expected):
    y_known = np.array([1, 1, 1, -1] + [0] * 10, np.int8)
    low, high = positive_bounds(balance, y_known)
    assert (low, high) == expected
    BalancedLabels(y_known, low, high)


def test_balance_of_shares_forgives_rounding_at_every_size():
    for n_free in range(1, 200):
        y_known = np.zeros(n_free + 1, np.int8)
        y_known[0] = 1
        for n_positive in range(n_free + 1):
            assert positive_bounds(n_positive / n_free, y_known) == (n_positive, n_positive)


def test_the_largest_are_those_a_stable_sort_puts_first():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 40):
        for _ in range(20):
            scores = rng.integers(-2, 3, n).astype(float) * rng.choice([1.0, 0.0])  # many ties, both zeros
            for k in range(n + 1):
                expected = np.zeros(n, dtype=bool)
                expected[np.argsort(-scores, kind="stable")[:k]] = True
                np.testing.assert_array_equal(largest(scores, k), expected)
