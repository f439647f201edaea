"""SemiSupervisedSVCCV: honest folds, the rule of choice, the same bits for any number of threads."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from checks import PLAIN
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV, threads
from wellsvm.engine.recipe import values_of
from wellsvm.estimators.fold_search import FoldSearch
from wellsvm.estimators.held_out_choice import (
    LabelEvidence,
    choose,
    choose_by_labels,
    errors_to_beat,
    few_label_folds,
    weights_by_labels,
)
from wellsvm.model_selection import SemiSupervisedSplit
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import LinearRows
from wellsvm.rows.kernels import Kernel

PAPER_GRID = [0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0]


def clouds(seed=0, n=80, n_labeled=20, n_classes=2, distance=1.0):
    """Overlapping Gaussian clouds; labeled rows lie among the others."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    X = rng.standard_normal((n, 3)) + distance * rng.standard_normal((n_classes, 3))[truth]
    y = np.where(np.arange(n) < n_labeled, truth, np.nan)
    order = rng.permutation(n)
    return X[order], y[order], truth[order]


class Watch:
    """A scorer that remembers what it was asked to judge; its score is the accuracy."""

    def __init__(self):
        self.decided, self.y_test = [], []

    def __call__(self, estimator, X, y):
        assert len(X) == len(y)
        self.decided.append(estimator.decision_function(X))
        self.y_test.append(y)
        return accuracy_score(y, estimator.predict(X))


def fit(X, y, sample_weight=None, **params):
    usual = {"Cs_unlabeled": [0.01, 0.1], "cv": 3, "random_state": 0, "neighbors": None, "gammas": None}
    model = SemiSupervisedSVCCV(**{**usual, **params})
    return model.fit(X, y, sample_weight)


# ------------------------------------------------------------------ candidates and choice


def test_the_grid_of_the_paper_is_tried_and_the_supervised_svm_with_it():
    X, y, _ = clouds()
    model = SemiSupervisedSVCCV(scoring="accuracy", search="local", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.Cs_unlabeled_, PAPER_GRID)
    assert model.scores_.shape == (2, 8, 5)  # without neighbors and with 6
    assert [candidate["neighbors"] for candidate in model.candidates_] == [None, 6]
    # Every score is a share of the four labeled rows that a fold holds out.
    np.testing.assert_allclose(4 * model.scores_, np.round(4 * model.scores_), atol=1e-12)
    assert (0, model.Cs_unlabeled_.tolist().index(model.C_unlabeled_)) == choose(model.scores_)


@pytest.mark.parametrize(
    "n_labeled, search, tried", [(50, "auto", 4), (51, "auto", 8), (50, "annealed", 4), (50, "local", 8)]
)
def test_few_labels_choose_among_the_higher_values_unless_the_search_needs_the_lower_ones(n_labeled, search, tried):
    X, y, _ = clouds(n_labeled=n_labeled)
    model = fit(X, y, Cs_unlabeled=None, search=search, cv=2)
    np.testing.assert_allclose(model.Cs_unlabeled_, PAPER_GRID if tried == 8 else [0, 0.1, 0.5, 1.0])


SUPERVISED, FAR, NEAR = [0.5, 0.6, 0.7], [0.7, 0.8, 0.9], [0.6, 0.7, 0.5]


@pytest.mark.parametrize(
    "scores, chosen",
    [
        ([[SUPERVISED, FAR]], (0, 1)),  # better in every fold
        ([[FAR, SUPERVISED]], (0, 0)),
        ([[SUPERVISED, SUPERVISED]], (0, 0)),  # no gain
        ([[SUPERVISED, [0.5, 0.5, 0.9]]], (0, 0)),  # a gain of 1/30, a standard error of 0.09
        ([[SUPERVISED, FAR, FAR]], (0, 1)),  # of equals the smallest C
        ([[SUPERVISED, NEAR], [NEAR, FAR]], (1, 1)),  # the best gamma goes with its C
        ([[SUPERVISED, [0.7, 0.9, 0.7]]], (0, 0)),  # a gain of 1/6, 1.9 standard errors
        ([[[0.5], [0.6]]], (0, 1)),  # one fold has no standard error
    ],
)
def test_the_rule_of_choice_by_hand(scores, chosen):
    assert choose(np.array(scores)) == chosen


def test_where_any_gain_is_enough_the_best_mean_is_chosen():
    scores = np.array([[SUPERVISED, [0.5, 0.5, 0.9]]])
    assert choose(scores, errors=0.0) == (0, 1)
    assert choose(scores[:, ::-1], errors=0.0) == (0, 0)


