"""matplotlib, an optional dependency: imported when something is drawn, with a clear error where it is missing."""

from __future__ import annotations

from typing import Any

__all__ = ["import_pyplot"]


def import_pyplot() -> Any:
    """matplotlib.pyplot, or an error that names the extra."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is missing: pip install 'wellsvm[plot]'") from error
    return plt
