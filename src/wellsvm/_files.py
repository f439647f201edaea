"""Writing files in one step, so that they are whole or not there; every writer of the package uses it."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

__all__ = ["as_path", "check_replaceable", "replacing"]

# Seconds after which a temporary file that is not locked counts as left behind: far more than lies between making it
# and locking it.
ABANDONED = 60


def as_path(path: Any, name: str = "path") -> Path:
    """The path that a user gave; an error where it is none."""
    told = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(told, str) or not told or "\0" in told:
        raise TypeError(f"{name} must be the path of a file or folder; got {name}={path!r:.80}")
    return Path(told)


def check_replaceable(path: str | os.PathLike[str]) -> Path:
    """The file that ``path`` leads to, links followed; an error where `replacing` could not put a file there.

    Only regular files are replaced: a rename over a device or a pipe would remove it.
    """
    target = Path(os.path.realpath(as_path(path)))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; pass the name of a file")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is not a regular file; pass the name of a file in a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder of {path} does not exist; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder of {path} is not writable")
    return target


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file under a temporary name in its folder, then rename it over ``path``.

    Whatever happens, ``path`` is the whole old file or the whole new one. After an error the temporary file is gone;
    after a power cut or ``kill -9`` a file ``.wellsvm-*.tmp`` may be left, which the next file written into the folder
    sweeps away. The new file has the permissions of the old one, from the first byte on, or those of any new file.
    """
    target = check_replaceable(path)
    _sweep(target.parent)
    temporary = target.with_name(f".wellsvm-{secrets.token_hex(8)}.tmp")
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        # Nobody else may read it before it has the permissions of the file that it replaces.
        with open(temporary, "xb+", opener=partial(os.open, mode=0o666 if mode is None else 0o600)) as file:
            _lock(file)
            if mode is not None:
                os.chmod(temporary, mode)
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _lock(file: Any) -> bool:
    """Mark a file as being written, until it is closed; False where another process has done so, or where none can."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove temporary files that nobody writes any more: old enough, and not locked."""
    with suppress(OSError):
        for left in folder.glob(".wellsvm-*.tmp"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > ABANDONED:
                    with open(left, "rb") as file:
                        if _lock(file):
                            left.unlink()


def _sync_folder(folder: Path) -> None:
    """Bring the rename to the disk, on systems where a folder can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
