"""Text from files and data made safe to show: no character that moves a cursor, no cell that a spreadsheet runs."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["as_cell", "shown"]

# Characters that end a line or change the order of reading, though they are no control characters.
ALSO = {"\u2028", "\u2029"}
# What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def shown(text: Any, keep: str = "") -> str:
    r"""Text with control characters written out, ``\x1b`` for the one that begins an escape sequence.

    Those in ``keep``, the end of a line for instance, stay.
    """
    return "".join(c if c in keep or not _acts(c) else c.encode("unicode_escape").decode() for c in str(text))


def _acts(character: str) -> bool:
    """Whether a terminal would do something else than to print it: control and format characters, lone surrogates."""
    if " " <= character <= "~":
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") or character in ALSO


def as_cell(text: str) -> str:
    """Text for a cell of a CSV file: an apostrophe before what a spreadsheet would run. Numbers stay as they are."""
    if not text.startswith(FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
