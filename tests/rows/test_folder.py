"""A folder of rows: what is written comes back, what is damaged or unfinished does not open."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from wellsvm import open_rows, write_rows
from wellsvm.rows.folder_writing import FolderWriter

X = sparse.random(100, 30, 0.2, format="csr", random_state=0)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_rows_come_back_as_they_were_written(tmp_path, kind, dtype):
    values = (X * 10).astype(dtype)
    values = values if kind == "csr" else values.toarray()
    rows = open_rows(write_rows(tmp_path / "rows", values, block_rows=33))
    assert rows.dtype == (dtype if dtype != np.int16 else np.float64)
    assert rows.n_blocks == 4
    assert rows.shape == (100, 30)
    back = rows[:]
    assert np.array_equal(back.toarray() if kind == "csr" else back, values.toarray() if kind == "csr" else values)


def test_parts_from_a_generator_and_wide_rows_with_long_indices(tmp_path):
    wide = sparse.csr_matrix((np.ones(2), ([0, 1], [5, 2**33])), shape=(2, 2**33 + 1))
    rows = open_rows(write_rows(tmp_path / "wide", (part for part in (wide, wide))))
    assert rows.index_dtype == np.int64
    assert rows[[3]].indices.tolist() == [2**33]


@pytest.mark.parametrize(
    "y",
    [
        np.arange(100), np.where(np.arange(100) < 9, 1.0, np.nan), np.array(["a", "bc"] * 50),
        np.array(["a", None] * 50, dtype=object), np.ma.MaskedArray(np.arange(100), np.arange(100) > 20),
    ],
)  # fmt: skip
def test_labels_and_groups_beside_the_rows(tmp_path, y):
    rows = open_rows(write_rows(tmp_path / "rows", X, y, groups=np.arange(100) // 4))
    missing = np.ma.getmaskarray(rows.y)
    wanted = np.array([v is None for v in y]) if y.dtype == object else np.ma.getmaskarray(y)
    np.testing.assert_array_equal(missing, wanted)
    assert np.ma.getdata(rows.y)[~missing].tolist() == pytest.approx(np.ma.getdata(y)[~missing].tolist(), nan_ok=True)
    np.testing.assert_array_equal(rows.groups, np.arange(100) // 4)


def test_a_folder_that_was_not_finished_does_not_open_and_is_written_over(tmp_path):
    path = tmp_path / "rows"
    code = "import sys, os; from wellsvm.rows.folder_writing import FolderWriter; from scipy import sparse\n"
    code += f"w = FolderWriter({str(path)!r}, 10); w.append(sparse.random(35, 5, 0.5, format='csr')); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert list(path.iterdir())  # blocks are there, but no manifest
    with pytest.raises(FileNotFoundError, match="writing it was interrupted"):
        open_rows(path)
    assert open_rows(write_rows(path, X)).shape == (100, 30)


def test_an_error_while_writing_leaves_nothing(tmp_path):
    bad = X.toarray()
    bad[70, 3] = np.nan
    with pytest.raises(ValueError, match="NaN in row 70"):
        write_rows(tmp_path / "rows", (bad[k : k + 20] for k in range(0, 100, 20)), block_rows=10)
    with pytest.raises(ValueError, match="one value for each of the 100 rows"):
        write_rows(tmp_path / "rows", X, y=np.arange(99))
    assert not (tmp_path / "rows").exists()


@pytest.mark.parametrize(
    "parts, told",
    [
        ([X, X.toarray()], "dense, unlike"), ([X.toarray(), X.toarray()[:, :5]], "5 features"),
        ([X.astype(np.float32), X], "convert them first"), ([], "no rows"), ([X[:0]], "no rows"),
        ([np.array([["a"]])], "not numbers"), ([np.full((1, 1), 1e200)], "too large"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together(tmp_path, parts, told):
    with pytest.raises(ValueError, match=told):
        write_rows(tmp_path / "rows", iter(parts))


def test_names_of_columns_are_kept_and_must_not_change(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.toarray()[:, :3], columns=list("abc"))
    rows = open_rows(write_rows(tmp_path / "whole", frame))
    assert rows.feature_names == list("abc")
    assert open_rows(write_rows(tmp_path / "again", rows)).feature_names == list("abc")
    parts = write_rows(tmp_path / "parts", (frame[k : k + 20] for k in range(0, 100, 20)), block_rows=30)
    assert open_rows(parts).feature_names == list("abc")
    np.testing.assert_array_equal(open_rows(parts)[:], frame)
    with pytest.raises(ValueError, match=r"row 100 on are \['c', 'b', 'a'\].*same order"):
        write_rows(tmp_path / "mixed", iter([frame, frame[list("cba")]]))
    numbered = pd.DataFrame(X.toarray()[:, :3])
    assert open_rows(write_rows(tmp_path / "numbered", numbered)).feature_names is None


def test_a_folder_in_use_is_not_written_over(tmp_path):
    write_rows(tmp_path / "rows", X)
    with pytest.raises(FileExistsError, match="already contains rows"):
        write_rows(tmp_path / "rows", X)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("precious")
    with pytest.raises(FileExistsError, match=r"not empty.*mine.txt"):
        write_rows(tmp_path / "other", X)
    with pytest.raises(ValueError, match="block_rows"):
        FolderWriter(tmp_path / "third", 0)


@pytest.mark.parametrize("kind", ["data", "indices", "indptr"])
def test_a_damaged_block_is_named(tmp_path, kind):
    path = write_rows(tmp_path / "rows", X, block_rows=25)
    file = path / f"00002.{kind}.npy"
    content = bytearray(file.read_bytes())
    content[-3] ^= 64
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged.*(block 2|row pointers)"):
        open_rows(path)[:]
    file.write_bytes(content[:-8])
    with pytest.raises(ValueError, match=r"damaged.*(block 2|row pointers)"):
        open_rows(path)[:]


@pytest.mark.parametrize("change, told", [({"version": 99}, "version 99"), ({"format": "x"}, "not a manifest")])
def test_other_manifests(tmp_path, change, told):
    path = write_rows(tmp_path / "rows", X)
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, **change}))
    with pytest.raises(ValueError, match=told):
        open_rows(path)
    (path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        open_rows(path)


def test_labels_that_are_damaged(tmp_path):
    path = write_rows(tmp_path / "rows", X, np.arange(100))
    np.save(path / "y.npy", np.arange(100)[::-1])
    with pytest.raises(ValueError, match=r"checksum of y\.npy"):
        open_rows(path).y  # noqa: B018


def test_a_folder_can_be_pickled(tmp_path):
    rows = open_rows(write_rows(tmp_path / "rows", X))
    assert (pickle.loads(pickle.dumps(rows))[:] != X).nnz == 0


def peak_of_anonymous_memory(path, memory):
    """Growth of the largest anonymous memory of a process that fits the folder, in bytes."""
    code = f"""
