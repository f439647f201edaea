"""Gradient descent on the primal (Chapelle, Zien, "Semi-supervised classification by low density separation", AISTATS
2005): the second half of their low density separation, without the graph-based distances.

    minimize over w   1/2 ||w||^2 + C sum_l max(0, 1 - y_i f_i)^2 / 2 + C* sum_u exp(-3 f_i^2)
    subject to        mean of f over the unlabeled rows = mean of their labels under the wanted balance

``exp(-3 f^2)`` is a smooth ``max(0, 1 - |f|)``: unlabeled rows are pushed away from the boundary, to either side. The
features are centered on the unlabeled rows and the intercept is that mean, so the constraint holds for every w. C*
starts small and is doubled until it reaches its end, each minimum the start of the next descent: the first is near the
supervised SVM, and what follows mostly ends in a better local minimum than the last price would find at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray, Matrix
from wellsvm.baselines._features import Features
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit, mean_value
from wellsvm.labels import BalancedLabels
from wellsvm.rows.kernels import Kernel

__all__ = ["SHARPNESS", "GradientS3VM", "SmoothLoss", "smooth_losses"]

# Sharpness of the loss of unlabeled rows, their s.
SHARPNESS = 3.0

# A loss of f by its parameters: `Features.minimize` calls it, Newton's method asks for the parameters too.
SmoothLoss = partial[tuple[float, FloatArray]]


class GradientS3VM(SemiSupervisedBaseline):
    """Semi-supervised SVM by gradient descent, with a smooth loss and a rising penalty on the unlabeled rows.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share, which fixes the mean of f over the unlabeled rows.
    n_prices : int, default=11
        Number of penalties on the unlabeled rows along the path, each twice the one before; 11 starts at C* / 1024, as
        in the paper.
    tol : float, default=1e-3
        Tolerance for w: the square root of the relative decrease at which L-BFGS stops.
    random_state : int, RandomState or None, default=None
        Seed; used only by the supervised SVM (``C_unlabeled=0``).

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row. For unlabeled rows it is the sign of f: the mean of f is fixed, not the number of
        positives.
    history_ : list of float, or a list of them
        The minimum at every penalty; it increases with the penalty.
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
        balance="labels",
        unlabeled="auto",
        n_prices=11,
        tol=1e-3,
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
        self.n_prices = n_prices
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number("n_prices", self.n_prices, low=1)

    def _rows(self, X: Matrix, kernel: Kernel) -> Features:
        return Features.of(X, kernel, 0.0)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        features = rows.centred(labels.free, mean_value(labels))
        v, history = features.start(), []
        for loss in self._path(features, labels):
            v = self._descend(features, v, loss)
            history.append(features.objective(v, loss)[0])
        f = features.scores(v)
        y = np.where(labels.y_known != 0, labels.y_known, np.where(f > 0, 1, -1)).astype(np.int8)
        return TwoClassFit(features.to_store(v), features.intercept(v), y, f, history)

    def _path(self, features: Features, labels: BalancedLabels) -> Iterator[SmoothLoss]:
        """The losses to minimize one after the other, the one wanted last."""
        for price in self.C_unlabeled * 2.0 ** np.arange(1 - self.n_prices, 1):
            yield partial(smooth_losses, labels=labels, C=self.C, C_unlabeled=price)

    def _descend(self, features: Features, v: FloatArray, loss: SmoothLoss) -> FloatArray:
        """A local minimum near v."""
        return features.minimize(v, loss, self.tol)


def smooth_losses(f: FloatArray, labels: BalancedLabels, C: float, C_unlabeled: float) -> tuple[float, FloatArray]:
    """Loss of all rows, and its derivative by each f."""
    y, free = labels.y_known, labels.y_known == 0
    slack = np.where(free, 0.0, np.maximum(0.0, 1.0 - y * f))
    bumps = np.where(free, C_unlabeled * np.exp(-SHARPNESS * f**2), 0.0)
    return float(0.5 * C * (slack @ slack) + bumps.sum()), -C * y * slack - 2 * SHARPNESS * f * bumps
