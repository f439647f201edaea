"""What both semi-supervised estimators share: checks, two-class problems, stored results, prediction."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from wellsvm._typing import BoolArray, FloatArray, LabelArray, Matrix
from wellsvm._warnings import callers_level
from wellsvm.estimators._callbacks import CallbackSupportMixin
from wellsvm.estimators._common import KernelModel, check_matrix
from wellsvm.estimators._parameters import choice, number
from wellsvm.estimators._two_class import BinaryFit, Problem, Settings, settings_of
from wellsvm.labels.balanced import BalancedLabels, positive_bounds
from wellsvm.partial_labels import PartialLabels, normalize_partial_labels, require_two_classes

__all__ = ["SemiSupervisedBase"]

INITS = ("refined", "svm", "alignment")
# Attributes of the size of the training set; a pickle leaves them out.
TRAINING_ROWS = ("transduction_", "labelings_", "_fits")


class SemiSupervisedBase(CallbackSupportMixin, ClassifierMixin, KernelModel):
    """Common part of SemiSupervisedSVC and SemiSupervisedSVCCV; they add parameters and `fit`."""

    def _settings(self) -> Settings:
        init = choice("init", self.init, INITS, also=" or an array") if isinstance(self.init, str) else "svm"
        return replace(settings_of(self), init=init)

    def _validate(self, X: Any, y: Any) -> tuple[Matrix, PartialLabels]:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = check_matrix(self, X, reset=True)
        partial = normalize_partial_labels(y, self.unlabeled)
        check_consistent_length(X, partial.codes)
        require_two_classes(partial)
        if partial.labeled.all():
            warnings.warn(
                f"{type(self).__name__}: no row of y is unlabeled, so this is a plain supervised SVM; "
                "mark unlabeled rows with NaN, None or the value given as unlabeled=...",
                UserWarning,
                stacklevel=callers_level(),
            )
        return X, partial

    def _prices(
        self,
        X: Matrix,
        partial: PartialLabels,
        sample_weight: Any,
        C_unlabeled: float,
        held_out: BoolArray | None = None,
    ) -> FloatArray:
        """C of every row; 0 for rows ``held_out``, which do not count in the class weights either."""
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        C = np.where(partial.labeled, float(self.C), C_unlabeled) * weight
        labeled = partial.labeled if held_out is None else partial.labeled & ~held_out
        if held_out is not None:
            C[held_out] = 0.0
        if self.class_weight is not None:
            known = partial.codes[labeled]
            by_class = compute_class_weight(self.class_weight, classes=partial.classes, y=partial.classes[known])
            if not np.all(np.isfinite(by_class) & (by_class >= 0)):
                raise ValueError(
                    f"class_weight must be finite and not negative; got class_weight={self.class_weight!r}"
                )
            C[labeled] *= by_class[known]
        if not np.any(C[labeled] > 0):
            raise ValueError("sample_weight or class_weight is 0 for every labeled row; nothing is left to learn from")
        return C

    def _problems(self, partial: PartialLabels, held_out: BoolArray | None = None) -> list[Problem]:
        """The two-class problems: one for two classes, else one against the rest per class.

        Rows ``held_out`` keep their label but do not count in the balance; the caller gives them the price 0.
        """
        classes = partial.classes
        if len(classes) == 2:
            wanted = [(1, self._class_balance(classes, 1) if isinstance(self.balance, dict) else self.balance)]
        else:
            wanted = [(k, self._class_balance(classes, k)) for k in range(len(classes))]
        counted = slice(None) if held_out is None else ~held_out
        problems = []
        for k, balance in wanted:
            y_known = np.where(partial.codes == k, 1, -1).astype(np.int8)
            y_known[~partial.labeled] = 0
            bounds = positive_bounds(_check_balance(balance), y_known[counted])
            title = "" if len(wanted) == 1 else f"class {classes.tolist()[k]!r} against the rest"
            problems.append(Problem(BalancedLabels(y_known, *bounds), title, self._first_labels(partial, k)))
        if held_out is None:
            self._check_first_labels(problems)
        return problems

    def _class_balance(self, classes: np.ndarray, k: int) -> Any:
        if isinstance(self.balance, dict):
            missing = [c for c in classes if c not in self.balance]
            if missing:
                raise ValueError(f"balance has no entry for class {missing[0]!r}; give one for each of {list(classes)}")
            return self.balance[classes[k]]
        if self.balance is None or isinstance(self.balance, str):
            return self.balance
        raise ValueError(
            f"balance={self.balance!r} is one share but y has {len(classes)} classes; use 'labels', None or a dict "
            "from class to share"
        )

    def _first_labels(self, partial: PartialLabels, k: int) -> LabelArray | None:
        """The user's first labels, +1 for class k; None where ``init`` names a rule."""
        if isinstance(self.init, str):
            return None
        given = np.asarray(self.init)
        if given.shape != partial.codes.shape or not np.isin(given, partial.classes).all():
            raise ValueError(
                f"init must hold one of the classes {list(partial.classes)} for each of the {partial.codes.size} rows; "
                f"got an array of shape {given.shape}"
            )
        return np.where(given == partial.classes[k], 1, -1).astype(np.int8)

    @staticmethod
    def _check_first_labels(problems: list[Problem]) -> None:
        for labels, _, init in problems:
            if init is not None and not labels.contains(init):
                raise ValueError(
                    "init contradicts the known labels or the balance: among the unlabeled rows between "
                    f"{labels.low} and {labels.high} must be positive; change init, or pass balance=None"
                )

    def _store(self, X: Matrix, kernel: Any, partial: PartialLabels, fits: list[BinaryFit]) -> None:
        self.classes_ = partial.classes
        self._store_functions(X, kernel, [fit.predictor for fit in fits])
        self._store_report(fits, [np.stack(fit.result.labels) for fit in fits])
        binary = len(fits) == 1
        codes = (fits[0].y > 0).astype(np.intp) if binary else np.argmax([f.scores() for f in fits], axis=0)
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]

    def decision_function(self, X):
        """Values of f: of shape (n_samples,) for two classes, else (n_samples, n_classes).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.
        """
        values = self._functions(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Class of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)
        return self.classes_[codes]

    def __getstate__(self):
        """A pickle holds what predicts: nothing of the size of the training set."""
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in TRAINING_ROWS}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _check_balance(balance: Any) -> Any:
    """ "labels", None, a share, or an interval of shares."""
    ways = "'labels', a share in [0, 1], an interval (low, high) of shares, or None"
    if balance is None:
        return None
    if isinstance(balance, str):
        if balance != "labels":
            raise ValueError(f"balance must be {ways}; got balance={balance!r}")
        return balance
    if isinstance(balance, (tuple, list)):
        if len(balance) != 2:
            raise ValueError(f"balance must be {ways}; got balance={balance!r}")
        low, high = (number("balance", share, low=0.0, high=1.0) for share in balance)
        if low > high:
            raise ValueError(f"balance=({low:g}, {high:g}) has its ends reversed; the lower share comes first")
        return low, high
    return number("balance", balance, low=0.0, high=1.0)
