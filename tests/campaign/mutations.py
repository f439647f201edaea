"""Ways to damage a file: bytes of any, members of an archive, arrays, trees of JSON."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

NUMBERS = (b"0", b"-1", b"1e999", b"nan", b"99999999999999999999", b"2147483648", b"4294967297", b"\x00", b"\xff", b"")


def damaged_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, taken out, doubled, cut off, or replaced by numbers that mean trouble."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(max(1, len(changed))))
        kind, length = rng.integers(7), int(rng.integers(1, 16))
        if kind == 0:
            changed[at : at + 1] = bytes([rng.integers(256)])
        elif kind == 1 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + length]
        elif kind == 4:
            changed[at : at + length] = NUMBERS[rng.integers(len(NUMBERS))]
        elif kind == 5:
            changed[at : at + 4] = int(rng.integers(2**32)).to_bytes(4, "little")
        elif rng.random() < 0.2:
            del changed[at:]
    return bytes(changed)


def damaged_members(content: bytes, rng: np.random.Generator) -> bytes:
    """A member of an archive changed, and its checksum with it."""
    members = dict(_members(content))
    name = list(members)[rng.integers(len(members))]
    kind = rng.integers(8)
    if name.endswith(".json") and kind < 5:
        members[name] = json.dumps(another_tree(json.loads(members[name]), rng)).encode()
    elif name.endswith(".npy") and kind < 4:
        members[name] = another_array(members[name], rng)
    elif kind == 5:
        del members[name]
    elif kind == 6:
        members[name + "x"] = members.pop(name)
    else:
        members[name] = damaged_bytes(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, value in members.items():
            archive.writestr(key, value)
    return out.getvalue()


@cache
def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def another_array(member: bytes, rng: np.random.Generator) -> bytes:
    """Another array in its place."""
    try:
        array = np.load(io.BytesIO(member), allow_pickle=False)
        changes: list[Callable[[], Any]] = [
            lambda: array * np.nan if array.dtype.kind == "f" else array,
            lambda: array[..., :0],
            lambda: array.astype(np.float32),
            lambda: array.astype(complex),
            lambda: array.astype("U4"),
            lambda: array.reshape(-1),
            lambda: np.concatenate([array.ravel(), array.ravel()]),
            lambda: array * 2**33,
            lambda: -array,
            lambda: np.array(3),
            lambda: array.T,
        ]
        made = changes[rng.integers(len(changes))]()
        file = io.BytesIO()
        np.save(file, made, allow_pickle=False)
        return file.getvalue()
    except Exception:  # it was damaged before
        return member


STRANGE = (None, True, -1, 0, 1, 2**40, 1e308, float("inf"), float("nan"), "", "a", "numpy", [], {}, [[]], "builtins")


def another_tree(tree: Any, rng: np.random.Generator) -> Any:
    """One node of a tree of JSON replaced, taken out or taken from elsewhere."""
    places: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            stack.append(node[key])
    if not places:
        return tree
    node, key = places[rng.integers(len(places))]
    kind = rng.integers(4)
    if kind == 0:
        del node[key]
    elif kind == 1:
        other, name = places[rng.integers(len(places))]
        node[key] = json.loads(json.dumps(other[name])) if name in other or isinstance(other, list) else None
    elif kind == 2 and isinstance(node[key], (int, float)) and not isinstance(node[key], bool):
        node[key] = node[key] * -1000 + 1
    else:
        node[key] = STRANGE[rng.integers(len(STRANGE))]
    return tree


def gzipped(content: bytes, rng: np.random.Generator) -> bytes:
    packed = zlib.compressobj(wbits=31)
    whole = packed.compress(content) + packed.flush()
    return damaged_bytes(whole, rng) if rng.random() < 0.5 else whole
