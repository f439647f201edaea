"""Reading data files a batch of rows at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from wellsvm.cli._frames import polars

__all__ = ["batches"]

TEXT = 8_000_000  # bytes of text that are parsed at once
ROWS = 20_000  # rows of CSV and Parquet in a batch


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
    size = max(1, path.stat().st_size)
    with damage_told(path), open(path, "rb") as raw, OPENERS.get(path.suffix.lower(), _as_it_is)(raw) as file:
        while text := file.read(TEXT):
            yield text + file.readline(), min(1.0, raw.tell() / size)


def _as_it_is(file: Any) -> Any:
    return file


def _frames(path: Path, layout: Layout, form: Format) -> Iterator[tuple[Table, float]]:
    pl = polars()
    if not hasattr(pl.LazyFrame, "collect_batches"):
        raise ImportError(f"convert needs polars 1.34 or newer, this is {pl.__version__}: pip install -U polars")
    try:
        if form is Format.PARQUET:
            lazy = pl.scan_parquet(path)
        else:
            separator = "\t" if ".tsv" in path.suffixes else ","
            lazy = pl.scan_csv(path, infer_schema_length=None, separator=separator)
        n_rows, n_seen = max(1, lazy.select(pl.len()).collect().item()), 0
        for frame in lazy.collect_batches(chunk_size=ROWS, maintain_order=True):
            n_seen += frame.height
            table = table_of_frame(path, frame, layout, form)
            if table.X.shape[0]:
                yield table, min(1.0, n_seen / n_rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise ValueError(f"{path} cannot be read as {form}: {first}") from error