@pytest.mark.parametrize("n_features, n_classes, errors", [(3, 2, 2.0), (30, 2, 2.0), (70, 2, 0.0), (30, 4, 0.0)])
def test_many_dimensions_for_every_label_ask_for_no_standard_error(n_features, n_classes, errors):
    X = np.random.default_rng(0).standard_normal((400, n_features))
    codes = np.full(400, -1)
    codes[:12] = np.arange(12) % n_classes
    partial = PartialLabels(np.arange(n_classes), codes, codes >= 0)
    assert errors_to_beat(LinearRows(X, 1.5), partial, seed=0) == errors


@pytest.mark.parametrize("grid", [[0.1], [0.1, 0.1, 0], [0.5, 0.1], 0.1, np.array([1, 2])], ids=str)
def test_values_are_tried_in_rising_order_once_each_with_zero_first(grid):
    X, y, _ = clouds()
    model = fit(X, y, Cs_unlabeled=grid, cv=2)
    np.testing.assert_allclose(model.Cs_unlabeled_, sorted({0.0, *np.ravel(grid).tolist()}))
    assert model.scores_.shape == (1, model.Cs_unlabeled_.size, 2)


@pytest.mark.parametrize("seed", range(4))
def test_the_pair_chosen_is_the_best_or_the_supervised_one_where_the_gain_is_within_two_standard_errors(seed):
    X, y, _ = clouds(seed, distance=0.7)
    model = fit(X, y, kernel="rbf", gammas=[0.1, 1.0, 10.0], Cs_unlabeled=[0.01, 0.1, 1.0])
    assert model.scores_.shape == (3, 4, 3)
    np.testing.assert_array_equal(model.gammas_, [0.1, 1.0, 10.0])
    mean = model.scores_.mean(axis=2)
    chosen = list(model.gammas_).index(model.gamma_), list(model.Cs_unlabeled_).index(model.C_unlabeled_)
    if chosen[1] > 0:
        assert mean[chosen] == mean.max()
        assert mean[chosen] > mean[:, 0].max()
    else:
        assert mean[chosen] == mean[:, 0].max()
        best = np.unravel_index(mean.argmax(), mean.shape)
        gain = model.scores_[best] - model.scores_[chosen]
        assert gain.mean() <= 2 * gain.std(ddof=1) / np.sqrt(gain.size) + 1e-12


@pytest.mark.parametrize("scores, chosen", [([0.5, 0.9], 0.1), ([0.9, 0.5], 0.0), ([0.5, 0.5], 0.0)])
def test_unlabeled_rows_are_used_only_where_they_help(scores, chosen):
    X, y, _ = clouds()
    given = iter(scores * 3)  # the candidates 0 and 0.1 in each of three folds
    model = fit(X, y, Cs_unlabeled=[0.1], scoring=lambda estimator, X, y: next(given))
    np.testing.assert_array_equal(model.scores_[0], np.transpose([scores] * 3))
    assert model.C_unlabeled_ == chosen


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_final_model_is_the_fit_with_the_value_chosen(kernel, n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=24)
    # Unlabeled rows never help here: the final fit is the supervised one, which has one solution.
    supervised = fit(X, y, kernel=kernel, gamma=0.5, loss="squared_hinge", tol=1e-6, scoring=lambda *ignored: 1.0)
    assert supervised.C_unlabeled_ == 0.0
    params = {"kernel": kernel, "gamma": 0.5, "search": "local", "safe": False, "random_state": 0}
    plain = SemiSupervisedSVC(C_unlabeled=0.0, loss="squared_hinge", tol=1e-6, **params).fit(X, y)
    assert set(vars(plain)) <= set(vars(supervised)) | {"warm_start", "C_unlabeled", "safe", "_fits", "checkpoint"}
    np.testing.assert_allclose(supervised.decision_function(X), plain.decision_function(X), atol=5e-3)
    known = ~np.isnan(y)
    np.testing.assert_array_equal(supervised.transduction_, np.where(known, y, supervised.predict(X)))
    # With them the searches start elsewhere: both end in labelings whose SVMs have these objectives.
    given = iter([0.0, 0.5, 1.0] * 3)
    shared = {name: value for name, value in PLAIN.items() if name not in ("C_unlabeled", "safe")}
    model = fit(X, y, kernel=kernel, gamma=0.5, scoring=lambda *ignored: next(given), **shared)
    assert model.C_unlabeled_ == 0.1
    plain = SemiSupervisedSVC(**{**params, **PLAIN}).fit(X, y)
    np.testing.assert_allclose(model.refined_objective_, plain.refined_objective_, rtol=5e-3)
    assert np.mean(model.transduction_ == plain.transduction_) > 0.97
    np.testing.assert_array_equal(model.transduction_[known], y[known])
    if kernel == "linear":
        assert model.coef_.shape == (1 if n_classes == 2 else 3, 3)


