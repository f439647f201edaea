"""What a fit on blocks holds besides the rows it copies: some vectors of all rows, and no more."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from wellsvm import write_rows

# Measured: docs/guide_blocks.md tells these figures. The second is what is held while the workers or the disk look.
PEAK, BETWEEN = 80, 72

FIT = """
import sys, tracemalloc
from wellsvm import SemiSupervisedSVC, open_rows
from wellsvm.rows.block_rows import BlockRows
path, balance = sys.argv[1], sys.argv[2]
balance = balance if balance == "estimate" else float(balance)
between, look = [0], BlockRows.weighted_scores

def watched(*args):
    between[0] = max(between[0], tracemalloc.get_traced_memory()[0])
    return look(*args)

BlockRows.weighted_scores = watched  # the pass that every round of a fit begins with
tracemalloc.start(1)
rows = open_rows(path, 2_000_000)
SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=1e-2, balance=balance).fit(rows, rows.y)
print(tracemalloc.get_traced_memory()[1], between[0])
"""


def held(folder, n, balance):
    """The most bytes of a fit, and the most before a pass over all rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n).astype(np.int8)
    shares = 1 / np.arange(1, 2001) * np.exp(0.8 * rng.standard_normal((2, 2000)))
    columns = np.empty((n, 10), np.int32)
    for k in range(2):
        columns[y == k] = rng.choice(2000, (int((y == k).sum()), 10), p=shares[k] / shares[k].sum())
    X = sparse.csr_matrix((np.ones(10 * n, np.float32), columns.ravel(), np.arange(0, 10 * n + 1, 10)), (n, 2000))
    X.sum_duplicates()
    partial = np.where(np.arange(n) < 200, y, np.int8(-1))
    path = write_rows(folder / str(n), X, partial, block_rows=2000)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIT, str(path), str(balance)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return np.array(told.split(), dtype=int)


@pytest.mark.slow
@pytest.mark.parametrize("balance", ["estimate", 0.5])
def test_bytes_a_row(tmp_path, balance):
    few, many = 60_000, 120_000  # both are searched by a sample first, so that the same moments are compared
    peak, between = (held(tmp_path, many, balance) - held(tmp_path, few, balance)) / (many - few)
    assert peak < PEAK, f"{peak:.0f} bytes a row"
    assert between < BETWEEN, f"{between:.0f} bytes a row"
