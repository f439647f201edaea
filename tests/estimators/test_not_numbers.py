"""Tables with cells that are not numbers: the error names the column, the cell and the way out."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm import MaxMarginClustering, SemiSupervisedSVC


def _not_numbers():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    table = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0)})
    dates = pd.date_range("2020", periods=12)
    text = r"column 'c' holds 'red' in row 2, which is not a number\. Encode .*OneHotEncoder.*or drop it"
    words = [1, 2, "red", "blue"] * 3
    return [
        (table.assign(c=words), text),
        (table.assign(c=pd.Categorical(["1", "2", "red", "red"] * 3)), text),
        (pl.DataFrame({"a": np.arange(12.0), "c": [str(word) for word in words]}), text),
        (np.array([[1.0, 2.0]] * 11 + [[1.0, "red"]], dtype=object), "column 1 holds 'red' in row 11"),
        (table.assign(c=dates), "column 'c' holds dates or times .*drop it"),
        (pl.DataFrame({"a": np.arange(12.0), "c": dates.to_numpy()}), "column 'c' holds dates or times"),
        (table.assign(c=[{"u": 1}] * 12), r"column 'c' holds \{'u': 1\} of type dict in row 0"),
        (np.ma.array(table.to_numpy(), mask=table.to_numpy() > 8), "masked cells, first in row 9, column 0"),
        (pl.from_pandas(table).lazy(), "of type LazyFrame is not a table of numbers"),
    ]


def test_columns_that_are_not_numbers_are_named_with_their_first_bad_cell_and_the_way_out():
    y = np.where(np.arange(12) < 6, np.arange(12) % 2, -1)
    for X, told in _not_numbers():
        with pytest.raises((TypeError, ValueError), match=told):
            SemiSupervisedSVC(unlabeled=-1).fit(X, y)
        with pytest.raises((TypeError, ValueError), match=told):
            MaxMarginClustering().fit(X)
    pd = pytest.importorskip("pandas")
    model = SemiSupervisedSVC(unlabeled=-1).fit(pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0)}), y)
    with pytest.raises(ValueError, match="column 'b' holds 'red' in row 1"):
        model.predict(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, "red"]}))
