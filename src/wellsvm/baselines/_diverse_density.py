"""Diverse density (Maron, Lozano-Perez 1998) and EM-DD (Zhang, Goldman 2001).

A concept is a point t and a scale s per feature. An instance x belongs to it with the probability

    p(x) = exp(-sum_k s_k^2 (x_k - t_k)^2)

and a bag is positive if one of its instances does. The concept of greatest likelihood is sought,

    sum over positive bags of log P(bag) + sum over negative bags of log (1 - P(bag)),

- DiverseDensity: ``P(bag) = 1 - prod over x of (1 - p(x))``, the noisy or;
- EMDD: ``P(bag) = max over x of p(x)``, in turns: pick the likeliest instance of every bag, then climb.

Either climbs by L-BFGS from instances of positive bags: a few steps from all of them, the whole way from where the best
fifth has come to, and the best concept reached is kept. The threshold between bags is the one of least training error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize
from sklearn.utils import check_random_state

from wellsvm._arguments import whole_number
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.bags import Bags
from wellsvm.baselines._bag_rules import BagRule

__all__ = ["EMDD", "DiverseDensity", "best_threshold", "unlikelihood"]

# Probabilities are kept this far from 0 and 1: a logarithm must exist.
EDGE = 1e-10
# Steps of L-BFGS in one climb, and turns of EM-DD; steps that compare the starts, and one in how many goes on.
MOST_STEPS, MOST_TURNS = 100, 20
FIRST_STEPS, STARTS_PER_CLIMB = 10, 5


class DiverseDensity(BagRule):
    """Maximum diverse density: a concept shared by positive bags and absent from negative ones (noisy-or likelihood).

    Parameters
    ----------
    n_starts : int, default=20
        Number of random instances of positive bags to start from. After a few steps, only the best fifth of the starts
        is continued.
    random_state : int, RandomState or None, default=None
        Seed of the starts.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes; the second is positive.
    target_, scale_ : arrays of shape (n_features,)
        The concept: its point t and its scales s.
    objective_ : float
        Negative log-likelihood of the training bags.
    threshold_ : float
        Bags with a larger probability are positive.
    """

    def __init__(self, n_starts=20, random_state=None):
        self.n_starts = n_starts
        self.random_state = random_state

    def _fit_on(self, bags: Bags, positive: BoolArray) -> None:
        n_starts = whole_number("n_starts", self.n_starts, low=1)
        candidates = np.flatnonzero(positive[bags.bag_of])
        rng = check_random_state(self.random_state)
        chosen = rng.choice(candidates, min(n_starts, candidates.size), replace=False)
        spread = bags.X.std(axis=0)
        scale = 1.0 / np.where(spread > 0, spread, 1.0) / np.sqrt(bags.X.shape[1])
        begun = [self._climb(bags, positive, np.append(bags.X[j], scale), FIRST_STEPS, 1) for j in chosen]
        begun.sort(key=lambda climb: climb[0])
        best = begun[: math.ceil(len(begun) / STARTS_PER_CLIMB)]
        climbs = [self._climb(bags, positive, concept, MOST_STEPS, MOST_TURNS) for _, concept in best]
        self.objective_, concept = min(climbs, key=lambda climb: climb[0])
        self.target_, self.scale_ = np.split(concept, 2)
        self.threshold_ = best_threshold(self._bag_values(bags), positive)

    def _climb(
        self, bags: Bags, positive: BoolArray, concept: FloatArray, steps: int, turns: int
    ) -> tuple[float, FloatArray]:
        return _minimize(concept, bags.X, bags.offsets[:-1], positive, steps)

    def _instance_values(self, bags: Bags) -> FloatArray:
        return np.exp(-((bags.X - self.target_) ** 2 @ self.scale_**2))

    def _bag_values(self, bags: Bags) -> FloatArray:
        inside = np.log1p(-np.minimum(self._instance_values(bags), 1 - EDGE))
        return -np.expm1(np.add.reduceat(inside, bags.offsets[:-1]))


class EMDD(DiverseDensity):
    """Diverse density with one responsible instance per bag, found in turns with the concept.

    Parameters and attributes are those of `DiverseDensity`.
    """

    def _climb(
        self, bags: Bags, positive: BoolArray, concept: FloatArray, steps: int, turns: int
    ) -> tuple[float, FloatArray]:
        first, best = np.arange(len(bags)), (np.inf, concept)
        for _ in range(turns):
            target, scale = np.split(best[1], 2)
            likeliest = _largest_inside(-((bags.X - target) ** 2 @ scale**2), bags)
            found = _minimize(best[1], bags.X[likeliest], first, positive, steps)
            if found[0] >= best[0] * (1 - 1e-6):
                break
            best = found
        return best

    def _bag_values(self, bags: Bags) -> FloatArray:
        return np.maximum.reduceat(self._instance_values(bags), bags.offsets[:-1])


def _largest_inside(values: FloatArray, bags: Bags) -> IntArray:
    """The instance of largest value in each bag."""
    order = np.lexsort((-values, bags.bag_of))
    return np.asarray(order[bags.offsets[:-1]])


def _minimize(
    concept: FloatArray, X: FloatArray, starts: IntArray, positive: BoolArray, steps: int
) -> tuple[float, FloatArray]:
    options: dict[str, Any] = {"maxiter": steps}
    found = optimize.minimize(
        unlikelihood, concept, args=(X, starts, positive), jac=True, method="L-BFGS-B", options=options
    )
    return float(found.fun), np.asarray(found.x)


def unlikelihood(concept: FloatArray, X: FloatArray, starts: IntArray, positive: BoolArray) -> tuple[float, FloatArray]:
    """Negative log-likelihood under the noisy or, and its gradient by (t, s).

    Parameters
    ----------
    concept : array of shape (2 n_features,)
        t, then s.
    X : array of shape (n_instances, n_features)
        Instances, bag by bag.
    starts : array of shape (n_bags,)
        First instance of every bag.
    positive : array of shape (n_bags,)
        Which bags are positive.
    """
    target, scale = np.split(concept, 2)
    away = X - target
    squares = away * away
    p = np.minimum(np.exp(-(squares @ scale**2)), 1 - EDGE)
    none = np.add.reduceat(np.log1p(-p), starts)  # log of the probability that no instance belongs
    some = np.maximum(-np.expm1(none), EDGE)
    value = -float(np.sum(np.where(positive, np.log(some), none)))
    # By log(1 - p): 1 for every log-probability of none, and its odds for that of some.
    by_none = np.where(positive, np.exp(none) / some, -1.0)
    sizes = np.diff(np.append(starts, X.shape[0]))
    by_log_p = np.repeat(by_none, sizes) * -p / (1 - p)  # d value / d log p
    gradient_target = 2 * scale**2 * (by_log_p @ away)
    gradient_scale = -2 * scale * (by_log_p @ squares)
    return value, np.append(gradient_target, gradient_scale)


def best_threshold(values: FloatArray, positive: BoolArray) -> float:
    """The threshold of least training error, halfway between two values; of equals the lowest."""
    order = np.sort(np.unique(values))
    cuts = np.concatenate([[order[0] - 1.0], (order[1:] + order[:-1]) / 2])
    errors = [np.count_nonzero((values > cut) != positive) for cut in cuts]
    return float(cuts[int(np.argmin(errors))])
