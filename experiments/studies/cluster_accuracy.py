"""Clusters found by MaxMarginClustering beside k-means.

- clustering_digits: 4 and 10 clusters of USPS and of scikit-learn's digits, 7 of sentence embeddings, 2 of newsgroups;
  adjusted Rand index, five seeds.
- clustering_sparse: linear clustering of sparse rows beside KMeans(n_init=1), each fit in a process of its own:
  accuracy, time (on the clock and of the processor, which other work on the machine disturbs less), extra memory at
  the peak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from experiments.bench.contest_data import DataSource, make
from experiments.bench.process import measure
from experiments.data_sets import load_set
from experiments.internals import IntArray, Matrix
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.runner import Trial
from experiments.studies.cluster_links import LINK_STUDIES
from experiments.studies.cluster_numbers import NUMBER_STUDIES
from experiments.studies.cluster_prices import PRICE_STUDIES
from experiments.studies.cluster_sizes import SIZE_STUDIES
from experiments.studies.cluster_uci import UCI_STUDIES
from experiments.studies.study import Study, fit_facts, mean_of
from wellsvm import MaxMarginClustering
from wellsvm.metrics import clustering_accuracy

__all__ = ["CLUSTER_STUDIES"]

MIB = 2**20
FIGURES = ("adjusted_rand", "accuracy", "seconds", "cpu_seconds", "extra_mib", "matrix_mib")

# ------------------------------------------------------------------ digits

# Sets, and in how many clusters; USPS and digits in the first so many classes.
TASKS = (
    ("digits", 4), ("digits", 10), ("usps_digits", 4), ("usps_digits", 10), ("emb_topics", 7), ("text_news20", 2),
)  # fmt: skip
SEEDS = 5
DIGIT_METHODS: dict[str, Callable[[int, int], Any]] = {
    "KMeans": lambda k, seed: KMeans(k, n_init=1, random_state=seed),
    "KMeans, n_init=10": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "MaxMarginClustering, linear": lambda k, seed: MaxMarginClustering(k, random_state=seed),
    "MaxMarginClustering, rbf": lambda k, seed: MaxMarginClustering(k, kernel="rbf", random_state=seed),
}


def _digit_trials(journal: Journal) -> list[Trial]:
    return [
        Trial(
            journal,
            {"set": f"{name}, {k} clusters", "method": method, "setting": f"seed {seed}"},
            partial(_run_digits, name, k, method, seed),
        )
        for name, k in TASKS
        for method in DIGIT_METHODS
        for seed in range(SEEDS)
        if not (name.startswith("text") and method.endswith("rbf"))
    ]


def _run_digits(name: str, k: int, method: str, seed: int) -> Entry:
    X, y = _rows_in_classes(name, k)
    model = DIGIT_METHODS[method](k, seed)
    with fit_facts() as facts:
        labels = model.fit_predict(X)
    return {
        "adjusted_rand": float(adjusted_rand_score(y, labels)),
        "accuracy": clustering_accuracy(y, labels),
        "n_iter": getattr(model, "n_iter_", None),
        **facts,
    }


def _rows_in_classes(name: str, k: int) -> tuple[Matrix, IntArray]:
    """Rows of the first k classes: gray values of USPS up to 1, texts as unit log tf-idf, the others as they are."""
    data = load_set(name)
    if name.startswith("text"):
        X = data.X.astype(np.float64)
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        X.data = np.log1p(X.data)
        return normalize(X @ sparse.diags(np.log(X.shape[0] / np.maximum(frequency, 1)))).tocsr(), data.y
    used = np.flatnonzero(data.y < k)
    scale = 255 if name == "usps_digits" else 1
    return (data.X[used] if name == "digits" else data.X[used].astype(np.float32) / scale), data.y[used]


# ------------------------------------------------------------------ sparse rows

SPARSE: dict[str, DataSource] = {
    "sparse_words_fr_de": DataSource("folder", {"name": "sparse_words_fr_de", "n": 673_585, "unit": True}),
    "text_debian": DataSource("folder", {"name": "text_debian", "n": 63_435, "unit": True}),
    "rcv1 677399": DataSource("text", {"n": 677_399, "class_vocabulary": 0.1}),
}
# Competitors of `experiments.bench`, and their settings.
SPARSE_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KMeans": ("KMeans", {}),
    "MaxMarginClustering": ("MaxMarginClustering", {}),
    "MaxMarginClustering, C=1": ("MaxMarginClustering", {"C": 1.0}),
}


def _sparse_trials(journal: Journal) -> list[Trial]:
    return [
        Trial(journal, {"set": name, "method": method, "setting": ""}, partial(_run_sparse, name, method))
        for name in SPARSE
        for method in SPARSE_METHODS
    ]


def _run_sparse(name: str, method: str) -> Entry:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        make(SPARSE[name]).save(path)
        facts = measure(SPARSE_METHODS[method][0], path, SPARSE_METHODS[method][1], math.inf)
    if "skipped" in facts:
        raise RuntimeError(facts["skipped"])
    return {
        "accuracy": facts["accuracy_clusters"],
        "seconds": round(facts["wall"], 3),
        "cpu_seconds": round(facts["cpu"], 3),
        "n_iter": facts["n_iter"],
        "warnings": facts["warnings"],
        "extra_mib": round(facts["extra_bytes"] / MIB, 1),
        "matrix_mib": round(facts["x_bytes"] / MIB, 1),
    }


def _table(entries: Sequence[Entry], figure: str) -> str:
    """Means of all figures over the runs; ``figure`` is not asked for."""
    figures = [name for name in FIGURES if all(name in entry for entry in entries)]
    rows = dict.fromkeys((entry["set"], entry["method"]) for entry in entries)
    lines = [
        [name, method, *(f"{mean_of(entries, figure, set=name, method=method):.3f}" for figure in figures)]
        for name, method in rows
    ]
    return pipe_table(["set", "method", *figures], lines, text=("method",))


CLUSTER_STUDIES = (
    LINK_STUDIES
    | UCI_STUDIES
    | PRICE_STUDIES
    | NUMBER_STUDIES
    | SIZE_STUDIES
    | {
        "clustering_digits": Study(
            "clusters of digits, embeddings and texts, beside k-means",
            tuple(dict.fromkeys(name for name, _ in TASKS)),
            _digit_trials,
            _table,
        ),
        "clustering_sparse": Study(
            "two clusters of sparse rows, beside k-means", tuple(SPARSE), _sparse_trials, _table
        ),
    }
)
