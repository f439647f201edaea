"""What the estimators share: input checks, the choice of geometry, and prediction from what they store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from wellsvm._typing import FloatArray, Matrix
from wellsvm.estimators._parameters import choice, number
from wellsvm.geometry import GramGeometry, LinearGeometry
from wellsvm.geometry.kernels import KERNELS, Kernel, resolve_gamma
from wellsvm.geometry.row_cache import Budget, CachedGeometry, KernelRows
from wellsvm.native import make_rows, slices

__all__ = ["KernelModel", "all_or_nothing", "check_matrix", "make_geometry", "make_kernel", "shared_pairs"]

# Larger values have a squared norm that may overflow.
LARGEST = 1e150
# The constant feature that stands for the intercept.
BIAS = 1.0
# Rounding to float32 acts like noise on the kernel matrix; the ridge 1 / C must outweigh it.
LARGEST_C_IN_SINGLE = 1e4
MEGABYTE = 2**20
# Rows of a callable's matrix that are looked at where it is not kept as a whole.
SYMMETRY_SAMPLE = 200


def check_matrix(
    estimator: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    name: str = "X",
    row_name: Callable[[int], str] = "row {}".format,
    validate: Callable[..., Matrix] = validate_data,
) -> Matrix:
    """Check X: 2-D, dense or CSR, float32 or float64 kept as given, finite in every row; ``row_name`` is for errors."""
    X = validate(
        estimator, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C",
        accept_large_sparse=True, ensure_all_finite=False,
    )  # fmt: skip
    if sparse.issparse(X) and not X.has_canonical_format:  # a column named twice in a row would count as two features
        X = X.copy()
        X.sum_duplicates()
    values = (X.data if sparse.issparse(X) else X).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum(dtype=np.float64))
    if not finite and not (mask := np.isfinite(values)).all():
        first = int(np.flatnonzero(~mask)[0])
        kind = "NaN" if np.isnan(values[first]) else "infinity (inf)"
        raise ValueError(
            f"Input {name} contains {kind}, first in {row_name(_row_of(X, first))}. Remove such rows or fill them in, "
            "for instance with sklearn.impute.SimpleImputer."
        )
    if values.size and max(float(values.max()), -float(values.min())) > LARGEST:
        first = int(np.flatnonzero(np.abs(values.astype(np.float64)) > LARGEST)[0])
        raise ValueError(
            f"Input {name} has a value of {values[first]:g} in {row_name(_row_of(X, first))}: its squared norm "
            "overflows. Scale the features down, for instance with sklearn.preprocessing.MaxAbsScaler."
        )
    return X


def _row_of(X: Matrix, position: int) -> int:
    """Row of a stored entry, given its position."""
    return int(np.searchsorted(X.indptr, position, side="right") - 1 if sparse.issparse(X) else position // X.shape[1])


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator back the attributes it had if `fit` fails: no half-written model."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def make_kernel(estimator: Any, X: Matrix) -> Kernel:
    """The estimator's kernel with its parameters checked and ``gamma`` resolved on X."""
    if not callable(estimator.kernel):
        choice("kernel", estimator.kernel, KERNELS, also=" or a callable")
    if isinstance(estimator.gamma, str):
        choice("gamma", estimator.gamma, ("mean", "scale", "auto"), also=" or a number")
    else:
        number("gamma", estimator.gamma, low=0.0, open_low=True)
    number("degree", estimator.degree, low=0.0)
    number("coef0", estimator.coef0)
    if getattr(estimator, "cache_size", None) is not None:  # not every rival has one
        number("cache_size", estimator.cache_size, low=0.0, open_low=True)
    if estimator.kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square matrix of kernel values between the training rows; got shape "
            f"{X.shape}"
        )
    if estimator.kernel == "precomputed" and sparse.issparse(X):
        raise ValueError("kernel='precomputed' needs a dense matrix; call X.toarray() first")
    needs_gamma = estimator.kernel in ("rbf", "poly", "sigmoid")
    gamma = resolve_gamma(estimator.gamma, X) if needs_gamma else 1.0
    return Kernel(estimator.kernel, gamma, estimator.degree, estimator.coef0)


def make_geometry(
    X: Matrix,
    kernel: Kernel,
    fit_intercept: bool,
    C: float,
    cache_size: float | None = None,
    pairs: np.ndarray | None = None,
) -> LinearGeometry | GramGeometry:
    """Linear rows, or the kernel matrix; in full precision where the largest price C would show its rounding.

    ``cache_size`` is the memory for kernel values in MB, None for what is free; a matrix that needs more is kept in
    part. ``pairs`` is what `shared_pairs` gave.
    """
    bias, single = BIAS if fit_intercept else 0.0, C <= LARGEST_C_IN_SINGLE
    if kernel.name == "linear":
        return LinearGeometry(X, bias)
    if _matrices_in(cache_size, X, kernel, single) < 1:
        budget = Budget(int(cast(float, cache_size) * MEGABYTE))
        rows = KernelRows(kernel, X, kernel.dtype(X, single))
        if callable(kernel.name):
            _require_symmetric(rows.block(np.arange(min(SYMMETRY_SAMPLE, X.shape[0]))), kernel.name)
        return CachedGeometry(rows, bias, budget)
    return GramGeometry(gram_matrix(X, kernel, single, pairs), bias)


def shared_pairs(X: Matrix, kernel: Kernel, C: float, cache_size: float | None) -> np.ndarray | None:
    """What several kernels that differ in gamma compute once, see `Kernel.pairs`; None where it does not fit."""
    single = C <= LARGEST_C_IN_SINGLE
    return kernel.pairs(X, single) if _matrices_in(cache_size, X, kernel, single) >= 2 else None


