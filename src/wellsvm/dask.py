"""Rows on a Dask cluster: workers look at their partitions, this process descends on copies of the working rows.

Every task is a pure function of its arguments and has a key of its own, so that the scheduler can run it again anywhere
when a worker is lost. What all tasks of a pass need is sent as the result of a task, since scattered data cannot be
recovered. What comes back is taken in the order of the partitions: results do not depend on the number of workers.
"""

from __future__ import annotations

import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.options import Options
from wellsvm.rows.blocks import Blocks, bytes_of, look_for
from wellsvm.rows.checked import checked_part
from wellsvm.rows.linear import LinearRows

try:
    import dask
    from distributed import Client, Future, KilledWorker, get_client, wait
except ImportError as error:
    raise ImportError("wellsvm.dask needs dask and distributed: pip install 'wellsvm[dask]'") from error

__all__ = ["DaskRows", "NoWorkersError", "lazily", "rows"]

MOST_SECONDS = 10**8  # three years: longer waits overflow clocks
LOST = (KilledWorker, CancelledError, TimeoutError, OSError)  # what the loss of a worker may look like from here


class NoWorkersError(RuntimeError):
    """No worker of the cluster has answered for too long, or passes have failed repeatedly."""


def rows(
    X: Any, client: Client | None = None, memory: Any = "2 GB", timeout: float = 60, worker_timeout: float = 300
) -> DaskRows:
    """Rows on a Dask cluster, for `fit`, `predict` and `decision_function` of estimators with a linear kernel.

    Parameters
    ----------
    X : dask array or dataframe, or list of partitions
        Partitions are arrays, CSR matrices, delayed objects or futures of them. They are loaded once and kept by the
        workers; a partition that is lost with its worker is loaded again.
    client : distributed.Client, optional
        The cluster; None means the current one.
    memory : str or int, default="2 GB"
        Memory that a fit may use in this process for rows copied from the workers: a string such as "500 MB", or a
        number of bytes.
    timeout : float, default=60
        Tasks are sent out again if for this many seconds no task finishes and no worker is busy.
    worker_timeout : float, default=300
        `NoWorkersError` is raised after this many seconds without any worker.

    Returns
    -------
    DaskRows
        An object that estimators accept as X. Labels and bags stay in this process.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> import wellsvm
    >>> client = Client(n_workers=2)  # doctest: +SKIP
    >>> X = wellsvm.dask.rows(da.random.random((1000, 20), chunks=(250, 20)), memory="100 MB")  # doctest: +SKIP
    """
    cluster = _Cluster(client, timeout, worker_timeout)
    parts, names = _partitions(X)
    if not parts:
        raise ValueError("X has no partitions; at least one is needed")
    return DaskRows(cluster, _loaded(cluster, parts), bytes_of(memory), names)


# ------------------------------------------------------------------ tasks: pure functions, run by the workers


def hold(value: Any) -> Any:
    """A value as the result of a task."""
    return value


