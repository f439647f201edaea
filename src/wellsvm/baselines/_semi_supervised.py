"""What the rivals of Tables 2 to 8 share: reading the labels, the class balance, storing functions, prediction.

A rival says how it finds the function of a two-class problem; more classes are told apart one against the rest. Its
prices are those of SemiSupervisedSVC: ``1/2 ||w||^2`` + C losses of labeled rows + C_unlabeled losses of the others.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from wellsvm._typing import FloatArray, LabelArray, Matrix
from wellsvm.engine.svm import LabeledSVM, fit_svm
from wellsvm.estimators._callbacks import Task, with_callbacks
from wellsvm.estimators._common import all_or_nothing, make_geometry, make_kernel
from wellsvm.estimators._parameters import flag, number
from wellsvm.estimators._semi_supervised import SemiSupervisedBase
from wellsvm.geometry.base import Geometry, Losses
from wellsvm.geometry.kernels import Kernel
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.partial_labels import PartialLabels

__all__ = ["Fitted", "SemiSupervisedBaseline", "mean_value", "train_supervised"]

# Bound on the mean of f where the balance fixes it: at 1 one of the classes would have no margin to keep.
LARGEST_MEAN = 0.99


class Fitted(NamedTuple):
    """A two-class problem solved: what `KernelModel` stores, labels and values of the rows, objectives on the way.

    ``intercept`` is added to that of the predictor.
    """

    predictor: tuple[Any, FloatArray]
    y: LabelArray
    scores: FloatArray
    history: list[float]
    intercept: float = 0.0

    @classmethod
    def of_svm(cls, svm: LabeledSVM, y: LabelArray, history: list[float]) -> Fitted:
        """The function of an SVM."""
        return cls((svm.descent, svm.master.mu), y, svm.scores(), history)


def train_supervised(
    geometry: Geometry, labels: BalancedLabels, loss: str, C: float, tol: float, rng: np.random.Generator
) -> LabeledSVM:
    """The SVM of the labeled rows alone."""
    prices = np.where(labels.y_known != 0, C, 0.0)
    return fit_svm(geometry, labels, Losses.of(loss, prices), labels.y_known, tol=tol, rng=rng)


def mean_value(labels: BalancedLabels) -> float:
    """What the mean of f over the unlabeled rows is set to: that of labels with the wanted number of positives."""
    return float(np.clip(2 * labels.low / labels.free.size - 1, -LARGEST_MEAN, LARGEST_MEAN))


class SemiSupervisedBaseline(SemiSupervisedBase):
    """`fit` for a rival; subclasses say in `_rows` what they work on, and in `_fit_two_class` how.

    Parameters
    ----------
    C : float, default=1.0
        Price of the loss of a labeled row.
    C_unlabeled : float, default=0.1
        Price of the loss of an unlabeled row. 0 gives the supervised SVM.
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
        What the method minimises, at its end.
    history_ : list of float, or a list of them
        The objective after each of its steps.
    n_iter_ : int
        Its steps (most over the classes).
    """

    init: ClassVar[str] = "svm"  # the base class asks; labels to start from are never given here
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
            Labels; unlabeled rows marked as ``unlabeled`` says.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, y)

    @with_callbacks
    def _fit(self, X: Any, y: Any) -> Self:
        self._check()
        X, partial = self._validate(X, y)
        kernel = make_kernel(self, X)
        problems = self._problems(partial)
        for problem in problems:
            self._require_one_share(problem.labels)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        task = Task.fit(self, X, y, parts=len(problems))
        idle = not self._uses_unlabeled() or bool(partial.labeled.all())
        rows = make_geometry(X, kernel, self._has_intercept(), np.inf) if idle else self._rows(X, kernel)
        fits = []
        for k, problem in enumerate(problems):
            rng = np.random.default_rng([seed, k])
            with task.part(k, problem.title or "fit"):
                how = self._fit_supervised if idle else self._fit_two_class
                fits.append(how(rows, problem.labels, rng))
        self._store_fits(X, kernel, partial, fits)
        task.end(fitted=True)
        return self

    def _check(self) -> None:
        """Check the parameters; subclasses add theirs."""
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
        return make_geometry(X, kernel, self._has_intercept(), np.inf)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> Fitted:
        """Solve a two-class problem that has unlabeled rows."""
        raise NotImplementedError

    def _fit_supervised(self, geometry: Any, labels: BalancedLabels, rng: np.random.Generator) -> Fitted:
        svm = train_supervised(geometry, labels, self.loss, self._labeled_price(), self.tol, rng)
        return Fitted.of_svm(svm, labels.linear_oracle(svm.scores()), [svm.objective])

    def _labeled_price(self) -> float:
        return float(self.C)

    def _store_fits(self, X: Matrix, kernel: Kernel, partial: PartialLabels, fits: list[Fitted]) -> None:
        self.classes_ = partial.classes
        self._store_functions(X, kernel, [fit.predictor for fit in fits])
        self.intercept_ = self.intercept_ + np.array([fit.intercept for fit in fits])
        single = len(fits) == 1
        codes = (fits[0].y > 0).astype(np.intp) if single else np.argmax([fit.scores for fit in fits], axis=0)
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]
        histories = [fit.history for fit in fits]
        self.history_: Any = histories[0] if single else histories
        self.objective_: Any = histories[0][-1] if single else np.array([history[-1] for history in histories])
        self.n_iter_ = max(len(history) for history in histories)
