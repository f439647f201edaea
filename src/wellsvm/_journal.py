"""Files of JSON lines that a long run appends to, and that a killed run leaves readable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["append", "end_last_line", "read"]


def read(path: Path, keys: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Records of a file, none if it does not exist; a line that a killed run left unfinished is passed over.

    A whole line that is no record, or lacks one of the ``keys``, is an error: the file is not what it should be.
    """
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), start=1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        missing = [key for key in keys if key not in record] if isinstance(record, dict) else ["record"]
        if missing:
            raise ValueError(f"{path}, line {number}: no {missing[0]}; remove the line, or name another folder")
        records.append(record)
    return records


def append(path: Path, record: dict[str, Any]) -> None:
    """Write a record as one line, and hand it to the system before returning."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def end_last_line(path: Path) -> None:
    """Begin a new line after one that a killed run left unfinished."""
    if path.exists() and (content := path.read_bytes()) and not content.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
