"""The small quadratic program inside `CPMMC`, by a primal-dual interior point method.

    minimise over w, b, xi >= 0   1/2 ||w||^2 + C xi    subject to   w'a_k + b o_k >= r_k - xi,   |b| <= beta

With ``G_kl = a_k'a_l`` and w = sum_k lambda_k a_k its dual is, in x = (lambda, lambda_0, p, q) >= 0,

    minimise   1/2 lambda'G lambda - r'lambda + beta (p + q)
    subject to sum_k lambda_k + lambda_0 = C,      o'lambda = p - q

where lambda_0 belongs to xi >= 0, p and q to the two bounds of b; the multipliers of the equations are xi and b. Every
Newton step is one dense system of the size of x. It stops when residuals and complementarity are below `TOL`, relative
to C and r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray

__all__ = ["Master", "longest", "solve_master"]

TOL = 1e-9
STEPS = 100
# How far towards the boundary a step goes.
NEAR = 0.99


class Master(NamedTuple):
    """Dual variables of the constraints, b, and the least xi that is feasible for them."""

    lam: FloatArray
    b: float
    xi: float


def solve_master(G: FloatArray, o: FloatArray, r: FloatArray, C: float, beta: float) -> Master:
    """Solve it; see the head of this file. Divided by C, x is of order one."""
    m = r.size
    Q = np.zeros((m + 3, m + 3))
    Q[:m, :m] = C * G
    cost = np.concatenate([-r, [0.0, beta, beta]])
    A = np.zeros((2, m + 3))
    A[0, : m + 1], A[1, :m], A[1, m + 1 :] = 1.0, o, (-1.0, 1.0)
    x, multipliers = _interior_point(Q, cost, A, np.array([1.0, 0.0]))
    lam = C * x[:m]
    b = float(np.clip(multipliers[1], -beta, beta))
    return Master(lam, b, max(0.0, float((r - G @ lam - b * o).max())))


def _interior_point(Q: FloatArray, cost: FloatArray, A: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minimise ``1/2 x'Qx + cost'x`` over x >= 0, Ax = right; x, and v with ``Qx + cost + A'v >= 0``."""
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
        reached = float((x + longest(x, dx) * dx) @ (z + longest(z, dz) * dz)) / n
        # Mehrotra's rule: aim at the centre the more, the less the pure step would gain; and correct its curvature.
        dx, dv, dz = _newton(system, residuals, x, z, gap * (reached / gap) ** 3 - dx * dz)
        step = min(longest(x, dx), longest(z, dz))
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


def longest(x: FloatArray, dx: FloatArray) -> float:
    """The step along dx that keeps x positive, at most 1."""
    falling = dx < 0
    return min(1.0, NEAR * float((-x[falling] / dx[falling]).min(initial=np.inf)))
