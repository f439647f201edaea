"""Section 5.2: locating regions of interest, with the width and the prices chosen inside the training bags."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from experiments.bag_search import BagKernels, Instances, Race, choose, grid_of
from experiments.paper.outcome import Outcome
from experiments.paper.protocol import AS_IN_PAPER
from experiments.splits import draw_of_each
from wellsvm import Bags, MultiInstanceSVCCV
from wellsvm.baselines import EMDD, CitationKNN, DiverseDensity
from wellsvm.metrics import roi_success_rate

__all__ = ["run"]

RACE = Race((1.0, 1e-6), 1 / 4)  # by accuracy and, where that ties, by the area
# The paper's protocol: all settings in all of ten folds.
IN_PAPER = RACE._replace(stays=1.0, folds=10)
# Methods that nothing is chosen for, by their seed: one that chooses by itself, and rules that are no SVMs.
ALONE: dict[str, Callable[[int], Any]] = {
    "MultiInstanceSVCCV": lambda seed: MultiInstanceSVCCV(random_state=seed),
    "DD": lambda seed: DiverseDensity(random_state=seed),
    "EM-DD": lambda seed: EMDD(random_state=seed),
    "CkNN-ROI": lambda seed: CitationKNN(),
}


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """Training bags of every concept, one concept against the rest; the others are the test."""
    instances = Instances(np.asarray(data.X, dtype=np.float64), data.groups)
    roi = np.split(np.asarray(data.roi) > 0, instances.bags.offsets[1:-1])
    train = draw_of_each(data.concept, settings["bags_per_concept"], np.random.default_rng(repeat))
    test = np.setdiff1d(np.arange(len(data.concept)), train)
    y = data.concept == settings["concept"]
    began = process_time()
    if method in ALONE:
        chosen: dict[str, Any] = {}
        parts = [Bags(instances.bags.X[rows], groups) for rows, groups in map(instances.rows, (train, test))]
        located = ALONE[method](repeat).fit(parts[0], y[train]).locate(parts[1])
    else:
        grid = grid_of(settings["widths"], settings["prices"], settings["ratios"])
        race = IN_PAPER if method == AS_IN_PAPER else RACE
        point = choose(instances, train, y, method, grid, race, seed=repeat)
        kernels = BagKernels.of(instances, point.width, train, test)
        located, chosen = kernels.fit(method, point, y[train]).locate(kernels.test), point._asdict()
    seconds = process_time() - began
    rates = roi_success_rate(y[test], located, [roi[i] for i in test])
    if settings.get("show"):
        chosen |= _shown(instances.bags, test, y, located)
    return Outcome(float(rates.success_rate), seconds, None, chosen)


def _shown(bags: Bags, test: np.ndarray, y: np.ndarray, located: np.ndarray) -> dict[str, int | None]:
    """The first test bag of the concept: its first instance, the one after its last, the one located (None: none)."""
    number = int(np.flatnonzero(y[test])[0])
    first, last = (int(bags.offsets[test[number] + k]) for k in (0, 1))
    place = int(located[number])
    return {"first": first, "last": last, "located": None if place < 0 else first + place}
