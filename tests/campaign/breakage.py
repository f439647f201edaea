"""Ways to break a matrix, labels, weights or a parameter, and ways to write the same matrix differently."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

Change = Callable[[Any, np.random.Generator], Any]


def with_parts(X: Any, **parts: Any) -> Any:
    """A CSR matrix with other arrays, past the checks of its constructor."""
    made = sp.csr_matrix(X)
    made.has_canonical_format, made.has_sorted_indices  # noqa: B018 - remembered, and wrong after the change
    for name, part in parts.items():
        made.__dict__[name] = part(getattr(made, name)) if callable(part) else part
    return made


def at(value: Any, place: int = 2) -> Callable[[np.ndarray], np.ndarray]:
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
    **{f"int64 index {v}": lambda X, rng, v=v: with_parts(X, indices=at(v)) for v in (2**32 + 1, 2**40, -(2**40))},
    "indptr too short": lambda X, rng: with_parts(X, indptr=lambda p: p[:-1]),
    "indptr too long": lambda X, rng: with_parts(X, indptr=lambda p: np.append(p, p[-1])),
    "indptr begins with 1": lambda X, rng: with_parts(X, indptr=at(1, 0)),
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
    "read-only": lambda X, rng: read_only(np.array(X)),
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
    "read-only": lambda X, rng: with_parts(X, data=read_only, indices=read_only, indptr=read_only),
}


def read_only(array: np.ndarray) -> np.ndarray:
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
