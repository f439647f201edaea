"""The likelihood of the counts of groups under f: instead of searching for labels, it sums over all of them.

A row is positive with probability ``p = 1 / (1 + exp(-f))``, independently of the others, and S is the number of
positives of a group. The loss of a group and its slope in f are

    - log P(low <= S <= high)        and        p_i - q_i,    q_i = P(row i is positive | low <= S <= high).

A known label is a group of one row. Where classes overlap, this loss says far more about f than that of the best
labels: those are chosen to agree with f, however wrong f is.

P(S = k) is a sum over label vectors that a recursion over the rows adds up: with ``A[j, k]`` the chance of k positives
among the first j rows, and R[k] that of what is missing to the bounds after k positives, from the last row backwards.
First all f of the group are shifted by one number b that brings the expected count to the bounds. That changes
P(S = k) by a factor which is known, and the sums do not underflow. In large groups (`Options.exact_group`) the shift
alone is used: ``q = 1 / (1 + exp(-f - b))``, the most random labels that keep the count on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from wellsvm._typing import FloatArray, IntArray
from wellsvm.labels.proportions import ProportionLabels
from wellsvm.options import Options

__all__ = ["GroupCounts"]


class Block(NamedTuple):
    """Groups of about the same size: their rows, of shape (n_groups, n_most), padded with a row where f = -inf."""

    groups: IntArray
    rows: IntArray
    size: IntArray
    low: IntArray
    high: IntArray
    price: FloatArray


class GroupCounts:
    """The loss of the counts of groups, and of known labels.

    Parameters
    ----------
    labels : ProportionLabels
        Groups, bounds on their counts, known labels.
    C : array of shape (n_rows,)
        Price of every row; a group has the mean price of its unlabeled rows.
    options : Options
        Constants.
    """

    def __init__(self, labels: ProportionLabels, C: FloatArray, options: Options) -> None:
        self.n_rows, self.n_groups, self.exact = labels.n_instances, labels.low.size, options.exact_group
        self.known: IntArray = np.flatnonzero((labels.y_known != 0) & (C > 0))
        self.y, self.C = labels.y_known[self.known], C[self.known]
        self.blocks = list(_blocks(labels, C, options))

    def loss(self, f: FloatArray) -> tuple[float, FloatArray]:
        """The loss at f, and its slope in every row."""
        slopes = np.zeros(self.n_rows + 1)
        margins = self.y * f[self.known]
        value = float(self.C @ np.logaddexp(0.0, -margins))
        slopes[self.known] = -self.C * self.y * expit(-margins)
        for block, F, logs, Q in self._parts(f):
            value -= float(block.price @ logs)
            slopes[block.rows] = block.price[:, None] * (expit(F) - Q)
        return value, slopes[:-1]

    def of_groups(self, f: FloatArray) -> FloatArray:
        """The loss of every group, at its price; 0 where its bounds allow any count."""
        losses = np.zeros(self.n_groups)
        for block, _, logs, _ in self._parts(f):
            losses[block.groups] = -block.price * logs
        return losses

    def _parts(self, f: FloatArray) -> Iterator[tuple[Block, FloatArray, FloatArray, FloatArray]]:
        """Of every block f, the logarithm of the chance of its counts, and q."""
        padded = np.append(np.clip(f, -Options.largest_logit, Options.largest_logit), -np.inf)
        for block in self.blocks:
            F = padded[block.rows]
            yield block, F, *(_summed if block.rows.shape[1] <= self.exact else _shifted)(F, block)


def _blocks(labels: ProportionLabels, C: FloatArray, options: Options) -> Iterator[Block]:
    """Groups whose bounds exclude some count, in blocks: sizes between the same powers of two, not too many at once."""
    groups = labels.groups[labels.free]
    order = labels.free[np.argsort(groups, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(labels.sizes)])
    price = np.bincount(groups, weights=C[labels.free], minlength=labels.low.size) / np.maximum(labels.sizes, 1)
    bounded = np.flatnonzero(((labels.low > 0) | (labels.high < labels.sizes)) & (price > 0))
    widths = 2 ** np.ceil(np.log2(labels.sizes[bounded])).astype(np.int64)
    for width in np.unique(widths):
        alike, place = bounded[widths == width], np.arange(width)
        table = width + 1 if width <= options.exact_group else 1
        step = max(1, options.count_entries // (int(width) * int(table)))
        for begin in range(0, alike.size, step):
            chosen = alike[begin : begin + step]
            size = labels.sizes[chosen]
            inside = place < size[:, None]
            at = np.minimum(starts[chosen][:, None] + place, order.size - 1)
            rows = np.where(inside, order[at], labels.n_instances)
            yield Block(chosen, rows, size, labels.low[chosen], labels.high[chosen], price[chosen])


def _summed(F: FloatArray, block: Block) -> tuple[FloatArray, FloatArray]:
    """log P(low <= S <= high) and q, exactly."""
    n_groups, width = F.shape
    b, reached = _shift(F, block, Options.rough_shifts)
    P = expit(F + b[:, None])
    counts = np.arange(width + 1)
    R = np.where(
        (block.low[:, None] <= counts) & (counts <= block.high[:, None]),
        np.exp(np.minimum(-b[:, None] * (counts - reached[:, None]), 0.0)),
        0.0,
    )
    A = np.zeros((width + 1, n_groups, width + 1))
    A[0, :, 0] = 1.0
    for j in range(width):
        A[j + 1] = A[j] * (1.0 - P[:, j, None])
        A[j + 1, :, 1:] += A[j, :, :-1] * P[:, j, None]
    total = np.sum(A[width] * R, axis=1)
    Q = np.empty_like(F)
    for j in reversed(range(width)):
        one_more = np.zeros_like(R)
        one_more[:, :-1] = R[:, 1:]
        Q[:, j] = P[:, j] * np.sum(A[j] * one_more, axis=1) / total
        R = R * (1.0 - P[:, j, None]) + one_more * P[:, j, None]
    return np.log(total) - b * reached + _factor(F, b), Q


def _shifted(F: FloatArray, block: Block) -> tuple[FloatArray, FloatArray]:
    """The same of large groups, of the shift alone."""
    b, _ = _shift(F, block, Options.fine_shifts)
    P = expit(F + b[:, None])
    return _factor(F, b) - b * P.sum(axis=1), P


def _factor(F: FloatArray, b: FloatArray) -> FloatArray:
    """log of the product of ``(1 + exp(f + b)) / (1 + exp(f))`` of every group."""
    return np.asarray(np.sum(np.logaddexp(0.0, F + b[:, None]) - np.logaddexp(0.0, F), axis=1))


def _shift(F: FloatArray, block: Block, n_halvings: int) -> tuple[FloatArray, FloatArray]:
    """What added to f brings the expected count to the nearest bound, by halving, and that bound; 0 between both.

    A count of 0 or of all rows is approached up to a quarter of a row.
    """
    expected = expit(F).sum(axis=1)
    bound = np.clip(expected, block.low, block.high)
    aim = np.clip(bound, 0.25, block.size - 0.25)
    spare = np.log(8.0 * block.size)
    low = -F.max(axis=1) - spare
    high = -np.min(F, axis=1, where=-np.inf < F, initial=np.inf) + spare
    for _ in range(n_halvings):
        b = 0.5 * (low + high)
        short = expit(F + b[:, None]).sum(axis=1) < aim
        low, high = np.where(short, b, low), np.where(short, high, b)
    return np.where(bound == expected, 0.0, 0.5 * (low + high)), bound
