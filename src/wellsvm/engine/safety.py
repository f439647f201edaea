"""Whether unlabeled rows help, by what labeled rows say: cross-validation with and without them.

Labeled rows are held out (out_of_fold.py) and judged by the supervised SVM of the other labels, and by the labelling
that the search reaches from it. What counts is the ramp loss of a row, ``min(2, max(0, 1 - m))`` at its margin m: a row
that is wrong costs at most 2, however far it is off. Every class weighs the same. Unlabeled rows are used if they lower
the mean loss by more than two standard errors of the difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.out_of_fold import out_of_fold
from wellsvm.options import Options
from wellsvm.rows.base import Rows

__all__ = ["Verdict", "judge_unlabeled"]


class Verdict(NamedTuple):
    """Mean ramp loss of labeled rows that unlabeled rows save, its standard error, and whether they are to be used."""

    gain: float
    error: float
    helps: bool


def judge_unlabeled(
    rows: Rows, codes: IntArray, shares: FloatArray, loss: str, C: FloatArray, seed: int, options: Options
) -> Verdict:
    """Compare the supervised SVM with the search on labeled rows held out; parameters are those of `out_of_fold`."""
    codes, held_out, without, with_unlabeled = out_of_fold(rows, codes, shares, loss, C, seed, options)
    gains = _ramp(without, codes) - _ramp(with_unlabeled, codes)
    return _compare(gains[held_out], codes[held_out], options)


def _ramp(values: FloatArray, codes: IntArray) -> FloatArray:
    """Ramp loss of rows of known class; with more than two classes, half the lead over the best other one counts."""
    if values.shape[1] == 1:
        margins = values[:, 0] * np.where(codes == 1, 1, -1)
    else:
        own = values[np.arange(codes.size), codes]
        others = values.copy()
        others[np.arange(codes.size), codes] = -np.inf
        margins = 0.5 * (own - others.max(axis=1))
    return np.clip(1.0 - margins, 0.0, 2.0)


def _compare(gains: FloatArray, codes: IntArray, options: Options) -> Verdict:
    """Mean of the gains, every class with the same weight, its standard error, and the decision."""
    if gains.size == 0:
        return Verdict(0.0, 0.0, True)  # nothing speaks against them
    counts = np.bincount(codes)
    weights = 1.0 / (np.count_nonzero(counts) * counts[codes])
    gain = float(weights @ gains)
    error = float(np.sqrt(np.sum((weights * (gains - gain)) ** 2)))
    return Verdict(gain, error, gain > 0 and gain >= options.judge_errors * error)
