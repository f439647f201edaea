"""Classifiers of bags that are no SVMs: what they share is the interface of `MultiInstanceSVC`, for two classes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from wellsvm._arguments import whole_number
from wellsvm._input import check_matrix
from wellsvm._typing import FloatArray, IntArray
from wellsvm.bags import Bags, as_bags
from wellsvm.estimators.bag_classifier import first_of_largest
from wellsvm.estimators.base import fitting

__all__ = ["BagRule"]


class BagRule(ClassifierMixin, BaseEstimator):
    """Bags of two classes, the larger one positive; subclasses give every bag and every instance a value.

    A bag is positive where its value is above `threshold_`, an instance is the key of its bag where its value is the
    largest.
    """

    threshold_: float

    # scikit-learn would take the first argument, which is not called X, for metadata beside the data.
    __metadata_request__fit = {"bags": UNUSED}
    __metadata_request__predict = {"bags": UNUSED}
    __metadata_request__decision_function = {"bags": UNUSED}
    __metadata_request__score = {"bags": UNUSED}

    def fit(self, bags: Any, y: Any, groups: Any = None) -> Self:
        """Learn from labeled bags.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays, or array of shape (n_instances, n_features)
            The bags; flat instances need ``groups``.
        y : array of shape (n_bags,)
            Label of every bag.
        groups : array of shape (n_instances,), optional
            The bag of each flat instance.

        Returns
        -------
        self
        """
        with fitting(self):
            bags, y = self._checked(as_bags(bags, groups), reset=True), np.asarray(y)
            if y.shape != (len(bags),):
                raise ValueError(f"y has shape {y.shape} for {len(bags)} bags; give one label per bag")
            self.classes_ = unique_labels(y)
            if len(self.classes_) != 2:
                raise ValueError(
                    f"{type(self).__name__} takes two classes only; y has {len(self.classes_)}: pass y == one of them"
                )
            self._fit_on(bags, y == self.classes_[1])
        return self

    @abstractmethod
    def _fit_on(self, bags: Bags, positive: np.ndarray) -> None:
        """Learn from checked bags."""

    @abstractmethod
    def _bag_values(self, bags: Bags) -> FloatArray:
        """A value per bag."""

    @abstractmethod
    def _instance_values(self, bags: Bags) -> FloatArray:
        """A value per instance, in the order of ``bags.X``."""

    def _checked(self, bags: Bags, *, reset: bool) -> Bags:
        X = check_matrix(self, bags.X, reset=reset, name="bags")
        X = X.toarray() if sparse.issparse(X) else X
        return bags.with_instances(np.asarray(X, dtype=np.float64))

    def decision_function(self, bags: Any, groups: Any = None) -> FloatArray:
        """Value of every bag less the threshold.

        Parameters
        ----------
        bags, groups :
            As in `fit`.
        """
        check_is_fitted(self)
        return self._bag_values(self._checked(as_bags(bags, groups), reset=False)) - self.threshold_

    def predict(self, bags: Any, groups: Any = None) -> np.ndarray:
        """Class of every bag.

        Parameters
        ----------
        bags, groups :
            As in `fit`.
        """
        return self.classes_[(self.decision_function(bags, groups) > 0).astype(np.intp)]

    def locate(self, bags: Any, k: int = 1, groups: Any = None) -> IntArray:
        """The k instances of largest value inside each bag, best first; -1 for bags predicted negative.

        Parameters
        ----------
        bags, groups :
            As in `fit`.
        k : int, default=1
            Instances wanted per bag.
        """
        check_is_fitted(self)
        bags = self._checked(as_bags(bags, groups), reset=False)
        found = first_of_largest(self._instance_values(bags), bags, whole_number("k", k, low=1))
        found[self._bag_values(bags) <= self.threshold_] = -1
        return found[:, 0] if k == 1 else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        return tags
