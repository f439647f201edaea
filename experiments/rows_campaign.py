"""Parts of the campaign without a cluster: budgets of some of the rows, and a large folder beside memory."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm import SemiSupervisedSVC, open_rows, write_rows
from wellsvm.datasets import make_sparse_text
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.block_rows import linear_rows
from wellsvm.rows.blocks import LocalBlocks
from wellsvm.solver import begin, solve_master

__all__ = ["PARAMETERS", "PROBLEMS", "budgets", "digest", "large", "text"]

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


class Reads:
    """Counts how many times all rows are looked at, and copied, while it is entered: rows of any blocks count."""

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.looked, self.copied = n_rows, 0.0, 0.0
        self._before = {name: getattr(LocalBlocks, name) for name in ("each", "combine", "look_up")}

    def __enter__(self) -> Reads:
        before = self._before

        def each(blocks: Any, look: Any, *rest: Any) -> Any:
            self.looked += 0.0 if look.__name__ == "look_for" else blocks.shape[0] / self.n_rows
            return before["each"](blocks, look, *rest)

        def combine(blocks: Any, *rest: Any) -> Any:
            self.looked += blocks.shape[0] / self.n_rows
            return before["combine"](blocks, *rest)

        def look_up(blocks: Any, chosen: Any) -> Any:
            self.copied += chosen.size / self.n_rows
            return before["look_up"](blocks, chosen)

        for name, counted in (("each", each), ("combine", combine), ("look_up", look_up)):
            setattr(LocalBlocks, name, counted)
        return self

    def __exit__(self, *error: object) -> None:
        for name, function in self._before.items():
            setattr(LocalBlocks, name, function)


def whole_fit(X: Any, y: np.ndarray, seed: int) -> tuple[str, float]:
    """A fit with default parameters: its bits, and its objective."""
    model = SemiSupervisedSVC(unlabeled=-1, random_state=seed).fit(X, y)
    return digest(model), float(model.objective_)


def one_master(n_vectors: int, X: Any, y: np.ndarray, seed: int) -> tuple[str, float]:
    """The SVM on one label vector, or the relaxation over several, to the usual tolerance."""
    rows, rng = linear_rows(X, 1.0), np.random.default_rng(seed)
    n = rows.n_instances
    scores = rows.scores(rng.standard_normal((rows.n_features + 1, 1)))[:, 0]
    signs = np.where(scores > np.median(scores), 1, -1).astype(np.int8)
    labels = [np.where(np.arange(n) % 9 == t, -signs, signs).astype(np.int8) for t in range(n_vectors)]
    state = begin(rows, BalancedLabels(np.zeros(n, np.int8), n // 2), Losses.of("hinge", np.full(n, 0.2)))
    for candidate in state.candidates(labels):
        state.add(candidate)
    solved = solve_master(state, np.full(n_vectors, 1 / n_vectors), np.arange(n), rng, tol=1e-3)
    return hashlib.blake2b(solved.alpha.tobytes(), digest_size=8).hexdigest(), solved.upper


PROBLEMS: dict[str, Callable[[Any, np.ndarray, int], tuple[str, float]]] = {
    "whole fit": whole_fit,
    "SVM on given labels": partial(one_master, 1),
    "relaxation over two label vectors": partial(one_master, 2),
}


def budgets(note: Callable[..., None], number: int, folder: Path) -> None:
    """Problems whose working rows are held to a share of all rows, beside memory and a folder held whole."""
    n = 20_000 if number < 5 else 100_000
    X, y = text(n)
    path = write_rows(folder / f"rows-{number}", X, y, block_rows=n // 20)
    for problem, solve in PROBLEMS.items():
        bits, objective = solve(X, y, number)
        reads = {}
        for share in (2.0, 0.1, 0.05):
            with Reads(n) as reads[share]:
                found = solve(open_rows(path, int(share * X.nnz * 12 / Options.working_share)), y, number)
            if share < 1:
                whole, own = reads[2.0], reads[share]
                note(
                    problem=problem, rows=n, share=share, same_bits=found[0] == bits,
                    objective=abs(found[1] / objective - 1), passes=own.looked / whole.looked,
                    read=(own.looked + own.copied) / (whole.looked + whole.copied),
                )  # fmt: skip


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
