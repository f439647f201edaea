"""Ways to break a matrix, labels, weights or a parameter, and ways to write the same matrix differently."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from wellsvm.labels import LabelSet

Change = Callable[[Any, np.random.Generator], Any]


def with_parts(X: Any, **parts: Any) -> Any:
    """A CSR matrix with other arrays, past the checks of its constructor."""
    made = sp.csr_matrix(X)
    made.has_canonical_format, made.has_sorted_indices  # noqa: B018 - remembered, and wrong after the change
    for name, part in parts.items():
        made.__dict__[name] = part(getattr(made, name)) if callable(part) else part
    return made


def _at(value: Any, place: int = 2) -> Callable[[np.ndarray], np.ndarray]:
    def change(part: np.ndarray) -> np.ndarray:
        wide = part.astype(np.int64) if isinstance(value, int) and abs(value) > 2**31 else part.copy()
        wide[place % len(wide)] = value
        return wide

    return change


def _cell(value: Any, dtype: Any = None) -> Change:
    def change(X: Any, rng: np.random.Generator) -> Any:
        changed = np.array(X, dtype=dtype)
        changed[rng.integers(len(X)), rng.integers(changed.shape[1])] = value
        return sp.csr_matrix(changed) if dtype is None and rng.random() < 0.3 else changed

    return change


def _broken(form: str, part: str, value: int) -> Change:
    def change(X: Any, rng: np.random.Generator) -> Any:
        made = sp.csr_matrix(X).copy().asformat(form).copy()
        array = getattr(made, part).copy()
        array[rng.integers(len(array))] = value
        setattr(made, part, array)
        return made

    return change


def _frame(columns: Callable[[int], list[Any]]) -> Change:
    def change(X: Any, rng: np.random.Generator) -> Any:
        import pandas as pd

        return pd.DataFrame(X, columns=columns(np.shape(X)[1]))

    return change


MATRICES: dict[str, Change] = {
    **{f"cell {value}": _cell(value) for value in (np.nan, np.inf, -np.inf, 1e200, -1e300, 1e100, 1e40)},
    **{f"object cell {value!r}": _cell(value, object) for value in ("a", None, {}, 10**400, 1j, [1])},
    **{f"times {s}": lambda X, rng, s=s: np.array(X) * s for s in (0.0, 1e-30, 1e-160, 1e-300, 1e30, 1e140, 1e160)},
    **{f"float32 times {s}": lambda X, rng, s=s: (np.array(X) * s).astype(np.float32) for s in (1e-40, 1e-30, 1e18)},
    "complex": lambda X, rng: np.array(X) + 1j,
    "complex CSR": lambda X, rng: sp.csr_matrix(np.array(X) + 1j),
    "words": lambda X, rng: np.full(np.shape(X), "a"),
    "bytes": lambda X, rng: np.full(np.shape(X), b"a"),
    "dates": lambda X, rng: np.full(np.shape(X), np.datetime64("2020-01-01")),
    "records": lambda X, rng: np.zeros(np.shape(X), dtype=[("a", "f8")]),
    "1-D": lambda X, rng: np.array(X)[:, 0],
    "3-D": lambda X, rng: np.array(X)[:, :, None],
    "no rows": lambda X, rng: np.array(X)[:0],
    "no columns": lambda X, rng: np.array(X)[:, :0],
    "no columns, CSR": lambda X, rng: sp.csr_matrix((len(X), 0)),
    "one row less": lambda X, rng: np.array(X)[:-1],
    "one row": lambda X, rng: np.array(X)[:1],
    "one column": lambda X, rng: np.array(X)[:, :1],
    "ragged": lambda X, rng: [list(row) for row in X][:-1] + [[1.0]],
    "scalar": lambda X, rng: 3.0,
    "None": lambda X, rng: None,
    "text": lambda X, rng: "X",
    "dict": lambda X, rng: {"a": X},
    "generator": lambda X, rng: (row for row in X),
    "sparse vector": lambda X, rng: sp.coo_array(np.array(X)[:, 0]),
    "float128": lambda X, rng: np.array(X, dtype=np.longdouble) * np.longdouble(10) ** 400,
    "float16": lambda X, rng: np.array(X, dtype=np.float16),
    "equal rows": lambda X, rng: np.array(X) * 0 + 3,
    "two columns of one name": _frame(lambda n: ["a"] * n),
    "mixed names": _frame(lambda n: ["a", *range(1, n)]),
    "names that are lists": _frame(lambda n: [("a", k) for k in range(n)]),
    **{
        f"{form}.{part} {value}": _broken(form, part, value)
        for form, parts in (("csr", ("indices", "indptr")), ("csc", ("indices", "indptr")), ("coo", ("row", "col")))
        for part in parts
        for value in (-1, 10**6, 2**31 - 1, -(2**31))
    },
    "bsr.indices": _broken("bsr", "indices", 10**6),
    "dia.offsets": _broken("dia", "offsets", 0),
    **{f"int64 index {v}": lambda X, rng, v=v: with_parts(X, indices=_at(v)) for v in (2**32 + 1, 2**40, -(2**40))},
    "indptr too short": lambda X, rng: with_parts(X, indptr=lambda p: p[:-1]),
    "indptr too long": lambda X, rng: with_parts(X, indptr=lambda p: np.append(p, p[-1])),
    "indptr begins with 1": lambda X, rng: with_parts(X, indptr=_at(1, 0)),
    "indptr falls": lambda X, rng: with_parts(X, indptr=lambda p: p[::-1].copy()),
    "indices float": lambda X, rng: with_parts(X, indices=lambda p: p.astype(float)),
    "indices 2-D": lambda X, rng: with_parts(X, indices=lambda p: p[:, None]),
    "indices uint64 large": lambda X, rng: with_parts(X, indices=lambda p: p.astype(np.uint64) + np.uint64(2**63)),
    "data too short": lambda X, rng: with_parts(X, data=lambda p: p[:-3]),
    "data 2-D": lambda X, rng: with_parts(X, data=lambda p: p[:, None]),
    "data of text": lambda X, rng: with_parts(X, data=lambda p: p.astype("U8")),
    "data of objects": lambda X, rng: with_parts(X, data=lambda p: p.astype(object)),
    "shape too small": lambda X, rng: with_parts(X, _shape=(1, 1)),
    "NaN in the last entry": lambda X, rng: with_parts(X, data=lambda p: np.append(p[:-1], np.nan)),
}


def _spare(X: Any, rng: np.random.Generator) -> Any:
    return with_parts(
        X, data=lambda p: np.append(p, [np.nan, 1e300]), indices=lambda p: np.append(p, [9999, -5]).astype(p.dtype)
    )


def _unsorted(X: Any, rng: np.random.Generator) -> Any:
    whole = sp.csr_matrix(X)
    for begin, end in zip(whole.indptr[:-1], whole.indptr[1:]):
        order = rng.permutation(end - begin) + begin
        whole.indices[begin:end], whole.data[begin:end] = whole.indices[order], whole.data[order]
    whole.has_sorted_indices = False
    return whole


def _twice(X: Any, rng: np.random.Generator) -> Any:
    """Every entry as two halves."""
    whole = sp.csr_matrix(X)
    return sp.csr_matrix((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), whole.shape)


def _strided(part: np.ndarray) -> np.ndarray:
    return np.repeat(part, 2)[::2]


# The same matrix, written differently: the result must be the same. Dense and sparse ones each.
SAME_DENSE: dict[str, Change] = {
    "Fortran order": lambda X, rng: np.asfortranarray(X),
    "strided": lambda X, rng: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X, rng: np.array(X)[::-1].copy()[::-1],
    "read-only": lambda X, rng: _read_only(np.array(X)),
    "list": lambda X, rng: np.array(X).tolist(),
    "big-endian": lambda X, rng: np.array(X).astype(">f8"),
    "unaligned": lambda X, rng: _unaligned(np.array(X)),
    "objects": lambda X, rng: np.array(X).astype(object),
    "frame": _frame(lambda n: [f"x{k}" for k in range(n)]),
}
SAME_SPARSE: dict[str, Change] = {
    **{form: lambda X, rng, form=form: sp.csr_matrix(X).asformat(form) for form in ("csc", "coo", "bsr", "lil", "dok")},
    "csr_array": lambda X, rng: sp.csr_array(X),
    "spare room": _spare,
    "unsorted": _unsorted,
    "entries in halves": _twice,
    "strided arrays": lambda X, rng: with_parts(X, data=_strided, indices=_strided, indptr=_strided),
    "int64": lambda X, rng: with_parts(X, indices=lambda p: p.astype(np.int64), indptr=lambda p: p.astype(np.int64)),
    "mixed index types": lambda X, rng: with_parts(X, indptr=lambda p: p.astype(np.int64)),
    "mixed index types, other way": lambda X, rng: with_parts(X, indices=lambda p: p.astype(np.int64)),
    "uint16": lambda X, rng: with_parts(X, indices=lambda p: p.astype(np.uint16)),
    "big-endian": lambda X, rng: with_parts(X, indices=lambda p: p.astype(">i4"), data=lambda p: p.astype(">f8")),
    "read-only": lambda X, rng: with_parts(X, data=_read_only, indices=_read_only, indptr=_read_only),
}


def _read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def _unaligned(X: np.ndarray) -> np.ndarray:
    room = np.empty(X.nbytes + 1, np.uint8)[1:].view()
    made = np.ndarray(X.shape, X.dtype, buffer=room.data)
    made[:] = X
    return made


LABELS: dict[str, Change] = {
    "None": lambda y, rng: None,
    "too short": lambda y, rng: y[:-1],
    "none": lambda y, rng: y[:0],
    "all missing": lambda y, rng: np.full(len(y), np.nan),
    "one class": lambda y, rng: np.ones(len(y)),
    "all -1": lambda y, rng: np.full(len(y), -1),
    "continuous": lambda y, rng: rng.standard_normal(len(y)),
    "infinite": lambda y, rng: np.where(rng.random(len(y)) < 0.5, np.inf, 1.0),
    "complex": lambda y, rng: np.arange(len(y)) % 2 + 1j,
    "bytes": lambda y, rng: np.array([b"a", b"b"] * len(y))[: len(y)],
    "mixed": lambda y, rng: (["a", 1] * len(y))[: len(y)],
    "mixed objects": lambda y, rng: np.array((["a", 1] * len(y))[: len(y)], dtype=object),
    "dicts": lambda y, rng: [{}] * len(y),
    "lists": lambda y, rng: [[1], [1, 2]] * (len(y) // 2),
    "two columns": lambda y, rng: np.c_[y, y],
    "scalar": lambda y, rng: 1,
    "text": lambda y, rng: "y",
    "huge": lambda y, rng: np.array([2**62, -(2**62)] * len(y))[: len(y)],
    "beyond int64": lambda y, rng: [2**70, 1] * (len(y) // 2),
    "each its own": lambda y, rng: np.arange(len(y)),
    "dates": lambda y, rng: np.array(["2020-01-01", "NaT"] * len(y), dtype="M8[D]")[: len(y)],
    "control characters": lambda y, rng: np.array(["\x1b[2J", "=1+1"] * len(y))[: len(y)],
    "booleans": lambda y, rng: np.arange(len(y)) % 2 == 0,
}
WEIGHTS: dict[str, Change] = {
    **{str(v): lambda w, rng, v=v: np.full(len(w), v) for v in (np.nan, np.inf, -1.0, 0.0, 1e308, 1e-320, 1e40, 1e-40)},
    "one huge": lambda w, rng: np.r_[1e308, w[1:]],
    "too short": lambda w, rng: w[:-1],
    "two columns": lambda w, rng: np.c_[w, w],
    "words": lambda w, rng: ["a"] * len(w),
    "complex": lambda w, rng: w + 1j,
    "a word": lambda w, rng: "w",
    "objects": lambda w, rng: np.full(len(w), {}, dtype=object),
}
PARAMETERS: tuple[Any, ...] = (
    None, True, False, "a", "", "auto", "linear", "rbf", b"x", -1, 0, 1, 2, 3, 10**19, -(10**19), 10**400, -0.5, 0.0,
    0.5, 1.0, 1.5, 1e-300, 1e-12, 1e6, 1e300, np.nan, np.inf, -np.inf, np.int8(2), np.uint8(1), np.float32(0.5),
    np.float64(0.1), np.bool_(True), np.longdouble(2), Fraction(1, 3), Fraction(10**400), Decimal("1"), 1j, [], [1, 2],
    [0.1], (0.2, 0.4), (), {}, {0: 0.5}, {0: 0.5, 1: 0.5}, {"a": np.nan}, np.array(1.0), np.array([1.0, 2.0]),
    np.array([]), np.datetime64("2020-01-01"), range(3), object(), type, len,
)  # fmt: skip


# ------------------------------------------------------------------ candidates, groups, sets, links


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
    "answers read-only": _odd_set(lambda scores: _read_only(_signs(scores))),
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
    "matrix, broken": lambda y, rng: with_parts(np.array([[1.0, c] for c in range(len(y))]), indices=_at(2**31 - 1)),
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
