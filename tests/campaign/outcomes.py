"""What may come of an attack, and what may not.

Survived is a refusal in words (ValueError, TypeError, MemoryError, OSError or NotFittedError that some line of Python
raised on purpose) or a result that is sound. Everything else has the name of its failure.
"""

from __future__ import annotations

import linecache
import traceback
import warnings
from collections.abc import Callable
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


def _on_purpose(error: BaseException) -> bool:
    """Whether a line of Python says "raise": code that stumbles does not."""
    frames = traceback.extract_tb(error.__traceback__)
    if any(frame.filename.endswith(CHECKS) for frame in frames):
        return True
    return linecache.getline(frames[-1].filename, frames[-1].lineno or 0).lstrip().startswith("raise")


def _words(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:160]} ({last.filename.rsplit('/', 3)[-1]}:{last.lineno})"
