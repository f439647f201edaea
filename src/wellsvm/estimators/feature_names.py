"""`validate_data` of scikit-learn for rows whose feature names lie elsewhere: `Bags` keep them beside the rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array

from wellsvm._typing import Matrix
from wellsvm._warnings import callers_level

__all__ = ["validate_named"]


def validate_named(estimator: Any, X: Any, *, names: Sequence[str] | None, reset: bool, **options: Any) -> Matrix:
    """Check X, and its width and names against those of `fit`; with ``reset`` keep them instead."""
    X = check_array(X, estimator=estimator, **options)
    if reset:
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return X
    kind = type(estimator).__name__
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {kind} is expecting {estimator.n_features_in_} features as input."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if fitted is None and names is not None:
        _warn(f"X has feature names, but {kind} was fitted without feature names")
    elif fitted is not None and names is None:
        _warn(f"X does not have valid feature names, but {kind} was fitted with feature names")
    elif fitted is not None and list(names or ()) != fitted.tolist():
        raise ValueError(
            f"The feature names should match those that were passed during fit: {fitted.tolist()}, in this order; got "
            f"{list(names or ())}"
        )
    return X


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=callers_level())
