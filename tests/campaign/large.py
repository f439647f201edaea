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

from campaign.isolation import in_child
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


def _matrix(n_rows: int) -> Any:
    """Rows of two kinds in turn, with WIDTH entries each."""
    rng = np.random.default_rng(0)
    kinds = [rng.standard_normal(WIDTH).astype(np.float32) for _ in range(2)]
    X = sp.csr_matrix((n_rows, WIDTH), dtype=np.float32)
    X.data, X.indices = repeated(kinds, n_rows // 2), repeated([np.arange(WIDTH, dtype=np.int64)], n_rows)
    X.indptr = np.arange(n_rows + 1, dtype=np.int64) * WIDTH
    return X


def predict_beyond_int32(_: Any) -> tuple[str, str]:
    """Predict rows of which the last ones lie beyond entry 2^31, by a model of a few of them."""
    return _apart(lambda: _beyond_int32(6))


def fit_beyond_int32(_: Any) -> tuple[str, str]:
    """The same, by a model fitted to all of them."""
    return _apart(lambda: _beyond_int32(COPIES))


def _apart(act: Any) -> tuple[str, str]:
    """In a child that may take 2 GiB of memory of its own: pages that are mapped many times count as often in its peak,
    but not against this limit."""

    def limited() -> tuple[str, str]:
        resource.setrlimit(resource.RLIMIT_DATA, (2 * 2**30, 2 * 2**30))
        kind, words = outcome_of(act)
        return ("memory", words) if kind == "refused" else (kind, words)

    try:
        return in_child(limited)
    except EOFError:
        return "crash", "the child has ended"


def _beyond_int32(n_fitted: int) -> None:
    X = _matrix(COPIES)
    assert X.nnz > 2**31
    y = np.where(np.arange(n_fitted) < 6, np.arange(n_fitted) % 2, np.nan)
    model = SemiSupervisedSVC(C=1e-3, safe=False, balance=0.5, search="local", max_iter=1, tol=0.1, random_state=0)
    model.fit(X if n_fitted == COPIES else _matrix(n_fitted), y)
    assert np.array_equal(model.predict(X), np.arange(COPIES) % 2), "the last rows are not what the first ones are"


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
