"""Places of a Markdown page that a command writes anew: between ``<!-- kind name -->`` and ``<!-- end -->``.

Names are words, such as ``2``, ``figure-unlabeled`` or ``text_init seconds``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.internals import replacing

__all__ = ["check_places", "fill", "places"]


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(kind)} ([\w -]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def places(page: Path, kind: str) -> list[str]:
    """Names of the places of one kind in a page."""
    return [match[2] for match in _pattern(kind).finditer(page.read_text(encoding="utf-8"))]


def check_places(page: Path, kind: str, names: Sequence[str]) -> list[str]:
    """Of the names, those that a page has a place for; an error now, not after the work, where it has none."""
    if not page.is_file():
        raise ValueError(f"--fill: {page} is not a file; give a Markdown page with marked places")
    found = [name for name in names if name in places(page, kind)]
    if not found:
        raise ValueError(
            f"--fill: {page} has no place for {', '.join(names)}; "
            f"mark one by '<!-- {kind} {names[0]} -->' and '<!-- end -->'"
        )
    return found


def fill(page: Path, kind: str, sections: Mapping[str, str]) -> None:
    """Write sections into the places of one kind; places without a section stay as they are."""

    def made(match: re.Match[str]) -> str:
        section = sections.get(match[2])
        return match[0] if section is None else f"{match[1]}\n{section}\n\n{match[3]}"

    text = _pattern(kind).sub(made, page.read_text(encoding="utf-8"))
    with replacing(page) as file:
        file.write(text.encode("utf-8"))
