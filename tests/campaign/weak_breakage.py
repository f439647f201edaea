"""Ways to break what weak labels come as: candidates, groups, shares, sets, links, rows that can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from campaign.breakage import LABELS, WEIGHTS, Change, at, read_only, with_parts
from wellsvm.labels import LabelSet


class OddLabels(LabelSet):
    """A set of labels whose oracle, or another part, is not what it should be."""

    def __init__(self, n: int, answer: Callable[[np.ndarray], Any], **parts: Any) -> None:
        self.n_instances, self.answer = n, answer
        self.__dict__.update(parts)

    def linear_oracle(self, scores: Any) -> Any:
        """What was asked for."""
        return self.answer(scores)

    def contains(self, y: Any) -> bool:
        """Everything."""
        return True


def _signs(scores: np.ndarray) -> np.ndarray:
    return np.where(scores >= 0, 1, -1).astype(np.int8)


def _odd_set(answer: Callable[[np.ndarray], Any] = _signs, n: int = 0, **parts: Any) -> Change:
    return lambda labels, rng: OddLabels(labels.n_instances + n, answer, **parts)


SETS: dict[str, Change] = {
    **{f"no set: {v!r:.20}": lambda labels, rng, v=v: v for v in (None, 1, "a", [1, -1], {}, np.ones(16), LabelSet)},
    "any signs": _odd_set(),
    "one instance more": _odd_set(n=1),
    "one instance less": _odd_set(n=-1),
    "no instances": _odd_set(n=-16),
    "negative size": _odd_set(n=-20),
    "size of text": _odd_set(n_instances="16"),
    "size NaN": _odd_set(n_instances=np.nan),
    "size float": _odd_set(n_instances=16.0),
    "answers in float": _odd_set(lambda scores: np.sign(scores) + 0.5),
    "answers too short": _odd_set(lambda scores: _signs(scores)[:-1]),
    "answers too long": _odd_set(lambda scores: np.append(_signs(scores), 1)),
    "answers in 2-D": _odd_set(lambda scores: _signs(scores)[:, None]),
    "answers of 5": _odd_set(lambda scores: 5 * _signs(scores)),
    "answers of 127": _odd_set(lambda scores: 127 * _signs(scores)),
    "answers of 300": _odd_set(lambda scores: 300 * _signs(scores).astype(int)),
    "answers of 0": _odd_set(lambda scores: 0 * _signs(scores)),
    "answers NaN": _odd_set(lambda scores: scores * np.nan),
    "answers None": _odd_set(lambda scores: None),
    "answers text": _odd_set(lambda scores: "y"),
    "answers a list": _odd_set(lambda scores: _signs(scores).tolist()),
    "answers int64": _odd_set(lambda scores: _signs(scores).astype(np.int64)),
    "answers read-only": _odd_set(lambda scores: read_only(_signs(scores))),
    "answers strided": _odd_set(lambda scores: np.repeat(_signs(scores), 2)[::2]),
    "answers complex": _odd_set(lambda scores: scores + 1j),
    "always the same": _odd_set(lambda scores: np.ones(len(scores), np.int8)),
    "starts too long": _odd_set(starts=np.arange(40)),
    "starts that fall": _odd_set(starts=np.arange(17)[::-1].copy()),
    "starts float": _odd_set(starts=np.arange(17.0)),
    "starts negative": _odd_set(starts=np.arange(17) - 1),
    "starts empty": _odd_set(starts=np.array([], int)),
    "starts beyond": _odd_set(starts=np.array([0, 5, 400])),
    "starts of pairs": _odd_set(starts=np.arange(0, 17, 2)),
    "rows without instances": _odd_set(starts=np.repeat(np.arange(0, 17, 2), 2)[1:-1]),
    "symmetric": _odd_set(symmetric=True),
    "symmetric, text": _odd_set(symmetric="a"),
    "y_known too short": _odd_set(y_known=np.ones(3)),
    "y_known of text": _odd_set(y_known="a"),
    "y_known of 7": _odd_set(y_known=np.full(16, 7)),
    "y_known NaN": _odd_set(y_known=np.full(16, np.nan)),
    "keeps too short": _odd_set(keeps=np.ones(3, np.int8)),
    "keeps of text": _odd_set(keeps="abc"),
    "keeps float": _odd_set(keeps=np.full(16, 0.5)),
}
SHARES: dict[str, Change] = {
    **{f"no shares: {v!r:.20}": lambda p, rng, v=v: v for v in (None, 1, 0.5, "a", {}, [], np.nan, {0: 0.5}, [[]])},
    **{
        f"share {v}": lambda p, rng, v=v: np.r_[v, p[1:]] for v in (-0.1, 1.1, np.nan, np.inf, 1e308, -1e-320, 0.0, 1.0)
    },
    "one less": lambda p, rng: p[:-1],
    "one more": lambda p, rng: np.append(p, 0.5),
    "one column": lambda p, rng: p[:, None],
    "two columns": lambda p, rng: np.c_[1 - p, p],
    "two columns that do not sum to one": lambda p, rng: np.c_[p, p],
    "three columns": lambda p, rng: np.c_[p / 2, p / 2, 1 - p],
    "3-D": lambda p, rng: p[:, None, None],
    "words": lambda p, rng: ["a"] * len(p),
    "objects": lambda p, rng: np.array([0.5, None, {}, "a"], dtype=object),
    "complex": lambda p, rng: p + 1j,
    "dict": lambda p, rng: dict(enumerate(p)),
    "dict of intervals": lambda p, rng: {k: (v - 0.2, v + 0.2) for k, v in enumerate(p)},
    "dict of intervals that fall": lambda p, rng: {k: (v + 0.2, v - 0.2) for k, v in enumerate(p)},
    "dict of lists": lambda p, rng: {k: [1 - v, v] for k, v in enumerate(p)},
    "dict of lists of uneven length": lambda p, rng: {k: [1 - v, v][: 1 + k % 2] for k, v in enumerate(p)},
    "dict of other groups": lambda p, rng: {k + 7: v for k, v in enumerate(p)},
    "dict of words": lambda p, rng: {k: "a" for k, v in enumerate(p)},
    "dict of dicts": lambda p, rng: {k: {} for k, v in enumerate(p)},
    "dict of NaN": lambda p, rng: {**dict(enumerate(p)), np.nan: 0.5},
    "dict with more groups": lambda p, rng: {**dict(enumerate(p)), "b": 0.5},
    "frame": lambda p, rng: _as_frame(np.c_[1 - p, p]),
    "frame with two columns of one name": lambda p, rng: _as_frame(np.c_[1 - p, p], ["a", "a"]),
    "bits": lambda p, rng: np.array([True, False, True, False]),
    "sparse": lambda p, rng: sp.csr_matrix(np.c_[1 - p, p]),
}
LINKS: dict[str, Change] = {
    **{
        f"no pairs: {v!r:.20}": lambda l, rng, v=v: v
        for v in (None, 1, "ab", [1, 2], [(1,)], [(1, 2, 3)], {}, [[]], [None])
    },
    **{
        f"pair {pair!r:.30}": lambda l, rng, pair=pair: [*l, pair]
        for pair in (
            (0, 99),
            (-1, 0),
            (0, 2**40),
            (0, 10**30),
            (0.5, 1),
            (1.0, 2.0),
            (np.nan, 1),
            ("a", "b"),
            (3, 3),
            (0, 1),
            (0, 2),
        )
    },
    "uneven": lambda l, rng: [*l, (1,)],
    "all pairs": lambda l, rng: [(i, j) for i in range(16) for j in range(i)],
    "a chain of all": lambda l, rng: [(i, i + 1) for i in range(15)],
    "a triangle": lambda l, rng: [(5, 6), (6, 7), (5, 7)],
    "many times": lambda l, rng: l * 1000,
    "uint64": lambda l, rng: np.array(l, dtype=np.uint64),
    "beyond int64": lambda l, rng: np.array([[2**64 - 1, 0]], dtype=np.uint64),
    "bits": lambda l, rng: np.array([[True, False]]),
    "complex": lambda l, rng: np.array([[1j, 0]]),
    "objects": lambda l, rng: np.array([[1, "a"]], dtype=object),
    "sparse": lambda l, rng: sp.csr_matrix(np.ones((2, 2), int)),
    "a frame": lambda l, rng: _as_frame(np.array(l)),
    "a set": lambda l, rng: set(l),
}
TRUSTED: dict[str, Change] = {
    **{f"{v!r:.20}": lambda t, rng, v=v: v for v in (None, True, 1, "a", [], {}, np.nan)},
    "all": lambda t, rng: np.ones(len(t), bool),
    "none": lambda t, rng: np.zeros(len(t), bool),
    "too short": lambda t, rng: t[:-1],
    "integers": lambda t, rng: t.astype(int),
    "twos": lambda t, rng: 2 * t.astype(int),
    "row numbers": lambda t, rng: np.flatnonzero(t),
    "row numbers beyond": lambda t, rng: np.array([0, 400]),
    "NaN": lambda t, rng: np.full(len(t), np.nan),
    "words": lambda t, rng: ["a"] * len(t),
    "two columns": lambda t, rng: np.c_[t, t],
    "objects": lambda t, rng: t.astype(object),
}


def _as_frame(values: np.ndarray, columns: Any = None) -> Any:
    import pandas as pd

    return pd.DataFrame(values, columns=columns)


CANDIDATES: dict[str, Change] = {
    "matrix": lambda y, rng: np.array([[c in cell for c in (0, 1)] for cell in y]),
    "matrix of 0 and 2": lambda y, rng: 2 * np.array([[c in cell for c in (0, 1)] for cell in y]),
    "matrix of NaN": lambda y, rng: np.full((len(y), 2), np.nan),
    "matrix of text": lambda y, rng: np.full((len(y), 2), "a"),
    "matrix, sparse": lambda y, rng: sp.csr_matrix(np.array([[c in cell for c in (0, 1)] for cell in y])),
    "matrix, broken": lambda y, rng: with_parts(np.array([[1.0, c] for c in range(len(y))]), indices=at(2**31 - 1)),
    "matrix of no columns": lambda y, rng: np.zeros((len(y), 0), bool),
    "matrix of one column": lambda y, rng: np.ones((len(y), 1), bool),
    "matrix, 3-D": lambda y, rng: np.ones((len(y), 2, 2), bool),
    "frame": lambda y, rng: _as_frame(np.array([[c in cell for c in (0, 1)] for cell in y])),
    "frame of one name": lambda y, rng: _as_frame(np.array([[c in cell for c in (0, 1)] for cell in y]), ["a", "a"]),
    "empty sets": lambda y, rng: [set()] * len(y),
    "one empty set": lambda y, rng: [set(), *y[1:]],
    "NaN in a set": lambda y, rng: [{np.nan, 0}, *y[1:]],
    "None in a set": lambda y, rng: [{None, 0}, *y[1:]],
    "words and numbers": lambda y, rng: [{"a", 0}, *y[1:]],
    "sets of lists": lambda y, rng: [[[1]], *y[1:]],
    "sets of dicts": lambda y, rng: [[{}], *y[1:]],
    "a set is None": lambda y, rng: [None, *y[1:]],
    "a set is a number": lambda y, rng: [0, *y[1:]],
    "a set is a word": lambda y, rng: ["ab", *y[1:]],
    "a set is a generator": lambda y, rng: [(k for k in (0, 1)), *y[1:]],
    "beyond int64": lambda y, rng: [{2**70, 0}, *y[1:]],
    "a class of its own": lambda y, rng: [{k} for k in range(len(y))],
    "all of one class": lambda y, rng: [{1}] * len(y),
    "arrays": lambda y, rng: [np.array(sorted(cell)) for cell in y],
    "array of sets": lambda y, rng: np.array(y, dtype=object),
    **LABELS,
}
OF_ARGUMENT: dict[str, dict[str, Change]] = {
    "y": LABELS,
    "sample_weight": WEIGHTS,
    "groups": LABELS,
    "trusted": TRUSTED,
    "proportions": SHARES,
    "labels": SETS,
    "must_link": LINKS,
    "cannot_link": LINKS,
}
