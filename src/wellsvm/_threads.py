"""Threads that share X and the kernel matrix, and that stop when the user presses Ctrl-C.

joblib's thread pool leaves its workers running after an interrupt. Here every worker carries a flag that the kernels'
slices look at (see `wellsvm.native.slices`), and `run` waits for the workers before it passes the interrupt on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import TypeVar

from joblib import effective_n_jobs

from wellsvm.native import CancelFlag

__all__ = ["run"]

Value = TypeVar("Value")


def run(tasks: Sequence[Callable[[], Value]], n_jobs: int | None = None) -> list[Value]:
    """Results of the tasks, in their order; ``n_jobs`` as in scikit-learn."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be a whole number or None; got {n_jobs!r} of type {type(n_jobs).__name__}")
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        return [task() for task in tasks]
    flag = CancelFlag()
    with ThreadPoolExecutor(n_threads, initializer=flag.watch) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            flag.cancel()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
