"""Whether unlabeled rows help, by what labeled rows say: cross-validation with and without them.

Labeled rows are held out (out_of_fold.py) and judged by the supervised SVM of the other labels, and by the labeling
that the search reaches from it. What counts is the ramp loss of a row, ``min(2, max(0, 1 - m))`` at its margin m, or
what it is for several classes: a row that is wrong costs at most 2, however far it is off. Labels of unequal counts are
taken for drawn at random: each weighs the same, so that their mean loss is that of any row, and a class of one or two
labels, as there are among many classes, does not outweigh the others. Labels of equal counts were collected class by
class: each weighs as much as the share of its class among the unlabeled rows asks for. If all weighed the same, half of
the verdict would be that of a class with a tenth of the rows, and unlabeled rows would be left out where they help most
(docs/choices_safety.md). Labels of weight 0 have no say.

1. Unlabeled rows are used if they lower the mean loss by at least one and a half standard errors of the difference
   (two under a kernel), and to at least as many errors below the loss of a guess. The second half is for labels that
   have nothing to do with the rows. An SVM of them is worse than a guess on rows held out, as every label held out
   is one that the others lack; that something else is less so proves nothing, and its errors are not independent.
2. Where the space has several dimensions for every label, an SVM of the others says hardly anything of a row held out,
   and such bars are out of reach; but there the SVM of the labels is far from its best, and unlabeled rows have most to
   say. So it is enough that they lower the mean loss at all. Dimensions are counted as they are used: the squared mean
   of the rows' squared lengths over the mean squared inner product of two rows, all centered. Labels are counted as
   they bear on one border: two classes are told apart by the labels of two classes.
3. A function of few labels is near 0 wherever none of them is near, under a kernel and in many dimensions alike, so
   that its ramp loss is near 1: one with larger values loses less as soon as it is right more often than not, even if
   it is right less often than the function of the labels alone. So in both cases the loss must also fall, by half an
   error, if both functions' values are first divided by their root mean square. In many dimensions and without a kernel
   this is asked of more than 50 labels only: fewer fail it too often by chance. Of fewer, a gain below the bar of
   rule 1 must not come with more errors.

Which rows are held out together is chance: where the verdict is near, other folds are drawn, and a row's loss is its
mean over all of them. Folds are drawn from the rows as they lie, so that the order in which they are given does not
count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.out_of_fold import out_of_fold
from wellsvm.engine.shares import collected
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.few import inner_products
from wellsvm.rows.gram import GramRows

__all__ = ["Verdict", "dimensions_used", "judge_unlabeled", "label_weights", "labels_have_room", "ramp_losses"]


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
    n_labels = int(np.count_nonzero(codes >= 0))
    roomy = labels_have_room(rows, n_labels, shares.size, seed, options)
    by_kernel = isinstance(rows, GramRows) and not options.smooth
    sizes_count = by_kernel or (roomy and n_labels > options.judge_few_labels)
    usual = options.judge_kernel_errors if by_kernel else options.judge_errors
    seen: list[_HeldOut] = []
    while True:
        found = out_of_fold(rows, codes, shares, loss, C, seed + len(seen), options)
        counted = found.held_out & (C[codes >= 0] > 0)
        if not counted.any():
            return Verdict(0.0, 0.0, 0.0, True)  # nothing speaks against them
        codes_seen = found.codes[counted]
        held_out = _HeldOut.of(found.without[counted], found.with_unlabeled[counted], codes_seen)
        weights = label_weights(codes_seen, shares)
        seen.append(_HeldOut(*(weights * values for values in held_out)))
        mean = _HeldOut(*np.mean(seen, axis=0))
        gain, error, more = float(mean.gain.mean()), _error(mean.gain), float(mean.more_right.mean())
        bar = 0.0 if roomy else usual * error
        lowers = gain > 0 and gain >= bar
        in_size_only = sizes_count and not _above_0(mean.sized_gain, options.judge_sized_errors)
        more_wrong = roomy and not sizes_count and more < 0 and gain < usual * error
        doubted = in_size_only or more_wrong or not (roomy or _above_0(mean.over_guess, usual))
        nearly = options.judge_sized_errors + options.judge_doubt
        in_doubt = doubted or (sizes_count and not by_kernel and not _above_0(mean.sized_gain, nearly))
        near = abs(gain - bar) < options.judge_doubt * error or (lowers and in_doubt)
        if not near or len(seen) == options.judge_partitions:
            return Verdict(gain, error, more, lowers and not doubted)


class _HeldOut(NamedTuple):
    """Of every row held out: what unlabeled rows save of its loss, and of the loss of values of one size; how much it
    costs less with them than a guess; whether it is right with them and not without, less the opposite."""

    gain: FloatArray
    sized_gain: FloatArray
    over_guess: FloatArray
    more_right: FloatArray

    @classmethod
    def of(cls, without: FloatArray, with_unlabeled: FloatArray, codes: IntArray) -> _HeldOut:
        """Compare values of rows of known class."""
        loss, found = (ramp_losses(values, codes) for values in (without, with_unlabeled))
        sized_loss, sized_found = (ramp_losses(_sized(values), codes) for values in (without, with_unlabeled))
        guess = 2.0 - 2.0 / max(2, without.shape[1])
        more_right = _right(with_unlabeled, codes) - _right(without, codes)
        return cls(loss - found, sized_loss - sized_found, guess - found, more_right)


def label_weights(codes: IntArray, shares: FloatArray) -> FloatArray:
    """Weights of labels held out: those collected class by class stand for as many rows as their class has."""
    counts = np.bincount(codes, minlength=shares.size)
    return (shares * codes.size / np.maximum(counts, 1))[codes] if collected(counts) else np.ones(codes.size)


def labels_have_room(rows: Rows, n_labels: int, n_classes: int, seed: int, options: Options = Options()) -> bool:
    """Whether there are several dimensions for every label of two classes, so that any gain is enough."""
    of_two_classes = 2.0 * n_labels / n_classes
    return of_two_classes * options.label_room <= dimensions_used(rows, np.random.default_rng(seed), options)


def dimensions_used(rows: Rows, rng: np.random.Generator, options: Options) -> float:
    """In how many dimensions of equal spread rows are as nearly orthogonal as these, of which a sample is seen."""
    chosen = rng.permutation(rows.n_instances)[: options.room_rows]
    K = inner_products(rows.part(np.sort(chosen)))
    of_rows = K.mean(axis=1)
    K -= of_rows + (of_rows - of_rows.mean())[:, None]
    n, squares = chosen.size, K.diagonal()
    others = float(np.vdot(K, K) - squares @ squares) / max(1, n * (n - 1))
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


def _error(values: FloatArray) -> float:
    """Standard error of the mean."""
    return float(values.std() / np.sqrt(values.size))


def _above_0(values: FloatArray, errors: float) -> bool:
    """Whether the mean is at least so many standard errors above 0."""
    return bool(values.mean() >= errors * _error(values))


def _right(values: FloatArray, codes: IntArray) -> FloatArray:
    """1 for rows whose class the values tell, else 0."""
    told = values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
    return np.asarray(told == codes, dtype=np.float64)
