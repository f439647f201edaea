"""The logistic function that makes scores into log-odds: its parameters have the least loss there is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from scipy.special import log_softmax

from wellsvm.engine.calibration import fit_logistic


@pytest.mark.parametrize("n, n_classes", [(4, 2), (100, 2), (60, 7)])
@pytest.mark.parametrize("apart", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("slope_ridge", [1e-3, 0.1])
def test_slope_and_offsets_have_the_least_loss(n, n_classes, apart, slope_ridge):
    rng = np.random.default_rng(n)
    codes, scores, weights = np.arange(n) % n_classes, rng.standard_normal((n, n_classes)), rng.random(n) + 0.5
    scores[np.arange(n), codes] += apart
    targets, ridge = np.eye(n_classes)[codes], np.append(slope_ridge, np.full(n_classes, 1e-3))

    def loss(theta):
        return -weights @ np.sum(targets * log_softmax(theta[0] * scores + theta[1:], axis=1), axis=1) + (
            0.5 * ridge @ theta**2
        )

    def gradient(theta):
        rest = weights[:, None] * (np.exp(log_softmax(theta[0] * scores + theta[1:], axis=1)) - targets)
        return np.append(np.sum(rest * scores), rest.sum(axis=0)) + ridge * theta

    found = np.append(*fit_logistic(scores, targets, weights, slope_ridge))
    start = np.append(1.0, np.zeros(n_classes))
    assert check_grad(loss, gradient, start) < 1e-4
    best = minimize(loss, start, jac=gradient, method="BFGS", options={"gtol": 1e-9})
    assert loss(found) <= best.fun + 1e-9 * max(1.0, best.fun)
    np.testing.assert_allclose(gradient(found), 0.0, atol=1e-5 * max(1.0, best.fun))
