"""SemiSupervisedSVC: what it stores is what it says, and its limits are the methods it generalizes."""

from __future__ import annotations

import copy
import io
import logging
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from checks import PLAIN
from wellsvm import SemiSupervisedSVC
from wellsvm.datasets import make_sparse_text
from wellsvm.engine.report import ACT, Status
from wellsvm.model_selection import SemiSupervisedSplit, hide_labels
from wellsvm.options import Options


def clouds(seed=0, n=80, n_labeled=12, n_classes=2, n_features=4, distance=1.0):
    """Overlapping Gaussian clouds; the first rows are labeled, the others NaN."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % n_classes)
    truth[:n_classes] = np.arange(n_classes)
    X = rng.standard_normal((n, n_features)) + distance * rng.standard_normal((n_classes, n_features))[truth] * 2
    return X, np.where(np.arange(n) < n_labeled, truth, np.nan), truth


def fit(X, y, sample_weight=None, **params):
    return SemiSupervisedSVC(**{"random_state": 0, **params}).fit(X, y, sample_weight)


def plain(X, y, sample_weight=None, **params):
    """The problem as the paper states it, at the prices that these tests are about."""
    return fit(X, y, sample_weight, **{**PLAIN, **params})


def problems(model):
    """(labelings, weights, objective, gap, history, status) of each two-class problem."""
    parts = (
        model.labelings_,
        model.labeling_weights_,
        model.objective_,
        model.gap_,
        model.history_,
        model.status_,
    )
    return [parts] if len(model.classes_) == 2 else list(zip(*parts))


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.2)


KERNELS = {
    "linear": {},
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "callable": {"kernel": gaussian},
    "precomputed": {"kernel": "precomputed"},
}


def kernel_case(name, X):
    """Parameters, and X or its kernel matrix."""
    return KERNELS[name], gaussian(X, X) if name == "precomputed" else X


# ------------------------------------------------------------------ attributes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_attributes_have_the_promised_shapes_and_types(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    params, data = kernel_case(kernel, X)
    model = fit(data, y, **params)
    n, n_functions = len(y), 1 if n_classes == 2 else n_classes

    np.testing.assert_array_equal(model.classes_, np.arange(n_classes))
    assert model.n_features_in_ == data.shape[1]
    assert model.intercept_.shape == (n_functions,)
    assert model.intercept_.dtype == np.float64
    if kernel == "linear":
        assert model.coef_.shape == (n_functions, X.shape[1])
        assert model.coef_.dtype == np.float64
        assert not hasattr(model, "dual_coef_")
    else:
        assert not hasattr(model, "coef_")
        n_support = model.support_.size
        assert 0 < n_support <= n
        assert model.dual_coef_.shape == (n_functions, n_support)
        assert np.all(np.any(model.dual_coef_ != 0, axis=0))
        assert np.all(np.diff(model.support_) > 0)
        if kernel != "precomputed":
            np.testing.assert_array_equal(model.support_vectors_, X[model.support_])

    assert model.transduction_.shape == (n,)
    assert set(model.transduction_) <= set(model.classes_)
    assert isinstance(model.n_iter_, int)
    for labelings, weights, objective, gap, history, status in problems(model):
        assert labelings.dtype == np.int8
        assert labelings.shape == (weights.size, n)
        assert weights.dtype == np.float64
        assert np.isfinite([objective, gap]).all()
        assert 1 <= len(history) <= model.n_iter_
        assert history[-1].objective == objective
        assert history[-1].labelings == weights.size
        assert history[-1].seconds >= 0
        assert isinstance(status, str)
    shape = () if n_classes == 2 else (n_classes,)
    for name in ("objective_", "gap_", "oracle_violation_", "refined_objective_"):
        assert np.shape(getattr(model, name)) == shape
    decided = model.decision_function(data)
    assert decided.shape == ((n,) if n_classes == 2 else (n, n_classes))
    assert decided.dtype == np.float64


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_predict_is_the_sign_or_the_largest_value_of_the_decision_function(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    names = np.array(["fox", "hen", "owl"][:n_classes])
    named = np.array([None if np.isnan(v) else names[int(v)] for v in y], dtype=object)
    params, data = kernel_case(kernel, X)
    model = fit(data, named, **params)
    values = model.decision_function(data)
    codes = (values > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(data), names[codes])
    assert model.score(data, names[codes]) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_coefficients_reproduce_the_decision_function(fit_intercept, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    model = fit(X, y, fit_intercept=fit_intercept)
    values = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), values[:, 0] if n_classes == 2 else values, rtol=1e-12)
    assert np.all((model.intercept_ != 0) == fit_intercept)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_support_vectors_reproduce_the_decision_function_with_gamma_one_over_the_mean_distance(make, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    model = fit(make(X), y, kernel="rbf")
    gamma = 1 / np.mean(pdist(X) ** 2)
    values = rbf_kernel(X, model.support_vectors_, gamma=gamma) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), values[:, 0] if n_classes == 2 else values, rtol=1e-9)


def test_precomputed_callable_and_named_kernel_are_one_model():
    X, y, _ = clouds()
    K = gaussian(X, X)
    named = fit(X, y, kernel="rbf", gamma=0.2)
    called = fit(X, y, kernel=gaussian)
    given = fit(K, y, kernel="precomputed")
    # a named kernel's matrix is kept in float32
    np.testing.assert_allclose(called.decision_function(X), named.decision_function(X), rtol=1e-5)
    np.testing.assert_allclose(given.decision_function(K), called.decision_function(X), rtol=1e-9)


# ------------------------------------------------------------------ labels and balance


def bounds(balance, y):
    """Allowed numbers of positives among the unlabeled rows, by counting."""
    n_free, known = np.isnan(y).sum(), y[~np.isnan(y)]
    if balance is None:
        return 0, n_free
    if balance == "labels":
        balance = np.mean(known == 1)
    low, high = balance if isinstance(balance, tuple) else (balance, balance)
    if low == high:
        return np.floor(n_free * low + 1e-9), np.floor(n_free * low + 1e-9)
    return np.ceil(n_free * low - 1e-9), np.floor(n_free * high + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("balance", ["labels", 0.3, 0.0, 1.0, (0.2, 0.4), (0.4, 0.4), None])
def test_labelings_and_transduction_keep_known_labels_and_the_balance(balance, kernel, refine):
    X, y, _ = clouds(n_labeled=13)
    model = fit(X, y, kernel=kernel, balance=balance, refine=refine, init="alignment", tol=1e-2)
    known, (low, high) = ~np.isnan(y), bounds(balance, y)
    for labels in model.labelings_:
        np.testing.assert_array_equal(labels[known], 2 * y[known] - 1)
        assert set(labels) <= {-1, 1}
        assert low <= np.sum(labels[~known] == 1) <= high
    np.testing.assert_array_equal(model.transduction_[known], y[known])
    assert low <= np.sum(model.transduction_[~known] == 1) <= high


@pytest.mark.slow
@pytest.mark.parametrize("init", ["refined", "svm", "alignment"])
@pytest.mark.parametrize("balance", ["labels", None, {0: 0.2, 1: (0.1, 0.5), 2: "labels"}])
def test_each_class_against_the_rest_keeps_its_own_balance(balance, init):
    X, y, _ = clouds(n_classes=3, n_labeled=16, n=90)
    model = fit(X, y, balance=balance, init=init)
    known = ~np.isnan(y)
    for k, labelings in enumerate(model.labelings_):
        share = balance[k] if isinstance(balance, dict) else balance
        low, high = bounds(share, np.where(known, y == k, np.nan))
        for labels in labelings:
            np.testing.assert_array_equal(labels[known], np.where(y[known] == k, 1, -1))
            assert low <= np.sum(labels[~known] == 1) <= high
    np.testing.assert_array_equal(model.transduction_[known], y[known])


def test_first_labels_of_the_user_are_used():
    X, y, truth = clouds(distance=0.3)
    model = fit(X, y, init=truth, balance=None, C_unlabeled=1e-3)
    assert (model.labelings_ == 2 * truth - 1).all(axis=1).any()


# ------------------------------------------------------------------ certificates


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"kernel": "rbf"},
        {"init": "svm", "refine": False},
        {"init": "alignment", "kernel": "rbf", "oracle": "climb"},
        {"loss": "squared_hinge"},
        {"kernel": "rbf", "loss": "hinge", "tol": 1e-2},
        {"n_classes": 3},
        {"n_classes": 3, "kernel": "rbf"},
    ],
    ids=str,
)
def test_weights_are_on_the_simplex_the_gap_is_below_tol_and_the_objective_never_rises(params, seed):
    params = {"tol": 1e-3, **params}
    X, y, _ = clouds(seed, n_classes=params.pop("n_classes", 2))
    model = fit(X, y, **params)
    for _, weights, objective, gap, history, status in problems(model):
        assert np.all(weights >= 0)
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
        assert gap >= -1e-9
        assert Status(status) not in ACT
        assert gap <= 1.001 * params["tol"] * objective
        values = np.array([record.objective for record in history])
        assert np.all(np.diff(values) <= params["tol"] * values[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_refined_objective_is_the_svm_objective_of_the_transduced_labels(kernel, loss, seed):
    X, y, _ = clouds(seed)
    model = plain(X, y, kernel=kernel, loss=loss, gamma=0.2, tol=1e-4)
    signs = 2 * model.transduction_ - 1
    slack = np.maximum(0, 1 - signs * model.decision_function(X))
    C = np.where(np.isnan(y), 0.1, 1.0)
    losses = C @ slack if loss == "hinge" else 0.5 * C @ slack**2
    if kernel == "linear":
        norm = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    else:
        a = model.dual_coef_[0]
        norm = a @ (rbf_kernel(model.support_vectors_, gamma=0.2) + 1) @ a
    assert model.refined_objective_ == pytest.approx(0.5 * norm + losses, rel=2e-4)


def test_without_refinement_there_is_no_refined_objective():
    X, y, _ = clouds()
    assert fit(X, y, refine=False).refined_objective_ is None


def test_too_few_iterations_are_told_with_what_was_reached_what_was_wanted_and_what_to_try():
    X, y, _ = clouds()
    with pytest.warns(ConvergenceWarning) as caught:
        model = plain(X, y, max_iter=1, init="alignment", tol=1e-4)
    message = str(caught[0].message)
    assert model.status_ == "max_iter reached"
    assert model.n_iter_ == 1
    for part in ("SemiSupervisedSVC", "max_iter reached", "relative gap", "relative violation", "wanted 0.0001", "Try"):
        assert part in message


def rare_digit(digit=3, n=200, n_labeled=10):
    """One digit in ten, centered and not scaled: every label vector lowers the relaxation's objective by a lot."""
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(digit)
    one, others = (rng.permutation(np.flatnonzero((truth == digit) == is_one)) for is_one in (True, False))
    rows = rng.permutation(np.append(one[: n // 10], others[: n - n // 10]))
    return (X - X.mean(axis=0))[rows], np.where(np.arange(n) < n_labeled, truth[rows] == digit, np.nan)


@pytest.mark.parametrize("search", ["annealed", "local"])
def test_a_relaxation_that_a_search_follows_is_not_solved_beyond_a_few_label_vectors(search):
    X, y = rare_digit()
    model = fit(X, y, search=search)
    assert (model.n_iter_, model.status_) == (Options.start_labelings, Status.ENOUGH)
    # What was asked for is done: fewer, another oracle, or the relaxation itself.
    for asked in ({"max_iter": 3}, {"max_iter": 7, "refine": False}, {"max_iter": 7, "oracle": "climb"}):
        with pytest.warns(ConvergenceWarning, match="max_iter reached"):
            model = fit(X, y, search=search, **asked)
        assert (model.n_iter_, model.status_) == (asked["max_iter"], Status.MAX_ITER)


# ------------------------------------------------------------------ limits that are other methods


def test_without_unlabeled_rows_it_is_scikit_learns_linear_svm_and_says_so():
    X, _, truth = clouds(distance=0.5)
    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        model = plain(X, truth, fit_intercept=False, tol=1e-8)
    svm = LinearSVC(loss="hinge", C=1, fit_intercept=False, tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, truth)
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-3)
    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        model = plain(X, truth, tol=1e-8)
    svm.set_params(fit_intercept=True, intercept_scaling=1).fit(X, truth)
    np.testing.assert_allclose(model.coef_, svm.coef_, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, svm.intercept_, atol=1e-3)


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_unlabeled_rows_the_kernel_model_satisfies_the_kkt_conditions_of_the_squared_hinge(n_classes):
    X, _, truth = clouds(distance=0.5, n_classes=n_classes)
    C = 2.0
    model = fit(X, truth, kernel="rbf", C=C, tol=1e-10)
    values = model.decision_function(X).reshape(len(X), -1)
    for k, value in enumerate(values.T):
        signs = np.where(truth == (1 if n_classes == 2 else k), 1, -1)
        alpha = np.zeros(len(X))
        alpha[model.support_] = model.dual_coef_[k]
        np.testing.assert_allclose(alpha * signs, C * np.maximum(0, 1 - signs * value), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled")
def test_price_zero_for_unlabeled_rows_is_the_supervised_model(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    X = X - X.mean(axis=0)  # columns far from 0 are seen from their mean, which unlabeled rows have a say in
    known = ~np.isnan(y)
    model = fit(X, y, kernel=kernel, gamma=0.2, C_unlabeled=0, tol=1e-8)
    supervised = fit(X[known], y[known], kernel=kernel, gamma=0.2, tol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), supervised.decision_function(X), atol=1e-4)


def test_unlabeled_rows_of_weight_zero_have_no_influence():
    X, y, _ = clouds()
    weight = np.where(np.arange(len(y)) < 60, 1.0, 0.0)
    moved = X.copy()
    moved[60:] *= -7
    first, second = (plain(data, y, weight, balance=None) for data in (X, moved))
    np.testing.assert_array_equal(first.coef_, second.coef_)


@pytest.mark.parametrize("seed", range(3))
def test_unlabeled_text_teaches_what_forty_labels_do_not(seed):
    X, truth = make_sparse_text(1500, 3000, 40, random_state=seed)
    y = hide_labels(truth, n_labeled=40, unlabeled=0, random_state=seed)
    supervised, transduced = (plain(X, y, C_unlabeled=C_unlabeled, unlabeled=0) for C_unlabeled in (0.0, 0.1))
    assert transduced.score(X, truth) > supervised.score(X, truth) + 0.03


# ------------------------------------------------------------------ weights


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_class_weight_is_sample_weight_on_the_labeled_rows(kernel):
    X, y, _ = clouds(distance=0.4)
    given = fit(X, y, kernel=kernel, class_weight={0: 1.0, 1: 3.0})
    weighted = fit(X, y, np.where(y == 1, 3.0, 1.0), kernel=kernel)
    np.testing.assert_array_equal(given.decision_function(X), weighted.decision_function(X))
    known = y[~np.isnan(y)]
    balanced = {k: known.size / (2 * np.sum(known == k)) for k in (0, 1)}
    np.testing.assert_array_equal(
        fit(X, y, kernel=kernel, class_weight="balanced").decision_function(X),
        fit(X, y, kernel=kernel, class_weight=balanced).decision_function(X),
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_heavier_class_loses_less(kernel):
    X, y, _ = clouds(distance=0.2, n_labeled=30)

    def loss_of_class_one(weight):
        model = fit(X, y, kernel=kernel, loss="hinge", C_unlabeled=0, class_weight={1: weight}, tol=1e-6)
        return np.maximum(0, 1 - model.decision_function(X[y == 1])).sum()

    light, heavy = loss_of_class_one(0.2), loss_of_class_one(5.0)
    assert heavy < 0.9 * light


@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled")
def test_a_scalar_weight_is_a_factor_on_all_prices():
    X, y, _ = clouds()
    np.testing.assert_array_equal(plain(X, y, 2.0).coef_, plain(X, y, C=2.0, C_unlabeled=0.2).coef_)


# ------------------------------------------------------------------ warm start, seeds, threads


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_start_never_ends_higher(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    warm = plain(X, y, kernel=kernel, C_unlabeled=0.2, warm_start=True)
    np.testing.assert_array_equal(
        warm.decision_function(X), plain(X, y, kernel=kernel, C_unlabeled=0.2).decision_function(X)
    )
    for _ in range(2):
        before = warm.refined_objective_
        assert np.all(warm.fit(X, y).refined_objective_ <= before * (1 + 1e-3))
    warm.set_params(C_unlabeled=0.4).fit(X, y)
    assert np.all(
        warm.refined_objective_ <= plain(X, y, kernel=kernel, C_unlabeled=0.4).refined_objective_ * (1 + 5e-3)
    )
    for part in problems(warm):
        assert Status(part[-1]) not in ACT


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_start_takes_another_loss_other_rows_and_other_labels(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    warm = SemiSupervisedSVC(kernel=kernel, warm_start=True, random_state=0).fit(X, y)
    for loss in ("squared_hinge", "hinge"):
        warm.set_params(loss=loss).fit(X, y)
        cold = fit(X, y, kernel=kernel, loss=loss)
        assert np.all(warm.refined_objective_ <= cold.refined_objective_ * (1 + 5e-3))
    warm.fit(X[:60], y[:60])  # fewer rows: nothing to start from
    np.testing.assert_array_equal(
        warm.decision_function(X), fit(X[:60], y[:60], kernel=kernel, loss="hinge").decision_function(X)
    )
    warm.fit(X, y)
    other = np.where(np.isnan(y), np.nan, (y + 1) % n_classes)
    warm.fit(X, other)  # other labels: the old ones contradict them
    np.testing.assert_array_equal(warm.transduction_[:15], other[:15])
    warm.set_params(kernel="poly" if kernel == "rbf" else "rbf").fit(X, y)  # another space
    np.testing.assert_array_equal(warm.transduction_[:15], y[:15])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("init", ["refined", "svm", "alignment"])
def test_one_random_state_gives_the_same_bits_twice(init, kernel):
    X, y, _ = clouds()
    first, second = (fit(X, y, kernel=kernel, init=init, oracle="climb", random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    np.testing.assert_array_equal(first.labelings_, second.labelings_)
    np.testing.assert_array_equal(first.labeling_weights_, second.labeling_weights_)
    assert first.objective_ == second.objective_


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_number_of_threads_changes_no_bit(kernel):
    X, y, _ = clouds(n=200, n_classes=5, n_labeled=40)
    one, two = (fit(X, y, kernel=kernel, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    np.testing.assert_array_equal(one.objective_, two.objective_)
    for first, second in zip(one.labelings_, two.labelings_):
        np.testing.assert_array_equal(first, second)


def test_a_fit_leaves_the_global_random_state_and_the_parameters_alone():
    X, y, _ = clouds()
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    model = SemiSupervisedSVC(random_state=1, kernel="rbf", init="alignment")
    params = model.get_params()
    model.fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert model.get_params() == params


# ------------------------------------------------------------------ kinds of X


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_dense_and_sparse_of_any_index_width_are_one_model(kernel):
    X, y, _ = clouds()
    X[np.abs(X) < 0.5] = 0
    narrow = sp.csr_matrix(X)
    wide = narrow.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert wide.indices.dtype == np.int64
    first = fit(narrow, y, kernel=kernel, loss="paper")  # "auto" tells dense from sparse
    for data in (wide, sp.csr_array(X), sp.csc_matrix(X), sp.coo_array(X)):
        model = fit(data, y, kernel=kernel, loss="paper")
        np.testing.assert_allclose(model.decision_function(data), first.decision_function(X), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(model.decision_function(X), first.decision_function(X), rtol=1e-6, atol=1e-9)
    # dense linear rows are solved another way, to the same optimum
    exact = (fit(data, y, kernel=kernel, loss="paper", tol=1e-8).decision_function(X) for data in (X, narrow))
    np.testing.assert_allclose(*exact, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_repeated_and_unsorted_entries_of_a_sparse_row_are_summed(kernel):
    X, y, _ = clouds()
    csr = sp.csr_matrix(X)
    order = np.arange(csr.nnz).reshape(X.shape)[:, ::-1].ravel().repeat(4)  # backwards, and each entry in quarters
    parts = sp.csr_matrix((csr.data[order] / 4, csr.indices[order], 4 * csr.indptr), shape=X.shape)
    np.testing.assert_allclose(parts.toarray(), X)
    model, wanted = (plain(data, y, kernel=kernel, C_unlabeled=0, tol=1e-8) for data in (parts, X))
    assert parts.nnz == 4 * csr.nnz  # the caller's matrix is not changed
    np.testing.assert_allclose(model.decision_function(X), wanted.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(wanted.decision_function(parts), wanted.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_X_is_used_as_it_is_without_a_copy(dtype, sparse):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 100), dtype=dtype)  # samples of some thousand rows are copied
    y = np.where(np.arange(50_000) < 50, np.arange(50_000) % 2, np.nan)
    X[:, 0] += np.arange(50_000) % 2
    data = sp.csr_matrix(X) if sparse else X
    fit(data[:100], y[:100])  # what is imported on first use does not count
    tracemalloc.start()
    model = fit(data, y, tol=0.01, max_iter=2, refine=False, init="svm", C_unlabeled=1e-3)
    model.predict(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = data.data.nbytes + data.indices.nbytes if sparse else data.nbytes
    assert peak < 0.5 * size


def _read_only_array(X, folder):
    X.setflags(write=False)
    return X


def _memory_mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def _read_only_csr(X, folder):
    data = sp.csr_matrix(X)
    for part in (data.data, data.indices, data.indptr):
        part.setflags(write=False)
    return data


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [_read_only_array, _memory_mapped, _read_only_csr])
def test_read_only_and_memory_mapped_rows_are_fitted_and_left_unchanged(make, dtype, kernel, tmp_path):
    X, y, _ = clouds()
    X = X.astype(dtype)
    data = make(X.copy(), tmp_path)
    model = fit(data, y, kernel=kernel)
    np.testing.assert_array_equal(data.toarray() if sp.issparse(data) else data, X)
    wanted = fit(sp.csr_matrix(X) if sp.issparse(data) else X, y, kernel=kernel)
    np.testing.assert_array_equal(model.decision_function(data), wanted.decision_function(data))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_single_precision_rows_give_nearly_the_model_of_double_precision(kernel):
    X, y, _ = clouds()
    single, double = (fit(data, y, kernel=kernel, C_unlabeled=0, tol=1e-7) for data in (X.astype(np.float32), X))
    np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), atol=1e-3)
    if kernel == "rbf":
        assert single.support_vectors_.dtype == np.float32


def test_feature_names_are_kept_and_must_come_back_in_order():
    X, y, _ = clouds()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = fit(frame, pd.Series(y))
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(model.predict(frame), fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


def test_every_way_to_mark_unlabeled_rows_gives_the_same_bits():
    X, y, _ = clouds()
    codes, known = np.nan_to_num(y, nan=-1).astype(int), ~np.isnan(y)
    wanted = fit(X, y).coef_
    marked = {
        "None in a list": ([int(v) if k else None for v, k in zip(codes, known)], "auto"),
        "masked": (np.ma.MaskedArray(codes, mask=~known), "auto"),
        "pandas NA": (pd.array([v if k else pd.NA for v, k in zip(codes, known)], dtype="Int64"), "auto"),
        "pandas Series": (pd.Series(y), "auto"),
        "polars null": (pl.Series([int(v) if k else None for v, k in zip(codes, known)]), "auto"),
        "-1": (codes, -1),
        "list of markers": (np.where(known, codes, np.arange(len(y)) % 2 + 7), [7, 8]),
    }
    for what, (labels, unlabeled) in marked.items():
        model = fit(X, labels, unlabeled=unlabeled)
        np.testing.assert_array_equal(model.coef_, wanted, err_msg=what)
        np.testing.assert_array_equal(model.classes_, [0, 1], err_msg=what)
    with pytest.warns(UserWarning, match="-1 is treated as unlabeled"):
        np.testing.assert_array_equal(fit(X, codes).coef_, wanted)


# ------------------------------------------------------------------ storing, cloning, searching


def test_a_linear_model_pickles_to_the_size_of_its_coefficients():
    X, y = make_sparse_text(20_000, 5_000, 20, random_state=0)
    model = fit(X, hide_labels(y, n_labeled=200, unlabeled=0, random_state=0), unlabeled=0, warm_start=True, tol=0.01)
    stored = pickle.dumps(model)
    assert len(stored) < model.coef_.nbytes + 8192
    np.testing.assert_array_equal(pickle.loads(stored).decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_model_read_from_its_pickle_decides_the_same_and_can_be_fitted_again(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=15)
    params, data = kernel_case(kernel, X)
    model = fit(data, y, warm_start=True, **params)
    decided = model.decision_function(data)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(data), decided)
    np.testing.assert_array_equal(again.fit(data, y).decision_function(data), decided)


def test_a_clone_has_the_parameters_and_nothing_else():
    X, y, _ = clouds()
    model = fit(X, y, kernel="rbf", balance=(0.2, 0.6), class_weight={0: 1, 1: 2})
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not [name for name in vars(copy) if name.endswith("_")]


@pytest.mark.slow
def test_a_grid_search_over_a_pipeline_keeps_unlabeled_rows_in_training():
    X, y, truth = clouds(n_classes=3, n_labeled=30, n=120)
    partial = np.nan_to_num(y, nan=-1).astype(int)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SemiSupervisedSVC(unlabeled=-1, random_state=0)),
        {"semisupervisedsvc__C_unlabeled": [0.0, 0.1], "semisupervisedsvc__kernel": ["linear", "rbf"]},
        cv=SemiSupervisedSplit(3, unlabeled=-1),
        error_score="raise",
    ).fit(X, partial)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].transduction_.size == 120
    assert search.score(X, truth) > 0.5


# ------------------------------------------------------------------ the table


def table_rows(text):
    return [line for line in text.splitlines() if line.strip()[:1].isdigit() and len(line.split()) == 6]


def test_verbose_logs_a_table_with_one_row_per_label_vector(caplog):
    X, y, _ = clouds()
    with caplog.at_level(logging.INFO, logger="wellsvm"):
        model = plain(X, y, verbose=1, init="alignment")
    records = [record for record in caplog.records if record.name == "wellsvm"]
    assert records[0].getMessage().split() == ["labelings", "objective", "gap", "violation", "epochs", "seconds"]
    rows = [record.getMessage().split() for record in records if hasattr(record, "progress")]
    assert len(rows) == len(model.history_)
    assert float(rows[-1][1]) == pytest.approx(model.objective_, rel=1e-4)
    assert [hasattr(record, "progress") for record in records[1:]] == [True] * len(rows) + [False] * 3
    assert records[-3].getMessage().startswith("80 rows: 12 labeled, 68 found")  # then what was found, for people


def test_verbose_prints_to_standard_output_where_no_logging_is_set_up(monkeypatch, capsys):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging.getLogger("wellsvm"), "handlers", [])
    X, y, _ = clouds(n_classes=3, n_labeled=15)
    model = fit(X, y, verbose=1)
    printed = capsys.readouterr().out
    assert len(table_rows(printed)) == sum(len(history) for history in model.history_)
    assert printed.count("against the rest") == 3
    fit(X, y, verbose=0)
    assert capsys.readouterr().out == ""


def test_verbose_prints_to_the_standard_output_of_the_moment(monkeypatch):
    # As in a notebook, or under contextlib.redirect_stdout: the stream of the first fit may be gone by the second.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(logging.getLogger("wellsvm"), "handlers", [])
    X, y, _ = clouds()
    for _ in range(2):
        stream = io.StringIO()
        monkeypatch.setattr("sys.stdout", stream)
        model = fit(X, y, verbose=1)
        assert len(table_rows(stream.getvalue())) == len(model.history_)


def test_a_copy_keeps_what_describes_the_training_rows_and_predicts_the_same():
    model = SemiSupervisedSVC(random_state=0, warm_start=True).fit(*two_clouds_for_copies())
    for other in (copy.copy(model), copy.deepcopy(model)):
        assert np.array_equal(other.transduction_, model.transduction_)
        assert np.array_equal(other.labelings_, model.labelings_)
        assert np.array_equal(other.coef_, model.coef_)
        other.fit(*two_clouds_for_copies())  # starts cold, and works


def test_a_refit_with_another_kernel_leaves_nothing_of_the_old_one():
    model = SemiSupervisedSVC(random_state=0).fit(*two_clouds_for_copies())
    model.set_params(kernel="rbf").fit(*two_clouds_for_copies())
    assert not hasattr(model, "coef_")
    model.set_params(kernel="linear").fit(*two_clouds_for_copies())
    assert not any(hasattr(model, name) for name in ("dual_coef_", "support_", "support_vectors_"))


def test_a_dict_of_shares_works_for_two_classes_too():
    X, y = two_clouds_for_copies()
    model = SemiSupervisedSVC(random_state=0, balance={0.0: 0.75, 1.0: 0.25}).fit(X, y)
    assert np.count_nonzero(model.transduction_[np.isnan(y)] == 1) == 9


def two_clouds_for_copies():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-2, 1, (20, 3)), rng.normal(2, 1, (20, 3))])
    y = np.full(40, np.nan)
    y[[0, 20]] = 0, 1
    return X, y


def test_a_price_beyond_the_precision_of_float32_is_served_in_float64():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.full(120, np.nan)
    y[:60] = X[:60, 0] * X[:60, 1] > 0
    model = SemiSupervisedSVC(kernel="rbf", gamma=1e-3, C=1e7, random_state=0).fit(X, y)
    assert model.status_ != Status.MASTER_NOT_SOLVED
