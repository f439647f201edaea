"""The rivals of Tables 2 to 8 keep what their papers promise."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import groupby, pairwise, product

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.special import logit, xlogy
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import wellsvm
from checks import PLAIN
from wellsvm import SemiSupervisedSVC
from wellsvm.baselines import (
    CCCPSVM,
    S4VM,
    TSVM,
    AnnealedS3VM,
    ContinuationS3VM,
    GradientS3VM,
    LaplacianSVM,
    MultiSwitchTSVM,
    NewtonS3VM,
)
from wellsvm.baselines._annealing import FIRST, anneal, entropy, soft_labels
from wellsvm.baselines._cccp import lower_ramp
from wellsvm.baselines._features import Features
from wellsvm.baselines._gradient import smooth_losses
from wellsvm.baselines._s4vm import safest, worst_gain
from wellsvm.baselines._tsvm import switch_labels, switchable
from wellsvm.datasets import make_two_moons
from wellsvm.engine.neighborhood import graph_of
from wellsvm.labels import BalancedLabels
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.kernels import Kernel

MODELS = [
    TSVM(random_state=0),
    CCCPSVM(random_state=0),
    AnnealedS3VM(),
    GradientS3VM(),
    S4VM(n_samples=8, random_state=0),
    NewtonS3VM(),
    ContinuationS3VM(),
    MultiSwitchTSVM(),
]
MODELS += [LaplacianSVM(random_state=0)]
NAMES = [type(model).__name__ for model in MODELS]
ALL = pytest.mark.parametrize("model", MODELS, ids=NAMES)
PRICED = pytest.mark.parametrize("model", MODELS[:8], ids=NAMES[:8])


def svm(**params):
    """SemiSupervisedSVC under the parameters that the rivals have."""
    return SemiSupervisedSVC(**{**PLAIN, "random_state": 0, **params})


def clouds(n=60, n_labeled=10, shift=1.0, seed=0, share=0.5):
    """Two clouds that overlap, their classes, and the same with all but the first labels missing."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < share, 1, -1)
    y[:2] = 1, -1
    X = rng.standard_normal((n, 4)) + shift * np.outer(y, [1.0, 0.5, 0.0, 0.0])
    return X, y, np.where(np.arange(n) < n_labeled, y.astype(float), np.nan)


def known(y_partial, low=None):
    """The label set behind a partly known target; ``low`` positives among the unlabeled, by default half."""
    y_known = np.nan_to_num(y_partial).astype(np.int8)
    n_free = int(np.count_nonzero(y_known == 0))
    return BalancedLabels(y_known, n_free // 2 if low is None else low)


def fitted(model, X, y, **params):
    return type(model)(**{**model.get_params(), **params}).fit(X, y)


# ------------------------------------------------------------------ all of them


@ALL
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_labels_two_clouds_from_few_labels_and_places_new_rows(model, kernel):
    X, truth = make_blobs([60, 60], centers=[[0, 0], [6, 4]], random_state=0)
    y = np.full(120, np.nan)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:4]] = c
    found = fitted(model, X, y, kernel=kernel)
    new, new_truth = make_blobs(50, centers=[[0, 0], [6, 4]], random_state=1)
    assert np.mean(found.transduction_ == truth) > 0.95
    assert np.mean(found.predict(new) == new_truth) > 0.95


@ALL
def test_keeps_known_labels_and_tells_values_whose_sign_is_the_class(model):
    X, _, y = clouds()
    y_text = np.where(np.isnan(y), "?", np.where(y > 0, "up", "down"))
    found = fitted(model, X, y_text, unlabeled="?")
    np.testing.assert_array_equal(found.classes_, ["down", "up"])
    np.testing.assert_array_equal(found.transduction_[:10], y_text[:10])
    new = clouds(seed=1)[0]
    np.testing.assert_array_equal(found.decision_function(new) > 0, found.predict(new) == "up")


