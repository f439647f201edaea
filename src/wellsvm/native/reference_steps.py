"""Coordinate descent in plain NumPy: the step, and a sweep of them, the same for both kinds of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["instances_of", "sweep"]


def coordinate_step(
    alpha: float, margin: float, cap: float, ridge: float, curvature: float
) -> tuple[float, float, float]:
    """Return the new alpha of one row, its projected gradient and its loss."""
    slack = 1.0 - margin
    gradient = slack - ridge * alpha
    blocked = (alpha <= 0.0 and gradient < 0.0) or (alpha >= cap and gradient > 0.0)
    violation = 0.0 if blocked else abs(gradient)
    if curvature > 0.0:
        target = alpha + gradient / curvature
    else:  # an empty row: the dual is linear in alpha
        target = cap if gradient > 0.0 else 0.0
    loss = 0.0
    if slack > 0.0 and cap > 0.0:
        loss = slack * slack / (2.0 * ridge) if ridge > 0.0 else cap * slack
    return min(max(target, 0.0), cap), violation, loss


def instances_of(starts: np.ndarray | None, i: int) -> range:
    return range(i, i + 1) if starts is None else range(int(starts[i]), int(starts[i + 1]))


def sweep(
    order: np.ndarray,
    dual: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    margin_of: Callable[[int], float],
    move: Callable[[int, float], None],
    threshold: float = 0.0,
    at_hand: Callable[[int], bool] = lambda i: True,
) -> tuple[float, float, int]:
    """Visit the rows of ``order`` once; ``move(i, change)`` updates what the state keeps, if it can."""
    cap, ridge, curvature, alpha = dual
    worst, total, n_changed = 0.0, 0.0, 0
    for i in order:
        new, violation, loss = coordinate_step(alpha[i], margin_of(i), cap[i], ridge[i], curvature[i])
        worst, total = max(worst, violation), total + loss
        change = new - alpha[i]
        if change != 0.0 and (threshold == 0.0 or violation > threshold) and at_hand(i):
            alpha[i] = new
            n_changed += 1
            move(i, change)
    return worst, total, n_changed
