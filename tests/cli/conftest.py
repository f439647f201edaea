"""The command line run in this process, and small data files of every format."""

from __future__ import annotations

import bz2
import gzip
import sys
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

N_ROWS, N_BAGS = 60, 20


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command, as the console script does."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    pytest.importorskip("polars")
    pytest.importorskip("skops")
    from wellsvm import cli

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["wellsvm", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return Done(end.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def rows():
    """Rows of two classes in four features, short enough to be written exactly, and their classes -1 and 1."""
    X = np.random.default_rng(0).standard_normal((N_ROWS, 4)) + 2.0 * (np.arange(N_ROWS) % 2)[:, None]
    return X.round(3), 2 * (np.arange(N_ROWS) % 2) - 1


@pytest.fixture(scope="session")
def bag_of():
    return np.arange(N_ROWS) // (N_ROWS // N_BAGS)


@pytest.fixture(scope="session")
def files(tmp_path_factory, rows, bag_of):
    """A folder of data files; the first 12 rows are labeled, the labels of bags are those of their number's parity."""
    pl = pytest.importorskip("polars")
    folder = tmp_path_factory.mktemp("data")
    X, y = rows
    partial = np.where(np.arange(N_ROWS) < 12, y, 0)
    dump_svmlight_file(X, partial, str(folder / "rows.svm"), zero_based=False)
    content = (folder / "rows.svm").read_bytes()
    (folder / "rows.svm.gz").write_bytes(gzip.compress(content))
    (folder / "rows.svm.bz2").write_bytes(bz2.compress(content))
    dump_svmlight_file(X, bag_of % 2, str(folder / "bags.svm"), zero_based=False, query_id=bag_of)
    columns = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    labels = pl.Series("label", ["yes" if k > 0 else "no" if k < 0 else None for k in partial], dtype=pl.String)
    columns.with_columns(labels).write_csv(folder / "rows.csv")
    columns.with_columns(labels).write_parquet(folder / "rows.parquet")
    bags = pl.Series("bag", [f"bag {k:02}" for k in bag_of])
    columns.with_columns(bags, label=pl.Series(bag_of % 2)).write_csv(folder / "bags.csv")
    columns.write_csv(folder / "plain.csv")
    np.savez(folder / "rows.npz", X=X, y=np.where(partial == 0, np.nan, partial))
    np.savez(folder / "bags.npz", X=X, y=np.arange(N_BAGS) % 2, bag=bag_of)
    sparse.save_npz(folder / "plain.npz", sparse.csr_matrix(X))
    return folder
