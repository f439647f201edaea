"""Newton's method on the primal of dense linear rows, for fixed mu: columns may be correlated, shifted, of any scale.

    min over v_1 .. v_T of  1/2 sum_t ||v_t||^2 + sum_i loss_i(margin_i),    margin_i = sum_t sqrt(mu_t) y_ti x_i' v_t

At the minimum ``v_t = sqrt(mu_t) u_t``. With slack ``s = 1 - margin`` and ``alpha(s) = min(max(s / ridge, 0), cap)``
the loss is the squared hinge (cap infinite) or, with a ridge of our own, the hinge rounded off where
``0 < s < ridge cap``. The Hessian is ``I + sum_i h_i z_i z_i'`` over the rows on that bend, ``h = 1 / ridge``; its
blocks for two label vectors differ in the rows they label differently only. A step solves with it, or with that of an
earlier step as long as that gains, and goes to the best point on its way.

Every alpha(s) is feasible for the dual, so nothing here need be exact: the caller's bounds are those of alpha. At v
they are ``1/2 ||v - u||^2`` apart, plus ``alpha (cap - alpha) ridge`` for every row on a bend that is not in the
problem: their sum is what the bend has to be narrowed for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.linear import LinearRows
from wellsvm.threads import WORK_PER_CALL, slices

__all__ = ["DenseNewton", "Outcome"]


class Outcome(NamedTuple):
    """Dual variables of the rows, how many Newton steps they took, and whether they are as good as asked for; if not,
    rounding is in the way."""

    alpha: FloatArray
    n_steps: int
    reached: bool


class DenseNewton:
    """Newton's method on some dense rows, one instance each; what it has learnt of their Hessian is kept.

    Parameters
    ----------
    rows : LinearRows
        All rows that may take part.
    options : Options
        Constants.
    """

    def __init__(self, rows: LinearRows, options: Options) -> None:
        self.rows, self.options = rows, options
        self._weights = np.zeros(rows.n_instances)  # h of `_moments`
        self._moments = np.zeros((rows.n_features + 1,) * 2)
        self._hessian, self._factor = np.empty((0, 0)), np.empty((0, 0))
        self._bend = options.widest_bend
        few = rows.n_instances * (rows.n_features + 1) ** 2 <= options.small_moments
        self._Z = _with_bias(rows, np.arange(rows.n_instances), np.float64) if few else None

    def affordable(self, mu: FloatArray) -> bool:
        """Whether the Hessian is small enough."""
        return bool(np.count_nonzero(mu) * (self.rows.n_features + 1) <= self.options.newton_columns)

    def solve(self, columns: LabelArray, mu: FloatArray, losses: Losses, U: FloatArray, goal: float) -> Outcome:
        """Dual variables whose bounds are within about ``goal`` of each other, relatively, for the labels ``columns``
        of shape (n, T), from the weights ``U`` of shape (d + 1, T); or as near as rounding allows."""
        used = np.flatnonzero(mu > 0)
        labels, root = np.ascontiguousarray(columns[:, used]), np.sqrt(mu[used])
        problem = _Problem(self.rows, labels, root, self.options)
        V = U[:, used] * root
        slack = 1.0 - problem.margins(V)  # from here on only its changes are computed, each to its own last digit
        bent = losses.ridge == 0
        narrow = self.options.narrower if np.any(bent & (losses.cap > 0)) else 0.0
        bend = min(self.options.widest_bend, self._bend / narrow) if narrow else 1.0
        n_steps = 0
        while True:
            # A row of price 0 has no bend: its alpha is 0 anywhere.
            ridge = np.where(bent, bend / np.where(losses.cap > 0, losses.cap, 1.0), losses.ridge)
            reached, V, slack, alpha, value, n = self._minimise(problem, V, slack, Losses(losses.cap, ridge), goal)
            n_steps += n
            if not reached:
                return Outcome(alpha, n_steps, False)
            excess = float((ridge * alpha)[bent] @ (losses.cap - alpha)[bent]) if narrow else 0.0
            if excess <= 0.5 * goal * value or bend <= self.options.least_bend:
                self._bend = bend
                return Outcome(alpha, n_steps, True)
            bend *= narrow

    def _minimise(
        self, problem: _Problem, V: FloatArray, slack: FloatArray, losses: Losses, goal: float
    ) -> tuple[bool, FloatArray, FloatArray, FloatArray, float, int]:
        """Whether the goal was reached; weights, slack, dual variables, objective and number of steps for losses with a
        ridge everywhere."""
        last = np.inf
        for n_steps in range(self.options.dense_newton_steps):
            alpha = np.minimum(np.maximum(slack / losses.ridge, 0.0), losses.cap)
            value = 0.5 * float(np.sum(V * V)) + float(alpha @ (slack - 0.5 * losses.ridge * alpha))
            gradient = V - problem.weights_of(alpha)
            flat = gradient.T.ravel()
            # An old Hessian does while steps with it gain: its factor costs as much as several of them.
            if self._hessian.shape[0] != flat.size or self._excess(flat) > self.options.slow_newton * last:
                on_bend = (alpha > 0) & (slack < losses.ridge * losses.cap)
                if not self._renew(problem, np.where(on_bend, 1.0 / losses.ridge, 0.0)):
                    break
            last = self._excess(flat)
            if last <= 0.5 * goal * value:
                return True, V, slack, alpha, value, n_steps
            step = -dpotrs(self._factor, flat)[0].reshape(V.shape[1], -1).T
            margin_change = problem.margins(step)
            slope, curvature = float(np.sum(V * step)), float(np.sum(step * step))
            share = _best_share(slope, curvature, slack, margin_change, losses, 2 * self.options.bisections)
            if not share > 0:  # or it is NaN: the direction is rounding
                break
            V, slack = V + share * step, slack - share * margin_change
        return False, V, slack, alpha, value, n_steps

    def _excess(self, gradient: FloatArray) -> float:
        """How far the primal at u lies above that at v, in the quadratic model: u = v - gradient."""
        return float(gradient @ gradient) + 0.5 * float(gradient @ (self._hessian @ gradient))

    def _renew(self, problem: _Problem, weights: FloatArray) -> bool:
        """Make the Hessian of rows of these weights, and its factor; False where rounding does not allow it."""
        self._hessian = problem.hessian(self._second_moments(weights), weights)
        self._factor, failed = dpotrf(self._hessian)
        return not failed

    def _second_moments(self, weights: FloatArray) -> FloatArray:
        """``sum_i h_i [x_i, bias] [x_i, bias]'``: only rows whose weight has changed since the last call cost."""
        if self._Z is not None:
            return np.asarray((self._Z * weights[:, None]).T @ self._Z)
        common = (weights > 0) & (self._weights > 0)
        if common.any():  # prices that rise for most rows rise by the same factor
            factor = float(np.median(weights[common] / self._weights[common]))
            self._moments *= factor
            self._weights = self._weights * factor
        change = weights - self._weights
        change[np.abs(change) <= self.options.no_gain * weights] = 0.0
        if 2 * np.count_nonzero(change) > np.count_nonzero(weights):
            self._moments[:] = 0.0
            change = weights
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(sign * change > 0)
            self._moments += sign * _moments(self.rows, chosen, np.sqrt(np.abs(change[chosen])), self.options)
        self._weights = weights
        return self._moments


