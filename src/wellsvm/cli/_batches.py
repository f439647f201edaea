"""Reading data files a batch of rows at a time, so that memory stays bounded."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from wellsvm.cli._data import (
    OPENERS,
    Table,
    first_bad_line,
    format_of,
    from_index_0,
    masked_labels,
    read,
    table_of_frame,
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
    by_bag, n_lines = layout.bag is not None, 0
    for text, share in _texts(path):
        try:
            X, y, *bags = load_svmlight_file(io.BytesIO(text), zero_based=True, query_id=by_bag)
        except (ValueError, OverflowError) as error:
            line, bad = first_bad_line(text)
            raise ValueError(f"{path} is not an svmlight file: line {n_lines + line}, {bad!r}: {error}") from error
        if by_bag and len(bags[0]) != X.shape[0]:
            raise ValueError(f"{path}: a row near line {n_lines + 1} has no bag ('qid:'); every row needs one")
        n_lines += text.count(b"\n")
        if X.shape[0]:
            X, _ = from_index_0(path, X, layout)
            groups = bags[0] if by_bag else None
            yield (
                Table(X, masked_labels(y, np.isnan(y)), groups, Layout(zero_based=layout.zero_based), Format.SVMLIGHT),
                share,
            )


def _texts(path: Path) -> Iterator[tuple[bytes, float]]:
    """The lines of a file, some MB at a time, and the share of the file that was read."""
    size = max(1, path.stat().st_size)
    try:
        with open(path, "rb") as raw, OPENERS.get(path.suffix.lower(), _as_it_is)(raw) as file:
            while text := file.read(TEXT):
                yield text + file.readline(), min(1.0, raw.tell() / size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except OSError as error:  # of a damaged .bz2 too, without a number
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from error


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
