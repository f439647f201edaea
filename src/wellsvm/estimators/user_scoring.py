"""Calling a user's scoring, with errors that name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["score_of"]


def score_of(scorer: Callable[..., Any], scoring: Any, model: Any, X: Any, y: Any) -> float:
    """The score of a model by one of scikit-learn's scorers or a function like them, called ``scoring`` in errors."""
    try:
        return float(scorer(model, X, y))
    except Exception as error:  # a function of the user's can raise anything
        if isinstance(error, AttributeError) and "predict_proba" in str(error):
            raise ValueError(
                f"scoring={scoring!r} asks for probabilities, which are not available during the search; use a scoring "
                "of classes or of decision values, such as 'accuracy' or 'roc_auc'"
            ) from error
        raise ValueError(
            f"scoring={scoring!r} cannot judge the model: {type(error).__name__}: {error}. It is called with a model, "
            "X and y, and returns a number"
        ) from error
