"""Cluster labels: no label known, the two clusters of nearly the same size (section 4.3).

    B = {y in {-1, +1}^N : -beta <= sum y <= beta}

y and -y name the same partition, and ``psi_y`` and ``psi_-y`` the same label kernel; but f, a mixture over several
label vectors, needs them to agree on a sign. `LabelSet.oriented` chooses it.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from wellsvm._arguments import at_least, whole_number
from wellsvm._typing import FloatArray, LabelArray
from wellsvm.labels.balanced import largest
from wellsvm.labels.base import LabelSet
from wellsvm.options import Options

__all__ = ["ClusterLabels"]


class ClusterLabels(LabelSet):
    """Label vectors with ``-beta <= sum y <= beta``.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    beta : float
        Largest difference between the sizes of the clusters. An odd number of rows needs at least 1.
    symmetric : bool, default=True
        Whether y and -y are taken for two names of one partition, and one of them is chosen.

    Attributes
    ----------
    low, high : int
        The same bounds, on the number of positives.
    """

    def __init__(self, n_rows: int, beta: float, symmetric: bool = True) -> None:
        self.n_instances, self.symmetric = whole_number("n_rows", n_rows, low=0, high=Options.largest_count), symmetric
        if not isinstance(beta, (Real, float)) or not -Options.largest_count <= beta <= Options.largest_count:
            raise ValueError(f"beta must be a number between -2^62 and 2^62; got beta={beta!r:.80}")
        self.beta = float(beta)
        self.low = max(0, at_least((n_rows - self.beta) / 2))
        self.high = n_rows - self.low
        if self.low > self.high:
            raise ValueError(
                f"beta={beta:g} allows no labeling of {n_rows} rows: the sizes of two clusters differ by at least "
                f"{n_rows % 2}"
            )

    @classmethod
    def of_share(cls, n_rows: int, balance: float, symmetric: bool = True) -> ClusterLabels:
        """``beta = balance * n_rows``, but never so small that no labeling or so large that an empty cluster is left.

        An odd number of rows cannot be halved: a difference of 1 is always allowed.
        """
        return cls(n_rows, max(n_rows % 2, min(balance * n_rows, n_rows - 2)), symmetric)

    @classmethod
    def halves(cls, n_rows: int) -> ClusterLabels:
        """The label vectors that halve the rows."""
        return cls(n_rows, n_rows % 2)

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Eq. (32): the ends of the sorted scores are forced by the balance, the middle goes by sign."""
        n_positive = int(np.clip(np.count_nonzero(scores >= 0), self.low, self.high))
        return np.where(largest(scores, n_positive), 1, -1).astype(np.int8)

    def halved(self, scores: FloatArray) -> LabelArray:
        """The rows in two halves by their scores, the balance as tight as can be."""
        return ClusterLabels.halves(self.n_instances).linear_oracle(scores)

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` keeps the balance."""
        return bool(np.all(np.abs(y) == 1) and self.low <= int(np.count_nonzero(y == 1)) <= self.high)

    def initial(self, rng: np.random.Generator) -> LabelArray:
        """A random member of B, the first row positive."""
        y = super().initial(rng)
        return -y if y[0] < 0 else y
