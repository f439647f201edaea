"""Section 5.3: clustering. Every setting of the paper's grid is tried, and the best accuracy of a method is its figure.

That is the paper's protocol ("all the methods are reported with the best parameter setting"): the true labels choose
the setting, so the figures compare methods but promise nothing for data without labels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import Bunch

from experiments.internals import Matrix, Options
from experiments.paper.outcome import Outcome
from experiments.splits import scaling
from experiments.widths import gamma_of_width
from wellsvm import MaxMarginClustering
from wellsvm.baselines import CPMMC, GMMC, IterativeSVR, KernelKMeans
from wellsvm.metrics import clustering_accuracy

__all__ = ["AXES", "grid", "run"]

# What the settings of each method are made of, besides seeds: keys of the protocol.
AXES: dict[str, tuple[str, ...]] = {
    "KM": (),
    "KM-r": (),
    "KKM": ("kernels",),
    "KKM-r": ("kernels",),
    "NC": ("widths",),
    "GMMC": ("kernels", "Cs"),
    "IterSVR": ("kernels", "Cs", "balances"),
    "IterSVR-r": ("kernels", "Cs", "balances"),
    "CPMMC": ("kernels", "Cs", "balances"),
    "CPMMC, C by scale": ("kernels", "Cs", "balances"),
    "as in the paper": ("kernels", "Cs", "balances"),
    "WellSVM": ("kernels", "Cs"),
    "WellSVM, default cut": ("kernels", "Cs"),
    "WellSVM, balance given": ("kernels", "Cs", "balances"),
}
# Masters of the column "as in the paper" are solved to this relative gap, and there are no more label vectors than the
# paper ever saw ("always fewer than 25"): 36 settings on 16 sets.
MASTER_TOL, MOST_VECTORS = 1e-1, 25
NAMES = {"kernels": "kernel", "widths": "kernel", "Cs": "C", "balances": "balance"}
FIGURES: dict[str, Callable[..., float]] = {"accuracy": clustering_accuracy, "adjusted Rand index": adjusted_rand_score}
# A price so written is a multiple of what C="scale" is on the rows: the price of a row's loss, or of their sum where a
# method pays for the mean.
TIMES_SCALE, ON_MEAN_LOSS = " x scale", ("CPMMC, C by scale",)


def grid(settings: dict[str, Any], method: str) -> list[dict[str, Any]]:
    """All settings of a method; one empty setting for a method without parameters. "seeds" is how often each is run."""
    axes = AXES[method]
    seeds = {"seeds": settings["seeds"].get(method, 1)}
    names = [NAMES[axis] for axis in axes]
    return [dict(zip(names, values)) | seeds for values in product(*(settings[axis] for axis in axes))]


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """Cluster the rows in one setting; a seed for every repeat."""
    X, y = _drawn(data, settings, repeat)
    setting = {key: value for key, value in settings["setting"].items() if key != "seeds"}
    if "kernel" in setting and setting["kernel"] != "linear":
        setting |= {"kernel": "rbf", "gamma": gamma_of_width(X, setting["kernel"])}
    if str(setting.get("C", "")).endswith(TIMES_SCALE):
        setting["C"] = float(setting["C"].removesuffix(TIMES_SCALE)) * _scale(X, setting.get("gamma"))
        setting["C"] *= X.shape[0] if method in ON_MEAN_LOSS else 1
    model = MODELS[method](setting, repeat)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = process_time()
        labels = model.fit_predict(X)
        seconds = process_time() - began
    n_iter = model.n_iter_ if isinstance(model, MaxMarginClustering) else None
    return Outcome(FIGURES[figure](y, labels), seconds, n_iter, setting)


def _scale(X: Matrix, gamma: float | None) -> float:
    """What C="scale" is: a constant over the mean squared norm of the rows less their mean; with ``gamma`` under the
    Gaussian kernel, where MaxMarginClustering takes some rows only."""
    return Options.scaled_C / float(X.var(axis=0).sum() if gamma is None else 1.0 - rbf_kernel(X, gamma=gamma).mean())


def _drawn(data: Bunch, settings: dict[str, Any], repeat: int) -> tuple[Matrix, np.ndarray]:
    """Rows, scaled, and their classes: all of them, or a share that is drawn anew in each repeat."""
    y = np.asarray(data.y)
    share = settings.get("rows", 1.0)
    rows = np.arange(y.size)
    if share < 1:
        rows = np.sort(np.random.default_rng(repeat).choice(y.size, round(share * y.size), replace=False))
    X = data.X if sparse.issparse(data.X) else np.asarray(data.X)
    X = X[rows].astype(settings.get("dtype", "float64"))
    return scaling(X, settings.get("scale", "features"))(X), y[rows]


def _normalized_cut(setting: dict[str, Any], seed: int) -> SpectralClustering:
    return SpectralClustering(2, gamma=setting["gamma"], random_state=seed, assign_labels="kmeans")


def _gmmc(setting: dict[str, Any], seed: int) -> GMMC:
    """GMMC without the limit that keeps a user from waiting: what more rows take is the question of check-times."""
    model = GMMC(**setting)
    model.max_rows = sys.maxsize
    return model


def _rival(cls: Callable[..., Any], **fixed: Any) -> Callable[[dict[str, Any], int], Any]:
    return lambda setting, seed: cls(random_state=seed, **setting, **fixed)


MODELS: dict[str, Callable[[dict[str, Any], int], Any]] = {
    "KM": lambda setting, seed: KMeans(2, n_init=1, random_state=seed),
    "KM-r": _rival(KernelKMeans, kernel="linear", init="aligned", n_init=1),
    "KKM": _rival(KernelKMeans, n_init=1),
    "KKM-r": _rival(KernelKMeans, init="aligned", n_init=1),
    "NC": _normalized_cut,
    "GMMC": _gmmc,
    "IterSVR": _rival(IterativeSVR),
    "IterSVR-r": _rival(IterativeSVR, init="aligned"),
    "CPMMC": _rival(CPMMC),
    "CPMMC, C by scale": _rival(CPMMC),
    "as in the paper": _rival(MaxMarginClustering.as_in_paper, tol=MASTER_TOL, max_iter=MOST_VECTORS),
    "WellSVM": _rival(MaxMarginClustering, cut="zero"),
    "WellSVM, default cut": _rival(MaxMarginClustering),
    "WellSVM, balance given": _rival(MaxMarginClustering, cut="zero"),
}
