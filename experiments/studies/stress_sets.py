"""Problems on which no default was chosen: what users bring, drawn anew each time.

Texts and images in few latent dimensions, random Fourier features, small tables, clusters that are several to a class
or none, unequal classes, heavy tails, columns of mixed kinds, and unlabeled rows of a class that nobody has labeled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles, make_classification, make_moons
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import normalize

from experiments.data_sets import load_set

__all__ = ["PROBLEMS", "SETS", "Drawn", "Problem", "drawn"]

N_ROWS, N_LATENT_ROWS, N_STRANGERS = 700, 4000, 100


class Drawn(NamedTuple):
    """Rows and classes 0, 1, ... of a draw, and unlabeled rows of none of them."""

    X: np.ndarray
    y: np.ndarray
    strangers: np.ndarray | None = None


class Problem(NamedTuple):
    """A problem: what draws its rows, and how columns are scaled, as `experiments.splits` calls it."""

    draw: Callable[[np.random.Generator], Drawn]
    scale: str = "none"
    dtype: str = "float64"


def drawn(name: str, draw: int) -> Drawn:
    """Rows of a draw, at most as many as `N_ROWS`, and strangers."""
    rng = np.random.default_rng([list(PROBLEMS).index(name), draw])
    X, y, strangers = PROBLEMS[name].draw(rng)
    rows = rng.permutation(y.size)[:N_ROWS]
    return Drawn(X[rows], np.unique(y, return_inverse=True)[1][rows], strangers)


# ------------------------------------------------------------------ stored sets, in other coordinates


@cache
def _latent(name: str, n_columns: int) -> Drawn:
    """Texts by their latent dimensions, as rows of length 1; rows without a class are left out."""
    stored = load_set(name)
    rows = np.flatnonzero(stored.y)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:N_LATENT_ROWS])
    X = TruncatedSVD(n_columns, random_state=0).fit_transform(stored.X[rows])
    return Drawn(normalize(X), np.asarray(stored.y)[rows])


@cache
def _components(name: str, n_columns: int, classes: tuple[int, ...]) -> Drawn:
    """Rows of some classes by their principal components; of all classes if none is named."""
    stored = load_set(name)
    y = np.asarray(stored.y)
    rows = np.flatnonzero(np.isin(y, classes or np.unique(y)))
    return Drawn(PCA(n_columns, random_state=0).fit_transform(stored.X[rows]), y[rows])


@cache
def _fourier(name: str, n_columns: int, classes: tuple[int, ...]) -> Drawn:
    """The same by random Fourier features of a Gaussian kernel of the usual width."""
    X, y, _ = _components(name, 100, classes)
    sampler = RBFSampler(gamma=0.5 / float(X.var(axis=0).sum()), n_components=n_columns, random_state=0)
    return Drawn(sampler.fit_transform(X), y)


def _stored(make: Callable[..., Drawn], *arguments: Any) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: make(*arguments)


def _table(load: Callable[[], Any]) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: Drawn(load().data, load().target)


def _digits(rng: np.random.Generator) -> Drawn:
    digits = load_set("digits")
    return Drawn(np.asarray(digits.X, dtype=np.float64), np.asarray(digits.y))


def _topic_groups(rng: np.random.Generator) -> Drawn:
    """Embeddings of seven topics in two groups, other ones in each draw."""
    stored = load_set("emb_topics")
    return Drawn(stored.X, np.isin(stored.y, rng.permutation(7)[:3]).astype(int))


def _census(rng: np.random.Generator) -> Drawn:
    """Binary columns, 24 % of the rows in the second class."""
    stored = load_set("sparse_a9a")
    rows = rng.permutation(stored.y.size)[:N_ROWS]
    return Drawn(stored.X[rows].toarray(), np.asarray(stored.y)[rows])


def _one_in_ten(rng: np.random.Generator) -> Drawn:
    """One digit and nine times as many rows of the others."""
    X, y, _ = _components("usps_digits", 50, ())
    one = rng.permutation(np.flatnonzero(y == 8))[: N_ROWS // 10]
    others = rng.permutation(np.flatnonzero(y != 8))[: 9 * N_ROWS // 10]
    rows = np.append(one, others)
    return Drawn(X[rows], (y[rows] == 8).astype(int))


def _with_strangers(rng: np.random.Generator) -> Drawn:
    """Two digits, and unlabeled rows of a third."""
    X, y, _ = _components("usps_digits", 50, (3, 5, 8))
    third = rng.permutation(np.flatnonzero(y == 5))[:N_STRANGERS]
    return Drawn(X[y != 5], y[y != 5], X[third])


# ------------------------------------------------------------------ generated


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _several_clusters(rng: np.random.Generator) -> Drawn:
    """Three classes of two clusters each."""
    return Drawn(
        *make_classification(
            N_ROWS, 25, n_informative=8, n_classes=3, n_clusters_per_class=2, class_sep=1.5, random_state=_seed(rng)
        )
    )


def _wide_clusters(rng: np.random.Generator) -> Drawn:
    """Two classes of three clusters each, in a hundred columns."""
    return Drawn(
        *make_classification(
            N_ROWS, 100, n_informative=10, n_clusters_per_class=3, class_sep=1.5, random_state=_seed(rng)
        )
    )


def _rare_cloud(rng: np.random.Generator) -> Drawn:
    """A cloud of one row in twenty beside a wide one."""
    y = (np.arange(N_ROWS) % 20 == 0).astype(int)
    X = rng.standard_normal((N_ROWS, 15))
    X[y == 1] = 0.7 * X[y == 1] + 2.5 * normalize(rng.standard_normal((1, 15)))
    return Drawn(X, y)


def _heavy_columns(rng: np.random.Generator) -> Drawn:
    """Amounts: log-normal columns, a few of which are larger in one class."""
    y = (rng.random(N_ROWS) < 0.35).astype(int)
    logs = rng.standard_normal((N_ROWS, 12)) @ (np.eye(12) + 0.3 * rng.standard_normal((12, 12)))
    logs[:, :4] += 0.8 * y[:, None]
    return Drawn(np.exp(logs), y)


def _cover(rng: np.random.Generator) -> Drawn:
    """Four unequal classes that follow a height, angles and soils, which are columns of 0 and 1."""
    height, slope = 3.0 * rng.random(N_ROWS), rng.gamma(2.0, 0.5, N_ROWS)
    soil = rng.integers(8, size=N_ROWS)
    wet = rng.standard_normal(N_ROWS) + 0.3 * soil
    score = np.stack([1.5 - height, height - 1.2 + 0.2 * wet, 0.8 * wet - 1.8, slope - 2.0], axis=1)
    y = np.argmax(score + 0.4 * rng.gumbel(size=score.shape), axis=1)
    noise = rng.standard_normal((N_ROWS, 4))
    return Drawn(np.column_stack([height, slope, wet, noise, np.eye(8)[soil]]), y)


def _of_seed(make: Callable[[int], Sequence[np.ndarray]]) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: Drawn(*make(_seed(rng)))


PROBLEMS: dict[str, Problem] = {
    "news20, 100 latent": Problem(_stored(_latent, "text_news20", 100)),
    "debian, 300 latent": Problem(_stored(_latent, "text_debian", 300)),
    "relathe, 50 latent": Problem(_stored(_latent, "text_relathe", 50)),
    "imdb, 100 latent": Problem(_stored(_latent, "text_imdb", 100)),
    "topics in two groups": Problem(_topic_groups, dtype="float32"),
    "usps, 30 components": Problem(_stored(_components, "usps_digits", 30, ()), "overall", "float32"),
    "usps 3 5 8, Fourier": Problem(_stored(_fourier, "lds_uspst", 300, (3, 5, 8))),
    "coil20, 40 components": Problem(_stored(_components, "lds_coil20", 40, (0, 2, 4, 5, 8, 18)), "overall"),
    "spoken letters": Problem(_stored(_components, "isolet1_letters", 60, (2, 3, 4, 5, 7, 16))),
    "digits": Problem(_digits, "overall"),
    "one digit in ten": Problem(_one_in_ten),
    "digits and strangers": Problem(_with_strangers),
    "wine": Problem(_table(load_wine), "features"),
    "breast_cancer": Problem(_table(load_breast_cancer), "features"),
    "iris": Problem(_table(load_iris), "features"),
    "census": Problem(_census),
    "several clusters": Problem(_several_clusters, "features"),
    "wide clusters": Problem(_wide_clusters, "features"),
    "noisy moons": Problem(_of_seed(lambda seed: make_moons(N_ROWS, noise=0.25, random_state=seed))),
    "noisy circles": Problem(_of_seed(lambda seed: make_circles(N_ROWS, noise=0.15, factor=0.5, random_state=seed))),
    "rare cloud": Problem(_rare_cloud),
    "heavy columns": Problem(_heavy_columns, "features"),
    "cover": Problem(_cover, "features"),
}
SETS = (
    "text_news20", "text_debian", "text_relathe", "text_imdb", "emb_topics", "usps_digits", "lds_uspst", "lds_coil20",
    "isolet1_letters", "sparse_a9a",
)  # fmt: skip
