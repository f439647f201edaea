"""What users set: checks of parameters and of what label sets are made of.

Every error names the argument, its value and what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from wellsvm._files import as_path
from wellsvm._typing import FloatArray
from wellsvm.options import Options

__all__ = [
    "as_array", "at_least", "at_most", "choice", "flag", "number", "path", "price", "require_class", "require_prices",
    "sample_weights", "seed_of", "sequence", "threads", "whole_number", "whole_numbers",
]  # fmt: skip


def number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, open_low: bool = False) -> float:
    """Check a finite real number in ``[low, high]``, or ``(low, high]`` if ``open_low``."""
    allowed = f"a finite number {'greater than' if open_low else 'of at least'} {low:g}"
    if low == -math.inf:
        allowed = "a finite number"
    if high < math.inf:
        allowed += f" and at most {high:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}; got {value!r} of type {type(value).__name__}")
    try:
        real = float(value)
    except OverflowError:
        real = math.inf
    inside = low < real <= high if open_low else low <= real <= high
    if not math.isfinite(real) or not inside:
        raise ValueError(f"{name} must be {allowed}; got {name}={value!r}")
    return real


def flag(name: str, value: Any) -> bool:
    """Check True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r} of type {type(value).__name__}")
    return bool(value)


def whole_number(name: str, value: Any, *, low: int, high: int = Options.most_whole_number) -> int:
    """Check a whole number of at least ``low`` and at most ``high``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be a whole number of at least {low}; got {value!r} of type {type(value).__name__}"
        )
    whole = int(value)
    if not low <= whole <= high:
        limit = f" and at most {high}" if whole > high else ""
        raise ValueError(f"{name} must be a whole number of at least {low}{limit}; got {name}={value!r}")
    return whole


def as_array(name: str, values: Any) -> np.ndarray:
    """The values as an array."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise ValueError(f"{name} is not an array: {error}") from None


def whole_numbers(name: str, values: Any, dtype: DTypeLike, low: int, high: int = Options.largest_count) -> np.ndarray:
    """An array of a type, of whole numbers from ``low`` to ``high``; one that has the type is taken as it is."""
    array = as_array(name, values)
    if array.dtype == dtype:
        return array
    number = array.dtype.kind in "biuf"
    if not number or not np.all((array >= low) & (array <= high) & (array == np.trunc(array))):
        raise ValueError(f"{name} must be whole numbers from {low} to {high}; got {values!r:.80}")
    return array.astype(dtype)


def at_least(count: float) -> int:
    """The least whole number that is not below a count; the last bits of a product such as 0.29 * 100 are forgiven."""
    return math.ceil(count - Options.rounding * max(1.0, abs(count)))


def at_most(count: float) -> int:
    """The largest whole number that is not above a count, as forgiving as `at_least`."""
    return math.floor(count + Options.rounding * max(1.0, abs(count)))


def choice(name: str, value: Any, allowed: Collection[str], also: str = "") -> str:
    """Check one of some words; ``also`` names what else the caller accepts."""
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {listed}{also}; got {name}={value!r}")
    return value


def threads(value: Any) -> int | None:
    """Check ``n_jobs``."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise TypeError(f"n_jobs must be a whole number or None; got {value!r} of type {type(value).__name__}")
    if value is not None and int(value) == 0:
        raise ValueError("n_jobs must not be 0; use None or 1 for one thread, -1 for all processors")
    return None if value is None else int(value)


def path(name: str, value: Any) -> None:
    """Check the path of a file, or None."""
    if value is not None:
        as_path(value, name)


def price(name: str, value: Any, *, open_low: bool = True) -> float:
    """Check a price C of the loss."""
    checked = number(name, value, low=0.0, open_low=open_low)
    if not (checked == 0 or Options.least_price <= checked <= Options.largest_price):
        limits = f"between {Options.least_price:g} and {Options.largest_price:g}"
        raise ValueError(f"{name} must be {limits}; got {name}={value!r}")
    return checked


def sequence(name: str, values: Any) -> list[Any]:
    """Values to try, at least one; what is no sequence is the only one."""
    is_array = hasattr(values, "__array__") and np.ndim(values) > 0
    several = is_array or isinstance(values, (list, tuple, set, range))
    given = list(values) if several else [values]
    if not given:
        raise ValueError(f"{name} is empty; pass at least one value, or None for the default")
    return given


def sample_weights(values: Any, X: Any) -> FloatArray:
    """Check weights of the rows of X; None is 1 for all."""
    try:
        return np.asarray(_check_sample_weight(values, X, dtype=np.float64, ensure_non_negative=True))
    except (TypeError, ValueError) as error:
        raise type(error)(str(error) if "sample_weight" in str(error) else f"sample_weight: {error}") from error


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
