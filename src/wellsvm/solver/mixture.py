"""Weights mu of the label vectors on the simplex: a level method for the restricted master, Eq. (9).

    F(mu) = max over alpha of  sum alpha - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum ridge alpha^2      convex in mu

Every feasible alpha, solved for or not, gives a linear lower bound of F for free: ``linear - 1/2 norms @ mu``.

- "closed_form", the paper's rule (MKLGL, Xu et al. 2010): ``mu_t`` proportional to ``mu_t ||u_t||``. It uses only the
  last alpha, and a weight that is to vanish does so step by step.
- "level": all bounds are kept as cuts. mu moves to the nearest point of the simplex where no cut exceeds a level
  between the lower and the upper bound of min F; where there is no such point, the level itself is a new lower bound
  (Lemarechal, Nemirovskii, Nesterov 1995). F has kinks where a weight vanishes: quasi-Newton steps stall on them, cuts
  do not.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import nnls

from wellsvm._typing import FloatArray
from wellsvm.options import Options

__all__ = ["UPDATES", "ClosedForm", "LevelMethod", "project_below"]


class ClosedForm:
    """The paper's update of the weights.

    Attributes
    ----------
    mu : array of shape (T,)
        Present weights.
    lower : float
        Certified lower bound of min F: the best of all cuts at the vertex where it is least.
    """

    def __init__(self, mu: FloatArray, options: Options) -> None:
        self.mu, self.lower, self.least = mu, -np.inf, options.least_weight

    def aim(self, start: float, target: float) -> None:
        """The closed form knows no levels."""

    def add_cut(self, linear: float, squared_norms: FloatArray) -> None:
        """Learn ``F(mu) >= linear - 1/2 squared_norms @ mu``."""
        self.lower = max(self.lower, linear - 0.5 * float(squared_norms.max()))
        self._norms = np.sqrt(np.maximum(squared_norms, 0.0))

    def step(self, upper: float, enough: float) -> None:
        """``mu_t = mu_t ||u_t|| / sum_s mu_s ||u_s||``: the best mu for the present ``||w_t|| = mu_t ||u_t||``."""
        weights = self.mu * self._norms
        if weights.sum() > 0:
            mu = np.maximum(weights / weights.sum(), self.least)  # a weight of 0 would never come back
            self.mu = mu / mu.sum()


class LevelMethod:
    """Minimizes F over the simplex by cuts.

    Attributes
    ----------
    mu : array of shape (T,)
        Present weights.
    lower : float
        Certified lower bound of min F.
    """

    def __init__(self, mu: FloatArray, options: Options) -> None:
        self.mu, self.lower, self.options = mu, -np.inf, options
        self._upper = self._start = np.inf
        self._fall = 0.0
        if mu.size > 1:  # else there is nowhere to move, and no cut is kept
            self._offsets = np.empty(0)
            self._slopes = np.empty((0, mu.size))

    def aim(self, start: float, target: float) -> None:
        """Ask for ``target`` first, then for a few times what F has fallen from ``start``, before any lower level.

        A label vector that has just been added may be violated by many times the objective, and still earn a small
        weight only: a level that its cut alone would allow is far from anything that can be reached.
        """
        self._start, self._fall = start, start - target

    def add_cut(self, linear: float, squared_norms: FloatArray) -> None:
        """Learn ``F(mu) >= linear - 1/2 squared_norms @ mu``; its minimum over the simplex is at a vertex."""
        if self.mu.size == 1:
            self.lower = max(self.lower, linear - 0.5 * float(squared_norms[0]))
            return
        self.lower = max(self.lower, linear - 0.5 * float(squared_norms.max()))
        if self._offsets.size >= 2 * self.mu.size + self.options.extra_cuts:
            weakest = int(np.argmin(self._offsets + self._slopes @ self.mu))
            self._offsets = np.delete(self._offsets, weakest)
            self._slopes = np.delete(self._slopes, weakest, axis=0)
        self._offsets = np.append(self._offsets, linear)
        self._slopes = np.vstack([self._slopes, -0.5 * squared_norms])

    def step(self, upper: float, enough: float) -> None:
        """Move mu to the level set, raising `lower` until there is one or the bounds are within ``enough``.

        ``upper`` is the caller's estimate of F at the present mu. The best estimate so far sets the level, unless the
        lower bound has shown it to be too good to be true.
        """
        best = min(upper, self._upper)
        self._upper = best if best - self.lower > enough else upper
        while self._upper - self.lower > enough:
            level = self.lower + self.options.level * (self._upper - self.lower)
            if self._fall > 0:
                known = max(self._fall, self.options.more_fall * (self._start - self._upper))
                level = max(level, self._start - known)
            mu = project_below(self.mu, self._slopes, level - self._offsets, self.options.no_distance)
            if mu is not None:
                self.mu = mu
                return
            self.lower = level


UPDATES: dict[str, type[LevelMethod] | type[ClosedForm]] = {"level": LevelMethod, "closed_form": ClosedForm}


def project_below(
    mu: FloatArray, slopes: FloatArray, bounds: FloatArray, no_distance: float = Options.no_distance
) -> FloatArray | None:
    """The point of the simplex nearest to ``mu`` with ``slopes @ point <= bounds``; None where there is none.

    A least-distance problem, solved as non-negative least squares (Lawson and Hanson, ch. 23): for
    ``min ||z|| s.t. G z >= h`` solve ``min ||E x - f||, x >= 0`` with ``E = [G'; h'], f = (0, ..., 0, 1)``.
    """
    T = mu.size
    scale = np.abs(slopes).max() or 1.0
    # The sum of z is zero: in the basis of the orthogonal complement of (1, ..., 1) the equality is gone.
    basis = _zero_sum_basis(T)
    G = np.vstack([basis, -(slopes @ basis) / scale])
    h = np.concatenate([-mu, (slopes @ mu - bounds) / scale])
    E = np.vstack([G.T, h])
    f = np.zeros(T)
    f[-1] = 1.0
    x, _ = nnls(E, f)
    residual = E @ x - f
    if -residual[-1] <= no_distance:
        return None
    point = np.maximum(mu - basis @ (residual[:-1] / residual[-1]), 0.0)
    return np.asarray(point / point.sum())


@cache
def _zero_sum_basis(T: int) -> FloatArray:
    """Orthonormal columns spanning the vectors of length T whose entries sum to zero (Helmert's)."""
    basis = np.triu(np.ones((T, T - 1)))
    k = np.arange(1, T)
    basis[k, k - 1] = -k
    basis = np.where(np.arange(T)[:, None] <= k[None, :], basis, 0.0)
    return np.asarray(basis / np.sqrt(k * (k + 1.0)))
