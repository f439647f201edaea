"""Competitors for other weak labels: the same rows as for semi-supervised learning, known in other ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.bench.contest_data import ContestData

__all__ = [
    "candidates", "fit_candidates", "fit_linked", "fit_noisy", "fit_own", "fit_positives", "fit_proportions", "linked",
    "noisy", "own", "positives", "proportions",
]  # fmt: skip

GROUP, FLIPPED, LINKS = 8, 0.1, 100


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


def candidates(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """CandidateLabelSVC at the same price."""
    from wellsvm import CandidateLabelSVC

    return CandidateLabelSVC(C=settings["C_unlabeled"], fit_intercept=False, random_state=0)


def own(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """WeakLabelSVC at the same price."""
    from wellsvm import WeakLabelSVC

    return WeakLabelSVC(C=settings["C_unlabeled"], fit_intercept=False, random_state=0)


def linked(data: ContestData, settings: Mapping[str, Any]) -> Any:
    """MaxMarginClustering at its defaults."""
    from wellsvm import MaxMarginClustering

    return MaxMarginClustering(random_state=0)


def fit_candidates(model: Any, data: ContestData) -> Any:
    """One candidate where the label is known, both where it is not."""
    known = np.nan_to_num(np.asarray(data.y_partial)).astype(int)
    return model.fit(data.X, [(label,) if label else (-1, 1) for label in known.tolist()])


def fit_own(model: Any, data: ContestData) -> Any:
    """Known labels kept, as many positives among the others as there are: what a user's own set may say."""
    from wellsvm.labels import BalancedLabels

    known = np.nan_to_num(np.asarray(data.y_partial)).astype(np.int8)
    return model.fit(data.X, BalancedLabels(known, int(np.count_nonzero(np.asarray(data.y)[known == 0] > 0))))


def fit_linked(model: Any, data: ContestData) -> Any:
    """Pairs of neighboring rows, linked by their classes."""
    pairs = np.arange(2 * min(LINKS, len(data.y) // 4)).reshape(-1, 2)
    same = np.equal(*np.asarray(data.y)[pairs].T)
    return model.fit(data.X, must_link=pairs[same], cannot_link=pairs[~same])
