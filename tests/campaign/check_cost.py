"""What the check of a sparse matrix costs beside a fit, counted in instructions by callgrind.

    python -m campaign.check_cost make 508049 FOLDER        rows like RCV1's: 47,236 columns, about 73 entries each
    valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=FOLDER/out \
        python -m campaign.check_cost count FOLDER          writes the instructions of one check, and of one fit
    python -m campaign.check_cost time FOLDER               processor time instead, without valgrind

Counting begins and ends with ``callgrind_control``, from within: what lies between is the call alone. The fit has the
parameters with the fewest passes over the rows (given shares, no search, no judgement), where the share of the check is
the largest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from wellsvm import SemiSupervisedSVC
from wellsvm._input import checked_sparse

PARTS = ("data", "indices", "indptr", "y")
CHEAPEST = {"safe": False, "balance": "labels", "search": "local", "C_unlabeled": 0.1, "random_state": 0}


def make(n_rows: int, folder: Path) -> None:
    """Write the arrays of the rows and their labels, of which 2 % are known."""
    from wellsvm.datasets import make_sparse_text

    X, y = make_sparse_text(n_rows, n_features=47_236, nnz_per_row=73, random_state=0)
    known = np.random.default_rng(0).random(n_rows) < 0.02
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in zip(PARTS, (X.data, X.indices, X.indptr, np.where(known, y.astype(float), np.nan))):
        np.save(folder / f"{name}.npy", part)


def load(folder: Path) -> tuple[Any, np.ndarray]:
    """The rows and their labels."""
    data, indices, indptr, y = (np.load(folder / f"{name}.npy") for name in PARTS)
    X = sp.csr_matrix((len(y), 47_236), dtype=data.dtype)
    X.data, X.indices, X.indptr = data, indices, indptr
    return X, y


def instructions(act: Callable[[], Any], out: Path) -> int:
    """Instructions of a call, by callgrind, under which this process runs."""
    control = ["callgrind_control", "-i"]
    subprocess.run([*control, "on", str(os.getpid())], check=True, capture_output=True)
    act()
    subprocess.run([*control, "off", str(os.getpid())], check=True, capture_output=True)
    subprocess.run(["callgrind_control", "-d", str(os.getpid())], check=True, capture_output=True)
    newest = max(out.parent.glob(f"{out.name}*"), key=lambda path: path.stat().st_mtime_ns)
    totals = re.findall(r"^(?:totals|summary): (\d+)", newest.read_text(), re.MULTILINE)
    return int(totals[-1])


def main() -> None:
    """Run the command."""
    what, *rest = sys.argv[1:]
    if what == "make":
        make(int(rest[0]), Path(rest[1]))
        return
    folder = Path(rest[0])
    X, y = load(folder)
    acts = {"check": lambda: checked_sparse(X), "fit": lambda: SemiSupervisedSVC(**CHEAPEST).fit(X, y)}
    SemiSupervisedSVC(**CHEAPEST).fit(X[:200], np.where(np.arange(200) < 20, np.arange(200) % 2, np.nan))  # imports
    print(f"{X.shape[0]:,} rows, {X.nnz:,} entries", flush=True)
    for name, act in acts.items():
        began = time.process_time()
        if what == "time":
            act()
            print(f"{name}: {time.process_time() - began:.3f} s of processor time", flush=True)
        else:
            print(f"{name}: {instructions(act, folder / 'out') / 1e6:,.1f} million instructions", flush=True)


if __name__ == "__main__":
    main()
