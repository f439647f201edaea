"""f of instances in bags, ``f(x, B) = f(x) + mean over B of g``, as coefficients that can be averaged.

Fits with different weights of the context differ in their rows, but not in this form: under one kernel the mean of
several is again one function of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray
from wellsvm.bags import Bags
from wellsvm.engine.recipe import Fit
from wellsvm.rows import Rows
from wellsvm.rows.context import coefficients_of_bags
from wellsvm.rows.kernels import Kernel

__all__ = ["BagFunction"]


class BagFunction(NamedTuple):
    """One function for every two-class problem.

    Attributes
    ----------
    coef : array of shape (n_functions, n_features) or (n_functions, n_instances)
        f of an instance: weights for the linear kernel, else coefficients of the training instances.
    of_bags : array like ``coef`` or None
        g, which a bag adds the mean of; None for 0.
    intercept : array of shape (n_functions,)
        What f adds.
    scores : array of shape (n_instances, n_functions)
        Values of all training instances in their bags.
    """

    coef: FloatArray
    of_bags: FloatArray | None
    intercept: FloatArray
    scores: FloatArray

    @classmethod
    def of(cls, fits: Sequence[Fit], bags: Bags, kernel: Kernel, rows: Rows, context: float) -> BagFunction:
        """The functions of fits on rows with some weight of the context."""
        coef, intercept = rows.split_intercept(np.stack([fit.coefficients() for fit in fits]))
        scores = np.stack([fit.scores() for fit in fits], axis=1)
        if context == 0:
            return cls(coef, None, intercept, scores)
        if kernel.name == "linear":
            weights, of_means = np.split(coef, [bags.n_features], axis=1)
            return cls(np.ascontiguousarray(weights), np.sqrt(context) * of_means, intercept, scores)
        return cls(coef, coefficients_of_bags(coef, bags.offsets, context), intercept, scores)

    @classmethod
    def mean(cls, functions: Sequence[BagFunction]) -> BagFunction:
        """Their mean; one function is its own."""
        if len(functions) == 1:
            return functions[0]
        of_bags = [f.of_bags for f in functions if f.of_bags is not None]
        return cls(
            _sum([f.coef for f in functions]) / len(functions),
            _sum(of_bags) / len(functions) if of_bags else None,
            _sum([f.intercept for f in functions]) / len(functions),
            _sum([f.scores for f in functions]) / len(functions),
        )


def _sum(arrays: Sequence[FloatArray]) -> FloatArray:
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total
