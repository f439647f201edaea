"""Sparse rows with columns that outweigh the others: solved as dense ones are where they are few, else ended early, and
the warning names the column."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.exceptions import ConvergenceWarning

from wellsvm import SemiSupervisedSVC, write_rows
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.rows.folder import open_rows
from wellsvm.solver.master import fit_svm


def texts(long=0.0):
    """Short rows of many columns; with ``long``, a last column that spreads much farther."""
    rng = np.random.default_rng(0)
    X = sp.random(300, 60, 0.2, random_state=0, format="csr")
    truth = (X @ rng.standard_normal(60) > 0).astype(int)
    column = sp.csr_matrix(long * rng.random((300, 1)))
    return sp.csr_matrix(sp.hstack([X, column])) if long else X, truth


def svm(rows, truth):
    y = 2 * truth.astype(np.int8) - 1
    losses = Losses.of("hinge", np.full(truth.size, 2.0))
    return fit_svm(rows, BalancedLabels(y, 0), losses, y, tol=1e-3, rng=np.random.default_rng(0))


def test_texts_with_a_column_of_prices_are_solved():
    X, truth = texts(1000.0)
    solution = svm(LinearRows(X, 1.5).settled(), truth)
    assert solution.solved_to(1e-3)
    assert solution.n_epochs < 1000  # by coordinate descent it was far from there after 20,000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SemiSupervisedSVC(random_state=0, unlabeled=-1).fit(X, np.where(np.arange(300) < 30, truth, -1))


@pytest.mark.parametrize("change", ["long", "wide", "far"])
def test_more_rows_than_can_be_made_dense_end_early_and_the_column_is_named(change):
    X, truth = texts(1000.0 if change == "long" else 0.0)
    if change == "wide":
        X.data += 1e8
    if change == "far":
        X = sp.csr_matrix(sp.hstack([X, sp.csr_matrix(np.full((300, 1), 1e4))]))
    rows = LinearRows(X, 1.5, options=replace(Options(), most_made_dense=1000)).settled()
    assert not rows.dense
    column = 50 if change == "wide" else 60
    assert rows.column_trouble.startswith("column ")
    assert change == "wide" or f"column {column} of X" in rows.column_trouble
    assert svm(rows, truth).n_epochs <= Options.rounds_on_long_columns * Options.most_epochs


def test_a_warning_names_the_column(monkeypatch):
    monkeypatch.setattr(LinearRows, "_settles_as_dense", lambda self: False)
    X, truth = texts(1000.0)
    y = np.where(np.arange(300) < 30, truth, -1)
    with pytest.warns(ConvergenceWarning, match=r"^SemiSupervisedSVC: column 60 of X spreads as far as .*Scale the"):
        SemiSupervisedSVC(random_state=0, unlabeled=-1, safe=False, balance=0.5).fit(X, y)


def test_a_matrix_that_is_sparse_in_name_only_gives_what_a_dense_one_gives():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    X = rng.standard_normal((200, 10)) + 2 * truth[:, None]
    y = np.where(np.arange(200) < 20, truth, -1)
    for offset in (30.0, 1e8):
        model = SemiSupervisedSVC(random_state=0, unlabeled=-1, loss="hinge").fit(X + offset, y)
        stored = SemiSupervisedSVC(random_state=0, unlabeled=-1).fit(sp.csr_matrix(X + offset), y)
        np.testing.assert_array_equal(stored.coef_, model.coef_)
        assert stored.score(sp.csr_matrix(X + offset), truth) > 0.95


def test_texts_as_they_are_stay_sparse():
    X, _ = texts()
    counts = X.copy()
    counts.data = np.ceil(20 * counts.data**4)
    ones = sp.csr_matrix(sp.hstack([X, sp.csr_matrix(np.ones((300, 1)))]))
    for Z in (X, 100 * X, counts, ones, X[:0], X[:, :0]):
        rows = LinearRows(sp.csr_matrix(Z), 1.5)
        assert rows.settled() is rows
        assert not rows.long_columns


def test_rows_in_a_folder_give_the_same(tmp_path):
    X, truth = texts(1000.0)
    y = np.where(np.arange(300) < 30, truth, -1)
    write_rows(tmp_path / "rows", X, block_rows=100)
    models = [SemiSupervisedSVC(random_state=0, unlabeled=-1).fit(Z, y) for Z in (X, open_rows(tmp_path / "rows"))]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_dense_rows_of_wide_columns_do_not_wait_for_coordinate_descent():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    truth = (X[:, 0] + rng.standard_normal(300) > 0).astype(int)
    assert svm(LinearRows(1000 * X, 1.5), truth).n_epochs < 150  # it was the more than 200 of coordinate descent, first
    assert svm(LinearRows(1000 * X, 1.5), truth).solved_to(1e-3)
