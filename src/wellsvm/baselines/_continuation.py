"""Continuation (Chapelle, Chi, Zien, "A continuation method for semi-supervised SVMs", ICML 2006).

The objective of GradientS3VM has many local minima. Convolved with a wide Gaussian over w it has one; the width then
falls step by step to 0, each minimum the start of the next descent. For the loss of the unlabeled rows the convolution
is known: w spread by ``N(0, t I)`` spreads f_i by ``N(0, t q_i)``, ``q_i = ||phi_i||^2``, and

    mean of exp(-s f_i^2) = exp(-s f_i^2 / a_i) / sqrt(a_i),     a_i = 1 + 2 s t q_i

Regularizer and loss of the labeled rows are convex and stay as they are. The first width is the least at which the
whole is convex by its trace: ``C* sum_u 2 s q_i / a_i^(3/2) <= 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import sparse

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray
from wellsvm.baselines._features import Features
from wellsvm.baselines._gradient import SHARPNESS, GradientS3VM, SmoothLoss, smooth_losses
from wellsvm.labels import BalancedLabels

__all__ = ["ContinuationS3VM", "blurred_losses", "first_width"]

# Ratio of the first width to the last before 0.
SPAN = 1e4


class ContinuationS3VM(GradientS3VM):
    """Semi-supervised SVM by continuation, from a smoothed convex objective to the original one.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled, tol, random_state :
        As in GradientS3VM.
    n_prices : int, default=11
        Number of widths along the path; the last one is 0.

    Attributes
    ----------
    transduction_, history_ :
        As in GradientS3VM, with one minimum per width.
    """

    def _path(self, features: Features, labels: BalancedLabels) -> Iterator[SmoothLoss]:
        n_widths = whole_number("n_prices", self.n_prices, low=1)
        squares = squared_lengths(features)
        wide = first_width(squares[labels.free], self.C_unlabeled)
        for width in wide * np.geomspace(1.0, 1 / SPAN, n_widths - 1) if wide and n_widths > 1 else ():
            stretch = 1 + 2 * SHARPNESS * width * squares
            yield partial(blurred_losses, labels=labels, C=self.C, C_unlabeled=self.C_unlabeled, stretch=stretch)
        yield partial(smooth_losses, labels=labels, C=self.C, C_unlabeled=self.C_unlabeled)


def squared_lengths(features: Features) -> FloatArray:
    """``||phi_i - centre||^2`` of every row."""
    Phi, centre = features.Phi, features.centre
    own = Phi.multiply(Phi).sum(axis=1) if sparse.issparse(Phi) else np.einsum("ij,ij->i", Phi, Phi)
    squares = np.asarray(own, dtype=np.float64).ravel() - 2 * np.asarray(Phi @ centre) + centre @ centre
    return np.maximum(squares, 0.0)


def first_width(squares: FloatArray, C_unlabeled: float) -> float:
    """The least of 1e-6, 2e-6, 4e-6, ... at which the blurred objective is convex; 0 if it is without."""

    def concave(width: float) -> float:
        stretch = 1 + 2 * SHARPNESS * width * squares
        return float(C_unlabeled * np.sum(2 * SHARPNESS * squares / stretch**1.5))

    if concave(0.0) <= 1:
        return 0.0
    width = 1e-6
    while concave(width) > 1:
        width *= 2
    return width


def blurred_losses(
    f: FloatArray, labels: BalancedLabels, C: float, C_unlabeled: float, stretch: FloatArray
) -> tuple[float, FloatArray]:
    """`smooth_losses` with the loss of unlabeled rows convolved: ``stretch`` is a_i."""
    value, slope = smooth_losses(f, labels, C, 0.0)
    free = labels.free
    a, near = stretch[free], f[free]
    bumps = C_unlabeled * np.exp(-SHARPNESS * near**2 / a) / np.sqrt(a)
    slope[free] = -2 * SHARPNESS * near / a * bumps
    return value + float(bumps.sum()), slope