def test_gammas_on_the_way_leave_the_model_of_the_gamma_chosen():
    X, y, _ = clouds()
    for gammas in ([0.3, 3.0], [3.0, 0.3]):
        model = fit(X, y, kernel="rbf", gammas=gammas)
        values = rbf_kernel(X, model.support_vectors_, gamma=model.gamma_) @ model.dual_coef_[0] + model.intercept_
        np.testing.assert_allclose(model.decision_function(X), values, rtol=1e-9)


# ------------------------------------------------------------------ the mean of the folds


def of_folds(X, y, folds, gains=(0.0, 0.5, 1.0), **params):
    """A search over given folds, which judges each price as told, and what it judged."""
    given, watch = iter([*gains] * len(folds)), Watch()
    return fit(X, y, cv=folds, scoring=lambda *seen: watch(*seen) * 0.0 + next(given), **params), watch


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_with_few_labels_the_function_is_the_mean_of_those_of_the_folds(kernel):
    X, y, _ = clouds(distance=2.0)
    known, free = np.flatnonzero(~np.isnan(y)), np.flatnonzero(np.isnan(y))
    one, other = ((np.append(np.delete(known, part), free), known[part]) for part in (slice(0, 5), slice(5, 10)))
    first, watch = of_folds(X, y, [one] * 5, kernel=kernel)
    second, _ = of_folds(X, y, [other] * 5, kernel=kernel)
    both, _ = of_folds(X, y, [one] * 3 + [other] * 3, kernel=kernel)
    assert first.C_unlabeled_ == both.C_unlabeled_ == 0.1
    np.testing.assert_allclose(first.decision_function(X[one[1]]), watch.decided[2], atol=1e-9)
    mean = 0.5 * (first.decision_function(X) + second.decision_function(X))
    np.testing.assert_allclose(both.decision_function(X), mean, atol=1e-9)
    np.testing.assert_array_equal(both.transduction_[free], both.predict(X)[free])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_mean_is_over_candidates_of_one_kernel_too(monkeypatch, kernel):
    """Of deformed kernels and plain ones: what is stored gives new rows the mean of what the candidates say of them."""
    X, y, _ = clouds(distance=0.6)
    said, asked, mean_function = [], [], FoldSearch.mean_function

    def seen(search, weights):
        asked.append((search, weights))
        return mean_function(search, weights)

    monkeypatch.setattr(FoldSearch, "mean_function", seen)
    gammas = {"gammas": [0.1, 0.5]} if kernel == "rbf" else {}
    model = fit(X, y, cv=5, kernel=kernel, neighbors=[None, 6], **gammas)
    ((search, weights),) = asked
    chosen = model.gammas_ == model.gamma_
    assert {c["neighbors"] for c, own in zip(model.candidates_, chosen) if own} == {None, 6}
    assert np.all(weights[chosen] > 0)
    assert np.all(weights[~chosen] == 0)
    assert weights.max() == weights[model.best_candidate_, model.Cs_unlabeled_.tolist().index(model.C_unlabeled_)]
    for number in np.flatnonzero(chosen):
        rows, space = search.rows(number)
        for fold in range(len(search.folds)):
            found = search._walk(rows, space, number, fold)
            said += [w * values_of(one)[:, 0] for w, one in zip(weights[number], found)]
    expected = np.sum(said, axis=0) / len(search.folds)
    shift = model.decision_function(X) - expected  # towards the share: the same for all rows
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)  # kernel values are float32


def test_the_mean_of_the_folds_keeps_a_given_share_and_nearly_an_estimated_one():
    X, y, _ = clouds(distance=0.3)
    known, free = np.flatnonzero(~np.isnan(y)), np.flatnonzero(np.isnan(y))
    fold = (np.append(known[5:], free), known[:5])
    for share in (0.3, 0.7, "estimate"):
        model, _ = of_folds(X, y, [fold] * 5, balance=share)
        assert model.used_unlabeled_
        slack = 0.1 if share == "estimate" else 0.5 / free.size
        np.testing.assert_allclose(model.balance_found_, model.balance_, rtol=0, atol=slack + 1e-9)
    model, _ = of_folds(X, y, [fold] * 5, balance=(0.2, 0.3))
    assert 0.2 <= model.balance_found_[1] <= 0.3


