"""Marked places of a page, and the tables that are written into them."""

from __future__ import annotations

import pytest

from experiments.markdown import pipe_table
from experiments.marked_places import check_places, fill, places


def test_places_of_a_page_are_filled_again_and_again(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- bench text -->\n<!-- end -->\n\nwords\n\n<!-- bench rbf -->\nold\n<!-- end -->\n")
    assert places(page, "bench") == ["text", "rbf"]
    fill(page, "bench", {"text": "new", "cv": "nowhere"})
    once = page.read_text()
    fill(page, "bench", {"text": "new"})
    assert page.read_text() == once
    assert "<!-- bench text -->\n\nnew\n\n<!-- end -->" in once
    assert "<!-- bench rbf -->\nold\n<!-- end -->" in once


def test_a_name_may_have_two_words(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- study text -->\n<!-- end -->\n<!-- study text seconds -->\n<!-- end -->\n")
    assert places(page, "study") == ["text", "text seconds"]
    fill(page, "study", {"text seconds": "new"})
    assert page.read_text() == (
        "<!-- study text -->\n<!-- end -->\n<!-- study text seconds -->\n\nnew\n\n<!-- end -->\n"
    )


def test_a_page_without_the_place_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- study text -->\n<!-- end -->\n")
    assert check_places(page, "study", ["uci", "text"]) == ["text"]
    with pytest.raises(ValueError, match=r"page.md has no place for uci; mark one by '<!-- study uci -->'"):
        check_places(page, "study", ["uci"])
    with pytest.raises(ValueError, match="is not a file"):
        check_places(tmp_path / "nothing.md", "study", ["text"])


def test_columns_line_up_and_bars_are_escaped():
    assert pipe_table(["set", "n", "note"], [["a|b", "1,000", ""], ["c", "7", "few"]], text=("note",)).splitlines() == [
        "| set  |     n | note |",
        "| ---- | ----: | ---- |",
        "| a\\|b | 1,000 |      |",
        "| c    |     7 | few  |",
    ]
