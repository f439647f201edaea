"""Coordinates in which f is linear, for a search that moves f itself: features, or leading coordinates of a kernel.

Few rows of very many features span fewer dimensions than they have features: then the coordinates are in their span.

Under a kernel they are Nystroem's (landmarks.py), the leading ones only: where all rows are landmarks these are the
leading eigenvectors of the kernel matrix. A row that is labeled has no direction of its own there, so f cannot fit its
label without moving its neighbors.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.few import inner_products
from wellsvm.rows.gram import GramRows
from wellsvm.rows.landmarks import Landmarks
from wellsvm.threads import slices

__all__ = ["Coordinates", "FeatureCoordinates", "KernelCoordinates", "coordinates_of"]


class Coordinates(Protocol):
    """Rows as points z_j of a space of ``n_coordinates`` dimensions."""

    n_coordinates: int

    def values(self, w: FloatArray) -> FloatArray:
        """``w'z_j`` of every row."""

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j z_j``."""

    def coefficients(self, w: FloatArray) -> FloatArray:
        """The function ``w'z`` in the form that the rows keep."""

    def constant(self, w: FloatArray) -> float:
        """What these coefficients stand for besides ``w'z``: the constant feature's part."""

    def part(self, chosen: IntArray) -> Self:
        """The coordinates of some rows, in the same space."""


class FeatureCoordinates:
    """The features of linear rows, in memory or in blocks."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.n_coordinates = rows.combine(np.zeros((rows.n_instances, 1))).shape[0] - 1

    def values(self, w: FloatArray) -> FloatArray:
        """``w'x_j`` of every row."""
        return self.rows.scores(self.coefficients(w)[:, None])[:, 0]

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j x_j``."""
        return self.rows.combine(coef[:, None])[:-1, 0]

    def coefficients(self, w: FloatArray) -> FloatArray:
        """The weights, and 0 for the constant feature."""
        return np.append(w, 0.0)

    def constant(self, w: FloatArray) -> float:
        """Nothing."""
        return 0.0

    def part(self, chosen: IntArray) -> FeatureCoordinates:
        """The features of some rows."""
        return FeatureCoordinates(self.rows.part(chosen))


class KernelCoordinates:
    """The leading coordinates of landmarks; ``Z`` holds those of the rows, one row each, ``bias`` is theirs."""

    def __init__(self, landmarks: Landmarks, Z: FloatArray, bias: float) -> None:
        self.landmarks, self.Z, self.bias, self.n_coordinates = landmarks, Z, bias, Z.shape[1]

    def values(self, w: FloatArray) -> FloatArray:
        """``w'z_j`` of every row, in pieces: an interrupt acts between two of them."""
        values = np.empty(self.Z.shape[0])
        for begin, end in slices(values.size, self.n_coordinates):
            np.dot(self.Z[begin:end], w, out=values[begin:end])
        return values

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j z_j``."""
        return np.asarray(coef @ self.Z)

    def coefficients(self, w: FloatArray) -> FloatArray:
        """One coefficient for every row; only those of landmarks differ from 0."""
        return np.asarray(self.landmarks.expansion(w[None])[0])

    def constant(self, w: FloatArray) -> float:
        """Rows under a kernel add it to every coefficient."""
        return self.bias**2 * float(self.coefficients(w).sum())

    def part(self, chosen: IntArray) -> KernelCoordinates:
        """The coordinates of some rows. Functions are still given by coefficients of all of them."""
        return KernelCoordinates(self.landmarks, np.ascontiguousarray(self.Z[chosen]), self.bias)


class SpanCoordinates(KernelCoordinates):
    """Coordinates in the span of linear rows, where f is: an orthonormal basis in place of the features."""

    def __init__(self, rows: Rows, landmarks: Landmarks, Z: FloatArray) -> None:
        super().__init__(landmarks, Z, 0.0)
        self.rows = rows

    def coefficients(self, w: FloatArray) -> FloatArray:
        """Weights of the features, and 0 for the constant feature."""
        weights = self.rows.combine(super().coefficients(w)[:, None])[:, 0]
        weights[-1] = 0.0
        return weights

    def constant(self, w: FloatArray) -> float:
        """Nothing."""
        return 0.0

    def part(self, chosen: IntArray) -> SpanCoordinates:
        """The coordinates of some rows. Functions are still given by all of them."""
        return SpanCoordinates(self.rows, self.landmarks, np.ascontiguousarray(self.Z[chosen]))


def coordinates_of(
    rows: Rows, labeled: IntArray, rng: np.random.Generator, options: Options = Options()
) -> FeatureCoordinates | KernelCoordinates:
    """Coordinates for rows; under a kernel ``labeled`` rows are landmarks first, as far as half of these go."""
    n, most = rows.n_instances, options.smooth_landmarks
    chosen = np.arange(n)
    if not isinstance(rows, GramRows):
        features = FeatureCoordinates(rows)
        if n > options.span_rows or features.n_coordinates * options.span_saving < n * n:
            return features
        span = Landmarks(inner_products(rows), chosen, options)
        return SpanCoordinates(rows, span, span.coordinates)
    if n > most:
        own = labeled if 2 * labeled.size <= most else rng.choice(labeled, most // 2, replace=False)
        others = np.setdiff1d(chosen, own)
        chosen = np.sort(np.append(own, rng.choice(others, most - own.size, replace=False)))
    landmarks = Landmarks(rows.columns(chosen), chosen, options, options.smooth_coordinates)
    return KernelCoordinates(landmarks, landmarks.coordinates.astype(np.float64, copy=False), rows.bias)
