"""Assign a class to every row so that each class gets its number of rows and the sum of scores is largest, exactly.

    maximize  sum_i F[i, k_i]   where class k occurs counts[k] times

Whatever the prices v of the classes, "each row takes the class of the largest F[i, k] - v[k]" is the best assignment
for the numbers of rows that it happens to give. So:

1. Prices that nearly give the wanted counts, each set in turn so that its own class has its number of rows.
2. While one class has too many rows and another too few, rows are moved along the cheapest path from class to class. An
   optimal assignment stays optimal under such moves (successive shortest paths), so the last one is exact.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.options import Options

__all__ = ["apportion", "assign", "barred", "half_leads", "near_prices"]


def apportion(shares: FloatArray, n_rows: int) -> IntArray:
    """Whole numbers that sum to ``n_rows``, nearest to the shares: largest remainders are rounded up."""
    exact = np.asarray(shares) / np.sum(shares) * n_rows
    counts = np.floor(exact).astype(np.int64)
    up = np.argsort(counts - exact, kind="stable")[: n_rows - int(counts.sum())]
    counts[up] += 1
    return counts


def assign(
    F: FloatArray, counts: IntArray, prices: FloatArray | None = None, options: Options = Options()
) -> tuple[IntArray, FloatArray]:
    """Assign a class to every row.

    Parameters
    ----------
    F : array of shape (n_rows, n_classes)
        Scores.
    counts : array of shape (n_classes,)
        Rows of every class; they sum to n_rows.
    prices : array of shape (n_classes,), optional
        Prices of an earlier assignment, to start from.
    options : Options
        Constants.

    Returns
    -------
    classes : array of shape (n_rows,)
        The best assignment. Of equal scores the lower class and the earlier row come first.
    prices : array of shape (n_classes,)
        Prices under which nearly every row has the class of its largest score less price.
    """
    prices = near_prices(F, counts, prices, options)
    classes = np.argmax(F - prices, axis=1)
    surplus = np.bincount(classes, minlength=counts.size) - counts
    if surplus.any():
        # what it costs to move the cheapest row of class k to class l, and which row that is
        cost, row = np.full((counts.size, counts.size), np.inf), np.zeros((counts.size, counts.size), dtype=np.int64)
        _look_up(F, classes, cost, row, range(counts.size))
        while surplus.any():
            path = _cheapest_path(cost, surplus)
            moved = [row[k, to] for k, to in pairwise(path)]
            classes[moved] = path[1:]
            surplus[path[0]] -= 1
            surplus[path[-1]] += 1
            _look_up(F, classes, cost, row, path)
    return classes, prices


def barred(F: FloatArray, excluded: BoolArray) -> FloatArray:
    """Scores under which a row has no class excluded for it, if the counts of the classes allow that.

    Any two assignments differ by moves along paths that visit each class at most once. The penalty exceeds what any
    such path can gain, so no row takes an excluded class unless the counts force it.
    """
    if not excluded.any():
        return F
    return np.where(excluded, F.min() - (F.shape[1] + 1) * (np.ptp(F) + 1.0), F)


def half_leads(F: FloatArray, classes: IntArray, prices: FloatArray) -> FloatArray:
    """Half of how far every row's class exceeds the next one, after prices; of two classes the distance to the cut."""
    net = F - prices
    rows = np.arange(classes.size)
    own = net[rows, classes]
    net[rows, classes] = -np.inf
    return np.asarray(0.5 * np.maximum(own - net.max(axis=1), 0.0))


def near_prices(F: FloatArray, counts: IntArray, first: FloatArray | None, options: Options) -> FloatArray:
    """Prices under which classes have nearly these counts; a class without rows has a price that no row pays."""
    n_rows, columns = F.shape[0], np.ascontiguousarray(F.T)  # the largest of several long columns is quickly found
    spread = float(np.ptp(F))
    prices = np.where(counts > 0, 0.0 if first is None else first, spread + 1.0)
    for _ in range(options.assignment_sweeps):
        before = prices.copy()
        for k in np.flatnonzero((counts > 0) & (counts < n_rows)):
            others = np.full(n_rows, -np.inf)
            for other in range(counts.size):
                if other != k:
                    np.maximum(others, columns[other] - prices[other], out=others)
            lead = columns[k] - others
            # between the last row that is in and the first that is out
            ends = np.partition(lead, [n_rows - counts[k] - 1, n_rows - counts[k]])
            prices[k] = 0.5 * (ends[n_rows - counts[k] - 1] + ends[n_rows - counts[k]])
        if np.max(np.abs(prices - before)) <= options.price_change * spread:
            break
    return prices


def _look_up(F: FloatArray, classes: IntArray, cost: FloatArray, row: IntArray, changed: range | list[int]) -> None:
    """Find the cheapest rows of the classes that have changed."""
    for k in changed:
        members = np.flatnonzero(classes == k)
        cost[k] = np.inf
        if members.size:
            losses = F[members, k][:, None] - F[members]
            best = np.argmin(losses, axis=0)
            cost[k], row[k] = losses[best, np.arange(F.shape[1])], members[best]
            cost[k, k] = np.inf


def _cheapest_path(cost: FloatArray, surplus: IntArray) -> list[int]:
    """Classes on the cheapest path from one with too many rows to one with too few (Bellman and Ford)."""
    distance, before = np.where(surplus > 0, 0.0, np.inf), np.full(surplus.size, -1)
    for _ in range(surplus.size - 1):
        through = distance[:, None] + cost
        nearest = through.min(axis=0)
        shorter = nearest < distance - Options.no_gain * np.abs(nearest)
        if not shorter.any():
            break
        before[shorter] = np.argmin(through, axis=0)[shorter]
        distance = np.where(shorter, nearest, distance)
    path = [int(np.argmin(np.where(surplus < 0, distance, np.inf)))]
    while before[path[0]] >= 0:
        path.insert(0, int(before[path[0]]))
    return path
