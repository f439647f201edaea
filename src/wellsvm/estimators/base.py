"""The base of every estimator: options, kernel and rows from its parameters; storing f and computing its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from functools import partial
from inspect import signature
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wellsvm._address import page_of
from wellsvm._arguments import choice, flag, number, whole_number
from wellsvm._input import check_matrix, require_linear
from wellsvm._typing import FloatArray, Matrix
from wellsvm.engine import recipe
from wellsvm.engine.cutting_plane import ORACLES
from wellsvm.engine.joint import fit_together
from wellsvm.engine.recipe import Fit, Task
from wellsvm.engine.report import ACT, Record, warn, warn_unsolved
from wellsvm.function import ATTRIBUTES, Function, KernelFunction, LinearFunction, read
from wellsvm.losses import LOSSES
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.block_rows import BlockRows
from wellsvm.rows.blocks import Blocks
from wellsvm.rows.kernels import KERNELS, Kernel, resolve_gamma
from wellsvm.rows.making import kernel_rows
from wellsvm.solver.master import Solution
from wellsvm.solver.mixture import UPDATES
from wellsvm.threads import one_thread, run

__all__ = [
    "AS_IN_PAPER",
    "KernelModel",
    "Silent",
    "fitting",
    "loss_of",
    "make_kernel",
    "make_rows",
    "options_of",
]

# What the paper chooses in all three tasks. tol is that of an SVM which counts as solved; the paper's thresholds are
# the two after it. Constants of a task are beside its estimator.
AS_IN_PAPER = {
    "fit_intercept": False,
    "refine": False,
    "oracle": "first",
    "weight_update": "closed_form",
    "tol": 1e-8,
    "min_violation": 1e-3,
    "min_decrease": 1e-3,
    "stopping": "paper",
}

# ------------------------------------------------------------------ options, kernel, rows


def loss_of(estimator: Any) -> str:
    """The loss that an estimator asks for. "auto" and "paper" are hinge for the linear kernel, else squared hinge."""
    loss = choice("loss", estimator.loss, ("auto", "paper", *LOSSES))
    linear = isinstance(estimator.kernel, str) and estimator.kernel == "linear"
    return ("hinge" if linear else "squared_hinge") if loss in ("auto", "paper") else loss


def options_of(estimator: Any, **others: Any) -> Options:
    """How to solve, by the estimator's parameters, checked; ``others`` are options that are no parameters."""
    tol, verbose = number("tol", estimator.tol, low=0.0, open_low=True), estimator.verbose
    violation, decrease = estimator.min_violation, estimator.min_decrease
    refine = flag("refine", estimator.refine)
    per_tol = others.pop("decrease_per_tol", Options.decrease_per_tol if refine else 1.0)
    if choice("weight_update", estimator.weight_update, tuple(UPDATES)) == "closed_form":
        rounds = Options.closed_form_rounds
        others = {"rough_rounds": rounds, "max_rounds": rounds, "unused_weight": 0.0, **others}
    return Options(
        tol=tol,
        min_violation=tol if violation is None else number("min_violation", violation, low=0.0),
        min_decrease=per_tol * tol if decrease is None else number("min_decrease", decrease, low=0.0),
        stopping=choice("stopping", estimator.stopping, ("relative", "absolute", "paper")),
        max_iter=whole_number("max_iter", others.pop("max_iter", estimator.max_iter), low=1),
        oracle=choice("oracle", estimator.oracle, tuple(ORACLES)),
        weight_update=estimator.weight_update,
        refine=refine,
        verbose=int(verbose) if isinstance(verbose, bool) else whole_number("verbose", verbose, low=0),
        **others,
    )


@contextmanager
def fitting(estimator: BaseEstimator) -> Iterator[None]:
    """What holds while an estimator is fitted: it gets back the attributes it had if `fit` fails, so that no model is
    half written, and the libraries below take one thread: ``n_jobs`` says how many we take."""
    before = dict(vars(estimator))
    try:
        with one_thread():
            yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def make_kernel(estimator: Any, X: Matrix) -> Kernel:
    """The estimator's kernel with its parameters checked and ``gamma`` resolved on X."""
    require_linear(estimator.kernel, X)
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
    return Kernel(estimator.kernel, gamma, _plain(estimator.degree), _plain(estimator.coef0))


def _plain(value: Any) -> float:
    """Python's own number: NumPy's small integers overflow."""
    return int(value) if isinstance(value, Integral) else float(value)


def make_rows(
    X: Matrix,
    kernel: Kernel,
    fit_intercept: bool,
    C: float,
    cache_size: float | None = None,
    pairs: np.ndarray | None = None,
    n_jobs: int | None = None,
    intercept_scaling: float = Options.bias,
) -> LinearRows | GramRows:
    """Rows of X under the kernel; see `wellsvm.rows.making.kernel_rows`."""
    bias = intercept_scaling if flag("fit_intercept", fit_intercept) else 0.0
    if kernel.name == "linear":
        rows = BlockRows(X, bias, n_jobs) if isinstance(X, Blocks) else LinearRows(X, bias, n_jobs)
        rows = rows.settled()
        rows.require_digits()
        return rows
    return kernel_rows(X, kernel, bias, C, None if cache_size is None else float(cache_size), pairs)


# ------------------------------------------------------------------ estimators


