"""Parameters that several estimators have, checked: prices, weights and seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from wellsvm._typing import FloatArray
from wellsvm.estimators.base import number
from wellsvm.options import Options

__all__ = ["price", "require_class", "require_prices", "seed_of"]


def price(name: str, value: Any, *, open_low: bool = True) -> float:
    """Check a price C of the loss."""
    checked = number(name, value, low=0.0, open_low=open_low)
    if not (checked == 0 or Options.least_price <= checked <= Options.largest_price):
        limits = f"between {Options.least_price:g} and {Options.largest_price:g}"
        raise ValueError(f"{name} must be {limits}; got {name}={value!r}")
    return checked


def require_prices(prices: FloatArray, weights: str) -> None:
    """Refuse prices that overflow once they are multiplied with the weights of that name; the least become 0."""
    prices[prices < Options.least_price] = 0.0
    bad = np.flatnonzero(~(prices <= Options.largest_price))
    if bad.size:
        raise ValueError(
            f"C times {weights} is {prices[bad[0]]:g} for row {bad[0]}; at most {Options.largest_price:g} is allowed: "
            f"scale {weights} down, for instance to a mean of 1"
        )


def require_class(name: str, value: Any) -> None:
    """Refuse what cannot name a class: a class is a number or a word. None is for whoever needs no name."""
    if value is not None and not isinstance(value, (str, bool, int, float, np.number, np.bool_)):
        raise TypeError(f"{name} must be a class, that is a number or a word; got {name}={value!r:.80}")


def seed_of(random_state: Any) -> int:
    """A seed drawn from ``random_state``, which is checked."""
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"random_state must be None, a whole number from 0 to {2**32 - 1} or a numpy.random.RandomState; got "
            f"random_state={random_state!r}"
        ) from error
