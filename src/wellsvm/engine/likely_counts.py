"""The f under which the counts of groups are most likely, by smooth descent and without labels.

    minimize over w and b    1/2 ||w||^2 + loss of the counts under f,    f_i = w'(z_i - mean z) + b

The loss is that of group_counts.py. It is not convex: the labels of a group may change places. So the price rises step
by step, and each descent (L-BFGS) starts from the minimum before. The first minimum is nearly the mean map: at f = 0
the slope of a row is 1/2 minus the share of its group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import optimize

from wellsvm._typing import FloatArray
from wellsvm.engine.group_counts import GroupCounts
from wellsvm.engine.smooth import SmoothSolution, descent_options
from wellsvm.labels.proportions import ProportionLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.coordinates import Coordinates, coordinates_of

__all__ = ["likely_counts", "likely_path", "likely_scores"]


def likely_counts(
    coordinates: Coordinates, labels: ProportionLabels, losses: Losses, options: Options, share: float, offset: bool
) -> SmoothSolution:
    """Descend along `Options.group_prices` up to ``share`` of the price of the losses; see `likely_path`.

    Where rows are many, only at that price: descending at the lower ones would take most of the time.
    """
    few = labels.n_instances <= options.judged_rows
    prices = [price for price in options.group_prices if few and price < share]
    *_, last = likely_path(coordinates, labels, losses.prices, [*prices, share], offset, options)
    return last


def likely_scores(
    rows: Rows,
    label_sets: Sequence[ProportionLabels],
    losses: Losses,
    share: float,
    offset: bool,
    rng: np.random.Generator,
    options: Options,
) -> list[FloatArray]:
    """f of every row as the start of a search, one for every label set.

    Where rows are many it is found on some of the groups, at a price that stands for all of them: passes over all rows
    are better spent on the search.
    """
    part, some, chosen = rows, label_sets, None
    if rows.n_instances > 2 * options.searched_rows:
        chosen = label_sets[0].some_groups(options.searched_rows, 1, rng)
        dearer = rows.n_instances / chosen.size
        losses = Losses(losses.cap[chosen] * dearer, losses.ridge[chosen] / dearer)
        part, some = rows.part(chosen), [labels.part(chosen) for labels in label_sets]
    coordinates = coordinates_of(part, np.arange(0), rng, options)
    found = [likely_counts(coordinates, labels, losses, options, share, offset) for labels in some]
    if chosen is None:
        return [one.f for one in found]
    U = np.stack([rows.from_part(one.coefficients(), chosen) for one in found], axis=1)
    return list(rows.scores(np.ascontiguousarray(U)).T + np.array([[one.added] for one in found]))


def likely_path(
    coordinates: Coordinates,
    labels: ProportionLabels,
    C: FloatArray,
    prices: Sequence[float],
    offset: bool,
    options: Options,
) -> Iterator[SmoothSolution]:
    """Descend at every price in turn; a pass over the rows for every step.

    Parameters
    ----------
    coordinates : Coordinates
        The rows.
    labels : ProportionLabels
        Groups, bounds on their counts, known labels.
    C : array of shape (n_rows,)
        Price of every row; those of price 0 are not looked at.
    prices : sequence of float
        Shares of these, one after the other.
    offset : bool
        Whether f has an intercept; without one ``f = w'z``.
    options : Options
        Constants.
    """
    counts, used = GroupCounts(labels, C, options), np.flatnonzero(C > 0)
    weights = np.zeros(C.size)
    weights[used] = float(offset) / max(1, used.size)
    centre = coordinates.combine(weights)
    how = descent_options(options)
    v = np.zeros(coordinates.n_coordinates + 1)

    def objective(v: FloatArray, price: float) -> tuple[float, FloatArray]:
        w, b = v[:-1], v[-1]
        f = coordinates.values(w) + (b - centre @ w)
        if not np.isfinite(f).all():  # a step that rows of such lengths do not allow
            return np.inf, np.zeros_like(v)
        value, slopes = counts.loss(f)
        slopes *= price
        total = float(slopes.sum())
        gradient = w + coordinates.combine(slopes) - total * centre
        return 0.5 * float(w @ w) + price * value, np.append(gradient, offset * total)

    for price in prices:
        found = optimize.minimize(objective, v, args=(price,), jac=True, method="L-BFGS-B", options=how)
        v = found.x if np.isfinite(found.x).all() and np.isfinite(found.fun) else v
        yield SmoothSolution.of(coordinates, labels, v[:-1], float(v[-1] - centre @ v[:-1]), float(found.fun))