def test_rows_that_are_equal_stay_together_and_transduction_is_what_predict_says():
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, (7, 5)).astype(float)
    which = np.repeat(np.arange(7), rng.integers(1, 60, 7))
    X, truth = kinds[which], kinds[which, 0]
    y = np.full(which.size, np.nan)
    for c in (0, 1):
        some = rng.choice(np.flatnonzero(truth == c), 5, replace=False)
        y[some] = c
    free, n_used = np.isnan(y), 0
    for kernel in ("linear", "rbf"):
        for balance in (0.3, 0.7, "estimate"):
            model = fit(X, y, kernel=kernel, balance=balance, cv=5)
            np.testing.assert_array_equal(model.transduction_[free], model.predict(X)[free])
            np.testing.assert_allclose(model.balance_found_[1], np.mean(model.predict(X)[free]))
            n_used += model.used_unlabeled_
    assert n_used


def test_without_unlabeled_rows_the_width_is_chosen_by_the_labels():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(float)
    for gammas in ([1e-6, 1.0], [1.0, 1e-6]):
        assert fit(X, y, kernel="rbf", gammas=gammas, cv=5).gamma_ == 1.0


@pytest.mark.parametrize(
    ("n_labeled", "n_folds", "params", "averaged"),
    [
        (50, 5, {}, True),
        (51, 5, {}, False),
        (50, 4, {}, False),
        (50, 5, {"search": "annealed"}, False),
        (50, 5, {"gains": (0.9, 0.5, 0.1)}, False),  # the supervised SVM is chosen
    ],
)
def test_few_labels_five_folds_and_a_smooth_search_are_averaged(monkeypatch, n_labeled, n_folds, params, averaged):
    X, y, _ = clouds(n=120, n_labeled=n_labeled, distance=2.0)
    known, free = np.flatnonzero(~np.isnan(y)), np.flatnonzero(np.isnan(y))
    asked, mean_function = [], FoldSearch.mean_function
    monkeypatch.setattr(FoldSearch, "mean_function", lambda *seen: asked.append(seen) or mean_function(*seen))
    of_folds(X, y, [(np.append(known[5:], free), known[:5])] * n_folds, **params)
    assert len(asked) == averaged


# ------------------------------------------------------------------ few labels are held out several times


def evidence(losses, sized_losses, right):
    """Of one kernel and two prices, 0 first."""
    return LabelEvidence(*(np.array([two], dtype=float) for two in (losses, sized_losses, right)))


ALL, LESS = [1.0] * 10, [0.4, 0.6] * 5


@pytest.mark.parametrize(
    ("losses", "sized_losses", "right", "chosen"),
    [
        ([ALL, LESS], [ALL, LESS], [ALL, ALL], 1),
        ([ALL, LESS], [ALL, ALL], [ALL, ALL], 0),  # larger values, and nothing else
        ([ALL, LESS], [LESS, ALL], [ALL, ALL], 0),
        ([ALL, [0.0, 1.9] * 5], [ALL, LESS], [ALL, ALL], 0),  # a gain that may be chance
        ([ALL, LESS], [ALL, LESS], [ALL, [0.5, *ALL[1:]]], 1),
        ([ALL, LESS], [ALL, LESS], [ALL, [0.5, 0.5, *ALL[2:]]], 0),  # one label is lost
        ([ALL, LESS], [ALL, LESS], [ALL, [1 / 3, 2 / 3, *ALL[2:]]], 0),
    ],
)
def test_held_out_labels_choose_by_values_of_one_size_and_must_not_be_lost(losses, sized_losses, right, chosen):
    assert choose_by_labels(evidence(losses, sized_losses, right)) == (0, chosen)


def test_weights_fall_by_e_for_every_standard_error_of_the_loss():
    best = np.array([0.4, 0.6] * 5)
    error = best.std() / 10**0.5
    losses = np.array([[best + 2 * error, best], [best + error, best + 0.5]])
    said = LabelEvidence(losses, losses, np.ones_like(losses))
    weights = weights_by_labels(said, (0, 1), np.array([True, True]))
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(weights / weights[0, 1], np.exp([[-2, 0], [-1, -0.5 / error]]))
    alone = weights_by_labels(said, (0, 1), np.array([True, False]))
    np.testing.assert_allclose(alone[0] / alone[0, 1], np.exp([-2, 0]))
    assert not alone[1].any()


