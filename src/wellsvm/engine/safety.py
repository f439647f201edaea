"""Whether unlabeled rows help, by what labeled rows say: cross-validation with and without them.

Labeled rows are held out (out_of_fold.py) and judged by the supervised SVM of the other labels, and by the labelling
that the search reaches from it. What counts is the ramp loss of a row, ``min(2, max(0, 1 - m))`` at its margin m, or
what it is for several classes: a row that is wrong costs at most 2, however far it is off. Every row weighs the same:
labels of unequal counts are taken for drawn at random, so that their mean loss is that of any row, and a class of one
or two labels, as there are among many classes, does not outweigh the others. Unlabeled rows are used if they lower the
mean loss by at least one and a half standard errors of the difference. Labels of weight 0 have no say. Which rows are
held out together is chance: where the verdict is near, other folds are drawn, and a row's loss is its mean over all of
them. Folds are drawn from the rows as they lie, so that the order in which they are given does not count.

Under a kernel the bar is two errors. A function of few labels is near 0 wherever none of them is near, so that its ramp
loss is near 1: one with larger values loses less as soon as it is right more often than not, even if it is right less
often than the function of the labels alone. So the loss must also fall, by half an error, if both functions' values are
first divided by their root mean square.

Where the space has several dimensions for every label, an SVM of the others says hardly anything of a row held out,
and such bars are out of reach; but there the SVM of the labels is far from its best, and unlabeled rows have most to
say. So it is enough that they lower the mean loss at all, unless fewer of the held-out rows are right or, under a
kernel, the loss of values of one size does not fall so far: then the usual bar holds. Dimensions are counted as they
are used: the squared mean of the rows' squared lengths over the mean squared inner product of two rows, all centred.
Labels are counted as they bear on one border: two classes are told apart by the labels of two classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.neighborhood import inner_products
from wellsvm.engine.out_of_fold import out_of_fold
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.gram import GramRows

__all__ = ["Verdict", "dimensions_used", "judge_unlabeled", "labels_have_room", "ramp_losses"]


class Verdict(NamedTuple):
    """Mean ramp loss of labeled rows that unlabeled rows save, its standard error, the share of labeled rows that are
    right with them and not without, less that of the opposite, and whether unlabeled rows are to be used."""

    gain: float
    error: float
    more_right: float
    helps: bool


def judge_unlabeled(
    rows: Rows, codes: IntArray, shares: FloatArray, loss: str, C: FloatArray, seed: int, options: Options
) -> Verdict:
    """Compare the supervised SVM with the search on labeled rows held out; parameters are those of `out_of_fold`."""
    roomy = labels_have_room(rows, int(np.count_nonzero(codes >= 0)), shares.size, seed, options)
    by_kernel = isinstance(rows, GramRows) and not options.smooth
    usual = options.judge_kernel_errors if by_kernel else options.judge_errors
    gains: list[FloatArray] = []
    sized_gains: list[FloatArray] = []
    more_right: list[FloatArray] = []
    while True:
        found = out_of_fold(rows, codes, shares, loss, C, seed + len(gains), options)
        counted = found.held_out & (C[codes >= 0] > 0)
        without, with_unlabeled = found.without[counted], found.with_unlabeled[counted]
        known = found.codes[counted]
        gains.append(ramp_losses(without, known) - ramp_losses(with_unlabeled, known))
        sized_gains.append(ramp_losses(_sized(without), known) - ramp_losses(_sized(with_unlabeled), known))
        more_right.append(_right(with_unlabeled, known) - _right(without, known))
        if not counted.any():
            return Verdict(0.0, 0.0, 0.0, True)  # nothing speaks against them
        mean = np.mean(gains, axis=0)
        gain, error, more = float(mean.mean()), float(mean.std() / np.sqrt(mean.size)), float(np.mean(more_right))
        bar = 0.0 if roomy else usual * error
        lowers = gain > 0 and gain >= bar
        spoken_against = not _falls(sized_gains, options.judge_sized_errors) if by_kernel else more < 0
        doubted = spoken_against and (gain < usual * error if roomy else by_kernel)
        near = abs(gain - bar) < options.judge_doubt * error or (lowers and doubted)
        if not near or len(gains) == options.judge_partitions:
            return Verdict(gain, error, more, lowers and not doubted)


def labels_have_room(rows: Rows, n_labels: int, n_classes: int, seed: int, options: Options = Options()) -> bool:
    """Whether there are several dimensions for every label of two classes, so that any gain is enough."""
    of_two_classes = 2.0 * n_labels / n_classes
    return of_two_classes * options.label_room <= dimensions_used(rows, np.random.default_rng(seed), options)


def dimensions_used(rows: Rows, rng: np.random.Generator, options: Options) -> float:
    """In how many dimensions of equal spread rows are as nearly orthogonal as these, of which a sample is seen."""
    chosen = rng.permutation(rows.n_instances)[: options.room_rows]
    K = inner_products(rows.part(np.sort(chosen)))
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    n, squares = chosen.size, K.diagonal()
    others = float(np.sum(K**2) - squares @ squares) / max(1, n * (n - 1))
    return float(squares.mean() ** 2) / others if others > 0 else 0.0


def ramp_losses(values: FloatArray, codes: IntArray) -> FloatArray:
    """Ramp loss of rows of known class; with more than two classes, twice the part of a row that goes to the others.

    The parts of a row are the shares nearest to half its values. Of two classes, with values -f and f, these are
    ``(1 - f) / 2`` and ``(1 + f) / 2`` inside the margin, so that the loss is the same. A row of which the values say
    nothing costs 2 (1 - 1 / K), as a guess among K classes does: 1 would be the price of being right half of the time.
    """
    if values.shape[1] == 1:
        return np.clip(1.0 - values[:, 0] * np.where(codes == 1, 1, -1), 0.0, 2.0)
    parts = _nearest_shares(0.5 * values)
    return np.asarray(2.0 * (1.0 - parts[np.arange(codes.size), codes]))


def _nearest_shares(values: FloatArray) -> FloatArray:
    """Numbers from 0 on that sum to 1, nearest to the values of every row: these less a number, or 0."""
    falling = -np.sort(-values, axis=1)
    less = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, values.shape[1] + 1)
    kept = np.count_nonzero(falling > less, axis=1)
    return np.asarray(np.maximum(values - less[np.arange(len(values)), kept - 1][:, None], 0.0))


def _sized(values: FloatArray) -> FloatArray:
    """Values divided by their root mean square."""
    size = float(np.sqrt(np.mean(values**2))) if values.size else 0.0
    return values / size if size > 0 else values


def _falls(gains: list[FloatArray], errors: float) -> bool:
    """Whether the mean gain of a row over the partitions is so many standard errors."""
    mean = np.mean(gains, axis=0)
    return bool(mean.mean() >= errors * mean.std() / np.sqrt(mean.size))


def _right(values: FloatArray, codes: IntArray) -> FloatArray:
    """1 for rows whose class the values tell, else 0."""
    told = values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
    return np.asarray(told == codes, dtype=np.float64)
