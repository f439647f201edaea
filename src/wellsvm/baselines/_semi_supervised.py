"""What the rivals of Tables 2 to 8 share: reading the labels, the class balance, storing functions, prediction.

A rival says how it finds the function of a two-class problem; more classes are told apart one against the rest. Its
prices are those of SemiSupervisedSVC: ``1/2 ||w||^2`` + C losses of labeled rows + C_unlabeled losses of the others.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from wellsvm._arguments import flag, number, seed_of
from wellsvm._typing import FloatArray, LabelArray, Matrix
from wellsvm.baselines._kernel_matrix import function_of
from wellsvm.estimators.base import fitting, make_kernel, make_rows
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.semi_supervised_base import SemiSupervisedBase
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import Solution, fit_svm

__all__ = ["SemiSupervisedBaseline", "TwoClassFit", "mean_value", "train_supervised"]

# Bound on the mean of f where the balance fixes it: at 1 one of the classes would have no margin to keep.
LARGEST_MEAN = 0.99


class TwoClassFit(NamedTuple):
    """A two-class problem solved.

    Attributes
    ----------
    coef : array
        f but for its intercept: weights of the features for the linear kernel, else coefficients of the rows.
    intercept : float
        Its intercept.
    y : label vector
        Labels of the rows.
    scores : array of shape (n_rows,)
        Values of f.
    history : list of float
        Objectives on the way.
    """

    coef: FloatArray
    intercept: float
    y: LabelArray
    scores: FloatArray
    history: list[float]

    @classmethod
    def of_svm(cls, svm: Solution, y: LabelArray, history: list[float]) -> TwoClassFit:
        """The function of an SVM."""
        coef, intercept = svm.state.rows.split_intercept(svm.coefficients()[None])
        return cls(coef[0], float(intercept[0]), y, svm.scores(), history)


def train_supervised(
    rows: Rows, labels: BalancedLabels, loss: str, C: float, tol: float, rng: np.random.Generator
) -> Solution:
    """The SVM of the labeled rows alone."""
    prices = np.where(labels.y_known != 0, C, 0.0)
    return fit_svm(rows, labels, Losses.of(loss, prices), labels.y_known, tol=tol, rng=rng)


def mean_value(labels: BalancedLabels) -> float:
    """What the mean of f over the unlabeled rows is set to: that of labels with the wanted number of positives."""
    return float(np.clip(2 * labels.low / labels.free.size - 1, -LARGEST_MEAN, LARGEST_MEAN))


class SemiSupervisedBaseline(SemiSupervisedBase):
    """`fit` for a rival; subclasses say in `_rows` what they work on, and in `_fit_two_class` how.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the loss of a labeled row.
    C_unlabeled : float, default=0.1
        Penalty on the loss of an unlabeled row. 0 gives the supervised SVM.
    kernel, gamma, degree, coef0, unlabeled :
        As in SemiSupervisedSVC.
    balance : "labels", float or dict, default="labels"
        Share of positives among the unlabeled rows: that of the labeled rows, or a given one. For more than two
        classes: "labels", or a dict from class to share.

    Attributes
    ----------
    classes_, coef_, intercept_, dual_coef_, support_, support_vectors_, transduction_ :
        As in SemiSupervisedSVC.
    objective_ : float, or array of shape (n_classes,)
        The final value of the objective.
    history_ : list of float, or a list of them
        The objective after each of its steps.
    n_iter_ : int
        Number of steps (the maximum over the classes).
    """

    loss: ClassVar[str] = "hinge"
    one_share: ClassVar[bool] = True  # whether the number of positives among the unlabeled rows must be known

    C: Any
    C_unlabeled: Any
    kernel: Any
    balance: Any
    tol: Any
    random_state: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` the square matrix of kernel values.
        y : array of shape (n_samples,)
            Labels; unlabeled rows are marked as described under ``unlabeled``.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y)

    @with_callbacks
    def _fit(self, X: Any, y: Any) -> Self:
        self._check_parameters()
        if self._estimates_shares():
            raise ValueError(
                f"{type(self).__name__} does not estimate the balance: use 'labels' or a share; got balance='estimate'"
            )
        X, partial = self._validate(X, y)
        kernel, label_sets = make_kernel(self, X), self._label_sets(partial)
        for labels in label_sets:
            self._require_one_share(labels)
        seed = seed_of(self.random_state)
        progress = self._progress(X, y, parts=len(label_sets))
        idle = not self._uses_unlabeled() or bool(partial.labeled.all())
        rows = self._svm_rows(X, kernel) if idle else self._rows(X, kernel)
        fit_one, fits = self._fit_supervised if idle else self._fit_two_class, []
        for k, (labels, title) in enumerate(zip(label_sets, self._titles(partial.classes))):
            with progress.part(k, title or "fit"):
                fits.append(fit_one(rows, labels, np.random.default_rng([seed, k])))
        self._store_fits(X, kernel, partial, fits)
        progress.end(fitted=True)
        return self

    def _check_parameters(self) -> None:
        """Check all parameters that are not of the kernel; subclasses add theirs."""
        self._check_prices()
        number("tol", self.tol, low=0.0, open_low=True)
        self._has_intercept()

    def _check_prices(self) -> None:
        number("C", self.C, low=0.0, open_low=True)
        number("C_unlabeled", self.C_unlabeled, low=0.0)

    def _has_intercept(self) -> bool:
        """Whether there is a constant feature; methods that fix the mean of f have no such parameter."""
        return flag("fit_intercept", getattr(self, "fit_intercept", True))

    def _uses_unlabeled(self) -> bool:
        return self.C_unlabeled > 0

    def _require_one_share(self, labels: BalancedLabels) -> None:
        if self.one_share and labels.low != labels.high:
            raise ValueError(
                f"{type(self).__name__} needs to know the share of positives: balance must be 'labels', a number, or "
                f"for more than two classes a dict of numbers; got balance={self.balance!r}"
            )

    def _rows(self, X: Matrix, kernel: Kernel) -> Any:
        """What `_fit_two_class` works on, made once for all classes."""
        return self._svm_rows(X, kernel)

    def _svm_rows(self, X: Matrix, kernel: Kernel) -> Rows:
        """Rows for SVMs, in full precision."""
        return make_rows(X, kernel, self._has_intercept(), 2 * Options.most_C_in_single)

    @abstractmethod
    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        """Solve a two-class problem that has unlabeled rows."""

    def _fit_supervised(self, rows: Rows, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        svm = train_supervised(rows, labels, self.loss, self._labeled_price(), self.tol, rng)
        return TwoClassFit.of_svm(svm, labels.linear_oracle(svm.scores()), [svm.upper])

    def _labeled_price(self) -> float:
        return float(self.C)

    def _store_fits(self, X: Matrix, kernel: Kernel, partial: PartialLabels, fits: list[TwoClassFit]) -> None:
        self.classes_ = partial.classes
        coef, intercept = np.stack([fit.coef for fit in fits]), np.array([fit.intercept for fit in fits])
        self._store_function(function_of(X, kernel, coef, intercept), kernel)
        single = len(fits) == 1
        codes = (fits[0].y > 0).astype(np.intp) if single else np.argmax([fit.scores for fit in fits], axis=0)
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]
        histories = [fit.history for fit in fits]
        self.history_: Any = histories[0] if single else histories
        self.objective_: Any = histories[0][-1] if single else np.array([history[-1] for history in histories])
        self.n_iter_ = max(len(history) for history in histories)
