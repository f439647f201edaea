"""What is wrong with a table that polars cannot read, in words that help."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from wellsvm.cli._formats import Format
from wellsvm.cli._frames import is_packed, separator_of

__all__ = ["require_separated", "unreadable"]

MARKS = (",", ";", "\t", "|")


def unreadable(path: Path, form: Format, error: BaseException) -> ValueError:
    """The error to raise in the place of one by polars: it names the file, and where it can the line and a way out."""
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    if "found more fields" in reason:
        reason = "a line has more cells than the first line names columns"
        if not is_packed(path):
            with suppress(csv.Error):  # of cells longer than the csv module takes no more is told
                reason = _long_line(path) or reason
    elif "utf-8" in reason.lower():
        reason += "; save it as UTF-8"
    return ValueError(f"{path} cannot be read as {form}: {reason}")


def require_separated(path: Path, columns: Sequence[str]) -> None:
    """Refuse a CSV file whose only column has a name that another separator would part."""
    if len(columns) == 1 and (other := _other_separator(path, columns[0])) is not None:
        raise ValueError(f"{path} has one column, {columns[0]!r:.60}: {_separated_by(path, other)}")


def _long_line(path: Path) -> str | None:
    """What is wrong with a file of which a line has more cells than the first."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=separator_of(path))
        header = next(reader, [])
        if (other := _other_separator(path, separator_of(path).join(header))) is not None:
            return _separated_by(path, other)
        if not header:
            return "its first line, which must name the columns, is blank"
        for row in reader:
            if len(row) > len(header):
                return f"line {reader.line_num} has {len(row)} cells; columns named in the first line: {len(header)}"
    return None


def _other_separator(path: Path, header: str) -> str | None:
    """The mark that parts the names of the first line, where it is more frequent than the one that is expected."""
    used = separator_of(path)
    other = max((mark for mark in MARKS if mark != used), key=header.count)
    return other if header.count(other) > header.count(used) else None


def _separated_by(path: Path, other: str) -> str:
    return (
        f"its cells seem to be separated by {other!r}, where {separator_of(path)!r} is expected. Save it with decimal "
        "points, separated by commas, or by tabs with the suffix .tsv"
    )