class Silent:
    """Progress of a fit without callbacks; `wellsvm.estimators.callbacks.Progress` informs those of scikit-learn."""

    label_vector: Callable[[Record], bool] | None = None

    def part(
        self, number: int, title: str, *, parts: int = 1, max_iter: int | None = None
    ) -> AbstractContextManager[Silent]:
        """The progress of one of several problems."""
        return nullcontext(self)

    def end(self, *, fitted: bool = False) -> bool:
        """The problem is done; whether a callback wants to stop."""
        return False


class KernelModel(BaseEstimator):
    """f(x) = sum_j coef_j k(x_j, x) + intercept: storing it after `fit`, computing it for new rows."""

    # Attributes of the size of the training set; a pickle leaves them out, a copy does not.
    _of_training_rows: tuple[str, ...] = ("labelings_",)
    # Where scikit-learn's HTML representation links to.
    _doc_link_module = "wellsvm"
    _doc_link_template = "{page}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": page_of(type(self))}

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

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds what predicts: nothing of the size of the training set."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._of_training_rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A model of an earlier release lacks the parameters that came later: they get their defaults."""
        parameters = signature(type(self).__init__).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        super().__setstate__({**defaults, **state})

    def _progress(self, X: Any, y: Any = None, *, parts: int = 1, max_iter: int | None = None) -> Silent:
        """Begin to inform callbacks of the fit: ``parts`` problems, or one of at most ``max_iter`` label vectors."""
        if not getattr(self, "_skl_callbacks", None):
            return Silent()
        from wellsvm.estimators.callbacks import Progress

        return Progress.begin(self, X, y, parts=parts, max_iter=max_iter)

    @staticmethod
    def _fit_tasks(
        tasks: Sequence[Task],
        options: Options,
        rngs: Sequence[np.random.Generator],
        n_jobs: int | None,
        progress: Silent,
        first: int = 0,
        together: bool = False,
    ) -> list[Fit]:
        """Fit all tasks, in threads if there are several; parts of the progress are numbered from ``first`` on.

        ``together`` searches labels of all tasks, one per class, that respect all their counts.
        """

        def part(k: int) -> AbstractContextManager[Silent]:
            return progress.part(first + k, tasks[k].title or "fit", max_iter=options.max_iter)

        def fit_task(k: int) -> Fit:
            with part(k) as watched:
                return recipe.fit(tasks[k], options, rngs[k], watched.label_vector)

        if together:
            return fit_together(tasks, options, rngs, n_jobs, part)
        return run([partial(fit_task, k) for k in range(len(tasks))], n_jobs)

    def _store_coefficients(self, X: Matrix, kernel: Kernel, coef: FloatArray, intercept: FloatArray) -> None:
        """Store the functions with the given weights, or coefficients of the rows of X, one row of ``coef`` each."""
        if kernel.name == "linear":
            self._store_function(LinearFunction(coef, intercept), kernel)
        else:
            self._store_function(KernelFunction.over(X, kernel, coef, intercept), kernel)

    def _store_function(self, function: Function | None, kernel: Kernel) -> None:
        """Store a function in place of that of an earlier fit, which may have had another kernel; None is none."""
        for name in ATTRIBUTES:
            self.__dict__.pop(name, None)
        self._kernel, self.intercept_ = kernel, np.empty(0)
        if function is not None:
            self.__dict__.update({name: value for name, value in vars(function).items() if name in ATTRIBUTES})

    def _store_report(self, fits: list[Fit], labelings: list[np.ndarray], tol: float) -> None:
        """Store what the engine reports of every fit: single values where there is one fit, else one entry per fit."""
        for fit in fits:
            if not np.isfinite([fit.relaxation.solution.upper, fit.relaxation.solution.gap]).all():
                raise ValueError(
                    f"{type(self).__name__}: the objective overflows; scale the features of X, for instance with "
                    "sklearn.preprocessing.StandardScaler, or lower C and sample_weight"
                )
            if fit.relaxation.status in ACT:
                warn(fit.relaxation, type(self).__name__, tol)
            elif isinstance(fit.settled, Solution) and not fit.settled.solved_to(tol):
                warn_unsolved(fit.settled, type(self).__name__, tol)
        relaxations, single = [fit.relaxation for fit in fits], len(fits) == 1

        def per_fit(values: list[Any]) -> Any:
            return values[0] if single else values

        def figures(values: list[float]) -> Any:
            return float(values[0]) if single else np.array(values)

        self.labelings_ = per_fit(labelings)
        self.labeling_weights_ = per_fit([r.solution.mu for r in relaxations])
        self.objective_ = figures([r.solution.upper for r in relaxations])
        self.gap_ = figures([r.solution.gap for r in relaxations])
        self.oracle_violation_ = figures([r.violation for r in relaxations])
        refined = [fit.refined_objective for fit in fits if fit.refined_objective is not None]
        self.refined_objective_ = figures(refined) if refined else None
        gaps = [fit.settled.gap for fit in fits if isinstance(fit.settled, Solution)]
        self.refined_gap_ = figures(gaps) if gaps else None
        self.history_ = per_fit([r.history for r in relaxations])
        self.n_iter_ = max((len(r.history) for r in relaxations), default=1)
        self.status_ = per_fit([str(r.status) for r in relaxations])

    def _functions(self, X: Any) -> FloatArray:
        """Values of all stored functions, of shape (n_samples, n_functions)."""
        check_is_fitted(self)
        return self._evaluate(check_matrix(self, X, reset=False))

    def _evaluate(self, X: Matrix) -> FloatArray:
        """As `_functions`, of rows that are checked."""
        return read(vars(self)).values(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