@ALL
def test_without_unlabeled_rows_it_is_the_supervised_svm(model):
    X, y, _ = clouds()
    params = {
        "tol": 1e-10,
        "kernel": "rbf",
        "gamma": 0.3,
        **({"gamma_A": 0.5} if "gamma_A" in model.get_params() else {}),
    }
    supervised = svm(kernel="rbf", gamma=0.3, loss=model.loss, tol=1e-10, unlabeled=None)
    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        found, wanted = fitted(model, X, y, unlabeled=None, **params), supervised.fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-4)


@ALL
def test_a_price_of_zero_is_the_supervised_svm(model):
    X, _, y = clouds()
    zero = {"gamma_A": 0.5, "gamma_I": 0.0} if "gamma_I" in model.get_params() else {"C_unlabeled": 0.0}
    wanted = svm(C_unlabeled=0, kernel="rbf", loss=model.loss, tol=1e-11, refine=False)
    found = fitted(model, X, y, kernel="rbf", tol=1e-8, **zero)
    np.testing.assert_allclose(found.decision_function(X), wanted.fit(X, y).decision_function(X), atol=1e-4)


@ALL
def test_a_matrix_of_kernel_values_serves_as_well_as_the_kernel(model):
    X, _, y = clouds()
    K, new = rbf_kernel(X, gamma=0.2), clouds(seed=1)[0]
    a, b = fitted(model, X, y, kernel="rbf", gamma=0.2), fitted(model, K, y, kernel="precomputed")
    np.testing.assert_array_equal(a.transduction_, b.transduction_)
    np.testing.assert_allclose(
        a.decision_function(new), b.decision_function(rbf_kernel(new, X, gamma=0.2)), atol=0.01, rtol=0.01
    )


@ALL
def test_a_linear_function_has_weights_and_sparse_rows_give_the_same(model):
    X, _, y = clouds()
    X[np.abs(X) < 0.5] = 0
    dense, sparse = fitted(model, X, y, kernel="linear"), fitted(model, sp.csr_matrix(X), y, kernel="linear")
    assert dense.coef_.shape == (1, 4)
    np.testing.assert_allclose(X @ dense.coef_[0] + dense.intercept_, dense.decision_function(X), atol=1e-10)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=2e-3)
    np.testing.assert_array_equal(dense.transduction_, sparse.transduction_)


@ALL
def test_more_classes_are_told_apart_one_against_the_rest(model):
    X, truth = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    y = np.full(150, np.nan)
    for c in range(3):
        y[np.flatnonzero(truth == c)[:6]] = c
    wrong = int(np.flatnonzero(truth == 0)[0])
    y[wrong] = 1  # a wrong label is kept as well
    found = fitted(model, X, y, kernel="rbf")
    assert found.decision_function(X).shape == (150, 3)
    assert np.shape(found.objective_) == (3,)
    assert found.transduction_[wrong] == 1
    assert np.mean(found.transduction_ == truth) > 0.95
    assert np.mean(found.predict(X) == truth) > 0.95


@ALL
def test_a_seed_gives_the_same_bits_and_pickles_and_files_predict(model, tmp_path):
    X, _, y = clouds()
    new = clouds(seed=2)[0]
    first, again = fitted(model, X, y, kernel="rbf"), fitted(model, X, y, kernel="rbf")
    values = first.decision_function(new)
    np.testing.assert_array_equal(values, again.decision_function(new))
    wellsvm.save(first, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(first)), wellsvm.load(tmp_path / "model")):
        np.testing.assert_array_equal(copy.decision_function(new), values)


