"""Data on a cluster as partitions that the workers load, check and keep."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from distributed import Client, Future, get_client

from wellsvm.dask.blocks import DaskRows, described
from wellsvm.dask.cluster import Cluster
from wellsvm.dask.tasks import hold, load
from wellsvm.rows.blocks import bytes_of

__all__ = ["fetched", "partitions_of", "rows"]

TIMEOUT, WORKER_TIMEOUT = 60.0, 300.0  # as Dask's own: a worker that starts takes seconds, a machine minutes


def rows(
    X: Any,
    client: Client | None = None,
    memory: Any = "2 GB",
    timeout: float = TIMEOUT,
    worker_timeout: float = WORKER_TIMEOUT,
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
        `NoWorkersError` is raised within this many seconds after the scheduler has lost the last worker.

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
    cluster = Cluster(client, timeout, worker_timeout)
    parts, names = partitions_of(X)
    if not parts:
        raise ValueError("X has no partitions; at least one is needed")
    return DaskRows(cluster, _loaded(cluster, parts), bytes_of(memory), names)


def partitions_of(X: Any) -> tuple[list[Any], list[str] | None]:
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


def _loaded(cluster: Cluster, parts: list[Any]) -> list[Future]:
    """Checked partitions of one width, kind and type, kept by the workers."""
    given = [part if isinstance(part, Future) else _sent(cluster, part) for part in parts]
    loaded = [cluster.submit(load, part, f"partition {k} of X") for k, part in enumerate(given)]
    seen = described(cluster, loaded)
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


def _sent(cluster: Cluster, part: Any) -> Future:
    """A partition as a future that the scheduler can make again."""
    if dask.is_dask_collection(part):
        return cluster.client.compute(part)
    return cluster.submit(hold, part)


def fetched(values: Any, beside: Any = None) -> Any:
    """Labels or groups of a dask collection: by the cluster of the rows ``beside`` them, the current one or threads."""
    if isinstance(beside, DaskRows):
        cluster = beside.cluster
    else:
        try:
            cluster = Cluster(get_client(), TIMEOUT, WORKER_TIMEOUT)
        except ValueError:  # no cluster: threads of this process
            return values.compute()
    (found,) = cluster.results(lambda numbers: [cluster.client.compute(values)], 1)
    return found
