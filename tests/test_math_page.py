"""Every row of docs/math.md that says where an equation lives points to a file, and to a name in it, that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "math.md"
ROW = re.compile(r"^\| \((\d+)\) \|.*\| ([^|]+) \|$", re.MULTILINE)
PLACE = re.compile(r"`([\w.]+)` in `([\w/]+\.py)`")
pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="a source archive without docs")


def found(path: str) -> Path:
    """The file that a row means: below src/wellsvm, or a test."""
    return ROOT / path if path.startswith("tests/") else ROOT / "src" / "wellsvm" / path


def broken(places: str) -> list[str]:
    """What a row names and is not there."""
    wrong = [path for path in re.findall(r"`([\w/]+\.py)`", places) if not found(path).is_file()]
    for name, path in PLACE.findall(places):
        text = found(path).read_text(encoding="utf-8") if found(path).is_file() else ""
        wrong += [f"{part} in {path}" for part in name.split(".") if not re.search(rf"(?:def|class) {part}\b", text)]
    return wrong


def rows() -> dict[int, str]:
    return {int(number): places for number, places in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def test_all_equations_of_the_paper_have_a_row():
    assert set(rows()) == set(range(1, 35))


def test_every_row_points_to_what_exists():
    assert {number: wrong for number, places in rows().items() if (wrong := broken(places))} == {}


def test_every_row_points_to_a_function_or_class():
    assert [number for number, places in rows().items() if not PLACE.search(places)] == []


def test_sections_that_name_a_file_name_one_that_exists():
    headings = re.findall(r"^##+ .*\((`.*)\)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    paths = [path for heading in headings for path in re.findall(r"`([\w/]+\.py)`", heading)]
    assert len(paths) > 5
    assert [path for path in paths if not found(path).is_file()] == []


def test_a_row_that_points_nowhere_is_found():
    assert broken("`search` in `engine/nothing.py`") == ["engine/nothing.py", "search in engine/nothing.py"]
    assert broken("`nobody` in `solver/master.py`") == ["nobody in solver/master.py"]
    assert broken("`fit_svm` in `solver/master.py`") == []
