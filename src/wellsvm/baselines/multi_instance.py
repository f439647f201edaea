"""The SVMs that Table 10 of the paper compares with: MI-SVM, mi-SVM and MI-Kernel.

- MI-SVM (Andrews, Tsochantaridis, Hofmann 2003): one witness per positive bag; start from the mean of the bag, solve
  the SVM, take the instance of largest value as witness, until no witness changes.
- mi-SVM (same paper): a label for every instance; start from the bag's, solve the SVM, relabel the instances of
  positive bags by its sign, the best one of a bag always positive, until no label changes.
- MI-Kernel (Gaertner, Flach, Kowalczyk, Smola 2002): one SVM on bags under the normalized set kernel
  ``k(A, B) = sum over a in A, b in B of k(a, b) / (|A| |B|)``, the inner product of the bags' means.

The alternations are local: they stop at the first choice that reproduces itself.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import number, seed_of, whole_number
from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray
from wellsvm._warnings import callers_level
from wellsvm.bags import Bags
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.estimators.bag_classifier import BagClassifier
from wellsvm.estimators.base import loss_of, make_rows
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.labels import BalancedLabels, KeyInstances
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import Solution, fit_svm

__all__ = ["MISVM", "MIKernelSVC", "miSVM"]


class KeysFound(NamedTuple):
    """A two-class problem solved: f in the form that the rows keep, and labels, +1 for key instances."""

    coef: FloatArray
    y: LabelArray


class BagBaseline(BagClassifier):
    """Parameters of the baselines: those of MultiInstanceSVC that apply to them.

    Parameters
    ----------
    C_positive, C_negative : float, default=1.0
        Penalty on the loss of a positive row (a bag, its witness, an instance labeled positive) and of a negative one.
    kernel, gamma, degree, coef0, loss, fit_intercept, positive_class :
        As in MultiInstanceSVC.
    tol : float, default=1e-3
        Relative duality gap of every SVM.
    max_iter : int, default=50
        Maximum number of SVMs to solve.
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

    def _check_parameters(self) -> None:
        self._check_prices()
        number("tol", self.tol, low=0.0, open_low=True)
        whole_number("max_iter", self.max_iter, low=1)
        loss_of(self)

    @with_callbacks
    def _fit_checked(self, bags: Bags, codes: IntArray, kernel: Kernel) -> Self:
        rows = make_rows(bags.X, kernel, self.fit_intercept, max(self.C_positive, self.C_negative))
        seed, wanted = seed_of(self.random_state), self._positive_codes()
        progress = self._progress(bags, self._labels(codes), parts=len(wanted), max_iter=self.max_iter)
        found = []
        for k in wanted:
            title = f"class {self.classes_.tolist()[k]!r} against the rest"
            with progress.part(k, title, max_iter=self.max_iter):
                found.append(self._fit_two_class(bags, rows, codes == k, np.random.default_rng([seed, k])))
        self._store_bags(bags, codes, kernel, rows, [fit.coef for fit in found], [fit.y for fit in found])
        progress.end(fitted=True)
        return self

    @abstractmethod
    def _fit_two_class(self, bags: Bags, rows: Rows, positive: BoolArray, rng: np.random.Generator) -> KeysFound:
        """Tell the positive bags from the others."""

    def _plain_svm(
        self, rows: Rows, positive: BoolArray, rng: np.random.Generator, alpha: FloatArray | None = None
    ) -> Solution:
        """The supervised SVM that tells positive rows from the others."""
        y = np.where(positive, 1, -1).astype(np.int8)
        return fit_svm(rows, BalancedLabels.known(y), self._losses(positive), y, tol=self.tol, rng=rng, alpha=alpha)

    def _on_means(
        self, rows: Rows, starts: IntArray, positive: BoolArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """The supervised SVM on means of groups as a function of instances: its coefficients, its values."""
        svm = self._plain_svm(rows.averaged(starts), positive, rng)
        coef = rows.from_means(svm.coefficients(), starts)
        return coef, rows.scores(coef[:, None])[:, 0]

    def _warn_not_settled(self, what: str) -> None:
        warnings.warn(
            f"{type(self).__name__}: {what} still change after max_iter={self.max_iter} SVMs; the last one is kept. "
            "Such alternations can cycle; try another C or gamma.",
            ConvergenceWarning,
            stacklevel=callers_level(),
        )


class MISVM(BagBaseline):
    """MI-SVM: one witness per positive bag, chosen by the SVM itself, starting from the means of the bags.

    The parameters are those of MultiInstanceSVC that apply here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags: Bags, rows: Rows, positive: BoolArray, rng: np.random.Generator) -> KeysFound:
        labels = KeyInstances(bags.offsets, positive)
        _, scores = self._on_means(rows, labels.starts, labels.positive_rows, rng)
        task = Task(rows, labels, self._losses(labels.positive_rows))
        options = Options(tol=self.tol, search_rounds=self.max_iter, search_rough=1.0, unsettled_labels=0.0)
        svm = search(task, Guess(scores), options, rng)
        if not np.array_equal(labels.linear_oracle(svm.scores()), svm.y):
            self._warn_not_settled("witnesses")
        return KeysFound(svm.coefficients(), svm.y)


class miSVM(BagBaseline):
    """mi-SVM: a label for every instance, at least one positive in each positive bag.

    The parameters are those of MultiInstanceSVC that apply here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags: Bags, rows: Rows, positive: BoolArray, rng: np.random.Generator) -> KeysFound:
        best = KeyInstances(bags.offsets, positive)
        in_positive = positive[bags.bag_of]
        labeled = in_positive
        alpha = None
        for _ in range(self.max_iter):
            svm = self._plain_svm(rows, labeled, rng, alpha)
            scores, alpha = svm.scores(), svm.alpha
            last, labeled = labeled, (in_positive & (scores > 0)) | (best.linear_oracle(scores) > 0)
            if np.array_equal(last, labeled):
                break
        else:
            self._warn_not_settled("labels")
        return KeysFound(svm.coefficients(), best.linear_oracle(scores))


class MIKernelSVC(BagBaseline):
    """MI-Kernel: an SVM on bags with the normalized set kernel.

    The value of a bag is the mean of f over its instances, not the maximum; an instance is treated as a bag.

    The parameters are those of MultiInstanceSVC that apply here; see `BagBaseline`.
    """

    def _fit_two_class(self, bags: Bags, rows: Rows, positive: BoolArray, rng: np.random.Generator) -> KeysFound:
        coef, scores = self._on_means(rows, bags.offsets, positive, rng)
        return KeysFound(coef, KeyInstances(bags.offsets, positive).linear_oracle(scores))

    def _bag_values(self, values: FloatArray, bags: Bags) -> FloatArray:
        return np.add.reduceat(values, bags.offsets[:-1], axis=0) / bags.sizes[:, None]
