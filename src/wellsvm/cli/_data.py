"""Reading data files: svmlight, NumPy and SciPy archives, CSV and Parquet become one `Table`."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from wellsvm._archives import read_at_most
from wellsvm._memory import available_memory
from wellsvm._typing import FloatArray, Matrix
from wellsvm.cli._formats import Format, Layout
from wellsvm.cli._frames import header_of_csv, polars, read_csv, read_parquet, separator_of
from wellsvm.cli._unreadable import require_separated, unreadable
from wellsvm.datasets import load_npz
from wellsvm.rows.folder import open_rows

__all__ = [
    "OPENERS",
    "Format",
    "Layout",
    "Table",
    "damage_told",
    "format_of",
    "masked_labels",
    "read",
    "table_of_frame",
    "table_of_svmlight",
]


SUFFIXES = {
    ".npz": Format.NPZ,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
}
# How many lines of a bad svmlight file are tried at a time to find the bad one.
BLOCK = 1000
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
# What stands between the name and a number where polars has renamed a column.
RENAMED = "_duplicated_"
# Weights of one function and what solving for them needs, in bytes per feature.
BYTES_PER_FEATURE = 64


@dataclass(frozen=True)
class Table:
    """What a file holds: rows, their labels (masked where missing), their bags, how to read a file like it, and the
    columns kept."""

    X: Matrix
    y: np.ma.MaskedArray | None
    groups: np.ndarray | None
    layout: Layout
    form: Format
    kept: dict[str, Any] = field(default_factory=dict)


def read(path: Path, form: Format, layout: Layout) -> Table:
    """Read a file; every error is a ValueError or OSError that names the file."""
    if path.is_dir():
        return _read_folder(path, layout)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file; save its contents to one")
    form = format_of(path) if form is Format.AUTO else form
    if layout.keep and form not in (Format.CSV, Format.PARQUET):
        raise ValueError(f"{path} has no named columns to keep; leave out --keep-column")
    try:
        if form is Format.SVMLIGHT:
            table = _read_svmlight(path, layout)
        elif form is Format.NPZ:
            table = _read_npz(path, layout)
        else:
            table = _read_frame(path, layout, form)
    except (ValueError, OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # a damaged file can raise anything
        raise ValueError(f"{path} cannot be read as {form}: {type(error).__name__}: {error}") from error
    n_rows, n_features = table.X.shape
    if n_rows == 0:
        raise ValueError(f"{path} has no rows")
    if n_features == 0:
        raise ValueError(f"{path} has no features; every row is empty")
    if layout.n_features is not None and n_features != layout.n_features:
        raise ValueError(f"{path} has {n_features} features; the model was trained with {layout.n_features}")
    return table


def format_of(path: Path) -> Format:
    """By suffix; LIBSVM's files often have none, so that svmlight is the rest."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".bz2", ".zst")]
    return SUFFIXES.get(suffixes[-1], Format.SVMLIGHT) if suffixes else Format.SVMLIGHT


# ------------------------------------------------------------------ folders of rows


def _read_folder(path: Path, layout: Layout) -> Table:
    """Rows in blocks, with the labels and bags written beside them."""
    rows = open_rows(path, layout.memory)
    if layout.n_features is not None and rows.shape[1] != layout.n_features:
        raise ValueError(f"{path} has {rows.shape[1]} features; the model was trained with {layout.n_features}")
    y, groups = rows.y, rows.groups
    if layout.bag is not None and groups is None:
        raise ValueError(f"{path} has no bags; convert the file again with --bag-column, or bags in its 'qid:'")
    if y is not None:
        missing = np.ma.getmaskarray(y)
        y = np.ma.getdata(y)
        y = masked_labels(y, missing | np.isnan(y) if y.dtype.kind == "f" else missing)
    names = None if rows.feature_names is None else list(rows.feature_names)
    told = Layout(layout.label, layout.bag, features=names)
    return Table(rows, y, groups if layout.bag is not None else None, told, Format.AUTO)


# ------------------------------------------------------------------ svmlight


def _read_svmlight(path: Path, layout: Layout) -> Table:
    with damage_told(path), OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
        content = read_at_most(file, path) if path.suffix.lower() in OPENERS else file.read()
    return table_of_svmlight(path, content, layout)


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Errors while a file is read, with its name."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except OSError as error:  # of a damaged .bz2 too, without a number
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from error


