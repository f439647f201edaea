"""Linked labels: no label is known, but some pairs of rows must share a cluster and some must not.

Links make groups: y is known in a group up to its sign, so that ``y_i = z_g s_i`` with a sign ``s_i`` of every row,
found by coloring the group with two colors, and one free sign ``z_g`` per group. A row without links is a group.

    B = {z s : low <= number of z_g = +1 <= high},   over the groups with more rows on one side than on the other

The balance counts groups, not rows: with groups of several sizes, counting rows would be a knapsack problem, while
this is a sort. A group with as many rows on one side as on the other does not touch the balance, and is free.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from wellsvm._typing import FloatArray, IntArray, LabelArray
from wellsvm.labels.base import LabelSet
from wellsvm.labels.clusters import ClusterLabels

__all__ = ["LinkedLabels", "Links"]


class Links(NamedTuple):
    """Rows tied together and components of them set apart, free of contradiction between the two.

    Attributes
    ----------
    component : int array of shape (n_rows,)
        Rows of the same component are tied, directly or by way of others; numbered by their first row.
    apart : int array of shape (n_pairs, 2)
        Pairs of components set apart.
    rows : int array of shape (n_pairs, 2)
        The rows that set them apart, for messages.
    """

    component: IntArray
    apart: IntArray
    rows: IntArray

    @classmethod
    def of(cls, n_rows: int, must: IntArray, cannot: IntArray) -> Links:
        """From pairs of rows; a pair both tied and set apart is refused."""
        component = _components(n_rows, must)
        apart = component[cannot].reshape(-1, 2)
        if np.any(clash := apart[:, 0] == apart[:, 1]):
            first, second = cannot[np.argmax(clash)]
            raise ValueError(
                f"cannot_link sets rows {first} and {second} apart, but must_link ties them together, directly or by "
                "way of other rows; drop one of these links"
            )
        return cls(component, apart, cannot)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.component.max(initial=-1)) + 1


class LinkedLabels(LabelSet):
    """Label vectors of two clusters that keep the links, and the balance among groups.

    Parameters
    ----------
    links : Links
        Rows tied and set apart.
    balance : float
        The numbers of groups on the two sides differ by at most this share of the groups that count.
    symmetric : bool, default=True
        As in `ClusterLabels`.

    Attributes
    ----------
    group, sign : arrays of shape (n_rows,)
        The group of every row, numbered by their first row, and its sign in it; the larger side of a group is positive.
    net : int array of shape (n_groups,)
        How many more rows a group has on its positive side.
    """

    def __init__(self, links: Links, balance: float, symmetric: bool = True) -> None:
        if not isinstance(links, Links):
            raise TypeError(f"links must be Links; got {links!r:.80}")
        self.links, self.n_instances, self.symmetric = links, links.component.size, symmetric
        colour, group = _two_colours(links)
        self.group, self.sign = group[links.component], colour[links.component].astype(np.int8)
        self.net: IntArray = np.bincount(self.group, weights=self.sign).astype(np.int64)
        self.sign = np.where(self.net[self.group] < 0, -self.sign, self.sign).astype(np.int8)
        self.net = np.abs(self.net)
        self._counted = np.flatnonzero(self.net > 0)
        if self.net.size == 1 and self.net[0] == self.n_instances:
            raise ValueError(
                f"must_link ties all {self.n_instances} rows together, which leaves one cluster; drop some of these "
                "links"
            )
        self.among_counted = ClusterLabels.of_share(self._counted.size, balance) if self._counted.size else None

    def group_scores(self, scores: FloatArray) -> FloatArray:
        """``sum_i s_i scores_i`` of every group: what its sign is worth."""
        return np.asarray(np.bincount(self.group, weights=self.sign * scores), dtype=np.float64)

    def linear_oracle(self, scores: FloatArray) -> LabelArray:
        """Contract the groups, then as in `ClusterLabels`: the ends are forced by the balance, the middle by sign."""
        worth = self.group_scores(scores)
        z = np.where(worth >= 0, 1, -1).astype(np.int8)
        if self.among_counted is not None:
            z[self._counted] = self.among_counted.linear_oracle(worth[self._counted])
        return z[self.group] * self.sign

    def halved(self, scores: FloatArray) -> LabelArray:
        """The groups in two halves by the mean scores of their rows, the balance as tight as can be."""
        worth = self.group_scores(scores)
        z = np.where(worth >= 0, 1, -1).astype(np.int8)
        z[self._counted] = ClusterLabels.halves(self._counted.size).linear_oracle(self.thresholds(scores)[0])
        return z[self.group] * self.sign

    def contains(self, y: LabelArray) -> bool:
        """Tell whether ``y`` keeps links and balance."""
        if not np.all(np.abs(y) == 1):
            return False
        _, first = np.unique(self.group, return_index=True)
        z = (y * self.sign)[first]
        kept = np.array_equal(z[self.group] * self.sign, y)
        return kept and (self.among_counted is None or self.among_counted.contains(z[self._counted]))

    def thresholds(self, scores: FloatArray) -> tuple[FloatArray, IntArray]:
        """The threshold b of f below which each group that counts is positive, ``sum_i s_i (f_i - b) > 0``; and these
        groups."""
        return self.group_scores(scores)[self._counted] / self.net[self._counted], self._counted


def _components(n: int, pairs: IntArray) -> IntArray:
    """The component of every node in the graph with these edges, numbered by their first node."""
    # a coo_array would keep int64 indices, of which SciPy 1.11 makes one component without an error
    edges = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    _, found = connected_components(edges, directed=False)
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].astype(np.int64)


def _two_colours(links: Links) -> tuple[IntArray, IntArray]:
    """+1 or -1 for every component, unlike across pairs set apart, and the group of every component.

    In the graph with two copies of every component, where a pair set apart joins unlike copies, both copies of a
    component hang together just where an odd cycle makes two colors impossible.
    """
    m, (a, b) = links.n_components, links.apart.T
    joined = np.column_stack([np.concatenate([a, b]), np.concatenate([b, a]) + m])
    copies = _components(2 * m, joined)
    if np.any(odd := copies[a] == copies[a + m]):
        first, second = links.rows[np.argmax(odd)]
        raise ValueError(
            f"the links contradict each other in two clusters: cannot_link sets rows {first} and {second} apart, but "
            "other links put them on the same side (an odd cycle); drop one of these links, or raise n_clusters"
        )
    group = _components(m, links.apart)
    _, first_of = np.unique(group, return_index=True)
    return np.where(copies[:m] == copies[:m][first_of][group], 1, -1), group
