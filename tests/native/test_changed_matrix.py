"""The arrays of a sparse matrix are the caller's: a change after they were checked raises, and cannot crash."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from wellsvm.native import reference
from wellsvm.rows.linear import native_rows

native = pytest.importorskip("wellsvm.native._native", reason="the compiled module was not built")

CHANGED = "was changed after it was checked"


def calls_on(rows, n_rows, n_features, width):
    """Everything the kernels do with the columns of a matrix."""
    U, Z, coef = np.zeros((n_features + 1, width)), np.empty((n_rows, width)), np.ones((n_rows, width))
    ones = np.ones(n_rows)
    dual = None, ones, ones, ones, np.ones(n_rows)
    labels, mu, order = np.ones((n_rows, width), np.int8), np.ones(width), np.arange(n_rows)
    return (
        lambda: rows.scores(U, 1.0, 0, n_rows, Z),
        lambda: rows.combine(coef, 1.0, 0, n_rows, U),
        lambda: rows.descend(*dual, labels, mu, U, 1.0, order),
    )


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("part, at, value", [(1, 4, 4), (1, 2, -1), (1, 3, 2**31 - 1), (2, 2, 2**31 - 1), (2, 2, -9)])
def test_a_sparse_matrix_changed_later_is_refused(module, index, width, part, at, value):
    parts = np.ones(7), np.array([0, 3, 1, 2, 3, 0, 1], index), np.array([0, 1, 1, 7], index)
    rows = module.csr_rows(*parts, 4)
    for call in calls_on(rows, 3, 4, width):
        before = parts[part][at]
        call()
        parts[part][at] = value
        with pytest.raises(ValueError, match=CHANGED):
            call()
        parts[part][at] = before
        call()


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("value", [-1, 30, 2**31 - 1])
def test_every_column_of_a_row_is_looked_at_whichever_block_it_is_read_in(real, index, width, value):
    parts = np.ones(15, real), np.arange(15).astype(index), np.array([0, 15], index)  # blocks of 8, 4, 1, 1 and 1
    rows = native.csr_rows(*parts, 30)
    for call in calls_on(rows, 1, 30, width):
        for at in range(15):
            parts[1][at] = value
            with pytest.raises(ValueError, match=CHANGED):
                call()
            parts[1][at] = at
        call()


def test_a_sparse_matrix_changed_by_another_thread_raises_or_does_no_harm():
    rng = np.random.default_rng(0)
    S = sparse.random(2000, 300, 0.1, "csr", random_state=rng)
    calls, stop = calls_on(native_rows(S, module=native), 2000, 300, 1), threading.Event()

    def disturb():
        while not stop.is_set():
            for part, bad in ((S.indices, -1), (S.indices, 2**31 - 1), (S.indptr, 2**31 - 1)):
                at = rng.integers(1, len(part))
                before, part[at] = part[at], bad
                part[at] = before

    thread = threading.Thread(target=disturb)
    thread.start()
    messages = []
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        for call in calls:
            try:
                call()
            except ValueError as error:
                messages.append(str(error))
    stop.set()
    thread.join()
    assert all(CHANGED in message for message in messages)


@pytest.mark.skipif("WELLSVM_SANITIZED" not in os.environ, reason="only make sanitize builds with sanitizers")
def test_the_module_under_test_has_sanitizers():
    symbols = Path(native.__file__).read_bytes()
    assert b"__asan_report_load" in symbols
    assert b"__ubsan_handle" in symbols
