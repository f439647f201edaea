"""Label sets of groups, noise, candidates and parts side by side: exact oracles, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from checks import check_label_set, enumerate_labels
from wellsvm.labels import BalancedLabels, ClusterLabels, JoinedLabels, NoisyLabels, ProportionLabels, candidate_sets

CANDIDATES = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 1], [0, 1, 1], [1, 0, 1]], dtype=bool)
SETS = {
    "groups": ProportionLabels([0, 0, 0, 1, 1, 2, 2, 2], [1, 0, 2], [2, 1, 2]),
    "groups in any order": ProportionLabels([2, 0, 1, 0, 2, 1, 0], [1, 2, 0]),
    "groups with known labels": ProportionLabels([0, 0, 1, 1, 0, 1], [1, 1], y_known=[0, 0, 0, 1, 0, 0]),
    "one free group": ProportionLabels([0] * 7, [0], [7]),
    "noise": NoisyLabels([1, 1, -1, -1, 1, -1, 1], (1, 2)),
    "noise on one side": NoisyLabels([1, 1, -1, -1, 1, -1, 1], (0, 2)),
    "noise with trusted rows": NoisyLabels([1, 1, -1, -1, 1, -1, 1], (1, 2), [True] + [False] * 5 + [True]),
    "known labels beside groups": JoinedLabels(
        [([1, 4], BalancedLabels.known(np.array([1, -1]))), ([0, 2, 3, 5], ProportionLabels([0, 0, 1, 1], [1, 1]))]
    ),
    "noise beside clusters": JoinedLabels(
        [(np.arange(7) % 2 == 0, NoisyLabels([1, -1, 1, 1], (1, 1))), ([1, 3, 5], ClusterLabels(3, 1))]
    ),
    **{f"candidate {k}": labels for k, labels in enumerate(candidate_sets(CANDIDATES, np.array([3, 2, 2])))},
}


@pytest.mark.parametrize("name", SETS)
def test_the_oracle_is_exact_and_stays_in_the_set(name):
    check_label_set(SETS[name], np.random.default_rng(3))


def test_groups_are_what_their_counts_say():
    groups, low, high = np.array([0, 1, 0, 1, 0]), [1, 0], [2, 1]
    members = {tuple(y) for y in enumerate_labels(ProportionLabels(groups, low, high))}
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    wanted = {
        tuple(y)
        for y in signs
        if 1 <= np.count_nonzero(y[groups == 0] == 1) <= 2 and np.count_nonzero(y[groups == 1] == 1) <= 1
    }
    assert members == wanted


def test_one_group_is_the_balance():
    rng, y_known = np.random.default_rng(0), np.array([1, 0, 0, -1, 0, 0, 0])
    balanced, grouped = BalancedLabels(y_known, 1, 3), ProportionLabels([0] * 7, [1], [3], y_known)
    for _ in range(50):
        scores = rng.integers(-2, 3, 7).astype(float)
        np.testing.assert_array_equal(balanced.linear_oracle(scores), grouped.linear_oracle(scores))


def test_flips_go_to_the_rows_that_ask_most_and_no_further():
    labels = NoisyLabels([1, 1, 1, -1, -1], (1, 1))
    np.testing.assert_array_equal(labels.linear_oracle(np.array([-1.0, -3, 2, 5, 6])), [1, -1, 1, -1, 1])
    np.testing.assert_array_equal(labels.linear_oracle(np.array([1.0, 3, 2, -5, -6])), labels.y)


def test_a_row_without_a_say_keeps_its_given_label():
    labels = NoisyLabels([-1, 1, -1, 1], (2, 2))
    np.testing.assert_array_equal(labels.linear_oracle(np.zeros(4)), labels.y)


def test_candidates_are_certain_excluded_or_free():
    first, _, _ = candidate_sets(CANDIDATES, np.array([3, 2, 2]))
    np.testing.assert_array_equal(first.y_known, [1, 0, -1, 0, -1, -1, 0])
    assert (first.low, first.high) == (2, 2)


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: ProportionLabels([0, 0], [3]), "group 0 must satisfy"),
        (lambda: ProportionLabels([0, 0], [-1]), "low=-1"),
        (lambda: ProportionLabels([0, 1], [1, 1], [0, 1]), "high=0"),
        (lambda: ProportionLabels([0, 2], [1, 1]), "numbered from 0 to 1"),
        (lambda: ProportionLabels([-1, 0], [1]), "got -1"),
        (lambda: ProportionLabels([], []), "at least one row"),
        (lambda: ProportionLabels([0, 0], [1], y_known=[0]), "shapes"),
        (lambda: NoisyLabels([1, 0], (1, 1)), r"\+1 or -1"),
        (lambda: NoisyLabels([1, -1], (2, 0)), "flips"),
        (lambda: NoisyLabels([1, -1], (-1, 0)), "flips"),
        (lambda: NoisyLabels([1, -1], (1, 1), [True]), "trusted"),
        (lambda: JoinedLabels([]), "exactly once"),
        (lambda: JoinedLabels([([0, 0], ClusterLabels(2, 0))]), "exactly once"),
        (lambda: JoinedLabels([([0, 1, 2], ClusterLabels(2, 0))]), "was given 3 rows"),
    ],
)
def test_what_cannot_be_is_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make()