def load(X: Any, name: str, dtype: Any = None) -> LinearRows:
    """A partition, checked and laid out for the loops."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    X = checked_part(X, name)
    return LinearRows(aligned(X if dtype is None else X.astype(dtype, copy=False)))


def describe(part: LinearRows) -> tuple[Any, ...]:
    """What the driver needs to know of a partition."""
    X = part.X
    if not sparse.issparse(X):
        return X.shape, X.dtype, False, np.dtype(np.int32), None
    return X.shape, X.dtype, True, X.indices.dtype, np.diff(X.indptr).astype(np.int32)


def made_part(make: Callable[..., Matrix], own: Any, *found: Matrix) -> LinearRows:
    """A partition made of rows of others."""
    X = sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.concatenate(found)
    return LinearRows(make(aligned(X), own))


def look_at_combination(part: LinearRows, bias: float, coef: FloatArray) -> FloatArray:
    """``sum_j coef_j [x_j; bias]`` over the rows of the partition."""
    return part.with_bias(bias).combine(coef)


def look_at_sum(part: LinearRows) -> FloatArray:
    """Sum of the rows."""
    return np.asarray(np.add.reduce(part.X, axis=0, dtype=np.float64))


def looked(look: Callable[..., Any], part: LinearRows, *arguments: Any) -> Any:
    """What a look sees; arrays that were received lie anywhere in memory, and the loops need them aligned."""
    return look(part, *map(aligned, arguments))


def aligned(value: Any) -> Any:
    """Arrays, and those of a CSR matrix, copied where they are not aligned and contiguous."""
    if sparse.issparse(value):
        made = sparse.csr_matrix(value.shape, dtype=value.dtype)
        made.data, made.indices, made.indptr = (aligned(part) for part in (value.data, value.indices, value.indptr))
        return made
    return np.require(value, requirements=("C", "A", "W")) if isinstance(value, np.ndarray) else value


def applied(model: Any, method: str, X: Any) -> np.ndarray:
    """A method of a model on the rows of one partition."""
    X = X.X if isinstance(X, LinearRows) else X
    if X.shape[0] == 0:
        return np.asarray(getattr(model, method)(_some_row(X)))[:0]
    return np.asarray(getattr(model, method)(X))


def _some_row(X: Any) -> Any:
    width = X.shape[1]
    return type(X)(np.zeros((1, width)), columns=X.columns) if hasattr(X, "columns") else np.zeros((1, width))


# ------------------------------------------------------------------ the driver's side


class _Cluster:
    """A client whose waits are all bounded. It is never pickled: a copy elsewhere asks for the client there."""

    def __init__(self, client: Client | None, timeout: float, worker_timeout: float) -> None:
        for name, value in (("timeout", timeout), ("worker_timeout", worker_timeout)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_SECONDS:
                raise ValueError(
                    f"{name} must be a number of seconds, greater than 0 and at most {MOST_SECONDS:g}; got {value!r}"
                )
        if client is not None and not isinstance(client, Client):
            raise TypeError(f"client must be a distributed.Client or None; got client={client!r:.80}")
        self._client, self.timeout, self.worker_timeout = client, float(timeout), float(worker_timeout)
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
        done, failures = 0, 0
        while done < n:
            try:
                futures = send(list(range(done, n)))
                while futures:
                    group, futures = futures[: Options.dask_group], futures[Options.dask_group :]
                    self._wait(group)
                    gather = partial(self.client.gather, group, asynchronous=True)
                    for value in self.client.sync(gather, callback_timeout=self.timeout):
                        done += 1
                        yield aligned(value)
            except LOST as error:
                failures += 1
                if failures >= Options.dask_attempts:
                    raise NoWorkersError(
                        f"a pass over the rows failed {failures} times, last by {type(error).__name__}: {error}. Look "
                        "at the logs of the workers; give them more memory, or make partitions smaller, and fit again"
                    ) from error

    def _wait(self, futures: list[Future]) -> None:
        """Wait for tasks: for ever while workers are at work, else for a bounded time."""
        changed = alone_since = monotonic()
        n_done = -1
        while True:
            try:
                wait(futures, timeout=min(Options.dask_look, self.worker_timeout / 4))
                return
            except TimeoutError:
                now, n_before, n_workers = monotonic(), n_done, self._n_workers()
                if n_workers > 0:
                    alone_since = now
                elif now - alone_since >= 0.75 * self.worker_timeout:
                    raise NoWorkersError(self._gone()) from None
                n_done = sum(future.done() for future in futures)
                if n_done > n_before or n_workers == 0 or any(self.client.processing().values()):
                    changed = now
                elif now - changed > self.timeout:
                    raise

    def _n_workers(self) -> int:
        if self.client.status not in ("running", "connecting"):
            raise NoWorkersError(self._gone())
        return len(self.client.scheduler_info()["workers"])

    def _gone(self) -> str:
        return (
            f"no worker of the Dask cluster answers (worker_timeout={self.worker_timeout:g}). Start workers, or a new "
            "cluster and wellsvm.dask.rows on it, and call fit again; with checkpoint=path it goes on where it was"
        )


class DaskRows(Blocks):
    """Rows on a Dask cluster; see `rows`."""

    is_lazy = True

    def __init__(self, cluster: _Cluster, parts: Sequence[Future], memory: int, names: Any = None) -> None:
        self.cluster, self.parts, self.memory, self.feature_names = cluster, list(parts), memory, names
        seen = _described(cluster, self.parts)
        shapes, dtypes, kinds, indices, lengths = zip(*seen)
        self.shape = (sum(shape[0] for shape in shapes), shapes[0][1])
        self.dtype, self.is_sparse, self.index_dtype = dtypes[0], kinds[0], np.result_type(*indices)
        self.lengths = np.concatenate(lengths) if self.is_sparse else None
        self.offsets = np.concatenate([[0], np.cumsum([shape[0] for shape in shapes])]).astype(np.int64)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("rows on a Dask cluster cannot be pickled; create them again with wellsvm.dask.rows")

    def each(
        self, look: Callable[..., Any], shared: tuple[Any, ...] = (), own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        """All blocks at once, wherever they are."""
        chosen = list(range(self.n_blocks)) if which is None else list(which)

        def send(numbers: list[int]) -> list[Future]:
            held = [self.cluster.submit(hold, value) if isinstance(value, np.ndarray) else value for value in shared]
            arguments = [[value] * len(numbers) for value in held]
            if own is not None:
                arguments.append([own[n] for n in numbers])
            parts = [self.parts[chosen[n]] for n in numbers]
            return self.cluster.submit_all(looked, [look] * len(numbers), parts, *arguments)

        return self.cluster.results(send, len(chosen))

    def combine(self, coef: FloatArray, bias: float) -> FloatArray:
        """Added up in the order of the partitions."""
        slices = [coef[self.offsets[k] : self.offsets[k + 1]] for k in range(self.n_blocks)]
        which = [k for k in range(self.n_blocks) if slices[k].any()]
        return self._sum(
            self.each(look_at_combination, (bias,), [slices[k] for k in which], which),
            (self.shape[1] + 1, coef.shape[1]),
        )

    def total(self) -> FloatArray:
        """Added up in the order of the partitions."""
        return self._sum(self.each(look_at_sum), (self.shape[1],))

    @staticmethod
    def _sum(found: Iterator[FloatArray], shape: tuple[int, ...]) -> FloatArray:
        total = next(found, None)
        if total is None:
            return np.zeros(shape)
        for other in found:
            total += other
        return total

    def cuts(self, chosen: IntArray) -> list[IntArray]:
        """As the partitions are cut."""
        ends = np.searchsorted(chosen, self.offsets)
        return [chosen[ends[k] : ends[k + 1]] for k in range(self.n_blocks) if ends[k] < ends[k + 1]]

    def made(self, cuts: Sequence[IntArray], make: Callable[..., Matrix], own: Sequence[Any]) -> DaskRows:
        """Made and kept by the workers."""
        parts = []
        for cut, value in zip(cuts, own):
            ends = np.searchsorted(cut, self.offsets)
            touched = [k for k in range(self.n_blocks) if ends[k] < ends[k + 1]]
            found = [
                self.cluster.submit(looked, look_for, self.parts[k], cut[ends[k] : ends[k + 1]] - self.offsets[k])
                for k in touched
            ]
            parts.append(self.cluster.submit(made_part, make, value, *found))
        return DaskRows(self.cluster, parts, self.memory)


# ------------------------------------------------------------------ partitions


def _partitions(X: Any) -> tuple[list[Any], list[str] | None]:
    """The partitions of what was given, and names of the features."""
    if isinstance(X, (list, tuple)):
        return list(X), None
    if not dask.is_dask_collection(X):
        raise TypeError(
            "X must be a dask array or dataframe, or a list of partitions (arrays, CSR matrices, delayed objects, "
            f"futures); got {type(X).__name__}"
        )
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        return list(X.to_delayed()), names if all(isinstance(name, str) for name in X.columns) else None
    if getattr(X, "ndim", None) != 2:
        raise ValueError(f"X has {getattr(X, 'ndim', 'no')} dimensions; expected two (rows, features)")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel()), None


def _loaded(cluster: _Cluster, parts: list[Any]) -> list[Future]:
    """Checked partitions of one width, kind and type, kept by the workers."""
    given = [part if isinstance(part, Future) else _sent(cluster, part) for part in parts]
    loaded = [cluster.submit(load, part, f"partition {k} of X") for k, part in enumerate(given)]
    seen = _described(cluster, loaded)
    for k, (shape, _, is_sparse, _, _) in enumerate(seen):
        if shape[1] != seen[0][0][1]:
            raise ValueError(f"partition {k} of X has {shape[1]} features, partition 0 has {seen[0][0][1]}")
        if is_sparse != seen[0][2]:
            kinds = ["sparse" if kind else "dense" for kind in (is_sparse, seen[0][2])]
            raise ValueError(
                f"partition {k} of X is {kinds[0]}, partition 0 is {kinds[1]}; make all of them the same kind"
            )
    dtype = np.result_type(*([own for shape, own, *_ in seen if shape[0]] or [seen[0][1]]))  # empty ones have no say
    for k, (_, own, *_) in enumerate(seen):
        if own != dtype:
            loaded[k] = cluster.submit(load, given[k], f"partition {k} of X", dtype)
    return loaded


def _described(cluster: _Cluster, parts: list[Future]) -> list[Any]:
    return list(cluster.results(lambda numbers: cluster.submit_all(describe, [parts[n] for n in numbers]), len(parts)))


def _sent(cluster: _Cluster, part: Any) -> Future:
    """A partition as a future that the scheduler can make again."""
    if dask.is_dask_collection(part):
        return cluster.client.compute(part)
    return cluster.submit(hold, part)


def lazily(model: Any, method: str, X: Any) -> Any:
    """A method of a model on a dask array or dataframe, or on `rows`: a dask array that is not computed yet."""
    import dask.array as da

    if isinstance(X, DaskRows):
        parts, width, sizes = X.parts, X.shape[1], np.diff(X.offsets).tolist()
    else:
        parts, _ = _partitions(X)
        width = X.shape[1]
        known = not hasattr(X, "columns") and not np.isnan(X.chunks[0]).any()
        sizes = list(X.chunks[0]) if known else [np.nan] * len(parts)
    names = list(X.columns) if hasattr(X, "columns") else None
    some = _named_row(X, names) if names else np.zeros((1, width))
    sample = applied(model, method, some)
    held, call = dask.delayed(model), dask.delayed(applied)
    made = [
        da.from_delayed(call(held, method, part), (size, *sample.shape[1:]), sample.dtype)
        for part, size in zip(parts, sizes)
    ]
    return da.concatenate(made, axis=0)


def _named_row(X: Any, names: list[Any]) -> Any:
    return X._meta_nonempty.head(1)[names] if hasattr(X, "_meta_nonempty") else np.zeros((1, len(names)))
