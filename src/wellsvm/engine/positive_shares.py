"""The share of positives among unlabeled rows where no negative row is known.

The one score that a few positives give at no cost is the direction between their mean and that of the unlabeled rows,
``<x, mean of positives - mean of unlabeled>``, a positive leaving itself out of its mean. What it says of the share is
not determined without an assumption (unlabeled rows may all be positives of another kind), and every estimator makes
its own. Five that err in different ways are averaged:

1. Elkan and Noto: a logistic function tells positives from unlabeled rows; its mean over the positives is the chance
   that a positive is labeled, if it is the same for all of them.
2. The envelope: above any threshold lie at least as many unlabeled rows as its positives ask for,
   ``P(unlabeled > t) >= share P(positive > t)``; the least such bound, each with one standard error, is the estimate if
   somewhere only positives are left.
3. Twice the unlabeled rows above the median of the positives, if no negative is.
4. Two normal distributions fitted to the unlabeled scores, that of the positives helped by the known ones;
5. the same with that of the positives fixed by the known ones.

Few positives tell little, so equal shares have a few votes (`Options.half_votes`). Errors that were measured:
docs/guide_weak_labels.md.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from wellsvm._typing import BoolArray, FloatArray
from wellsvm.engine.calibration import fit_logistic
from wellsvm.engine.shares import Shares
from wellsvm.options import Options
from wellsvm.rows.base import Rows

__all__ = ["direction_scores", "positive_share", "share_of_positives"]


def share_of_positives(rows: Rows, positive: BoolArray, unlabeled: BoolArray, options: Options) -> Shares:
    """Shares of negatives and positives among the ``unlabeled`` rows, and their standard error."""
    share, error = positive_share(*direction_scores(rows, positive, unlabeled), options)
    return Shares(np.array([1 - share, share]), np.array([error, error]))


def direction_scores(rows: Rows, positive: BoolArray, unlabeled: BoolArray) -> tuple[FloatArray, FloatArray]:
    """``<x, mean of positives - mean of unlabeled>`` of the positives, without themselves, and of the unlabeled."""
    n_positive, n_unlabeled = int(positive.sum()), int(unlabeled.sum())
    means = rows.combine(np.stack([positive / n_positive, unlabeled / n_unlabeled], axis=1))
    inner = rows.scores(np.ascontiguousarray(means))
    own = inner[positive, 0]
    if n_positive > 1:  # the only positive cannot be left out
        own = (n_positive * own - rows.squared_norms[positive]) / (n_positive - 1)
    return own - inner[positive, 1], (inner[:, 0] - inner[:, 1])[unlabeled]


def positive_share(of_positives: FloatArray, of_unlabeled: FloatArray, options: Options) -> tuple[float, float]:
    """Estimate the share of positives among the unlabeled rows from their scores, and its standard error.

    Parameters
    ----------
    of_positives, of_unlabeled : arrays of shapes (n_positive,) and (n_unlabeled,)
        Scores under functions that have not seen the label of a row; larger for positives.
    options : Options
        Constants.
    """
    scale = float(of_unlabeled.std()) or 1.0
    p, u = of_positives / scale, of_unlabeled / scale
    estimates = np.array([_elkan_noto(p, u), _envelope(p, u), _above_median(p, u), *_normals(p, u, options)])
    votes = options.half_votes / (options.half_votes + p.size)
    share = float((1 - votes) * estimates.mean() + votes / 2)
    # They disagree, and all may be wrong alike where positives are few. The halves are rough: with twice the second one
    # errors were half as large as told.
    error = np.hypot(estimates.std() / 2, np.sqrt(votes) / 4)
    return share, float(error)


def _elkan_noto(p: FloatArray, u: FloatArray) -> float:
    """Elkan and Noto's share: the mean of the logistic function over its mean on positives, labeled ones taken off."""
    scores, labeled = np.concatenate([p, u]), np.repeat([1.0, 0.0], [p.size, u.size])
    targets = np.stack([1 - labeled, labeled], axis=1)
    slope, offsets = fit_logistic(
        np.stack([-scores, scores], axis=1) / 2, targets, np.ones(scores.size), Options.slope_ridge
    )
    g = expit(slope * scores + offsets[1] - offsets[0])
    positives = float(np.minimum(1.0, g / g[: p.size].mean()).sum()) - p.size
    return float(np.clip(positives / u.size, 0.0, 1.0))


def _envelope(p: FloatArray, u: FloatArray) -> float:
    """The least upper bound, each with one standard error, at the thresholds that leave enough positives."""
    above_p = np.arange(p.size, 0, -1) / p.size
    above_u = 1 - np.searchsorted(np.sort(u), np.sort(p)) / u.size
    bounds = (above_u + np.sqrt(above_u * (1 - above_u) / u.size)) / above_p
    bounds *= 1 + np.sqrt((1 - above_p + 1 / p.size) / (above_p * p.size))
    return float(min(1.0, bounds[above_p >= Options.least_above].min()))


def _above_median(p: FloatArray, u: FloatArray) -> float:
    return min(1.0, 2 * float(np.mean(u >= np.median(p))))


def _normals(p: FloatArray, u: FloatArray, options: Options) -> tuple[float, float]:
    """The share by EM for two normal distributions, that of the positives free, and fixed."""
    return _two_normals(p, u, options, fixed=False), _two_normals(p, u, options, fixed=True)


def _two_normals(p: FloatArray, u: FloatArray, options: Options, fixed: bool) -> float:
    share, low = 0.5, u <= np.median(u)
    positive, negative = _moments(p, np.ones(p.size)), (float(u[low].mean()), float(u.var()) + options.least_variance)
    both = np.concatenate([p, u])
    for _ in range(options.normal_rounds):
        odds = np.log(share) + _log_density(u, *positive) - np.log1p(-share) - _log_density(u, *negative)
        chance, before = expit(odds), share
        share = float(np.clip(chance.mean(), options.least_share, 1 - options.least_share))
        if not fixed:
            positive = _moments(both, np.concatenate([np.ones(p.size), chance]))
        negative = _moments(u, 1 - chance)
        if abs(share - before) < options.share_change:
            break
    return share


def _moments(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    total = weights.sum() + Options.trace
    mean = float(weights @ values / total)
    return mean, float(weights @ (values - mean) ** 2 / total) + Options.least_variance


def _log_density(values: FloatArray, mean: float, variance: float) -> FloatArray:
    return np.asarray(-0.5 * ((values - mean) ** 2 / variance + np.log(variance)))
