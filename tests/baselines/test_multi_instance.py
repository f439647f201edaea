"""The baselines keep what their papers promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from wellsvm import Bags
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM
from wellsvm.rows import GramRows, LinearRows

ALL = [MISVM, miSVM, MIKernelSVC]


def hidden_key(n_bags=40, shift=3.0, seed=0):
    """Bags of one to six instances; one instance of every positive bag lies elsewhere. Bags and their key."""
    rng = np.random.default_rng(seed)
    sizes, y = rng.integers(1, 7, n_bags), np.arange(n_bags) % 2
    X, groups = rng.standard_normal((sizes.sum(), 3)), np.repeat(np.arange(n_bags), sizes)
    bags, key = Bags(X, groups), np.array([rng.integers(size) for size in sizes])
    X[(bags.offsets[:-1] + key)[y == 1]] += shift
    return bags, y, np.where(y == 1, key, -1)


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_key_far_from_the_rest_is_found(model, kernel):
    bags, y, key = hidden_key(shift=6.0)
    fitted = model(kernel=kernel, C_positive=10, C_negative=10, random_state=0).fit(bags, y)
    assert np.mean(fitted.key_instances_ == key) >= 0.9
    assert fitted.score(bags, y) >= 0.9


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(4))
def test_at_the_fixed_point_of_misvm_every_witness_is_the_argmax_of_its_bag(kernel, seed):
    bags, y, _ = hidden_key(shift=1.5, seed=seed)
    model = MISVM(kernel=kernel, random_state=0, tol=1e-6).fit(bags, y)
    f = model.decision_function_instances(bags)
    for i, witness in enumerate(model.key_instances_):
        inside = f[bags.offsets[i] : bags.offsets[i + 1]]
        assert witness == (np.argmax(inside) if y[i] else -1)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(4))
def test_the_labels_of_misvm_small_reproduce_themselves_with_a_positive_in_every_positive_bag(kernel, seed):
    # Refit on the labels that the fitted function gives: the same function, so the loop had ended at a fixed point.
    bags, y, _ = hidden_key(shift=1.5, seed=seed)
    model = miSVM(kernel=kernel, gamma=0.3, random_state=0, tol=1e-6).fit(bags, y)
    f = model.decision_function_instances(bags)
    labels = (f > 0) & np.repeat(y == 1, bags.sizes)
    for i in np.flatnonzero(y):
        own = slice(bags.offsets[i], bags.offsets[i + 1])
        labels[own][np.argmax(f[own])] = True
        assert labels[own].any()
    assert labels.sum() >= y.sum()
    singles = Bags(bags.X, np.arange(bags.n_instances))
    again = MISVM(kernel=kernel, gamma=0.3, random_state=0, tol=1e-6).fit(singles, labels)
    np.testing.assert_allclose(again.decision_function_instances(bags), f, atol=5e-3 * np.abs(f).max())


def test_the_set_kernel_is_the_mean_over_pairs_and_positive_semidefinite():
    bags, _, _ = hidden_key()
    K = rbf_kernel(bags.X, gamma=0.3)
    K_bags = GramRows(K).averaged(bags.offsets).K
    wanted = [[rbf_kernel(a, b, gamma=0.3).mean() for b in bags] for a in bags]
    np.testing.assert_allclose(K_bags, wanted, rtol=1e-10)
    assert np.linalg.eigvalsh(K_bags).min() >= -1e-10
    linear = LinearRows(bags.X, 1.0).averaged(bags.offsets)
    assert linear.bias == 1.0
    np.testing.assert_allclose(linear.squared_norms - 1, [np.mean(a @ a.T) for a in bags], rtol=1e-10)


def test_mi_kernel_equals_an_svm_on_the_precomputed_set_kernel():
    bags, y, _ = hidden_key()
    K = np.array([[rbf_kernel(a, b, gamma=0.3).mean() for b in bags] for a in bags])
    ours = MIKernelSVC(gamma=0.3, loss="hinge", fit_intercept=True, tol=1e-6, random_state=0).fit(bags, y)
    primal = SVC(kernel="precomputed", tol=1e-8).fit(K + 1, y)  # a free intercept besides: the values differ a little
    agree = np.sign(ours.decision_function(bags)) == np.sign(primal.decision_function(K + 1))
    assert agree.mean() >= 0.95
    values = [ours.decision_function_instances(part).mean() for part in bags]
    np.testing.assert_allclose(ours.decision_function(bags), values, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("model", ALL)
def test_dense_and_sparse_and_precomputed_agree(model):
    bags, y, _ = hidden_key()
    K = rbf_kernel(bags.X, gamma=0.3)
    f = model(gamma=0.3, tol=1e-6, random_state=0).fit(bags, y).decision_function(bags)
    other = model(gamma=0.3, tol=1e-6, random_state=0).fit(Bags(sparse.csr_matrix(bags.X), bags.bag_of), y)
    np.testing.assert_allclose(other.decision_function(list(bags)), f, atol=1e-6)
    given = model(kernel="precomputed", tol=1e-6, random_state=0).fit(Bags(K, bags.bag_of), y)
    np.testing.assert_allclose(given.decision_function(Bags(K, bags.bag_of)), f, atol=1e-6)


@pytest.mark.parametrize("model", ALL)
def test_the_interface_is_that_of_multi_instance_svc(model):
    bags, y, _ = hidden_key()
    named = np.where(y, "yes", "no")
    with pytest.raises(ValueError, match="positive_class='no' or positive_class='yes'"):
        model().fit(bags, named)
    fitted = clone(model(C_positive=2.0)).set_params(random_state=0, positive_class="yes").fit(bags, named)
    assert fitted.get_params()["C_positive"] == 2.0
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.predict(bags).shape == (40,)
    assert fitted.predict_instances(bags).shape == (bags.n_instances,)
    located = fitted.locate(bags)
    assert np.array_equal(located == -1, fitted.predict(bags) == "no")
    assert np.all(located < bags.sizes)
    three = model(random_state=0).fit(bags, np.arange(40) % 3)
    assert three.decision_function(bags).shape == (40, 3)
    assert np.all(three.key_instances_ >= 0)


@pytest.mark.parametrize("model", [MISVM, miSVM])
def test_an_alternation_cut_short_says_so(model):
    bags, y, _ = hidden_key(100, shift=0.3)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model(kernel="linear", max_iter=1, random_state=0).fit(bags, y)


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(
    "name, value", [("C_positive", 0), ("C_negative", -1), ("tol", 0), ("loss", "log"), ("kernel", 3)]
)
def test_bad_parameters_are_named(model, name, value):
    bags, y, _ = hidden_key(10)
    with pytest.raises((ValueError, TypeError), match=name):
        model(**{name: value}).fit(bags, y)
