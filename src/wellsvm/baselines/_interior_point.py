"""A quadratic program by a primal-dual interior point method, and the step rule that such methods share.

    minimize over x >= 0   1/2 x'Qx + cost'x    subject to   Ax = right

Every Newton step is one dense system of the size of x and the equations. It stops when residuals and complementarity
are below `TOL`: x should be of order one.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import FloatArray

__all__ = ["longest_step", "minimize_quadratic"]

TOL = 1e-9
STEPS = 100
# How far towards the boundary a step goes.
NEAR = 0.99


def minimize_quadratic(
    Q: FloatArray, cost: FloatArray, A: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The minimum x, and the multipliers v of the equations, with ``Qx + cost + A'v >= 0``."""
    n, n_equations = cost.size, right.size
    x, z, v = np.full(n, 1.0 / n), np.ones(n), np.zeros(n_equations)
    system = np.zeros((n + n_equations, n + n_equations))
    system[:n, n:], system[n:, :n] = A.T, A
    for _ in range(STEPS):
        gradient, defect, gap = Q @ x + cost + A.T @ v - z, A @ x - right, float(x @ z) / n
        if max(np.abs(gradient).max(), np.abs(defect).max(), gap) < TOL:
            break
        system[:n, :n] = Q + np.diag(z / x)

        residuals = np.concatenate([-gradient - z, -defect])
        dx, _, dz = _newton(system, residuals, x, z, np.zeros(n))
        reached = float((x + longest_step(x, dx) * dx) @ (z + longest_step(z, dz) * dz)) / n
        # Mehrotra's rule: aim at the center the more, the less the pure step would gain; and correct its curvature.
        dx, dv, dz = _newton(system, residuals, x, z, gap * (reached / gap) ** 3 - dx * dz)
        step = min(longest_step(x, dx), longest_step(z, dz))
        x, v, z = x + step * dx, v + step * dv, z + step * dz
    return x, v


def _newton(
    system: FloatArray, residuals: FloatArray, x: FloatArray, z: FloatArray, target: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Changes of x, v and z that make the residuals vanish and ``x * z = target``, to first order."""
    n = x.size
    right = residuals.copy()
    right[:n] += target / x
    change: FloatArray = np.linalg.solve(system, right).astype(np.float64, copy=False)
    return change[:n], change[n:], (target - z * change[:n]) / x - z


def longest_step(x: FloatArray, dx: FloatArray) -> float:
    """The step along dx that keeps x positive, at most 1."""
    falling = dx < 0
    return min(1.0, NEAR * float((-x[falling] / dx[falling]).min(initial=np.inf)))
