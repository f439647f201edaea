"""Losses as the dual sees them: a box and a ridge for every row (see docs/math.md).

hinge            C max(0, 1 - m)            cap = C,    ridge = 0
squared hinge    C / 2 max(0, 1 - m)^2      cap = inf,  ridge = 1 / C
C = 0, in either: the row takes no part     cap = 0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wellsvm import native
from wellsvm._typing import BoolArray, FloatArray, IntArray
from wellsvm.options import Options

__all__ = ["LOSSES", "Losses", "pieces"]

LOSSES = ("hinge", "squared_hinge")


class Losses(NamedTuple):
    """Box and ridge of the dual, one entry per row."""

    cap: FloatArray
    ridge: FloatArray

    @classmethod
    def of(cls, loss: str, C: FloatArray) -> Losses:
        """Box and ridge for ``loss`` "hinge" or "squared_hinge" and one C per row."""
        C = np.asarray(C, dtype=np.float64)
        if loss == "hinge":
            return cls(C, np.zeros(C.shape))  # memory that is never written to is not taken
        used = C > 0
        return cls(np.where(used, np.inf, 0.0), np.divide(1.0, C, out=np.zeros_like(C), where=used))

    @property
    def prices(self) -> FloatArray:
        """C of every row."""
        return np.divide(1.0, self.ridge, out=self.cap.copy(), where=self.ridge > 0)

    def eased(self, rows: BoolArray, share: float | FloatArray) -> Losses:
        """The same with C of some ``rows`` at a share of what it is; one share, or one for every row, in an array that
        is written to."""
        share = np.full(rows.shape, share) if np.isscalar(share) else np.asarray(share)
        share[~rows] = 1.0
        return self.at_shares(share)

    def at_shares(self, share: FloatArray) -> Losses:
        """The same with C of every row at a share of what it is; the array is written to."""
        if self.ridge.all():  # no row has a box
            return Losses(self.cap, np.divide(self.ridge, share, out=share))
        ridge = self.ridge / share if self.ridge.any() else self.ridge
        boxed = np.any((self.cap > 0) & (self.cap < np.inf))
        return Losses(np.multiply(share, self.cap, out=share) if boxed else self.cap, ridge)

    def priced(self) -> IntArray | None:
        """The rows that have a price; None where all do, since their numbers would take 8 bytes each."""
        used = self.cap > 0
        return None if used.all() else np.flatnonzero(used)

    def carried(self, alpha: FloatArray, to: Losses, rise: bool = True) -> FloatArray:
        """Dual variables to begin with at other prices of the same loss: where its slack stays, a row's follows its
        price. Where all prices rise together slacks do not stay, and without ``rise`` none follows its price up."""
        carried = np.empty_like(alpha)
        native.backend.carry(alpha, *self, *to, rise, carried)
        return carried

    def total(self, margins: FloatArray, rows: IntArray | None) -> float:
        """Sum of the losses of ``rows``, all if None, at the given margins of all rows."""
        every = rows is None or rows.size == margins.size
        slack = 1.0 - (margins if every else margins[rows])
        np.maximum(0.0, slack, out=slack)
        cap, ridge = (self.cap, self.ridge) if every else (self.cap[rows], self.ridge[rows])
        if not ridge.any():
            return float(cap @ slack)
        if ridge.all():
            return 0.5 * float(np.sum(slack**2 / ridge))
        squared = ridge > 0
        hinge = np.where(squared, 0.0, cap) @ slack
        return float(hinge + 0.5 * np.sum(slack[squared] ** 2 / ridge[squared]))

    def dual_linear(self, alpha: FloatArray) -> float:
        """The part of the dual value that does not know the data: ``sum alpha - 1/2 sum ridge alpha^2``."""
        total = float(alpha.sum())
        return total - 0.5 * float(np.sum(self.ridge * alpha * alpha)) if self.ridge.any() else total


def pieces(n: int) -> Iterator[slice]:
    """Cut ``n`` rows: what is computed on the way is then never as long as the rows, which may not fit into memory."""
    return (slice(begin, begin + Options.vector_piece) for begin in range(0, n, Options.vector_piece))
