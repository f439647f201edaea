"""Reading data files a batch of rows at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from wellsvm._archives import ALWAYS, PACKED, most_bytes
from wellsvm.cli._data import (
    OPENERS,
    Table,
    damage_told,
    format_of,
    read,
    table_of_frame,
    table_of_svmlight,
)
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli._frames import batches_of_csv, batches_of_parquet, polars, separator_of
from wellsvm.cli._unreadable import unreadable

__all__ = ["batches"]

TEXT = 8_000_000  # bytes of text that are parsed at once


def batches(path: Path, form: Format, layout: Layout) -> Iterator[tuple[Table, float]]:
    """Tables of some rows each, and the share of the file that was read."""
    form = format_of(path) if form is Format.AUTO else form
    if form is Format.SVMLIGHT:
        yield from _svmlight(path, layout)
    elif form is Format.NPZ:
        yield read(path, form, layout), 1.0
    else:
        yield from _frames(path, layout, form)


def _svmlight(path: Path, layout: Layout) -> Iterator[tuple[Table, float]]:
    if layout.zero_based is None:  # the rule of `read`, which looks at the whole file before it decides
        zero_based = any(b" 0:" in text or b"\t0:" in text for text, _ in _texts(path))
        layout = replace(layout, zero_based=zero_based)
    n_lines = 0
    for text, share in _texts(path):
        table = table_of_svmlight(path, text, layout, n_lines)
        n_lines += text.count(b"\n")
        if table.X.shape[0]:
            yield table, share


def _texts(path: Path) -> Iterator[tuple[bytes, float]]:
    """The lines of a file, some MB at a time, and the share of the file that was read."""
    size, packed, n_bytes = max(1, path.stat().st_size), path.suffix.lower() in OPENERS, 0
    with damage_told(path), open(path, "rb") as raw, OPENERS.get(path.suffix.lower(), _as_it_is)(raw) as file:
        while text := file.read(TEXT):
            text += file.readline(most_bytes(size))
            n_bytes += len(text)
            if packed and n_bytes > max(ALWAYS, PACKED * size):  # what is unpacked goes to the disk, and fills it
                raise ValueError(
                    f"{path} unpacks to more than {n_bytes / 2**20:.0f} MiB; if it is yours, unpack it first"
                )
            yield text, min(1.0, raw.tell() / size)


def _as_it_is(file: Any) -> Any:
    return file


def _frames(path: Path, layout: Layout, form: Format) -> Iterator[tuple[Table, float]]:
    frames = batches_of_parquet(path) if form is Format.PARQUET else batches_of_csv(path, separator_of(path))
    for frame, share in _errors_named(path, form, frames):
        table = table_of_frame(path, frame, layout, form)
        if table.X.shape[0]:
            yield table, share


def _errors_named(path: Path, form: Format, frames: Iterator[Any]) -> Iterator[Any]:
    """The frames; what goes wrong in reading them is told with the name of the file."""
    pl = polars()
    try:
        yield from frames
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise unreadable(path, form, error) from error
