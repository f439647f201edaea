"""Hot loops: the compiled module where it was built, else the NumPy reference. One place decides.

``WELLSVM_BACKEND=reference`` asks for the reference; ``WELLSVM_ISA=base|avx2`` for an older instruction set.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from wellsvm.native import reference

__all__ = ["CancelFlag", "backend", "backend_name", "make_gram", "make_rows", "slices"]

# A native call may last about this many multiply-adds (well under 100 ms), so that Ctrl-C, callbacks and
# time limits can act between two calls.
WORK_PER_CALL = 20_000_000


def _choose_backend() -> ModuleType:
    if os.environ.get("WELLSVM_BACKEND") == "reference":
        return reference
    try:
        from wellsvm.native import _native
    except ImportError:
        warnings.warn(
            "wellsvm runs on its NumPy reference backend, which is slow: the compiled module is missing. "
            "Install a C++ compiler and reinstall wellsvm to build it.",
            RuntimeWarning,
            stacklevel=2,
        )
        return reference
    return _native


backend = _choose_backend()


def backend_name() -> str:
    """Name of the backend and its instruction set, as ``native (avx2)`` or ``reference (numpy)``."""
    kind = "reference" if backend is reference else "native"
    return f"{kind} ({backend.isa()})"


def make_rows(X: Any, module: ModuleType | None = None) -> Any:
    """Rows of a C-contiguous dense or a CSR matrix, of float32 or float64, without a copy.

    The kernels cannot use an array that lies askew in memory, nor the strided arrays SciPy allows: these are copied.
    """
    module = backend if module is None else module
    if sparse.issparse(X):
        data, indices, indptr = (np.require(part, requirements=("C", "A")) for part in (X.data, X.indices, X.indptr))
        if indices.dtype != indptr.dtype:  # SciPy allows it; only the short row pointers are widened
            common = np.promote_types(indices.dtype, indptr.dtype)
            indices, indptr = indices.astype(common, copy=False), indptr.astype(common, copy=False)
        return module.csr_rows(data, indices, indptr, X.shape[1])
    return module.dense_rows(np.require(X, requirements="A"))


def make_gram(K: np.ndarray, places: np.ndarray | None = None, module: ModuleType | None = None) -> Any:
    """A square C-contiguous kernel matrix of float32 or float64, without a copy.

    Or some of its rows: that of instance j is then row ``places[j]`` of K, negative where it is not at hand. Its owner
    may change both arrays between two calls.
    """
    return (backend if module is None else module).gram(K, places)


class CancelFlag:
    """A wish to stop, shared by threads: those that `watch` it end at their next slice once it is set."""

    def __init__(self) -> None:
        self.cancelled = False

    def watch(self) -> None:
        """Make the calling thread stop when this flag is set."""
        _thread.flag = self

    def cancel(self) -> None:
        """Set the flag."""
        self.cancelled = True


_thread = threading.local()


def slices(n: int, work_per_row: float) -> Iterator[tuple[int, int]]:
    """Cut ``n`` rows into pieces that each keep a native call short.

    Python handles Ctrl-C between two pieces in the main thread; other threads look at their `CancelFlag`.
    """
    flag = getattr(_thread, "flag", None)
    step = max(1, int(WORK_PER_CALL / max(work_per_row, 1.0)))
    for begin in range(0, n, step):
        if flag is not None and flag.cancelled:
            raise KeyboardInterrupt
        yield begin, min(begin + step, n)
