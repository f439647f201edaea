"""What links between rows are worth, and how far seeds agree.

- clustering_links: pairs of rows drawn at random and tied or set apart by their class; adjusted Rand index on the rows
  that no link names, five draws. "KMeans, n_init=10" does not see the links.
- clustering_seeds: the least adjusted Rand index between the clusters of any two of ten seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from experiments.data_sets import load_set
from experiments.internals import IntArray, Matrix
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.study import Study, fit_facts, mean_of
from wellsvm import MaxMarginClustering

__all__ = ["LINK_STUDIES"]

# ------------------------------------------------------------------ links

LINKED = ("uci_ionosphere", "uci_house_votes", "uci_australian")
N_LINKS, DRAWS = (0, 25, 50, 100), 5


def _standard_rows(name: str) -> tuple[Matrix, IntArray]:
    """Rows with features of the same spread."""
    data = load_set(name)
    X = np.asarray(data.X, dtype=np.float64)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), data.y


def _link_trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": method, "setting": f"{n} links, draw {draw}"}, partial(run, n, draw))
        for name in LINKED
        for method, run in (
            ("KMeans, n_init=10", partial(_run_links, name, "")),
            ("linear", partial(_run_links, name, "linear")),
            ("rbf", partial(_run_links, name, "rbf")),
        )
        for n in (N_LINKS if method != "KMeans, n_init=10" else N_LINKS[-1:])
        for draw in range(DRAWS)
    ]


def _run_links(name: str, kernel: str, n_links: int, draw: int) -> Entry:
    X, y = _standard_rows(name)
    pairs = np.random.default_rng(draw).integers(len(y), size=(N_LINKS[-1], 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    judged = np.setdiff1d(np.arange(len(y)), pairs)  # the same rows for every number of links
    used, k = pairs[:n_links], np.unique(y).size
    same = y[used[:, 0]] == y[used[:, 1]]
    with fit_facts() as facts:
        if kernel:
            model = MaxMarginClustering(k, kernel=kernel, random_state=draw)
            labels = model.fit(X, must_link=used[same], cannot_link=used[~same]).labels_
        else:
            labels = KMeans(k, n_init=10, random_state=draw).fit_predict(X)
    return {"links": n_links, "adjusted_rand": float(adjusted_rand_score(y[judged], labels[judged])), **facts}


def _link_table(entries: Sequence[Entry], figure: str) -> str:
    rows = dict.fromkeys((entry["set"], entry["method"]) for entry in entries)

    def cell(name: str, method: str, n: int) -> str:
        mean = mean_of(entries, "adjusted_rand", set=name, method=method, links=n)
        return "" if np.isnan(mean) else f"{mean:.3f}"

    # Without links k-means is the same whatever their number; it stands in the first column.
    lines = [
        [name, method, *(cell(name, method, N_LINKS[-1] if method.startswith("KMeans") and not n else n)
                         if n == 0 or not method.startswith("KMeans") else "" for n in N_LINKS)]
        for name, method in rows
    ]  # fmt: skip
    return pipe_table(["set", "method", *(f"{n} links" for n in N_LINKS)], lines, text=("method",))


# ------------------------------------------------------------------ seeds

SEEDED = {"blobs": 4, "digits": 10, "digits, 4 classes": 4}
SEEDS = 10


def _seed_trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": method, "setting": f"{SEEDS} seeds"}, partial(_run_seeds, name, method))
        for name in SEEDED
        for method in ("KMeans, n_init=10", "KMeans, n_init=20", "linear", "rbf")
    ]


def _run_seeds(name: str, method: str) -> Entry:
    k = SEEDED[name]
    if name == "blobs":
        X = make_blobs(400, centers=k, n_features=5, random_state=0)[0]
    else:
        data = load_set("digits")
        X = data.X[data.y < k]

    def labels(seed: int) -> IntArray:
        if method.startswith("KMeans"):
            return KMeans(k, n_init=int(method[-2:]), random_state=seed).fit_predict(X)
        return MaxMarginClustering(k, kernel=method, random_state=seed).fit_predict(X)

    with fit_facts() as facts:
        found = [labels(seed) for seed in range(SEEDS)]
    agreement = [float(adjusted_rand_score(a, b)) for a, b in combinations(found, 2)]
    return {"least": min(agreement), "mean": float(np.mean(agreement)), **facts}


def _seed_table(entries: Sequence[Entry], figure: str) -> str:
    lines = [[entry["set"], entry["method"], f"{entry['least']:.3f}", f"{entry['mean']:.3f}"] for entry in entries]
    return pipe_table(["set", "method", "least agreement", "mean agreement"], lines, text=("method",))


LINK_STUDIES = {
    "clustering_links": Study("clusters with rows tied together and set apart", LINKED, _link_trials, _link_table),
    "clustering_seeds": Study("how far the clusters of ten seeds agree", ("digits",), _seed_trials, _seed_table),
}
