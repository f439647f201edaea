"""Semidefinite relaxations of section 3.3: maximum margin clustering (Xu et al. 2005) and S3VM (Xu, Schuurmans 2005; De
Bie, Cristianini 2006), for some dozens of rows.

The label matrix ``yy'`` becomes any ``M >= 0`` with ``diag M = 1`` that keeps what is known of it,

    min over M, max over 0 <= alpha <= C of  sum alpha - 1/2 alpha' (K o M) alpha

and a Schur complement makes it one semidefinite program,

    min t   s.t.  [[K o M, e], [e', 2 (t - C'delta)]] >= 0,   e = 1 + nu - delta,   nu, delta >= 0

- Clustering: ``-beta <= sum_j M_ij <= beta`` for every row i.
- Semi-supervised: ``M_ij = y_i y_j`` between known rows, and the sum over the free rows is within the balance for every
  known row.

Labels are read from the leading eigenvector of M. An experiment only: cvxpy takes seconds for 30 rows, minutes for 100.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["LabelMatrix", "relaxed_clusters", "relaxed_labels"]


class LabelMatrix(NamedTuple):
    """A relaxed label matrix: the optimum, M, and labels rounded from it."""

    value: float
    M: np.ndarray
    y: np.ndarray


def relaxed_clusters(K: np.ndarray, C: float, beta: float) -> LabelMatrix:
    """MMC: two clusters whose sizes differ by at most ``beta``, hinge loss."""
    import cvxpy as cp

    n = len(K)
    M = cp.Variable((n, n), PSD=True)
    sums = cp.sum(M, axis=1)
    return _solved(K, np.full(n, C), M, [sums >= -beta, sums <= beta])


def relaxed_labels(K: np.ndarray, C: np.ndarray, y_known: np.ndarray, n_positive: int) -> LabelMatrix:
    """S3VM: known labels (+1, -1; 0 is free) kept, ``n_positive`` of the free rows positive, hinge loss."""
    import cvxpy as cp

    n, known, free = len(K), np.flatnonzero(y_known), np.flatnonzero(y_known == 0)
    y, total = y_known[known].astype(float), 2 * n_positive - free.size
    M = cp.Variable((n, n), PSD=True)
    constraints = [
        M[known][:, known] == np.outer(y, y),
        cp.multiply(y, cp.sum(M[known][:, free], axis=1)) == total,
        cp.sum(M[free][:, free]) == total**2,
    ]
    found = _solved(K, np.asarray(C, dtype=float), M, constraints)
    return found._replace(y=found.y * int(np.sign(found.y[known] @ y) or 1))


def _solved(K: np.ndarray, C: np.ndarray, M, constraints: list) -> LabelMatrix:
    import cvxpy as cp

    n = len(K)
    t, nu, delta = cp.Variable(), cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    e = cp.reshape(1 + nu - delta, (n, 1), order="F")
    corner = cp.reshape(2 * (t - C @ delta), (1, 1), order="F")
    schur = cp.bmat([[cp.multiply(K, M), e], [e.T, corner]])
    problem = cp.Problem(cp.Minimize(t), [schur >> 0, cp.diag(M) == 1, *constraints])
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise RuntimeError(f"the semidefinite program was not solved: {problem.status}")
    leading = np.linalg.eigh(M.value)[1][:, -1]
    return LabelMatrix(float(problem.value), M.value, np.where(leading > 0, 1, -1).astype(np.int8))