@pytest.mark.parametrize(
    "model, params, message",
    [
        *[(model, {"C": 0}, "C must be .* greater than 0") for model in MODELS[:5]],
        *[(model, {"C_unlabeled": -1}, "C_unlabeled must be .* at least 0") for model in MODELS[:5]],
        *[(model, {"balance": None}, "share of positives: balance .* got balance=None") for model in MODELS[:4]],
        *[(model, {"balance": "estimate"}, "does not estimate .* balance='estimate'") for model in MODELS[:5]],
        *[(model, {"kernel": "cosine"}, "kernel must be one of") for model in MODELS],
        *[(model, {"tol": 0}, "tol must be") for model in MODELS],
        (TSVM(), {"balance": (0.2, 0.4)}, r"TSVM needs .* got balance=\(0.2, 0.4\)"),
        (TSVM(), {"max_switches": 0}, "max_switches"),
        (CCCPSVM(), {"ramp": 0.1}, "ramp must be .* at most 0"),
        (CCCPSVM(), {"ramp": -1}, "ramp must be .* greater than -1"),
        (CCCPSVM(), {"max_iter": 0}, "max_iter"),
        (AnnealedS3VM(), {"max_iter": 0}, "max_iter"),
        (GradientS3VM(), {"n_prices": 0}, "n_prices"),
        (S4VM(), {"risk": -1}, "risk"),
        (S4VM(), {"n_samples": 0}, "n_samples"),
        (S4VM(), {"n_candidates": 0}, "n_candidates"),
        (LaplacianSVM(), {"gamma_A": 0}, "gamma_A must be .* greater than 0"),
        (LaplacianSVM(), {"gamma_I": -1}, "gamma_I"),
        (LaplacianSVM(), {"n_neighbors": 0}, "n_neighbors"),
    ],
)
def test_bad_parameters_are_named(model, params, message):
    X, _, y = clouds()
    with pytest.raises(ValueError, match=message):
        fitted(model, X, y, **params)


@PRICED
def test_extreme_shares_are_honoured_or_bounded(model):
    X, _, y = clouds()
    for share in (0.0, 1.0):
        found = fitted(model, X, y, balance=share)
        assert np.all(np.isfinite(found.decision_function(X)))
        if isinstance(model, (TSVM, AnnealedS3VM)):
            assert np.mean(found.transduction_[10:] == 1) == share
        elif isinstance(model, (CCCPSVM, GradientS3VM)):
            assert found.decision_function(X)[10:].mean() == pytest.approx(0.99 * (2 * share - 1), abs=1e-6)


# ------------------------------------------------------------------ transductive SVM


@pytest.mark.parametrize("max_switches", [1, 1000])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_switch_lowers_the_objective_and_keeps_the_number_of_positives(kernel, max_switches):
    n_switches = 0
    for seed in range(4):
        X, _, y = clouds(n_labeled=6, shift=0.4, seed=seed)
        labels = known(y, low=20)
        rows = LinearRows(X, 1.0) if kernel == "linear" else GramRows(rbf_kernel(X, gamma=0.2), 1.0)
        stages = list(switch_labels(rows, labels, 1.0, 1.0, max_switches, 1e-9, np.random.default_rng(0)))
        for stage in stages:
            assert labels.contains(stage.svm.y)
        for before, after in pairwise(stages):
            changed = int(np.count_nonzero(before.svm.y != after.svm.y))
            if np.array_equal(before.prices, after.prices):
                assert after.svm.upper < before.svm.upper
                assert changed == 2 if max_switches == 1 else changed % 2 == 0
                n_switches += 1
            else:
                assert np.all(after.prices >= before.prices)
                assert changed == 0
        np.testing.assert_array_equal(stages[-1].prices, [1.0, 1.0])
        last = stages[-1].svm
        assert switchable(last.scores(), last.y, labels.free)[0].size == 0
    assert n_switches > 10


