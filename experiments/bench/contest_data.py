"""The data of the benchmarks: made or loaded once, written to a file, read by every process that measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler, normalize

from experiments.bench.generators import correlated_rows, overlapping_topics, uneven_table
from experiments.data_folder import available, load_stored
from experiments.internals import FloatArray, IntArray, Matrix
from wellsvm.datasets import make_digit_bags, make_sparse_text
from wellsvm.model_selection import hide_labels

__all__ = ["MAKERS", "ContestData", "DataSource", "make"]


@dataclass(frozen=True)
class DataSource:
    """A function of `MAKERS` and its arguments; ``otherwise`` where the data folder does not hold the set."""

    maker: str
    arguments: dict[str, Any]
    otherwise: DataSource | None = None


@dataclass(frozen=True)
class ContestData:
    """Training rows or bags and, where accuracy is measured on rows never seen, test rows or bags.

    ``y`` holds the true labels -1 and 1, per row or per bag; ``y_partial`` the same with NaN where hidden; ``groups``
    the bag of each row, 0 ... n_bags - 1 in order. ``note`` says what is special about the data.
    """

    X: Matrix
    y: IntArray
    y_partial: FloatArray | None = None
    groups: IntArray | None = None
    X_test: Matrix | None = None
    y_test: IntArray | None = None
    groups_test: IntArray | None = None
    note: str = ""

    @property
    def n_bytes(self) -> int:
        """Size of X in memory."""
        parts = (self.X.data, self.X.indices, self.X.indptr) if sparse.issparse(self.X) else (self.X,)
        return sum(int(part.nbytes) for part in parts)

    def head(self) -> ContestData:
        """A few rows, or bags, of every class: for the warm-up.

        Few, because the memory that a fit gives back stays with the process and would hide what the next one takes.
        """
        per_class = 50 if self.groups is None else 5
        chosen = [np.flatnonzero(self.y == c)[:per_class] for c in (-1, 1)]
        if self.y_partial is not None:
            chosen += [np.flatnonzero(self.y_partial == c)[:10] for c in (-1, 1)]
        units = np.unique(np.concatenate(chosen))
        if self.groups is None:
            return ContestData(self.X[units], self.y[units], None if self.y_partial is None else self.y_partial[units])
        rows = np.flatnonzero(np.isin(self.groups, units))
        return ContestData(self.X[rows], self.y[units], groups=np.searchsorted(units, self.groups[rows]))

    def save(self, path: Path) -> None:
        """Write an archive without compression, which is read straight into arrays of the final size."""
        arrays: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if sparse.issparse(value):
                arrays |= {f"{field.name}.{part}": getattr(value, part) for part in ("data", "indices", "indptr")}
                arrays[f"{field.name}.shape"] = np.array(value.shape)
            elif value is not None:
                arrays[field.name] = np.asarray(value)
        np.savez(path, **arrays)

    @classmethod
    def read(cls, path: Path) -> ContestData:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as archive:
            values: dict[str, Any] = {name: archive[name] for name in archive.files if "." not in name}
            for name in ("X", "X_test"):
                if f"{name}.data" in archive:
                    parts = tuple(archive[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
                    values[name] = sparse.csr_matrix(parts, shape=tuple(archive[f"{name}.shape"]))
        return cls(**{**values, "note": str(values["note"])})


def text(
    n: int, labels: int = 0, test: int = 0, n_features: int = 47_236, nnz_per_row: float = 100.0, **options: Any
) -> ContestData:
    """Documents shaped like RCV1."""
    X, y = make_sparse_text(n + test, n_features, nnz_per_row, random_state=0, **options)
    return _of_rows(X, y.astype(np.int64), labels, n)


def gaussians(n: int, labels: int, test: int = 0, n_features: int = 20) -> ContestData:
    """Dense rows of two classes of two Gaussian clusters each, standardized."""
    X, y = make_classification(
        n + test, n_features, n_informative=10, n_redundant=0, class_sep=1.5, flip_y=0.02, random_state=0
    )
    return _of_rows(StandardScaler().fit_transform(X), 2 * y - 1, labels, n)


def topics(n: int, labels: int, test: int = 0, n_features: int = 47_236, nnz_per_row: float = 75.0) -> ContestData:
    """Documents of overlapping topics, some labels wrong: a generator of another make than `text`."""
    return _of_rows(*overlapping_topics(n + test, n_features, nnz_per_row), labels, n)


def embeddings(n: int, labels: int, test: int = 0, n_features: int = 384) -> ContestData:
    """Dense float32 rows like sentence embeddings."""
    return _of_rows(*correlated_rows(n + test, n_features), labels, n)


def table(n: int, labels: int, test: int = 0, n_features: int = 12) -> ContestData:
    """A table whose columns nobody has scaled."""
    return _of_rows(*uneven_table(n + test, n_features), labels, n)


def folder(name: str, n: int, labels: int = 0, test: int = 0, unit: bool = False) -> ContestData:
    """Rows of a set of the data folder, in random order; dense ones standardized, sparse ones of length 1 if asked."""
    data = load_stored(name)
    rows = np.random.default_rng(0).permutation(data.y.size)[: n + test]
    X = data.X[rows] if sparse.issparse(data.X) else StandardScaler().fit_transform(data.X)[rows]
    if unit:
        X = normalize(X.astype(np.float32))
    return _of_rows(X, data.y[rows], labels, n, data.stand_in or "")


def folder_bags(name: str) -> ContestData:
    """Bags of a set of the data folder, standardized; every fifth bag is for the test."""
    data = load_stored(name)
    return _of_bags(StandardScaler().fit_transform(data.X), data.y, np.asarray(data.groups))


def digit_bags(n_bags: int, bag_size: int) -> ContestData:
    """Bags of digit images; every fifth bag is for the test."""
    data = make_digit_bags(n_bags=n_bags, bag_size=bag_size, random_state=0)
    return _of_bags(StandardScaler().fit_transform(data.X), data.y, data.groups)


def text_bags(n_bags: int, bag_size: int, n_features: int = 47_236, nnz_per_row: float = 100.0) -> ContestData:
    """Bags of documents, every second one positive: it holds one document of the sought class.

    There are ``n_bags`` bags to train on and a quarter as many more for the test.
    """
    n = n_bags + n_bags // 4
    X, y = make_sparse_text(
        n * bag_size, n_features, nnz_per_row, positive_fraction=(n // 2) / (n * bag_size), random_state=0
    )
    of_bag = np.where(np.arange(n) % 2, 1, -1)
    sought = np.zeros((n, bag_size), dtype=bool)
    sought[of_bag > 0, 0] = True
    place = np.random.default_rng(0).permuted(sought, axis=1).ravel()
    rows = np.empty(y.size, dtype=np.int64)
    rows[place], rows[~place] = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    return _of_bags(X[rows], of_bag, np.repeat(np.arange(n), bag_size))


MAKERS: dict[str, Callable[..., ContestData]] = {
    maker.__name__: maker
    for maker in (text, topics, embeddings, table, gaussians, folder, folder_bags, digit_bags, text_bags)
}


def make(source: DataSource) -> ContestData:
    """The data of a source, or of its stand-in, with a note that says so, where the folder lacks the set."""
    name = source.arguments.get("name")
    if source.otherwise is not None and name not in available():
        data = MAKERS[source.otherwise.maker](**source.otherwise.arguments)
        note = f"generated stand-in: {name} is not in the data folder"
        return ContestData(**{field.name: getattr(data, field.name) for field in fields(data)} | {"note": note})
    return MAKERS[source.maker](**source.arguments)


def _of_rows(X: Matrix, y: IntArray, labels: int, n: int, note: str = "") -> ContestData:
    """The first ``n`` rows train, the others test."""
    partial = hide_labels(y[:n].astype(np.float64), n_labeled=labels, random_state=0) if labels else None
    test = {"X_test": X[n:], "y_test": y[n:]} if len(y) > n else {}
    return ContestData(X[:n], y[:n], partial, note=note, **test)


def _of_bags(X: Matrix, y: IntArray, groups: IntArray) -> ContestData:
    """Every fifth bag, in the order of class and size, is for the test: large bags come to both parts."""
    order = np.lexsort((np.bincount(groups), y))
    held_out = np.zeros(y.size, dtype=bool)
    held_out[order[2::5]] = True
    parts = []
    for bags in (np.flatnonzero(~held_out), np.flatnonzero(held_out)):
        rows = np.flatnonzero(np.isin(groups, bags))
        parts.append((X[rows], y[bags], np.searchsorted(bags, groups[rows])))
    (X_train, y_train, groups_train), (X_test, y_test, groups_test) = parts
    return ContestData(X_train, y_train, None, groups_train, X_test, y_test, groups_test)
