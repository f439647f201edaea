"""Shares of several classes in their valleys: groups of rows are found from a rough estimate, whatever their names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wellsvm.engine.neighborhood import neighborhood_of
from wellsvm.engine.shares import shares_of_unlabeled
from wellsvm.engine.valley_of_many import shares_in_valleys
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows

ANNEALED = Options(search_prices=Options.annealed_prices, sure_margin=Options.semi_supervised_margin)
FORMS = {
    "dense": lambda X: LinearRows(X, 1.5),
    "sparse": lambda X: LinearRows(sparse.csr_matrix(X), 1.5),
    "gram": lambda X: GramRows(X @ X.T, 1.5),
}
TRUE = np.array([0.4, 0.3, 0.2, 0.1])
ESTIMATE = np.array([0.32, 0.28, 0.24, 0.16])


def groups(shares=TRUE, n=600, per_class=5, n_features=20, distance=5.0, seed=0):
    """Groups of rows in so many directions, five labels of each; -1 where unlabeled."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(shares.size), np.round(shares * n).astype(int))
    X = rng.standard_normal((truth.size, n_features))
    X[np.arange(truth.size), truth] += distance
    codes = np.full(truth.size, -1)
    for k in range(shares.size):
        codes[np.flatnonzero(truth == k)[:per_class]] = k
    return X, codes


def valleys(X, codes, shares, form="dense", options=ANNEALED, error=0.1, collected=False):
    rng, C = np.random.default_rng(0), np.where(codes >= 0, 2.0, 0.2)
    near = neighborhood_of(FORMS[form](X), codes, C, rng, options)
    return shares_in_valleys(near, shares, np.full(shares.size, error), collected, rng, options)


def off(shares):
    return 0.5 * np.abs(shares - TRUE).sum()


@pytest.mark.parametrize("form", FORMS)
def test_a_rough_estimate_comes_nearer_to_the_shares_of_the_groups(form):
    found = valleys(*groups(), ESTIMATE, form)
    assert found.sum() == pytest.approx(1.0)
    assert off(found) < 0.5 * off(ESTIMATE)


def test_a_sure_estimate_stays():
    found = valleys(*groups(), ESTIMATE, error=1e-4)
    np.testing.assert_allclose(found, ESTIMATE, atol=1e-3)


def test_what_the_search_predicts_counts_where_labels_were_collected():
    X, codes = groups()
    drawn, collected = (valleys(X, codes, ESTIMATE, error=1e-4, collected=known) for known in (False, True))
    assert off(collected) < 0.6 * off(drawn)


@pytest.mark.parametrize("names", [(1, 2, 3, 0), (3, 1, 0, 2)])
def test_names_of_classes_do_not_count(names):
    X, codes = groups(distance=3.0)
    names = np.array(names)
    renamed, estimate = np.where(codes >= 0, names[codes], -1), np.empty(4)
    estimate[names] = ESTIMATE
    np.testing.assert_allclose(valleys(X, renamed, estimate)[names], valleys(X, codes, ESTIMATE), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e6, 1e30])
def test_rows_of_any_length_have_shares(scale):
    X, codes = groups()
    found = valleys(scale * X, codes, ESTIMATE)
    assert np.all(found > 0)
    assert found.sum() == pytest.approx(1.0)


def test_equal_rows_have_shares():
    X, codes = groups()
    found = valleys(np.ones_like(X), codes, ESTIMATE)
    assert np.all(found > 0)
    assert found.sum() == pytest.approx(1.0)


def test_the_estimate_of_several_classes_is_moved_unless_they_are_too_many():
    X, codes = groups(distance=3.0, n=1000, seed=1)
    C, rows = np.where(codes >= 0, 2.0, 0.2), FORMS["dense"](X)
    errors = [
        off(shares_of_unlabeled(rows, codes, 4, "squared_hinge", C, 0, ANNEALED.but(most_valleys=most)).shares)
        for most in (4, 3)
    ]
    assert errors[0] < errors[1]
