"""`hide_labels` gives a Series for a Series, and estimators read it."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.model_selection import hide_labels
from wellsvm.partial_labels import normalize_partial_labels

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

INDEX = list("abcdefgh")


@pytest.mark.parametrize(
    "values, dtype, missing",
    [
        ([0, 0, 0, 0, 1, 1, 1, 1], "int64", False),  # -1, as for arrays
        ([0.0, 0, 0, 0, 1, 1, 1, 1], "float64", True),
        ([-1, -1, -1, -1, 1, 1, 1, 1], "int64", True),
        ([0, 0, 0, 0, 1, 1, 1, 1], "Int64", True),
        ([True] * 4 + [False] * 4, "bool", True),
        (["x"] * 4 + ["y"] * 4, "category", True),
        (["x"] * 4 + ["y"] * 4, "string", True),
        (["x"] * 4 + ["y"] * 4, object, True),
    ],
)
def test_pandas(values, dtype, missing):
    y = pd.Series(values, index=INDEX, name="target", dtype=dtype)
    hidden = hide_labels(y, n_labeled=4, random_state=0)
    assert isinstance(hidden, pd.Series)
    assert hidden.name == "target"
    assert hidden.index.tolist() == INDEX
    assert hidden.isna().sum() == (4 if missing else 0)
    marks = "auto" if missing else -1
    read = normalize_partial_labels(hidden, marks)
    assert read.labeled.sum() == 4
    kept = read.labeled
    assert (hidden[kept] == y[kept]).all()
    arrays = normalize_partial_labels(hide_labels(y.to_numpy(), n_labeled=4, random_state=0), marks)
    assert np.array_equal(arrays.labeled, kept)


@pytest.mark.parametrize("values", [[0, 0, 1, 1], [-1, -1, 1, 1], ["x", "x", "y", "y"], [0.0, 0.0, 1.0, 1.0]])
def test_polars(values):
    hidden = hide_labels(pl.Series("target", values), n_labeled=2, random_state=0)
    assert isinstance(hidden, pl.Series)
    assert hidden.name == "target"
    assert normalize_partial_labels(hidden, -1 if values == [0, 0, 1, 1] else "auto").labeled.sum() == 2


def test_a_value_of_the_users_own():
    hidden = hide_labels(pd.Series([3, 3, 5, 5], index=list("wxyz")), n_labeled=2, unlabeled=-9, random_state=0)
    assert (hidden == -9).sum() == 2
    assert hidden.index.tolist() == list("wxyz")
