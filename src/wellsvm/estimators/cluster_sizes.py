"""Clusters from the values of one function per cluster: by the largest value, or within bounds on their sizes."""

from __future__ import annotations

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.options import Options

__all__ = ["of_largest_value", "within_sizes"]


def of_largest_value(F: FloatArray) -> IntArray:
    """The column of the largest entry of every row.

    A column that is nowhere the largest gets the row that loses least by it, so that no cluster is empty.
    """
    labels = np.argmax(F, axis=1)
    for k in range(F.shape[1]):
        sizes = np.bincount(labels, minlength=F.shape[1])
        if sizes[k] == 0:
            lead = F.max(axis=1) - F[:, k]
            labels[np.argmin(np.where(sizes[labels] > 1, lead, np.inf))] = k
    return labels


def within_sizes(F: FloatArray, low: int, high: int) -> tuple[IntArray, FloatArray]:
    """Clusters of ``low`` to ``high`` rows each by the largest value plus an offset per cluster, and the offsets.

    An auction: the offset of the cluster that is furthest from its bounds moves until the bounds are met, and so on.
    Where equal values prevent that, the rows that lose least are moved one by one.
    """
    k = F.shape[1]
    offsets = np.zeros(k)
    for _ in range(Options.auction_steps):
        G = F + offsets
        labels = np.argmax(G, axis=1)
        sizes = np.bincount(labels, minlength=k)
        off = np.maximum(sizes - high, low - sizes)
        worst = int(np.argmax(off))
        if off[worst] <= 0:
            return labels, offsets
        rest = G.copy()
        rest[:, worst] = -np.inf
        lead = np.sort(G[:, worst] - rest.max(axis=1))[::-1]  # the first ones stay, or come
        wanted = min(max(int(sizes[worst]), low), high)
        offsets[worst] -= 0.5 * (lead[wanted - 1] + (lead[wanted] if wanted < lead.size else lead[wanted - 1] - 2.0))
    return _moved_one_by_one(F + offsets, low, high), offsets


def _moved_one_by_one(G: FloatArray, low: int, high: int) -> IntArray:
    """Start from the largest values; move rows that lose least out of too large clusters or into too small ones."""
    labels, rows = np.argmax(G, axis=1), np.arange(len(G))
    while True:
        sizes = np.bincount(labels, minlength=G.shape[1])
        too_large, too_small = np.flatnonzero(sizes > high), np.flatnonzero(sizes < low)
        if too_large.size == too_small.size == 0:
            return labels
        givers = too_large if too_large.size else np.flatnonzero(sizes > low)
        takers = too_small if too_small.size else np.flatnonzero(sizes < high)
        loss = (G[rows, labels][:, None] - G)[:, takers]
        loss[~np.isin(labels, givers)] = np.inf
        row, taker = np.unravel_index(np.argmin(loss), loss.shape)
        labels[row] = takers[taker]