def _matrices_in(cache_size: float | None, X: Matrix, kernel: Kernel, single: bool) -> float:
    """How many kernel matrices of the rows of X fit into ``cache_size`` MB; a precomputed one takes nothing."""
    if cache_size is None or kernel.name == "precomputed":
        return np.inf
    return cache_size * MEGABYTE / (kernel.dtype(X, single).itemsize * max(1, X.shape[0]) ** 2)


def gram_matrix(X: Matrix, kernel: Kernel, single: bool = True, pairs: np.ndarray | None = None) -> np.ndarray:
    """The kernel matrix, checked; see `Kernel.gram`."""
    K = kernel.gram(X, single, pairs)
    if not (isinstance(kernel.name, str) and kernel.name in ("linear", "rbf", "poly", "sigmoid")):
        _require_symmetric(K, kernel.name)
    return K


def _require_symmetric(K: np.ndarray, name: Any) -> None:
    """Refuse a matrix of the user's that cannot be a kernel's."""
    if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * max(1.0, float(np.abs(K).max()))):
        raise ValueError(f"kernel={name!r} gives a matrix that is not symmetric; pass (K + K.T) / 2 if that is meant")
    if np.any(K.diagonal() < 0):
        row = int(np.flatnonzero(K.diagonal() < 0)[0])
        raise ValueError(f"kernel={name!r} gives {K[row, row]:g} < 0 for row {row} with itself: not a kernel")


class KernelModel(BaseEstimator):
    """f(x) = sum_j coef_j k(x_j, x) + intercept: storing it after `fit`, computing it for new rows.

    A linear model keeps its weights only, a kernel model the rows with a coefficient.
    """

    def __copy__(self) -> Self:
        """A copy has all attributes, also those that a pickle leaves out."""
        return self._copied(dict)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """As `__copy__`."""
        return self._copied(lambda state: deepcopy(state, memo))

    def _copied(self, how: Callable[[dict[str, Any]], dict[str, Any]]) -> Self:
        other = type(self).__new__(type(self))
        # What a warm start would need holds compiled objects and stays behind: the copy starts cold.
        other.__dict__.update(how({name: value for name, value in vars(self).items() if name != "_fits"}))
        return other

    def _store_functions(self, X: Matrix, kernel: Kernel, predictors: list[tuple[Any, FloatArray]]) -> None:
        """Store one function per predictor, each a descent and the weights of its label vectors."""
        for name in ("coef_", "dual_coef_", "support_", "support_vectors_"):  # of an earlier fit with another kernel
            self.__dict__.pop(name, None)
        self._kernel = kernel
        if kernel.name == "linear":
            weights = np.stack([descent.weights(mu) for descent, mu in predictors])
            bias = predictors[0][0].geometry.bias
            self.coef_, self.intercept_ = np.ascontiguousarray(weights[:, :-1]), weights[:, -1] * bias
            return
        coef = np.stack([descent.dual_coef(mu) for descent, mu in predictors])
        self.intercept_ = predictors[0][0].geometry.bias ** 2 * coef.sum(axis=1)
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=0))
        self.dual_coef_ = np.ascontiguousarray(coef[:, self.support_])
        self.support_vectors_ = np.empty((0, 0)) if kernel.name == "precomputed" else X[self.support_]

    def _store_report(self, fits: list[Any], labelings: list[np.ndarray]) -> None:
        """Store what the engine tells of every fit: single values where there is one fit, else one entry per fit."""
        for fit in fits:
            fit.result.warn_unless_converged(type(self).__name__)
        results, single = [fit.result for fit in fits], len(fits) == 1

        def per_fit(values: list[Any]) -> Any:
            return values[0] if single else values

        def figures(values: list[float]) -> Any:
            return float(values[0]) if single else np.array(values)

        self.labelings_ = per_fit(labelings)
        self.labeling_weights_ = per_fit([r.mu for r in results])
        self.objective_ = figures([r.objective for r in results])
        self.gap_ = figures([r.gap for r in results])
        self.oracle_violation_ = figures([r.violation for r in results])
        refined = [fit.refined.objective for fit in fits if fit.refined]
        self.refined_objective_ = figures(refined) if refined else None
        self.history_ = per_fit([list(r.history) for r in results])
        self.n_iter_ = max((len(r.history) for r in results), default=1)
        self.status_ = per_fit([str(r.status) for r in results])

    def _functions(self, X: Any) -> FloatArray:
        """Values of all stored functions, of shape (n_samples, n_functions)."""
        check_is_fitted(self)
        return self._evaluate(check_matrix(self, X, reset=False))

    def _evaluate(self, X: Matrix) -> FloatArray:
        """As `_functions`, of rows that are checked."""
        if self._kernel.name == "linear":
            W = np.vstack([self.coef_.T, np.zeros(self.coef_.shape[0])])
            return _linear_values(X, np.ascontiguousarray(W)) + self.intercept_
        if self._kernel.name == "precomputed":
            K = X[:, self.support_]
        else:
            K = self._kernel.between(X, self.support_vectors_)
        return np.asarray(K @ self.dual_coef_.T, dtype=np.float64) + self.intercept_


def _linear_values(X: Matrix, W: FloatArray) -> FloatArray:
    """``X @ W[:-1]`` without turning X into float64."""
    rows, out = make_rows(X), np.empty((X.shape[0], W.shape[1]))
    per_row = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
    for begin, end in slices(X.shape[0], per_row * W.shape[1]):
        rows.scores(W, 0.0, begin, end, out[begin:end])
    return out
