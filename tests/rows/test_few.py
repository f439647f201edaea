"""Few rows by the matrix of their inner products: the same SVM, whatever the form of the rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.few import as_matrix, in_rows, inner_products
from wellsvm.solver.master import fit_svm

FORMS = {
    "dense": lambda X: LinearRows(X, 1.5),
    "float32": lambda X: LinearRows(X.astype(np.float32), 1.5),
    "CSR": lambda X: LinearRows(sp.csr_matrix(X), 1.5),
    "from an origin": lambda X: LinearRows(X, 1.5, origin=np.full(X.shape[1], 0.5)),
}


def rows_of(form, n=30, d=6, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32).astype(np.float64)
    return FORMS[form](X), X - (0.5 if form == "from an origin" else 0.0)


@pytest.mark.parametrize("form", FORMS)
def test_the_matrix_holds_all_inner_products(form):
    rows, X = rows_of(form)
    matrix = as_matrix(rows, rows)
    assert isinstance(matrix, GramRows)
    assert matrix.K.dtype == np.float64
    np.testing.assert_allclose(matrix.K, X @ X.T, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(matrix.squared_norms, rows.squared_norms, rtol=1e-6)


def test_a_matrix_and_many_rows_stay_as_they_are():
    gram = GramRows(np.eye(3))
    many = LinearRows(np.zeros((Options.matrix_rows + 1, 2)))
    assert as_matrix(gram, gram) is gram
    assert as_matrix(many, many) is many
    np.testing.assert_array_equal(inner_products(gram), np.eye(3))
    wide = LinearRows(np.random.default_rng(0).standard_normal((30, 3)) * [1.0, 1.0, 1e3])
    assert as_matrix(wide, wide) is wide  # Newton's method on three columns, not epochs


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_svm_on_the_matrix_is_that_of_the_rows(form, loss):
    rows, X = rows_of(form)
    y = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    losses, matrix = Losses.of(loss, np.full(y.size, 0.7)), as_matrix(rows, rows)
    (wanted, found) = (
        fit_svm(where, BalancedLabels.known(y), losses, y, tol=1e-10, rng=np.random.default_rng(0)).coefficients()
        for where in (rows, matrix)
    )
    np.testing.assert_allclose(in_rows(rows, matrix, found[:, None])[:, 0], wanted, rtol=1e-4, atol=1e-5)
