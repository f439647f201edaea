"""Transductive SVM (Joachims, "Transductive inference for text classification using support vector machines", 1999).

    minimize over y, w   1/2 ||w||^2 + C sum over labeled rows of xi_i + C* sum over unlabeled rows of xi_i,
    xi_i = max(0, 1 - y_i f(x_i)),      known labels kept, a given number of positives among the others

by local search. The unlabeled rows are labeled by the supervised SVM, those of largest value positive, and their price
C* starts near zero and is doubled until it reaches its end. At every price: solve the SVM; then, as long as there are a
positive and a negative unlabeled row with

    xi_m > 0,   xi_l > 0,   xi_m + xi_l > 2

switch their labels and solve again. At the old w the new slacks are ``2 - xi_m < xi_l`` and ``2 - xi_l < xi_m``, or 0:
every switch lowers the objective, even where positives and negatives have different prices, and the search ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit, train_supervised
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import Rows
from wellsvm.solver import Solution, fit_svm

__all__ = ["TSVM", "Stage", "switch_labels", "switchable"]

# The first price of the unlabeled rows, as a share of C.
FIRST = 1e-5
# A pair is switched only if its slacks exceed 2 by more than this: not for what the SVM's tolerance leaves open.
CLEAR = 1e-3


class Stage(NamedTuple):
    """An SVM of the search, and the prices of an unlabeled row labeled negative and positive."""

    svm: Solution
    prices: FloatArray


class TSVM(SemiSupervisedBaseline):
    """Transductive SVM: switches labels while the penalty on unlabeled rows rises slowly.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share.
    fit_intercept : bool, default=True
        Whether to add a constant feature, which is regularized like the others.
    max_switches : int, default=1
        Maximum number of pairs to switch before the SVM is solved again, those with the largest slack first. 1 is
        Joachims' choice; more are faster (Sindhwani and Keerthi 2006).
    tol : float, default=1e-3
        Relative duality gap of every SVM.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent.

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row; with two classes, they keep the balance.
    history_ : list of float, or a list of them
        Objective of every SVM; it decreases while the penalty is constant and increases with the penalty.
    """

    def __init__(
        self,
        C=1.0,
        C_unlabeled=0.1,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        balance="labels",
        unlabeled="auto",
        max_switches=1,
        tol=1e-3,
        random_state=None,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.unlabeled = unlabeled
        self.max_switches = max_switches
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number("max_switches", self.max_switches, low=1)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        history = []
        for stage in switch_labels(rows, labels, self.C, self.C_unlabeled, self.max_switches, self.tol, rng):
            history.append(stage.svm.upper)
        return TwoClassFit.of_svm(stage.svm, stage.svm.y, history)


def switch_labels(
    rows: Rows,
    labels: BalancedLabels,
    C: float,
    C_unlabeled: float,
    max_switches: int,
    tol: float,
    rng: np.random.Generator,
) -> Iterator[Stage]:
    """The SVMs of the search, the last one the result."""
    solve = partial(fit_svm, rows, labels, tol=tol, rng=rng)
    svm = train_supervised(rows, labels, "hinge", C, tol, rng)
    y, alpha = labels.linear_oracle(svm.scores()), svm.alpha
    n_negative = labels.free.size - labels.low
    ratio = labels.low / n_negative if labels.low and n_negative else 1.0
    prices = np.minimum(FIRST * C * np.array([1.0, ratio]), C_unlabeled)  # Joachims' ratio; at the end they are equal
    while True:
        last = np.inf
        while True:
            by_row = np.where(labels.y_known != 0, C, np.where(y > 0, prices[1], prices[0]))
            svm = solve(Losses.of("hinge", by_row), y, alpha=alpha)
            yield Stage(svm, prices)
            y, alpha = svm.y.copy(), svm.alpha
            positive, negative = switchable(svm.scores(), y, labels.free)
            if not positive.size or svm.upper >= last:  # the latter below the tolerance of the SVM only
                break
            last = svm.upper
            y[positive[:max_switches]], y[negative[:max_switches]] = -1, 1
        if np.all(prices == C_unlabeled):
            return
        prices = np.minimum(2 * prices, C_unlabeled)


def switchable(scores: FloatArray, y: LabelArray, free: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of a positive and a negative row whose labels are better switched, no row in two of them."""
    slack = 1 - y * scores
    order = free[np.argsort(-slack[free], kind="stable")]
    order = order[slack[order] > 0]
    positive, negative = order[y[order] > 0], order[y[order] < 0]
    n = min(positive.size, negative.size)
    positive, negative = positive[:n], negative[:n]
    better = slack[positive] + slack[negative] > 2 + CLEAR  # falls along the pairs
    return positive[better], negative[better]
