"""clustering_numbers: rules for the number of clusters, on sets whose number of classes is known.

Each rule sees 1,000 rows, in 2 to 14 clusters of k-means or, for the last one, of `MaxMarginClustering`:

- gap statistic (Tibshirani, Walther, Hastie 2001), the reference uniform in the box of the principal components;
- largest silhouette; largest ratio of scatters (Calinski and Harabasz);
- most clusters with a prediction strength (Tibshirani and Walther 2005) of at least 0.8 between two halves;
- margin: most clusters for which nine rows of ten lie a whole margin inside their cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from experiments.data_sets import load_set
from experiments.internals import FloatArray
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts
from wellsvm import MaxMarginClustering

__all__ = ["NUMBER_STUDIES"]

TRUE = {"blobs 3": 3, "blobs 5": 5, "blobs 8": 8, "digits": 10, "emb_topics": 7}
MOST, ROWS, REFERENCES, STRONG, INSIDE = 14, 1000, 5, 0.8, 0.9
COUNTS = range(2, MOST + 1)


def _k_means(X: FloatArray, k: int) -> KMeans:
    return KMeans(k, n_init=5, random_state=0).fit(X)


def _gap(X: FloatArray) -> int:
    """The first k whose gap is within one standard error of the next one's."""
    centre = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - centre, full_matrices=False)
    turned, rng = (X - centre) @ axes.T, np.random.default_rng(0)
    drawn = [rng.uniform(turned.min(axis=0), turned.max(axis=0), turned.shape) for _ in range(REFERENCES)]
    scatter = np.array([[np.log(_k_means(Z, k).inertia_) for k in (1, *COUNTS)] for Z in (turned, *drawn)])
    gap = scatter[1:].mean(axis=0) - scatter[0]
    error = scatter[1:].std(axis=0) * np.sqrt(1 + 1 / REFERENCES)
    enough = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return int(enough[0]) + 1 if enough.size else MOST


def _best(score: Callable[..., float], X: FloatArray) -> int:
    return max(COUNTS, key=lambda k: score(X, _k_means(X, k).labels_))


def _strength(X: FloatArray, k: int) -> float:
    """Of the clusters of one half, the least share of pairs that the clusters of the other half leave together."""
    first, second = X[::2], X[1::2]
    own, foreign = _k_means(second, k).labels_, _k_means(first, k).predict(second)
    shares = []
    for cluster in range(k):
        sizes = np.bincount(foreign[own == cluster])
        n = int(sizes.sum())
        shares.append(float(np.sum(sizes * (sizes - 1)) / (n * (n - 1))) if n > 1 else 1.0)
    return min(shares)


def _predictable(X: FloatArray) -> int:
    return max((k for k in COUNTS if _strength(X, k) >= STRONG), default=1)


def _inside(X: FloatArray, k: int) -> float:
    """The share of rows whose value leads that of the next cluster by a whole margin."""
    values = MaxMarginClustering(k, random_state=0).fit(X).decision_function(X)
    if values.ndim == 1:
        return float(np.mean(np.abs(values) >= 1))
    ordered = np.sort(values, axis=1)
    return float(np.mean(ordered[:, -1] - ordered[:, -2] >= 2))


def _by_margin(X: FloatArray) -> int:
    return max((k for k in COUNTS if _inside(X, k) >= INSIDE), default=1)


RULES: dict[str, Callable[[FloatArray], int]] = {
    "gap statistic": _gap,
    "largest silhouette": partial(_best, silhouette_score),
    "largest ratio of scatters": partial(_best, calinski_harabasz_score),
    "prediction strength of 0.8": _predictable,
    "nine of ten rows a whole margin inside": _by_margin,
}


def _rows(name: str) -> FloatArray:
    if name.startswith("blobs"):
        return np.asarray(make_blobs(ROWS, centers=TRUE[name], n_features=5, random_state=TRUE[name])[0])
    X = np.asarray(load_set(name).X, dtype=np.float64)
    return X[np.random.default_rng(0).choice(len(X), ROWS, replace=False)]


def _trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": rule, "setting": ""}, partial(_run, name, rule))
        for rule in RULES
        for name in TRUE
    ]


def _run(name: str, rule: str) -> Entry:
    with fit_facts() as facts, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"clusters": RULES[rule](_rows(name)), **facts}


def _table(entries: Sequence[Entry], figure: str) -> str:
    found = {(entry["method"], entry["set"]): f"{entry['clusters']}" for entry in entries}
    lines = [[rule, *(found.get((rule, name), "") for name in TRUE)] for rule in RULES]
    return pipe_table(["rule", *(f"{name} ({k})" for name, k in TRUE.items())], lines)


NUMBER_STUDIES = {
    "clustering_numbers": Study(
        "rules for the number of clusters, on sets whose classes are known", ("digits", "emb_topics"), _trials, _table
    )
}
