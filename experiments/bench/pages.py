"""What a reader gets of the entries: for every workload a line on the circumstances, a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.bench.curves import curves_of, draw, save
from experiments.bench.lines import about, lines_of, markdown
from experiments.bench.workloads import WORKLOADS
from experiments.internals import replacing
from experiments.journal import Entry
from experiments.marked_places import fill

__all__ = ["KIND", "fill_page", "write_file"]

KIND = "bench"


def write_file(entries: Sequence[Entry], path: Path) -> None:
    """Write all tables to ``path``, a Markdown file, and the pictures beside it."""
    names = [name for name in WORKLOADS if any(entry["workload"] == name for entry in entries)]
    sections = _sections(entries, names, path.parent, f"{path.stem}-")
    text = "\n\n".join(f"## {name}\n\n{WORKLOADS[name].about}\n\n{section}" for name, section in sections.items())
    with replacing(path) as file:
        file.write(f"{text}\n".encode())


def fill_page(entries: Sequence[Entry], names: Iterable[str], page: Path) -> None:
    """Write the tables into the marked places of a page, and the pictures into the folder ``images`` beside it."""
    images = page.parent / "images"
    images.mkdir(exist_ok=True)
    fill(page, KIND, _sections(entries, names, images, "bench-", "images/"))


def _sections(
    entries: Sequence[Entry], names: Iterable[str], folder: Path, prefix: str, link: str = ""
) -> dict[str, str]:
    sections = {}
    for name in names:
        parts = [about(entries, name), markdown(lines_of(entries, name))]
        curves = curves_of(entries, name)
        if curves:
            picture = f"{prefix}{name}.png"
            save(draw(curves, f"{name}: time of one fit"), folder / picture)
            parts.append(f"![Time against size, workload {name}]({link}{picture})")
        sections[name] = "\n\n".join(parts)
    return sections