def table_of_svmlight(path: Path, content: bytes, layout: Layout, n_before: int = 0) -> Table:
    """Rows ``label [qid:bag] index:value ...``, after ``n_before`` lines of the file; labels of "nan" are missing."""
    by_bag = layout.bag is not None
    try:
        X, y, *bags = load_svmlight_file(io.BytesIO(content), zero_based=True, query_id=by_bag)
    except (ValueError, OverflowError) as error:
        line, text = _first_bad_line(content)
        raise ValueError(f"{path} is not an svmlight file: line {n_before + line}, {text!r}: {error}") from error
    if by_bag and len(bags[0]) != X.shape[0]:
        raise ValueError(f"{path} has {len(bags[0])} rows with a bag ('qid:') of {X.shape[0]}; every row needs one")
    X, zero_based = _from_index_0(path, X, layout)
    return Table(
        X, masked_labels(y, np.isnan(y)), bags[0] if by_bag else None, Layout(zero_based=zero_based), Format.SVMLIGHT
    )


def _first_bad_line(content: bytes) -> tuple[int, str]:
    """Number and beginning of the first line that cannot be parsed."""

    def fits(lines: list[bytes]) -> bool:
        try:
            load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
        except (ValueError, OverflowError):
            return False
        return True

    lines, number = iter(io.BytesIO(content)), 0
    while block := list(islice(lines, BLOCK)):
        if not fits(block):
            bad = next((k for k, line in enumerate(block) if not fits([line])), 0)
            return number + bad + 1, block[bad][:40].decode(errors="replace").rstrip()
        number += len(block)
    return number, ""


def _from_index_0(path: Path, X: Matrix, layout: Layout) -> tuple[Matrix, bool]:
    """X without the empty column 0 of a file that counts from 1, as wide as the layout wants."""
    zero_based = layout.zero_based
    if zero_based is None:
        zero_based = bool(X.nnz and X.indices.min() == 0)
    elif not zero_based and X.nnz and X.indices.min() == 0:
        raise ValueError(
            f"{path} has a feature with index 0, but indices should start at 1; pass --zero-based if they start at 0"
        )
    shift = 0 if zero_based else 1
    n_features = int(X.indices.max()) + 1 - shift if X.nnz else 0
    free = available_memory()
    if free is not None and BYTES_PER_FEATURE * n_features > free:
        raise ValueError(f"{path} has a feature with index {n_features - 1 + shift}: too many features for the memory")
    width = n_features if layout.n_features is None else max(n_features, layout.n_features)
    return sparse.csr_matrix((X.data, X.indices - shift, X.indptr), shape=(X.shape[0], width)), zero_based


# ------------------------------------------------------------------ NumPy and SciPy


def _read_npz(path: Path, layout: Layout) -> Table:
    """Arrays X (or SciPy's CSR), y and bag, as `datasets.load_npz` reads them; y is per bag if there are bags."""
    if path.suffix != ".npz":
        raise ValueError(f"{path} must end in .npz to be read as an archive of arrays")
    data = load_npz(path)
    y, groups = data.y, data.get("groups")
    if groups is not None and (groups.dtype.kind not in "iu" or groups.min(initial=0) < 0):
        raise ValueError(f"{path}: the array 'bag' must hold the index of each row's bag, starting at 0")
    if y is not None:
        y = np.asarray(y)
        y = y if groups is None else y[groups]
        y = masked_labels(y, np.isnan(y) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool))
    if layout.bag is not None and groups is None:
        raise ValueError(f"{path} has no array 'bag', the bag of every row; it holds {sorted(data)}")
    return Table(data.X, y, groups if layout.bag is not None else None, Layout(), Format.NPZ)


# ------------------------------------------------------------------ CSV and Parquet


def _read_frame(path: Path, layout: Layout, form: Format) -> Table:
    return table_of_frame(path, _frame(path, form), layout, form)


def table_of_frame(path: Path, frame: Any, layout: Layout, form: Format) -> Table:
    """What a polars frame of a file's rows holds; rows without any value, such as blank lines, are left out."""
    pl = polars()
    if frame.columns and all(_is_number(name) for name in frame.columns):
        raise ValueError(f"{path} has numbers in its first line, which must name the columns")
    if form is Format.CSV:
        require_separated(path, frame.columns)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    columns = frame.columns
    given = [name for name in (layout.label, layout.bag, *layout.ignore, *layout.keep) if name is not None]
    for name in [*given, *(layout.features or ())]:
        if name not in columns:
            raise ValueError(_no_column(path, name, layout, columns))
    features = [name for name in columns if name not in given] if layout.features is None else list(layout.features)
    if not features:
        raise ValueError(f"{path} has no column left for the features; it has {_listed(columns)}")
    if form is Format.CSV:
        _require_distinct(path, [name for name in columns if name not in layout.ignore], {*features, *given})
    for name in layout.ignore:
        if name in features:
            raise ValueError(
                f"--ignore-column {name!r}: the model was trained with this column and needs it to predict"
            )
    X = np.empty((frame.height, len(features)))
    for j, name in enumerate(features):
        X[:, j] = _numbers(path, frame[name], needed=layout.features is not None)
    y = None
    if layout.label is not None:
        series = frame[layout.label]
        known = series.drop_nulls()
        cells = _cells(path, known)
        values = np.zeros(len(series), dtype=_typed(cells).dtype)
        missing = series.is_null().to_numpy()
        values[~missing] = cells
        y = masked_labels(values, missing | (np.isnan(values) if values.dtype.kind == "f" else False))
    groups = None if layout.bag is None else _typed(_cells(path, frame[layout.bag]))
    kept = {name: frame[name] for name in layout.keep}
    for series in kept.values():
        _cells(path, series.head(1))
    return Table(X, y, groups, Layout(layout.label, layout.bag, layout.ignore, features), form, kept)


