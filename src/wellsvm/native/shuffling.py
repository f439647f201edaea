"""Orders drawn from a seed, the same as those of the compiled module (cpp/gram_cd.hpp)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = ["random_numbers", "shuffle"]


def random_numbers(state: int) -> Iterator[int]:
    """Numbers of 64 bits that look random: SplitMix64 of Steele, Lea and Flood."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def shuffle(order: np.ndarray, random: Iterator[int]) -> None:
    """Put fewer than 2^32 rows into an order by these numbers, in place (Fisher and Yates)."""
    for k in range(len(order) - 1, 0, -1):
        chosen = ((next(random) >> 32) * (k + 1)) >> 32
        order[k], order[chosen] = order[chosen], order[k]
