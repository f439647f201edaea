"""Workers in processes that are killed: a fit ends with the same bits, or with an error in time, and goes on later."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from wellsvm import SemiSupervisedSVC

distributed = pytest.importorskip("distributed")

import wellsvm.dask as on_dask  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 5)) + np.repeat([[0.0], [1.0]], 200, axis=0)
PARTIAL = np.where(np.arange(400) % 20 == 0, np.repeat([0, 1], 200), -1)
PARTS = [X[:100], X[100:300], X[300:]]
PARAMETERS = {
    "unlabeled": -1, "random_state": 0, "balance": "labels", "safe": False, "search": "local", "C_unlabeled": 0.01,
}  # fmt: skip


def cluster_of(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )


def kill(cluster, which, restart=True):
    """kill -9 of workers that this test has started."""

    async def never():
        return distributed.Status.failed

    for nanny in list(cluster.workers.values())[which]:
        if not restart:
            nanny.instantiate = never  # a nanny has no switch for it
        os.kill(nanny.process.pid, signal.SIGKILL)


@pytest.mark.slow
def test_killed_workers(tmp_path):
    def fitted(client, **parameters):
        rows = on_dask.rows(PARTS, client, timeout=20, worker_timeout=15)
        return SemiSupervisedSVC(**PARAMETERS, **parameters).fit(rows, PARTIAL)

    def fitted_again_and_again(client):
        for _ in range(100):
            fitted(client, checkpoint=tmp_path / "fit")

    with cluster_of(2) as cluster, distributed.Client(cluster) as client:
        expected = fitted(client).coef_
        timer = threading.Timer(0.3, kill, (cluster, slice(0, 1)))
        timer.start()
        np.testing.assert_array_equal(fitted(client).coef_, expected)
        timer.join()
        client.wait_for_workers(2, timeout=120)
        # All of them, for good.
        timer = threading.Timer(0.3, kill, (cluster, slice(None), False))
        timer.start()
        began = time.monotonic()
        with pytest.raises(on_dask.NoWorkersError, match=r"worker_timeout=15.*checkpoint"):
            fitted_again_and_again(client)
        timer.join()
        assert time.monotonic() - began < 15 + 60  # and the fits before it
    with cluster_of(1) as cluster, distributed.Client(cluster) as client:  # another number of workers
        np.testing.assert_array_equal(fitted(client, checkpoint=tmp_path / "fit").coef_, expected)
    assert not (tmp_path / "fit").exists()
