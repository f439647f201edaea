"""The SVMs that Table 10 of the paper compares with: MI-SVM, mi-SVM and MI-Kernel.

- MI-SVM (Andrews, Tsochantaridis, Hofmann 2003): one witness per positive bag; start from the mean of the bag, solve
  the SVM, take the instance of largest value as witness, until no witness changes.
- mi-SVM (same paper): a label for every instance; start from the bag's, solve the SVM, relabel the instances of
  positive bags by its sign, the best one of a bag always positive, until no label changes.
- MI-Kernel (Gaertner, Flach, Kowalczyk, Smola 2002): one SVM on bags under the normalised set kernel
  ``k(A, B) = sum over a in A, b in B of k(a, b) / (|A| |B|)``, the inner product of the bags' means.

The alternations are local: they stop at the first choice that reproduces itself.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._typing import BoolArray, FloatArray, LabelArray
from wellsvm._warnings import callers_level
from wellsvm.engine.refine import alternate
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.estimators._bags import BagClassifier
from wellsvm.estimators._means import OnMeans, average
from wellsvm.labels import BalancedLabels, KeyInstances

__all__ = ["MISVM", "MIKernelSVC", "miSVM"]


class TwoClassFit(NamedTuple):
    """What `BagClassifier.fit` wants to know: the function, and the key instances (+1)."""

    predictor: tuple[Any, FloatArray]
    y: LabelArray


class BagBaseline(BagClassifier):
    """Parameters of the baselines: those of MultiInstanceSVC that make sense for them.

    Parameters
    ----------
    C_positive, C_negative : float, default=1.0
        Price of the loss of a positive row (a bag, its witness, or an instance labeled positive) and of a negative one.
    kernel, gamma, degree, coef0, loss, fit_intercept, positive_class :
        As in MultiInstanceSVC.
    tol : float, default=1e-3
        Relative duality gap of every SVM.
    max_iter : int, default=50
        Most SVMs to solve.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent.
    """

    def __init__(
        self,
        C_positive=1.0,
        C_negative=1.0,
        kernel="rbf",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        positive_class=None,
        tol=1e-3,
        max_iter=50,
        random_state=None,
    ):
        self.C_positive = C_positive
        self.C_negative = C_negative
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.positive_class = positive_class
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _plain_svm(self, geometry: Any, positive: BoolArray, rng: np.random.Generator, alpha: Any = None) -> LabeledSVM:
        """The supervised SVM, one row per instance of the geometry."""
        y = np.where(positive, 1, -1).astype(np.int8)
        labels = BalancedLabels(y, 0)
        return fit_svm(geometry, labels, self._losses(positive), y, tol=self.tol, rng=rng, alpha=alpha)

    def _warn_not_settled(self, what: str) -> None:
        warnings.warn(
            f"{type(self).__name__}: {what} still change after max_iter={self.max_iter} SVMs; the last one is kept. "
            "Such alternations can run in circles; try another C or width.",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )


class MISVM(BagBaseline):
    """MI-SVM: one witness per positive bag, chosen by the SVM itself, from the bags' means on.

    Parameters are those of MultiInstanceSVC as far as they make sense here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags, geometry, positive, rng, task):
        labels = KeyInstances(bags.offsets, positive)
        means = average(geometry, bags.X, labels.row_starts)
        start = OnMeans(self._plain_svm(means, labels.positive_rows, rng), labels.row_starts)
        solve = partial(fit_svm, geometry, labels, self._losses(labels.positive_rows), tol=self.tol, rng=rng)
        svm = alternate(solve, labels, start.scores(geometry), max_rounds=self.max_iter)
        if not np.array_equal(labels.linear_oracle(svm.scores()), svm.y):
            self._warn_not_settled("witnesses")
        return TwoClassFit((svm.descent, svm.master.mu), svm.y)


class miSVM(BagBaseline):
    """mi-SVM: a label for every instance, at least one positive in each positive bag.

    Parameters are those of MultiInstanceSVC as far as they make sense here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags, geometry, positive, rng, task):
        best = KeyInstances(bags.offsets, positive)
        in_positive = positive[bags.bag_of]
        labeled = in_positive
        alpha = None
        for _ in range(self.max_iter):
            svm = self._plain_svm(geometry, labeled, rng, alpha)
            scores, alpha = svm.scores(), svm.alpha
            last, labeled = labeled, (in_positive & (scores > 0)) | (best.linear_oracle(scores) > 0)
            if np.array_equal(last, labeled):
                break
        else:
            self._warn_not_settled("labels")
        return TwoClassFit((svm.descent, svm.master.mu), best.linear_oracle(scores))


class MIKernelSVC(BagBaseline):
    """MI-Kernel: an SVM on bags under the normalised set kernel.

    The value of a bag is the mean of f over its instances, not the largest; an instance is a bag of its own.

    Parameters are those of MultiInstanceSVC as far as they make sense here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags, geometry, positive, rng, task):
        function = OnMeans(self._plain_svm(average(geometry, bags.X, bags.offsets), positive, rng), bags.offsets)
        keys = KeyInstances(bags.offsets, positive).linear_oracle(function.scores(geometry))
        return TwoClassFit((function, function.svm.master.mu), keys)

    def _bag_values(self, values, bags):
        return np.add.reduceat(values, bags.offsets[:-1], axis=0) / bags.sizes[:, None]
