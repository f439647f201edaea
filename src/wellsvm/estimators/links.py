"""must_link and cannot_link: pairs of rows, checked; and clusters of more than two that keep them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.labels import Links
from wellsvm.options import Options

__all__ = ["assign_apart", "links_of"]


def links_of(must_link: Any, cannot_link: Any, n_rows: int) -> Links | None:
    """The links between rows; None where there are none."""
    must, cannot = _pairs("must_link", must_link, n_rows), _pairs("cannot_link", cannot_link, n_rows)
    if must.size == cannot.size == 0:
        return None
    alone = cannot[:, 0] == cannot[:, 1]
    if alone.any():
        raise ValueError(f"cannot_link sets row {cannot[np.argmax(alone), 0]} apart from itself; remove this pair")
    return Links.of(n_rows, must, cannot)


def _pairs(name: str, pairs: Any, n_rows: int) -> IntArray:
    """Pairs of row numbers, of shape (n_pairs, 2)."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    try:
        array = np.asarray(sorted(pairs) if isinstance(pairs, (set, frozenset)) else pairs)
    except ValueError as error:
        raise ValueError(
            f"{name} must be pairs of row numbers, of shape (n_pairs, 2); got rows of uneven length"
        ) from error
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} must be pairs of row numbers, of shape (n_pairs, 2); got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, the rows of X from 0 on; got values of type {array.dtype}")
    bad = (array < 0) | (array >= n_rows)
    if bad.any():
        raise ValueError(
            f"{name} names row {array[bad][0]}, but X has rows 0 to {n_rows - 1}; count rows from 0, without "
            "negative numbers"
        )
    return array.astype(np.int64)


def assign_apart(values: FloatArray, links: Links, options: Options = Options()) -> IntArray:
    """The cluster of every row by the largest sum of values, rows tied together and components set apart.

    A component that is set apart from none goes where its sum is largest. Those that hang together by being set apart
    are assigned together: best first, and back where that leads nowhere, until all assignments are seen or a number of
    them (`Options.group_tries`) was tried.
    """
    n_clusters = values.shape[1]
    sums: FloatArray = np.zeros((links.n_components, n_clusters))
    np.add.at(sums, links.component, values)
    chosen = np.argmax(sums, axis=1)
    neighbours: dict[int, set[int]] = {}
    for a, b in links.apart:
        neighbours.setdefault(int(a), set()).add(int(b))
        neighbours.setdefault(int(b), set()).add(int(a))
    left = dict.fromkeys(neighbours)
    while left:
        members, stack = [], [next(iter(left))]
        while stack:
            node = stack.pop()
            if node in left:
                del left[node]
                members.append(node)
                stack.extend(neighbours[node])
        members.sort(key=lambda node: (-len(neighbours[node]), node))
        found = _best_colours(sums[members], [[members.index(n) for n in neighbours[m]] for m in members], options)
        if found is None:
            rows = sorted(int(np.flatnonzero(links.component == node)[0]) for node in members)
            raise ValueError(
                f"cannot_link sets rows {', '.join(map(str, rows[:10]))} apart from each other in a way that "
                f"n_clusters={n_clusters} clusters do not allow, or for which no clusters were found; drop some of "
                "these links, or raise n_clusters"
            )
        chosen[members] = found
    return _none_empty(chosen, sums, np.array(sorted(neighbours), dtype=np.int64))[links.component]


def _none_empty(chosen: IntArray, sums: FloatArray, apart: IntArray) -> IntArray:
    """Give an empty cluster the component it misses least, of those set apart from none."""
    for k in range(sums.shape[1]):
        sizes = np.bincount(chosen, minlength=sums.shape[1])
        if sizes[k]:
            continue
        lost = np.where(sizes[chosen] > 1, sums.max(axis=1) - sums[:, k], np.inf)
        lost[apart] = np.inf
        if not np.isfinite(lost).any():
            raise ValueError(
                f"the links leave no rows for one of the n_clusters={sums.shape[1]} clusters; drop some of them, or "
                "lower n_clusters"
            )
        chosen[np.argmin(lost)] = k
    return chosen


def _best_colours(sums: FloatArray, neighbours: list[list[int]], options: Options) -> IntArray | None:
    """The color of every node, unlike across edges, with the largest sum that is found; depth first, bounded."""
    n, order = len(sums), np.argsort(-sums, axis=1, kind="stable")
    bound = np.append(np.cumsum(sums.max(axis=1)[::-1])[::-1], 0.0)  # what is still to be had at most
    best: IntArray | None = None
    best_sum, tries = -np.inf, 0
    colours = np.full(n, -1)
    stack = [(0, 0, 0.0)]  # node, place in its order, sum of those before
    while stack and (best is None or tries < options.group_tries):
        node, place, total = stack.pop()
        colours[node:] = -1
        if node == n:
            continue
        if place + 1 < order.shape[1]:
            stack.append((node, place + 1, total))
        colour = order[node, place]
        tries += 1
        if tries > options.group_tries * n:
            break
        if any(colours[other] == colour for other in neighbours[node]):
            continue
        reached = total + sums[node, colour]
        if reached + bound[node + 1] <= best_sum:
            continue
        colours[node] = colour
        if node + 1 == n:
            best, best_sum = colours.copy(), reached
        else:
            stack.append((node + 1, 0, reached))
    return best