def test_where_the_best_loses_nothing_only_its_equals_have_weight():
    losses = np.array([[np.full(10, 0.5), np.zeros(10)], [np.zeros(10), np.full(10, 1e-3)]])
    weights = weights_by_labels(LabelEvidence(losses, losses, np.ones_like(losses)), (0, 1), np.array([True, True]))
    np.testing.assert_array_equal(weights, [[0.0, 0.5], [0.5, 0.0]])


def test_few_labels_are_dealt_to_folds_twice():
    X, y, _ = clouds(distance=2.0)
    assert fit(X, y, cv=5).scores_.shape == (1, 3, 10)
    assert fit(X, y, cv=5, scoring="accuracy").scores_.shape == (1, 3, 5)
    assert fit(X, y, cv=5, search="annealed").scores_.shape == (1, 3, 5)
    codes = np.where(np.isnan(y), -1, y).astype(int)
    first, second = few_label_folds(codes, 5), few_label_folds(codes, 5, seed=1)
    assert {tuple(test) for _, test in first}.isdisjoint(tuple(test) for _, test in second)
    for folds in (first, second):
        np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.flatnonzero(codes >= 0))
        assert all(np.bincount(codes[test]).tolist() == [2, 2] for _, test in folds)


def test_what_labels_say_is_what_the_folds_say(monkeypatch):
    X, y, _ = clouds(distance=2.0)
    seen, said = [], FoldSearch.evidence_of_labels
    monkeypatch.setattr(FoldSearch, "evidence_of_labels", lambda search: seen.append(said(search)) or seen[0])
    model = fit(X, y, cv=5, balance="labels")
    (found,) = seen
    assert found.losses.shape == (1, 3, 20)
    np.testing.assert_allclose(1 - 0.5 * found.losses.mean(axis=2), model.scores_.mean(axis=2))
    assert set(np.unique(found.right)) <= {0.0, 0.5, 1.0}
    assert (0, model.Cs_unlabeled_.tolist().index(model.C_unlabeled_)) == choose_by_labels(found)


def test_labels_collected_class_by_class_weigh_by_the_estimated_shares(monkeypatch):
    X, y, _ = clouds(distance=2.0)
    codes = y[~np.isnan(y)].astype(int)
    assert np.all(np.bincount(codes) == codes.size // 2)
    seen, said = [], FoldSearch.evidence_of_labels
    monkeypatch.setattr(
        FoldSearch, "evidence_of_labels", lambda search: seen.append((search, said(search))) or seen[-1][1]
    )
    fit(X, y, cv=5)
    monkeypatch.setattr("wellsvm.estimators.fold_search.label_weights", lambda codes, shares: np.ones(codes.size))
    fit(X, y, cv=5)
    (search, weighed), (_, plain) = seen
    shares = np.mean([found.shares for found in search._fold_shares], axis=0)
    for one, other in zip(weighed, plain):
        np.testing.assert_allclose(one, other * (2 * shares)[codes])


# ------------------------------------------------------------------ folds


@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_are_made_of_all_labeled_rows_and_of_them_only(n_classes):
    X, y, _ = clouds(n_classes=n_classes)
    watch = Watch()
    model = fit(X, y, scoring=watch, cv=4)
    tested = watch.y_test[:: model.Cs_unlabeled_.size]  # once per candidate
    assert len(watch.y_test) == 4 * model.Cs_unlabeled_.size
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.sort(y[~np.isnan(y)]))
    assert all(set(part) == set(range(n_classes)) for part in tested)


def test_too_many_folds_for_the_smallest_class_are_lowered_with_a_warning():
    X, y, _ = clouds(n_labeled=8)
    with pytest.warns(UserWarning, match="cv=10 lowered to 4"):
        assert fit(X, y, cv=10, scoring="accuracy").scores_.shape == (1, 3, 4)


