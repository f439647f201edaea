"""Damaged files for every reader: mutations of good ones, of bytes and of what the bytes mean."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import wellsvm
from campaign.isolation import in_child
from campaign.outcomes import outcome_of
from wellsvm.cli import _frames
from wellsvm.cli._data import Format, Layout, read

X = np.round(np.random.default_rng(0).standard_normal((8, 3)), 2)
Y = np.arange(8) % 2
NUMBERS = (b"0", b"-1", b"1e999", b"nan", b"99999999999999999999", b"2147483648", b"4294967297", b"\x00", b"\xff", b"")


def _svmlight() -> bytes:
    rows = (" ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row)) for row in X)
    return "".join(f"{2 * y - 1} qid:{k // 2 + 1} {row}\n" for k, (y, row) in enumerate(zip(Y, rows))).encode()


def _frame() -> Any:
    columns = {"label": Y, "bag": np.arange(8) // 2, **{f"x{j}": X[:, j] for j in range(3)}, "t": list("abcdefgh")}
    return _frames.polars().DataFrame(columns)


def _archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _parts(matrix: Any) -> dict[str, Any]:
    return {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}


def _model(model: Any, *data: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        wellsvm.save(model.fit(*data), f"{folder}/m.skops", notes={"data": {"features": None}})
        return Path(f"{folder}/m.skops").read_bytes()


@cache
def good(form: str) -> list[bytes]:
    """Good files of a form, to begin with; made in a child, as polars cannot be used on both sides of a fork."""
    return in_child(partial(_good, form))


def _good(form: str) -> list[bytes]:
    partly = np.where(np.arange(8) < 4, Y, np.nan)
    if form == "svmlight":
        return [_svmlight()]
    if form == "csv":
        return [_frame().write_csv().encode()]
    if form == "parquet":
        files = [io.BytesIO() for _ in range(3)]
        for file, compression in zip(files, ("uncompressed", "snappy", "zstd")):
            _frame().write_parquet(file, compression=compression)
        return [file.getvalue() for file in files]
    if form == "npz":
        bags = _archive(X=X, y=Y[:4], bag=np.arange(8) // 2)
        return [_archive(X=X, y=Y), bags, _archive(format="csr", y=Y, **_parts(sp.csr_matrix(X)))]
    return [
        _model(wellsvm.SemiSupervisedSVC(random_state=0), X, partly),
        _model(wellsvm.SemiSupervisedSVC(kernel="rbf", random_state=0), sp.csr_matrix(X), partly),
        _model(wellsvm.MultiInstanceSVC(random_state=0), wellsvm.Bags(X, np.arange(8) // 2), np.array([0, 1, 0, 1])),
        _model(wellsvm.MaxMarginClustering(random_state=0), X),
    ]


# ------------------------------------------------------------------ mutations


def _bytes(content: bytes, rng: np.random.Generator) -> bytes:
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


def _members(content: bytes, rng: np.random.Generator) -> bytes:
    """A member of an archive changed, and its checksum with it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[rng.integers(len(members))]
    kind = rng.integers(8)
    if name.endswith(".json") and kind < 5:
        members[name] = json.dumps(_tree(json.loads(members[name]), rng)).encode()
    elif name.endswith(".npy") and kind < 4:
        members[name] = _array(members[name], rng)
    elif kind == 5:
        del members[name]
    elif kind == 6:
        members[name + "x"] = members.pop(name)
    else:
        members[name] = _bytes(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in members.items():
            archive.writestr(key, value)
    return out.getvalue()


def _array(member: bytes, rng: np.random.Generator) -> bytes:
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
    except (ValueError, TypeError, IndexError, OverflowError):
        return member


STRANGE = (None, True, -1, 0, 1, 2**40, 1e308, float("inf"), float("nan"), "", "a", "numpy", [], {}, [[]], "builtins")


def _tree(tree: Any, rng: np.random.Generator) -> Any:
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


def _gzipped(content: bytes, rng: np.random.Generator) -> bytes:
    packed = zlib.compressobj(wbits=31)
    whole = packed.compress(content) + packed.flush()
    return _bytes(whole, rng) if rng.random() < 0.5 else whole


def mutated(form: str, rng: np.random.Generator) -> bytes:
    """A damaged file."""
    files = good(form)
    content = files[rng.integers(len(files))]
    if form in ("npz", "skops") and rng.random() < 0.7:
        return _members(content, rng)
    if form == "csv" and rng.random() < 0.1:
        return _gzipped(_bytes(content, rng), rng)
    return _bytes(content, rng)


# ------------------------------------------------------------------ attacks


def attack(what: tuple[str, int, int, str]) -> tuple[str, str]:
    """Read one damaged file, in the given folder; a model that loads must predict."""
    form, seed, number, folder = what
    rng = np.random.default_rng([seed, zlib.crc32(form.encode()), number])
    suffix = {"svmlight": "svm"}.get(form, form)
    path = Path(folder) / f"damaged.{suffix}"
    path.write_bytes(mutated(form, rng))
    return outcome_of(partial(_load if form == "skops" else _read, path))


def _read(path: Path) -> None:
    layout = Layout() if path.suffix in (".svm", ".npz") else Layout(label="label", bag="bag", ignore=("t",))
    table = read(path, Format.AUTO, layout)
    assert table.X.shape[0] > 0
    if sp.issparse(table.X):
        table.X.check_format(full_check=True)


def _load(path: Path) -> None:
    model = wellsvm.load(path)
    rows = np.ones((2, getattr(model, "n_features_in_", 3)))
    bags = hasattr(model, "locate")
    predicted = model.predict([rows] if bags else rows)
    assert len(predicted) == (1 if bags else 2)
    values = model.decision_function([rows] if bags else rows)
    assert not np.isnan(values).any(), "NaN among the decision values"


def without_trial(path: Path, reader: str) -> None:
    """In place of the trial in another process: batches run in one already, and crashes are seen there."""
