"""Shares of several classes at which a labeling runs between the rows: valley.py for more than two.

Each class in turn has its share moved, the others keep their proportions, and the rows are labeled anew at the shares
tried. As for two classes a share is the mean of those tried, weighed by

    normal density around the estimate   x   (neighbors parted / what cuts of these shares part)^-power

A class has a part of the border only, 2 / K of it on average, so that the power is 10 K / 2. All classes move from the
same shares, and then together. Where labels were collected class by class, and so say nothing about shares, these begin
halfway between the estimate and what the search predicts when it has been told the estimate.

Many labelings are compared, so each must cost little. They are those of a search like that of the fit, at rising
prices, but with squared losses: then one factor of one matrix serves all classes and all labels at a price
(docs/choices_shares.md).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax
from scipy.stats import norm

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.assignment import apportion, near_prices
from wellsvm.engine.neighborhood import Neighborhood
from wellsvm.options import Options
from wellsvm.rows.few import inner_products
from wellsvm.rows.landmarks import Landmarks

__all__ = ["shares_in_valleys"]


def shares_in_valleys(
    near: Neighborhood,
    shares: FloatArray,
    errors: FloatArray,
    collected: bool,
    rng: np.random.Generator,
    options: Options,
) -> FloatArray:
    """Shares of several classes, moved from the estimated ones to where labelings suit the rows.

    Parameters
    ----------
    near : Neighborhood
        Labeled rows, a sample of the unlabeled ones, their prices and their graph.
    shares, errors : arrays of shape (n_classes,)
        The estimate, and its standard errors.
    collected : bool
        Whether labels were collected class by class.
    rng : Generator
        Draws landmarks where rows have many columns.
    options : Options
        Constants.
    """
    # classes in the order of their first rows, so that their names do not count
    known = near.codes[near.codes >= 0]
    order = known[np.sort(np.unique(known, return_index=True)[1])]
    rank = np.argsort(order)
    codes = np.where(near.codes >= 0, rank[near.codes], near.codes)
    estimate, errors = shares[order], np.maximum(errors[order], options.trace)
    labels = _Labels(near._replace(codes=codes), estimate, rng, options)
    if collected:
        estimate = 0.5 * (estimate + labels.predicted())
        labels.settle(estimate)
    means = np.array([_mean_share(labels, k, estimate, errors, options) for k in range(estimate.size)])
    return np.asarray(means[rank] / means.sum())


def _mean_share(labels: _Labels, k: int, shares: FloatArray, errors: FloatArray, options: Options) -> float:
    """The mean of shares of class k around the estimated one, by their weights."""
    step = min(options.valley_step, 0.5 * float(errors[k]))
    steps = np.arange(-options.valleys_steps, options.valleys_steps + 1)
    # as for two classes, no share is brought nearer to 0 than half its estimate
    tried = np.clip(shares[k] + step * steps, 0.5 * shares[k], 0.5 + 0.5 * shares[k])
    power = 0.5 * shares.size * options.valley_power
    parted = np.array([labels.log_parted(_with(shares, k, share)) for share in tried])
    return float(softmax(-power * parted - 0.5 * ((tried - shares[k]) / errors[k]) ** 2) @ tried)


def _with(shares: FloatArray, k: int, share: float) -> FloatArray:
    """The same shares but for that of class k; the others keep their proportions."""
    moved = shares * ((1.0 - share) / max(1.0 - float(shares[k]), Options.trace))
    moved[k] = share
    return moved


class _Labels:
    """What a search with squared losses comes to at given shares."""

    def __init__(self, near: Neighborhood, shares: FloatArray, rng: np.random.Generator, options: Options) -> None:
        self.codes, self.options, self.n_classes = near.codes, options, shares.size
        self.roughly = options.but(assignment_sweeps=options.valleys_assigned)
        self.free = np.flatnonzero(near.codes < 0)
        self.Z = _points(near, rng, options)
        self.one, self.other = near.pairs()
        labeled = np.flatnonzero(near.codes >= 0)
        priced = self.Z * near.C[:, None]
        sides = [priced[rows].T @ self.Z[rows] for rows in (labeled, self.free)]
        self.of_labels = priced[labeled].T @ _targets(near.codes[labeled], shares.size)
        self.priced, self.prices = priced[self.free], np.zeros(shares.size)
        self.classes = np.zeros(self.free.size, dtype=np.int64)  # the present labels, ...
        self.of_free = self.priced.T @ _targets(self.classes, shares.size)  # ... and what they add to the functions
        # 1, and more where that were lost in rounding
        ridge = max(1.0, options.least_ridge * float(np.trace(sides[0]) + np.trace(sides[1])))
        sides[0][np.diag_indices_from(sides[0])] += ridge
        self.F = self.Z @ cho_solve(cho_factor(sides[0]), self.of_labels)
        for self.price in options.valleys_prices:
            self.factor = cho_factor(sides[0] + self.price * sides[1])
            self.settle(shares)

    def settle(self, shares: FloatArray) -> None:
        """Go on to the labels of these shares."""
        for _ in range(self.options.valleys_rounds):
            classes, self.prices = self._classes(self.F, shares)
            self.of_free, self.classes = self._added(classes), classes
            self.F = self._values(self.of_free)

    def predicted(self) -> FloatArray:
        """Shares of the classes that the functions predict, no class without a row."""
        counts = np.maximum(np.bincount(np.argmax(self.F[self.free], axis=1), minlength=self.n_classes), 1)
        return np.asarray(counts / counts.sum())

    def log_parted(self, shares: FloatArray) -> float:
        """Logarithm of the share of the neighbors that labels of these shares part, as a part of what cuts do."""
        classes, _ = self._classes(self.F, shares)
        codes = self.codes.copy()
        codes[self.free], _ = self._classes(self._values(self._added(classes)), shares)
        parted = float(np.mean(codes[self.one] != codes[self.other])) + self.options.valley_floor
        trace = self.options.trace
        return float(np.log(parted / norm.pdf(norm.ppf(np.clip(shares, trace, 1.0 - trace))).sum()))

    def _classes(self, F: FloatArray, shares: FloatArray) -> tuple[IntArray, FloatArray]:
        """Classes of the unlabeled rows by their values, in nearly these shares, and the prices of the classes."""
        of_free = F[self.free]
        prices = near_prices(of_free, apportion(shares, self.free.size), self.prices, self.roughly)
        return np.argmax(of_free - prices, axis=1), prices

    def _added(self, classes: IntArray) -> FloatArray:
        """What unlabeled rows of these classes add to the functions; most have the class that they have at present."""
        changed = np.flatnonzero(classes != self.classes)
        new, old = (_targets(codes[changed], self.n_classes) for codes in (classes, self.classes))
        return np.asarray(self.of_free + self.priced[changed].T @ (new - old))

    def _values(self, of_free: FloatArray) -> FloatArray:
        """Values of all rows under the functions of least squares."""
        return np.asarray(self.Z @ cho_solve(self.factor, self.of_labels + self.price * of_free))


def _targets(classes: IntArray, n_classes: int) -> FloatArray:
    """1 for the class of a row, -1 for the others."""
    Y = np.full((classes.size, n_classes), -1.0)
    Y[np.arange(classes.size), classes] = 1.0
    return Y


def _points(near: Neighborhood, rng: np.random.Generator, options: Options) -> FloatArray:
    """Rows as points of few dimensions, centered, with a constant as long as they are on average.

    Those of few columns are taken as they are; others, and rows under a kernel, by their products with landmarks.
    """
    rows, n = near.rows, near.codes.size
    X = rows.taken(np.arange(n)) if hasattr(rows, "taken") else None
    if X is None or sparse.issparse(X) or X.shape[1] > options.valleys_landmarks:
        K = inner_products(rows)
        chosen = np.sort(rng.permutation(n)[: options.valleys_landmarks])
        X = Landmarks(K[:, chosen], chosen, options).coordinates
    Z = np.empty((n, X.shape[1] + 1))
    Z[:, :-1] = X
    Z[:, :-1] -= Z[:, :-1].mean(axis=0)
    Z[:, -1] = np.sqrt(max(float(np.mean(np.einsum("ij,ij->i", Z[:, :-1], Z[:, :-1]))), options.trace))
    return Z
