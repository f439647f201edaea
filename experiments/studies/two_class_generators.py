"""Generated sets of two classes: some whose clusters are the classes, and some whose clusters are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_circles, make_classification, make_gaussian_quantiles, make_moons

__all__ = ["GENERATORS", "generate"]

N_ROWS = 500
Set = tuple[np.ndarray, np.ndarray]


def _no_margin(rng: np.random.Generator) -> Set:
    X = rng.standard_normal((N_ROWS, 10))
    return X, (X @ rng.standard_normal(10) > 0).astype(int)


def _clusters_across(rng: np.random.Generator) -> Set:
    """Two clear clusters along one feature, the classes along another."""
    X = rng.standard_normal((N_ROWS, 10))
    X[:, 0] += 4 * np.sign(rng.standard_normal(N_ROWS))
    return X, (X[:, 1] + 0.3 * rng.standard_normal(N_ROWS) > 0).astype(int)


def _four_clusters(rng: np.random.Generator) -> Set:
    """Opposite ones of four clusters are a class."""
    a, b = np.sign(rng.standard_normal((2, N_ROWS)))
    X = rng.standard_normal((N_ROWS, 6))
    X[:, :2] += 2.5 * np.stack([a, b], axis=1)
    return X, (a * b > 0).astype(int)


def _heavy_tails(rng: np.random.Generator) -> Set:
    y = (rng.random(N_ROWS) < 0.4).astype(int)
    X = rng.standard_t(2.5, (N_ROWS, 12))
    X[:, :3] += 1.2 * (2 * y[:, None] - 1)
    return X, y


def _binary(rng: np.random.Generator) -> Set:
    y = (rng.random(N_ROWS) < 0.5).astype(int)
    chances = np.where(y[:, None] == 1, rng.random(20), rng.random(20))
    return (rng.random((N_ROWS, 20)) < chances).astype(float), y


def _near_clusters(rng: np.random.Generator) -> Set:
    """Four clusters in many dimensions; each class has one of both far pairs."""
    centres, apart, cluster = rng.standard_normal((2, 60)), rng.standard_normal(60), rng.integers(4, size=N_ROWS)
    means = 0.45 * np.stack([centres[0], centres[0] + apart, centres[1], centres[1] + apart])
    return means[cluster] + rng.standard_normal((N_ROWS, 60)), cluster % 2


def _two_clouds(rng: np.random.Generator) -> Set:
    y = (rng.random(N_ROWS) < 0.5).astype(int)
    return rng.standard_normal((N_ROWS, 40)) + (2 * y[:, None] - 1) * 0.35 * rng.standard_normal(40), y


def _rare_clusters(rng: np.random.Generator) -> Set:
    """Six clusters, of which the three small ones are a class."""
    cluster = rng.choice(6, N_ROWS, p=[0.3, 0.25, 0.25, 0.08, 0.07, 0.05])
    X = 1.6 * rng.standard_normal((6, 12))[cluster] + 0.8 * rng.standard_normal((N_ROWS, 12))
    return X, (cluster >= 3).astype(int)


def _seeded(make: Callable[[int], Set]) -> Callable[[np.random.Generator], Set]:
    return lambda rng: make(int(rng.integers(2**31)))


GENERATORS: dict[str, Callable[[np.random.Generator], Set]] = {
    "moons": _seeded(lambda seed: make_moons(N_ROWS, noise=0.15, random_state=seed)),
    "circles": _seeded(lambda seed: make_circles(N_ROWS, noise=0.1, factor=0.5, random_state=seed)),
    "quantiles": _seeded(
        lambda seed: make_gaussian_quantiles(n_samples=N_ROWS, n_features=4, n_classes=2, random_state=seed)
    ),
    "informative": _seeded(
        lambda seed: make_classification(N_ROWS, 20, n_informative=5, class_sep=1.5, random_state=seed)
    ),
    "many clusters": _seeded(
        lambda seed: make_classification(N_ROWS, 20, n_informative=8, n_clusters_per_class=4, random_state=seed)
    ),
    "unequal classes": _seeded(
        lambda seed: make_classification(N_ROWS, 15, n_informative=6, weights=[0.8], random_state=seed)
    ),
    "no margin": _no_margin,
    "clusters across": _clusters_across,
    "four clusters": _four_clusters,
    "heavy tails": _heavy_tails,
    "binary": _binary,
    "near clusters": _near_clusters,
    "two clouds": _two_clouds,
    "rare clusters": _rare_clusters,
}


def generate(name: str, draw: int) -> Set:
    """Rows and classes of a draw."""
    return GENERATORS[name](np.random.default_rng([list(GENERATORS).index(name), draw]))
