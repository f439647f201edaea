"""ProportionSVC: rows come in groups, of which the class proportions are known and not the labels."""

from __future__ import annotations

from functools import partial

import numpy as np

from wellsvm._arguments import flag, number
from wellsvm._typing import FloatArray
from wellsvm.engine.group_judgement import GroupChoice, judge_groups
from wellsvm.engine.likely_counts import likely_counts, likely_scores
from wellsvm.engine.recipe import Fit
from wellsvm.estimators.base import fitting
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.group_shares import read_group_shares
from wellsvm.estimators.weak_base import Ground, WeakBase, class_labels
from wellsvm.labels.proportions import ProportionLabels
from wellsvm.losses import Losses
from wellsvm.partial_labels import PartialLabels
from wellsvm.rows.coordinates import coordinates_of

__all__ = ["ProportionSVC"]


class ProportionSVC(WeakBase):
    """Large-margin classifier that learns from the class proportions of groups of rows.

    Among all ways to label the rows so that every group has its proportions, it looks for those that allow a large
    margin. The relaxation is that of the convex proportion-SVM. With more than two classes, each class is separated
    from the rest.

    Parameters
    ----------
    C : float, default=2.0
        Penalty on the loss of a row.
    slack : float, default=0.0
        Tolerance of the proportions: a share p becomes the interval from p - slack to p + slack.
    safe : bool, default=True
        Whether to skip the search for labels if it does not help to predict the proportions of held-out groups. The
        result is then the function under which the proportions are most likely, which the search starts from.
    classes : array of shape (n_classes,) or None, default=None
        Names of the classes, in the order of the shares in ``proportions``. None: the column names of ``proportions``
        if it has any, the classes in ``y`` if it is given, otherwise 0, 1, ...
    unlabeled : "auto", None, value or list of values, default="auto"
        The value or values that mark unlabeled rows in y, in addition to missing values.
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
        Classes, sorted.
    groups_ : array of shape (n_groups,)
        Names of the groups, sorted.
    proportions_ : array of shape (n_groups, n_classes)
        The proportions of each group; for an interval, its middle.
    transduction_ : array of shape (n_samples,)
        Class of every training row. Known classes are kept. With two classes, every group has its proportions.
    searched_ : bool
        Whether labels were searched for; see ``safe``.
    coef_, intercept_, dual_coef_, support_, support_vectors_ : arrays
        The function f, as in :class:`SemiSupervisedSVC`: one function for two classes, otherwise one per class.
    labelings_, labeling_weights_, objective_, gap_, oracle_violation_, refined_objective_, refined_gap_, history_,
    n_iter_, status_ :
        The relaxation and how it was solved, as in :class:`SemiSupervisedSVC`.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    See Also
    --------
    wellsvm.baselines.MeanMap, wellsvm.baselines.AlternatingProportionSVC : Rivals.

    Notes
    -----
    In a pipeline: ``pipe.fit(X, proportionsvc__groups=groups, proportionsvc__proportions=shares)``; with metadata
    routing, ``set_fit_request(groups=True, proportions=True)``.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import ProportionSVC
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> X = rng.standard_normal((200, 2)) + 4 * truth[:, None]
    >>> groups = np.repeat(np.arange(20), 10)
    >>> shares = {g: truth[groups == g].mean() for g in range(20)}  # of the second class
    >>> model = ProportionSVC(random_state=0).fit(X, groups=groups, proportions=shares)
    >>> bool(model.score(X, truth) > 0.95)
    True
    """

    def __init__(
        self,
        C=2.0,
        slack=0.0,
        safe=True,
        classes=None,
        unlabeled="auto",
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
        self.C = C
        self.slack = slack
        self.safe = safe
        self.classes = classes
        self.unlabeled = unlabeled
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

    def fit(self, X, y=None, groups=None, proportions=None, sample_weight=None):
        """Learn from groups and their proportions.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : array of shape (n_samples,), optional
            Known labels, if there are any, and the marker of unlabeled rows for the others. Known labels count towards
            the proportions of their group. Rows without a group need a label.
        groups : array of shape (n_samples,)
            Group of every row; a missing value means that the row has no group.
        proportions : dict, array or data frame
            For two classes, the share of the second class (``classes[1]``, or ``classes_[1]`` if ``classes`` is None)
            in every group: a dict that maps each group to a share or an interval (low, high), or an array in the order
            of the sorted groups. For any number of classes: a dict that maps each group to a list of shares, or an
            array or data frame of shape (n_groups, n_classes); the index of a data frame names the groups, its columns
            the classes, in any order.
        sample_weight : array of shape (n_samples,), optional
            Factor on the penalty on each row's loss.

        Returns
        -------
        self
        """
        with fitting(self):
            return self._fit(X, y, groups, proportions, sample_weight)

    @with_callbacks
    def _fit(self, X, y, groups, proportions, sample_weight):
        C, slack = self._price(), number("slack", self.slack, low=0.0, high=1.0)
        X = self._checked(X)
        given = read_group_shares(X.shape[0], y, groups, proportions, self.classes, self.unlabeled)
        ground = self._ground(X, sample_weight, len(given.known.classes), C)
        y_known = class_labels(given.known.codes, len(given.known.classes))
        counts = [given.bounds(k, slack, known) for k, known in zip(given.positive, y_known)]
        label_sets = [ProportionLabels(given.rows, *bounds, known) for bounds, known in zip(counts, y_known)]
        fits = self._fit_groups(ground, given.known, label_sets, C * ground.weight)
        if len(fits) == 1:
            y_found = label_sets[0].linear_oracle(fits[0].scores())
            self.transduction_ = self.classes_[(y_found > 0).astype(np.intp)]
        self.groups_ = given.names
        self.proportions_ = ((given.low + given.high) / 2)[: len(given.names)]
        return self

    def _fit_groups(
        self, ground: Ground, known: PartialLabels, label_sets: list[ProportionLabels], prices: FloatArray
    ) -> list[Fit]:
        """Make the counts likely and, where held-out groups say that it helps, search for labels from there."""
        judged = flag("safe", self.safe) and bool(np.any(known.codes < 0))
        chosen = GroupChoice(ground.options.group_price, True)
        if judged:
            chosen = judge_groups(ground.rows, label_sets, ground.loss, prices, ground.seed, ground.options)
        self.searched_ = chosen.searches
        rows, rng, offset = ground.rows, ground.rng(len(label_sets)), ground.rows.bias > 0
        every_row = np.ones(prices.size, dtype=bool)
        if not chosen.searches:
            coordinates = coordinates_of(rows, np.arange(0), rng, ground.options)
            descend = partial(likely_counts, share=chosen.price, offset=offset)
            return self._fit_sets(
                ground, known, label_sets, [()] * len(label_sets), prices, every_row, smooth=(coordinates, descend)
            )
        losses = Losses.of(ground.loss, prices)
        first = likely_scores(rows, label_sets, losses, chosen.price, offset, rng, ground.options)
        return self._fit_sets(ground, known, label_sets, [[f] for f in first], prices, every_row)
