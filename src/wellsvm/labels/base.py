"""The one interface between a task and the engine: a set B of allowed label assignments.

A label assignment is an int8 vector ``y`` with one entry per instance. The engine's row ``i`` owns the instances
``starts[i] .. starts[i+1]-1`` (instance ``i`` alone where ``starts`` is None), and its signed feature vector is
``psi_y(i) = sum of y_j phi(x_j)`` over them: ``y_i phi(x_i)`` for single examples, the key instance of a bag for
multi-instance learning. So tasks differ by their oracles and their rows only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from wellsvm._typing import FloatArray, IntArray, LabelArray

__all__ = ["LabelSet"]


class LabelSet(ABC):
    """A finite set B of label assignments with an exact linear oracle. Pure combinatorics: no alpha, no kernel.

    Attributes
    ----------
    n_instances : int
        Length of a label assignment. A subclass sets it.
    starts : int array of shape (n_rows + 1,) or None
        First instance of each row; None, the default, if each instance is its own row.
    symmetric : bool
        Whether y and -y describe the same assignment, as in clustering.
    keeps : int8 array of shape (n_instances,) or None
        Labels that instances with score 0 keep if possible, such as given labels that may be wrong; 0 for an instance
        that keeps none. None, the default: ties go to the lower index at score 0 as well.
    """

    n_instances: int
    starts: IntArray | None = None
    symmetric: bool = False
    keeps: LabelArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_instances if self.starts is None else len(self.starts) - 1

    @abstractmethod
    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Return argmax of ``scores @ y`` over B: exact; ties go to the lower index."""

    @abstractmethod
    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` is in B."""

    def initial(self, rng: np.random.Generator) -> LabelArray:
        """A random member of B."""
        return self.linear_oracle(rng.standard_normal(self.n_instances))

    def oriented(self, y: LabelArray, like: LabelArray) -> LabelArray:
        """Of the two names of an assignment in a `symmetric` set, y and -y, the one that agrees with ``like`` on more
        instances; of equals, the one whose first label is positive."""
        overlap = int(np.dot(y.astype(np.int64), like))
        return -y if overlap < 0 or (overlap == 0 and y[0] < 0) else y
