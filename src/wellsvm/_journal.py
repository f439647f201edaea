"""Files of JSON lines that a long run appends to, and that a killed run leaves readable."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["append", "end_last_line", "read"]


def read(path: Path) -> list[dict[str, Any]]:
    """Records of a file, none if it does not exist; a line that a killed run left unfinished is passed over."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            records.append(json.loads(line))
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
