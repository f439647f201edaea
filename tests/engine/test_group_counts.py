"""How likely counts of groups are: against sums over all labels, and where a descent on them leads."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from wellsvm.engine.group_counts import GroupCounts
from wellsvm.engine.group_judgement import judge_groups
from wellsvm.engine.likely_counts import likely_counts, likely_path, likely_scores
from wellsvm.labels import ProportionLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.coordinates import coordinates_of

OPTIONS = Options()
GROUPS = np.array([0, 2, 0, 1, 1, 2, 2, 0, 2, 3, 4, 5, 5])
KNOWN = np.array([0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0])
LABELS = ProportionLabels(GROUPS, [1, 0, 4, 0, 0, 0], [2, 0, 4, 1, 0, 1], KNOWN)
RNG = np.random.default_rng(0)
C = RNG.random(GROUPS.size) + 0.1


def by_enumeration(f):
    """Loss and chances of all labels, one by one."""
    p, value, q = expit(f), 0.0, expit(f)
    for g in range(LABELS.low.size):
        free = np.flatnonzero((g == GROUPS) & (KNOWN == 0))
        allowed = [
            y for y in product([0, 1], repeat=free.size) if free.size and LABELS.low[g] <= sum(y) <= LABELS.high[g]
        ]
        chances = [np.prod(np.where(y, p[free], 1 - p[free])) for y in allowed]
        if chances:
            value -= C[free].mean() * np.log(sum(chances))
            q[free] = np.array(chances) @ np.array(allowed) / sum(chances)
    known = KNOWN != 0
    return value + C[known] @ np.logaddexp(0, -KNOWN[known] * f[known]), q


@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
def test_loss_and_slopes_are_those_of_all_labels(scale):
    f = scale * RNG.standard_normal(GROUPS.size)
    value, slopes = GroupCounts(LABELS, C, OPTIONS).loss(f)
    if scale < 300:  # chances of 1e-100 and less are beyond the enumeration
        wanted, q = by_enumeration(f)
        assert value == pytest.approx(wanted, rel=1e-10)
        told = [g for g in range(6) if (LABELS.low[g] > 0 or LABELS.high[g] < LABELS.sizes[g])]
        for g in told:
            free = np.flatnonzero((g == GROUPS) & (KNOWN == 0))
            np.testing.assert_allclose(slopes[free], C[free].mean() * (expit(f) - q)[free], atol=1e-10)
    assert np.isfinite(value)
    assert np.all(np.isfinite(slopes))


@pytest.mark.parametrize("exact_group", [64, 1])
def test_slopes_are_derivatives(exact_group):
    counts = GroupCounts(LABELS, C, replace(OPTIONS, exact_group=exact_group))
    f, step = 2 * RNG.standard_normal(GROUPS.size), 1e-5
    numeric = [(counts.loss(f + step * e)[0] - counts.loss(f - step * e)[0]) / (2 * step) for e in np.eye(f.size)]
    np.testing.assert_allclose(counts.loss(f)[1], numeric, atol=1e-7)


def test_a_loss_is_the_sum_of_its_groups_however_they_are_cut():
    groups = RNG.permutation(np.repeat(np.arange(40), RNG.integers(1, 12, 40)))
    sizes = np.bincount(groups)
    labels, f = ProportionLabels(groups, sizes // 3), RNG.standard_normal(groups.size)
    counts = GroupCounts(labels, np.ones(f.size), OPTIONS)
    pieces = GroupCounts(labels, np.ones(f.size), replace(OPTIONS, count_entries=1))
    assert len(pieces.blocks) > len(counts.blocks)
    assert counts.loss(f)[0] == pytest.approx(counts.of_groups(f).sum())
    assert pieces.loss(f)[0] == pytest.approx(counts.loss(f)[0])
    np.testing.assert_allclose(pieces.loss(f)[1], counts.loss(f)[1])


def test_in_large_groups_the_shift_tells_nearly_the_same():
    labels, f = ProportionLabels(np.zeros(60, dtype=int), [20]), RNG.standard_normal(60)
    exact, shifted = (
        GroupCounts(labels, np.ones(60), replace(OPTIONS, exact_group=most)).loss(f)[1] for most in (64, 1)
    )
    np.testing.assert_allclose(shifted, exact, atol=0.01)
    assert np.abs(shifted - exact).max() > 1e-6


def groups_of(truth, size):
    groups = np.arange(truth.size) // size
    return ProportionLabels(groups, np.bincount(groups, weights=truth > 0).astype(int))


def overlapping(distance, n=400, seed=1):
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.3, 1, -1)
    X = rng.standard_normal((n, 3)) * [1.0, 5.0, 1.0] + distance * np.outer(truth > 0, [1, 0, 0])
    return np.ascontiguousarray(X), truth


@pytest.mark.parametrize("kernel", ["linear", "gram"])
@pytest.mark.parametrize("offset", [True, False])
def test_counts_become_likelier_along_the_prices(kernel, offset):
    X, truth = overlapping(distance=2.5)
    rows = LinearRows(X, 1.0) if kernel == "linear" else GramRows(X @ X.T, 1.0)
    labels, prices = groups_of(truth, 8), np.full(truth.size, 2.0)
    coordinates = coordinates_of(rows, np.arange(0), np.random.default_rng(0), OPTIONS)
    counts = GroupCounts(labels, prices, OPTIONS)
    losses = [counts.loss(p.f)[0] for p in likely_path(coordinates, labels, prices, (0.01, 0.1, 1.0), offset, OPTIONS)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < counts.loss(np.zeros(truth.size))[0]
    last = likely_counts(coordinates, labels, Losses.of("hinge", prices), OPTIONS, 1.0, offset)
    assert counts.loss(last.f)[0] <= losses[-1] * (1 + 1e-3)
    assert not offset or np.mean((last.f > 0) == (truth > 0)) > 0.85, "0.7 are negative"
    assert offset or last.offset == 0.0


def test_overlapping_classes_are_not_searched_for_and_separate_ones_may_be():
    X, truth = overlapping(distance=1.0)
    rows, prices = LinearRows(X, 1.0), np.full(truth.size, 2.0)
    verdict = judge_groups(rows, [groups_of(truth, 8)], "squared_hinge", prices, 0, OPTIONS)
    assert not verdict.searches
    assert verdict.price in OPTIONS.group_prices
    few = judge_groups(rows, [groups_of(truth, 100)], "squared_hinge", prices, 0, OPTIONS)
    assert few == (OPTIONS.group_price, False), "too few groups to hold any out"


@pytest.mark.parametrize("make", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)])
def test_scores_of_many_rows_are_found_on_some_groups_and_agree_with_those_of_all(make):
    rng = np.random.default_rng(1)
    y = rng.random(1200) < 0.4
    X = rng.standard_normal((1200, 4)) + np.where(y, 1.0, -1.0)[:, None]
    groups = np.arange(1200) // 8
    labels = ProportionLabels(groups, np.bincount(groups, weights=y).astype(int))
    few = labels.some_groups(300, 1, np.random.default_rng(0))
    assert few.size == 296, "37 whole groups: one more would be all of 300 rows and above"
    assert labels.part(few).contains(np.where(y, 1, -1).astype(np.int8)[few])
    losses = Losses.of("hinge", np.full(1200, 0.1))
    (whole,), (some,) = (
        likely_scores(make(X), [labels], losses, 0.1, True, np.random.default_rng(0), replace(OPTIONS, searched_rows=n))
        for n in (600, 300)
    )
    assert np.mean((some > 0) == (whole > 0)) > 0.95
    assert np.corrcoef(some, whole)[0, 1] > 0.98
    assert not np.array_equal(some, whole)
