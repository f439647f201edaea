"""NoisyLabelSVC: every row has a label, and some labels are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from wellsvm._arguments import number
from wellsvm._typing import BoolArray, FloatArray
from wellsvm.engine.noise import Flips, choose_noise, choose_price
from wellsvm.engine.report import tell
from wellsvm.estimators.base import fitting
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.weak_base import Ground, WeakBase, class_labels, svm_scores
from wellsvm.labels.noisy import NoisyLabels
from wellsvm.options import Options
from wellsvm.partial_labels import (
    PartialLabels,
    normalize_partial_labels,
    require_two_classes,
    require_weight_of_every_class,
)

__all__ = ["NoisyLabelSVC"]


class NoisyLabelSVC(WeakBase):
    """Large-margin classifier for labels that may be wrong.

    Among all ways to correct at most a given share of the labels, it looks for those that allow a large margin. With
    more than two classes, each class is separated from the rest.

    Parameters
    ----------
    noise : "cv", float or dict, default="cv"
        Largest share of wrong labels: chosen by cross-validation ("cv"), a number, or a dict with a share for each
        class (of the rows with that label; 0 for classes without an entry). 0 is the plain SVM; cross-validation
        chooses a larger share only if it is clearly better.
    C : float or "cv", default="cv"
        Penalty on the loss of a row. With "cv" it is 2, or 0.2 or 0.02 if cross-validation finds that clearly better:
        at a lower penalty f fits wrong labels less closely.
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
    intercept_scaling : float, default=1.0
        Value of the constant feature that represents the intercept. The larger it is, the less the intercept is
        regularized.
    search : {"annealed", "local"}, default="annealed"
        How to search for one labeling: "annealed" raises the penalty on rows with uncertain labels step by step;
        "local" uses only the final penalty.
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
    random_state : int, RandomState or None, default=None
        Seed for the order of coordinate descent and for random starts.
    n_jobs : int or None, default=None
        Number of threads. With more than two classes, they solve the one-vs-rest problems; with two classes and the
        linear kernel, they share the passes over all rows. Results do not depend on it.
    verbose : int, default=0
        1 prints one line per label vector.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes.
    noise_ : array of shape (n_classes,)
        The largest share of wrong labels among the rows of each label, as given or chosen.
    C_ : float
        The penalty, as given or chosen.
    suspects_ : array of shape (n_samples,)
        Indices of the training rows, starting with the one whose label is most suspicious.
    suspicion_ : array of shape (n_samples,)
        How suspicious each label is: half the difference between the value of f for the best other class and that for
        the row's own class. A value above 0 means that f contradicts the label.
    transduction_ : array of shape (n_samples,)
        Label of every training row, after corrections within the allowed share.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        The function f, as in :class:`SemiSupervisedSVC`: one function for two classes, otherwise one per class.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, refined_gap_, history_,
    n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import NoisyLabelSVC
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(200) % 2
    >>> X = rng.standard_normal((200, 2)) + 4 * truth[:, None]
    >>> y = np.where(np.arange(200) < 30, 1 - truth, truth)  # 30 labels are wrong
    >>> model = NoisyLabelSVC(noise=0.15, random_state=0).fit(X, y)
    >>> bool(np.mean(model.suspects_[:30] < 30) > 0.9)
    True
    """

    _of_training_rows = (*WeakBase._of_training_rows, "suspects_", "suspicion_")

    def __init__(
        self,
        noise="cv",
        C="cv",
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        intercept_scaling=1.0,
        search="annealed",
        oracle="paper",
        refine=True,
        tol=1e-3,
        max_iter=50,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
    ):
        self.noise = noise
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.search = search
        self.oracle = oracle
        self.refine = refine
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size

    def fit(self, X, y, sample_weight=None, trusted=None):
        """Learn from labels that may be wrong.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss.
        trusted : bool array of shape (n_samples,), optional
            Rows whose label is known to be right.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y, sample_weight, trusted)

    @with_callbacks
    def _fit(self, X, y, sample_weight, trusted):
        by_cv = isinstance(self.C, str) and self.C == "cv"
        most = max(Options.noise_prices) if by_cv else self._price()
        X = self._checked(X)
        known = self._read(X, y)
        ground = self._ground(X, sample_weight, len(known.classes), most)
        require_weight_of_every_class(known, ground.weight, "sample_weight")
        wrong = ~_mask(trusted, known.codes.size)
        flips = Flips(known.codes, len(known.classes), wrong)
        self.C_ = self._chosen_price(ground, flips) if by_cv else most
        prices = self.C_ * ground.weight
        self.noise_ = self._noise(ground, known, flips, prices)
        labels = class_labels(known.codes, len(known.classes))
        label_sets = [NoisyLabels(given, flips.budget(k, self.noise_), ~wrong) for k, given in enumerate(labels)]
        if not any(any(labels.flips) for labels in label_sets):
            ground = replace(ground, options=ground.options.but(tol=Options.plain_tol * ground.options.tol))
        scores = [[svm_scores(ground, given, prices, k)] for k, given in enumerate(labels)]
        # The labels are not certain, but for one set without a flip: nothing is to be searched there.
        fits = self._fit_sets(ground, known, label_sets, scores, prices, np.ones(wrong.size, dtype=bool))
        self._store_suspects(known, [fit.scores() for fit in fits], [fit.y() for fit in fits])
        return self

    def _read(self, X, y: Any) -> PartialLabels:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        known = normalize_partial_labels(y, None)
        check_consistent_length(X, known.codes)
        require_two_classes(known)
        return known

    def _chosen_price(self, ground: Ground, flips: Flips) -> float:
        """The price of a row by cross-validation."""
        chosen = choose_price(ground.rows, flips, ground.loss, ground.weight, ground.seed, ground.options)
        if ground.options.verbose:
            tell(f"C, by cross-validation: {chosen:g}")
        return chosen

    def _noise(self, ground: Ground, known: PartialLabels, flips: Flips, prices: FloatArray) -> FloatArray:
        """The largest share of wrong labels of each class."""
        n_classes = len(known.classes)
        if isinstance(self.noise, str):
            if self.noise != "cv":
                raise ValueError(
                    f"noise must be 'cv', a share of at most "
                    f"{Options.most_noise:g} or a dict of such shares; got noise={self.noise!r}"
                )
            share = choose_noise(ground.rows, flips, ground.loss, prices, ground.seed, ground.options)
            if ground.options.verbose:
                tell(f"largest share of wrong labels, chosen by cross-validation: {share:g}")
            return np.full(n_classes, share)
        if not isinstance(self.noise, dict):
            return np.full(n_classes, _share("noise", self.noise))
        names = known.classes.tolist()
        unknown = [name for name in self.noise if name not in names]
        if unknown:
            raise ValueError(f"noise has an entry for {unknown[0]!r}, which is not one of the classes {names}")
        return np.array([_share(f"noise[{name!r}]", self.noise.get(name, 0.0)) for name in names])

    def _store_suspects(self, known: PartialLabels, scores: list[FloatArray], labels: list[Any]) -> None:
        """Rows by how much f speaks against their label, and the labels as corrected."""
        rows, codes = np.arange(known.codes.size), known.codes
        F = np.stack([-scores[0], scores[0]] if len(scores) == 1 else scores, axis=1)
        others = F.copy()
        others[rows, codes] = -np.inf
        self.suspicion_ = (others.max(axis=1) - F[rows, codes]) / 2
        self.suspects_ = np.argsort(-self.suspicion_, kind="stable")
        if len(labels) == 1:
            self.transduction_ = known.classes[(labels[0] > 0).astype(np.intp)]
        else:  # a label is corrected that its own class gives up
            given_up = np.stack(labels, axis=1)[rows, codes] < 0
            self.transduction_ = known.classes[np.where(given_up, others.argmax(axis=1), codes)]


def _share(name: str, value: Any) -> float:
    share = number(name, value, low=0.0, high=1.0)
    if share > Options.most_noise:
        raise ValueError(
            f"{name} must be at most {Options.most_noise:g}: above this, the labels would be worse than none; got "
            f"{name}={value!r}"
        )
    return share


def _mask(trusted: Any, n_rows: int) -> BoolArray:
    if trusted is None:
        return np.zeros(n_rows, dtype=np.bool_)
    mask = np.asarray(trusted)
    if mask.dtype != np.bool_ or mask.shape != (n_rows,):
        raise ValueError(
            f"trusted must be a boolean array with one entry for each of the {n_rows} rows; got {mask.dtype.name} of "
            f"shape {mask.shape}"
        )
    return mask
