"""Deterministic annealing (Sindhwani, Keerthi, Chapelle, "Deterministic annealing for semi-supervised kernel machines",
ICML 2006).

The label of an unlabeled row is a coin with probability p_i of +1, and the objective is its mean less T times its
entropy. With ``l(m) = max(0, 1 - m)^2 / 2``,

    minimize over w, p   1/2 ||w||^2 + C sum_l l(y_i f_i) + C* sum_u [p_i l(f_i) + (1 - p_i) l(-f_i)]
                         + T sum_u [p_i log p_i + (1 - p_i) log(1 - p_i)]
    subject to           sum_u p_i = number of positives

At a high temperature T it is convex in effect and all p are equal; T falls by a constant factor until the coins are
decided. At every T the two groups of variables are minimized in turns, which never raises the objective:

- p, with ``g_i = C* (l(f_i) - l(-f_i))``:   p_i = 1 / (1 + exp((g_i - nu) / T)), nu by the balance;
- w, by L-BFGS from the last one: the "gradient DA" of Chapelle, Sindhwani, Keerthi (JMLR 2008).

Turns end when p changes by less than `SETTLED` on average, temperatures when the mean entropy is below `DECIDED`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray, Matrix
from wellsvm.baselines._features import Features
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit
from wellsvm.labels import BalancedLabels
from wellsvm.options import Options
from wellsvm.rows.kernels import Kernel

__all__ = ["AnnealedS3VM", "Turn", "anneal", "soft_labels"]

# Temperatures, in units of C*: the first; the factor between two; the last.
FIRST, FACTOR, LAST = 10.0, 1.5, 1e-4
SETTLED, DECIDED = 1e-3, 1e-3


class Turn(NamedTuple):
    """Both groups minimized once: temperature, v = (w, b), p, and the objective at that temperature."""

    temperature: float
    v: FloatArray
    p: FloatArray
    objective: float


class AnnealedS3VM(SemiSupervisedBaseline):
    """Semi-supervised SVM by deterministic annealing.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share.
    fit_intercept : bool, default=True
        Whether to add a constant feature, which is regularized like the others.
    tol : float, default=1e-3
        Tolerance for w: the square root of the relative decrease at which L-BFGS stops.
    max_iter : int, default=10
        Maximum number of rounds at each temperature.
    random_state : int, RandomState or None, default=None
        Seed; used only by the supervised SVM (``C_unlabeled=0``).

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row. With two classes, the rows with the largest p are positive.
    history_ : list of float, or a list of them
        The objective after every round; it decreases while the temperature is constant.
    """

    loss = "squared_hinge"

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
        tol=1e-3,
        max_iter=10,
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
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number("max_iter", self.max_iter, low=1)

    def _rows(self, X: Matrix, kernel: Kernel) -> Features:
        return Features.of(X, kernel, Options.bias if self.fit_intercept else 0.0)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        turns = list(anneal(rows, labels, self.C, self.C_unlabeled, self.tol, self.max_iter))
        v, p = turns[-1].v, np.zeros(labels.n_rows)
        p[labels.free] = turns[-1].p
        history = [turn.objective for turn in turns]
        return TwoClassFit(rows.to_store(v), rows.intercept(v), labels.linear_oracle(p), rows.scores(v), history)


def anneal(
    features: Features, labels: BalancedLabels, C: float, C_unlabeled: float, tol: float, max_iter: int
) -> Iterator[Turn]:
    """All turns, from the first temperature to the last."""
    v, T = features.start(), FIRST * C_unlabeled
    p = np.full(labels.free.size, labels.low / labels.free.size)
    while True:
        for _ in range(max_iter):
            v = features.minimize(v, partial(_mean_losses, labels=labels, p=p, C=C, C_unlabeled=C_unlabeled), tol)
            f = features.scores(v)[labels.free]
            last, p = p, soft_labels(C_unlabeled * (_half_square(f)[0] - _half_square(-f)[0]), T, labels.low)
            value, _ = features.objective(v, partial(_mean_losses, labels=labels, p=p, C=C, C_unlabeled=C_unlabeled))
            yield Turn(T, v, p, value - T * entropy(p))
            if np.abs(p - last).mean() < SETTLED:
                break
        if entropy(p) < DECIDED * p.size or C_unlabeled * LAST >= T:
            return
        T /= FACTOR


def soft_labels(g: FloatArray, T: float, n_positive: int) -> FloatArray:
    """The p of least ``g'p - T entropy(p)`` with ``sum p = n_positive``."""
    share = n_positive / g.size
    if share in (0.0, 1.0):
        return np.full(g.size, share)
    # Every p is at most the share at the first end, and at least the share at the second.
    ends = g.min() + T * special.logit(share), g.max() + T * special.logit(share)
    if ends[0] == ends[1]:
        return np.full(g.size, share)
    nu = optimize.brentq(lambda nu: special.expit((nu - g) / T).sum() - n_positive, *ends, xtol=1e-14 * T, rtol=1e-15)
    return np.asarray(special.expit((nu - g) / T))


def entropy(p: FloatArray) -> float:
    """Sum of the entropies of the coins."""
    return float((special.entr(p) + special.entr(1 - p)).sum())


def _half_square(margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``max(0, 1 - m)^2 / 2`` and its derivative."""
    slack = np.maximum(0.0, 1.0 - margins)
    return 0.5 * slack**2, -slack


def _mean_losses(
    f: FloatArray, labels: BalancedLabels, p: FloatArray, C: float, C_unlabeled: float
) -> tuple[float, FloatArray]:
    """Mean loss of all rows under the coins, and its derivative by each f."""
    up, down = np.where(labels.y_known > 0, C, 0.0), np.where(labels.y_known < 0, C, 0.0)
    up[labels.free], down[labels.free] = C_unlabeled * p, C_unlabeled * (1 - p)
    (above, rise), (below, fall) = _half_square(f), _half_square(-f)
    return float(up @ above + down @ below), up * rise - down * fall
