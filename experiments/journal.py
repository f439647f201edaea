"""The journal of an experiment: a file of JSON lines, one per run, that a killed run leaves readable."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Entry", "Journal"]

Entry = dict[str, Any]


class Journal:
    """The entries of a file, and a way to append more.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    required : sequence of str, default=()
        Names that every entry must have.

    Attributes
    ----------
    entries : list of dict
        In the order of the file. A line that a killed run left unfinished is passed over; a whole line that is no
        entry is an error, as the file is not what it should be.
    """

    def __init__(self, path: Path, required: Sequence[str] = ()) -> None:
        self.path = path
        self.entries = _read(path, required)
        self._indices: dict[tuple[str, ...], dict[str, Entry]] = {}

    def append(self, entry: Entry) -> None:
        """Write an entry as one line, and hand it to the system before returning."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":  # a killed run left its last line unfinished
                    file.write(b"\n")
            file.write(f"{json.dumps(entry)}\n".encode())
        self.entries.append(entry)
        self._indices.clear()

    def result(self, identity: Entry) -> Entry | None:
        """The last entry with the values of ``identity``; None if there is none. A failure is no result."""
        fields = tuple(identity)
        if fields not in self._indices:
            results = (entry for entry in self.entries if "error" not in entry)
            self._indices[fields] = {_key(entry, fields): entry for entry in results}
        return self._indices[fields].get(_key(identity, fields))


def _key(entry: Entry, fields: tuple[str, ...]) -> str:
    return json.dumps([entry.get(field) for field in fields], sort_keys=True)


def _read(path: Path, required: Sequence[str]) -> list[Entry]:
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), start=1):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        missing = [name for name in required if name not in entry] if isinstance(entry, dict) else ["entry"]
        if missing:
            raise ValueError(f"{path}, line {number}: no {missing[0]}; remove the line, or name another folder")
        entries.append(entry)
    return entries
