"""Reading CSV and Parquet by polars: files it would expand, unpack without limit or crash on are stopped here.

A file is read whole, or a batch of rows at a time for those that do not fit into memory.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from wellsvm._archives import most_bytes, read_at_most

__all__ = [
    "batches_of_csv",
    "batches_of_parquet",
    "header_of_csv",
    "is_packed",
    "polars",
    "read_csv",
    "read_parquet",
    "separator_of",
]

# The beginnings of what polars unpacks by itself: gzip and zlib are unpacked here, under a limit.
GZIP, ZLIB, ZSTD = b"\x1f\x8b", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), b"\x28\xb5\x2f\xfd"
# A trial reading takes this long, and as much again for each megabyte, before it counts as hanging.
SECONDS = 30.0
ROWS = 20_000  # in a batch
# Reads a file and forgets it. Errors are told by the second reading; what matters is whether there can be one: the
# library may end the process, where it asks for memory that is not there for instance. What it may write to is limited,
# not its address space, of which every thread reserves more than a small file needs.
TRIAL = """
import sys
import polars
reader, path, limit, rows = sys.argv[1:]
try:
    import resource
    used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + int(limit),) * 2)
except (ImportError, OSError, ValueError):
    pass
try:
    read = getattr(polars, reader)(path, glob=False)
    for _ in read.collect_batches(chunk_size=int(rows)) if reader.startswith("scan") else ():
        pass
except BaseException:
    pass
"""


def polars() -> Any:
    """The package polars; an error says how to get it."""
    try:
        import polars
    except ImportError:
        raise ImportError("CSV and Parquet need polars: pip install 'wellsvm[cli]'") from None
    return polars


def read_parquet(path: Path) -> Any:
    """The frame of a Parquet file. Damaged ones can end the process that reads them: another one tries first."""
    _try_in_another_process(path, "read_parquet")
    return polars().read_parquet(path.absolute(), glob=False)


def batches_of_parquet(path: Path) -> Iterator[tuple[Any, float]]:
    """Frames of some rows each, and the share that was read, of a file that another process has read to its end."""
    _try_in_another_process(path, "scan_parquet")
    yield from _collected(polars().scan_parquet(path.absolute(), glob=False))


def batches_of_csv(path: Path, separator: str) -> Iterator[tuple[Any, float]]:
    """The same of a CSV file; one that is packed is unpacked in memory, as by `read_csv`."""
    if is_packed(path):
        yield from ((frame, 1.0) for frame in read_csv(path, separator).iter_slices(ROWS))
    else:
        options = {"infer_schema_length": None, "separator": separator}
        yield from _collected(polars().scan_csv(path.absolute(), glob=False, **options))


def _collected(lazy: Any) -> Iterator[tuple[Any, float]]:
    pl = polars()
    if not hasattr(lazy, "collect_batches"):
        raise ImportError(f"convert needs polars 1.34 or newer, this is {pl.__version__}: pip install -U polars")
    n_rows, n_seen = max(1, lazy.select(pl.len()).collect().item()), 0
    for frame in lazy.collect_batches(chunk_size=ROWS, maintain_order=True):
        n_seen += frame.height
        yield frame, min(1.0, n_seen / n_rows)


def is_packed(path: Path) -> bool:
    """Whether a file is packed in a way that `read_csv` unpacks."""
    head = _head(path)
    return head == ZSTD or head.startswith(GZIP) or head[:2] in ZLIB


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(4)


def header_of_csv(path: Path) -> tuple[Any, ...]:
    """The names in the first line of a CSV file as they stand there."""
    return tuple(read_csv(path, separator_of(path), has_header=False, n_rows=1, infer_schema=False).row(0))


def separator_of(path: Path) -> str:
    """What stands between the cells of a CSV file, by its suffix."""
    return "\t" if ".tsv" in path.suffixes else ","


def read_csv(path: Path, separator: str, **others: Any) -> Any:
    """The frame of a CSV file, which may be packed by gzip, zlib or zstd; ``others`` are options of polars."""
    options = {"infer_schema_length": None, "separator": separator, **others}
    head = _head(path)
    if head.startswith(GZIP) or head[:2] in ZLIB:
        try:
            return polars().read_csv(_unpacked(path, head), **options)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(str(error)) from error
    if head == ZSTD:
        _try_in_another_process(path, "read_csv")
    # An absolute path has no ~ that polars would look up, and no * stands for other files.
    return polars().read_csv(path.absolute(), glob=False, **options)


def _unpacked(path: Path, head: bytes) -> bytes:
    if head.startswith(GZIP):
        with gzip.open(path, "rb") as file:
            return read_at_most(file, path)  # type: ignore[arg-type]
    with open(path, "rb") as file:
        return read_at_most(_Inflated(file), path)  # type: ignore[arg-type]


class _Inflated:
    """A zlib stream to read from."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.stream = file, zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while not self.stream.eof:
            packed = self.stream.unconsumed_tail or self.file.read(size)
            if not packed:
                raise EOFError("the stream is cut short")
            if part := self.stream.decompress(packed, size):
                return part
        return b""


def _try_in_another_process(path: Path, reader: str) -> None:
    size = path.stat().st_size
    command = [sys.executable, "-P", "-c", TRIAL, reader, str(path.absolute()), str(most_bytes(size)), str(ROWS)]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS * (1 + size / 2**20),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError("reading it does not finish; the file is damaged") from None
    if ended.returncode != 0:
        raise ValueError("the file is damaged, or it unpacks to more than fits in memory: the reader crashed")
