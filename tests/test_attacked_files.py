"""What an attack on version 0.1 found in files: bombs, damaged archives and models, temporary files, memory limits."""

from __future__ import annotations

import io
import json
import os
import resource
import stat
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import wellsvm
from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import load_npz

N = 40
X = np.random.default_rng(0).standard_normal((N, 3)) + 2 * (np.arange(N) % 2)[:, None]
Y = np.where(np.arange(N) < 10, np.arange(N) % 2, np.nan)

# ------------------------------------------------------------------ files


def packed(members, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    wellsvm.save(SemiSupervisedSVC(kernel="rbf", random_state=0).fit(X, Y), path)
    return path


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def peak_memory(program, *args):
    """Error text and peak of memory in MiB of a program that should refuse a file.

    The peak that getrusage tells would be that of this process, if it was larger.
    """
    whole = f"import sys\n{program}\n"
    done = subprocess.run([sys.executable, "-c", whole, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[0], int(done.stdout.split("\n")[1]) / 1024


LOAD = """
from wellsvm import load
from wellsvm.datasets import load_npz
try:
    (load if sys.argv[1].endswith("skops") else load_npz)(sys.argv[1])
    print("loaded")
except ValueError as error:
    print(str(error).replace("\\n", " "))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


@pytest.mark.parametrize("bomb", ["wellsvm.json", "schema.json", "X.npy"])
def test_a_small_file_cannot_take_all_memory(bomb, saved, tmp_path):
    if bomb == "X.npy":
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (40_000_000, 1)})
        path = packed({"X.npy": head.getvalue() + bytes(320_000_000)}, tmp_path / "d.npz")
    else:
        members = members_of(saved)
        path = packed({**members, bomb: members[bomb] + b" " * 60_000_000}, tmp_path / "m.skops")
    assert path.stat().st_size < 2e6
    told, peak = peak_memory(LOAD, path)
    assert "MiB" in told
    assert peak < 400


def test_a_gzip_bomb_is_refused(tmp_path):
    from wellsvm.cli._data import Format, Layout, read

    stream = zlib.compressobj(9, wbits=31)
    line = b"1 1:0.5 2:0.5\n" * 50_000
    path = tmp_path / "d.svm.gz"
    with open(path, "wb") as file:
        for _ in range(400):
            file.write(stream.compress(line))
        file.write(stream.flush())
    for name, form in (("d.svm.gz", Format.AUTO), ("d.csv", Format.CSV)):
        target = tmp_path / name
        target.write_bytes(path.read_bytes())
        with pytest.raises(ValueError, match="unpacks to more than"):
            read(target, form, Layout())


def test_archives_of_arrays(tmp_path):
    path = packed({"X.npy": b"no array"}, tmp_path / "a.npz")
    for content in ({"X.txt": b"text"}, {"X.npy": b"\x93NUMPY\x01\x00\x04\x00{'a\n"}, {"X": b""}):
        with pytest.raises(ValueError, match="damaged or not a data set"):
            load_npz(packed(content, path))
    whole = sp.csr_matrix(X)
    for index in (2**32 + 1, 2**40):
        indices = whole.indices.astype(np.int64)
        indices[3] = index
        np.savez(
            path, data=whole.data, indices=indices, indptr=whole.indptr, shape=np.array(whole.shape), format=b"csr"
        )
        with pytest.raises(ValueError, match=f"{index}|indices|column"):
            load_npz(path)


def test_a_mark_that_no_number_can_hold_is_damage(saved, tmp_path):
    members = members_of(saved)
    for mark in ("Infinity", "1e400", "true", '"1"', "[]", "-NaN"):
        content = json.dumps({"versions": {}, "notes": {}})[:-1] + f', "format": {mark}}}'
        path = packed({**members, "wellsvm.json": content}, tmp_path / "m.skops")
        with pytest.raises(ValueError, match="is damaged: its mark"):
            wellsvm.load(path)


CHANGES = {
    "dual_coef_": [lambda m: m.dual_coef_ * np.nan, lambda m: m.dual_coef_[:, :0], lambda m: m.dual_coef_.ravel()],
    "support_": [lambda m: m.support_ - 100, lambda m: m.support_.astype(float), lambda m: m.support_[:-1]],
    "support_vectors_": [
        lambda m: m.support_vectors_[:, :-1],
        lambda m: m.support_vectors_ * np.inf,
        lambda m: m.support_vectors_ * 1e300,
    ],
    "intercept_": [lambda m: m.intercept_ * np.nan, lambda m: np.zeros(2), lambda m: 3],
    "classes_": [lambda m: m.classes_[:1], lambda m: np.arange(5), lambda m: "ab"],
    "n_features_in_": [lambda m: 4, lambda m: -1, lambda m: 2**70, lambda m: "3"],
    "_kernel": [lambda m: None, lambda m: "rbf"],
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_model_that_could_not_predict_is_refused_by_name(name, tmp_path):
    for change in CHANGES[name]:
        model = SemiSupervisedSVC(kernel="rbf", random_state=0).fit(X, Y)
        setattr(model, name, change(model))
        wellsvm.save(model, tmp_path / "m.skops")
        with pytest.raises(ValueError, match=r"m.skops is damaged: it(s \w+_|s _kernel| cannot predict)"):
            wellsvm.load(tmp_path / "m.skops")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_model_that_lacks_a_part_of_its_function_is_refused_by_name(kernel, tmp_path):
    parts = ("coef_", "intercept_") if kernel == "linear" else ("dual_coef_", "intercept_", "support_", "_kernel")
    for missing in [*((name,) for name in parts), parts]:
        model = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(X, Y)
        for name in missing:
            delattr(model, name)
        wellsvm.save(model, tmp_path / "m.skops")
        with pytest.raises(ValueError, match=r"m.skops is damaged: its \w+ is (missing|NoneType)"):
            wellsvm.load(tmp_path / "m.skops")


# ------------------------------------------------------------------ writing


def test_the_temporary_file_is_as_private_as_the_file_it_replaces(tmp_path):
    from wellsvm._files import replacing

    target = tmp_path / "m.skops"
    target.write_bytes(b"old")
    target.chmod(0o600)
    with replacing(target) as file:
        file.write(b"new")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob(".wellsvm-*")]
        assert modes == [0o600]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_files_left_behind_are_swept_and_files_being_written_are_not(tmp_path):
    from wellsvm._files import replacing

    left = tmp_path / ".wellsvm-0123456789abcdef.tmp"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    with replacing(tmp_path / "a") as first:
        first.write(b"a")
        first.flush()
        (busy,) = (path for path in tmp_path.glob(".wellsvm-*"))
        os.utime(busy, (0, 0))
        with replacing(tmp_path / "b") as second:
            second.write(b"b")
        assert busy.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_link_is_followed_to_its_target(tmp_path):
    from wellsvm._files import replacing

    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


# ------------------------------------------------------------------ memory


def test_limits_of_containers_count(tmp_path, monkeypatch):
    from wellsvm import _memory

    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    for folder in (proc / "self", groups / "a" / "b"):
        folder.mkdir(parents=True)
    (proc / "meminfo").write_text("MemAvailable: 8000000 kB\n")
    (proc / "self" / "cgroup").write_text("0::/a/b\n")
    (groups / "a" / "memory.max").write_text("1000000\n")
    (groups / "a" / "memory.current").write_text("900000\n")
    (groups / "a" / "memory.stat").write_text("inactive_file 50000\n")
    (groups / "a" / "b" / "memory.max").write_text("max\n")
    (groups / "a" / "b" / "memory.current").write_text("5\n")
    monkeypatch.setattr(_memory, "PROC", proc)
    monkeypatch.setattr(_memory, "CGROUPS", groups)
    assert _memory.available_memory() == 150_000
    with pytest.raises(MemoryError, match="a fit on 40 rows"):
        SemiSupervisedSVC().fit(X, Y)


def test_a_limit_of_address_space_counts():
    from wellsvm._memory import available_memory

    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 2**20, before[1]))
    try:
        assert available_memory() <= 210 * 2**20
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
