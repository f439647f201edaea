"""Scores as log-odds: a logistic function with one slope and an offset per class."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from wellsvm._typing import FloatArray, IntArray
from wellsvm.options import Options

__all__ = ["fit_logistic", "score_per_class", "smoothed_targets"]


def fit_logistic(
    scores: FloatArray,
    targets: FloatArray,
    weights: FloatArray,
    slope_ridge: float,
    offset_ridge: float = Options.offset_ridge,
) -> tuple[float, FloatArray]:
    """Fit ``softmax(slope * scores + offsets)`` to the targets by maximum likelihood.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        Scores of rows under functions that have not seen them.
    targets : array of shape (n_rows, n_classes)
        Probabilities to aim at; one-hot, or smoothed.
    weights : array of shape (n_rows,)
        Weight of each row.
    slope_ridge, offset_ridge : float
        Half the price of their squares; the latter fixes the constant that softmax leaves open.

    Returns
    -------
    slope : float
        Negative where scores rank the rows the wrong way round.
    offsets : array of shape (n_classes,)
    """
    n_classes = scores.shape[1]
    ridge = np.append(slope_ridge, np.full(n_classes, offset_ridge))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        log_p = log_softmax(theta[0] * scores + theta[1:], axis=1)
        rest = weights[:, None] * (np.exp(log_p) - targets)
        value = -weights @ np.sum(targets * log_p, axis=1) + 0.5 * ridge @ theta**2
        return value, np.append(np.sum(rest * scores), rest.sum(axis=0)) + ridge * theta

    theta = minimize(loss, np.append(1.0, np.zeros(n_classes)), jac=True, method="L-BFGS-B").x
    return float(theta[0]), theta[1:]


def smoothed_targets(codes: IntArray, n_classes: int) -> FloatArray:
    """Platt's targets: the share of its class, for a row of each, after one more row of every class was seen.

    Of two classes with N+ and N- rows, (N+ + 1) / (N+ + 2) and 1 / (N- + 2): no probability of 0 or 1, also where the
    scores separate the classes.
    """
    counts = np.bincount(codes, minlength=n_classes)[codes][:, None]
    return np.asarray((counts * np.eye(n_classes)[codes] + 1) / (counts + n_classes))


def score_per_class(values: FloatArray) -> FloatArray:
    """Values of f, one column for two classes or one per class, as one column per class."""
    return np.hstack([-values, values]) if values.shape[1] == 1 else values
