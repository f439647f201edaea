"""No wait is for ever: wherever the last worker is lost, `NoWorkersError` comes, however long a standstill may be."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

import wellsvm.dask as on_dask  # noqa: E402
from wellsvm import SemiSupervisedSVC  # noqa: E402

X = np.random.default_rng(0).standard_normal((40, 3))
FOR_EVER = 10**6


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, host="127.0.0.1", protocol="tcp://"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def error_of(call, *arguments):
    """The error of a call; a call that has not ended after a minute hangs."""
    errors = []

    def run():
        try:
            call(*arguments)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it hangs"
    return errors[0] if errors else None


def lose_workers(cluster, client):
    cluster.scale(0)
    while client.scheduler_info()["workers"]:
        pass


async def never(*args, **kwargs):
    await asyncio.sleep(FOR_EVER)


def rows_on(client, worker_timeout=2):
    return on_dask.rows([X[:20], X[20:]], client, timeout=FOR_EVER, worker_timeout=worker_timeout)


def test_tasks_that_no_worker_runs(cluster, client):
    rows = rows_on(client)
    lose_workers(cluster, client)
    error = error_of(rows.total)
    assert isinstance(error, on_dask.NoWorkersError)
    assert "worker_timeout=2" in str(error)
    assert isinstance(error_of(rows_on, client), on_dask.NoWorkersError)  # loading


def test_results_that_cannot_be_fetched(cluster, client, monkeypatch):
    rows = rows_on(client)

    async def of_lost_workers(futures, **kwargs):
        await distributed.wait(futures)
        await asyncio.to_thread(lose_workers, cluster, client)
        await never()

    monkeypatch.setattr(client, "gather", of_lost_workers)
    assert isinstance(error_of(rows.total), on_dask.NoWorkersError)


def test_a_scheduler_that_does_not_answer(client, monkeypatch):
    rows = rows_on(client)
    monkeypatch.setattr(client, "gather", never)
    monkeypatch.setattr(client.scheduler, "processing", never, raising=False)
    assert isinstance(error_of(rows.total), on_dask.NoWorkersError)


def test_labels_on_the_cluster(cluster, client):
    rows, y = rows_on(client), da.from_array(np.arange(40) % 2, chunks=10)
    lose_workers(cluster, client)
    assert isinstance(error_of(SemiSupervisedSVC().fit, rows, y), on_dask.NoWorkersError)


def test_a_cluster_or_client_that_was_closed(cluster, client):
    rows = rows_on(client)
    cluster.close()
    assert isinstance(error_of(rows.total), on_dask.NoWorkersError)
    client.close()
    assert isinstance(error_of(rows.total), on_dask.NoWorkersError)
    assert isinstance(error_of(rows_on, client), on_dask.NoWorkersError)


def test_results_that_stand_still_are_asked_for_again(client, monkeypatch):
    rows, gather, asked = rows_on(client), client.gather, []
    rows.cluster.timeout = 0.5

    def at_second(*args, **kwargs):
        asked.append(1)
        return never() if len(asked) == 1 else gather(*args, **kwargs)

    monkeypatch.setattr(client, "gather", at_second)
    assert (
        error_of(lambda: np.testing.assert_array_equal(rows.total(), X[:20].sum(axis=0) + X[20:].sum(axis=0))) is None
    )
    assert len(asked) == 2


def test_the_error_comes_before_its_limit():
    """0.75 of the limit without a worker, and two looks of an eighth of it each at most."""
    for limit in (0.1, 2.0, 300.0):
        cluster = on_dask.cluster.Cluster(None, 60, limit)
        assert cluster._patience + 2 * cluster._look <= limit
