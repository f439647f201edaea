"""Small sets without any download: scikit-learn's embedded data with hidden labels, and two moons."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.utils import Bunch, check_scalar

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
Seed = int | np.random.Generator | None

UNLABELED = -1
"""Marker of a hidden label in ``y_partial``, the one of :mod:`sklearn.semi_supervised`."""

_EMBEDDED: dict[str, Callable[[], Bunch]] = {
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}


def load_semi_supervised(name: str, n_labeled: int, *, stratify: bool = True, random_state: Seed = 0) -> Bunch:
    """Load a set embedded in scikit-learn and hide all labels but ``n_labeled``.

    Parameters
    ----------
    name : {"breast_cancer", "digits", "iris", "wine"}
        Which set.
    n_labeled : int
        Number of rows that keep their label: 1 to n_samples, and with ``stratify`` at least one per class.
    stratify : bool, default=True
        Keep the class shares among the labeled rows. If False, rows are drawn at random, so a class may be missing.
    random_state : int, Generator or None, default=0
        Seed of the choice of rows.

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features), as distributed, not scaled; ``y`` (n_samples,) true labels 0..K-1;
        ``y_partial`` (n_samples,) the labels with -1 where hidden (for two classes pass ``unlabeled=-1`` to
        the estimator, so that -1 cannot be taken for a class); ``labeled`` (n_samples,) bool;
        ``feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from wellsvm.datasets import load_semi_supervised
    >>> data = load_semi_supervised("iris", 6)
    >>> data.X.shape, int(data.labeled.sum())
    ((150, 4), 6)
    """
    data = load_clustering(name)
    labeled = _choose_labeled(data.y, n_labeled, stratify, np.random.default_rng(random_state))
    data.update(y_partial=np.where(labeled, data.y, UNLABELED), labeled=labeled)
    return data


def load_clustering(name: str) -> Bunch:
    """Load a set embedded in scikit-learn for clustering.

    Parameters
    ----------
    name : {"breast_cancer", "digits", "iris", "wine"}
        Which set.

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features), as distributed: scale it where the features have different units; ``y``
        (n_samples,) classes 0..K-1, for evaluation only; ``feature_names``, ``target_names``, ``DESCR``.
    """
    if name not in _EMBEDDED:
        raise ValueError(f"name={name!r} is not one of {sorted(_EMBEDDED)}; for UCI sets see fetch_uci")
    raw = _EMBEDDED[name]()
    return Bunch(
        X=raw.data,
        y=raw.target.astype(np.int64),
        feature_names=list(raw.feature_names),
        target_names=raw.target_names,
        DESCR=raw.DESCR,
    )


def make_digit_bags(
    target: int = 3,
    n_bags: int = 100,
    bag_size: int = 8,
    *,
    positive_fraction: float = 0.5,
    random_state: Seed = 0,
) -> Bunch:
    """Build bags of handwritten digits; a bag is positive if it contains the target digit.

    Images come from scikit-learn's ``load_digits``. A positive bag contains one to ``max(1, bag_size // 4)`` images of
    the target at random positions; a negative bag contains none. No image is used twice as long as there are enough of
    them.

    Parameters
    ----------
    target : int, default=3
        The digit to find, 0 to 9.
    n_bags : int, default=100
        Number of bags, at least 2.
    bag_size : int, default=8
        Images per bag, at least 1.
    positive_fraction : float, default=0.5
        Share of positive bags, in [0, 1].
    random_state : int, Generator or None, default=0
        Seed.

    Returns
    -------
    data : Bunch
        With n = n_bags * bag_size: ``X`` (n, 64) gray values 0..16; ``groups`` (n,) bag number of each image,
        0..n_bags-1 in order; ``y`` (n_bags,) -1 or +1 per bag; ``roi`` (n,) 1 where the image is the target,
        else 0; ``digit`` (n,) true digits; ``target``, ``DESCR``.
    """
    check_scalar(target, "target", Integral, min_val=0, max_val=9)
    check_scalar(n_bags, "n_bags", Integral, min_val=2)
    check_scalar(bag_size, "bag_size", Integral, min_val=1)
    check_scalar(positive_fraction, "positive_fraction", Real, min_val=0, max_val=1)
    rng = np.random.default_rng(random_state)
    X, digit = load_digits(return_X_y=True)
    y = np.where(np.arange(n_bags) < round(positive_fraction * n_bags), 1, -1)
    rng.shuffle(y)
    n_target = np.where(y > 0, rng.integers(1, max(1, bag_size // 4) + 1, n_bags), 0)
    roi = np.arange(bag_size) < n_target[:, None]
    roi = rng.permuted(roi, axis=1).ravel()
    rows = np.empty(roi.size, dtype=np.int64)
    rows[roi] = _draw_rows(np.flatnonzero(digit == target), int(roi.sum()), rng)
    rows[~roi] = _draw_rows(np.flatnonzero(digit != target), int((~roi).sum()), rng)
    return Bunch(
        X=X[rows],
        groups=np.repeat(np.arange(n_bags), bag_size),
        y=y.astype(np.int64),
        roi=roi.astype(np.int64),
        digit=digit[rows].astype(np.int64),
        target=int(target),
        DESCR=f"{n_bags} bags of {bag_size} digit images; a bag is positive if it contains a {target}.",
    )


def make_two_moons(
    n_samples: int = 200,
    n_labeled: int = 2,
    noise: float = 0.1,
    n_features: int = 2,
    *,
    random_state: Seed = None,
) -> Bunch:
    """Generate two interleaved half circles with a few labels, optionally hidden in a larger space.

    With ``n_features`` above 2, coordinates of pure noise are added, and the result is rotated by a random
    orthogonal matrix, so that no single feature shows the moons. ``n_features=102`` has the shape of
    the "2moons" set (200 x 102) of Chapelle and Zien (2005), which was not found; it is not that set.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points, half of them per moon.
    n_labeled : int, default=2
        Number of labels kept, at least one per moon.
    noise : float, default=0.1
        Standard deviation of the Gaussian noise on every coordinate.
    n_features : int, default=2
        Dimension, at least 2.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``X`` (n_samples, n_features), ``y`` (n_samples,) 0 or 1, ``y_partial`` (n_samples,) with -1 where
        hidden (pass ``unlabeled=-1`` to the estimator), ``labeled`` (n_samples,) bool, ``DESCR``.
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=2)
    check_scalar(noise, "noise", Real, min_val=0)
    check_scalar(n_features, "n_features", Integral, min_val=2)
    rng = np.random.default_rng(random_state)
    plane, y = make_moons(n_samples, shuffle=False)
    X = np.zeros((n_samples, n_features))
    X[:, :2] = plane
    X += noise * rng.standard_normal(X.shape)
    if n_features > 2:
        X = X @ _random_orthogonal(n_features, rng)
    order = rng.permutation(n_samples)
    X, y = X[order], y[order].astype(np.int64)
    labeled = _choose_labeled(y, n_labeled, True, rng)
    y_partial = np.where(labeled, y, UNLABELED)
    return Bunch(X=X, y=y, y_partial=y_partial, labeled=labeled, DESCR="Two interleaved half circles.")


