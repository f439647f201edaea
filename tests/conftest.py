"""Shared by all tests: one thread, where the real data are, what to leave out without them, which checks are slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

# Problems of tests are small: threads of BLAS and OpenMP would spend their time waiting for each other, most of all
# beside other processes (a file of tests took 94 s of processor time in place of 6). The variables are for what is
# loaded or started later; NumPy is loaded already, by pytest's filters of warnings.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
if not any(name in os.environ for name in THREADS):
    os.environ.update(dict.fromkeys(THREADS, "1"))
    threadpool_limits(1)


def _data_folder() -> Path | None:
    """The folder that WELLSVM_DATA names, else shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    candidates = [Path(os.environ["WELLSVM_DATA"])] if os.environ.get("WELLSVM_DATA") else [beside]
    return next((folder for folder in candidates if any(folder.glob("*.npz"))), None)


DATA_FOLDER = _data_folder()

# Checks of scikit-learn that take more than about two seconds: their test has no place for a marker.
SLOW_CHECKS = tuple(
    f"SemiSupervisedSVC()-{check}"
    for check in ("check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow checks; skip what is marked `data` where there are none."""
    for item in items:
        if any(check in item.nodeid for check in SLOW_CHECKS):
            item.add_marker(pytest.mark.slow)
    if DATA_FOLDER is not None:
        return
    skip = pytest.mark.skip(reason="no real data: set WELLSVM_DATA to a folder of .npz sets")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder of real data sets."""
    if DATA_FOLDER is None:
        pytest.skip("no real data: set WELLSVM_DATA to a folder of .npz sets")
    return DATA_FOLDER
