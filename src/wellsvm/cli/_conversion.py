"""What ``wellsvm convert`` does: reads batches of rows and writes them as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from wellsvm.cli._batches import batches
from wellsvm.cli._console import stderr, told_in_one_line, warnings_as_lines
from wellsvm.cli._data import Table, masked_labels
from wellsvm.cli._formats import Format, Layout
from wellsvm.rows.folder_writing import FolderWriter

__all__ = ["run"]


def run(
    data: Path, folder: Path, form: Format, layout: Layout, single: bool, block_rows: int | None, quiet: bool
) -> None:
    """Convert a file and tell what was written."""
    with told_in_one_line(), warnings_as_lines():
        if not data.exists():
            raise FileNotFoundError(f"{data} does not exist")
        if data.is_dir():
            raise IsADirectoryError(f"{data} is a folder; give a file")
        if not data.is_file():
            raise ValueError(f"{data} is not a regular file; save its contents to one")
        with _shown(data, quiet) as show:
            writer = _written(data, folder, form, layout, single, block_rows, show)
    if not quiet:
        shape = f"{writer.n_rows:,} rows x {writer.n_features:,} features"
        stderr().print(f"{shape} in {len(writer.blocks)} blocks in {folder}", markup=False)


def _written(
    data: Path, folder: Path, form: Format, layout: Layout, single: bool, block_rows: int | None,
    show: Callable[[int, float], None],
) -> FolderWriter:  # fmt: skip
    """Write the folder; labels and bags, a few bytes a row, are kept until the end."""
    labels: list[np.ma.MaskedArray] = []
    groups: list[np.ndarray] = []
    with FolderWriter(folder, block_rows) as writer:
        for table, share in batches(data, form, layout):
            writer.append(table.X.astype(np.float32) if single else table.X)
            if writer.feature_names is None and table.layout.features:
                writer.feature_names = list(table.layout.features)
            _note(table, labels, groups)
            show(writer.n_rows, share)
        if writer.n_rows == 0:
            raise ValueError(f"{data} has no rows")
        if labels:
            y = np.ma.concatenate(labels)
            writer.set_beside("y", masked_labels(np.ma.getdata(y), np.ma.getmaskarray(y)))
        if groups:
            writer.set_beside("groups", np.concatenate(groups))
    return writer


def _note(table: Table, labels: list[np.ma.MaskedArray], groups: list[np.ndarray]) -> None:
    if table.y is not None:
        labels.append(table.y)
    if table.groups is not None:
        groups.append(table.groups)


@contextmanager
def _shown(data: Path, quiet: bool) -> Iterator[Callable[[int, float], None]]:
    """A progress bar on a terminal: rows written, and the share of the file that is read."""
    console = stderr()
    if quiet or not console.is_terminal:
        yield lambda rows, share: None
        return
    columns: tuple[Any, ...] = (TextColumn(data.name), BarColumn(), TextColumn("{task.fields[rows]:,} rows"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0, rows=0)
        yield lambda rows, share: progress.update(task, completed=share, rows=rows)
