"""Tables as they come: columns of any scale are solved; where rounding is in the way the warning names the column."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from wellsvm import Bags, MultiInstanceSVC, SemiSupervisedSVC
from wellsvm.engine.report import ACT


def few_labels(y, n_labels, seed=0):
    partial = np.full(y.size, np.nan)
    shown = np.random.default_rng(seed).choice(y.size, n_labels, replace=False)
    partial[shown] = y[shown]
    return partial


def small_table(change):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    return change(X), few_labels((X[:, 0] + 0.3 * rng.standard_normal(40) > 0).astype(float), 10)


def test_a_table_that_nobody_has_scaled_is_solved_within_a_few_passes():
    X, y = load_breast_cancer(return_X_y=True)
    model = SemiSupervisedSVC(random_state=0).fit(X, few_labels(y, 30))
    assert model.status_ not in ACT
    assert model.gap_ <= 1.001e-3 * model.objective_
    assert model.history_[-1].epochs < 1000  # 0.1 took tens of thousands, and did not get there


def test_rows_times_a_thousand_are_solved():
    model = SemiSupervisedSVC(random_state=0).fit(*small_table(lambda X: 1000 * X))
    assert model.status_ not in ACT
    assert model.gap_ <= 1.001e-3 * model.objective_


@pytest.mark.slow
def test_rows_times_a_thousand_of_which_half_are_labeled_are_solved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    truth = X[:, 0] + 0.3 * rng.standard_normal(40) > 0
    model = SemiSupervisedSVC(C=1, random_state=0).fit(1000 * X, np.where(np.arange(40) < 20, truth, np.nan))
    assert model.gap_ <= 1.001e-3 * model.objective_  # 0.1 was 86 % away after 11,500 passes
    assert model.history_[-1].epochs < 1000


def test_without_an_intercept_an_offset_that_leaves_no_digits_is_refused_with_its_column():
    with pytest.raises(ValueError, match=r"column \d of X lies 1.1e\+08 times its spread from 0 .*StandardScaler"):
        SemiSupervisedSVC(random_state=0, fit_intercept=False).fit(*small_table(lambda X: X + 1e8))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        SemiSupervisedSVC(random_state=0, fit_intercept=False).fit(*small_table(lambda X: X + 10.0))


def test_without_an_intercept_an_offset_that_rounding_can_hardly_bear_is_named_first():
    with pytest.warns(ConvergenceWarning, match=r"^SemiSupervisedSVC: column \d of X lies .*StandardScaler") as caught:
        model = SemiSupervisedSVC(random_state=0, fit_intercept=False).fit(*small_table(lambda X: X + 5e7))
    assert len([w for w in caught if w.category is ConvergenceWarning]) == 1
    assert model.history_[-1].epochs <= 2 * 10 * 100 + 100  # bounded: rounds_after_failure rounds of most_epochs


def test_a_column_that_hardly_moves_is_no_reason_to_refuse_the_others():
    X, y = small_table(lambda X: X)
    X[:, 3] = 1e3 + 1e-6 * X[:, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SemiSupervisedSVC(random_state=0).fit(X, y)
        SemiSupervisedSVC(random_state=0).fit(np.full_like(X, 1e9), y)  # rows that are all the same


@pytest.mark.parametrize("scale", [100.0, 1e6])
def test_the_hinge_loss_on_large_features_is_solved(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.where(np.arange(60) < 20, X[:, 0] + 0.3 * rng.standard_normal(60) > 0, np.nan)
    model = SemiSupervisedSVC(loss="hinge", random_state=0).fit(scale * X, y)
    assert model.status_ not in ACT  # the gap was 89 % after 10,500 epochs
    assert model.gap_ <= 1.001e-3 * model.objective_


def test_bags_of_large_features_end_soon_and_the_warning_names_a_column_first():
    rng = np.random.default_rng(0)
    X, groups = rng.standard_normal((400, 5)), np.arange(400) // 5
    y = (np.maximum.reduceat(X[:, 0], np.arange(0, 400, 5)) > 1.2).astype(int)
    model = MultiInstanceSVC(kernel="linear", loss="hinge", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(Bags(10.0 * X, groups), y)  # was not solved
        model.fit(Bags(100.0 * X, groups), y)  # by Newton's method from the start
    with pytest.warns(
        ConvergenceWarning, match=r"^MultiInstanceSVC: column \d of X spreads as far as 1.\d+e\+03, .*Scaler"
    ):
        model.fit(Bags(1000.0 * X, groups), y)
    assert model.history_[-1].epochs <= 5 * 11_000  # of each of at most five masters
