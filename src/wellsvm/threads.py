"""Work in short pieces: threads that share the data, and that stop when the user presses Ctrl-C.

A native call must not last: Python handles an interrupt between two calls. `slices` cuts the work, and looks at the
flag that `run` gives to every thread. (joblib's thread pool leaves its workers running after an interrupt.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["WORK_PER_CALL", "one_thread", "run", "slices", "stop_if_cancelled", "work_per_call"]

# A native call may last about this many multiply-adds (well under 100 ms), so that Ctrl-C, callbacks and time limits
# can act between two calls.
WORK_PER_CALL = 20_000_000

Value = TypeVar("Value")


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
    """Cut ``n`` rows into pieces that each keep a native call short."""
    step = work_per_call(work_per_row)
    for begin in range(0, n, step):
        stop_if_cancelled()
        yield begin, min(begin + step, n)


def work_per_call(work_per_row: float) -> int:
    """How many rows keep a native call short."""
    return max(1, int(WORK_PER_CALL / max(work_per_row, 1.0)))


def stop_if_cancelled() -> None:
    """End a thread of `run` where another one, or the user, asked for it."""
    flag = getattr(_thread, "flag", None)
    if flag is not None and flag.cancelled:
        raise KeyboardInterrupt


def run(tasks: Sequence[Callable[[], Value]], n_jobs: int | None = None) -> list[Value]:
    """Results of the tasks, in their order; ``n_jobs`` as in scikit-learn. An interrupt waits for the threads."""
    n_threads = min(effective_n_jobs(n_jobs), len(tasks)) if len(tasks) > 1 else 1
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


@contextmanager
def one_thread() -> Iterator[None]:
    """While it lasts, the libraries below us use one thread each: our products are small, and threads that wait for
    each other on a busy machine take many times as long. The limit holds for the whole process, so the first of
    several fits that overlap sets it, and the last one lifts it."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _Limit:
    """The limit of `one_thread`, and how many ask for it."""

    def __init__(self) -> None:
        self._lock, self._askers = threading.Lock(), 0
        self._set: Any = None

    def enter(self) -> None:
        """Set it, unless it is set."""
        with self._lock:
            if self._askers == 0:
                self._set = _libraries().limit(limits=1)
            self._askers += 1

    def leave(self) -> None:
        """Lift it, unless somebody else asks for it."""
        with self._lock:
            self._askers -= 1
            if self._askers == 0:
                self._set.restore_original_limits()


_limit = _Limit()


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that have threads, looked for once, as scikit-learn does: it takes milliseconds."""
    return ThreadpoolController()
