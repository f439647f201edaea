"""Parts of the campaign without a cluster: budgets of some of the rows, and a large folder beside memory."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm import SemiSupervisedSVC, open_rows, write_rows
from wellsvm.datasets import make_sparse_text

__all__ = ["PARAMETERS", "budgets", "digest", "large", "text"]

BYTES_A_ROW = 80  # what the driver holds, tests/rows/test_driver_memory.py
IN_TRANSIT = 20_000_000  # portions of rows on their way, whatever the number of rows

PARAMETERS = {"unlabeled": -1, "random_state": 0, "balance": "labels", "safe": False, "search": "local"}


def text(n: int, d: int = 2000, entries: int = 30, n_labeled: int = 40) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Two classes of sparse rows, as words of texts are drawn, and labels of some; -1 is unlabeled."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    shares = 1 / np.arange(1, d + 1) * np.exp(0.8 * rng.standard_normal((2, d)))
    columns = np.empty((n, entries), np.int32)
    for k in range(2):
        columns[y == k] = rng.choice(d, (int((y == k).sum()), entries), p=shares[k] / shares[k].sum())
    X = sparse.csr_matrix((np.ones(n * entries), columns.ravel(), np.arange(0, n * entries + 1, entries)), shape=(n, d))
    X.sum_duplicates()
    return X, np.where(np.arange(n) < n_labeled, y, -1)


def digest(model: Any) -> str:
    """A short name of the bits of a model."""
    return hashlib.blake2b(model.coef_.tobytes() + model.intercept_.tobytes(), digest_size=8).hexdigest()


def budgets(note: Callable[..., None], number: int, folder: Path) -> None:
    """Fits whose working rows are held to a share of all rows, beside memory and a folder held whole."""
    from wellsvm.rows.blocks import LocalBlocks

    seed, (X, y), seen = number, text(20_000), {"looked at": 0.0, "copied": 0.0}
    path = write_rows(folder / f"rows-{number}", X, y, block_rows=1000)
    each, combine, look_up = LocalBlocks.each, LocalBlocks.combine, LocalBlocks.look_up

    def counted_each(self: Any, look: Any, *rest: Any) -> Any:
        seen["looked at"] += 0.0 if look.__name__ == "look_for" else self.shape[0] / X.shape[0]
        return each(self, look, *rest)

    def counted_combine(self: Any, *rest: Any) -> Any:
        seen["looked at"] += self.shape[0] / X.shape[0]
        return combine(self, *rest)

    def counted_look_up(self: Any, chosen: Any) -> Any:
        seen["copied"] += chosen.size / X.shape[0]
        return look_up(self, chosen)

    model = SemiSupervisedSVC(unlabeled=-1, random_state=seed)
    expected, found = digest(model.fit(X, y)), {}
    LocalBlocks.each, LocalBlocks.combine = counted_each, counted_combine  # type: ignore[method-assign, assignment]
    LocalBlocks.look_up = counted_look_up  # type: ignore[method-assign]
    try:
        for share in (2.0, 0.1, 0.05):
            seen |= {"looked at": 0.0, "copied": 0.0}
            bits = digest(model.fit(open_rows(path, int(share * X.nnz * 12 / 0.6)), y))
            found[share] = (bits, seen["looked at"], sum(seen.values()))
    finally:
        LocalBlocks.each, LocalBlocks.combine = each, combine  # type: ignore[method-assign]
        LocalBlocks.look_up = look_up  # type: ignore[method-assign]
    _, passes, read = found.pop(2.0)
    for share, (bits, looked, all_read) in found.items():
        note(share=share, same_bits=bits == expected, passes=looked / passes, read=all_read / read)


def large(note: Callable[..., None], folder: Path, n: int = 508_049) -> None:
    """508,049 x 47,236 of about 51 million entries in blocks beside memory, each in a process of its own.

    Once with memory="100 MB", and once with what a cap of a quarter of the file leaves to the rows.
    """
    X, y = make_sparse_text(n, random_state=0)
    path = write_rows(folder / "large", X, np.where(np.arange(n) < 200, y > 0, -1))
    in_ram = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    shape = X.shape
    del X
    size = sum(file.stat().st_size for file in path.glob("0*"))
    left = size // 4 - BYTES_A_ROW * n - IN_TRANSIT
    found = {}
    for kind, allowed in (("memory", size), ("blocks", 10**8), ("quarter", left)):
        command = [sys.executable, "-m", "experiments.rows_campaign", str(path), kind, str(allowed)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found[kind] = json.loads(out.splitlines()[-1])
    memory = found.pop("memory")
    for kind, blocks in found.items():
        note(
            kind=kind, rows=shape[0], features=shape[1], size=size, in_ram=in_ram, memory=blocks["memory"],
            same_bits=memory["digest"] == blocks["digest"], seconds_in_memory=memory["seconds"],
            seconds_in_blocks=blocks["seconds"], ratio=blocks["seconds"] / memory["seconds"],
            peak_in_memory=memory["peak"], peak_in_blocks=blocks["peak"],
        )  # fmt: skip


def _anonymous() -> int:
    """Memory of this process that no file backs, in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def _measured(path: Path, kind: str, memory: int) -> dict[str, Any]:
    """Processor time and growth of the memory of one fit."""
    small, _ = text(200)
    model = SemiSupervisedSVC(**PARAMETERS, C_unlabeled=0.01)
    model.fit(small, np.where(np.arange(200) < 20, np.arange(200) % 2, -1))  # what is loaded once
    before = _anonymous()
    rows = open_rows(path, memory)
    X, y = rows[:] if kind == "memory" else rows, rows.y
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.005):
            peak[0] = max(peak[0], _anonymous())

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    over.set()
    thread.join()
    return {"seconds": seconds, "peak": peak[0] - before, "digest": digest(model), "memory": memory}


if __name__ == "__main__":  # one fit of the large folder
    print(json.dumps(_measured(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
