"""The ramp loss by the concave-convex procedure (Collobert, Sinz, Weston, Bottou, "Large scale transductive SVMs", JMLR
2006; UniverSVM).

    minimize over w   1/2 ||w||^2 + C sum_l max(0, 1 - y_i f_i) + C* sum_u min(1 + s, max(0, 1 - |f_i|))
    subject to        mean of f over the unlabeled rows = mean of their labels under the wanted balance

The loss of unlabeled rows is the sum of two ramps, one per label, less a constant; for s < 0 it is flat where
``|f| < -s``. Each step minimizes a convex function that is nowhere below the objective and meets it at the present f:

    |f_i| > -s:  max(0, 1 - sign(f_i) f)        |f_i| <= -s:  the constant 1 + s, the row is left out

so the objective never rises. Their function charges a row beyond 1 on the other side once more, and one left out for
``|f| > 1``. Near the present f these terms are zero, so the fixed points are the same; without them the bound is nearer
to the objective, and a step is a plain SVM.

The constraint is met by centering the rows on the unlabeled ones and fixing the intercept at the mean, c. The margin
wanted of a row is then ``1 - y_i c > 0``; rows divided by it, and prices multiplied, make an SVM for the package's own
descent. It ends when the labels and the rows left out stay, or the objective falls by less than tol.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import number, whole_number
from wellsvm._typing import FloatArray, LabelArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.baselines._kernel_matrix import KernelMatrix
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit, mean_value
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import GramRows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import fit_svm

__all__ = ["CCCPSVM", "Step", "lower_ramp"]


class Step(NamedTuple):
    """An SVM of the procedure: coefficients of w in centered rows, values f of all rows, the objective of the ramp."""

    coef: FloatArray
    f: FloatArray
    objective: float


class CCCPSVM(SemiSupervisedBaseline):
    """Semi-supervised SVM with the ramp loss, by the concave-convex procedure.

    It needs the full kernel matrix, even for the linear kernel: it is meant for comparisons, not for many rows.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share, which fixes the mean of f over the unlabeled rows.
    ramp : float in (-1, 0], default=0.0
        The paper's s: unlabeled rows with ``|f| <= -s`` have no effect. 0 gives the loss of the transductive SVM.
    tol : float, default=1e-3
        Relative duality gap of every SVM, and relative decrease of the objective at which the procedure stops.
    max_iter : int, default=50
        Maximum number of SVMs to solve.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent.

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row. For unlabeled rows it is the sign of f: the mean of f is fixed, not the number of
        positives.
    history_ : list of float, or a list of them
        The objective after every SVM, starting with the SVM on the labeled rows alone. It never increases.
    """

    def __init__(
        self,
        C=1.0,
        C_unlabeled=0.1,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        balance="labels",
        unlabeled="auto",
        ramp=0.0,
        tol=1e-3,
        max_iter=50,
        random_state=None,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.balance = balance
        self.unlabeled = unlabeled
        self.ramp = ramp
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        number("ramp", self.ramp, low=-1.0, high=0.0, open_low=True)
        whole_number("max_iter", self.max_iter, low=1)

    def _rows(self, X: Matrix, kernel: Kernel) -> KernelMatrix:
        return KernelMatrix.of(X, kernel)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        K, mean = rows.K, mean_value(labels)
        to_unlabeled = K[:, labels.free].mean(axis=1)
        centred = K - to_unlabeled[:, None] - to_unlabeled[None, :] + to_unlabeled[labels.free].mean()
        prices = float(self.C), float(self.C_unlabeled)
        steps, settled = lower_ramp(centred, labels, *prices, mean, float(self.ramp), self.tol, self.max_iter, rng)
        if not settled:
            warnings.warn(
                f"{type(self).__name__}: the objective still falls after max_iter={self.max_iter} SVMs; raise max_iter "
                "or tol.",
                ConvergenceWarning,
                stacklevel=callers_level(),
            )
        coef, f, _ = steps[-1]
        coef = coef.copy()
        coef[labels.free] -= coef.sum() / labels.free.size  # of rows that are not centered
        y = np.where(labels.y_known != 0, labels.y_known, _signs(f)).astype(np.int8)
        history = [step.objective for step in steps]
        return TwoClassFit(rows.to_store(coef), mean - float(coef @ to_unlabeled), y, f, history)


def lower_ramp(
    K: FloatArray,
    labels: BalancedLabels,
    C: float,
    C_unlabeled: float,
    mean: float,
    ramp: float,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
) -> tuple[list[Step], bool]:
    """The SVM of every step, and whether the last found nothing better; K is that of centered rows."""
    free = labels.y_known == 0
    y, used, alpha = np.where(free, -1, labels.y_known).astype(np.int8), ~free, None
    steps: list[Step] = []
    for _ in range(max_iter):
        wanted = 1 - y * mean
        prices = np.where(used, np.where(free, C_unlabeled, C), 0.0)
        rows = GramRows(K / np.outer(wanted, wanted))
        svm = fit_svm(rows, labels, Losses.of("hinge", prices * wanted), y, tol=tol, rng=rng, alpha=alpha)
        alpha, coef = svm.alpha, np.where(used, svm.alpha, 0.0) * y / wanted
        f = K @ coef + mean
        ramps = np.minimum(1 + ramp, np.maximum(0.0, 1 - np.abs(f[free]))).sum()
        hinges = np.maximum(0.0, 1 - labels.y_known * f)[~free].sum()
        objective = float(0.5 * coef @ (f - mean) + C * hinges + C_unlabeled * ramps)
        if steps and objective >= steps[-1].objective:  # no better within the tolerance of the SVM
            return steps, True
        steps.append(Step(coef, f, objective))
        y_next = np.where(free, _signs(f), labels.y_known).astype(np.int8)
        used_next = ~free | (np.abs(f) > -ramp)
        slow = len(steps) > 1 and objective > (1 - tol) * steps[-2].objective
        if slow or (np.array_equal(y, y_next) and np.array_equal(used, used_next)):
            return steps, True
        y, used = y_next, used_next
    return steps, False


def _signs(f: FloatArray) -> LabelArray:
    return np.where(f > 0, 1, -1).astype(np.int8)
