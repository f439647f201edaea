"""Section 5.2: locating regions of interest, with the width and the prices chosen inside the training bags."""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from experiments.bag_search import BagKernels, Instances, Race, choose, grid_of
from experiments.paper.outcome import Outcome
from experiments.splits import draw_of_each
from wellsvm.metrics import roi_success_rate

__all__ = ["run"]

RACE = Race((1.0, 1e-6), 1 / 4)  # by accuracy and, where that ties, by the area


def run(data: Bunch, settings: dict[str, Any], method: str, repeat: int, figure: str) -> Outcome:
    """Training bags of every concept, one concept against the rest; the others are the test."""
    instances = Instances(np.asarray(data.X, dtype=np.float64), data.groups)
    roi = np.split(np.asarray(data.roi) > 0, instances.bags.offsets[1:-1])
    train = draw_of_each(data.concept, settings["bags_per_concept"], np.random.default_rng(repeat))
    test = np.setdiff1d(np.arange(len(data.concept)), train)
    y = data.concept == settings["concept"]
    began = process_time()
    grid = grid_of(settings["widths"], settings["prices"], settings["ratios"])
    point = choose(instances, train, y, method, grid, RACE, seed=repeat)
    kernels = BagKernels.of(instances, point.width, train, test)
    model = kernels.fit(method, point, y[train])
    seconds = process_time() - began
    rates = roi_success_rate(y[test], model.locate(kernels.test), [roi[i] for i in test])
    return Outcome(float(rates.success_rate), seconds, None, point._asdict())
