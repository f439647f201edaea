"""Clusters of unequal sizes, spreads and shapes, beside k-means; adjusted Rand index at the defaults.

clustering_sizes has mostly more than two clusters; clustering_two_sizes has two, of which one may be small. There are
generated clusters in 2 to 50 dimensions, and draws of real sets with classes of unequal sizes. clustering_topic_pairs
has every two topics of sentence embeddings. Even seeds chose the defaults of more than two clusters, odd seeds confirm
them; the rule of two was chosen on seeds 0 to 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from experiments.data_sets import load_set
from experiments.internals import FloatArray, IntArray
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts
from wellsvm import MaxMarginClustering

__all__ = ["SIZE_STUDIES"]

SEEDS = 8
BEHIND = 0.02  # a fit counts as behind k-means from here on
METHODS: dict[str, Callable[[int, int], Any]] = {
    "KMeans, n_init=10": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "linear": lambda k, seed: MaxMarginClustering(k, random_state=seed),
    "rbf": lambda k, seed: MaxMarginClustering(k, kernel="rbf", random_state=seed),
}

# ------------------------------------------------------------------ generated clusters

# Sizes, dimensions, least distance of two centers; standard deviations and how far stretched, where not 1.
GENERATED: dict[str, dict[str, Any]] = {
    "150/60/30, 2-D": {"sizes": (150, 60, 30), "d": 2, "apart": 4.0},
    "150/60/30, 10-D": {"sizes": (150, 60, 30), "d": 10, "apart": 4.0},
    "300/30/30, 2-D": {"sizes": (300, 30, 30), "d": 2, "apart": 5.0},
    "300/30/30, 20-D": {"sizes": (300, 30, 30), "d": 20, "apart": 5.0},
    "500/50/50/20, 5-D": {"sizes": (500, 50, 50, 20), "d": 5, "apart": 5.0},
    "500/50/50/20, 50-D": {"sizes": (500, 50, 50, 20), "d": 50, "apart": 6.0},
    "5 x 100, 5-D": {"sizes": (100,) * 5, "d": 5, "apart": 4.0},
    "3 x 100, 2-D": {"sizes": (100,) * 3, "d": 2, "apart": 3.0},
    "3 x 100, spreads 0.5/1/2": {"sizes": (100,) * 3, "d": 3, "apart": 5.0, "spreads": (0.5, 1.0, 2.0)},
    "200/60/40, spreads 1.5/0.7/0.7": {"sizes": (200, 60, 40), "d": 5, "apart": 5.0, "spreads": (1.5, 0.7, 0.7)},
    "3 x 100, stretched": {"sizes": (100,) * 3, "d": 3, "apart": 6.0, "stretched": 3.0},
    "200/80/40, stretched": {"sizes": (200, 80, 40), "d": 6, "apart": 6.0, "stretched": 3.0},
    "200/40, 4-D": {"sizes": (200, 40), "d": 4, "apart": 4.0},
    "200 to 20 in eight, 8-D": {"sizes": (200, 150, 100, 80, 60, 40, 30, 20), "d": 8, "apart": 5.0},
}


def generated(
    sizes: Sequence[int],
    d: int,
    apart: float,
    seed: int,
    spreads: Sequence[float] | None = None,
    stretched: float = 1.0,
) -> tuple[FloatArray, IntArray]:
    """Normal clusters around random centers, each stretched along a random direction of its own."""
    rng = np.random.default_rng([seed, len(sizes), d])
    while True:
        centres = rng.standard_normal((len(sizes), d))
        distances = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=-1))
        np.fill_diagonal(distances, np.inf)
        if d > 5 or distances.min() > 0.8:  # else two of them nearly coincide, and the others lie far off
            break
    centres *= apart / distances.min()
    rows = []
    for k, size in enumerate(sizes):
        noise = rng.standard_normal((size, d)) * (1.0 if spreads is None else spreads[k])
        if stretched != 1.0:
            direction = rng.standard_normal(d)
            direction /= np.linalg.norm(direction)
            noise += (stretched - 1.0) * (noise @ direction)[:, None] * direction
        rows.append(centres[k] + noise)
    order = rng.permutation(sum(sizes))
    return np.vstack(rows)[order], np.repeat(np.arange(len(sizes)), sizes)[order]


# ------------------------------------------------------------------ draws of real sets

# A set of the data folder or of scikit-learn, and rows of so many random classes; None: eight of ten rows.
DRAWN: dict[str, tuple[str, tuple[int, ...] | None]] = {
    "digits 150/80/40": ("digits", (150, 80, 40)),
    "digits 170/100/60/30/20": ("digits", (170, 100, 60, 30, 20)),
    "digits 6 x 100": ("digits", (100,) * 6),
    "USPS 400/150/60": ("usps_digits", (400, 150, 60)),
    "USPS 300/200/100/60/40/30": ("usps_digits", (300, 200, 100, 60, 40, 30)),
    "topics 400/200/80": ("emb_topics", (400, 200, 80)),
    "topics 300/300/150/100/60": ("emb_topics", (300, 300, 150, 100, 60)),
    "letters 60/60/40/20": ("isolet1_letters", (60, 60, 40, 20)),
    "iris": ("iris", None),
    "wine, scaled": ("wine", None),
    "COIL 72/60/50/40/20/15": ("lds_coil20", (72, 60, 50, 40, 20, 15)),
}


@cache
def _whole(name: str) -> tuple[FloatArray, IntArray]:
    if name == "iris":
        return load_iris(return_X_y=True)
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    data = load_set(name)
    return data.X, data.y


def drawn(name: str, sizes: tuple[int, ...] | None, seed: int) -> tuple[FloatArray, IntArray]:
    """Rows of random classes, so many of each."""
    X, y = _whole(name)
    if sizes is None:
        rows = np.random.default_rng(seed).choice(y.size, int(0.8 * y.size), replace=False)
    else:
        rng = np.random.default_rng([seed, 77])
        classes = rng.permutation(np.unique(y))[: len(sizes)]
        members = [np.flatnonzero(y == k) for k in classes]
        chosen = [rng.choice(of, min(n, of.size), replace=False) for of, n in zip(members, sizes)]
        rows = rng.permutation(np.concatenate(chosen))
    return np.asarray(X[rows], dtype=np.float64), y[rows]


# ------------------------------------------------------------------ two clusters

TWO_GENERATED: dict[str, dict[str, Any]] = {
    f"{'/'.join(map(str, sizes))}, {d}-D, {apart:g} apart": {"sizes": sizes, "d": d, "apart": apart}
    for sizes in ((100, 100), (150, 50), (180, 20), (300, 24), (490, 10), (980, 20))
    for d, apart in ((2, 6.0), (2, 4.5), (10, 5.0), (50, 6.0))
} | {
    "180/20, spreads 1/0.5": {"sizes": (180, 20), "d": 3, "apart": 5.0, "spreads": (1.0, 0.5)},
    "180/20, spreads 0.7/1.4": {"sizes": (180, 20), "d": 3, "apart": 6.0, "spreads": (0.7, 1.4)},
    "200/40, stretched": {"sizes": (200, 40), "d": 4, "apart": 7.0, "stretched": 3.0},
    "2 x 150, stretched": {"sizes": (150, 150), "d": 4, "apart": 7.0, "stretched": 3.0},
}
TWO_DRAWN: dict[str, tuple[str, tuple[int, ...] | None]] = {
    f"{told} {large}/{small}": (name, (large, small))
    for told, name, large, smaller in (
        ("digits", "digits", 150, (150, 50, 15, 6)),
        ("USPS", "usps_digits", 400, (400, 150, 40, 12)),
        ("topics", "emb_topics", 400, (300, 100, 40, 12)),
        ("letters", "isolet1_letters", 60, (60, 15, 6)),
        ("COIL", "lds_coil20", 72, (72, 20, 7)),
    )
    for small in smaller
}

TOPICS, PAIR_ROWS = 7, 1000
PAIRS = {f"topics {one} and {other}": (one, other) for one, other in combinations(range(TOPICS), 2)}


def drawn_pair(pair: tuple[int, int], seed: int) -> tuple[FloatArray, IntArray]:
    """Rows of two topics, at random."""
    X, y = _whole("emb_topics")
    rng = np.random.default_rng([seed, *pair])
    rows = rng.permutation(np.flatnonzero(np.isin(y, pair)))[:PAIR_ROWS]
    return np.asarray(X[rows], dtype=np.float64), y[rows]


# ------------------------------------------------------------------ the studies

CASES: dict[str, Callable[..., tuple[FloatArray, IntArray]]] = {
    **{name: partial(generated, **case) for name, case in (GENERATED | TWO_GENERATED).items()},
    **{name: partial(drawn, *case) for name, case in (DRAWN | TWO_DRAWN).items()},
    **{name: partial(drawn_pair, pair) for name, pair in PAIRS.items()},
}


def _trials(names: Sequence[str], journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": method, "setting": f"seed {seed}"}, partial(_run, name, method, seed))
        for name in names
        for seed in range(SEEDS)
        for method in METHODS
    ]


def _run(name: str, method: str, seed: int) -> Entry:
    X, y = CASES[name](seed=seed)
    with fit_facts() as facts:
        labels = METHODS[method](np.unique(y).size, seed).fit_predict(X)
    return {"adjusted_rand": float(adjusted_rand_score(y, labels)), **facts}


def _table(names: Sequence[str], entries: Sequence[Entry], figure: str) -> str:
    """Means of even and of odd seeds, and how many fits are behind k-means or ahead of it."""
    found = {(e["set"], e["method"], int(e["setting"].split()[1])): float(e["adjusted_rand"]) for e in entries}
    first = next(iter(METHODS))
    lines: list[list[str]] = []
    for name in (*names, "**mean**"):
        sets = names if name == "**mean**" else [name]
        lines.append([name])
        for method in METHODS:
            halves = [
                [v for (s, m, seed), v in found.items() if s in sets and m == method and seed % 2 == odd]
                for odd in (0, 1)
            ]
            lines[-1].append(" / ".join(f"{np.mean(half):.3f}" if half else "-" for half in halves))
    for told, sign in (("behind", -1), ("ahead", 1)):
        lines.append([f"{told} by {BEHIND}"])
        for method in METHODS:
            by = [(seed, v - found[s, first, seed]) for (s, m, seed), v in found.items() if m == method]
            halves = [[sign * gain > BEHIND for seed, gain in by if seed % 2 == odd] for odd in (0, 1)]
            lines[-1].append(" / ".join(f"{sum(half)} of {len(half)}" for half in halves))
    return pipe_table(["set", *METHODS], lines)


def _study(about: str, generated: Sequence[str], drawn: dict[str, tuple[str, tuple[int, ...] | None]]) -> Study:
    names = (*generated, *drawn)
    sets = tuple(name for name in dict.fromkeys(name for name, _ in drawn.values()) if name not in ("iris", "wine"))
    return Study(about, sets, partial(_trials, names), partial(_table, names))


SIZE_STUDIES = {
    "clustering_sizes": _study("clusters of unequal sizes, beside k-means", tuple(GENERATED), DRAWN),
    "clustering_two_sizes": _study("two clusters, one of them small, beside k-means", tuple(TWO_GENERATED), TWO_DRAWN),
    "clustering_topic_pairs": Study(
        "every two topics of sentence embeddings, beside k-means",
        ("emb_topics",),
        partial(_trials, tuple(PAIRS)),
        partial(_table, tuple(PAIRS)),
    ),
}
