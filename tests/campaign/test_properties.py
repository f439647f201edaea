"""What must not change a result: order of columns, scale, copies against weights, names of the classes."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wellsvm import MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC

EXAMPLES = int(os.environ.get("WELLSVM_EXAMPLES", "10"))
often = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
seeds = st.integers(0, 2**32 - 1)
KERNELS = st.sampled_from(["linear", "rbf"])
SUPERVISED = {"tol": 1e-8, "unlabeled": None, "random_state": 0}


def data(seed, n_rows=30, n_columns=4):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_rows) % 2
    X = rng.standard_normal((n_rows, n_columns)) + 2 * truth[:, None]
    return rng, X, truth, np.where(np.arange(n_rows) < 12, truth, np.nan)


@pytest.fixture(autouse=True)
def _quiet(recwarn):
    """A plain supervised SVM is what these tests want."""


@often
@given(seeds, KERNELS)
def test_an_order_of_the_columns_changes_nothing(seed, kernel):
    rng, X, truth, _ = data(seed)
    order = rng.permutation(X.shape[1])
    one = SemiSupervisedSVC(kernel=kernel, **SUPERVISED).fit(X, truth).decision_function(X)
    other = SemiSupervisedSVC(kernel=kernel, **SUPERVISED).fit(X[:, order], truth).decision_function(X[:, order])
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@often
@given(seeds, KERNELS)
def test_an_order_of_labeled_rows_changes_nothing(seed, kernel):
    rng, X, truth, _ = data(seed)
    order = rng.permutation(len(X))
    one = SemiSupervisedSVC(kernel=kernel, **SUPERVISED).fit(X, truth).decision_function(X)
    other = SemiSupervisedSVC(kernel=kernel, **SUPERVISED).fit(X[order], truth[order]).decision_function(X)
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@often
@given(seeds, st.integers(-20, 20))
def test_a_power_of_two_as_scale_changes_no_bit_under_a_kernel_that_follows_it(seed, power):
    _, X, _, y = data(seed)
    one = SemiSupervisedSVC(kernel="rbf", random_state=0).fit(X, y).decision_function(X)
    other = SemiSupervisedSVC(kernel="rbf", random_state=0).fit(X * 2.0**power, y).decision_function(X * 2.0**power)
    np.testing.assert_array_equal(one, other)


@often
@given(seeds, KERNELS)
def test_a_weight_of_two_is_a_row_that_occurs_twice(seed, kernel):
    rng, X, truth, _ = data(seed)
    twice = rng.choice(len(X), 5, replace=False)
    weight = np.ones(len(X))
    weight[twice] = 2
    params = {"kernel": kernel, "gamma": 0.2, **SUPERVISED}
    one = SemiSupervisedSVC(**params).fit(X, truth, weight).decision_function(X)
    more = np.r_[X, X[twice]], np.r_[truth, truth[twice]]
    np.testing.assert_allclose(one, SemiSupervisedSVC(**params).fit(*more).decision_function(X), rtol=1e-3, atol=1e-3)


@often
@given(seeds, st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=2, unique=True), KERNELS)
def test_names_of_the_classes_change_no_bit(seed, names, kernel):
    _, X, _, y = data(seed)
    names = sorted(name.replace("\x00", "0") + str(k) for k, name in enumerate(names))
    if names != sorted(set(names)):
        return
    named = [None if np.isnan(label) else names[int(label)] for label in y]
    one = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(X, y)
    other = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(X, named)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(other.predict(X), np.array(names)[one.predict(X).astype(int)])


@often
@given(seeds)
def test_an_order_of_the_bags_changes_nothing_that_is_predicted(seed):
    rng, X, _, _ = data(seed, 40)
    bags = [X[k : k + 4] for k in range(0, 40, 4)]
    y = np.arange(10) % 2
    for k in np.flatnonzero(y):
        bags[k] = bags[k] + np.array([8.0, 0, 0, 0]) * (np.arange(4) == 0)[:, None]
    order = rng.permutation(10)
    one = MultiInstanceSVC(random_state=0, tol=1e-6).fit(bags, y).predict(bags)
    other = MultiInstanceSVC(random_state=0, tol=1e-6).fit([bags[k] for k in order], y[order]).predict(bags)
    assert np.mean(one == other) >= 0.9


@often
@given(seeds)
def test_copies_of_rows_fall_into_one_cluster(seed):
    _, X, _, _ = data(seed)
    model = MaxMarginClustering(random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(np.r_[X, X])[: len(X)], model.predict(np.r_[X, X])[len(X) :])


PROPERTIES = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
