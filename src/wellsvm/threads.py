"""Work in short pieces: threads that share the data, and that stop when the user presses Ctrl-C.

A native call must not last: Python handles an interrupt between two calls. `slices` cuts the work, and looks at the
flag that `run` gives to every thread. (joblib's thread pool leaves its workers running after an interrupt, and a pool
for each pass would cost as much as a short pass.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

__all__ = ["WORK_PER_CALL", "one_thread", "run", "slices", "stop_if_cancelled", "work_per_call"]

# A native call may last about this many multiply-adds (well under 100 ms), so that Ctrl-C, callbacks and time limits
# can act between two calls.
WORK_PER_CALL = 20_000_000

Value = TypeVar("Value")


class CancelFlag:
    """A wish to stop, shared by threads: those that `watch` it end at their next slice once it is set.

    Work inside other work also ends where that is to stop.
    """

    def __init__(self) -> None:
        self._outer: CancelFlag | None = getattr(_thread, "flag", None)
        self._set = False

    @property
    def cancelled(self) -> bool:
        """Whether to stop."""
        return self._set or (self._outer is not None and self._outer.cancelled)

    def cancel(self) -> None:
        """Set the flag."""
        self._set = True

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While it lasts, the calling thread stops when this flag is set."""
        before = getattr(_thread, "flag", None)
        _thread.flag = self
        try:
            yield
        finally:
            _thread.flag = before


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
    """Results of the tasks, in their order; ``n_jobs`` as in scikit-learn. An interrupt waits for the threads.

    The calling thread works, too: passes over the rows may take a millisecond, and to start a thread and to wait for
    it takes a tenth of that.
    """
    n_threads = min(effective_n_jobs(n_jobs), len(tasks)) if len(tasks) > 1 else 1
    if n_threads <= 1:
        return [task() for task in tasks]
    work = _Work(tasks)
    helpers = [threading.Thread(target=work.go_on) for _ in range(n_threads - 1)]
    try:
        for helper in helpers:
            helper.start()
        work.go_on()
        for helper in helpers:
            helper.join()
    except BaseException:  # an interrupt between two tasks
        work.flag.cancel()
        for helper in helpers:
            if helper.ident is not None:
                helper.join()
        raise
    if work.failures:
        raise work.failures[0]
    return [work.results[k] for k in range(len(tasks))]


class _Work(Generic[Value]):
    """Tasks that several threads take in turn, until none is left or one fails."""

    def __init__(self, tasks: Sequence[Callable[[], Value]]) -> None:
        self.flag = CancelFlag()
        self.results: dict[int, Value] = {}
        self.failures: list[BaseException] = []  # the first one is the reason for the others
        self._tasks, self._turns = tasks, iter(range(len(tasks)))

    def go_on(self) -> None:
        """Do what is left, beside other threads."""
        with self.flag.watched():
            try:
                for k in self._turns:
                    stop_if_cancelled()
                    self.results[k] = self._tasks[k]()
            except BaseException as failure:
                self.failures.append(failure)
                self.flag.cancel()


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
