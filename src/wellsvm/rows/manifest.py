"""The manifest of a folder of rows, checked before anything in the folder is read: kinds, ranges, sums."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["check_manifest"]

KINDS = {True: ("data", "indices", "indptr"), False: ("data",)}
BESIDE = ("y", "y_missing", "groups")


def check_manifest(manifest: dict[str, Any]) -> None:
    """Refuse a manifest that no folder can have; KeyError names what is missing, ValueError what is wrong."""
    shape, is_sparse = manifest["shape"], manifest["sparse"]
    _require(type(is_sparse) is bool, "sparse", is_sparse)
    _require(isinstance(shape, list) and len(shape) == 2 and all(map(_is_count, shape)), "shape", shape)
    _require(manifest["dtype"] in ("float32", "float64"), "dtype", manifest["dtype"])
    index_dtypes = ("int32", "int64") if is_sparse else (None,)
    _require(manifest["index_dtype"] in index_dtypes, "index_dtype", manifest["index_dtype"])
    names = manifest["feature_names"]
    named = isinstance(names, list) and len(names) == shape[1] and all(isinstance(name, str) for name in names)
    _require(names is None or named, "feature_names", names)
    beside = manifest["beside"]
    sound = isinstance(beside, dict) and all(name in BESIDE and _is_count(value) for name, value in beside.items())
    _require(sound, "beside", beside)
    blocks = manifest["blocks"]
    _require(isinstance(blocks, list) and len(blocks) > 0, "blocks", blocks)
    for block in blocks:
        _check_block(block, shape[1], is_sparse)
    n_rows = sum(block["rows"] for block in blocks)
    if n_rows != shape[0]:
        raise ValueError(f"the blocks have {n_rows} rows, and shape says {shape[0]}")


def _check_block(block: Any, n_features: int, is_sparse: bool) -> None:
    _require(isinstance(block, dict), "a block", block)
    name, rows, entries = block["name"], block["rows"], block["entries"]
    _require(isinstance(name, str) and re.fullmatch(r"[0-9]{5,}", name) is not None, "the name of a block", name)
    _require(_is_count(rows) and rows > 0, "rows of a block", rows)
    _require(_is_count(entries) and (is_sparse or entries == rows * n_features), "entries of a block", entries)
    checksums = block["checksums"]
    sound = isinstance(checksums, dict) and sorted(checksums) == sorted(KINDS[is_sparse])
    _require(sound and all(map(_is_count, checksums.values())), "checksums of a block", checksums)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= np.iinfo(np.int64).max  # which counts rows and entries


def _require(condition: bool, name: str, value: Any) -> None:
    if not condition:
        raise ValueError(f"{name} cannot be {value!r:.60}")
