"""The contract of a label set as a test that users can run on their own sets, as `check_estimator` of scikit-learn.

A set of few instances is enumerated, so that the oracle is compared with all of B. Of a larger one the oracle is
compared with random members and with what one or two changed labels make of its answer; that finds most mistakes, and
proves nothing. So try a small set of the same kind first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from wellsvm._typing import FloatArray, LabelArray
from wellsvm.labels.base import LabelSet
from wellsvm.options import Options

__all__ = ["check_label_set", "enumerate_labels"]


def check_label_set(label_set: LabelSet, random_state: Any = 0, n_scores: int = 25) -> None:
    """Test whether a label set meets the requirements of `LabelSet`.

    The oracle must return int8 labels, one per instance, that are in the set and have the largest ``scores @ y`` in it;
    for equal scores, it must assign labels in the order of the indices, the larger label first; it must give the same
    answer twice, and not modify its argument. `contains` must reject values that are not labels, and `initial` must
    draw different members.

    Parameters
    ----------
    label_set : LabelSet
        The set. It should be small enough to enumerate (about 16 instances of two labels); otherwise it is only
        sampled.
    random_state : int or numpy Generator, default=0
        Seed for the scores to try.
    n_scores : int, default=25
        Number of score vectors to try; the first is all zero.

    Raises
    ------
    AssertionError
        The set does not meet a requirement; the message includes the scores that show it.

    Examples
    --------
    >>> from wellsvm.labels import ProportionLabels, check_label_set
    >>> check_label_set(ProportionLabels([0, 0, 0, 1, 1], low=[1, 1], high=[2, 1]))
    """
    rng = np.random.default_rng(random_state)
    n = _check_shape(label_set)
    every = enumerate_labels(label_set)
    _require(every is None or len(every) > 0, "the set is empty: no label vector passes `contains`")
    for k in range(n_scores):
        # All zero, as where every alpha is zero; few values, hence many ties; continuous ones.
        scores = rng.standard_normal(n) if k % 2 else rng.integers(-2, 3, n).astype(np.float64)
        _check_oracle(label_set, scores if k else np.zeros(n), every, rng)
    _check_members(label_set, every, rng)


def enumerate_labels(label_set: LabelSet) -> LabelArray | None:
    """All of B, one row each, by trying every vector; None where these are too many."""
    known = getattr(label_set, "y_known", np.zeros(label_set.n_instances))
    both = (-1, 1) if label_set.starts is None else (-1, 0, 1)
    values: list[tuple[int, ...]] = [(int(y),) if y else both for y in known]
    if np.sum(np.log([len(v) for v in values])) > np.log(Options.most_enumerated):
        return None
    tried = (np.array(entries, dtype=np.int8) for entries in product(*values))
    members = [y for y in tried if label_set.contains(y)]
    return np.stack(members) if members else np.empty((0, label_set.n_instances), dtype=np.int8)


def _require(condition: Any, message: str, scores: FloatArray | None = None) -> None:
    if not condition:
        shown = "" if scores is None else f"; scores={np.array2string(scores, precision=3, threshold=20)}"
        raise AssertionError(message + shown)


def _check_shape(label_set: LabelSet) -> int:
    """The number of instances, and starts that divide them into rows."""
    n = getattr(label_set, "n_instances", None)
    _require(isinstance(n, (int, np.integer)) and n > 0, f"n_instances must be a positive whole number; it is {n!r}")
    assert n is not None
    if label_set.starts is not None:
        starts = np.asarray(label_set.starts)
        divides = starts.ndim == 1 and starts.size > 1 and starts[0] == 0 and starts[-1] == n
        _require(divides and np.all(np.diff(starts) > 0), f"starts must rise from 0 to n_instances={n}; it is {starts}")
    return int(n)


def _check_oracle(label_set: LabelSet, scores: FloatArray, every: LabelArray | None, rng: np.random.Generator) -> None:
    """One answer of the oracle: its form, membership, value, ties; the argument untouched."""
    kept = scores.copy()
    y = label_set.linear_oracle(scores)
    _require(np.array_equal(scores, kept), "linear_oracle changed its argument", kept)
    _require(isinstance(y, np.ndarray) and y.dtype == np.int8, "linear_oracle must return an int8 array", scores)
    _require(y.shape == scores.shape, f"linear_oracle returned shape {y.shape}, not {scores.shape}", scores)
    _require(label_set.contains(y), f"linear_oracle left the set with {y}", scores)
    _require(np.array_equal(label_set.linear_oracle(scores), y), "linear_oracle gave two answers", scores)
    rivals = every if every is not None else _near(label_set, y, rng)
    value = float(scores @ y)
    for rival in rivals:
        better = float(scores @ rival)
        _require(
            better <= value + Options.oracle_rounding * (1 + abs(value)),
            f"linear_oracle is not exact: it found {y} of value {value:g}, but {rival} has {better:g}",
            scores,
        )
    _check_ties(label_set, scores, y)


def _check_ties(label_set: LabelSet, scores: FloatArray, y: LabelArray) -> None:
    """Equal scores: the larger label goes to the lower index, where the set allows to exchange them."""
    kept = np.zeros(y.size) if label_set.keeps is None else label_set.keeps
    for value in np.unique(scores):
        tied = np.flatnonzero((scores == value) & ((value != 0) | (kept == 0)))[:50]
        for place, i in enumerate(tied):
            for j in tied[place + 1 :]:
                if y[i] < y[j]:
                    swapped = y.copy()
                    swapped[[i, j]] = y[[j, i]]
                    _require(
                        not label_set.contains(swapped),
                        f"a tie went to the higher index: {i} and {j} have the same score, {j} got the larger label",
                        scores,
                    )


def _near(label_set: LabelSet, y: LabelArray, rng: np.random.Generator) -> Iterator[LabelArray]:
    """Members to compare with where B is large: random ones, and those one or two changed labels away."""
    for _ in range(20):
        yield label_set.initial(rng)
    for _ in range(200):
        changed = y.copy()
        some = rng.choice(y.size, min(2, y.size), replace=False)
        for j in some if rng.random() < 0.5 else some[:1]:
            changed[j] = -changed[j] if label_set.starts is None else rng.integers(-1, 2)
        if label_set.contains(changed):
            yield changed


def _check_members(label_set: LabelSet, every: LabelArray | None, rng: np.random.Generator) -> None:
    """Random members are members and differ; what is no label is refused."""
    drawn = [label_set.initial(rng) for _ in range(20)]
    _require(all(label_set.contains(y) for y in drawn), "initial drew a label vector that is not in the set")
    alone = every is not None and len(every) == 1
    _require(alone or len({y.tobytes() for y in drawn}) > 1, "initial drew the same label vector 20 times")
    for y in drawn[:5]:
        broken = y.copy()
        broken[int(rng.integers(y.size))] = 2
        _require(not label_set.contains(broken), "contains accepted a label of 2")
        if label_set.symmetric:
            _require(label_set.contains(-y), f"the set is symmetric, but does not contain the negative of {y}")
