"""Columns far from 0: with an intercept, dense rows give the function that they give around 0, at the same cost."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from wellsvm import (
    Bags,
    MultiInstanceSVC,
    NoisyLabelSVC,
    PositiveUnlabeledSVC,
    SemiSupervisedSVC,
    SemiSupervisedSVCCV,
    open_rows,
    write_rows,
)  # fmt: skip
from wellsvm.rows.block_rows import linear_rows

N, D = 300, 6


@pytest.fixture(scope="module")
def data():
    """Columns of mean 0, in few enough digits that sums with an offset are exact; some labels are known."""
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 2
    X = rng.standard_normal((N, D)) + 1.5 * np.outer(truth - 0.5, [1, 1, 0.5, 0, 0, 0])
    X[1::2] = -X[::2]
    return np.round(X * 2.0**12) / 2.0**12, truth, np.where(np.arange(N) < 30, truth.astype(float), np.nan)


def fitted(X, y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return SemiSupervisedSVC(random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("offset", [8.0, 64.0, 2.0**20, -(2.0**30)])
def test_rows_plus_an_offset_give_the_function_of_the_rows(data, loss, offset):
    X, _, y = data
    plain, shifted = fitted(X, y, loss=loss), fitted(X + offset, y, loss=loss)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-12)
    f = plain.decision_function(X)
    np.testing.assert_allclose(shifted.decision_function(X + offset), f, atol=1e-13 * max(10.0, abs(offset)))
    assert shifted.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    assert shifted.history_[-1].epochs == plain.history_[-1].epochs
    np.testing.assert_array_equal(shifted.transduction_, plain.transduction_)


def test_the_function_is_told_in_the_columns_as_they_were_given(data):
    X, _, y = data
    X = (X + 100.0).astype(np.float32)
    before = X.copy()
    model = fitted(X, y)
    np.testing.assert_array_equal(X, before)
    f = X.astype(np.float64) @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-10)


@pytest.mark.parametrize("value", [-3.0, 100.0, 1e8])
def test_a_constant_column_costs_and_changes_nothing(data, value):
    X, _, y = data
    plain, more = fitted(X, y), fitted(np.column_stack([X, np.full(N, value)]), y)
    np.testing.assert_array_equal(more.coef_[0, :D], plain.coef_[0])
    assert more.coef_[0, D] == 0.0
    assert more.history_[-1].epochs == plain.history_[-1].epochs
    assert more.objective_ == plain.objective_


def test_only_full_columns_far_from_zero_are_seen_from_their_mean(data):
    X = data[0] / data[0].std(axis=0)
    offset = np.array([0.0, 1.0, -2.0, 8.0, -8.0, 100.0])
    origin = linear_rows(X + offset, 1.0).origin
    np.testing.assert_allclose(origin, [0, 0, 0, 8.0, -8.0, 100.0], atol=1e-12)
    assert linear_rows(X + 2.0, 1.0).origin is None
    assert linear_rows(sparse.csr_matrix((X + 100.0) * (np.arange(X.size).reshape(X.shape) % 2)), 1.0).origin is None
    assert linear_rows(X + 100.0, 0.0).origin is None


def test_without_an_intercept_rows_are_seen_from_zero(data):
    X, _, y = data
    ones = np.column_stack([X, np.full(N, 3.0)])  # somebody's own constant feature
    model = fitted(ones, y, fit_intercept=False)
    assert model.intercept_[0] == 0.0
    assert model.coef_[0, D] != 0.0
    with_one = fitted(X, y, intercept_scaling=3.0)
    np.testing.assert_allclose(model.decision_function(ones), with_one.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_folder_gives_the_bits_of_memory(data, tmp_path, dtype):
    X, _, y = data
    X = (X + 100.0).astype(dtype)
    y = np.where(np.isnan(y), -1, y).astype(int)
    model = SemiSupervisedSVC(unlabeled=-1, random_state=0)
    memory = model.fit(X, y).__copy__()
    for block_rows, memory_allowed in ((70, "2 GB"), (300, 20_000)):
        rows = open_rows(write_rows(tmp_path / str(block_rows), X, block_rows=block_rows), memory_allowed)
        model.fit(rows, y)
        np.testing.assert_array_equal(model.coef_, memory.coef_)
        np.testing.assert_array_equal(model.intercept_, memory.intercept_)


@pytest.mark.parametrize("context", [0.0, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_bags_far_from_zero_are_classified_as_those_around_it(data, loss, context):
    X, groups = data[0], np.arange(N) // 3
    y = (np.maximum.reduceat(X[:, 0], np.arange(0, N, 3)) > 1.0).astype(int)
    model = MultiInstanceSVC(kernel="linear", loss=loss, context=context, random_state=0)
    plain = model.fit(Bags(X, groups), y).decision_function(Bags(X, groups))
    shifted = model.fit(Bags(X + 64.0, groups), y).decision_function(Bags(X + 64.0, groups))
    np.testing.assert_allclose(shifted, plain, atol=1e-3 * np.abs(plain).max())


@pytest.mark.parametrize(
    "model",
    [
        NoisyLabelSVC(random_state=0),
        PositiveUnlabeledSVC(random_state=0),
        SemiSupervisedSVCCV(random_state=0),
        SemiSupervisedSVC(neighbors=6, random_state=0),
    ],
)
def test_other_estimators_give_the_same_labels_far_from_zero(data, model):
    X, truth, y = data
    if isinstance(model, NoisyLabelSVC):
        y = truth
    elif isinstance(model, PositiveUnlabeledSVC):
        y = np.where((truth == 1) & (np.arange(N) < 90), 1, 0)
    plain = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.fit(X + 1024.0, y).predict(X + 1024.0), plain)


def test_columns_about_as_far_as_the_bar_are_judged_alike_in_any_order_of_the_rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((900, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0) + np.linspace(3.9, 4.1, 8)
    orders = [np.arange(900), np.argsort(X[:, 0]), *(rng.permutation(900) for _ in range(5))]
    far = [linear_rows(X[order], bias=1.0).origin != 0 for order in orders]
    np.testing.assert_array_equal(far[0], np.arange(8) >= 4)
    for found in far[1:]:
        np.testing.assert_array_equal(found, far[0])
