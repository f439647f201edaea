"""Competitors for other weak labels: the same rows as for semi-supervised learning, known in other ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.bench.contest_data import ContestData

__all__ = ["fit_noisy", "fit_positives", "fit_proportions", "noisy", "positives", "proportions"]

GROUP, FLIPPED = 8, 0.1


def positives(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """PositiveUnlabeledSVC at its defaults, but for the price of unlabeled rows."""
    from wellsvm import PositiveUnlabeledSVC

    return PositiveUnlabeledSVC(C_unlabeled=settings["C_unlabeled"], fit_intercept=False, random_state=0)


def proportions(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """ProportionSVC at the same price."""
    from wellsvm import ProportionSVC

    return ProportionSVC(C=settings["C_unlabeled"], fit_intercept=False, random_state=0)


def noisy(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """NoisyLabelSVC at the same price."""
    from wellsvm import NoisyLabelSVC

    return NoisyLabelSVC(C=settings["C_unlabeled"], fit_intercept=False, random_state=0)


def fit_positives(model: Any, data: ContestData) -> Any:
    """Labeled positives are known, all else is unlabeled."""
    return model.fit(data.X, np.where(np.asarray(data.y_partial) > 0, 1, 0))


def fit_proportions(model: Any, data: ContestData) -> Any:
    """Groups of 8 rows of known share, in the order of the rows."""
    groups = np.arange(len(data.y)) // GROUP
    positive = np.asarray(data.y) > 0
    return model.fit(data.X, groups=groups, proportions=np.bincount(groups, weights=positive) / np.bincount(groups))


def fit_noisy(model: Any, data: ContestData) -> Any:
    """All labels, a tenth of them flipped."""
    flipped = np.random.default_rng(0).random(len(data.y)) < FLIPPED
    return model.fit(data.X, np.where(flipped, -1, 1) * np.where(np.asarray(data.y) > 0, 1, -1))
