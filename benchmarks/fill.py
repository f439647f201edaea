"""Put the tables of the results into the pages: ``<!-- table name figure -->`` up to ``<!-- end -->`` is written anew.

    python benchmarks/fill.py docs/choices.md docs/results.md

The name is that of a file in benchmarks/results; the figure ("accuracy" if it is left out) one that its table knows.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import clustering
import multi_instance
import semi_supervised_accuracy

from wellsvm import _journal


def table(path: Path, figure: str) -> str:
    """The table of one file of results, in Markdown."""
    if path.stem.startswith("multi_instance"):
        return multi_instance.table([path])
    if path.stem.startswith("clustering"):
        return clustering.table(_journal.read(path))
    return semi_supervised_accuracy.table(path, figure)


def fill(page: Path, results: Path) -> None:
    """Write the tables of one page anew; a table whose results are not there stays as it is."""

    def made(match: re.Match) -> str:
        path = results / f"{match[2]}.jsonl"
        return f"{match[1]}\n\n{table(path, match[3] or 'accuracy')}\n\n<!-- end -->" if path.exists() else match[0]

    pattern = r"(<!-- table (\w+)(?: (\w+))? -->).*?<!-- end -->"
    page.write_text(re.sub(pattern, made, page.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    for page in arguments.pages:
        fill(page, arguments.results)