class _Problem:
    """Margins, weights and Hessian of some label vectors, those of weight 0 left out."""

    def __init__(self, rows: LinearRows, labels: LabelArray, root: FloatArray, options: Options) -> None:
        self.rows, self.labels, self.root, self.options = rows, labels, root, options

    def margins(self, V: FloatArray) -> FloatArray:
        """Of every row, at the weights V."""
        return self.rows.weighted_scores(np.ascontiguousarray(V * self.root), self.labels)

    def weights_of(self, alpha: FloatArray) -> FloatArray:
        """``sqrt(mu_t) u_t`` of dual variables."""
        return self.rows.combine(alpha[:, None] * self.labels) * self.root

    def hessian(self, moments: FloatArray, weights: FloatArray) -> FloatArray:
        """``I + sum_i h_i z_i z_i'``, block (t, s) the rows' moments with the signs ``y_ti y_si``."""
        T, p = self.root.size, moments.shape[0]
        hessian = np.empty((T * p, T * p))
        for t in range(T):
            for s in range(t + 1):
                block = moments if t == s else self._mixed(moments, weights, self.labels[:, t] * self.labels[:, s])
                block = self.root[t] * self.root[s] * block
                hessian[t * p : (t + 1) * p, s * p : (s + 1) * p] = block
                hessian[s * p : (s + 1) * p, t * p : (t + 1) * p] = block
        np.einsum("ii->i", hessian)[:] += 1.0
        return hessian

    def _mixed(self, moments: FloatArray, weights: FloatArray, signs: LabelArray) -> FloatArray:
        """Moments of rows with signs: from those without, by the rows of the rarer sign."""
        rare = -1 if 2 * np.count_nonzero((signs < 0) & (weights > 0)) <= np.count_nonzero(weights) else 1
        chosen = np.flatnonzero((signs == rare) & (weights > 0))
        part = _moments(self.rows, chosen, np.sqrt(weights[chosen]), self.options)
        return -rare * (moments - 2.0 * part)


def _moments(rows: LinearRows, chosen: IntArray, roots: FloatArray, options: Options) -> FloatArray:
    """``sum_i roots_i^2 [x_i, bias] [x_i, bias]'`` of some rows, in pieces whose order is always the same."""
    p = rows.n_features + 1
    total = np.zeros((p, p))
    single = rows.dtype == np.float32 and float(rows.squared_norms[chosen] @ roots**2) <= options.most_in_single
    for begin, end in slices(chosen.size, max(p * p / options.product_speed, WORK_PER_CALL / rows.most_taken)):
        Z = _with_bias(rows, chosen[begin:end], np.float32 if single else np.float64)
        Z *= roots[begin:end, None].astype(Z.dtype)
        total += Z.T @ Z
    return total


def _with_bias(rows: LinearRows, chosen: IntArray, dtype: type) -> FloatArray:
    """Some rows, their constant last."""
    Z = np.empty((chosen.size, rows.n_features + 1), dtype=dtype)
    Z[:, :-1], Z[:, -1] = rows.taken(chosen), rows.bias
    return Z


def _best_share(
    slope: float, curvature: float, slack: FloatArray, change: FloatArray, losses: Losses, bisections: int
) -> float:
    """The share of a step that about minimizes the objective: where its slope is at most a tenth of the first one."""

    def derivative(share: float) -> float:
        alpha = np.minimum(np.maximum((slack - share * change) / losses.ridge, 0.0), losses.cap)  # np.clip is slow
        return slope + share * curvature - float(alpha @ change)

    first, low, high = derivative(0.0), 0.0, 1.0
    if not first < 0:
        return 0.0
    at_high = derivative(high)
    if at_high <= -0.1 * first:
        return high
    for _ in range(bisections):
        middle = 0.5 * (low + high)
        here = derivative(middle)
        if abs(here) <= -0.1 * first:
            return middle
        low, high = (low, middle) if here > 0 else (middle, high)
    return low
