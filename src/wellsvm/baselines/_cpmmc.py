"""Cutting plane maximum margin clustering (Zhao, Wang, Zhang, SDM 2008).

    minimize over w, b, xi >= 0   1/2 ||w||^2 + C xi
    subject to   1/n sum_i c_i |f_i| >= 1/n sum_i c_i - xi     for every c in {0, 1}^n,     f_i = w'phi(x_i) + b
                 -beta <= sum_i f_i <= beta

the margin problem without labels: at the optimum xi is the mean of ``max(0, 1 - |f_i|)``. Three loops:

- constrained concave-convex procedure: ``|f_i|`` is replaced by ``s_i f_i``, s the signs of the last f; the last f is
  still feasible then, so the objective never rises; until it falls by less than a hundredth;
- cutting plane: of the 2^n constraints a few are in use; the one violated most, ``c_i = [s_i f_i < 1]``, is added until
  its violation is at most xi + tol;
- what is left is a small quadratic program. With the constraints ``w'a_k + b o_k >= r_k - xi``, ``|b| <= beta`` and
  ``G_kl = a_k'a_l`` its dual is, in x = (lambda, lambda_0, p, q) >= 0,

      minimize   1/2 lambda'G lambda - r'lambda + beta (p + q)
      subject to sum_k lambda_k + lambda_0 = C,      o'lambda = p - q

  where w = sum_k lambda_k a_k, lambda_0 belongs to xi >= 0, p and q to the two bounds of b; the multipliers of the
  equations are xi and b.

The first two are nested as in the authors' later paper (Wang, Zhao, Zhang, "Linear time maximum margin clustering",
IEEE Transactions on Neural Networks 2010). In the first one the cutting plane is outside: then every new constraint
sets the signs free again, the objective jumps, and for a large C hundreds of constraints do not suffice.

With the features centered ``sum_i f_i = n b``, and the balance is a bound on b alone. Their paper takes the principal
components of a kernel as features; here w stays a combination of rows,
``w = sum_k lambda_k 1/n sum_i c_ki s_i phi(x_i)``, which is the same problem and spares the eigenvectors.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import number, whole_number
from wellsvm._typing import FloatArray
from wellsvm.baselines._clusters import Cut, TwoClusterBaseline
from wellsvm.baselines._interior_point import minimize_quadratic

__all__ = ["CPMMC", "Plane", "PlaneProgram", "plane_for_signs", "planes_from", "solve_plane_program"]

# The concave-convex procedure ends when the objective falls by less than this share of it, as in their paper.
SLOW = 0.01
# Constraints for one set of signs; some tens are enough.
MOST_CONSTRAINTS = 200


class Plane(NamedTuple):
    """A hyperplane: coefficients of w in centered rows, b, xi, values f of the rows, ``1/2 ||w||^2 + C`` mean loss."""

    coef: FloatArray
    b: float
    xi: float
    f: FloatArray
    objective: float


class PlaneProgram(NamedTuple):
    """The small quadratic program solved: dual variables of the constraints, b, and the least feasible xi."""

    lam: FloatArray
    b: float
    xi: float


class CPMMC(TwoClusterBaseline):
    """Two clusters separated by a hyperplane with few rows near it, by a cutting-plane method.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the mean loss; the penalty on the loss of a row is C / n_samples.
    kernel, gamma, degree, coef0 :
        As in MaxMarginClustering.
    balance : float, default=0.3
        beta / n, greater than 0: a bound on the mean of f. It does not bound the cluster sizes; one may be empty.
    tol : float, default=1e-2
        Tolerated violation of a constraint.
    n_init : int, default=5
        Number of random functions to start from; the result with the lowest objective is kept.
    max_iter : int, default=100
        Maximum number of steps of the concave-convex procedure.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row; cluster 0 is the larger.
    objective_ : float
        ``1/2 ||w||^2 + C`` mean of ``max(0, 1 - |f|)``.
    violation_ : float
        Mean loss minus xi: the violation of the constraints that were left out, at most ``tol``.
    history_ : list of float
        The objective after every step of the concave-convex procedure.
    n_iter_ : int
        Number of these steps.
    """

    def __init__(
        self,
        C=1.0,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        balance=0.3,
        tol=1e-2,
        n_init=5,
        max_iter=100,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.balance = balance
        self.tol = tol
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        number("C", self.C, low=0.0, open_low=True)
        number("balance", self.balance, low=0.0, high=1.0, open_low=True)
        number("tol", self.tol, low=0.0, open_low=True)
        whole_number("n_init", self.n_init, low=1)
        whole_number("max_iter", self.max_iter, low=1)

    def _cut(self, K: FloatArray, rng: np.random.Generator) -> Cut:
        means = K.mean(axis=1)
        centred = K - means[:, None] - means[None, :] + means.mean()
        runs = [
            planes_from(centred, start, float(self.C), float(self.balance), self.tol, self.max_iter)
            for start in rng.standard_normal((self.n_init, means.size)) @ centred
        ]
        best = min(runs, key=lambda planes: planes[-1].objective)
        plane = best[-1]
        self.objective_, self.violation_ = plane.objective, float(_loss(np.abs(plane.f)).mean()) - plane.xi
        self.history_, self.n_iter_ = [p.objective for p in best], len(best)
        if self.violation_ > self.tol:
            warnings.warn(
                f"CPMMC: a constraint is still violated by {self.violation_:.2g} > tol={self.tol:g} after "
                f"{MOST_CONSTRAINTS} constraints; raise tol or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        coef = plane.coef - plane.coef.mean()  # of rows that are not centered
        return Cut(np.where(plane.f > 0, 1, -1).astype(np.int8), coef, plane.b - float(coef @ means))


def planes_from(K: FloatArray, f: FloatArray, C: float, balance: float, tol: float, max_iter: int) -> list[Plane]:
    """The hyperplane of every step, from the signs of f on; K is that of centered rows. A local optimum."""
    planes: list[Plane] = []
    while len(planes) < max_iter:
        plane = plane_for_signs(K, np.where(f >= 0, 1.0, -1.0), C, balance, tol)
        if planes and plane.objective >= planes[-1].objective:  # no better within the tolerance of the cutting plane
            break
        planes.append(plane)
        f = plane.f
        if len(planes) > 1 and planes[-1].objective >= (1 - SLOW) * planes[-2].objective:
            break
    return planes


def plane_for_signs(K: FloatArray, signs: FloatArray, C: float, balance: float, tol: float) -> Plane:
    """The hyperplane for given signs: an SVM, its n losses in one slack variable."""
    n = signs.size
    violated = np.ones(n, dtype=bool)  # most at f = 0
    chosen, signed, products = np.empty((0, n), dtype=bool), np.empty((0, n)), np.empty((n, 0))
    while True:
        chosen, signed = np.vstack([chosen, violated]), np.vstack([signed, violated * signs / n])
        products = np.column_stack([products, K @ signed[-1]])
        lam, b, xi = solve_plane_program(signed @ products, signed.sum(axis=1), chosen.mean(axis=1), C, balance)
        coef, w_phi = signed.T @ lam, products @ lam
        f = w_phi + b
        violated = signs * f < 1
        if _loss(signs * f).mean() <= xi + tol or len(chosen) == MOST_CONSTRAINTS:
            objective = 0.5 * float(coef @ w_phi) + C * float(_loss(np.abs(f)).mean())
            return Plane(coef, b, xi, f, objective)


def solve_plane_program(G: FloatArray, o: FloatArray, r: FloatArray, C: float, beta: float) -> PlaneProgram:
    """Solve the small quadratic program at the head of this file. Divided by C, x is of order one."""
    m = r.size
    Q = np.zeros((m + 3, m + 3))
    Q[:m, :m] = C * G
    cost = np.concatenate([-r, [0.0, beta, beta]])
    A = np.zeros((2, m + 3))
    A[0, : m + 1], A[1, :m], A[1, m + 1 :] = 1.0, o, (-1.0, 1.0)
    x, multipliers = minimize_quadratic(Q, cost, A, np.array([1.0, 0.0]))
    lam = C * x[:m]
    b = float(np.clip(multipliers[1], -beta, beta))
    return PlaneProgram(lam, b, max(0.0, float((r - G @ lam - b * o).max())))


def _loss(margins: FloatArray) -> FloatArray:
    return np.maximum(0.0, 1.0 - margins)
