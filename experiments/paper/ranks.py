"""Average ranks over data sets and their tests, after Demsar (2006), section 3.2.2.

With k methods on N cases the average ranks R differ by chance with a standard error of s = sqrt(k (k + 1) / (6 N)). The
Friedman test asks whether they differ at all; z = (R_reference - R) / s compares a method with the reference, and the
Bonferroni-Dunn test wants |z| to exceed the normal quantile at 1 - alpha / (2 (k - 1)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from experiments.internals import FloatArray

__all__ = ["CONFIDENCE", "Ranking", "rank"]

# The paper's level for its Friedman test.
CONFIDENCE = 0.90
FEWEST = 3  # methods and cases, for a Friedman test


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 for the best, and what can be said of their differences.

    Attributes
    ----------
    ranks : dict
        Average rank of every method; ties share the average of their ranks.
    chi2, p : float or None
        Friedman's statistic and p-value; None with fewer than three methods or cases, or where all methods tie.
    z : dict
        By how many standard errors a method ranks better than the reference; empty without a reference.
    critical_difference : float or None
        Smallest difference of average ranks to the reference that is significant (Bonferroni-Dunn, 90 %).
    """

    ranks: dict[str, float]
    chi2: float | None
    p: float | None
    z: dict[str, float]
    critical_difference: float | None


def rank(methods: Sequence[str], scores: FloatArray, reference: str | None) -> Ranking:
    """Rank ``scores``, cases by methods, larger is better."""
    n_cases, k = scores.shape
    average = stats.rankdata(-scores, axis=1).mean(axis=0)
    ranks = dict(zip(methods, average.tolist()))
    chi2 = p = None
    if min(n_cases, k) >= FEWEST:
        with np.errstate(invalid="ignore", divide="ignore"):  # all methods tie on all cases: 0 / 0
            test = stats.friedmanchisquare(*scores.T)
        if np.isfinite(test.statistic):
            chi2, p = float(test.statistic), float(test.pvalue)
    if reference not in ranks or k < 2:
        return Ranking(ranks, chi2, p, {}, None)
    error = math.sqrt(k * (k + 1) / (6 * n_cases))
    z = {m: (ranks[reference] - r) / error for m, r in ranks.items() if m != reference}
    quantile = float(stats.norm.ppf(1 - (1 - CONFIDENCE) / (2 * (k - 1))))
    return Ranking(ranks, chi2, p, z, quantile * error)
