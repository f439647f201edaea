"""MultiInstanceSVC: section 4.2 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from wellsvm._typing import IntArray
from wellsvm.bags import Bags
from wellsvm.engine.recipe import stage
from wellsvm.estimators.base import AS_IN_PAPER, loss_of
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.checkpoints import stages_of
from wellsvm.estimators.key_instances import KeyInstanceClassifier
from wellsvm.estimators.key_tasks import Prices
from wellsvm.estimators.parameters import number, path, seed_of
from wellsvm.rows.kernels import Kernel

__all__ = ["MultiInstanceSVC"]


class MultiInstanceSVC(KeyInstanceClassifier):
    """Large-margin classifier of bags that says which instance it was.

    A bag is positive if one of its instances is. Of all ways to choose the key instance of every positive bag it looks
    for those that allow a large margin to the instances of the negative bags, combines them by a convex program, and
    (with ``refine``) settles on one.

    Parameters
    ----------
    C_positive : float, default=1.0
        Penalty on the loss of a positive bag.
    C_negative : float, default=1.0
        Penalty on the loss of an instance of a negative bag.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel between instances; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid"; larger is narrower. "mean" is one over the mean squared
        distance between instances.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        "auto", as "paper", is hinge for the linear kernel and squared hinge otherwise, as in the paper.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    n_key_instances : int, default=1
        Key instances of a positive bag; their values of f add up in the margin of the bag. A bag with fewer instances
        is used whole.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next choice of key instances is found: by one linearisation, at the best choice in use or at the first
        of the best; or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one choice after the relaxation: solve the SVM, choose anew, until nothing changes. Without
        it f mixes several choices and the best instance of a positive bag may stay below 0.
    positive_class : label, optional
        The positive one of two classes. Needed unless the labels are 0 and 1, -1 and +1 or False and True, which tell
        it themselves. With more classes each is positive against the rest.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int or None, default=None
        Most choices of key instances to generate in the relaxation. None is 50, and 5 for the linear kernel with
        ``refine``: the relaxation is then only one of the places that the search starts from.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes, or for random starts; results do not depend on
        it.
    verbose : int, default=0
        1 prints a table row per choice of key instances.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None is what the machine has free. A kernel matrix that fits is kept. Of one
        that does not, rows are computed when needed and the last used are kept, which takes many times as long; steps
        then come in another order, so that other label vectors may be found. No meaning for "linear", "precomputed".
    min_violation : float or None, default=None
        A choice that violates its constraint by less than this is not worth adding. None is ``tol``.
    min_decrease : float or None, default=None
        A choice that lowers the objective by less than this is the last one, though others may still be violated. None
        is 10 ``tol``.
    stopping : {"relative", "absolute", "paper"}, default="relative"
        What these two are measured against: the objective; nothing; or nothing, in the units of the
        paper's SVMs.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the choices are found: by a level method, or by the paper's closed form.
    context : float, default=0.0
        Weight of the bag around an instance: the kernel between instances x of bag B and x' of bag B' becomes
        ``k(x, x') + context * k_set(B, B')`` with the normalised set kernel, the mean of k over all pairs of their
        instances (for the linear kernel the bag's mean stands beside each instance). 0 is the paper's method. With a
        large one f judges bags as a whole; which instance of a bag is the best is decided by k alone.
    search : {"local", "annealed"}, default="local"
        How ``refine`` searches: by alternation at the final prices, or with the price of positive bags rising to it.
    n_starts : int, default=0
        Random choices of key instances to search from as well, in ``n_jobs`` threads; the best one by objective stays.
    probability : bool, default=False
        Whether to make `predict_proba` available: calibrated on values of bags that were held out, which takes five
        more fits.
    checkpoint : path or None, default=None
        File in which `fit` keeps what it has reached, for the linear kernel. A `fit` of the same data and parameters
        that finds it goes on from there, with the same bits; at the end it is removed.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted. Of two, ``positive_class`` says which one needs only one instance.
    key_instances_ : array of shape (n_bags,), or (n_bags, n_key_instances) for more than one
        Key instance of each positive training bag as its number in the bag; -1 for negative bags (and where a bag has
        fewer). With more than two classes every bag has one, for its own class.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights, for the linear kernel; one function for two classes, else one per class. `intercept_` exists for
        every kernel.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients of shape (n_functions, n_support), instances and their indices.
    context_coef_ : array or None
        With ``context``: coefficients like `coef_` or `dual_coef_` of a second function g, whose mean over a bag is
        added to f of all its instances. All instances of bags with a coefficient are then support vectors.
    positive_class_ : label or None
        The positive one of two classes.
    labelings_ : array of shape (n_labelings, n_instances), or a list of them
        Choices of key instances of the relaxation: 1 for a key instance, 0 for the others of a positive bag, -1 for
        instances of negative bags; for more classes one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last choice
        generated. No violation found does not prove that there is none.
    refined_objective_ : float, array or None
        Mixed-integer objective of the choice that refinement settled on.
    history_ : list of Record, or a list of them
        One record per choice: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Choices generated (most over the classes).
    status_ : str, or a list of them
        Why the cutting plane ended.

    Notes
    -----
    The first choice is made by a supervised SVM on single instances, each with the label of its bag: the instance of
    largest value in every positive bag. With ``refine`` there is a second one: the best that relabelling reaches from
    there, or from an SVM on the means of the positive bags (which takes the memory of the instances, or of the kernel
    matrix, once more). A pickle holds what predicts: ``key_instances_`` and ``labelings_``, which describe the training
    bags, are left out of it.

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
        options, context = self._options(), float(self.context)
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
        self._store_fits(bags, codes, kernel, rows, context, fits)
        if self.probability:
            self._store_probabilities(self._held_out_values(rows, bags, codes, prices, seed, options), codes, options)
        if stages is not None:
            stages.close()
        progress.end(fitted=True)
        return self
