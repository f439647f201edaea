"""SemiSupervisedSVC: section 4.1 of the paper behind scikit-learn's interface."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state, compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from wellsvm._typing import FloatArray, LabelArray, Matrix
from wellsvm.engine.separation import ORACLES
from wellsvm.estimators._common import KernelModel, check_matrix, make_geometry, make_kernel
from wellsvm.estimators._parameters import choice, number, whole_number
from wellsvm.estimators._two_class import BinaryFit, Settings, fit_binary
from wellsvm.labels.balanced import BalancedLabels, positive_bounds
from wellsvm.partial_labels import PartialLabels, normalize_partial_labels, require_two_classes

__all__ = ["SemiSupervisedSVC"]

INITS = ("svm", "refined", "alignment")
LOSSES = ("hinge", "squared_hinge", "auto")


class SemiSupervisedSVC(ClassifierMixin, KernelModel):
    """Large-margin classifier that learns from labeled and unlabeled rows.

    Of all ways to label the unlabeled rows that respect the class balance it looks for those that allow a large
    margin, combines them by a convex program, and (with ``refine``) settles on one.

    Parameters
    ----------
    C : float, default=1.0
        Price of the loss of a labeled row.
    C_unlabeled : float, default=0.1
        Price of the loss of an unlabeled row. 0 gives the supervised SVM.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Width of "rbf", "poly" and "sigmoid". "mean" is one over the mean squared distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for the linear kernel and squared hinge otherwise, as in the paper.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    balance : "labels", float, (low, high), dict or None, default="labels"
        Share of positives among the unlabeled rows: that of the labeled rows, a given one, an interval, or free.
        For more than two classes: "labels", None, or a dict from class to share or interval.
    unlabeled : "auto", None, value or list of values, default="auto"
        What marks an unlabeled row in y, besides missing values; see
        :func:`wellsvm.partial_labels.normalize_partial_labels`.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for the labeled rows of each class.
    init : {"svm", "refined", "alignment"} or array of shape (n_samples,), default="svm"
        First label vector: the supervised SVM's, the same after refinement, the best of 20 random ones by kernel
        alignment, or class labels for all rows.
    oracle : {"paper", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-3
        Tolerance of both stopping rules and of the duality gap, relative to the objective.
    max_iter : int, default=50
        Most label vectors to generate.
    warm_start : bool, default=False
        Whether a second `fit` on the same rows starts from the first one's labels and dual variables.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes; results do not depend on it.
    verbose : int, default=0
        1 prints a table row per label vector.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Known classes.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights, for the linear kernel; one function for two classes, else one per class. `intercept_` exists for
        every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_functions, n_support), rows and their indices.
    transduction_ : array of shape (n_samples,)
        Label of every training row: known ones kept; two classes: the balance holds.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation, +1 for ``classes_[1]``; for more classes one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last label
        vector generated. No violation found is no proof that there is none.
    refined_objective_ : float, array or None
        Mixed-integer objective of the labelling that refinement settled on.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Label vectors generated (most over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    A pickle holds what predicts, not what describes the training rows: ``transduction_`` and ``labelings_`` are left
    out of it.

    Examples
    --------
    >>> from wellsvm import SemiSupervisedSVC
    >>> from wellsvm.datasets import make_two_moons
    >>> moons = make_two_moons(n_samples=200, n_labeled=6, random_state=0)
    >>> model = SemiSupervisedSVC(kernel="rbf", unlabeled=-1, random_state=0).fit(moons.X, moons.y_partial)
    >>> bool(model.score(moons.X, moons.y) > 0.9)
    True
    """

    def __init__(
        self,
        C=1.0,
        C_unlabeled=0.1,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        balance="labels",
        unlabeled="auto",
        class_weight=None,
        init="svm",
        oracle="paper",
        refine=True,
        tol=1e-3,
        max_iter=50,
        warm_start=False,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.unlabeled = unlabeled
        self.class_weight = class_weight
        self.init = init
        self.oracle = oracle
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : array of shape (n_samples,)
            Labels; unlabeled rows marked as ``unlabeled`` says.
        sample_weight : array of shape (n_samples,), optional
            Factor on the price of each row's loss.

        Returns
        -------
        self
        """
        settings = self._settings()
        X, partial = self._validate(X, y)
        C = self._prices(X, partial, sample_weight)
        kernel = make_kernel(self, X)
        geometry = make_geometry(X, kernel, self.fit_intercept)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        problems = self._problems(partial)
        inits = self._initial_labels(partial, [labels for _, labels in problems])
        warm = self._warm_fits(X.shape[0], len(problems))

        def fit_one(k: int) -> BinaryFit:
            title, labels = problems[k]
            rng = np.random.default_rng([seed, k])
            return fit_binary(
                geometry, labels, C, settings, rng=rng, title=title, init=inits[k], warm=warm[k]
            )

        # Threads share X and the kernel matrix, and the kernels release the lock.
        fits = Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(fit_one)(k) for k in range(len(problems)))
        self._store(X, kernel, partial, fits)
        return self

    # ------------------------------------------------------------------ checks

    def _settings(self) -> Settings:
        number("C", self.C, low=0.0, open_low=True)
        number("C_unlabeled", self.C_unlabeled, low=0.0)
        loss = choice("loss", self.loss, LOSSES)
        if loss == "auto":
            loss = "hinge" if isinstance(self.kernel, str) and self.kernel == "linear" else "squared_hinge"
        init = choice("init", self.init, INITS, also=" or an array") if isinstance(self.init, str) else "svm"
        return Settings(
            loss=loss,
            init=init,
            oracle=choice("oracle", self.oracle, tuple(ORACLES)),
            refine=bool(self.refine),
            tol=number("tol", self.tol, low=0.0, open_low=True),
            max_iter=whole_number("max_iter", self.max_iter, low=1),
            verbose=whole_number("verbose", int(self.verbose), low=0),
        )

    def _validate(self, X: Any, y: Any) -> tuple[Matrix, PartialLabels]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        X = check_matrix(self, X, reset=True)
        partial = normalize_partial_labels(y, self.unlabeled)
        check_consistent_length(X, partial.codes)
        require_two_classes(partial)
        if partial.labeled.all():
            warnings.warn(
                f"{type(self).__name__}: no row of y is unlabeled, so this is a plain supervised SVM; "
                "mark unlabeled rows with NaN, None or the value given as unlabeled=...",
                UserWarning,
                stacklevel=3,
            )
        return X, partial

    def _prices(self, X: Matrix, partial: PartialLabels, sample_weight: Any) -> FloatArray:
        """C of every row."""
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        C = np.where(partial.labeled, float(self.C), float(self.C_unlabeled)) * weight
        if self.class_weight is not None:
            known = partial.codes[partial.labeled]
            by_class = compute_class_weight(
                self.class_weight, classes=partial.classes, y=partial.classes[known]
            )
            C[partial.labeled] *= by_class[known]
        if not np.any(C[partial.labeled] > 0):
            raise ValueError("sample_weight or class_weight is 0 for every labeled row; nothing is left to learn from")
        return C

    def _problems(self, partial: PartialLabels) -> list[tuple[str, BalancedLabels]]:
        """A title and the allowed labels of each two-class problem."""
        if len(partial.classes) == 2:
            wanted = [(1, self.balance)]
        else:
            wanted = [(k, self._class_balance(partial.classes, k)) for k in range(len(partial.classes))]
        problems = []
        for k, balance in wanted:
            y_known = np.where(partial.codes == k, 1, -1).astype(np.int8)
            y_known[~partial.labeled] = 0
            bounds = positive_bounds(_check_balance(balance), y_known)
            title = "" if len(wanted) == 1 else f"class {partial.classes[k]!r} against the rest"
            problems.append((title, BalancedLabels(y_known, *bounds)))
        return problems

    def _class_balance(self, classes: np.ndarray, k: int) -> Any:
        if isinstance(self.balance, dict):
            missing = [c for c in classes if c not in self.balance]
            if missing:
                raise ValueError(f"balance has no entry for class {missing[0]!r}; give one for each of {list(classes)}")
            return self.balance[classes[k]]
        if self.balance is None or isinstance(self.balance, str):
            return self.balance
        raise ValueError(
            f"balance={self.balance!r} is one share but y has {len(classes)} classes; use 'labels', None or a dict "
            "from class to share"
        )

    def _initial_labels(
        self, partial: PartialLabels, label_sets: list[BalancedLabels]
    ) -> list[LabelArray | None]:
        """The user's first labels, one vector per problem, or None each."""
        if isinstance(self.init, str):
            return [None] * len(label_sets)
        given = np.asarray(self.init)
        if given.shape != partial.codes.shape or not np.isin(given, partial.classes).all():
            raise ValueError(
                f"init must hold one of the classes {list(partial.classes)} for each of the {partial.codes.size} rows; "
                f"got an array of shape {given.shape}"
            )
        positives = [partial.classes[1]] if len(label_sets) == 1 else list(partial.classes)
        vectors = [np.where(given == c, 1, -1).astype(np.int8) for c in positives]
        for y, label_set in zip(vectors, label_sets):
            if not label_set.contains(y):
                raise ValueError(
                    "init contradicts the known labels or the balance: among the unlabeled rows between "
                    f"{label_set.low} and {label_set.high} must be positive; change init, or pass balance=None"
                )
        return vectors

    def _warm_fits(self, n_rows: int, n_problems: int) -> list[BinaryFit | None]:
        fits = getattr(self, "_fits", None) if self.warm_start else None
        if fits is None or len(fits) != n_problems or fits[0].y.size != n_rows:
            return [None] * n_problems
        return list(fits)

    # ------------------------------------------------------------------ results

    def _store(self, X: Matrix, kernel: Any, partial: PartialLabels, fits: list[BinaryFit]) -> None:
        self.classes_ = partial.classes
        for fit in fits:
            fit.result.warn_unless_converged(type(self).__name__)
        self._store_functions(X, kernel, [fit.predictor for fit in fits])
        results = [fit.result for fit in fits]
        binary = len(fits) == 1

        def per_problem(values: list[Any]) -> Any:
            return values[0] if binary else values

        def figures(values: list[float]) -> Any:
            return float(values[0]) if binary else np.array(values)

        self.labelings_ = per_problem([np.stack(r.labels) for r in results])
        self.labeling_weights_ = per_problem([r.mu for r in results])
        self.objective_ = figures([r.objective for r in results])
        self.gap_ = figures([r.gap for r in results])
        self.oracle_violation_ = figures([r.violation for r in results])
        self.refined_objective_ = figures([f.refined.objective for f in fits if f.refined]) if self.refine else None
        self.history_ = per_problem([list(r.history) for r in results])
        self.n_iter_ = max(len(r.history) for r in results)
        self.status_ = per_problem([str(r.status) for r in results])
        codes = (fits[0].y > 0).astype(np.intp) if binary else np.argmax([f.scores() for f in fits], axis=0)
        self.transduction_ = self.classes_[np.where(partial.labeled, partial.codes, codes)]
        self._fits = fits if self.warm_start else None

    def decision_function(self, X):
        """Values of f: of shape (n_samples,) for two classes, else (n_samples, n_classes).

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.
        """
        values = self._functions(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Class of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        values = self.decision_function(X)
        codes = (values > 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)
        return self.classes_[codes]

    # ------------------------------------------------------------------ scikit-learn

    def __getstate__(self):
        """A pickle holds what predicts: nothing of the size of the training set."""
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("transduction_", "labelings_", "_fits")}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _check_balance(balance: Any) -> Any:
    """"labels", None, a share, or an interval of shares."""
    ways = "'labels', a share in [0, 1], an interval (low, high) of shares, or None"
    if balance is None:
        return None
    if isinstance(balance, str):
        if balance != "labels":
            raise ValueError(f"balance must be {ways}; got balance={balance!r}")
        return balance
    if isinstance(balance, (tuple, list)):
        if len(balance) != 2:
            raise ValueError(f"balance must be {ways}; got balance={balance!r}")
        low, high = (number("balance", share, low=0.0, high=1.0) for share in balance)
        if low > high:
            raise ValueError(f"balance=({low:g}, {high:g}) has its ends reversed; the lower share comes first")
        return low, high
    return number("balance", balance, low=0.0, high=1.0)


