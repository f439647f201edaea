"""What a reader gets of the records: for every workload a line on the circumstances, a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from wellsvm._files import replacing
from wellsvm._marked import fill
from wellsvm.bench.plot import curves_of, draw, save
from wellsvm.bench.runner import Record
from wellsvm.bench.table import about, lines_of, markdown
from wellsvm.bench.workloads import WORKLOADS

__all__ = ["fill_page", "write_report"]


def write_report(records: Sequence[Record], path: Path) -> None:
    """Write all tables to ``path``, a Markdown file, and the pictures beside it."""
    names = [name for name in WORKLOADS if any(record["workload"] == name for record in records)]
    sections = _sections(records, names, path.parent, f"{path.stem}-")
    text = "\n\n".join(f"## {name}\n\n{WORKLOADS[name].about}\n\n{section}" for name, section in sections.items())
    with replacing(path) as file:
        file.write(f"{text}\n".encode())


def fill_page(records: Sequence[Record], names: Iterable[str], page: Path) -> None:
    """Write the tables into the marked places of a page, and the pictures into the folder ``images`` beside it."""
    images = page.parent / "images"
    images.mkdir(exist_ok=True)
    fill(page, "bench", _sections(records, names, images, "bench-", "images/"))


def _sections(
    records: Sequence[Record], names: Iterable[str], folder: Path, prefix: str, link: str = ""
) -> dict[str, str]:
    sections = {}
    for name in names:
        parts = [about(records, name), markdown(lines_of(records, name))]
        curves = curves_of(records, name)
        if curves and find_spec("matplotlib") is not None:
            picture = f"{prefix}{name}.png"
            save(draw(curves, f"{name}: time of one fit"), folder / picture)
            parts.append(f"![Time against size, workload {name}]({link}{picture})")
        sections[name] = "\n\n".join(parts)
    return sections
