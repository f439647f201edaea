"""A smooth search: it moves f itself, without labels, and unlabeled rows push the border away (Chapelle, Zien 2005).

    minimize over w and b   1/2 ||w||^2 + sum_labeled C_i / 2 max(0, 1 - y_i f_i)^2 + p sum_unlabeled C_i exp(-3 f_i^2)
    where                   f_i = w'(z_i - mean of the unlabeled z) + b,    b within the bounds of the balance

``exp(-3 f^2)`` is a smooth ``max(0, 1 - |f|)``: a row near the border pushes it to either side, a row far from it has
no effect. b is the mean of f over the unlabeled rows; that of their labels is twice the share of the positives less
one, and b is held there. p rises from nearly 0 to 1, each minimum the start of the next descent (L-BFGS): the first is
near the supervised SVM's, and as the price rises f slides into a valley between the rows. Labels never jump, as they do
when rows are relabeled: f is the result, and its labels are those that the label set allows and that agree best with
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import optimize

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.coordinates import Coordinates

__all__ = ["SmoothSolution", "descent_options", "search_smoothly", "smooth_objective", "smooth_path"]


@dataclass(frozen=True)
class SmoothSolution:
    """Where a smooth search ended.

    Attributes
    ----------
    coordinates : Coordinates
        The space of w.
    labels : LabelSet
        Labels that are allowed.
    w : array of shape (n_coordinates,)
        Weights.
    offset : float
        What f adds to ``w'z``.
    f : array of shape (n_rows,)
        Values of f.
    objective : float
        What was minimized, at the last price.
    """

    coordinates: Coordinates
    labels: LabelSet
    w: FloatArray
    offset: float
    f: FloatArray
    objective: float

    @classmethod
    def of(
        cls, coordinates: Coordinates, labels: LabelSet, w: FloatArray, offset: float, objective: float
    ) -> SmoothSolution:
        """From weights and offset; the values follow."""
        return cls(coordinates, labels, w, offset, coordinates.values(w) + offset, objective)

    @property
    def where(self) -> tuple[FloatArray, float, float]:
        """All that `of` needs besides the problem."""
        return self.w, self.offset, self.objective

    @property
    def y(self) -> LabelArray:
        """The allowed labels that agree best with f."""
        return self.labels.linear_oracle(self.f)

    @property
    def alpha(self) -> None:
        """There are no dual variables."""

    def scores(self) -> FloatArray:
        """f of every row."""
        return self.f

    def coefficients(self) -> FloatArray:
        """f in the form that the rows keep, up to `added`."""
        return self.coordinates.coefficients(self.w)

    @property
    def added(self) -> float:
        """What f adds to that."""
        return self.offset - self.coordinates.constant(self.w)

    def objective_of(self, losses: Losses) -> float:
        """The mixed-integer objective of Eq. (3) at f and its labels."""
        return 0.5 * float(self.w @ self.w) + losses.total(self.y * self.f, losses.priced())


def search_smoothly(
    coordinates: Coordinates, labels: BalancedLabels, losses: Losses, options: Options
) -> SmoothSolution:
    """Search along `Options.smooth_prices`, which end at the price of the losses; see `smooth_path`."""
    *_, last = smooth_path(coordinates, labels, losses.prices, options.smooth_prices, options)
    return last


def descent_options(options: Options) -> dict[str, float]:
    """How far L-BFGS descends."""
    ftol = min(options.tol, 1.0) ** 2  # the square of a larger one may overflow
    return {"maxcor": options.smooth_memory, "ftol": ftol, "gtol": 0.0, "maxiter": options.smooth_steps}


def smooth_path(
    coordinates: Coordinates, labels: BalancedLabels, C: FloatArray, prices: Sequence[float], options: Options
) -> Iterator[SmoothSolution]:
    """Descend at every price in turn; a pass over the rows for every step.

    Parameters
    ----------
    coordinates : Coordinates
        The rows.
    labels : BalancedLabels
        Known labels, and bounds on the number of positives among the others.
    C : array of shape (n_rows,)
        Price of every row.
    prices : sequence of float
        Shares of these that unlabeled rows have, one after the other.
    options : Options
        Constants.
    """
    free, n_free = labels.free, max(1, labels.free.size)
    weights = np.zeros(labels.n_instances)
    weights[free] = 1.0 / n_free
    centre = coordinates.combine(weights)
    low, high = (2.0 * bound / n_free - 1.0 for bound in (labels.low, labels.high))
    v = np.append(np.zeros(coordinates.n_coordinates), 0.5 * (low + high))
    unbounded = np.full(v.size - 1, np.inf)
    bounds = optimize.Bounds(np.append(-unbounded, low), np.append(unbounded, high))
    how = descent_options(options)
    for price in prices:
        now = np.where(labels.y_known == 0, price * C, C)
        objective = partial(smooth_objective, coordinates=coordinates, centre=centre, y=labels.y_known, C=now)
        found = optimize.minimize(objective, v, jac=True, method="L-BFGS-B", bounds=bounds, options=how)
        v = found.x
        offset = float(v[-1] - centre @ v[:-1])
        yield SmoothSolution.of(coordinates, labels, v[:-1], offset, float(found.fun))


def smooth_objective(
    v: FloatArray, coordinates: Coordinates, centre: FloatArray, y: LabelArray, C: FloatArray
) -> tuple[float, FloatArray]:
    """The objective at ``v = (w, b)`` and its gradient; y is 0 where a row is unlabeled."""
    w, b = v[:-1], v[-1]
    f = coordinates.values(w) + (b - centre @ w)
    slack = np.where(y == 0, 0.0, np.maximum(0.0, 1.0 - y * f))
    bumps = np.where(y == 0, C * np.exp(-Options.sharpness * f**2), 0.0)
    slopes = -C * y * slack - 2.0 * Options.sharpness * f * bumps
    total = float(slopes.sum())
    value = 0.5 * float(w @ w) + 0.5 * float(C @ slack**2) + float(bumps.sum())
    return value, np.append(w + coordinates.combine(slopes) - total * centre, total)
