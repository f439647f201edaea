"""Newton's method on the primal: for a smooth semi-supervised loss, and for transduction on many sparse rows.

    minimize over v   1/2 ||v||^2 + sum_i loss_i(f_i),    f linear in v

A step solves ``(I + Phi' D Phi) d = -gradient`` by conjugate gradients, D the second derivatives of the losses. Where a
loss is not convex its second derivative counts as 0, so that every step is a descent; a step too long is halved. With
the squared hinge loss D is C on the rows inside the margin and 0 elsewhere: the finite Newton method of Keerthi and
DeCoste (JMLR 2005), on which SVMlin stands. Nothing but products with the matrix of rows is asked for.

- NewtonS3VM: the objective of GradientS3VM (Chapelle, Sindhwani, Keerthi, JMLR 2008, section 4.4).
- MultiSwitchTSVM: Joachims' transductive SVM with the squared hinge loss, many pairs of labels switched at once and the
  price of unlabeled rows rising (Sindhwani, Keerthi, "Large scale semi-supervised linear SVMs", SIGIR 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray, LabelArray, Matrix
from wellsvm.baselines._features import Features, Loss
from wellsvm.baselines._gradient import SHARPNESS, GradientS3VM, SmoothLoss
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit
from wellsvm.baselines._tsvm import switchable
from wellsvm.labels import BalancedLabels
from wellsvm.options import Options
from wellsvm.rows.kernels import Kernel

__all__ = ["MultiSwitchTSVM", "NewtonS3VM", "newton", "squared_hinge"]

# Newton steps, halvings of one step, and conjugate-gradient steps at the most; each ends sooner as a rule.
MOST_STEPS, HALVINGS, MOST_CG = 100, 40, 500
# How exactly a Newton step is solved for, relative to the gradient: the next step mends the rest.
STEP_TOL = 1e-2
# The part of a step's expected decrease that it must reach.
SUFFICIENT = 1e-4
# First price of unlabeled rows as a share of the last, and the factor between two: SVMlin rises likewise.
FIRST, FACTOR = 1e-4, 10.0

Curvature = Callable[[FloatArray], FloatArray]


def newton(features: Features, v: FloatArray, loss: Loss, curvature: Curvature, tol: float) -> FloatArray:
    """Descend from v until the gradient is ``tol`` of what it was at v = 0; never to a higher objective."""
    start = float(np.linalg.norm(features.objective(features.start(), loss)[1]))
    value, gradient = features.objective(v, loss)
    for _ in range(MOST_STEPS):
        if float(np.linalg.norm(gradient)) <= tol * start:
            break
        second = np.maximum(curvature(features.scores(v)), 0.0)
        step = _solve(features, second, -gradient)
        slope, length = float(gradient @ step), 1.0
        for _ in range(HALVINGS):
            lower, slopes = features.objective(v + length * step, loss)
            if lower <= value + SUFFICIENT * length * slope:
                break
            length /= 2
        else:
            break  # rounding: no step lowers the objective any more
        v, value, gradient = v + length * step, lower, slopes
    return v


def _solve(features: Features, second: FloatArray, right: FloatArray) -> FloatArray:
    """``(I + Phi' D Phi)^-1 right`` with Phi centered and the constant feature beside it, D = diag(second)."""
    used = np.flatnonzero(second)
    near, weights = features.Phi[used], second[used]

    def product(v: FloatArray) -> FloatArray:
        v = v.ravel()
        pull = weights * (np.asarray(near @ v[:-1]) - features.centre @ v[:-1] + features.bias * v[-1])
        total = float(pull.sum())
        return v + np.append(np.asarray(near.T @ pull) - total * features.centre, features.bias * total)

    # the relative tolerance has another name in SciPy 1.11
    floor = STEP_TOL * float(np.linalg.norm(right))
    step, _ = cg(LinearOperator((right.size, right.size), product), right, atol=floor, maxiter=MOST_CG)
    return np.asarray(step)


class NewtonS3VM(GradientS3VM):
    """Semi-supervised SVM by Newton's method, with the objective, path and parameters of GradientS3VM."""

    def _descend(self, features: Features, v: FloatArray, loss: SmoothLoss) -> FloatArray:
        return newton(features, v, loss, partial(_smooth_curvature, **loss.keywords), self.tol)


def _smooth_curvature(f: FloatArray, labels: BalancedLabels, C: float, C_unlabeled: float) -> FloatArray:
    """Second derivatives of `wellsvm.baselines._gradient.smooth_losses`."""
    y = labels.y_known
    bumps = C_unlabeled * np.exp(-SHARPNESS * f**2) * (4 * SHARPNESS**2 * f**2 - 2 * SHARPNESS)
    return np.asarray(np.where(y == 0, bumps, np.where(y * f < 1, C, 0.0)))


def squared_hinge(f: FloatArray, y: LabelArray, C: FloatArray) -> tuple[float, FloatArray]:
    """``sum_i C_i / 2 max(0, 1 - y_i f_i)^2`` and its derivative by each f."""
    slack = np.maximum(0.0, 1.0 - y * f)
    return float(0.5 * (C * slack) @ slack), -C * y * slack


def _hinge_curvature(f: FloatArray, y: LabelArray, C: FloatArray) -> FloatArray:
    return np.where(y * f < 1, C, 0.0)


class MultiSwitchTSVM(SemiSupervisedBaseline):
    """Transductive SVM for many sparse rows, with finite Newton steps and many labels switched at once.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share.
    fit_intercept : bool, default=True
        Whether to add a constant feature, which is regularized like the others.
    max_switches : int, default=10000
        Maximum number of pairs to switch before the SVM is solved again, those with the largest slack first.
    tol : float, default=1e-3
        Norm of the gradient, relative to that at 0, at which an SVM counts as solved.
    random_state : int, RandomState or None, default=None
        Seed; used only by the supervised SVM (``C_unlabeled=0``).

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row; with two classes, they keep the balance.
    history_ : list of float, or a list of them
        Objective of every SVM; it decreases while the penalty is constant and increases with the penalty.
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
        max_switches=10_000,
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

    def _rows(self, X: Matrix, kernel: Kernel) -> Features:
        return Features.of(X, kernel, Options.bias if self.fit_intercept else 0.0)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        known = labels.y_known != 0
        v, _ = self._svm(rows, rows.start(), labels.y_known, np.where(known, float(self.C), 0.0))
        y, price, history = labels.linear_oracle(rows.scores(v)), FIRST * self.C_unlabeled, []
        while True:
            last = np.inf
            while True:
                v, value = self._svm(rows, v, y, np.where(known, float(self.C), price))
                history.append(value)
                positive, negative = switchable(rows.scores(v), y, labels.free)
                if not positive.size or value >= last:  # the latter below the tolerance of the SVM only
                    break
                last, y = value, y.copy()
                y[positive[: self.max_switches]], y[negative[: self.max_switches]] = -1, 1
            if price >= self.C_unlabeled:
                return TwoClassFit(rows.to_store(v), rows.intercept(v), y, rows.scores(v), history)
            price = min(FACTOR * price, self.C_unlabeled)

    def _svm(self, features: Features, v: FloatArray, y: LabelArray, C: FloatArray) -> tuple[FloatArray, float]:
        loss = partial(squared_hinge, y=y, C=C)
        v = newton(features, v, loss, partial(_hinge_curvature, y=y, C=C), self.tol)
        return v, features.objective(v, loss)[0]
