"""Losses are what their names say, in the primal and in the dual."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.losses import Losses


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss, power", [("hinge", 1), ("squared_hinge", 2)])
def test_losses_are_what_their_names_say(loss, power, seed):
    rng = np.random.default_rng(seed)
    C, margins, rows = rng.choice([0.0, 0.5, 2.0], 9), 2 * rng.standard_normal(9), np.arange(1, 8)
    expected = sum(C[i] / power * max(0.0, 1 - margins[i]) ** power for i in rows)
    np.testing.assert_allclose(Losses.of(loss, C).total(margins, rows), expected, rtol=1e-13)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_loss_and_its_dual_part_are_conjugate(loss):
    # max over 0 <= a <= cap of a (1 - m) - ridge a^2 / 2 is the loss at margin m
    for C in (0.0, 0.5, 3.0):
        losses = Losses.of(loss, np.array([C]))
        grid = np.linspace(0.0, min(losses.cap[0], 10.0), 2001)
        for margin in (-1.5, 0.2, 1.0, 3.0):
            best = max(losses.dual_linear(np.array([a])) - a * margin for a in grid)
            np.testing.assert_allclose(losses.total(np.array([margin]), np.arange(1)), best, atol=1e-5)


def test_a_row_of_price_zero_has_no_loss_and_no_room_for_a_dual_variable():
    for loss in ("hinge", "squared_hinge"):
        losses = Losses.of(loss, np.array([0.0, 2.0]))
        assert losses.cap[0] == 0 < losses.cap[1]
        assert losses.total(np.array([-5.0, 2.0]), np.arange(2)) == 0.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_eased_losses_are_those_of_a_share_of_the_price(loss):
    C, rising = np.array([1.0, 2.0, 0.0, 4.0]), np.array([False, True, True, True])
    eased, expected = Losses.of(loss, C).eased(rising, 0.25), Losses.of(loss, np.where(rising, 0.25 * C, C))
    np.testing.assert_allclose(eased.cap, expected.cap, rtol=1e-15)
    np.testing.assert_allclose(eased.ridge, expected.ridge, rtol=1e-15)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_dual_variables_follow_their_prices_where_slacks_stay(loss):
    C, other = np.array([1.0, 2.0, 0.0, 4.0]), np.array([0.5, 6.0, 3.0, 0.0])
    before, after = Losses.of(loss, C), Losses.of(loss, other)
    slack = np.array([0.4, 0.7, 0.2, 0.9])
    alpha = C if loss == "hinge" else C * slack
    expected = np.where(C > 0, other if loss == "hinge" else other * slack, 0.0)
    np.testing.assert_allclose(before.carried(alpha, after), expected)
    np.testing.assert_allclose(before.carried(alpha, after, rise=False), np.minimum(expected, alpha))


def test_rows_that_all_have_a_ridge_are_computed_as_among_others():
    # one row without a price more takes the path of losses of both kinds
    rng = np.random.default_rng(0)
    C, other, margins = rng.uniform(0.1, 3.0, 40), rng.uniform(0.1, 3.0, 40), 2 * rng.standard_normal(40)
    rising, shares, alpha = rng.random(40) < 0.5, rng.uniform(0.1, 1.0, 40), rng.random(40)
    all_, some = (Losses.of("squared_hinge", C[:n] * (np.arange(n) < 39)) for n in (39, 40))
    to_all, to_some = (Losses.of("squared_hinge", other[:n]) for n in (39, 40))
    for rise in (True, False):
        carried = some.carried(alpha, to_some, rise)[:39]
        np.testing.assert_array_equal(all_.carried(alpha[:39], to_all, rise), carried)
    np.testing.assert_allclose(all_.total(margins[:39], None), some.total(margins, None), rtol=1e-14)
    eased = all_.eased(rising[:39], shares[:39].copy())
    for part, whole in zip(eased, some.eased(rising, shares.copy())):
        np.testing.assert_array_equal(part, whole[:39])
