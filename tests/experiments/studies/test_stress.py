"""The study of strange problems: every problem is drawn as it says, every method fits, the table counts whole cells."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.studies import stress
from experiments.studies.few_labels_tables import OURS
from experiments.studies.stress import METHODS, ON_LABELS, Cell
from experiments.studies.stress_sets import N_ROWS, N_STRANGERS, drawn

MADE = ("several clusters", "wide clusters", "noisy moons", "noisy circles", "rare cloud", "heavy columns", "cover")
TABLES = ("wine", "breast_cancer", "iris")


@pytest.mark.parametrize("name", [*MADE, *TABLES, "digits"])
def test_a_draw_is_the_same_again_and_other_draws_differ(name):
    X, y, strangers = drawn(name, 0)
    assert strangers is None
    assert len(X) == y.size <= N_ROWS
    assert set(np.unique(y)) == set(range(y.max() + 1))
    np.testing.assert_array_equal(drawn(name, 0).X, X)
    assert not np.array_equal(drawn(name, 1).X, X)


@pytest.mark.data
def test_strangers_are_unlabeled_and_nobody_is_tested_on_them(data_home, monkeypatch):
    monkeypatch.setenv("WELLSVM_DATA", str(data_home))
    cell = Cell("digits and strangers", 5, "a class", "linear", 0)
    split, without = stress.draw_cell(cell), drawn(cell.set, 0)
    assert len(without.strangers) == N_STRANGERS
    assert len(split.X) + len(split.X_test) == len(without.X) + N_STRANGERS
    assert np.isnan(split.y[-N_STRANGERS:]).all()
    np.testing.assert_array_equal(split.X[-N_STRANGERS:], without.strangers)
    assert np.count_nonzero(~np.isnan(split.y)) == 10


@pytest.mark.data
def test_one_digit_in_ten_is_so_among_the_rows_and_half_of_the_labels(data_home, monkeypatch):
    monkeypatch.setenv("WELLSVM_DATA", str(data_home))
    split = stress.draw_cell(Cell("one digit in ten", 10, "a class", "rbf", 1))
    np.testing.assert_array_equal(np.unique(split.labeled[1], return_counts=True)[1], [10, 10])
    assert drawn("one digit in ten", 1).y.mean() == pytest.approx(0.1)


@pytest.mark.parametrize("kernel", stress.KERNELS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_fits(method, kernel):
    facts = stress._run(Cell("wine", 5, "a class", kernel, 0), method)
    assert 0.6 < facts["accuracy"] <= 1
    assert ("used_unlabeled" in facts) == (method in (OURS, "always used"))


def test_the_table_counts_cells_that_all_methods_have():
    def entry(draw, method, accuracy):
        return {**Cell("wine", 5, "a class", "linear", draw)._asdict(), "method": method, "accuracy": accuracy}

    entries = [entry(0, method, 0.9) | {"used_unlabeled": True} for method in METHODS]
    entries[0]["accuracy"] = 0.87
    entries += [entry(2, ON_LABELS, 0.5)]
    table = stress.STRESS_STUDIES["stress"].table(entries, "linear development").splitlines()
    lines = {line.split("|")[1].strip(): line.split("|")[3].strip() for line in table}
    assert lines[OURS] == "0.870, 100%"
    assert lines["self-training"] == "0.900, 0%"
    assert lines["today's defaults use the rows"] == "100%"
    assert lines["cells"] == "1"
    assert not stress.STRESS_STUDIES["stress"].table(entries, "rbf confirmation")
