"""Columns that slow the solvers down, judged from a sample of the rows: in words for the user, or an empty string.

Dense columns may differ in spread, or lie far from 0. Of sparse rows most columns are rare, so that a narrow one tells
nothing: what counts is the sum of those that are narrow beside the widest. Texts with a column of prices or years are
the usual case.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from wellsvm._typing import FloatArray
from wellsvm.options import Options

__all__ = [
    "all_short", "any_far", "digits_are_lost", "long_columns", "moments", "uneven_columns", "widest_column",
]  # fmt: skip


def uneven_columns(sample: FloatArray, dtype: np.dtype, origin: FloatArray | None, options: Options) -> str:
    """Which columns differ so much, in spread or by a common offset, that solvers suffer.

    Those that move by less than what ``dtype`` tells apart at their size, or at that of the ``origin`` that they are
    seen from, are constant.
    """
    eps = float(np.finfo(dtype).eps)
    mean, spread = np.abs(sample.mean(axis=0)), sample.std(axis=0)
    moves = spread > eps * (mean if origin is None else np.maximum(mean, np.abs(origin)))
    if not moves.any():
        return ""
    wide, narrow = int(np.argmax(spread)), int(np.argmin(np.where(moves, spread, np.inf)))
    far = int(np.argmax(np.where(moves, mean / np.where(moves, spread, 1.0), 0.0)))
    told = []
    if spread[wide] > options.uneven * spread[narrow]:
        told.append(
            f"column {wide} of X spreads {spread[wide] / spread[narrow]:.2g} times as far as column {narrow} "
            f"({spread[wide]:.3g} and {spread[narrow]:.3g})"
        )
    if mean[far] > options.uneven * spread[far]:
        told.append(
            f"column {far} of X lies {mean[far] / spread[far]:.2g} times its spread from 0 (mean {mean[far]:.3g})"
        )
    return ", and ".join(told)


def all_short(sample: FloatArray, options: Options) -> bool:
    """Whether columns spread, and lie, hardly further than standardized ones: the penalty on the weights then outweighs
    what makes narrow columns hard. Embeddings with a dead column are such rows: its spread is a billionth of the
    others', and it matters to no function of small weights."""
    return bool(max(sample.std(axis=0).max(), np.abs(sample.mean(axis=0)).max()) <= options.short_column)


def digits_are_lost(sample: FloatArray) -> bool:
    """Whether inner products of these rows round by as much as what tells the rows apart."""
    mean, spread = sample.mean(axis=0), sample.std(axis=0)
    return bool(np.finfo(np.float64).eps * float(mean @ mean) > float(spread @ spread))


def widest_column(spread: FloatArray, options: Options) -> str:
    """The widest column, if it is so wide that solvers suffer."""
    widest = int(np.argmax(spread))
    if spread[widest] <= options.wide_column:
        return ""
    return f"column {widest} of X spreads as far as {spread[widest]:.3g}, where solvers expect about 1"


def long_columns(sample: sparse.csr_matrix, options: Options) -> str:
    """Which column of sparse rows is much too wide, outweighs the narrow ones, or lies far from 0 beside them all."""
    mean, spread = moments(sample)
    if spread.max() > options.hopeless_spread:
        return widest_column(spread, options)
    variance = spread**2
    widest, narrow = int(np.argmax(spread)), spread <= spread.max() / options.narrow_columns
    rest = float(variance[narrow].sum())
    if 0 < options.outweighs * rest < variance[widest]:
        return (
            f"column {widest} of X spreads as far as {spread[widest]:.3g}, {np.count_nonzero(narrow)} others together "
            f"only as far as {rest**0.5:.3g}"
        )
    far, whole = int(np.argmax(np.abs(mean))), float(variance.sum())
    if 0 < options.uneven**2 * whole < mean[far] ** 2:
        return f"column {far} of X has the mean {mean[far]:.3g}, and all columns together spread by {whole**0.5:.3g}"
    return ""


def any_far(sample: sparse.csr_matrix, options: Options) -> bool:
    """Whether a column of sparse rows is far from 0 beside its own spread, see origin.py."""
    mean, spread = moments(sample)
    return bool(np.any(np.abs(mean) > options.far_columns * spread))


def moments(X: sparse.csr_matrix) -> tuple[FloatArray, FloatArray]:
    """Mean and spread of every column, zeros that are not stored included; in two passes, so that no digit is lost."""
    n, values, columns = X.shape[0], X.data.astype(np.float64), X.indices
    mean = np.bincount(columns, values, X.shape[1]) / n
    moved = np.bincount(columns, (values - mean[columns]) ** 2, X.shape[1])
    missing = n - np.bincount(columns, minlength=X.shape[1])
    return mean, np.sqrt((moved + missing * mean**2) / n)
