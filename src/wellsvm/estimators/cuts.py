"""Where f is cut into two clusters: at 0, at the nearest value that keeps the balance, or in a valley of its density.

Label vectors of two clusters are of nearly the same size, else one cluster of all rows would have the largest margin.
But f, once found, shows more than its sign: where one group of rows ends and the other begins, there are few values.
The cut is placed there, whatever the sizes.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.labels import ClusterLabels
from wellsvm.options import Options

__all__ = ["choose_cut", "deepest_valley"]


def deepest_valley(values: FloatArray, least_share: float, options: Options = Options()) -> float | None:
    """Where the density of values is lowest beside the lower of the peaks to its left and right; None if it has none.

    The density is a histogram smoothed by Silverman's width; each side keeps at least ``least_share`` of the values.
    Where 0 lies as deep, it is 0.
    """
    quarters = np.percentile(values, [25, 75])
    spread = min(float(np.std(values)), float(np.ptp(quarters)) / 1.34) or float(np.std(values))
    if not spread > options.tie_double * float(np.abs(values).max()):
        return None
    counts, edges = np.histogram(values, options.valley_bins)
    width = 0.9 * spread * values.size**-0.2 / (edges[1] - edges[0])
    density = gaussian_filter1d(counts.astype(np.float64), max(width, 1.0), mode="constant")
    inner, below = edges[1:-1], np.cumsum(counts)[:-1] / values.size
    density = 0.5 * (density[:-1] + density[1:])
    peaks = np.minimum(np.maximum.accumulate(density), np.maximum.accumulate(density[::-1])[::-1])
    depth = np.divide(density, peaks, out=np.ones_like(density), where=peaks > 0)
    depth[(below < least_share) | (below > 1 - least_share)] = 1.0
    least = float(depth.min())
    if least >= 1.0 - options.no_valley:
        return None
    if inner[0] <= 0.0 <= inner[-1] and depth[np.argmin(np.abs(inner))] <= least + options.no_valley:
        return 0.0
    deepest = np.flatnonzero(depth <= least)  # an empty stretch: its middle
    return float(inner[deepest[deepest.size // 2]])


def choose_cut(
    scores: FloatArray,
    label_set: ClusterLabels,
    tie: float,
    clear_of_zero: float = Options.clear_of_zero,
    at: float = 0.0,
) -> tuple[LabelArray, float, bool]:
    """Labels and a threshold b such that ``y = sign(scores - b)`` keeps the balance.

    b = ``at`` where it does; 0 is the paper's rule. Else the nearest cut, by the number of rows that change sides, that
    does and that falls between two different scores. Where none does, equal scores are divided by row index; b then
    puts all of them on one side, and the third value returned is True.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    least = tie * float(np.abs(falling[[0, -1]]).max())
    wanted = int(np.count_nonzero(scores > at))
    sizes = np.arange(max(1, label_set.low), min(label_set.high, scores.size - 1) + 1)
    gaps = falling[sizes - 1] - falling[sizes]
    clear = sizes[gaps > least]
    ties_split = clear.size == 0
    candidates = sizes if ties_split else clear
    n_positive = int(candidates[np.argmin(np.abs(candidates - wanted))])
    above, below = falling[n_positive - 1], falling[n_positive]
    zero_is_clear = at == 0 and above > clear_of_zero * least and below < -clear_of_zero * least
    y = np.full(scores.size, -1, dtype=np.int8)
    y[order[:n_positive]] = 1
    return y, 0.0 if zero_is_clear else 0.5 * float(above + below), ties_split
