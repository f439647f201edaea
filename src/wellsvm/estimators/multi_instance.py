"""MultiInstanceSVC: section 4.2 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from wellsvm._arguments import number, path, seed_of
from wellsvm._typing import IntArray
from wellsvm.bags import Bags
from wellsvm.engine.recipe import stage
from wellsvm.estimators.bag_function import BagFunction
from wellsvm.estimators.base import AS_IN_PAPER, loss_of
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.checkpoints import stages_of
from wellsvm.estimators.key_instances import KeyInstanceClassifier
from wellsvm.estimators.key_tasks import Prices
from wellsvm.rows.kernels import Kernel

__all__ = ["MultiInstanceSVC"]


class MultiInstanceSVC(KeyInstanceClassifier):
    """Large-margin classifier of bags that identifies the deciding instance.

    A bag is positive if at least one of its instances is. Among all ways to choose a key instance for every positive
    bag, it looks for those that allow a large margin to the instances of the negative bags, combines them by a convex
    program, and (with ``refine``) settles on one of them.

    Parameters
    ----------
    C_positive : float, default=1.0
        Penalty on the loss of a positive bag.
    C_negative : float, default=1.0
        Penalty on the loss of an instance of a negative bag.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel between instances. A callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid". A larger value makes the kernel narrower. "mean" is one over the
        mean squared distance between instances; "scale" and "auto" are as in :class:`sklearn.svm.SVC`.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        Loss function. "auto" and "paper" are hinge for the linear kernel, and squared hinge otherwise.
    fit_intercept : bool, default=True
        Whether to fit an intercept: the weight of a constant feature, which is regularized like the others, as in
        LIBLINEAR. With the linear kernel, dense columns far from 0 are then centered internally; ``coef_`` and
        ``intercept_`` are for X as given.
    n_key_instances : int, default=1
        Number of key instances per positive bag; their values of f add up in the margin of the bag. A bag with fewer
        instances uses all of them.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next choice of key instances is found. "paper": by one linearization at the best choice in use. "first":
        the same, but of several equally good choices, at the one generated first. "climb": by climbing from many
        starts.
    refine : bool, default=True
        Whether to settle on one choice after the relaxation: solve the SVM and choose again until nothing changes.
        Otherwise, f mixes several choices, and the best instance of a positive bag may have a value below 0.
    positive_class : label, optional
        The label of positive bags. Required unless the labels are 0 and 1, -1 and +1, or False and True. With more than
        two classes, each class is positive against the rest.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int or None, default=None
        Maximum number of choices of key instances in the relaxation. None means 50. With the linear kernel and
        ``refine``, where the relaxation is only one of the starting points of the search, None means 5, and 1 with more
        than 20,000 instances.
    random_state : int, RandomState or None, default=None
        Seed for the order of coordinate descent and for random starts.
    n_jobs : int or None, default=None
        Number of threads, used for the one-vs-rest problems of more than two classes, or for random starts. Results do
        not depend on it.
    verbose : int, default=0
        1 prints one line per choice of key instances.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine. If the kernel matrix does not fit, its
        rows are computed when needed, and only the most recently used are kept. This takes many times as long, and may
        find other label vectors, since the steps come in a different order. Ignored for "linear" and "precomputed".
    min_violation : float or None, default=None
        A choice is only added if it violates its constraint by at least this. None is ``tol``.
    min_decrease : float or None, default=None
        The relaxation stops when a choice lowers the objective by less than this, even if others are still violated.
        None is ``10 * tol``, or ``tol`` if the relaxation is the result (``refine=False``).
    stopping : {"relative", "absolute", "paper"}, default="relative"
        Units of ``min_violation`` and ``min_decrease``: relative to the objective, absolute, or absolute in the paper's
        units.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the choices are found: by a level method, or by the paper's closed form.
    context : float, default=0.0
        Weight of the whole bag in the kernel. Between instances x of bag B and x' of bag B', the kernel becomes ``k(x,
        x') + context * k_set(B, B')``, where the normalized set kernel ``k_set`` is the mean of k over all pairs of
        their instances. For the linear kernel, this adds the mean of the bag to each instance as further features. 0 is
        the paper's method; with a large value, f classifies bags as a whole. In either case, k alone decides which
        instance of a bag is the best.
    search : {"local", "annealed"}, default="local"
        How ``refine`` searches: "local" alternates at the final penalties, "annealed" while the penalty on positive
        bags rises to ``C_positive``.
    n_starts : int, default=0
        Number of additional random choices of key instances to search from, in ``n_jobs`` threads; the result with the
        lowest objective is kept.
    probability : bool, default=False
        Whether to enable `predict_proba`, calibrated on the values of held-out bags. This takes five additional fits.
    checkpoint : path or None, default=None
        File in which `fit` saves its progress; for the linear kernel only. If a `fit` with the same data and parameters
        finds the file, it continues from there, with exactly the same result. The file is removed at the end.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted. With two classes, see ``positive_class_`` for the positive one.
    key_instances_ : array of shape (n_bags,), or (n_bags, n_key_instances) for more than one
        Index of the key instance within each positive training bag; -1 for negative bags, and as padding for bags with
        fewer instances. With more than two classes, every bag has a key instance for its own class.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights, for the linear kernel: one function for two classes, otherwise one per class. `intercept_` exists for
        every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_functions, n_support), indices of the support vectors, and the
        support vectors themselves, which are instances.
    context_coef_ : array or None
        With ``context``: coefficients, like `coef_` or `dual_coef_`, of a second function g, whose mean over a bag is
        added to f of all its instances. All instances of bags with a coefficient are then support vectors.
    positive_class_ : label or None
        The label of positive bags; None with more than two classes.
    labelings_ : array of shape (n_labelings, n_instances), or a list of them
        Choices of key instances of the relaxation: 1 for a key instance, 0 for the other instances of a positive bag,
        -1 for instances of negative bags. For more than two classes, one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master problem, its distance to the lower bound, and the violation of the last
        choice generated. Finding no violation does not prove that there is none.
    refined_objective_, refined_gap_ : float, array or None
        Mixed-integer objective of the choice made by refinement, and the gap to which its SVM, which is the result, was
        solved. None without refinement.
    history_ : list of Record, or a list of them
        One record per choice: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Number of choices generated (the maximum over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended.

    Notes
    -----
    The first choice comes from a supervised SVM on single instances, each with the label of its bag: it is the instance
    with the largest value in every positive bag. With ``refine``, there is a second choice: the best that relabeling
    reaches from the first one, or from an SVM on the means of the positive bags. This needs the memory of the
    instances, or of the kernel matrix, a second time.

    Pickles contain what is needed to predict, but not ``key_instances_`` and ``labelings_``, which describe the
    training bags.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import Bags, MultiInstanceSVC
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.standard_normal((120, 2)), np.repeat(np.arange(30), 4)
    >>> y = np.arange(30) % 2
    >>> X[::4][y == 1] += 6  # the first instance of every bag of class 1
    >>> model = MultiInstanceSVC(random_state=0).fit(Bags(X, groups), y)
    >>> model.key_instances_[:6].tolist()
    [-1, 0, -1, 0, -1, 0]
    """

    def __init__(
        self,
        C_positive=1.0,
        C_negative=1.0,
        kernel="rbf",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=True,
        n_key_instances=1,
        oracle="paper",
        refine=True,
        positive_class=None,
        tol=1e-3,
        max_iter=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        context=0.0,
        search="local",
        n_starts=0,
        probability=False,
        checkpoint=None,
    ):
        self.C_positive = C_positive
        self.C_negative = C_negative
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.n_key_instances = n_key_instances
        self.oracle = oracle
        self.refine = refine
        self.positive_class = positive_class
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cache_size = cache_size
        self.min_violation = min_violation
        self.min_decrease = min_decrease
        self.stopping = stopping
        self.weight_update = weight_update
        self.context = context
        self.search = search
        self.n_starts = n_starts
        self.probability = probability
        self.checkpoint = checkpoint

    @classmethod
    def as_in_paper(cls, **params: Any) -> Self:
        """An estimator whose parameters are the paper's choices, all but those given here; see docs/as_in_paper.md."""
        return cls(**{**AS_IN_PAPER, **params})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_prices()
        number("context", self.context, low=0.0)
        path("checkpoint", self.checkpoint)

    @with_callbacks
    def _fit_checked(self, bags: Bags, codes: IntArray, kernel: Kernel) -> Self:
        options, context = self._options(bags.n_instances), float(self.context)
        prices = Prices(loss_of(self), float(self.C_positive), float(self.C_negative))
        rows = self._rows_of(bags, kernel, max(prices.positive, prices.negative), context)
        stages = None if self.checkpoint is None else stages_of(self, rows, y=codes, bags=bags.offsets)
        (seed,) = stage(stages, "seed", lambda: (seed_of(self.random_state),))
        wanted = self._positive_codes()
        progress = self._progress(bags, self._labels(codes), parts=len(wanted), max_iter=options.max_iter)
        rngs = [np.random.default_rng([seed, k]) for k in wanted]
        tasks = self._tasks(rows, bags, codes, prices)
        tasks = [replace(task, stages=stages and stages.part(str(k))) for k, task in zip(wanted, tasks)]
        fits = self._fit_tasks(tasks, options, rngs, self.n_jobs, progress)
        self._store_fits(bags, codes, kernel, [BagFunction.of(fits, bags, kernel, rows, context)], fits)
        if self.probability:
            self._store_probabilities(self._held_out_values(rows, bags, codes, prices, seed, options), codes, options)
        if stages is not None:
            stages.close()
        progress.end(fitted=True)
        return self
