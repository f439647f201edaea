"""What may come of an attack, and what may not.

Survived is a refusal in words (ValueError, TypeError, MemoryError, OSError or NotFittedError that some line of Python
raised on purpose) or a result that is sound. Everything else has the name of its failure.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

FAILURES = ("crash", "hang", "wrong result", "internal error", "memory", "half-written file", "warning")
REFUSALS = (ValueError, TypeError, MemoryError, OSError, ImportError)
# Whose errors about input are words for users, though C code raises some of them.
CHECKS = ("sklearn/utils/validation.py", "sklearn/utils/_array_api.py", "sklearn/utils/class_weight.py")


def outcome_of(act: Callable[[], Any]) -> tuple[str, str]:
    """Do it, and tell what came of it: ("refused" | "accepted" | a failure, its words)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act()
        except REFUSALS as error:
            if isinstance(error, (UnicodeError, IsADirectoryError)) or not _on_purpose(error):
                return "internal error", _words(error)
            told = "refused", str(error)[:200]
        except AssertionError as error:
            return "wrong result", _words(error)
        except Exception as error:
            return "internal error", _words(error)
        else:
            told = "accepted", ""
    leaked = [warning for warning in caught if issubclass(warning.category, RuntimeWarning)]
    if leaked:
        return "warning", f"{leaked[0].filename}:{leaked[0].lineno}: {leaked[0].message}"
    return told


def _places(error: BaseException) -> list[tuple[str, int]]:
    """File and line of every frame, the innermost last. `traceback` does the same in ten times the time."""
    places, frame = [], error.__traceback__
    while frame is not None:
        places.append((frame.tb_frame.f_code.co_filename, frame.tb_lineno))
        frame = frame.tb_next
    return places


def _on_purpose(error: BaseException) -> bool:
    """Whether a line of Python says "raise": code that stumbles does not."""
    places = _places(error)
    return any(name.endswith(CHECKS) for name, _ in places) or _raises(*places[-1])


@cache
def _raises(filename: str, line: int) -> bool:
    return linecache.getline(filename, line).lstrip().startswith("raise")


def _words(error: BaseException) -> str:
    filename, line = _places(error)[-1]
    return f"{type(error).__name__}: {str(error)[:160]} ({filename.rsplit('/', 3)[-1]}:{line})"
