"""`predict_proba`: a logistic function of f, fitted to values that labeled rows have when their label is hidden."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from wellsvm._lazy import lazy_on_dask
from wellsvm._typing import FloatArray
from wellsvm._warnings import callers_level
from wellsvm.engine.calibration import fit_logistic, score_per_class, smoothed_targets
from wellsvm.engine.out_of_fold import out_of_fold
from wellsvm.engine.search import roughly
from wellsvm.options import Options
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows import Rows

__all__ = ["ProbabilityMixin", "asked_for_probability"]


def asked_for_probability(estimator: Any) -> bool:
    """Whether an estimator was told to give probabilities; an error says how."""
    if not estimator.probability:
        name = type(estimator).__name__
        raise AttributeError(f"predict_proba needs {name}(probability=True), set before fit")
    return True


class ProbabilityMixin:
    """Probabilities for estimators that have a parameter ``probability``."""

    probability: Any
    balance_: FloatArray

    @available_if(asked_for_probability)
    @lazy_on_dask
    def predict_proba(self, X):
        """Probability of every class, for ``probability=True``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of ``classes_``. Probabilities increase with `decision_function`. `predict` uses f itself, and
            may differ if the most likely classes are nearly equal.
        """
        check_is_fitted(self)
        if not hasattr(self, "proba_slope_"):
            raise NotFittedError(f"this {type(self).__name__} was fitted without probability=True; fit it again")
        return softmax(self.proba_slope_ * score_per_class(self._functions(X)) + self.proba_offsets_, axis=1)

    def _store_probabilities(
        self, rows: Rows, partial: PartialLabels, loss: str, C: FloatArray, seed: int, options: Options
    ) -> None:
        """Store slope and offsets. ``C`` are the prices of the fit; rows of price 0 are left out."""
        values = out_of_fold(rows, partial.codes, self.balance_, loss, C, seed, roughly(options, rows))
        if not values.held_out.any():
            warnings.warn(
                f"{type(self).__name__}: every class has only one label, which cannot be held out, so predict_proba "
                "returns the same probabilities for all rows; label more rows",
                UserWarning,
                stacklevel=callers_level(),
            )
        heard = C[partial.labeled] > 0
        targets = smoothed_targets(values.codes[heard], len(partial.classes))
        scores = score_per_class(values.with_unlabeled[heard])
        slope, offsets = fit_logistic(scores, targets, np.ones(len(targets)), options.proba_ridge)
        if slope <= 0 or not values.held_out.any():  # f says nothing of rows it has not seen
            slope, offsets = 0.0, np.log(targets.mean(axis=0))
        self.proba_slope_, self.proba_offsets_ = slope, offsets
