"""Archives from elsewhere, checked before they are read: their directory says what they would unpack to.

A megabyte of zeros that were compressed takes a gigabyte; the sizes below tell such a file from one that was written to
be read. Python's zipfile reads no more of a member than its directory says, so that a directory that lies gives a
checksum error and not more memory.
"""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wellsvm._memory import available_memory

__all__ = ["ALWAYS", "PACKED", "check_archive", "most_bytes", "read_at_most"]

# What any file may unpack to, whatever its own size.
ALWAYS = 256 * 2**20
# How many times its own size a larger one may. Sparse rows as text, one-hot columns and tables of one repeated value
# were packed 5 to 60 times smaller by gzip; what is made to burst memory is packed about 1000 times smaller.
PACKED = 200
# The same for a member that is text in JSON: a few bytes of it become an object of a hundred.
ALWAYS_JSON, PACKED_JSON = 16 * 2**20, 40
# As many arrays and objects no data set or model has.
MOST_MEMBERS = 100_000
CHUNK = 2**20


def most_bytes(size: int, always: int = ALWAYS, packed: int = PACKED) -> int:
    """What a file, or member, of so many bytes may unpack to: never more than there is memory for."""
    free = available_memory()
    return max(always, packed * size) if free is None else min(max(always, packed * size), free)


def check_archive(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse an archive of ``size`` bytes whose members are too large, occur twice or are not what their header says.

    Raises
    ------
    ValueError
        What is wrong; the caller knows the file's name.
    """
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"it has {len(members)} members; at most {MOST_MEMBERS} are allowed")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("it has two members with the same name")
    total, most = sum(member.file_size for member in members), most_bytes(size)
    if total > most:
        raise ValueError(
            f"it unpacks from {size / 2**20:.1f} to {total / 2**20:.0f} MiB, and at most {most / 2**20:.0f} are read; "
            "if it is yours, write it without compression"
        )
    for member in members:
        if member.filename.endswith(".npy"):
            _check_array(archive, member)
        elif member.filename.endswith(".json"):
            allowed = most_bytes(member.compress_size, ALWAYS_JSON, PACKED_JSON)
            if member.file_size > allowed:
                raise ValueError(
                    f"{member.filename} unpacks to {member.file_size / 2**20:.0f} MiB, which cannot be right"
                )


def _check_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Compare the shape in the header of an array with the bytes that follow it."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{member.filename} has the version {version} of NumPy's format, which is not read")
        first = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        if dtype.hasobject:
            raise ValueError(f"{member.filename} holds Python objects, which are not read")
        if any(length < 0 for length in shape) or math.prod(shape) * max(1, dtype.itemsize) > max(
            member.file_size, CHUNK
        ):
            raise ValueError(f"{member.filename} has a shape of {shape} and {member.file_size} bytes")
        if file.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
            raise ValueError(f"{member.filename} is cut short: {member.file_size} bytes for a shape of {shape}")


def read_at_most(file: BinaryIO, path: str | os.PathLike[str]) -> bytes:
    """All of a file that is unpacked on the way; ValueError where it is more than a file of its size may be."""
    most, parts, n_bytes = most_bytes(Path(path).stat().st_size), [], 0
    while part := file.read(CHUNK):
        parts.append(part)
        n_bytes += len(part)
        if n_bytes > most:
            raise ValueError(f"it unpacks to more than {most / 2**20:.0f} MiB; if it is yours, unpack it first")
    return b"".join(parts)
