"""The origin that dense rows are shifted to: 0, except in columns that lie far from 0, where it is their mean.

An intercept is a constant feature, regularized like the others. Where a column lies far from 0, compared with its
spread, the intercept has to be large, and costs more than the margin is worth; rows that are nearly parallel make every
solver slow, too. Seen from their mean they are as easy as rows around 0, and a constant column is 0. Which columns are
far is told by a sample of the rows. Sparse rows are seen from 0, as hardly any of their entries is far from it, and so
are rows without an intercept: it is what takes the shift in.
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import BoolArray, FloatArray
from wellsvm.options import Options

__all__ = ["near_mean"]


def near_mean(sample: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The mean of some rows, near that of all, and which of its columns are far from 0.

    The mean of equal values is that value, to the last digit.
    """
    moved = sample - sample[0]
    mean, spread = sample[0] + moved.mean(axis=0), moved.std(axis=0)
    return mean, np.abs(mean) > Options.far_columns * spread
