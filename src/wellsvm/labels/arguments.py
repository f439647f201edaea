"""What a label set may be made of: checks of its arguments, in words."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from wellsvm.options import Options

__all__ = ["as_array", "whole_number", "whole_numbers"]


def as_array(name: str, values: Any) -> np.ndarray:
    """The values as an array."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise ValueError(f"{name} is no array: {error}") from None


def whole_numbers(name: str, values: Any, dtype: DTypeLike, low: int, high: int = Options.largest_count) -> np.ndarray:
    """An array of a type, of whole numbers from ``low`` to ``high``; one that has the type is taken as it is."""
    array = as_array(name, values)
    if array.dtype == dtype:
        return array
    number = array.dtype.kind in "biuf"
    if not number or not np.all((array >= low) & (array <= high) & (array == np.trunc(array))):
        raise ValueError(f"{name} must be whole numbers from {low} to {high}; got {values!r:.80}")
    return array.astype(dtype)


def whole_number(name: str, value: Any) -> int:
    """One whole number that an array of int64 can hold."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not -Options.largest_count <= int(value) <= Options.largest_count
    ):
        raise TypeError(f"{name} must be a whole number of at most {Options.largest_count}; got {value!r:.80}")
    return int(value)
