"""
Topics of sentence embeddings, compared with k-means, spectral clustering and HDBSCAN
=====================================================================================

Today, short texts are often clustered by their embeddings: a few hundred dense columns and a few topics of very
different sizes. The sample here consists of 700 one-line descriptions of software packages in a Linux distribution
(Debian), embedded by a small sentence encoder and reduced to 48 principal components. The clusters are compared with
the section of each package (games, sound, net, ...), which no method sees.
"""

# %%
# Seven clusters by five methods
# ------------------------------
# All methods use their defaults, except for the number of clusters. HDBSCAN finds the number itself and treats some
# rows as noise; each of these counts as a cluster of its own.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from wellsvm import MaxMarginClustering

# Next to this file; the documentation runs it in its own folder, where scripts have no __file__.
here = Path(globals().get("__file__", "")).parent
stored = np.load(here / "package_topics.npz")
X, y, names = stored["X"].astype(np.float64), stored["y"], stored["names"]
print({str(name): int(n) for name, n in zip(names, np.bincount(y))})

methods = {
    "k-means": lambda seed: KMeans(7, n_init=10, random_state=seed),
    "spectral": lambda seed: SpectralClustering(7, affinity="nearest_neighbors", random_state=seed),
    "HDBSCAN": lambda seed: HDBSCAN(copy=True),
    "large margin, linear": lambda seed: MaxMarginClustering(7, random_state=seed),
    "large margin, RBF": lambda seed: MaxMarginClustering(7, kernel="rbf", random_state=seed),
}


def agreement(labels):
    """Adjusted Rand index with respect to the sections; each row left out as noise is a cluster of its own."""
    alone = np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)
    return adjusted_rand_score(y, alone)


found = {name: [method(seed).fit(X).labels_ for seed in range(3)] for name, method in methods.items()}
scores = {name: [agreement(labels) for labels in runs] for name, runs in found.items()}
for name, values in scores.items():
    print(f"{name:22} {np.mean(values):.3f} (seeds {min(values):.3f} to {max(values):.3f})")

# %%
# Which section went where
# ------------------------
# Rows are sections and columns are clusters, with the largest first. A section that lies in one cluster is dark in one
# place.


def draw(ax, name):
    """The share of each section that went into each cluster."""
    counts = contingency_matrix(y, found[name][0])
    counts = counts[:, np.argsort(-counts.sum(axis=0))]
    ax.imshow(counts / counts.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_title(f"{name}: {scores[name][0]:.2f}", fontsize=10)
    ax.set_xlabel("cluster")
    ax.set_yticks(range(len(names)), names)


fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, name in zip(axes, ("k-means", "spectral", "large margin, linear")):
    draw(ax, name)

# %%
# A few links
# -----------
# Someone who looks at pairs of descriptions can often tell whether they belong together, without naming the topics.
# Pass such pairs as ``must_link`` and ``cannot_link``: the clusters of the training rows then respect all of them. Do
# not expect more from random pairs: the agreement on rows that are not part of any link hardly changes here.

pairs = np.random.default_rng(0).integers(len(y), size=(200, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = y[pairs[:, 0]] == y[pairs[:, 1]]
judged = np.setdiff1d(np.arange(len(y)), pairs)
for n_links in (0, 50, 100, 200):
    must, cannot = pairs[:n_links][same[:n_links]], pairs[:n_links][~same[:n_links]]
    labels = MaxMarginClustering(7, random_state=0).fit(X, must_link=must, cannot_link=cannot).labels_
    kept = np.mean((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == same)
    others = adjusted_rand_score(y[judged], labels[judged])
    print(f"{n_links:3} links: {kept:.0%} of the pairs are as they should be; {others:.3f} on the other rows")

plt.show()
