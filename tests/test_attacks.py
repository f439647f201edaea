"""What an attack on version 0.1 found, each as a test: crashes, silent wrong results, internal errors, bombs, leaks."""

from __future__ import annotations

import io
import json
import os
import resource
import stat
import subprocess
import sys
import threading
import time
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import wellsvm
from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.datasets import load_npz

rng = np.random.default_rng(0)
N = 40
TRUTH = np.arange(N) % 2
X = rng.standard_normal((N, 3)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(N) < 10, TRUTH, np.nan)
BAGS, LABELS = [X[k : k + 4] for k in range(0, N, 4)], np.arange(N // 4) % 2


def changed(form, part, value, place=7):
    made = sp.csr_matrix(X).asformat(form).copy()
    getattr(made, part)[place] = value
    return made


def with_parts(**parts):
    made = sp.csr_matrix(X)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


# ------------------------------------------------------------------ 1: sparse matrices that would end the process

LARGE = 2**31 - 1
WILD = {
    "index": lambda: changed("csr", "indices", LARGE),
    "negative index": lambda: changed("csr", "indices", -5),
    "row pointer that jumps": lambda: changed("csr", "indptr", LARGE),
    "row pointer that falls": lambda: changed("csr", "indptr", 0),
    "negative row pointer": lambda: changed("csr", "indptr", -3),
    "index of CSC": lambda: changed("csc", "indices", LARGE),
    "pointer of CSC": lambda: changed("csc", "indptr", LARGE, place=1),
    "row of COO": lambda: changed("coo", "row", LARGE),
    "column of COO": lambda: changed("coo", "col", LARGE),
    "index beyond 32 bits": lambda: with_parts(
        indices=np.where(np.arange(N * 3) == 7, 2**40, sp.csr_matrix(X).indices.astype(np.int64))
    ),
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("what", WILD)
def test_a_wild_index_is_refused_in_fit_and_predict(what, kernel):
    model = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(X), Y)
    for call in (lambda: model.predict(WILD[what]()), lambda: model.fit(WILD[what](), Y)):
        with pytest.raises(ValueError, match=r"X\.(indices|indptr|row|col) (holds|does not rise)"):
            call()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("what", WILD)
def test_a_wild_index_is_refused_in_bags(what, kernel):
    groups, model = np.arange(N) // 4, MultiInstanceSVC(kernel=kernel, random_state=0)
    with pytest.raises(ValueError, match=r"X\.(indices|indptr|row|col) (holds|does not rise)"):
        model.fit(WILD[what](), LABELS, groups)
    sparse_bags = [sp.csr_matrix(bag) for bag in BAGS]
    sparse_bags[3].indices[7] = LARGE
    with pytest.raises(ValueError, match=r"bag 3\.indices holds 2147483647"):
        model.fit(sparse_bags, LABELS)


# ------------------------------------------------------------------ 2: spare capacity, duplicates, strides


def same_result(odd, kernel="rbf"):
    plain = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(X), Y)
    other = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(odd, Y)
    np.testing.assert_allclose(other.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plain.decision_function(odd), plain.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("spare", [1e6, np.nan])
def test_spare_capacity_changes_nothing(spare, kernel):
    whole = sp.csr_matrix(X)
    odd = with_parts(data=np.append(whole.data, [spare] * 9), indices=np.append(whole.indices, [9999] * 9))
    same_result(odd, kernel)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_duplicates_that_scipy_does_not_know_of_are_summed(kernel):
    odd = sp.csr_matrix(X)
    assert odd.has_canonical_format  # SciPy remembers it
    odd.indices[1] = odd.indices[0]
    dense = X.copy()
    dense[0, :2] = X[0, 0] + X[0, 1], 0.0
    one = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(odd, Y)
    other = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(dense), Y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_strided_arrays_of_a_sparse_matrix(kernel):
    whole = sp.csr_matrix(X)
    parts = {name: np.repeat(getattr(whole, name), 2)[::2] for name in ("data", "indices", "indptr")}
    same_result(with_parts(**parts), kernel)


def test_the_callers_matrix_is_not_changed_nor_its_values_copied():
    from wellsvm._input import checked_sparse

    whole = sp.csr_matrix(X)
    before = whole.copy()
    made = checked_sparse(whole)
    assert np.shares_memory(made.data, whole.data)
    assert np.shares_memory(made.indices, whole.indices)
    assert not np.shares_memory(checked_sparse(whole, own=True).indices, whole.indices)
    assert (whole != before).nnz == 0


# ------------------------------------------------------------------ numbers and labels


def test_numbers_that_overflow_are_refused_by_name():
    for params in ({"C": 10**400}, {"C_unlabeled": 10**400}, {"C": 1e200}, {"tol": 10**400}, {"max_iter": 10**19}):
        with pytest.raises(ValueError, match=next(iter(params))):
            SemiSupervisedSVC(**params).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_init must be .* at most"):
        MaxMarginClustering(n_init=10**19).fit(X)
    with pytest.raises(ValueError, match="random_state"):
        MultiInstanceSVC(random_state="a").fit(BAGS, LABELS)


def test_weights_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"C times sample_weight is .* for row 0"):
        SemiSupervisedSVC().fit(X, Y, np.full(N, 1e308))
    with pytest.raises(ValueError, match="C times class_weight"):
        SemiSupervisedSVC(class_weight={0: 1e308, 1: 1.0}).fit(X, Y)


