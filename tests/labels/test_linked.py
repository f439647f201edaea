"""Linked labels: the oracle against enumeration, what links imply, contradictions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from wellsvm.labels import LinkedLabels, Links


def pairs(*given):
    return np.array(given, dtype=np.int64).reshape(-1, 2)


def linked(n, must=(), cannot=(), balance=0.3):
    return LinkedLabels(Links.of(n, pairs(*must), pairs(*cannot)), balance)


CASES = {
    "no links": ((), ()),
    "disjoint pairs tied": (((0, 1), (4, 2)), ()),
    "disjoint pairs apart": ((), ((0, 1), (4, 2))),
    "a chain": (((0, 1), (1, 2), (5, 2)), ()),
    "tied and apart": (((0, 3), (1, 4)), ((0, 1), (5, 6))),
    "an even cycle": ((), ((0, 1), (1, 2), (2, 3), (3, 0))),
    "a star": ((), ((0, 1), (0, 2), (0, 3))),
    "twice and reversed": (((0, 1), (1, 0)), ((2, 3), (3, 2), (2, 3))),
    "a row tied to itself": (((5, 5),), ((1, 2),)),
}


def members(label_set, must, cannot, n):
    """All of B by its definition: links one by one, and the balance over groups whose sides differ."""
    for y in product((-1, 1), repeat=n):
        y = np.array(y, dtype=np.int8)
        if any(y[i] != y[j] for i, j in must) or any(y[i] == y[j] for i, j in cannot):
            continue
        sides = [int(np.sign(y[label_set.group == g].sum())) for g in range(label_set.net.size)]
        counted = [side for side in sides if side]
        allowed = label_set.among_counted
        if allowed is None or allowed.low <= counted.count(1) <= allowed.high:
            yield y


@pytest.mark.parametrize("balance", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("case", CASES)
def test_the_oracle_is_exact(case, balance):
    must, cannot = CASES[case]
    n, rng = 8, np.random.default_rng(0)
    label_set = linked(n, must, cannot, balance)
    allowed = list(members(label_set, must, cannot, n))
    assert allowed
    for _ in range(10):
        scores = rng.standard_normal(n)
        y = label_set.linear_oracle(scores)
        assert any(np.array_equal(y, z) for z in allowed)
        assert scores @ y == pytest.approx(max(scores @ z for z in allowed))


@pytest.mark.parametrize("case", CASES)
def test_membership_is_that_of_the_definition(case):
    must, cannot = CASES[case]
    label_set = linked(6 + 2, must, cannot)
    allowed = {tuple(y) for y in members(label_set, must, cannot, 8)}
    for y in product((-1, 1), repeat=8):
        assert label_set.contains(np.array(y, dtype=np.int8)) == (y in allowed)
    assert not label_set.contains(np.zeros(8, dtype=np.int8))


def test_without_links_it_is_the_set_of_clusters():
    rng, label_set = np.random.default_rng(1), linked(9, balance=0.3)
    for _ in range(20):
        scores = rng.standard_normal(9)
        np.testing.assert_array_equal(label_set.linear_oracle(scores), label_set.among_counted.linear_oracle(scores))


@pytest.mark.parametrize("case", CASES)
def test_halves_keep_the_links_and_as_many_groups_on_both_sides_as_can_be(case):
    must, cannot = CASES[case]
    label_set, rng = linked(6 + 2, must, cannot), np.random.default_rng(2)
    tight = linked(6 + 2, must, cannot, balance=0.0)
    for shift in (-10.0, 0.0, 10.0):  # where all scores are of one sign the balance decides alone
        assert tight.contains(label_set.halved(rng.standard_normal(8) + shift))


def test_ties_go_to_the_lower_index():
    np.testing.assert_array_equal(linked(4, must=((1, 3),), balance=0.0).linear_oracle(np.zeros(4)), [1, 1, -1, 1])


def test_links_are_transitive_and_components_are_numbered_by_their_first_row():
    links = Links.of(6, pairs((4, 2), (2, 0)), pairs((5, 4)))
    np.testing.assert_array_equal(links.component, [0, 1, 0, 2, 0, 3])
    label_set = linked(6, ((4, 2), (2, 0)), ((5, 4),))
    y = label_set.linear_oracle(np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.5]))
    assert y[0] == y[2] == y[4] == -y[5]


@pytest.mark.parametrize(
    "must, cannot, message",
    [
        (((0, 1), (1, 2)), ((2, 0),), "rows 2 and 0 apart, but must_link ties them"),
        ((), ((0, 1), (1, 2), (2, 0)), "contradict each other in two clusters"),
        (((0, 1),), ((0, 2), (2, 3), (3, 1)), "odd cycle"),
        (((0, 1), (1, 2), (2, 3), (3, 4)), (), "ties all 5 rows together"),
    ],
)
def test_contradictions_are_told_by_their_rows(must, cannot, message):
    with pytest.raises(ValueError, match=message):
        linked(5, must, cannot)