def test_the_first_prices_have_the_ratio_of_the_classes_and_each_next_is_the_double():
    X, _, y = clouds()
    labels = known(y, low=10)  # of 50
    stages = switch_labels(LinearRows(X, 1.0), labels, 1.0, 0.3, 1, 1e-3, np.random.default_rng(0))
    prices = np.array([key for key, _ in groupby(tuple(stage.prices) for stage in stages)])
    assert prices[0][1] == pytest.approx(prices[0][0] / 4)
    np.testing.assert_allclose(prices[1:], np.minimum(2 * prices[:-1], 0.3))


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_disjoint_and_each_is_better_switched(seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.choice([-1, 1], 40).astype(np.int8), 2 * rng.standard_normal(40)
    free = np.arange(5, 40)
    positive, negative = switchable(scores, y, free)
    assert positive.size > 0
    assert np.unique([*positive, *negative]).size == 2 * positive.size
    assert np.all(y[positive] == 1)
    assert np.all(y[negative] == -1)
    assert min(positive.min(), negative.min()) >= 5

    def loss(y, price):
        return np.sum(np.where(y > 0, price, 1.0) * np.maximum(0, 1 - y * scores))

    for m, l in zip(positive, negative):
        for price in (0.1, 1.0, 10.0):  # of positives, that of negatives being 1
            switched = y.copy()
            switched[[m, l]] = -1, 1
            assert loss(switched, price) < loss(y, price)


# ------------------------------------------------------------------ ramp loss


def centred(K, free):
    P = np.eye(len(K))
    P[:, free] -= 1 / len(free)
    return P @ K @ P.T


@pytest.mark.parametrize("ramp", [0.0, -0.3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_objective_of_the_ramp_never_rises_and_the_mean_is_kept(kernel, ramp):
    n_steps = 0
    for seed in range(4):
        X, _, y = clouds(n_labeled=6, shift=0.4, seed=seed)
        labels = known(y)
        free = labels.free
        K = centred(linear_kernel(X) if kernel == "linear" else rbf_kernel(X, gamma=0.2), free)
        steps, settled = lower_ramp(K, labels, 1.0, 0.5, 0.2, ramp, 1e-7, 100, np.random.default_rng(0))
        assert settled
        for step in steps:
            np.testing.assert_allclose(step.f, K @ step.coef + 0.2, atol=1e-9)
            assert step.f[free].mean() == pytest.approx(0.2)
            hinges = np.maximum(0, 1 - y[:6] * step.f[:6]).sum()
            # Two ramps, one per label: R_s(z) = min(1 - s, max(0, 1 - z)).
            ramps = [np.minimum(1 - ramp, np.maximum(0, 1 - sign * step.f[free])) for sign in (-1, 1)]
            value = step.coef @ K @ step.coef / 2 + hinges + 0.5 * (np.sum(ramps) - free.size * (1 - ramp))
            assert step.objective == pytest.approx(value)
        assert np.all(np.diff([step.objective for step in steps]) < 0)
        n_steps += len(steps)
    assert n_steps > 10


def test_a_step_is_the_minimum_of_its_bound():
    X, _, y = clouds(n_labeled=6, shift=0.4)
    labels, mean = known(y), -0.3
    K = centred(rbf_kernel(X, gamma=0.2), labels.free)
    (first, second), _ = lower_ramp(K, labels, 2.0, 0.5, mean, -0.2, 1e-8, 2, np.random.default_rng(0))
    L = np.linalg.cholesky(K + 1e-8 * np.eye(60))
    w = cp.Variable(60)
    f = L @ w + mean
    hinges = 2.0 * cp.sum(cp.pos(1 - cp.multiply(y[:6], f[:6])))
    pulled = labels.free[np.abs(first.f[labels.free]) > 0.2]
    assert 0 < pulled.size < labels.free.size
    bound = 0.5 * cp.sum(cp.pos(1 - cp.multiply(np.sign(first.f[pulled]), f[pulled])))
    cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinges + bound)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(second.f, f.value, atol=1e-3)


def test_the_mean_of_f_is_the_balance_also_in_what_is_stored():
    X, _, y = clouds()
    for model in (CCCPSVM(kernel="rbf", balance=0.3, random_state=0), GradientS3VM(kernel="rbf", balance=0.3)):
        found = model.fit(X, y)
        assert found.decision_function(X[10:]).mean() == pytest.approx(-0.4, abs=1e-3)
        np.testing.assert_array_equal(found.predict(X)[10:], found.transduction_[10:])
    with pytest.warns(ConvergenceWarning, match="CCCPSVM: .* max_iter=1 "):
        CCCPSVM(max_iter=1, random_state=0).fit(X, y)


# ------------------------------------------------------------------ Laplacian SVM


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("normalized", [True, False])
def test_it_is_the_optimum_of_a_generic_solver(kernel, normalized):
    X, _, y = clouds(n=40, n_labeled=12, shift=0.5)
    K = linear_kernel(X) if kernel == "linear" else rbf_kernel(X, gamma=0.2)
    params = {"gamma_A": 0.1, "gamma_I": 0.2, "n_neighbors": 4, "normalized": normalized}
    found = LaplacianSVM(**params, kernel=kernel, gamma=0.2, tol=1e-8, random_state=0).fit(X, y)
    L = graph_of(GramRows(K), 4, normalized).toarray()
    a, b = cp.Variable(40), cp.Variable()
    f = K @ a
    norm, change = cp.quad_form(a, cp.psd_wrap(K)), cp.quad_form(f, cp.psd_wrap(L))
    loss = cp.sum(cp.pos(1 - cp.multiply(y[:12], f[:12] + b)))
    wanted = cp.Problem(cp.Minimize(loss + 0.1 * (norm + b**2) + 0.2 * change)).solve(solver=cp.CLARABEL)
    assert found.objective_ == pytest.approx(wanted, rel=1e-5)
    np.testing.assert_allclose(found.decision_function(X), f.value + b.value, atol=2e-3)


@pytest.mark.parametrize("as_stored", [np.asarray, sp.csr_array])
def test_the_linear_kernel_takes_systems_of_the_size_of_the_features(monkeypatch, as_stored):
    X, _, y = clouds(n=40, n_labeled=12, shift=0.5)
    params = {"gamma_I": 0.2, "n_neighbors": 4, "tol": 1e-8, "random_state": 0}
    K = linear_kernel(X)
    wanted = LaplacianSVM(kernel="precomputed", **params).fit(K, y).decision_function(K)
    solve, sizes = np.linalg.solve, []
    monkeypatch.setattr(np.linalg, "solve", lambda a, b: sizes.append(len(a)) or solve(a, b))
    found = LaplacianSVM(kernel="linear", **params).fit(as_stored(X), y)
    assert sizes == [X.shape[1]]
    np.testing.assert_allclose(found.decision_function(X), wanted, atol=1e-9)


def test_the_graph_joins_nearest_neighbors_and_its_laplacian_takes_constants_to_zero():
    X = np.array([[0.0], [1.0], [2.5], [10.0]])
    L = graph_of(GramRows(linear_kernel(X)), 1, normalized=False).toarray()
    np.testing.assert_array_equal(L, [[1, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1]])
    values = np.linalg.eigvalsh(graph_of(GramRows(linear_kernel(X)), 2, normalized=True).toarray())
    assert values.min() == pytest.approx(0, abs=1e-12)
    assert values.max() <= 2
    assert graph_of(GramRows(linear_kernel(X)), 99, normalized=True).nnz == 16  # all there are


def test_the_graph_carries_labels_along_two_moons():
    moons = make_two_moons(n_samples=200, n_labeled=4, random_state=0)
    accuracy = [
        np.mean(
            LaplacianSVM(gamma=10.0, gamma_I=gamma_I, unlabeled=-1, random_state=0)
            .fit(moons.X, moons.y_partial)
            .transduction_
            == moons.y
        )
        for gamma_I in (0.0, 1.0)
    ]
    assert accuracy[1] > max(0.97, accuracy[0])


# ------------------------------------------------------------------ deterministic annealing


def features(X, kernel, bias=1.0):
    return Features.of(X, Kernel(kernel, 0.2, 3, 0.0), bias)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_annealing_cools_from_the_class_ratio_to_decided_labels(kernel):
    X, _, y = clouds(n_labeled=6, shift=0.4)
    labels = known(y, low=20)
    here = features(X, kernel)
    turns = list(anneal(here, labels, 1.0, 0.5, 1e-6, 20))
    for turn in turns:
        assert turn.p.sum() == pytest.approx(20, abs=1e-6)
        f, T, p = here.scores(turn.v), turn.temperature, turn.p
        up, down = (np.maximum(0, 1 - sign * f[6:]) ** 2 / 2 for sign in (1, -1))
        labeled = np.sum(np.maximum(0, 1 - y[:6] * f[:6]) ** 2) / 2
        disorder = np.sum(xlogy(p, p) + xlogy(1 - p, 1 - p))
        value = turn.v @ turn.v / 2 + labeled + 0.5 * (p @ up + (1 - p) @ down) + T * disorder
        assert turn.objective == pytest.approx(value)
        undecided = np.minimum(p, 1 - p) > 1e-9  # else the logarithm has no digits left
        assert np.ptp((0.5 * (up - down) + T * logit(p))[undecided]) < 1e-5  # p is the best for this f: one multiplier
    assert turns[0].temperature == FIRST * 0.5
    np.testing.assert_allclose(turns[0].p, 20 / 54, atol=0.1)  # the hottest
    last_of = {turn.temperature: entropy(turn.p) for turn in turns}
    assert list(last_of) == sorted(last_of, reverse=True)
    cooled = np.array(list(last_of.values()))
    assert np.all(np.diff(cooled) < 1e-3 * cooled[0])
    assert cooled[-1] < 0.01 * cooled[0]
    for _, same in groupby(turns, key=lambda turn: turn.temperature):
        assert np.all(np.diff([turn.objective for turn in same]) <= 1e-9)


@pytest.mark.parametrize("T", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_soft_labels_are_the_optimum_of_a_generic_solver(T, seed):
    g = np.random.default_rng(seed).standard_normal(12)
    p = soft_labels(g, T, 5)
    assert p.sum() == pytest.approx(5, abs=1e-9)
    q = cp.Variable(12)
    objective = g @ q - T * cp.sum(cp.entr(q) + cp.entr(1 - q))
    wanted = cp.Problem(cp.Minimize(objective), [cp.sum(q) == 5]).solve(solver=cp.CLARABEL)
    assert g @ p - T * entropy(p) <= wanted + 1e-6 * max(1, abs(wanted))
    np.testing.assert_array_equal(soft_labels(g, T, 0), 0)
    np.testing.assert_array_equal(soft_labels(g, T, 12), 1)
    np.testing.assert_allclose(soft_labels(np.ones(12), T, 5), 5 / 12)


def test_a_decided_annealing_is_the_svm_of_its_labels():
    X, _, y = clouds(n_labeled=6, shift=0.6)
    found = AnnealedS3VM(C_unlabeled=0.5, kernel="rbf", tol=1e-6, max_iter=50).fit(X, y)
    assert np.count_nonzero(found.transduction_[6:] == 1) == int(54 * np.mean(y[:6] == 1))
    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        supervised = svm(kernel="rbf", tol=1e-8, unlabeled=None).fit(
            X, found.transduction_, sample_weight=np.where(np.isnan(y), 0.5, 1.0)
        )
    np.testing.assert_allclose(found.decision_function(X), supervised.decision_function(X), atol=0.01)


# ------------------------------------------------------------------ gradient descent


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_finite_differences(kernel, seed):
    X, _, y = clouds(seed=seed)
    labels = known(y)
    here = features(sp.csr_matrix(X) if kernel == "linear" else X, kernel).centred(labels.free, 0.2)
    loss = partial(smooth_losses, labels=labels, C=2.0, C_unlabeled=0.7)
    v = np.random.default_rng(seed).standard_normal(here.start().size)
    error = check_grad(lambda v: here.objective(v, loss)[0], lambda v: here.objective(v, loss)[1], v)
    assert error < 1e-4 * np.linalg.norm(here.objective(v, loss)[1])
    assert here.scores(v)[labels.free].mean() == pytest.approx(0.2)  # the balance holds for every w


def test_features_have_the_inner_products_of_the_kernel_and_end_in_a_minimum():
    X, _, y = clouds()
    labels, here = known(y), features(X, "rbf")
    np.testing.assert_allclose(here.Phi @ here.Phi.T, rbf_kernel(X, gamma=0.2), atol=1e-5)
    loss = partial(smooth_losses, labels=labels, C=2.0, C_unlabeled=0.7)
    v = here.minimize(here.start(), loss, 1e-8)
    value, gradient = here.objective(v, loss)
    assert np.linalg.norm(gradient) < 1e-4
    coef, new = here.to_store(v), clouds(seed=3)[0]
    np.testing.assert_allclose(coef @ rbf_kernel(X, gamma=0.2), here.Phi @ v[:-1], atol=1e-4)
    assert value < here.objective(here.start(), loss)[0]
    assert np.isfinite(coef @ rbf_kernel(X, new, gamma=0.2)).all()


def test_a_rising_price_ends_lower_than_the_last_price_alone():
    values = {1: [], 11: []}
    for seed, n_prices in product(range(8), values):
        X, _, y = clouds(n=100, n_labeled=4, shift=0.8, seed=seed)
        model = GradientS3VM(C_unlabeled=1.0, n_prices=n_prices, kernel="rbf", gamma=0.3).fit(X, y)
        assert len(model.history_) == n_prices
        assert np.all(np.diff(model.history_) > 0)
        values[n_prices].append(model.objective_)
    assert np.mean(values[11]) < np.mean(values[1])


# ------------------------------------------------------------------ S4VM


@pytest.mark.parametrize("seed", range(10))
def test_the_labels_chosen_are_the_best_of_all_in_the_worst_case(seed):
    rng = np.random.default_rng(seed)
    base = rng.choice([-1, 1], 10).astype(np.int8)
    candidates = np.where(rng.random((3, 10)) < 0.6, -base, base).astype(np.int8)
    risk = float(rng.choice([0.5, 1.0, 3.0]))

    def value(y):  # as the paper writes it
        gains = [np.sum((y == t) & (t != base)) - risk * np.sum((y != t) & (t == base)) for t in candidates]
        return min(gains)

    wanted = max(value(np.array(y)) for y in product([-1, 1], repeat=10))
    y = safest(candidates, base, risk)
    assert value(y) == pytest.approx(wanted)
    assert worst_gain(y, candidates, base, risk) == pytest.approx(wanted)
    assert worst_gain(base, candidates, base, risk) == 0


def test_one_candidate_is_followed_and_its_opposite_beside_it_is_not():
    base = np.array([1, 1, -1, -1, 1], dtype=np.int8)
    other = np.array([1, -1, -1, 1, 1], dtype=np.int8)
    np.testing.assert_array_equal(safest(other[None], base, 3.0), other)
    np.testing.assert_array_equal(safest(np.stack([other, -other]), base, 3.0), base)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_never_falls_below_the_supervised_svm_by_its_own_measure(kernel):
    gains = []
    for seed in range(6):
        X, _, y = clouds(n_labeled=6, shift=0.6, seed=seed)
        model = S4VM(kernel=kernel, C_unlabeled=1.0, n_samples=10, risk=1.0, random_state=0).fit(X, y)
        supervised = svm(C_unlabeled=0, kernel=kernel, loss="hinge", refine=False).fit(X, y)
        kept = np.array_equal(model.transduction_[6:], supervised.predict(X)[6:])
        gains.append(model.objective_)
        assert model.objective_ >= 0
        assert kept or model.objective_ > 0
    assert max(gains) > 0


# ------------------------------------------------------------------ scikit-learn


# A small C: some checks use rows of length 300, on which C = 1 is slow with every linear SVM.
@pytest.mark.filterwarnings("ignore:.*no row of y is unlabeled:UserWarning")
@parametrize_with_checks(
    [
        TSVM(C=0.01),
        CCCPSVM(C=0.01),
        LaplacianSVM(gamma_A=50),
        AnnealedS3VM(kernel="rbf"),
        GradientS3VM(kernel="rbf"),
        S4VM(C=0.01),
    ]
)
def test_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)
