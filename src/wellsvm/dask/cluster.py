"""A client whose waits are all bounded: lost tasks are sent out again; where no worker is left, an error comes in time.

A wait is a request that the client's event loop works on while this thread looks at the scheduler about every second.
"""

from __future__ import annotations

import warnings
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

from distributed import Client, Future, KilledWorker, get_client

from wellsvm.dask.tasks import aligned
from wellsvm.options import Options

__all__ = ["Cluster", "NoWorkersError"]

MOST_SECONDS = 10**8  # three years: longer waits overflow clocks
LOST = (KilledWorker, CancelledError, TimeoutError, OSError)  # what the loss of a worker may look like from here


class NoWorkersError(RuntimeError):
    """No worker of the cluster has answered for too long, or passes have failed repeatedly."""


class Cluster:
    """The client is never pickled: a copy elsewhere asks for the client there.

    Parameters
    ----------
    client : distributed.Client or None
        None is the current one.
    timeout : float
        Tasks are sent out again if nothing happens for so many seconds.
    worker_timeout : float
        `NoWorkersError` comes within so many seconds after the scheduler has lost the last worker.
    """

    def __init__(self, client: Client | None, timeout: float, worker_timeout: float) -> None:
        for name, value in (("timeout", timeout), ("worker_timeout", worker_timeout)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_SECONDS:
                raise ValueError(
                    f"{name} must be a number of seconds, greater than 0 and at most {MOST_SECONDS:g}; got {value!r}"
                )
        if client is not None and not isinstance(client, Client):
            raise TypeError(f"client must be a distributed.Client or None; got client={client!r:.80}")
        self._client, self.timeout, self.worker_timeout = client, float(timeout), float(worker_timeout)
        # The last look with a worker, the wait for the next look and its own answer add up to worker_timeout at most.
        self._look, self._patience = min(Options.dask_look, self.worker_timeout / 8), 0.75 * self.worker_timeout
        self._name, self._numbers = uuid4().hex[:10], count()

    def __getstate__(self) -> dict[str, Any]:
        return {"timeout": self.timeout, "worker_timeout": self.worker_timeout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, **state)  # type: ignore[misc]

    @property
    def client(self) -> Client:
        """The client given, or the current one."""
        if self._client is None:
            try:
                self._client = get_client()
            except ValueError:
                raise ValueError(
                    "no Dask client was found: create one first, for example client = distributed.Client(address), or "
                    "pass it to wellsvm.dask.rows(X, client=client)"
                ) from None
        if self._client.status not in ("running", "connecting"):
            raise NoWorkersError(self._gone())
        return self._client

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Send a task out under a key of its own."""
        return self.submit_all(function, *([argument] for argument in arguments))[0]

    def submit_all(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Future]:
        """Send tasks out in one message, the k-th with the k-th of all arguments."""
        name = f"wellsvm-{function.__name__}-{self._name}"
        keys = [f"{name}-{next(self._numbers)}" for _ in arguments[0]]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # it is meant
            return list(self.client.map(function, *arguments, key=keys, pure=False))

    def results(self, send: Callable[[list[int]], list[Future]], n: int) -> Iterator[Any]:
        """Results of the tasks 0 to n - 1, in their order; tasks that are lost are sent again."""
        done, failures, seen = 0, 0, monotonic()
        group: list[Future] = []
        while done < n:
            try:
                futures = send(list(range(done, n)))
                while futures:
                    group, futures = futures[: Options.dask_group], futures[Options.dask_group :]
                    for value in self._gathered(group, seen):
                        done += 1
                        yield aligned(value)
                    seen = monotonic()
            except LOST as error:
                if not isinstance(error, KilledWorker) and any(future.status == "error" for future in group):
                    raise  # by the task itself: a file that is not there, say
                failures += 1
                if failures >= Options.dask_attempts:
                    raise NoWorkersError(
                        f"a pass over the rows failed {failures} times, last by {type(error).__name__}: {error}. Look "
                        "at the logs of the workers; give them more memory, or make partitions smaller, and fit again"
                    ) from error

    def _gathered(self, futures: list[Future], seen: float) -> list[Any]:
        """Results of tasks: waited for as long as workers are at work, else for a bounded time.

        ``seen`` is when a worker was last known to be there.
        """

        async def gather() -> Any:
            return await self.client.gather(futures, asynchronous=True)

        loop: Any = self.client.loop
        request = run_coroutine_threadsafe(gather(), loop.asyncio_loop)
        changed, n_done = monotonic(), 0
        try:
            while True:
                try:
                    return list(request.result(self._look))
                except TimeoutError:
                    if request.done():
                        raise
                workers_busy, n_before, now = self._busy(), n_done, monotonic()
                if workers_busy:
                    seen = now
                elif now - seen >= self._patience:
                    raise NoWorkersError(self._gone())
                n_done = sum(future.done() for future in futures)
                if n_done > n_before or not workers_busy or any(workers_busy):
                    changed = now
                elif now - changed > self.timeout:
                    raise TimeoutError(f"nothing happened for {self.timeout:g} s")
        finally:
            request.cancel()

    def _busy(self) -> list[bool]:
        """Whether each worker has something to do; empty if there is none, or the scheduler does not answer."""
        try:
            client = self.client
            found = client.sync(client.scheduler.processing, workers=None, callback_timeout=self._look)
        except (TimeoutError, OSError):
            return []
        return [bool(tasks) for tasks in found.values()]

    def _gone(self) -> str:
        return (
            f"no worker of the Dask cluster answers (worker_timeout={self.worker_timeout:g}). Start workers, or a new "
            "cluster and wellsvm.dask.rows on it, and call fit again; with checkpoint=path it goes on where it was"
        )
