"""SemiSupervisedSVC: section 4.1 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from wellsvm._arguments import choice, flag, path, price, seed_of, threads
from wellsvm._typing import BoolArray
from wellsvm.engine.recipe import Task, stage
from wellsvm.engine.safety import Verdict
from wellsvm.estimators.base import (
    AS_IN_PAPER,
    fitting,
    make_kernel,
)
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.checkpoints import stages_of
from wellsvm.estimators.evidence import judge_use
from wellsvm.estimators.probabilities import ProbabilityMixin
from wellsvm.estimators.semi_supervised_base import KnownLabels, SemiSupervisedBase
from wellsvm.estimators.verbose_outcome import tell_outcome
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import Rows

__all__ = ["SemiSupervisedSVC"]

SEMI_SUPERVISED_AS_IN_PAPER = {
    "C": 1.0,
    "C_unlabeled": 0.1,
    "loss": "paper",
    "init": "svm",
    "balance": "labels",
    "search": "local",
    "safe": False,
}


def _scale_of_price(rows: Rows, labeled: BoolArray) -> float:
    """What the usual penalty on an unlabeled row is multiplied by: less where rows spread more, but all unlabeled rows
    together keep a part of the weight of the labels."""
    known = int(np.count_nonzero(labeled))
    part = Options.least_unlabeled_weight * known / max(1, labeled.size - known)
    return max(Options.usual_spread / max(Options.usual_spread, _spread(rows)), min(1.0, part))


def _spread(rows: Rows) -> float:
    """Mean squared distance of the rows from their mean, in feature space; of many rows by some, evenly spaced."""
    n = min(rows.n_instances, Options.spread_rows)
    some = rows.part(np.linspace(0, rows.n_instances - 1, n).astype(np.intp)) if n < rows.n_instances else rows
    mean = some.combine(np.full((n, 1), 1.0 / n))
    return float(some.squared_norms.mean() - some.scores(mean).mean())


class SemiSupervisedSVC(ProbabilityMixin, SemiSupervisedBase):
    """Large-margin classifier that learns from labeled and unlabeled rows.

    Among all labelings of the unlabeled rows that respect the class balance, it looks for those that allow a large
    margin, combines them by a convex program, and (with ``refine``) settles on one of them.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a labeled row. With the squared hinge loss, which is ``C / 2`` times the squared slack, 2
        corresponds to ``C=1`` in LinearSVC.
    C_unlabeled : float or "auto", default="auto"
        Penalty on the loss of an unlabeled row. 0 gives the supervised SVM. "auto" is 0.2 for the squared hinge loss
        and 0.5 for the hinge loss if the rows are of about unit length. If their mean squared distance from their mean
        is more than 1 (for standardized columns, it is the number of columns), the penalty is divided by it, but by no
        more than twice the number of unlabeled rows per labeled row. ``C_unlabeled_`` is the value used.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel. A callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid". A larger value makes the kernel narrower. "mean" is one over the
        mean squared distance between training rows; "scale" and "auto" are as in :class:`sklearn.svm.SVC`.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        Loss function. "auto" is hinge for sparse rows with the linear kernel, and squared hinge otherwise; "paper" is
        hinge for the linear kernel, and squared hinge otherwise.
    fit_intercept : bool, default=True
        Whether to fit an intercept: the weight of a constant feature, which is regularized like the others, as in
        LIBLINEAR. With the linear kernel, dense columns far from 0 are then centered internally; ``coef_`` and
        ``intercept_`` are for X as given.
    balance : "estimate", "labels", float, (low, high), dict or None, default="estimate"
        Share of each class among the unlabeled rows. Set it if you know it: a float is the share of ``classes_[1]``, a
        pair is an interval for this share, and a dict maps each class to a share or an interval. For more than two
        classes, use a dict. "estimate" estimates the shares from labeled and unlabeled rows together, "labels" takes
        those of the labeled rows, and None does not constrain them.
    unlabeled : "auto", None, value or list of values, default="auto"
        The value or values that mark unlabeled rows in y, in addition to missing values; see
        :func:`wellsvm.partial_labels.normalize_partial_labels`.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for the labeled rows of each class.
    init : {"refined", "svm", "alignment"} or array of shape (n_samples,), default="refined"
        First label vector. "refined": the predictions of the supervised SVM, improved by a search. "svm": these
        predictions as they are, the paper's choice. "alignment": the best of 20 random label vectors by kernel
        alignment. An array holds a class label for every row.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found. "paper": by one linearization at the best label vector in use. "first": the
        same, but of several equally good label vectors, at the one generated first. "climb": by climbing from many
        starts.
    refine : bool, default=True
        Whether to settle on one labeling after the relaxation: round, then solve the SVM and relabel until nothing
        changes.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Maximum number of label vectors. With ``refine`` and the usual ``oracle`` there are at most 5, as the search
        makes the result, and 1 under a kernel.
    warm_start : bool, default=False
        Whether a second `fit` on the same rows starts from the labels and dual variables of the first.
    random_state : int, RandomState or None, default=None
        Seed for the order of coordinate descent and for random starts. Estimated shares, and whether unlabeled rows
        are used, do not depend on it.
    n_jobs : int or None, default=None
        Number of threads. With more than two classes, they solve the one-vs-rest problems; with two classes and the
        linear kernel, they share the passes over all rows and the searches that correct the estimated share. Results do
        not depend on it.
    verbose : int, default=0
        1 prints a line per label vector and a summary at the end: how many rows were labeled, found and uncertain.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine. If the kernel matrix does not fit, its
        rows are computed when needed, and only the most recently used are kept. This takes many times as long, and may
        find other label vectors, since the steps come in a different order. Ignored for "linear" and "precomputed".
    min_violation : float or None, default=None
        A label vector is only added if it violates its constraint by at least this. None is ``tol``.
    min_decrease : float or None, default=None
        The relaxation stops when a label vector lowers the objective by less than this, even if others are still
        violated. None is ``10 * tol``, or ``tol`` if the relaxation is the result (``refine=False``).
    stopping : {"relative", "absolute", "paper"}, default="relative"
        Units of ``min_violation`` and ``min_decrease``: relative to the objective, absolute, or absolute in the paper's
        units.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the label vectors are found: by a level method, or by the paper's closed form.
    search : {"annealed", "smooth", "local", "auto"}, default="annealed"
        How to search for one labeling. "annealed" relabels rows while the penalty on unlabeled rows rises step by step
        to ``C_unlabeled``; "local" relabels them at that penalty only. "smooth" relabels nothing: it moves f itself by
        gradient descent while the penalty rises, with the squared hinge loss on labeled rows and the loss
        ``exp(-3 f^2)`` on unlabeled rows, and needs an intercept. "auto" is "annealed";
        :class:`SemiSupervisedSVCCV` chooses by the data.
    safe : bool, default=True
        Whether to ignore the unlabeled rows if they do not help; ``used_unlabeled_`` shows the outcome. `fit` holds out
        the labeled rows in turn, and uses the unlabeled rows only if they clearly lower the loss of the held-out ones,
        and bring it as clearly below that of a guess: by one and a half standard errors, or one with a smooth search.
        With a kernel and another search, it is two, and the loss must also fall if the values of f are first scaled to
        the same size.

        Any decrease is enough if the rows use at least four dimensions for every label (with more classes, for every
        label of an average pair). There, with more than 50 labels, or with a kernel, the scaled loss must fall as well;
        otherwise, a decrease of less than one and a half standard errors must not come with more wrong rows.

        If the outcome is close or in doubt, the folds are drawn again, up to three times in all. The outcome does not
        depend on ``random_state``. This is checked only if the balance is estimated. If no class has two labels,
        nothing can be held out, and the unlabeled rows are used.
    intercept_scaling : float, default=1.5
        Value of the constant feature that represents the intercept. The larger it is, the less the intercept is
        regularized. With few labels, 3 can be better, for example on columns scaled to [0, 1].
    probability : bool, default=False
        Whether to enable `predict_proba`: Platt's logistic function of f, fitted to the values of held-out labeled
        rows. This takes about five additional rough fits.
    checkpoint : path or None, default=None
        File in which `fit` saves its progress; for the linear kernel only. If a `fit` with the same data and parameters
        finds the file, it continues from there, with exactly the same result. The file is removed at the end.
    neighbors : int or None, default=None
        Number of nearest neighbors (at most all other rows) in a graph that deforms the kernel so that f changes little
        between neighbors. 6 is
        a good choice if the classes lie on curved surfaces, as images of digits do; on other data it can hurt.
        :class:`SemiSupervisedSVCCV` tries both. It needs five matrices of the size of the kernel matrix, even for the
        linear kernel, and its time grows with the cube of the number of rows. If the matrices do not fit in memory, an
        error is raised.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Known classes.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights, for the linear kernel: one function for two classes, otherwise one per class. `intercept_` exists for
        every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_functions, n_support), indices of the support vectors, and the
        support vectors themselves.
    transduction_ : array of shape (n_samples,)
        Label of every training row. Known labels are kept; with two classes, the balance holds.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation, +1 for ``classes_[1]``; for more classes one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master problem, its distance to the lower bound, and the violation of the last
        label vector generated. Finding no violation does not prove that there is none. With more than two classes,
        more than 40,000 rows, or a kernel and ``oracle="paper"``, the relaxation has one label vector and only starts
        the search, unless ``refine=False``.
    refined_objective_, refined_gap_ : float, array or None
        Mixed-integer objective of the labeling chosen by refinement, every row at its penalty, and the gap to which its
        SVM, which is the result, was solved. In the SVM of an annealed search, rows near the boundary count less, so
        this is not the gap of the objective. None without refinement; the gap is None with a smooth search, too.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Number of label vectors generated (the maximum over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended. It has converged only if this is "no violated label vector found".
    balance_, balance_se_ : arrays of shape (n_classes,)
        Share of each class among the unlabeled rows, and its standard error. The share is as estimated or given, or as
        found if it was not constrained; the error of a given share is 0.
    balance_found_ : array of shape (n_classes,)
        Share of each class among the predictions for the unlabeled rows.
    C_unlabeled_ : float
        The penalty on the loss of an unlabeled row. If ``used_unlabeled_`` is False, it was not used.
    used_unlabeled_ : bool
        Whether the unlabeled rows were used; if False, the model is the supervised SVM.
    proba_slope_, proba_offsets_ : float and array of shape (n_classes,)
        With ``probability=True``: the probabilities are ``softmax(slope * f + offsets)``, where f is (-f, f) for two
        classes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    Pickles contain what is needed to predict, but not the attributes that describe the training rows, ``transduction_``
    and ``labelings_``.

    Searches need folds or scores that can handle unlabeled rows: `wellsvm.model_selection.SemiSupervisedSplit` or
    `wellsvm.metrics.make_labeled_scorer`. Probabilities assume that the classes are as frequent as among the labeled
    rows; with few labels they are rough.

    With scikit-learn 1.9 or newer, ``set_callbacks(ProgressBar())`` shows every label vector with its gap. A callback
    that returns True at the end of a label vector's task stops the cutting plane (``status_`` is then "stopped by
    callback").

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
        C=2.0,
        C_unlabeled="auto",
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        balance="estimate",
        unlabeled="auto",
        class_weight=None,
        init="refined",
        oracle="paper",
        refine=True,
        tol=1e-3,
        max_iter=50,
        warm_start=False,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        search="annealed",
        safe=True,
        intercept_scaling=1.5,
        probability=False,
        checkpoint=None,
        neighbors=None,
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
        self.cache_size = cache_size
        self.min_violation = min_violation
        self.min_decrease = min_decrease
        self.stopping = stopping
        self.weight_update = weight_update
        self.search = search
        self.safe = safe
        self.intercept_scaling = intercept_scaling
        self.probability = probability
        self.checkpoint = checkpoint
        self.neighbors = neighbors

    @classmethod
    def as_in_paper(cls, **params: Any) -> Self:
        """An estimator whose parameters are the paper's choices, all but those given here; see docs/as_in_paper.md."""
        return cls(**{**AS_IN_PAPER | SEMI_SUPERVISED_AS_IN_PAPER, **params})

    def fit(self, X, y, sample_weight=None):
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : array of shape (n_samples,)
            Labels; unlabeled rows are marked as described under ``unlabeled``.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss. A row of weight 0 has no loss but still counts in the balance.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y, sample_weight)

    @with_callbacks
    def _fit(self, X, y, sample_weight):
        options, n_jobs = self._options(), threads(self.n_jobs)
        path("checkpoint", self.checkpoint)
        safe, again, probable = (flag(name, getattr(self, name)) for name in ("safe", "warm_start", "probability"))
        X, partial = self._validate(X, y)
        loss = self._loss(X)
        if loss == "hinge" and options.search_prices:
            options = replace(options, search_prices=Options.hinge_prices)
        C_unlabeled = self._C_unlabeled(loss)
        C = self._prices(X, partial, sample_weight, C_unlabeled)
        kernel, titles = make_kernel(self, X), self._titles(partial.classes)
        # One problem leaves the threads to the passes over its rows.
        rows = self._rows_of(X, kernel, float(C.max()), n_jobs if len(titles) == 1 else None, None, self.neighbors)
        stages = None if self.checkpoint is None else stages_of(self, rows, y=partial.codes, prices=C)
        if isinstance(self.C_unlabeled, str):
            scale = _scale_of_price(rows, partial.labeled)
            C_unlabeled *= scale
            C[~partial.labeled] *= scale
            C[Options.least_price > C] = 0.0  # as of any row
        (seed,) = stage(stages, "seed", lambda: (seed_of(self.random_state),))
        shares = self._kept_shares(stages, lambda: self._shares(rows, partial, loss, C, options))
        label_sets = self._label_sets(partial, shares and shares.shares)
        inits = self._inits(partial, label_sets)
        asked = safe and shares is not None and bool(np.any(C[~partial.labeled] > 0))
        if asked:
            verdict = stage(stages, "verdict", lambda: judge_use(rows, partial, shares, loss, C, options))
            if not Verdict(*verdict).helps:
                C[~partial.labeled] = 0.0
        losses, free = Losses.of(loss, C), ~partial.labeled
        warm = getattr(self, "_fits", None) if again else None
        warm = warm if warm is not None and len(warm) == len(titles) else [None] * len(titles)
        space = self._coordinates(rows, partial, C, seed, options)
        parts = [stages and stages.part(str(k)) for k in range(len(titles))]
        tasks = [
            Task(rows, labels, losses, KnownLabels(init, warm=fit), free, title, part, space)
            for labels, init, fit, title, part in zip(label_sets, inits, warm, titles, parts)
        ]
        progress = self._progress(X, y, parts=len(tasks), max_iter=options.max_iter)
        rngs = [np.random.default_rng([seed, k]) for k in range(len(tasks))]
        fits = self._fit_tasks(tasks, options, rngs, n_jobs, progress, together=self._searches_together(label_sets))
        self._store(X, kernel, rows, partial, fits, options)
        self._store_shares(partial, shares, label_sets)
        self.C_unlabeled_, self.used_unlabeled_ = C_unlabeled, bool(np.any(C[free] > 0))
        if probable:
            self._store_probabilities(rows, partial, loss, C, seed, options)
        self._fits = fits if again else None
        if stages is not None:
            stages.close()
        progress.end(fitted=True)
        if options.verbose:
            tell_outcome(self, X, partial.labeled)
        return self

    def _C_unlabeled(self, loss):
        if isinstance(self.C_unlabeled, str):
            choice("C_unlabeled", self.C_unlabeled, ("auto",), also=" or a number")
            return Options.hinge_C_unlabeled if loss == "hinge" else Options.squared_hinge_C_unlabeled
        return price("C_unlabeled", self.C_unlabeled, open_low=False)
