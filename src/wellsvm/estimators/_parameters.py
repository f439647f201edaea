"""Checks of parameters: every error names the parameter, its value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["choice", "flag", "number", "whole_number"]


def number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, open_low: bool = False) -> float:
    """Check a finite real number in ``[low, high]``, or ``(low, high]`` if ``open_low``."""
    allowed = f"a finite number {'greater than' if open_low else 'of at least'} {low:g}"
    if low == -math.inf:
        allowed = "a finite number"
    if high < math.inf:
        allowed += f" and at most {high:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}; got {value!r} of type {type(value).__name__}")
    real = float(value)
    inside = low < real <= high if open_low else low <= real <= high
    if not math.isfinite(real) or not inside:
        raise ValueError(f"{name} must be {allowed}; got {name}={value!r}")
    return real


def flag(name: str, value: Any) -> bool:
    """Check True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r} of type {type(value).__name__}")
    return bool(value)


def whole_number(name: str, value: Any, *, low: int) -> int:
    """Check a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be a whole number of at least {low}; got {value!r} of type {type(value).__name__}"
        )
    if value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}; got {name}={value!r}")
    return int(value)


def choice(name: str, value: Any, allowed: Collection[str], also: str = "") -> str:
    """Check one of some words; ``also`` names what else the caller accepts."""
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {listed}{also}; got {name}={value!r}")
    return value
