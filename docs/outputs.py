"""Runs the Python blocks of a page and keeps what they print below them: ``python docs/outputs.py PAGE ...``.

What a block prints stands in a ``text`` block right after it. `tests/test_docs.py` compares the two: words exactly,
numbers to a tolerance, since the last digits differ between machines.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

BLOCK = re.compile(
    r"^(?:<!-- needs scikit-learn (\d+)\.(\d+) -->\n)?```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w)")
# How far a number may be from the one shown: absolute, and relative for large ones.
NEAR, NEARLY = 0.03, 0.1


class Block(NamedTuple):
    """A block of a page: what it needs, its language, its text, its line, and what is shown below it."""

    needs: tuple[int, int]
    language: str
    content: str
    line: int
    shown: str | None
    start: int
    end: int


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of code of a page."""
    for found in BLOCK.finditer(text):
        major, minor, language, content, shown = found.groups()
        line = text.count("\n", 0, found.start(4))
        needs = (int(major or 0), int(minor or 0))
        yield Block(needs, language, content, line, shown, found.start(), found.end())


def printed(block: Block, path: Path, namespace: dict[str, object]) -> str:
    """Run a block of Python; what it prints."""
    code = "\n" * block.line + block.content  # so that a traceback names the line of the page
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, str(path), "exec"), namespace)
    return out.getvalue()


def alike(found: str, shown: str) -> bool:
    """Whether both say the same: equal words, near numbers."""
    words, shown_words = (re.sub(r"\s+", " ", NUMBER.sub("#", text)).strip() for text in (found, shown))
    numbers, shown_numbers = ([float(n) for n in NUMBER.findall(text)] for text in (found, shown))
    near = all(abs(a - b) <= NEAR + NEARLY * abs(b) * (abs(b) > 2) for a, b in zip(numbers, shown_numbers))
    return words == shown_words and len(numbers) == len(shown_numbers) and near


def filled(text: str, run: Callable[[Block], str]) -> str:
    """The page with what its blocks print now."""
    parts, at = [], 0
    for block in blocks_of(text):
        out = run(block) if block.language == "python" else block.shown or ""
        code = text[block.start : block.end].partition("\n```text\n")[0].rstrip("\n") + "\n"
        lines = [line.rstrip() for line in out.splitlines()]
        shown = "\n```text\n" + "\n".join(lines) + "\n```\n" if out.strip() else ""
        parts += [text[at : block.start], code, shown]
        at = block.end
    return "".join([*parts, text[at:]])


def main(pages: list[str]) -> None:
    """Fill in the pages."""
    for name in pages:
        path, namespace = Path(name).resolve(), {"__name__": "__main__"}
        text = path.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder, chdir(folder):  # blocks save models and pictures
            new = filled(text, lambda block, path=path, namespace=namespace: printed(block, path, namespace))
        path.write_text(new, encoding="utf-8")
        print("changed" if new != text else "same   ", name)


if __name__ == "__main__":
    main(sys.argv[1:])
