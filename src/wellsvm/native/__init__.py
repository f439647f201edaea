"""Hot loops: the compiled module where it was built, else the NumPy reference. One place decides.

``WELLSVM_BACKEND=reference`` asks for the reference; ``WELLSVM_ISA=base|avx2`` for an older instruction set.
"""

from __future__ import annotations

import os
import warnings
from types import ModuleType

from wellsvm.native import reference

__all__ = ["backend", "backend_name"]


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
