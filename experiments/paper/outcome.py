"""What an experiment gives back."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Outcome"]


class Outcome(NamedTuple):
    """The figure that the table compares, CPU seconds with the choice of parameters, label vectors, what was chosen."""

    value: float
    seconds: float
    n_iter: int | None = None
    chosen: dict[str, Any] | None = None
