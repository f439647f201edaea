"""The line search and the linear system of Newton's method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from wellsvm.options import Options
from wellsvm.solver.newton import SlackSystem, best_step


def test_the_best_step_minimises_the_primal_on_the_way():
    rng = np.random.default_rng(1)
    for _ in range(20):
        margins, change, ridge = 2 * rng.standard_normal(6), 3 * rng.standard_normal(6), rng.random(6) + 0.1
        slope, curvature = float(rng.standard_normal()) - 20.0 * rng.random(), float(rng.random())

        def primal(s, margins=margins, change=change, ridge=ridge, slope=slope, curvature=curvature):
            slack = np.maximum(0.0, 1.0 - margins - s * change)
            return slope * s + 0.5 * curvature * s * s + 0.5 * np.sum(slack**2 / ridge)

        s = best_step(slope, curvature, margins, change, ridge, Options.bisections)
        assert primal(s) <= min(primal(t) for t in np.linspace(0, 1, 1001)) + 1e-9


@pytest.mark.parametrize("dtype, error", [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_the_system_is_the_kernel_and_the_ridge(dtype, error):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((7, 7))
    Q, ridge, b = A @ A.T, rng.random(7) + 0.1, rng.standard_normal(7)
    x = SlackSystem(Q.astype(dtype), ridge).solve(b)
    assert x.dtype == np.float64
    np.testing.assert_allclose((Q + np.diag(ridge)) @ x, b, atol=20 * error)


def test_a_system_that_is_not_definite_is_refused():
    with pytest.raises(LinAlgError):
        SlackSystem(-np.eye(3), np.full(3, 0.5))
