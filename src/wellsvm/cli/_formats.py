"""The formats of data files and the columns in them; light to import, for ``--help``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Format", "Layout"]


class Format(StrEnum):
    """How a file is written; "auto" goes by its suffix."""

    AUTO = "auto"
    SVMLIGHT = "svmlight"
    NPZ = "npz"
    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True)
class Layout:
    """What is where in a file. Columns are those of CSV and Parquet; ``features`` None are all that are left.

    ``keep`` are columns that are not features but are to be copied to the output. ``n_features`` is the width wanted:
    narrower svmlight rows are padded with zeros. ``zero_based`` None looks at the svmlight file: counted from 0 if
    index 0 occurs. ``memory`` is for rows that are copied out of a folder of blocks.
    """

    label: str | None = None
    bag: str | None = None
    ignore: Sequence[str] = ()
    features: Sequence[str] | None = None
    n_features: int | None = None
    zero_based: bool | None = None
    keep: Sequence[str] = ()
    memory: str = "2 GB"

    def flag_of(self, column: str) -> str:
        """The option that named a column; empty for a feature."""
        named = [(self.label, "--label-column"), (self.bag, "--bag-column")]
        named += [(name, "--ignore-column") for name in self.ignore] + [(name, "--keep-column") for name in self.keep]
        return dict(named).get(column, "")
