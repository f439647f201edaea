"""Large things that must work: more than 2^31 stored entries, a thousand classes."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import tempfile
from typing import Any

import numpy as np
import scipy.sparse as sp

from campaign.outcomes import outcome_of
from wellsvm import SemiSupervisedSVC

WIDTH, COPIES = 2**20, 2050  # 2,149,580,800 entries, 2,097,152 more than an int32 can count
MAP_FIXED = 0x10


def repeated(blocks: list[np.ndarray], copies: int) -> np.ndarray:
    """The blocks, over and over, as one array: pages of one small file, mapped many times side by side."""
    size = sum(block.nbytes for block in blocks)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    with tempfile.TemporaryFile() as file:
        file.write(b"".join(block.tobytes() for block in blocks))
        file.flush()
        anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        start = libc.mmap(None, size * copies, 0, anonymous | 0x4000, -1, 0)  # MAP_NORESERVE
        for k in range(copies):
            libc.mmap(start + k * size, size, mmap.PROT_READ, mmap.MAP_SHARED | MAP_FIXED, file.fileno(), 0)
    buffer = (ctypes.c_byte * (size * copies)).from_address(start)
    return np.frombuffer(buffer, blocks[0].dtype)


def more_than_int32(_: Any) -> tuple[str, str]:
    """Predict and fit on rows of which the last ones lie beyond entry 2^31."""
    return outcome_of(_fit_large)


def _fit_large() -> None:
    rng = np.random.default_rng(0)
    one, other = (rng.standard_normal(WIDTH).astype(np.float32) for _ in range(2))
    columns = np.arange(WIDTH, dtype=np.int64)
    data, indices = repeated([one, other], COPIES // 2), repeated([columns], COPIES)
    indptr = np.arange(COPIES + 1, dtype=np.int64) * WIDTH
    X = sp.csr_matrix((COPIES, WIDTH), dtype=np.float32)
    X.data, X.indices, X.indptr = data, indices, indptr
    assert X.nnz > 2**31
    y = np.where(np.arange(COPIES) < 20, np.arange(COPIES) % 2, np.nan)
    model = SemiSupervisedSVC(C=1e-3, safe=False, balance=0.5, search="local", max_iter=1, tol=0.1, random_state=0)
    predicted = model.fit(X, y).predict(X)
    assert np.array_equal(predicted, np.arange(COPIES) % 2), "the last rows are not what the first ones are"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 2**20, "the matrix was copied"


def thousand_classes(_: Any) -> tuple[str, str]:
    """A thousand classes, two labels each."""

    def fit() -> None:
        rng = np.random.default_rng(0)
        centres = rng.standard_normal((1000, 40)) * 3
        truth = np.tile(np.arange(1000), 3)
        X = centres[truth] + 0.1 * rng.standard_normal((3000, 40))
        y = np.where(np.arange(3000) < 2000, truth, np.nan)
        model = SemiSupervisedSVC(safe=False, balance="labels", search="local", max_iter=2, tol=0.1, random_state=0)
        assert np.mean(model.fit(X, y).predict(X[2000:]) == truth[2000:]) > 0.9
        assert len(os.listdir("/proc/self/fd")) < 200

    return outcome_of(fit)
