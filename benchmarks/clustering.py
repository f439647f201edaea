"""Clusters found by MaxMarginClustering beside k-means, spectral clustering and the rivals of Table 11.

    python benchmarks/clustering.py digits --out benchmarks/results/clustering_digits.jsonl
    python benchmarks/clustering.py table benchmarks/results/clustering_digits.jsonl

Every result is appended as soon as it is there; a run that was stopped goes on where it was. WELLSVM_DATA names the
data folder.

- digits: 4 and 10 clusters of USPS and of scikit-learn's digits, adjusted Rand index, five seeds.
- text, large: linear clustering of sparse rows of unit length beside KMeans(n_init=1): accuracy, time (on the clock and
  of the processor, which other work on the machine disturbs less), extra memory at the peak.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from wellsvm import MaxMarginClustering
from wellsvm.datasets import load, make_sparse_text
from wellsvm.metrics import clustering_accuracy


class PeakMemory:
    """Growth of the resident memory of this process while it is watched, in MiB, at the highest."""

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process, self._stop = psutil.Process(), threading.Event()
        self._before = self._highest = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self._highest = max(self._highest, self._process.memory_info().rss)

    def __exit__(self, *error) -> None:
        self._stop.set()
        self._thread.join()
        self.mib = (self._highest - self._before) / 2**20


def timed(model, X) -> tuple[np.ndarray, dict]:
    """Labels, and what is measured of every fit."""
    began, cpu_began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = model.fit_predict(X)
    facts = {"seconds": round(time.perf_counter() - began, 3), "cpu_seconds": round(time.process_time() - cpu_began, 3)}
    facts["n_iter"] = getattr(model, "n_iter_", None)
    facts["warnings"] = sorted({w.category.__name__ for w in caught})
    return labels, facts


def run_digits(out: Path, done: set, methods: list[str], sets: list[str]) -> None:
    def digits(name: str) -> tuple[np.ndarray, np.ndarray]:
        if name == "digits":
            return load_digits(return_X_y=True)
        data = load("usps_digits")
        return data.X.astype(np.float32) / 255, data.y

    models = {
        "KMeans": lambda k, seed: KMeans(k, n_init=1, random_state=seed),
        "KMeans, n_init=10": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
        "MaxMarginClustering, linear": lambda k, seed: MaxMarginClustering(k, random_state=seed),
        "MaxMarginClustering, rbf": lambda k, seed: MaxMarginClustering(k, kernel="rbf", random_state=seed),
    }
    for name, k in product(sets or ["digits", "usps_digits"], (4, 10)):
        X, y = digits(name)
        used = np.flatnonzero(y < k)
        for method, seed in product(methods or list(models), range(5)):
            key = (f"{name}, {k} clusters", method, f"seed {seed}")
            if key in done:
                continue
            labels, facts = timed(models[method](k, seed), X[used])
            record = dict(zip(("set", "method", "setting"), key))
            record["adjusted_rand"] = float(adjusted_rand_score(y[used], labels))
            append(out, record | {"accuracy": clustering_accuracy(y[used], labels)} | facts)


def run_sparse(out: Path, done: set, methods: list[str], sets: list[str]) -> None:
    models = {
        "KMeans": lambda: KMeans(2, n_init=1, random_state=0),
        "MaxMarginClustering": lambda: MaxMarginClustering(random_state=0),
        "MaxMarginClustering, C=0.1": lambda: MaxMarginClustering(C=0.1, random_state=0),
    }
    for name in sets:
        if name.startswith("rcv1"):
            X, y = make_sparse_text(int(name.split()[1]), class_vocabulary=0.1, random_state=0)
        else:
            data = load(name)
            X, y = data.X, data.y
        X = normalize(sparse.csr_matrix(X, dtype=np.float32))
        for method in methods or list(models):
            if (name, method, "") in done:
                continue
            with PeakMemory() as memory:
                labels, facts = timed(models[method](), X)
            record = {"set": name, "method": method, "setting": "", "accuracy": clustering_accuracy(y, labels)}
            size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
            append(out, record | facts | {"extra_mib": round(memory.mib, 1), "matrix_mib": round(size, 1)})


PROFILES: dict[str, tuple[Callable, list[str]]] = {
    "digits": (run_digits, []),
    "text": (run_sparse, ["sparse_words_fr_de", "text_debian", "text_news20"]),
    "large": (run_sparse, ["rcv1 677399"]),
}


def append(out: Path, record: dict) -> None:
    with out.open("a") as file:
        file.write(json.dumps(record) + "\n")


def table(records: list[dict]) -> str:
    """Mean of every figure over the runs, in Markdown."""
    fields = [
        f for f in ("adjusted_rand", "accuracy", "seconds", "cpu_seconds", "extra_mib", "matrix_mib") if f in records[0]
    ]
    lines = ["| set | method | " + " | ".join(fields) + " |", "|---|---|" + "---|" * len(fields)]
    for key in dict.fromkeys((r["set"], r["method"]) for r in records):
        chosen = [r for r in records if (r["set"], r["method"]) == key]
        lines.append("| " + " | ".join([*key, *(f"{np.mean([r[f] for r in chosen]):.3f}" for f in fields)]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", choices=[*PROFILES, "table"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--methods", nargs="+", default=[], help="only these")
    parser.add_argument("--sets", nargs="+", default=[], help="only these")
    arguments = parser.parse_args()
    if arguments.profile == "table":
        lines = [json.loads(line) for path in arguments.paths for line in path.open()]
        print(table(lines))
    else:
        run, default_sets = PROFILES[arguments.profile]
        out = arguments.out or Path("benchmarks/results") / f"clustering_{arguments.profile}.jsonl"
        out.parent.mkdir(parents=True, exist_ok=True)
        seen = [json.loads(line) for line in out.open()] if out.exists() else []
        done = {(r["set"], r["method"], r["setting"]) for r in seen}
        run(out, done, arguments.methods, arguments.sets or default_sets)
