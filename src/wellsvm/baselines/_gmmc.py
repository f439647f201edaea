"""Generalized maximum margin clustering (Valizadegan, Jin, NIPS 2006).

Values z of the training rows, a constant l, and the norm of the function through z + l:

    minimize over z, l   (z + l e)' K^-1 (z + l e) + C_balance (e'z)^2 + C sum_i max(0, 1 - z_i^2)

The labels are the signs of z; C_balance keeps z from being constant, which would cost nothing else. It is not convex;
its Lagrange dual is a semidefinite program with one variable per row. With l eliminated,

    maximize sum_i gamma_i     subject to   0 <= gamma_i <= C,     S = B - diag(gamma) positive semidefinite
    B = K^-1 - K^-1 e e' K^-1 / (e' K^-1 e) + C_balance e e'

and z is a vector that S takes to zero, an eigenvector of its smallest eigenvalue: spectral clustering where all gamma
are equal. Its own dual is the relaxation of the problem above to matrices Z in place of zz':

    minimize   <B, Z> + C sum_i max(0, 1 - Z_ii)      Z positive semidefinite

S Z = 0 at the optimum; of several vectors that S takes to zero, the leading eigenvector of Z is taken. Both problems
are followed by a primal-dual interior point method until their values differ by no more than tol, relatively: a
certificate, as every Z is feasible. A step costs a few n^3 operations, the memory is a few matrices n x n.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import number, whole_number
from wellsvm._typing import FloatArray
from wellsvm.baselines._clusters import Cut, TwoClusterBaseline
from wellsvm.baselines._interior_point import longest_step

__all__ = ["GMMC", "Bound", "solve_dual"]

# A step goes this far to where a matrix is no longer definite.
NEAR = 0.9


class Bound(NamedTuple):
    """Dual variables gamma, the primal matrix Z, the most by which the sum of gamma may be improved, steps made."""

    gamma: FloatArray
    Z: FloatArray
    gap: float
    n_steps: int


class GMMC(TwoClusterBaseline):
    """Two clusters by the semidefinite relaxation of a margin problem.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the loss of a row.
    kernel, gamma, degree, coef0 :
        As in MaxMarginClustering.
    C_balance : float, default=1.0
        Penalty on the squared sum of z.
    ridge : float, default=1e-2
        Added to the diagonal of the kernel matrix before it is inverted, as a share of the mean of its diagonal.
    tol : float, default=1e-3
        Relative gap of the semidefinite program.
    max_iter : int, default=100
        Maximum number of steps of the interior point method.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row, by the sign of z; cluster 0 is the larger. `predict` uses the function that
        approximates z; because of the ridge, it does not match z exactly, so the two may differ near zero.
    objective_ : float
        Sum of gamma: a lower bound on the optimum of the original problem.
    gap_ : float
        Upper bound on the distance from ``objective_`` to the optimum of the relaxation.
    n_iter_ : int
        Number of steps of the interior point method.

    Notes
    -----
    With more than `max_rows` rows, `fit` raises an error. Cluster a sample of them and `predict` the rest.
    """

    max_rows = 2000

    def __init__(
        self,
        C=1.0,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        C_balance=1.0,
        ridge=1e-2,
        tol=1e-3,
        max_iter=100,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C_balance = C_balance
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self, n_rows: int) -> None:
        super()._check_parameters(n_rows)
        for name in ("C", "C_balance", "ridge", "tol"):
            number(name, getattr(self, name), low=0.0, open_low=True)
        whole_number("max_iter", self.max_iter, low=1)
        if n_rows > self.max_rows:
            raise ValueError(
                f"GMMC solves a semidefinite program of the size of X and takes at most {self.max_rows} rows; got "
                f"n_samples={n_rows}. Fit it on a sample and predict the others, or use MaxMarginClustering."
            )

    def _cut(self, K: FloatArray, rng: np.random.Generator) -> Cut:
        n, scale = K.shape[0], float(K.diagonal().mean()) or 1.0
        try:
            inverse = _inverse(K + self.ridge * scale * np.eye(n))
        except linalg.LinAlgError as error:
            raise ValueError(
                f"kernel={self.kernel!r} gives a matrix that is not positive definite even with ridge={self.ridge:g} "
                "of its mean diagonal added; raise ridge, or use another kernel"
            ) from error
        towards = inverse.sum(axis=1)
        B = inverse - np.outer(towards, towards) / towards.sum() + self.C_balance
        bound = solve_dual(B, float(self.C), self.tol, self.max_iter)
        self.objective_, self.gap_, self.n_iter_ = float(bound.gamma.sum()), bound.gap, bound.n_steps
        if bound.gap > self.tol * (self.objective_ + bound.gap):
            warnings.warn(
                f"GMMC: the gap is {bound.gap / self.objective_:.2g} of the objective after max_iter={self.max_iter} "
                f"steps, more than tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        _, vectors = linalg.eigh(bound.Z, subset_by_index=[n - 1, n - 1])
        z = vectors[:, 0] * np.sqrt(n)
        constant = -float(towards @ z) / float(towards.sum())
        return Cut(np.where(z > 0, 1, -1).astype(np.int8), inverse @ (z + constant), -constant)


def solve_dual(B: FloatArray, C: float, tol: float, max_iter: int) -> Bound:
    """Maximize ``sum gamma`` over ``0 <= gamma <= C``, ``B - diag(gamma)`` positive semidefinite; B is definite.

    With multipliers eta of ``gamma <= C`` and nu of ``gamma >= 0`` the conditions are ``diag(Z) + eta - nu = 1``,
    ``ZS = mu I``, ``eta (C - gamma) = mu``, ``nu gamma = mu``, mu falling to zero; each step solves them linearized.
    """
    n = B.shape[0]
    smallest = float(linalg.eigh(B, eigvals_only=True, subset_by_index=[0, 0])[0])
    gamma = np.full(n, 0.5 * min(max(smallest, np.finfo(float).tiny), C))
    S, room, upper = B - np.diag(gamma), C - gamma, np.inf
    inverse = _inverse(S)
    mu = 1.0 / float(inverse.diagonal().mean())  # so that Z, well centered at first, has a diagonal near 1
    Z, eta, nu = mu * inverse, mu / room, mu / gamma
    n_steps, shrink = 0, 0.1
    while n_steps < max_iter:
        n_steps += 1
        mu = shrink * float(np.vdot(Z, S) + eta @ room + nu @ gamma) / (3 * n)
        system = Z * inverse + np.diag(eta / room + nu / gamma)
        slope = 1 - mu * (inverse.diagonal() + 1 / room - 1 / gamma)
        change = linalg.cho_solve(linalg.cho_factor(system, lower=True), slope)
        half = (Z * change) @ inverse
        dZ = mu * inverse - Z + 0.5 * (half + half.T)
        d_eta, d_nu = (mu + eta * change) / room - eta, (mu - nu * change) / gamma - nu
        dual = _definite_step(S, -np.diag(change), [(gamma, change), (room, -change)])
        primal = _definite_step(Z, dZ, [(eta, d_eta), (nu, d_nu)])
        shrink = float(np.clip((1 - min(dual, primal)) ** 2, 0.05, 0.9))  # after a short step nearer to the center
        gamma = gamma + dual * change
        Z, eta, nu = Z + primal * dZ, eta + primal * d_eta, nu + primal * d_nu
        upper = min(upper, float(np.vdot(B, Z)) + C * float(np.maximum(0.0, 1.0 - Z.diagonal()).sum()))
        if upper - float(gamma.sum()) <= tol * upper:
            break
        S, room = B - np.diag(gamma), C - gamma
        try:
            inverse = _inverse(S)
        except linalg.LinAlgError:  # at the limit of precision; the gap tells how near
            break
    return Bound(gamma, Z, upper - float(gamma.sum()), n_steps)


def _definite_step(M: FloatArray, dM: FloatArray, bounded: list[tuple[FloatArray, FloatArray]]) -> float:
    """A step that keeps M definite and the bounded vectors positive, at most 1; near the longest."""
    step = min(longest_step(x, dx) for x, dx in bounded)
    while step > np.finfo(float).eps and linalg.lapack.dpotrf(M + step / NEAR * dM, lower=1)[1] != 0:
        step *= 0.8
    return step


def _inverse(S: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix, by its Cholesky factor."""
    factor, failed = linalg.lapack.dpotrf(S, lower=1)
    if failed:
        raise linalg.LinAlgError(f"not positive definite: leading minor {failed}")
    half, _ = linalg.lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(half) + np.tril(half, -1).T)
