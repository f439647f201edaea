"""Damaged files for every reader: good ones of each form, mutated, and what is done with them."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn

import wellsvm
from campaign import folders
from campaign.isolation import ask_for_memory_once, in_child
from campaign.mutations import damaged_bytes, damaged_members, gzipped
from campaign.outcomes import outcome_of
from wellsvm.cli import _frames
from wellsvm.cli._conversion import _written
from wellsvm.cli._data import Format, Layout, Table, read

X = np.round(np.random.default_rng(0).standard_normal((8, 3)), 2)
Y = np.arange(8) % 2
PARTLY = np.where(np.arange(8) < 4, Y, np.nan)
SUFFIXES = {"svmlight": "svm"}
CONVERTED = ("svmlight", "csv", "parquet", "npz")
FORMS = ("svmlight", "csv", "npz", "parquet", "skops", "folder", "checkpoint", "convert")


def prepare() -> None:
    """In the child that reads: what costs time in every case and does not depend on the file is done once.

    Batches are isolated already, so that Parquet needs no trial in another process; what memory the machine has is
    asked once; polars has one thread.
    """
    os.environ |= {"POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}
    _frames._try_in_another_process = lambda path, reader: None
    ask_for_memory_once()
    _remember_names_of_types()
    sklearn.set_config(skip_parameter_validation=True)


def _remember_names_of_types() -> None:
    """skops writes the names of the thousand types that it trusts out for every node of a file: once is enough."""
    audit = sys.modules.get("skops.io._audit")
    if audit is not None:
        names, known = audit.get_type_paths, {}

        def remembered(types: Any) -> list[str]:
            if not isinstance(types, list) or len(types) < 20:
                return names(types)
            if id(types) not in known:
                known[id(types)] = types, names(types)  # kept, so that no other list has its place
            return known[id(types)][1]

        audit.get_type_paths = remembered


# ------------------------------------------------------------------ good files


def _svmlight() -> bytes:
    rows = (" ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row)) for row in X)
    return "".join(f"{2 * y - 1} qid:{k // 2 + 1} {row}\n" for k, (y, row) in enumerate(zip(Y, rows))).encode()


def _frame() -> Any:
    columns = {"label": Y, "bag": np.arange(8) // 2, **{f"x{j}": X[:, j] for j in range(3)}, "t": list("abcdefgh")}
    return _frames.polars().DataFrame(columns)


def _parquet() -> list[bytes]:
    files = [io.BytesIO() for _ in range(3)]
    for file, compression in zip(files, ("uncompressed", "snappy", "zstd")):
        _frame().write_parquet(file, compression=compression)
    return [file.getvalue() for file in files]


def _archive(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _npz() -> list[bytes]:
    csr = sp.csr_matrix(X)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape, "format": "csr"}
    return [_archive(X=X, y=Y), _archive(X=X, y=Y[:4], bag=np.arange(8) // 2), _archive(y=Y, **parts)]


def _model(model: Any, *data: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        wellsvm.save(model.fit(*data), f"{folder}/m.skops", notes={"data": {"features": None}})
        return Path(f"{folder}/m.skops").read_bytes()


def _skops() -> list[bytes]:
    quick = {"max_iter": 1, "random_state": 0}  # few records of the fit, or most of the file is about them
    return [
        _model(wellsvm.SemiSupervisedSVC(safe=False, **quick), X, PARTLY),
        _model(wellsvm.SemiSupervisedSVC(safe=False, kernel="rbf", **quick), sp.csr_matrix(X), PARTLY),
        _model(wellsvm.MultiInstanceSVC(**quick), wellsvm.Bags(X, np.arange(8) // 2), np.array([0, 1, 0, 1])),
        _model(wellsvm.MaxMarginClustering(n_init=1, **quick), X),
    ]


GOOD: dict[str, Callable[[], list[Any]]] = {
    "svmlight": lambda: [_svmlight()],
    "csv": lambda: [_frame().write_csv().encode()],
    "parquet": _parquet,
    "npz": _npz,
    "skops": _skops,
    "folder": folders.good_folders,
    "checkpoint": folders.good_checkpoints,
}


@cache
def good(form: str) -> list[Any]:
    """Good files of a form, to begin with; made in a child, as polars cannot be used on both sides of a fork."""
    return in_child(GOOD[form])


def mutated(form: str, rng: np.random.Generator) -> bytes:
    """A damaged file."""
    files = good(form)
    content = files[rng.integers(len(files))]
    if form in ("npz", "skops") and rng.random() < 0.7:
        return damaged_members(content, rng)
    if form == "csv" and rng.random() < 0.1:
        return gzipped(damaged_bytes(content, rng), rng)
    return damaged_bytes(content, rng)


def make_good(form: str) -> None:
    """Make the good files that a form needs, before the batch forks; skops takes a second to import."""
    if form == "skops":
        import skops.io  # noqa: F401
    for needed in CONVERTED if form == "convert" else (form,):
        good(needed)


# ------------------------------------------------------------------ attacks


def attack(what: tuple[str, int, int, str]) -> tuple[str, str]:
    """Read one damaged file, in the given folder; a model that loads must predict."""
    form, seed, number, folder = what
    rng = np.random.default_rng([seed, zlib.crc32(form.encode()), number])
    if form == "folder":
        return folders.attack_folder(good(form), rng, Path(folder))
    if form == "checkpoint":
        return folders.attack_checkpoint(good(form), rng, Path(folder))
    kind = str(rng.choice(CONVERTED)) if form == "convert" else form
    path = Path(folder) / f"damaged.{SUFFIXES.get(kind, kind)}"
    path.write_bytes(mutated(kind, rng))
    if form == "convert":
        return outcome_of(partial(_convert, path, rng))
    return outcome_of(partial(_load if form == "skops" else _read, path))


def _layout(path: Path) -> Layout:
    return Layout() if path.suffix in (".svm", ".npz") else Layout(label="label", bag="bag", ignore=("t",))


def _read(path: Path) -> None:
    table = read(path, Format.AUTO, _layout(path))
    assert table.X.shape[0] > 0
    if sp.issparse(table.X):
        table.X.check_format(full_check=True)


def _convert(path: Path, rng: np.random.Generator) -> None:
    """Converted or refused; what is converted is what `read` reads, and nothing is left of what is not."""
    target = path.with_name("converted")
    folders.remove(target)
    try:
        _written(path, target, Format.AUTO, _layout(path), False, 3, lambda rows, share: None)
    except BaseException:
        assert not target.exists(), "a refused file leaves a folder"
        raise
    rows = wellsvm.open_rows(target)
    found = rows[:]
    if rng.random() < 0.3:
        expected: Table = read(path, Format.AUTO, _layout(path))
        width = min(found.shape[1], expected.X.shape[1])
        assert found.shape[0] == expected.X.shape[0], "rows are lost"
        assert abs(found[:, :width] - expected.X[:, :width]).max() == 0, "other values"


def _load(path: Path) -> None:
    model = wellsvm.load(path)
    rows = np.ones((2, getattr(model, "n_features_in_", 3)))
    bags = hasattr(model, "locate")
    predicted = model.predict([rows] if bags else rows)
    assert len(predicted) == (1 if bags else 2)
    values = model.decision_function([rows] if bags else rows)
    assert not np.isnan(values).any(), "NaN among the decision values"
