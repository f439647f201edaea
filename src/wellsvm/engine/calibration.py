"""Scores as log-odds: a logistic function with one slope and an offset per class."""

from __future__ import annotations

import numpy as np

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
    n_rows, n_classes = scores.shape
    each, means = weights[:, None], np.empty((n_rows, 1 + n_classes))  # the latter of the derivatives of a row's logits
    theta, ridge, aimed_at, squares = np.zeros((4, 1 + n_classes))
    theta[0], ridge[0], ridge[1:] = 1.0, slope_ridge, offset_ridge
    aimed_at[0], aimed_at[1:] = np.vdot(each * targets, scores), weights @ targets
    p, value = _logistic(theta, scores, targets, weights, ridge)
    for _ in range(Options.logistic_steps):
        weighed = p * scores
        means[:, 0], means[:, 1:] = weighed.sum(axis=1), p
        seen = weights @ means
        gradient = seen - aimed_at + ridge * theta
        squares[0], squares[1:] = np.vdot(each * weighed, scores), seen[1:]
        curvature = np.diag(squares + ridge)
        curvature[0, 1:] = curvature[1:, 0] = weights @ weighed
        curvature -= means.T @ (each * means)
        step = np.linalg.solve(curvature, gradient)
        left = float(gradient @ step)  # twice what the step would lower the loss by
        if left <= Options.logistic_error * max(1.0, abs(value)):
            break
        start, before = theta, value
        for halvings in range(Options.logistic_halvings):
            theta = start - 0.5**halvings * step
            p, value = _logistic(theta, scores, targets, weights, ridge)
            if value <= before:
                break
    return float(theta[0]), theta[1:]


def _logistic(
    theta: FloatArray, scores: FloatArray, targets: FloatArray, weights: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, float]:
    """Probabilities at slope and offsets ``theta``, and the loss with its ridge."""
    logits = theta[0] * scores + theta[1:]
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    sums = p.sum(axis=1, keepdims=True)
    p /= sums
    logits -= np.log(sums)
    return p, float(0.5 * ridge @ theta**2 - weights @ np.sum(targets * logits, axis=1))


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
