"""Damaged folders of rows and damaged checkpoints, with checksums that tell of it and with forged ones."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import wellsvm
from campaign.mutations import another_array, another_tree, damaged_bytes, damaged_members
from campaign.outcomes import outcome_of
from wellsvm.engine import checkpoint
from wellsvm.engine.checkpoint import Checkpoint
from wellsvm.rows.folder import MANIFEST, checksum

N = 12
X = np.round(np.random.default_rng(0).standard_normal((N, 3)) + 2 * (np.arange(N) % 2)[:, None], 2)
Y = np.arange(N) % 2
PARTLY = np.where(np.arange(N) < 6, Y, np.nan)
FITTED = 0.03  # share of the sound folders that are fitted, and of the checkpoints that a fit is given
Files = dict[str, bytes]


def remove(path: Path) -> None:
    """Remove a folder, if it is there."""
    shutil.rmtree(path, ignore_errors=True)


# ------------------------------------------------------------------ folders


def good_folders() -> list[Files]:
    """Folders of dense and of sparse rows, as their files."""
    made = []
    labels = np.ma.MaskedArray(Y, np.isnan(PARTLY))
    for rows, y, groups in ((X, PARTLY, np.arange(N) // 2), (sp.csr_matrix(X * (X > 0.5)), labels, None)):
        with tempfile.TemporaryDirectory() as folder:
            wellsvm.write_rows(f"{folder}/rows", rows, y, groups, block_rows=5)
            made.append({path.name: path.read_bytes() for path in Path(folder, "rows").iterdir()})
    return made


def attack_folder(good: list[Files], rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Open a damaged folder, look at all of it, predict, sometimes fit."""
    files = dict(good[rng.integers(len(good))])
    said = [_damage(files, rng) for _ in range(1 if rng.random() < 0.7 else 2)]
    if rng.random() < 0.5:
        said.append(_forge(files))
    path = folder / "rows"
    path.mkdir(exist_ok=True)
    for name in os.listdir(path):
        if name not in files:
            os.unlink(path / name)
    for name, content in files.items():
        (path / name).write_bytes(content)
    kind, words = outcome_of(partial(_use, path, rng.random() < FITTED))
    return kind, words if kind in ("refused", "accepted") else f"{said}: {words}"


def _damage(files: Files, rng: np.random.Generator) -> str:
    """Change a file, take it away, or put it in another's place."""
    names = sorted(files)
    name = MANIFEST if MANIFEST in files and rng.random() < 0.4 else names[rng.integers(len(names))]
    kind = rng.integers(10)
    if kind == 0:
        del files[name]
    elif kind == 1:
        files[name] = files[names[rng.integers(len(names))]]
    elif kind == 2 or (name == MANIFEST and kind == 3):
        files[name] = damaged_bytes(files[name], rng)
    elif name == MANIFEST:
        try:
            files[name] = json.dumps(another_tree(json.loads(files[name]), rng)).encode()
        except ValueError:  # it was damaged before
            files[name] = damaged_bytes(files[name], rng)
    else:
        files[name] = another_array(files[name], rng)
    return f"{name} {kind}"


def _forge(files: Files) -> str:
    """Let checksums say what the arrays are now."""
    try:
        manifest = json.loads(files[MANIFEST])
        for block in manifest["blocks"]:
            for kind in block["checksums"]:
                block["checksums"][kind] = checksum(np.load(io.BytesIO(files[f"{block['name']}.{kind}.npy"])))
        for name in manifest["beside"]:
            manifest["beside"][name] = checksum(np.load(io.BytesIO(files[f"{name}.npy"])))
        files[MANIFEST] = json.dumps(manifest).encode()
    except Exception:  # too damaged to be forged
        return "not forged"
    return "forged"


MODEL = wellsvm.SemiSupervisedSVC(safe=False, balance="labels", search="local", max_iter=2, random_state=0)


def _use(path: Path, fit: bool) -> None:
    rows = wellsvm.open_rows(path)
    y, groups = rows.y, rows.groups
    assert all(values is None or len(values) == len(rows) for values in (y, groups)), "labels of other rows"
    part = rows[:]
    assert part.shape == rows.shape
    assert np.isfinite(part.data if sp.issparse(part) else part).all(), "values that no fit can take"
    if fit and y is not None:
        model = wellsvm.SemiSupervisedSVC(**MODEL.get_params()).fit(rows, y)
        assert np.isfinite(model.coef_).all(), "coefficients that are no numbers"
        assert len(model.predict(rows)) == len(rows)


# ------------------------------------------------------------------ checkpoints


def _fits(path: Any) -> list[Any]:
    quick = {"kernel": "linear", "max_iter": 3, "random_state": 0, "checkpoint": path}
    plain = wellsvm.SemiSupervisedSVC(safe=False, balance="labels", **quick)
    return [
        lambda: plain.fit(X, PARTLY),
        lambda: wellsvm.SemiSupervisedSVC(**quick).fit(X, np.where(np.arange(N) < 9, np.arange(N) % 3, np.nan)),
        lambda: wellsvm.MultiInstanceSVC(**quick).fit(wellsvm.Bags(X, np.arange(N) // 2), np.arange(N // 2) % 2),
        lambda: wellsvm.MaxMarginClustering(n_init=2, **quick).fit(X),
    ]


def good_checkpoints() -> list[tuple[bytes, int, Any]]:
    """What fits have left after their first two stages (later ones are larger), which fit, and what it ends with."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(len(_fits(None))):
            left, model = _watched(number, Path(folder, "fit"))
            made += [(content, number, model.intercept_) for content in left[:2]]
    return made


def _watched(number: int, path: Path) -> tuple[list[bytes], Any]:
    """The file as it was after every stage of a fit, and the fitted model."""
    left: list[bytes] = []
    store = Checkpoint.store

    def store_and_look(self: Checkpoint, *values: Any) -> None:
        store(self, *values)
        left.append(path.read_bytes())

    Checkpoint.store = store_and_look
    try:
        return left, _fits(str(path))[number]()
    finally:
        Checkpoint.store = store


def attack_checkpoint(good: list[Any], rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Go on from a damaged checkpoint: the same result as without damage, or a refusal."""
    content, number, intercept = good[rng.integers(len(good))]
    changed = damaged_members(content, rng) if rng.random() < 0.7 else damaged_bytes(content, rng)
    path = folder / "fit.checkpoint"
    path.write_bytes(changed)
    if rng.random() >= FITTED:
        return outcome_of(lambda: checkpoint._read(path))

    def go_on() -> None:
        model = _fits(str(path))[number]()
        np.testing.assert_array_equal(model.intercept_, intercept, "another result")

    return outcome_of(go_on)
