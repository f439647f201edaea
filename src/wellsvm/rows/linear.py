"""Linear rows: a dense or CSR matrix, looked at in passes over all rows, never copied.

One pass over a sparse row serves all T columns of U; dense rows are looked at a column after the other, a piece of them
that stays in the cache at a time: a dot product of contiguous numbers is several times as fast. The intercept is a
constant feature of value ``bias``, regularized like the others (LIBLINEAR's way): the last row of U. Dense rows may be
seen from an ``origin`` (rows/origin.py), which the loops take off each row as they read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from functools import cached_property, partial
from types import ModuleType
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse

from wellsvm import native
from wellsvm._typing import FloatArray, IntArray, LabelArray, Matrix
from wellsvm.options import Options
from wellsvm.rows import column_shapes
from wellsvm.rows.base import Rows, averaging
from wellsvm.rows.origin import near_mean
from wellsvm.rows.taking import some_rows
from wellsvm.threads import run, slices

__all__ = ["CentredRows", "Dual", "LinearRows", "Seen", "native_rows", "side_by_side"]

Seen: TypeAlias = tuple[float, float]
"""The largest projected gradient of the rows visited, and their losses."""


class Dual(NamedTuple):
    """What coordinate descent knows of all rows: row i has the instances from ``starts[i]`` on, or is one itself.

    ``curvature`` may be None where rows are in blocks and have one instance each: it is their squared norm and ridge.
    """

    starts: IntArray | None
    cap: FloatArray
    ridge: FloatArray
    curvature: FloatArray | None
    alpha: FloatArray


def native_rows(
    X: Matrix, module: ModuleType | None = None, places: IntArray | None = None, origin: FloatArray | None = None
) -> Any:
    """Rows of a C-contiguous dense or a CSR matrix, of float32 or float64, for the hot loops; without a copy.

    The kernels cannot use an array that lies askew in memory, nor the strided arrays SciPy allows: these are copied.
    With ``places`` X holds some of the rows only: row i lies at ``places[i]``, which is negative where it is missing.
    Dense rows are seen from ``origin`` if there is one.
    """
    module = native.backend if module is None else module
    if sparse.issparse(X):
        data, indices, indptr = (np.require(part, requirements=("C", "A")) for part in (X.data, X.indices, X.indptr))
        if indices.dtype != indptr.dtype:  # SciPy allows it; only the short row pointers are widened
            common = np.promote_types(indices.dtype, indptr.dtype)
            indices, indptr = indices.astype(common, copy=False), indptr.astype(common, copy=False)
        return module.csr_rows(data, indices, indptr, X.shape[1], places)
    # NumPy before 2.0 calls an array without entries aligned wherever it lies.
    X = np.require(X if X.size else X.copy(), requirements="A")
    return module.dense_rows(X, places) if origin is None else module.shifted_rows(X, origin, places)


class LinearRows:
    """Rows of X under the linear kernel ``(x - origin)'(z - origin) + bias^2``.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_instances, n_features)
        float32 or float64, C-contiguous; kept as given, never copied.
    bias : float, default=0.0
        Value of the constant feature.
    n_jobs : int or None, default=None
        Threads of the passes over all rows; they change no bit of the result.
    options : Options, default=Options()
        Constants.
    origin : array of shape (n_features,), optional
        The point that dense rows are seen from, None for 0. Below, ``x_j`` stands for the row less this point; what is
        learned is told as a function of the rows as they were.
    """

    centred = False
    in_memory = True

    def __init__(
        self,
        X: Matrix,
        bias: float = 0.0,
        n_jobs: int | None = None,
        options: Options = Options(),
        origin: FloatArray | None = None,
    ) -> None:
        self.X, self.bias, self.n_jobs, self.options, self.origin = X, float(bias), n_jobs, options, origin
        self.n_instances, self.n_features = X.shape
        self.entries_per_row: float = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
        self._native = native_rows(X, origin=origin)
        self.dense = self._by_columns = not sparse.issparse(X)
        self.dtype = X.dtype
        self._piece_work = options.pieces_per_call * self.n_features  # of `slices`, for pieces that stay in the cache

    @cached_property
    def squared_norms(self) -> FloatArray:
        """``||x_j||^2 + bias^2`` of every instance."""
        norms = np.empty(self.n_instances)
        self._pass_over(lambda begin, end: self._native.squared_norms(begin, end, norms[begin:end]), 1)
        bad = np.flatnonzero(~np.isfinite(norms))
        if bad.size:
            raise ValueError(
                f"the squared norm of row {bad[0]} of X overflows; scale the features down "
                "(for instance with sklearn.preprocessing.MaxAbsScaler)"
            )
        return np.asarray(norms + self.bias**2)

    def combine(self, coef: FloatArray) -> FloatArray:
        """``sum_j coef_j [x_j; bias]``, of shape (n_features + 1, coef.shape[1])."""
        width = coef.shape[1]
        if self._by_columns and width > 1:
            columns = np.zeros((width, self.n_features + 1, 1))
            for begin, end in slices(self.n_instances, self._piece_work):
                for column, part in zip(columns, np.ascontiguousarray(coef[begin:end].T)):
                    self._native.combine(part[:, None], self.bias, begin, end, column)
            return np.ascontiguousarray(columns[:, :, 0].T)
        U = np.zeros((self.n_features + 1, width))
        self.combine_into(coef, U)
        return U

    def combine_into(self, coef: FloatArray, U: FloatArray) -> None:
        """Add ``sum_j coef_j [x_j; bias]`` to U."""
        for begin, end in slices(self.n_instances, self.entries_per_row * coef.shape[1]):
            self._native.combine(coef[begin:end], self.bias, begin, end, U)

    def scores(self, U: FloatArray) -> FloatArray:
        """``[x_j, bias] U`` of every instance, of shape (n_instances, U.shape[1])."""
        Z = np.empty((self.n_instances, U.shape[1]))
        look_at = self._looker(U)
        self._pass_over(lambda begin, end: look_at(begin, end, Z[begin:end]), U.shape[1])
        return Z

    def _looker(self, U: FloatArray) -> Callable[[int, int, FloatArray], None]:
        """What writes ``[x_j, bias] U`` of the rows ``begin .. end - 1`` into an array."""
        if not self._by_columns or U.shape[1] == 1:
            return lambda begin, end, Z: self._native.scores(U, self.bias, begin, end, Z)
        columns = np.ascontiguousarray(U.T)[:, :, None]

        def look_at(begin: int, end: int, Z: FloatArray) -> None:
            for first, last in slices(end - begin, self._piece_work):
                z = np.empty((last - first, 1))
                for t, column in enumerate(columns):
                    self._native.scores(column, self.bias, begin + first, begin + last, z)
                    Z[first:last, t] = z[:, 0]

        return look_at

    def weighted_scores(self, U: FloatArray, weights: np.ndarray) -> FloatArray:
        """``sum_t weights_jt [x_j, bias]' u_t`` of every instance, in pieces so that no N x T array is made."""
        values, look = np.empty(self.n_instances), self._looker(U)

        def look_at(begin: int, end: int) -> None:
            Z = np.empty((end - begin, U.shape[1]))
            look(begin, end, Z)
            if U.shape[1] == 1:  # a product of vectors, without the overhead of a sum
                np.multiply(Z[:, 0], weights[begin:end, 0], out=values[begin:end])
            else:
                values[begin:end] = np.einsum("jt,jt->j", Z, weights[begin:end])

        self._pass_over(look_at, U.shape[1])
        return values

    def _pass_over(self, look_at: Callable[[int, int], None], width: int) -> None:
        """Call ``look_at(begin, end)`` for pieces of all rows; each looks at its rows with ``width`` columns of U."""
        work = self.entries_per_row * width
        if self.n_jobs in (None, 1) or self.n_instances * work < self.options.least_work_for_threads:
            for begin, end in slices(self.n_instances, work):
                look_at(begin, end)
        else:
            pieces = slices(self.n_instances, self.options.thread_pieces * work)
            run([partial(look_at, *piece) for piece in pieces], self.n_jobs)

    def _sample(self) -> Matrix:
        """Some of the rows, at even distances."""
        every = -(-self.n_instances // self.options.column_sample)
        return some_rows(self.taken(np.arange(0, self.n_instances, every)), slice(None))

    def _column_sample(self) -> FloatArray:
        """The same, of dense rows."""
        return np.asarray(self._sample(), dtype=np.float64)

    @cached_property
    def uneven_columns(self) -> str:
        """Which columns of a dense X differ so much, in spread or by a common offset, that solvers suffer; or nothing.

        Told by a sample of the rows.
        """
        if not self.dense or min(self.n_instances, self.n_features) == 0:
            return ""
        return column_shapes.uneven_columns(self._column_sample(), self.dtype, self.origin, self.options)

    @cached_property
    def long_columns(self) -> str:
        """Which columns of a sparse X outweigh the others so much that solvers suffer; or nothing."""
        if self.dense or min(self.n_instances, self.n_features) == 0:
            return ""
        return column_shapes.long_columns(self._sample(), self.options)

    @cached_property
    def widest_spread(self) -> float:
        """Of the columns of a dense X, told by a sample."""
        return float(self._column_sample().std(axis=0).max(initial=0.0)) if self.dense and self.n_instances else 0.0

    @cached_property
    def steep(self) -> bool:
        """Whether columns are uneven and not all short: coordinate descent gets nowhere."""
        return bool(self.uneven_columns) and not column_shapes.all_short(self._column_sample(), self.options)

    @property
    def column_trouble(self) -> str:
        """`uneven_columns`, `long_columns` or, where there are none, the widest one if solvers suffer from it."""
        told = self.uneven_columns or self.long_columns
        if told or min(self.n_instances, self.n_features) == 0:
            return told
        spread = self._column_sample().std(axis=0) if self.dense else column_shapes.moments(self._sample())[1]
        return column_shapes.widest_column(spread, self.options)

    def require_digits(self) -> None:
        """Refuse dense rows so far from 0 that rounding of inner products is as large as what tells the rows apart."""
        if self.uneven_columns and column_shapes.digits_are_lost(self._column_sample()):
            raise ValueError(
                f"X cannot be used as it is: {self.uneven_columns}. Inner products of rows of float64 do not tell them "
                "apart. Scale the columns, for instance with sklearn.preprocessing.StandardScaler"
            )

    @property
    def can_be_compact(self) -> bool:
        """Whether memory allows what `compact` needs: as many numbers again as dense rows have."""
        return True

    @cached_property
    def compact(self) -> LinearRows:
        """Rows with the same inner products, in columns that suit dense algebra: no more than rows, and along the
        principal axes where the given ones are steep. These rows themselves where neither is called for."""
        n, p = self.n_instances, self.n_features + 1
        if not self.steep and n >= p:
            return self
        Z = np.column_stack([self.taken(np.arange(n)), np.full(n, self.bias)]).astype(np.float64, copy=False)
        if self.steep:
            left, lengths, _ = np.linalg.svd(Z, full_matrices=False)
            Z = left * lengths
        else:
            Z = np.asarray(np.linalg.qr(Z.T, mode="r")).T
        return LinearRows(np.ascontiguousarray(Z), 0.0, self.n_jobs, self.options)

    def near(self, instances: IntArray) -> tuple[Any, IntArray]:
        """All instances are in memory, under their own numbers."""
        return self._native, instances

    def descend(self, dual: Dual, columns: LabelArray, mu: FloatArray, U: FloatArray, order: IntArray) -> Seen:
        """Visit rows in turn; alpha and U change."""
        worst, loss, *_ = self._native.descend(*dual, columns, mu, U, self.bias, order)
        return worst, loss

    def in_portions(
        self, rows: IntArray, instances: IntArray | None = None, ends: IntArray | None = None
    ) -> Iterable[tuple[IntArray, AbstractContextManager[None]]]:
        """Rows to visit one after the other, as many at a time as can be at hand, and what keeps them there while they
        are visited: here all are. Row k has the instances before ``ends[k]``, or is one itself."""
        return [(rows, nullcontext())]

    def threaded(self, n_jobs: int | None) -> Self:
        """The same rows, whose passes take ``n_jobs`` threads."""
        other = copy(self)
        other.n_jobs = n_jobs
        return other

    def with_bias(self, bias: float) -> Self:
        """The same rows with another constant feature."""
        other = copy(self)
        other.bias = float(bias)
        for name in ("squared_norms", "compact"):
            other.__dict__.pop(name, None)
        return other

    def seen(self, bias: float, origin: FloatArray | None) -> LinearRows:
        """The same rows with another constant feature, seen from another point."""
        other = self.with_bias(bias)
        if origin is not None:
            other.origin, other._native = origin, native_rows(self.X, origin=origin)
            for name in ("uneven_columns", "steep", "widest_spread"):
                other.__dict__.pop(name, None)
        return other

    def settled(self) -> LinearRows:
        """These rows, seen from their mean in columns far from 0, where they are dense and have an intercept.

        Sparse rows with such columns are made dense where they are few numbers or nearly all are stored: it is what
        every solver needs then."""
        if min(self.n_instances, self.n_features) == 0:
            return self
        if self._settles_as_dense():
            X = some_rows(self.taken(np.arange(self.n_instances)), slice(None)).toarray()
            return LinearRows(X, self.bias, self.n_jobs, self.options).settled()
        if not self.dense or self.bias == 0:
            return self
        near, far = near_mean(self._column_sample())
        if not far.any():
            return self
        rest = self.seen(0.0, near).combine(np.full((self.n_instances, 1), 1.0 / self.n_instances))[:-1, 0]
        return self.seen(self.bias, np.where(far, near + rest, 0.0))

    def _settles_as_dense(self) -> bool:
        if self.dense or self.n_instances > self.most_taken:
            return False
        size = self.n_instances * self.n_features
        few = size <= self.options.most_made_dense
        full = self.bias != 0 and self.entries_per_row >= self.options.nearly_full * self.n_features
        return (few and bool(self.long_columns)) or (full and column_shapes.any_far(self._sample(), self.options))

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:  # the compiled part stays behind, ...
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def __setstate__(self, state: dict[str, Any]) -> None:  # ... and is made anew
        self.__dict__.update(state)
        self._native = native_rows(self.X, origin=self.origin)

    @property
    def most_taken(self) -> float:
        """How many instances may be taken into memory at once: all of them are there."""
        return np.inf

    def taken(self, chosen: IntArray) -> Matrix:
        """Some instances as a matrix in memory, as they are seen."""
        return self._less_origin(self.X if chosen.size == self.n_instances else some_rows(self.X, chosen))

    def _less_origin(self, X: Matrix) -> Matrix:
        """Rows as they are seen: in float64 if they are shifted, so that no digit is lost."""
        return X if self.origin is None else X - self.origin

    def part(self, chosen: IntArray) -> LinearRows:
        """The rows of some instances."""
        return LinearRows(some_rows(self.X, chosen), self.bias, self.n_jobs, self.options, self.origin)

    def from_part(self, coef: FloatArray, chosen: IntArray) -> FloatArray:
        """Weights of features are the same for all rows."""
        return coef

    def thinned(self, n_most: int, rng: np.random.Generator) -> LinearRows:
        """At most ``n_most`` of the rows, drawn at random, in their order."""
        if self.n_instances <= n_most:
            return self
        return self.part(np.sort(rng.choice(self.n_instances, n_most, replace=False)))

    def averaged(self, starts: IntArray) -> LinearRows:
        """The means of groups of rows."""
        return LinearRows(averaging(starts) @ self.X, self.bias, self.n_jobs, self.options, self.origin)

    def from_means(self, coef: FloatArray, starts: IntArray) -> FloatArray:
        """Weights of features are the same for a mean as for an instance."""
        return coef

    def split_intercept(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights of shape (k, n_features), and the k intercepts; these take in the origin's value."""
        weights, intercepts = np.ascontiguousarray(coef[:, :-1]), coef[:, -1] * self.bias
        return weights, intercepts if self.origin is None else intercepts - np.array([w @ self.origin for w in weights])


class CentredRows(LinearRows):
    """Dense rows seen from their mean; what is learned from them is told as a function of the rows as they were.

    X is not copied. A part of the rows is centered anew.
    """

    centred = True

    def __init__(
        self, X: np.ndarray, bias: float = 0.0, n_jobs: int | None = None, options: Options = Options()
    ) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # `squared_norms` refuses what overflows, and names the row
            super().__init__(X, bias, n_jobs, options, X.mean(axis=0, dtype=np.float64))

    def part(self, chosen: IntArray) -> CentredRows:
        """The rows of some instances, less their own mean."""
        return CentredRows(some_rows(self.X, chosen), self.bias, self.n_jobs, self.options)


def side_by_side(rows: Rows) -> tuple[Rows, int | None]:
    """Few rows, each of whose passes takes one thread, and how many threads may look at them side by side."""
    if isinstance(rows, LinearRows) and rows.in_memory:
        return rows.threaded(None), rows.n_jobs
    return rows, None