def test_without_a_scoring_folds_stay_and_the_only_label_of_a_class_is_never_held_out():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1, 2, -1, -1])
    folds = few_label_folds(codes, 5)
    assert len(folds) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(8))
    for train, test in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(11))
        assert np.count_nonzero(codes[test] == 1) <= 1
    assert few_label_folds(np.array([0, 1, -1]), 5) == []
    X, y, _ = clouds(n_labeled=8)
    assert fit(X, y, cv=10).scores_.shape == (1, 3, 4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_scoring_a_fold_is_judged_by_the_ramp_loss_of_its_rows(n_classes):
    X, y, _ = clouds(n_classes=n_classes)
    watch = Watch()
    folds = list(SemiSupervisedSplit(3).split(X, y))
    fit(X, y, scoring=watch, cv=folds)
    scores = fit(X, y, cv=folds).scores_
    for found, values, labels in zip(scores.transpose(0, 2, 1).ravel(), watch.decided, watch.y_test):
        codes = labels.astype(int)
        values = np.stack([-values, values], axis=1) if n_classes == 2 else values
        assert found == pytest.approx(np.mean([part_of(v / 2, k) for v, k in zip(values, codes)]))


def part_of(values, k):
    """The part k of the shares nearest to some values: these less a number at which what is above 0 sums to 1."""
    less = brentq(lambda number: np.maximum(values - number, 0).sum() - 1, values.min() - 1, values.max(), xtol=1e-14)
    return max(values[k] - less, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_classes, kernel, search",
    [(2, "linear", "local"), (2, "rbf", "local"), (3, "rbf", "local"), (2, "linear", "smooth"), (2, "rbf", "smooth")],
)
def test_a_fold_is_judged_by_the_model_that_never_saw_its_rows(n_classes, kernel, search):
    X, y, _ = clouds(n_classes=n_classes, distance=2.0, n_labeled=24)
    params = {"kernel": kernel, "gamma": 0.3, "loss": "squared_hinge", "tol": 1e-6, "random_state": 0, "search": search}
    watch = Watch()
    model = fit(X, y, cv=StratifiedKFold(3), Cs_unlabeled=[0.02], scoring=watch, **params)
    decided = iter(watch.decided)
    for fold, (train, test) in enumerate(SemiSupervisedSplit(StratifiedKFold(3)).split(X, y)):
        for candidate, C_unlabeled in enumerate((0.0, 0.02)):
            alone = SemiSupervisedSVC(C_unlabeled=C_unlabeled, safe=False, **params)
            alone.fit(X[train], y[train])
            np.testing.assert_allclose(next(decided), alone.decision_function(X[test]), atol=5e-3)
            assert model.scores_[0, candidate, fold] == alone.score(X[test], y[test])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_held_out_labels_and_rows_have_no_influence_on_their_judgement(kernel, class_weight):
    X, y, _ = clouds()
    labeled = np.flatnonzero(~np.isnan(y))
    train, test = labeled[5:], labeled[:5]
    swapped = y.copy()
    swapped[test] = [1, 1, 1, 1, 0]
    decided = []
    for labels in (y, swapped):
        watch = Watch()
        fit(X, labels, kernel=kernel, gamma=0.5, cv=[(train, test)], scoring=watch, class_weight=class_weight)
        decided.append(watch.decided)
    assert not np.array_equal(y[test], swapped[test])
    np.testing.assert_array_equal(*decided)


def test_rows_in_neither_part_of_a_fold_do_not_train():
    X, y, _ = clouds(distance=0.5)
    labeled = np.flatnonzero(~np.isnan(y))
    train, test = labeled[:8], labeled[12:]
    watch = Watch()
    params = {"loss": "squared_hinge", "tol": 1e-6, "random_state": 0}
    fit(X, y, cv=[(train, test)], scoring=watch, Cs_unlabeled=[0.01], **params)
    rows = np.union1d(train, np.flatnonzero(np.isnan(y)))
    alone = SemiSupervisedSVC(C_unlabeled=0, **params).fit(X[rows], y[rows])
    np.testing.assert_allclose(watch.decided[0], alone.decision_function(X[test]), atol=1e-3)


# ------------------------------------------------------------------ scorers


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_named_scorers_are_the_metrics_of_that_name(n_classes):
    X, y, _ = clouds(n_classes=n_classes, n_labeled=24, distance=0.6)
    watch = Watch()
    accuracy = fit(X, y, scoring=watch).scores_
    np.testing.assert_array_equal(fit(X, y, scoring="accuracy").scores_, accuracy)

    def scores(metric):
        return np.reshape([metric(*pair) for pair in zip(watch.y_test, watch.decided)], (3, 3)).T

    def predicted(values):
        return (values > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)

    f1 = scores(lambda labels, values: f1_score(labels, predicted(values), average="macro"))
    np.testing.assert_allclose(fit(X, y, scoring="f1_macro").scores_[0], f1)
    if n_classes == 2:
        np.testing.assert_allclose(fit(X, y, scoring="roc_auc").scores_[0], scores(roc_auc_score))


@pytest.mark.slow
def test_string_classes_are_scored_and_predicted():
    X, y, _ = clouds()
    names = np.array([None if np.isnan(v) else ["hen", "owl"][int(v)] for v in y], dtype=object)
    for scoring in (None, "f1_macro", "roc_auc"):
        model = fit(X, names, scoring=scoring)
        np.testing.assert_array_equal(model.scores_, fit(X, y, scoring=scoring).scores_)
        assert set(model.predict(X)) == {"hen", "owl"}


# ------------------------------------------------------------------ bits, weights, use


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "gammas": [0.3, 1.0]}, {"n_classes": 3}, {"cv": 5}], ids=str)
def test_the_number_of_threads_changes_no_bit_and_the_seed_fixes_all(params):
    X, y, _ = clouds(n_classes=params.get("n_classes", 2), n_labeled=24)
    params = {name: value for name, value in params.items() if name != "n_classes"}
    one, again, two = (fit(X, y, n_jobs=n_jobs, **params) for n_jobs in (None, 1, 2))
    for other in (again, two):
        np.testing.assert_array_equal(other.scores_, one.scores_)
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))
        assert (other.C_unlabeled_, other.gamma_) == (one.C_unlabeled_, one.gamma_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_threads_share_the_factors_of_a_kernel_with_neighbors(kernel):
    X, y, _ = clouds(n=200, n_labeled=12, distance=0.6)
    one = fit(X, y, kernel=kernel, neighbors=[6], cv=5)
    for _ in range(10):
        two = fit(X, y, kernel=kernel, neighbors=[6], cv=5, n_jobs=2)
        np.testing.assert_array_equal(two.decision_function(X), one.decision_function(X))


def test_sample_weight_counts_in_training():
    X, y, _ = clouds(distance=0.5)
    weight = np.where(y == 1, 5.0, 1.0)
    assert not np.array_equal(fit(X, y, weight).decision_function(X), fit(X, y).decision_function(X))
    np.testing.assert_array_equal(
        fit(X, y, weight).decision_function(X), fit(X, y, class_weight={0: 1.0, 1: 5.0}).decision_function(X)
    )


def test_it_works_on_a_kernel_matrix_and_in_a_pipeline():
    X, y, truth = clouds(distance=2.0)
    K = rbf_kernel(X, gamma=0.3)
    given = fit(K, y, kernel="precomputed")
    named = fit(X, y, kernel="rbf", gamma=0.3)
    np.testing.assert_allclose(given.scores_, named.scores_)
    np.testing.assert_allclose(given.decision_function(K), named.decision_function(X), rtol=1e-5)  # float32 inside
    pipe = make_pipeline(StandardScaler(), SemiSupervisedSVCCV(Cs_unlabeled=[0.1], cv=2, random_state=0)).fit(X, y)
    assert pipe.score(X, truth) > 0.7
    assert clone(pipe)[-1].get_params() == pipe[-1].get_params()


# ------------------------------------------------------------------ one distance matrix for all widths


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_distances_or_products_are_computed_once_for_all_gammas(monkeypatch, kernel):
    X, y, _ = clouds()
    params = {"kernel": kernel, "gammas": [0.05, 0.2, 1.0], "coef0": 0.1, "degree": 2, "loss": "hinge", "tol": 1e-4}
    made, original = [], Kernel.pairs
    monkeypatch.setattr(Kernel, "pairs", lambda *args: made.append(args) or original(*args))
    shared = fit(X, y, **params)
    assert len(made) == 1
    monkeypatch.setattr(Kernel, "pairs", lambda *args: None)
    np.testing.assert_allclose(fit(X, y, **params).scores_, shared.scores_, atol=0.15)  # a row may go another way
    monkeypatch.setattr(Kernel, "pairs", original)
    one = fit(X, y, **{**params, "gammas": [shared.gamma_]})
    np.testing.assert_allclose(one.decision_function(X), shared.decision_function(X), rtol=1e-2, atol=1e-2)


@pytest.mark.slow
def test_no_more_than_two_kernel_matrices_are_held(monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1_000_000)  # blocks that are small beside the matrix
    monkeypatch.delattr("mmap.MADV_HUGEPAGE", raising=False)  # tracemalloc sees NumPy's memory only
    X, y, _ = clouds(n=1200)
    params = {"kernel": "rbf", "gammas": [0.05, 0.2, 1.0], "cv": 2, "Cs_unlabeled": [0.1]}
    # The graphs of others take matrices of their own; a smooth search, coordinates.
    params |= {"neighbors": None, "balance": "labels", "search": "local"}
    fit(X, y, **params)  # imports and the like
    tracemalloc.start()
    fit(X, y, **params)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    matrix = 4 * 1200**2
    assert 1.9 * matrix < peak < 2.9 * matrix


# ------------------------------------------------------------------ widths, neighbors and balances


def test_widths_neighbors_and_balances_are_tried_together_and_the_best_is_fitted():
    X, y, _ = clouds()
    balances = ["estimate", 0.5]
    model = fit(X, y, kernel="rbf", gammas="auto", neighbors=[None, 4], balances=balances, Cs_unlabeled=[0.1])
    assert model.scores_.shape == (2 * 2 * 2, 2, 3)
    tried = [tuple(candidate.values()) for candidate in model.candidates_]
    assert len(set(tried)) == 8
    ratios = np.unique(model.gammas_) / model.gammas_[0]
    np.testing.assert_allclose(ratios, Options.few_gamma_factors)
    chosen = model.candidates_[model.best_candidate_]
    assert (chosen["gamma"], chosen["neighbors"]) == (model.gamma_, model.neighbors_)
    assert model.balance == "estimate", "a search changes no parameter"


@pytest.mark.parametrize("wrong", [3, (0.9, 0.1), "half"])
def test_a_balance_that_cannot_be_is_refused_under_the_name_it_was_given_by(wrong):
    X, y, _ = clouds()
    with pytest.raises(ValueError, match=r"balances has an entry that cannot be used: .*balance="):
        fit(X, y, balances=[0.5, wrong])
    with pytest.raises(ValueError, match=r"^balance[ =]"):
        fit(X, y, balance=wrong)
    with pytest.raises(ValueError, match=r"^init must be"):
        fit(X, y, balances=[0.5], init="nonsense")


def test_few_labels_choose_among_few_candidates_and_the_given_width_without_neighbors_is_the_first():
    X, _, truth = clouds(n=160)
    few, many = np.where(np.arange(160) < 50, truth, np.nan), np.where(np.arange(160) < 51, truth, np.nan)
    usual = {"kernel": "rbf", "gamma": 0.5, "gammas": "auto", "neighbors": "auto", "Cs_unlabeled": [0.1], "cv": 2}
    assert tried(fit(X, few, **usual)) == [(0.5, None), (0.5, 6), (2.0, 6)]
    widths = [0.125, 0.5, 2.0, 8.0]
    assert tried(fit(X, many, **usual)) == [(gamma, n) for n in (None, 6) for gamma in widths]
    # What is asked for is tried as a whole.
    assert tried(fit(X, few, **{**usual, "neighbors": None})) == [(0.5, None), (2.0, None)]
    assert tried(fit(X, few, **{**usual, "gammas": [0.3, 3.0]})) == [(g, n) for n in (None, 6) for g in (0.3, 3.0)]


def tried(model):
    """Width and neighbors of every candidate."""
    return [(candidate["gamma"], candidate["neighbors"]) for candidate in model.candidates_]


def test_neighbors_are_tried_only_where_rows_are_few_unless_asked_for():
    model = SemiSupervisedSVCCV()
    assert model._neighbor_grid(sp.csr_matrix((Options.most_rows_for_neighbors, 2)), 1.0) == [None, 6]
    assert model._neighbor_grid(sp.csr_matrix((Options.most_rows_for_neighbors + 1, 2)), 1.0) == [None]
    assert SemiSupervisedSVCCV(neighbors=(8, None))._neighbor_grid(sp.csr_matrix((10**6, 2)), 1.0) == [None, 8]
    assert SemiSupervisedSVCCV(neighbors=None)._neighbor_grid(sp.csr_matrix((10, 2)), 1.0) == [None]


def test_a_mixed_kernel_of_price_zero_is_not_the_supervised_model():
    scores = np.zeros((2, 2, 4))
    scores[1, 0] = 0.5  # neighbors alone are best
    assert choose(scores, np.array([True, False])) == (1, 0)
    scores[1, 0] = [1.0, -1.0, 0.5, -0.4]  # within one standard error
    assert choose(scores, np.array([True, False])) == (0, 0)
