"""Citation kNN (Wang, Zucker 2000), and regions of interest by it (Zhou, Xue, Jiang 2005: CkNN-ROI).

The distance of two bags is that of their two nearest instances. A bag is judged by its references, the r training bags
nearest to it, and by its citers, the training bags that have it among their own c nearest; it is positive if more of
both are positive than negative.

For the region of interest every instance is judged as a bag of its own. The key of a bag is the instance with the most
positive votes over negative ones; of equals, the one nearest to a positive training bag. (The paper's text was not at
hand: this follows accounts of it.)
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import pairwise_distances

from wellsvm._arguments import whole_number
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.bags import Bags
from wellsvm.baselines._bag_rules import BagRule

__all__ = ["CitationKNN"]


class CitationKNN(BagRule):
    """Nearest-neighbor classifier for bags, in which references and citers vote.

    Parameters
    ----------
    n_references : int, default=2
        Number of nearest training bags that vote for a bag (r in the paper).
    n_citers : int, default=4
        A training bag cites its c nearest bags; this is c.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes; the second is positive.
    threshold_ : float
        Always 0: a bag is positive if it has more positive than negative votes.
    """

    def __init__(self, n_references=2, n_citers=4):
        self.n_references = n_references
        self.n_citers = n_citers

    def _fit_on(self, bags: Bags, positive: BoolArray) -> None:
        whole_number("n_references", self.n_references, low=1)
        whole_number("n_citers", self.n_citers, low=1)
        self._instances, self._starts, self._positive = bags.X, bags.offsets[:-1], positive
        self.threshold_ = 0.0
        between = self._distances(bags.X, self._starts)
        np.fill_diagonal(between, np.inf)
        # A bag is cited by training bag i if it is nearer to it than the c-th nearest of the other training bags.
        reach = min(self.n_citers, len(bags) - 1)
        self._reach = np.sort(between, axis=1)[:, reach - 1] if reach else np.full(len(bags), np.inf)

    def _distances(self, X: FloatArray, starts: IntArray) -> FloatArray:
        """Least distances between groups of instances and training bags."""
        nearest = np.minimum.reduceat(pairwise_distances(X, self._instances), self._starts, axis=1)
        return np.minimum.reduceat(nearest, starts, axis=0)

    def _votes(self, distances: FloatArray) -> FloatArray:
        """Positive votes less negative ones."""
        sign = np.where(self._positive, 1.0, -1.0)
        r = min(self.n_references, len(sign))
        references = np.argsort(distances, axis=1, kind="stable")[:, :r]
        citers = distances <= self._reach
        return sign[references].sum(axis=1) + citers @ sign

    def _bag_values(self, bags: Bags) -> FloatArray:
        return self._votes(self._distances(bags.X, bags.offsets[:-1]))

    def _instance_values(self, bags: Bags) -> FloatArray:
        distances = self._distances(bags.X, np.arange(bags.n_instances))
        nearest = distances[:, self._positive].min(axis=1)
        return self._votes(distances) + 0.5 / (1.0 + nearest)