import threading, time
import numpy as np
from wellsvm import SemiSupervisedSVC, open_rows
def anonymous():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("RssAnon"))
small = np.random.default_rng(0).standard_normal((60, 3))
labels = np.where(np.arange(60) < 9, np.arange(60) % 2, -1)
SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(small, labels)  # what is loaded once
before, peak, done = anonymous(), [0], []
def watch():
    while not done:
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.002)
thread = threading.Thread(target=watch)
thread.start()
rows = open_rows({str(path)!r}, {memory})
model = SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=1e-2).fit(rows, rows.y)
done.append(1)
thread.join()
print(peak[0] - before, model.objective_)
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return int(ran.stdout.split()[0])


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_file_four_times_the_memory_allowed_stays_below_it(tmp_path):
    rng = np.random.default_rng(0)
    n, entries, d = 100_000, 400, 20_000
    y = rng.integers(0, 2, n)
    words = 7 * rng.zipf(1.3, (5000, entries))  # drawn once, as that takes long; every part has them in another order

    def part(begin, end):
        columns = np.sort((rng.permutation(words)[: end - begin] + 400 * y[begin:end, None]) % d, axis=1)
        pointers = np.arange(0, (end - begin) * entries + 1, entries)
        made = sparse.csr_matrix((np.full(columns.size, 0.1), columns.ravel(), pointers), shape=(end - begin, d))
        made.sum_duplicates()
        return made

    partial = np.where(np.arange(n) < 100, y, -1)
    parts = (part(k, k + 5000) for k in range(0, n, 5000))
    path = write_rows(tmp_path / "rows", parts, partial)  # blocks as by default
    size = sum(file.stat().st_size for file in path.glob("0*"))
    peak = peak_of_anonymous_memory(path, size // 8)  # dual variables, labels and margins come on top of the rows
    assert peak < size // 4, f"{peak / 1e6:.1f} MB for a file of {size / 1e6:.1f} MB"
