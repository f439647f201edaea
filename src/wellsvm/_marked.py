"""Places of a Markdown page that a command writes anew: between ``<!-- kind name -->`` and ``<!-- end -->``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from wellsvm._files import replacing

__all__ = ["fill", "places"]


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(kind)} ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def places(page: Path, kind: str) -> list[str]:
    """Names of the places of one kind in a page."""
    return [match[2] for match in _pattern(kind).finditer(page.read_text(encoding="utf-8"))]


def fill(page: Path, kind: str, sections: Mapping[str, str]) -> None:
    """Write sections into the places of one kind; places without a section stay as they are."""

    def made(match: re.Match[str]) -> str:
        section = sections.get(match[2])
        return match[0] if section is None else f"{match[1]}\n{section}\n\n{match[3]}"

    text = _pattern(kind).sub(made, page.read_text(encoding="utf-8"))
    with replacing(page) as file:
        file.write(text.encode("utf-8"))
