"""Rows on a Dask cluster, of workers in this process: same answers as in memory, odd partitions, lazy predictions."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

import wellsvm.dask as on_dask  # noqa: E402

RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((300, 6)) + np.repeat([[0.0], [1.0]], 150, axis=0)
Y = np.repeat([0, 1], 150)
PARTIAL = np.where(np.arange(300) % 15 == 0, Y, -1)
PARAMETERS = {
    "unlabeled": -1, "random_state": 0, "balance": "labels", "safe": False, "search": "local", "C_unlabeled": 0.01,
}  # fmt: skip


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.admin.tick.limit": "1h"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            host="127.0.0.1",
            protocol="tcp://",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def cut(X, n):
    ends = np.linspace(0, X.shape[0], n + 1).astype(int)
    return [X[begin:end] for begin, end in pairwise(ends)]


def fitted(X, y=PARTIAL, **parameters):
    return SemiSupervisedSVC(**{**PARAMETERS, **parameters}).fit(X, y)


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_one_partition_gives_the_bits_of_memory_and_more_nearly_so(client, kind):
    X = sparse.csr_matrix(DENSE) if kind == "csr" else DENSE
    memory = fitted(X)
    one = fitted(on_dask.rows(cut(X, 1)))
    np.testing.assert_array_equal(one.coef_, memory.coef_)
    np.testing.assert_array_equal(one.transduction_, memory.transduction_)
    more = fitted(on_dask.rows(cut(X, 3)))
    assert more.objective_ == pytest.approx(memory.objective_, rel=1e-6)
    assert np.mean(more.transduction_ == memory.transduction_) >= 0.999


def test_default_parameters_and_a_budget(client):
    X = sparse.csr_matrix(DENSE)
    memory = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(X, PARTIAL)
    model = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(on_dask.rows(cut(X, 2)), PARTIAL)
    assert np.mean(model.transduction_ == memory.transduction_) > 0.98
    memory, one = fitted(X), fitted(on_dask.rows([X], memory=20_000))  # half of the rows
    np.testing.assert_array_equal(one.coef_, memory.coef_)
    two = fitted(on_dask.rows(cut(X, 2), memory=20_000))
    assert np.mean(two.transduction_ == memory.transduction_) > 0.98


def test_clusters_and_bags(client):
    X = da.from_array(DENSE, chunks=(110, 4))  # chunks of columns are joined
    memory, model = MaxMarginClustering(random_state=0).fit(DENSE), MaxMarginClustering(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, memory.labels_)
    groups, y = np.arange(300) // 7, np.arange(43) % 2  # a bag straddles two partitions
    bags = MultiInstanceSVC(kernel="linear", C_positive=0.01, C_negative=0.01, random_state=0, tol=1e-2, max_iter=3)
    expected = bags.fit(Bags(DENSE, groups), y).objective_
    assert bags.fit(X, y, groups=groups).objective_ == pytest.approx(expected, rel=0.02)


def test_predictions_are_lazy_and_those_of_memory(client):
    import pandas as pd

    model = fitted(DENSE)
    X = da.from_array(DENSE, chunks=(90, 6))
    for method in ("predict", "decision_function"):
        lazy = getattr(model, method)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.shape == (300,)
        np.testing.assert_array_equal(lazy.compute(), getattr(model, method)(DENSE))
    rows = on_dask.rows(X)
    assert isinstance(model.predict(rows), da.Array)
    np.testing.assert_array_equal(np.asarray(model.predict(rows)), model.predict(DENSE))
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(DENSE, columns=list("abcdef"))
    named = dd.from_pandas(frame, npartitions=3)
    model = fitted(named, da.from_array(PARTIAL, chunks=70))
    assert model.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_array_equal(model.predict(named).compute(), model.predict(frame))
    three = fitted(DENSE, np.where(np.arange(300) % 15 == 0, np.arange(300) // 15 % 3, -1))
    assert three.decision_function(X).compute().shape == (300, 3)


def test_partitions_of_every_kind(client):
    X = DENSE
    parts = [
        X[:0], X[:1], X[1:14], dask.delayed(X[14:70]), client.submit(lambda a: a, X[70:140]),
        X[140:200].astype(np.float32), np.asfortranarray(X[200:]),
    ]  # fmt: skip
    rows = on_dask.rows(parts)
    assert rows.dtype == np.float64
    assert np.diff(rows.offsets).tolist() == [0, 1, 13, 56, 70, 60, 100]
    assert np.all(PARTIAL[1:14] == -1)  # a partition without any label
    assert set(PARTIAL[14:70]) == {-1, 0}  # and one whose labels are of one class
    rounded = X.copy()
    rounded[140:200] = X[140:200].astype(np.float32)
    np.testing.assert_array_equal(rows[:], rounded)
    memory, model = fitted(rounded), fitted(rows)
    assert model.objective_ == pytest.approx(memory.objective_, rel=1e-6)
    whole = on_dask.rows([np.arange(6).reshape(2, 3), sparse.csr_matrix((0, 3)).toarray()])
    assert whole.dtype == np.float64
    with pytest.raises(ValueError, match="0 sample"):
        fitted(on_dask.rows([X[:0], X[:0]]), PARTIAL[:0])


def test_unknown_chunk_sizes(client):
    X = da.from_array(DENSE, chunks=(100, 6))
    X = X[da.from_array(np.arange(300) % 2 == 0, chunks=100)]
    assert np.isnan(X.shape[0])
    rows = on_dask.rows(X)
    assert rows.shape == (150, 6)
    np.testing.assert_array_equal(rows[:], DENSE[::2])
    model = fitted(X, PARTIAL[::2])
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(DENSE[::2]))


@pytest.mark.parametrize(
    "parts, told",
    [
        ([DENSE, DENSE[:, :3]], "partition 1 of X has 3 features"),
        ([DENSE, sparse.csr_matrix(DENSE)], "partition 1 of X is sparse"),
        ([DENSE[:5], np.full((2, 6), np.nan)], "partition 1 of X contains NaN in row 0"),
        ([np.array([["a"]])], "partition 0 of X holds <U1"),
        ([np.ones(3)], "two dimensions"),
        ([], "no partitions"),
    ],
)
def test_partitions_that_do_not_fit_together(client, parts, told):
    with pytest.raises(ValueError, match=told):
        on_dask.rows(parts)


@pytest.mark.parametrize("error", [FileNotFoundError, TimeoutError, ZeroDivisionError])
def test_errors_of_loading_are_told_as_they_are(client, error):
    def missing():
        raise error("rows-7.parquet")

    with pytest.raises(error, match=r"rows-7\.parquet"):
        on_dask.rows([DENSE, dask.delayed(missing)()])


def test_what_is_no_dask_input(client):
    with pytest.raises(TypeError, match="list of partitions"):
        on_dask.rows(DENSE)
    with pytest.raises(ValueError, match="timeout"):
        on_dask.rows([DENSE], timeout=0)
    with pytest.raises(ValueError, match="memory"):
        on_dask.rows([DENSE], memory="much")
    with pytest.raises(ValueError, match="Nystroem"):
        fitted(on_dask.rows([DENSE]), kernel="rbf")
    with pytest.raises(ValueError, match="two"):
        on_dask.rows(da.ones(5))


def test_the_client_is_never_pickled(client):
    rows = on_dask.rows([DENSE], client=client)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(rows)
    assert pickle.loads(pickle.dumps(rows.cluster))._client is None
    model = fitted(rows)
    assert pickle.loads(pickle.dumps(model)).coef_.tolist() == model.coef_.tolist()


def test_keys_are_our_own_and_nothing_is_left_behind(client):
    import gc
    import time

    rows = on_dask.rows(cut(DENSE, 2))
    name = rows.cluster._name

    def held():
        return sorted(key for keys in client.has_what().values() for key in map(str, keys) if name in key)

    def waited_for(wanted):
        for _ in range(100):
            gc.collect()
            if len(held()) == wanted:
                return held()
            time.sleep(0.1)
        raise AssertionError(held())

    fitted(rows)
    assert all(key.startswith("wellsvm-load-") for key in waited_for(2))  # one copy of the data
    del rows
    waited_for(0)
