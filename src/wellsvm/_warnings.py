"""Where a warning points: at the caller's line, however many wrappers of scikit-learn lie between."""

from __future__ import annotations

import sys

__all__ = ["callers_level"]

OURS = ("wellsvm", "sklearn", "joblib", "contextlib")


def callers_level() -> int:
    """The ``stacklevel``, for the function that calls this, of the first frame outside of wellsvm and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in OURS:
        level, frame = level + 1, frame.f_back
    return level