def test_small_integers_of_numpy_as_cache_size():
    SemiSupervisedSVC(kernel="rbf", cache_size=np.int8(2), random_state=0).fit(X, Y)


def test_values_that_vanish_are_told_and_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for scaled in (X * 1e-160, X * 1e-200, (X * 1e-30).astype(np.float32), sp.csr_matrix(X * 1e-160)):
            with pytest.raises(ValueError, match=r"gamma='mean'.*vanish"):
                SemiSupervisedSVC(kernel="rbf").fit(scaled, Y)
        with pytest.raises(ValueError, match="kernel='poly' gives NaN or infinity"):
            SemiSupervisedSVC(kernel="poly", gamma=1.0).fit(X * 1e110, Y)


def test_a_precomputed_kernel_near_the_end_of_float32_is_refused():
    K = (X @ X.T).astype(np.float32)
    with pytest.raises(ValueError, match="divide the matrix by the mean of its diagonal"):
        SemiSupervisedSVC(kernel="precomputed").fit(K / K.max() * np.float32(3e38), Y)
    with pytest.raises(ValueError, match="too large beside C"):
        SemiSupervisedSVC(kernel="precomputed").fit(K * np.float32(1e25), Y)


def test_complex_instances_mixed_labels_and_names_of_bags_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        MultiInstanceSVC().fit([bag + 1j for bag in BAGS], LABELS)
    with pytest.raises(ValueError, match="Complex data not supported"):
        Bags(sp.csr_matrix(X + 1j), np.arange(N) // 4)
    with pytest.raises(TypeError, match="y mixes strings"):
        MultiInstanceSVC().fit(BAGS, ["a", 1] * 5)
    with pytest.raises(ValueError, match="real numbers"):
        SemiSupervisedSVC(kernel=lambda a, b: a @ b.T + 1j).fit(X, Y)
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="mix names"):
        MultiInstanceSVC().fit(pd.DataFrame(X, columns=["a", 1, 2]), LABELS, np.arange(N) // 4)
    for fit in (
        lambda frame: SemiSupervisedSVC().fit(frame, Y),
        lambda frame: Bags(frame, np.arange(N) // 4),
    ):
        with pytest.raises(ValueError, match="two columns called 'a'"):
            fit(pd.DataFrame(X, columns=["a", "a", "b"]))


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
    "support_vectors_": [lambda m: m.support_vectors_[:, :-1], lambda m: m.support_vectors_ * np.inf],
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


# ------------------------------------------------------------------ 9: a matrix changed by another thread


@pytest.mark.slow
def test_another_thread_that_changes_the_matrix_does_not_end_the_process():
    S = sp.random(300, 50, 0.2, "csr", random_state=0)
    y, stop, draw = (
        np.where(np.arange(300) < 40, np.arange(300) % 2, np.nan),
        threading.Event(),
        np.random.default_rng(0),
    )

    def disturb():
        while not stop.is_set():
            for part, bad in ((S.indices, -1), (S.indices, LARGE), (S.indptr, LARGE)):
                at = draw.integers(1, len(part) - 1)
                before, part[at] = part[at], bad
                time.sleep(0.0005)
                part[at] = before
                time.sleep(0.01)

    thread = threading.Thread(target=disturb)
    thread.start()
    outcomes, end = [], time.monotonic() + 3.0
    quick = {"safe": False, "balance": "labels", "max_iter": 1, "random_state": 0}
    while time.monotonic() < end:
        for fit in (
            lambda: SemiSupervisedSVC(kernel="rbf", **quick).fit(S, y),
            lambda: SemiSupervisedSVC(**quick).fit(S, y),
            lambda: MultiInstanceSVC(kernel="linear", max_iter=1).fit(S, np.arange(75) % 2, np.arange(300) // 4),
        ):
            try:
                fit()
                outcomes.append("fitted")
            except ValueError as error:
                outcomes.append(str(error))
    stop.set()
    thread.join()
    assert outcomes  # and nothing but a ValueError has come: the process is still there
