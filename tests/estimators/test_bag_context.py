"""The kernel on (instance, bag) pairs: k(x, x') + context * k_set(B, B')."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from checks import hidden_key
from wellsvm import Bags, MultiInstanceSVC
from wellsvm.rows.context import beside_means, context_rows, set_kernel
from wellsvm.rows.kernels import Kernel

CONTEXT = 3.0


def fit(bags, y, **parameters):
    return MultiInstanceSVC(**{"random_state": 0, "context": CONTEXT, **parameters}).fit(bags, y)


def plain_set_kernel(K, rows, columns):
    """k_set by its definition: the mean over all pairs, one pair of bags after the other."""
    return np.array([[K[np.ix_(rows == a, columns == b)].mean() for b in np.unique(columns)] for a in np.unique(rows)])


def pair_kernel(K, rows, columns, context=CONTEXT):
    """The kernel on (instance, bag) pairs by its definition."""
    return K + context * plain_set_kernel(K, rows, columns)[rows][:, columns]


@pytest.mark.parametrize("cache_size", [None, 0.02])
def test_rows_have_the_kernel_of_pairs(cache_size):
    bags, _, _ = hidden_key()
    kernel = Kernel("rbf", 0.3)
    rows = context_rows(bags.X, kernel, 0.0, 1.0, cache_size, bags.offsets, CONTEXT)
    wanted = pair_kernel(rbf_kernel(bags.X, gamma=0.3), bags.bag_of, bags.bag_of)
    np.testing.assert_allclose(rows.block(np.arange(bags.n_instances)), wanted, rtol=2e-6)
    np.testing.assert_allclose(rows.squared_norms, wanted.diagonal(), rtol=2e-6)
    part = np.arange(3, 20)
    np.testing.assert_allclose(rows.part(part).block(np.arange(17)), wanted[np.ix_(part, part)], rtol=2e-6)


def test_set_kernels_are_computed_once_per_kernel():
    bags, _, _ = hidden_key()
    remembered = {}
    for gamma in (0.3, 0.6):
        for context in (0.0, 1.0, 10.0):
            context_rows(bags.X, Kernel("rbf", gamma), 0.0, 1.0, None, bags.offsets, context, sets=remembered)
    assert [kernel.gamma for kernel in remembered] == [0.3, 0.6]
    remembered[Kernel("rbf", 0.3)][:] = 0.0  # what is remembered is what is used
    rows = context_rows(bags.X, Kernel("rbf", 0.3), 0.0, 1.0, None, bags.offsets, 5.0, sets=remembered)
    np.testing.assert_allclose(rows.K.diagonal(), 1.0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_linear_rows_have_the_mean_of_the_bag_beside_each_instance(make):
    bags, _, _ = hidden_key()
    wide = beside_means(make(bags.X), bags.offsets, CONTEXT)
    wide = wide.toarray() if sparse.issparse(wide) else wide
    wanted = pair_kernel(linear_kernel(bags.X), bags.bag_of, bags.bag_of)
    np.testing.assert_allclose(wide @ wide.T, wanted, atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_is_the_plain_method_on_the_kernel_of_pairs(kernel):
    bags, y, _ = hidden_key(shift=3.0)  # clear enough for rounding not to decide on a key instance
    new, _, _ = hidden_key(seed=1, shift=3.0)
    K = {"rbf": lambda a, b: rbf_kernel(a, b, gamma=0.2), "linear": linear_kernel}[kernel]
    how = {"loss": "squared_hinge", "tol": 1e-8, "C_positive": 2.0}
    model = fit(bags, y, kernel=kernel, gamma=0.2, **how)
    train = pair_kernel(K(bags.X, bags.X), bags.bag_of, bags.bag_of)
    test = pair_kernel(K(new.X, bags.X), new.bag_of, bags.bag_of)
    plain = fit(bags.with_instances(train), y, kernel="precomputed", context=0.0, **how)
    np.testing.assert_allclose(
        model.decision_function(new), plain.decision_function(new.with_instances(test)), atol=2e-4
    )
    np.testing.assert_array_equal(model.locate(new), plain.locate(new.with_instances(test)))
    np.testing.assert_array_equal(model.key_instances_, plain.key_instances_)


def test_a_precomputed_kernel_gets_its_context_too_and_stays_as_it_was():
    bags, y, _ = hidden_key(shift=1.0)
    K = rbf_kernel(bags.X, gamma=0.2)
    given = K.copy()
    model = fit(bags.with_instances(K), y, kernel="precomputed")
    np.testing.assert_array_equal(K, given)
    wanted = fit(bags, y, gamma=0.2)
    new, _, _ = hidden_key(seed=1, shift=1.0)
    values = model.decision_function(new.with_instances(rbf_kernel(new.X, bags.X, gamma=0.2)))
    np.testing.assert_allclose(values, wanted.decision_function(new), atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_context_shifts_all_instances_of_a_bag_alike(kernel):
    bags, y, _ = hidden_key(shift=1.0)
    model = fit(bags, y, kernel=kernel)
    alone = model.decision_function_instances(bags.X)  # every instance a bag of its own
    inside = model.decision_function_instances(bags)
    g = alone - inside
    model.context_coef_ = None
    f = model.decision_function_instances(bags)
    for part in np.split(inside - f, bags.offsets[1:-1]):
        np.testing.assert_allclose(part, part[0], atol=1e-9)
    assert np.abs(g).max() > 1e-3  # the bag does matter


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_unsorted_rows_and_pickles_predict_the_same(kernel):
    bags, y, _ = hidden_key(shift=1.0)
    shuffled = np.argsort(np.random.default_rng(3).random(40)[bags.bag_of], kind="stable")
    X, groups = bags.X[shuffled], bags.bag_of[shuffled]
    wanted = fit(bags, y, kernel=kernel).decision_function(bags)
    model = fit(Bags(X, groups), y, kernel=kernel)
    np.testing.assert_allclose(model.decision_function(bags), wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(bags), model.decision_function(bags)
    )
    if kernel == "rbf":
        np.testing.assert_array_equal(X[model.support_], model.support_vectors_)


def test_without_context_nothing_of_it_is_kept():
    bags, y, _ = hidden_key(shift=1.0)
    model = fit(bags, y)
    assert model.context_coef_.shape == model.dual_coef_.shape
    model.set_params(context=0.0).fit(bags, y)
    assert model.context_coef_ is None
    np.testing.assert_array_equal(
        model.decision_function(bags), MultiInstanceSVC(random_state=0).fit(bags, y).decision_function(bags)
    )


def test_a_bag_that_only_its_company_gives_away_is_told_by_context():
    """No instance tells the classes apart, the mean of the bag does."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.standard_normal((80, 10, 2)) + np.where(y, 0.7, -0.7)[:, None, None]
    bags = Bags.from_list(X)
    train, test = bags[:40], bags[40:]
    with_, without = (fit(train, y[:40], context=context).score(test, y[40:]) for context in (100.0, 0.0))
    assert with_ >= 0.95
    assert with_ >= without + 0.05


def test_more_classes_have_a_context_each():
    bags, _, _ = hidden_key(60, shift=1.0)
    y = np.arange(60) % 3
    model = fit(bags, y)
    assert model.context_coef_.shape == model.dual_coef_.shape
    assert model.decision_function(bags).shape == (60, 3)


def test_the_set_kernel_within_a_memory_budget_is_the_same():
    bags, _, _ = hidden_key()
    kernel = Kernel("rbf", 0.3)
    whole, parts = (context_rows(bags.X, kernel, 0.0, 1.0, size, bags.offsets, 0.0) for size in (None, 0.02))
    np.testing.assert_allclose(set_kernel(parts, bags.offsets), set_kernel(whole, bags.offsets), rtol=1e-6)
