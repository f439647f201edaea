"""Tables in Markdown that can be read in a terminal as well."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["pipe_table"]


def pipe_table(head: Sequence[str], lines: Sequence[Sequence[str]], text: Collection[str] = ()) -> str:
    """A pipe table whose columns line up: to the left the first column and those named in ``text``, numbers right."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in (head, *lines)]
    widths = [max(3, *(len(line[k]) for line in cells)) for k in range(len(head))]
    to_left = [k == 0 or name in text for k, name in enumerate(head)]
    rule = ["-" * width if here else "-" * (width - 1) + ":" for width, here in zip(widths, to_left)]
    aligned = [
        [cell.ljust(width) if here else cell.rjust(width) for cell, width, here in zip(line, widths, to_left)]
        for line in cells
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (aligned[0], rule, *aligned[1:]))