def _choose_labeled(y: IntArray, n_labeled: int, stratify: bool, rng: np.random.Generator) -> BoolArray:
    """Mask of the rows that keep their label."""
    _, y, class_sizes = np.unique(y, return_inverse=True, return_counts=True)
    lowest = len(class_sizes) if stratify else 1
    if not isinstance(n_labeled, Integral) or not lowest <= n_labeled <= len(y):
        raise ValueError(
            f"n_labeled={n_labeled!r} must be an integer from {lowest} ({len(class_sizes)} classes, "
            f"stratify={stratify}) to {len(y)} (n_samples)"
        )
    labeled = np.zeros(len(y), dtype=bool)
    order = rng.permutation(len(y))
    if not stratify:
        labeled[order[:n_labeled]] = True
        return labeled
    for class_, quota in enumerate(_quotas(class_sizes, int(n_labeled))):
        labeled[order[y[order] == class_][:quota]] = True
    return labeled


def _quotas(class_sizes: IntArray, total: int) -> IntArray:
    """Split ``total`` in proportion to the class sizes, at least 1 and at most the class size each."""
    ideal = total * class_sizes / class_sizes.sum()
    quotas: IntArray = np.maximum(1, np.floor(ideal)).astype(np.int64)
    while quotas.sum() < total:  # largest remainder first; a full class cannot be behind its ideal
        quotas[np.argmax(ideal - quotas)] += 1
    while quotas.sum() > total:  # the minimum of 1 has overdrawn: the class furthest ahead gives back
        quotas[np.argmax(np.where(quotas > 1, quotas - ideal, -np.inf))] -= 1
    return quotas


def _draw_rows(candidates: IntArray, n_rows: int, rng: np.random.Generator) -> IntArray:
    """``n_rows`` of the candidates in random order, none again before all were used."""
    rounds = -(-n_rows // len(candidates))
    return np.concatenate([rng.permutation(candidates) for _ in range(max(1, rounds))])[:n_rows]


def _random_orthogonal(size: int, rng: np.random.Generator) -> FloatArray:
    """Draw a uniform orthogonal matrix: QR of a Gaussian one, signs fixed by R's diagonal."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return np.asarray(q * np.sign(np.diag(r)))