def _require_distinct(path: Path, columns: Sequence[str], used: set[str]) -> None:
    """No name twice among those that are used; polars has renamed the second column of a name in a CSV file."""
    for name in columns:
        first, renamed, number = name.rpartition(RENAMED)
        if not (renamed and number.isdigit() and first in columns and used & {first, name}):
            continue
        if name not in header_of_csv(path):
            raise ValueError(
                f"{path} has two columns named {first!r}, of which the second was read as {name!r}; give every "
                "column a name of its own"
            )


def _no_column(path: Path, name: str, layout: Layout, columns: Sequence[str]) -> str:
    """What to say where a column is missing: which flag names it, what comes close, and what there is."""
    flag = layout.flag_of(name)
    wanted = {"--label-column": "for the labels", "--bag-column": "for the bags"}
    why = wanted.get(flag, f"named by {flag}" if flag else "which the model was trained with")
    close = get_close_matches(name.lower(), [column.lower() for column in columns], n=1)
    hint = next((f"; did you mean {column!r}?" for column in columns if close and column.lower() == close[0]), "")
    way_out = f"; name it with {flag}" if flag in wanted and not hint else ""
    return f"{path} has no column {name!r} {why}{hint}{way_out}{'' if hint else '.'} Its columns are {_listed(columns)}"


def _frame(path: Path, form: Format) -> Any:
    """The polars frame of a file."""
    pl = polars()
    try:
        if form is Format.PARQUET:
            frame = read_parquet(path)
        else:
            frame = read_csv(path, separator_of(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise unreadable(path, form, error) from error
    return frame


def _cells(path: Path, series: Any) -> np.ndarray:
    """A column as an array; an error names it where NumPy has no such type, as for integers of 128 bits."""
    try:
        return np.asarray(series.to_numpy())
    except polars().exceptions.PolarsError as error:
        raise ValueError(
            f"{path}: column {series.name!r} holds {series.dtype}, which cannot be used: {error}"
        ) from error


def _numbers(path: Path, series: Any, needed: bool) -> FloatArray:
    """A column as floats; an error names the column, its first bad value, and the ways out: a column that a model
    ``needed`` to be trained cannot be left out."""
    pl = polars()
    where = f"{path}: column {series.name!r}"
    way_out = f"fill it in, or leave the column out: --ignore-column {series.name!r}"
    if needed:
        way_out = "the model was trained with this column, so put a number there or leave the row out"
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.String)):
        raise ValueError(f"{where} holds {series.dtype}, not numbers; {way_out}")
    values = series.cast(pl.Float64, strict=False)
    text = np.flatnonzero((values.is_null() & series.is_not_null()).to_numpy())
    if text.size:
        cell = series[int(text[0])]
        if re.fullmatch(r"[-+]?\d+,\d+", cell.strip()):
            way_out = "save the file with decimal points, not commas"
        raise ValueError(f"{where} holds {cell!r} in data row {text[0] + 1}, which is not a number; {way_out}")
    numbers = values.to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        what = "is empty" if series[int(bad[0])] is None else f"holds {numbers[bad[0]]}"
        raise ValueError(f"{where} {what} in data row {bad[0] + 1}; {way_out}")
    return numbers


# ------------------------------------------------------------------ small helpers


def masked_labels(values: np.ndarray, missing: np.ndarray) -> np.ma.MaskedArray:
    """Labels with a mask; whole numbers as integers, so that a class is called 1 and not 1.0."""
    if values.dtype.kind == "f":
        known = values[~missing]
        if np.all(np.isfinite(known) & (known == np.trunc(known)) & (np.abs(known) < 2**53)):
            values = np.where(missing, 0, values).astype(np.int64)
    return np.ma.MaskedArray(values, missing)


def _typed(values: np.ndarray) -> np.ndarray:
    """Strings as NumPy's own."""
    return values.astype(str) if values.dtype == object and all(isinstance(v, str) for v in values) else values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _listed(names: Sequence[str], first: int = 20, last: int = 5) -> str:
    """The names; of very many the first and the last, where labels often stand."""
    shown = [repr(name) for name in names]
    if len(shown) > first + last:
        shown = [*shown[:first], "...", *shown[-last:]]
    return f"{', '.join(shown)} ({len(names)} in all)" if len(names) > first else ", ".join(shown)
