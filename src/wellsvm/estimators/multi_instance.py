"""MultiInstanceSVC: section 4.2 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from wellsvm._typing import BoolArray, IntArray
from wellsvm.bags import Bags
from wellsvm.engine.checkpoint import Unsaved
from wellsvm.engine.recipe import Guess, Opening, Task
from wellsvm.estimators.bag_classifier import BagClassifier
from wellsvm.estimators.base import AS_IN_PAPER, new_seed, options_of, threads, whole_number
from wellsvm.estimators.callbacks import with_callbacks
from wellsvm.estimators.checkpoints import checkpoint_of
from wellsvm.labels import BalancedLabels, KeyInstances
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import Solution, fit_svm

__all__ = ["MultiInstanceSVC"]


class MultiInstanceSVC(BagClassifier):
    """Large-margin classifier of bags that says which instance it was.

    A bag is positive if one of its instances is. Of all ways to choose the key instance of every positive bag it looks
    for those that allow a large margin to the instances of the negative bags, combines them by a convex program, and
    (with ``refine``) settles on one.

    Parameters
    ----------
    C_positive : float, default=1.0
        Price of the loss of a positive bag.
    C_negative : float, default=1.0
        Price of the loss of an instance of a negative bag.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        Kernel between instances; a callable maps two matrices to the matrix of kernel values.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Width of "rbf", "poly" and "sigmoid". "mean" is one over the mean squared distance between instances.
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
        The positive one of two classes; the larger one if None. With more classes each is positive against the rest.
    tol : float, default=1e-3
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Most choices of key instances to generate.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems of more than two classes; results do not depend on it.
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
    labelings_ : array of shape (n_labelings, n_instances), or a list of them
        Choices of key instances of the relaxation: 1 for a key instance, 0 for the others of a positive bag, -1 for
        instances of negative bags; for more classes one array per class.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_classes,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last choice
        generated. No violation found is no proof that there is none.
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
        max_iter=50,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
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
        self.checkpoint = checkpoint

    @classmethod
    def as_in_paper(cls, **params: Any) -> Self:
        """An estimator whose parameters are the paper's choices, all but those given here; see docs/as_in_paper.md."""
        return cls(**{**AS_IN_PAPER, **params})

    def _check_parameters(self) -> None:
        self._check_prices()
        self._options()
        threads(self.n_jobs)
        whole_number("n_key_instances", self.n_key_instances, low=1)

    def _options(self) -> Options:
        # Searches solve well on the way too, as in 0.1; solving roughly was not measured for bags.
        return options_of(self, search_rough=1.0, unsettled_labels=0.0)

    @with_callbacks
    def _fit_on(self, bags: Bags, codes: IntArray, kernel: Kernel, rows: Rows) -> Self:
        options, wanted = self._options(), self._positive_codes()
        kept = None if self.checkpoint is None else checkpoint_of(self, rows, y=codes, bags=bags.offsets)
        stages = Unsaved() if kept is None else kept.stages()
        (seed,) = stages.arrays("seed", lambda: (new_seed(self.random_state),))
        progress = self._progress(bags, self._labels(codes), parts=len(wanted), max_iter=self.max_iter)

        tasks = []
        for k in wanted:
            labels = KeyInstances(bags.offsets, codes == k, self.n_key_instances)
            title = f"class {self.classes_.tolist()[k]!r} against the rest" if len(wanted) > 1 else ""
            positive, part = labels.positive_rows, stages.part(str(k))
            tasks.append(Task(rows, labels, self._losses(positive), self._open, positive, title, part))
        rngs = [np.random.default_rng([seed, k]) for k in wanted]
        fits = self._fit_tasks(tasks, options, rngs, self.n_jobs, progress)
        self._store_bags(bags, codes, kernel, rows, [f.coefficients() for f in fits], [f.y() for f in fits])
        labelings = [np.stack([bags.restore(y) for y in fit.relaxation.solution.state.labels]) for fit in fits]
        self._store_report(fits, labelings, options.tol)
        if kept is not None:
            kept.close()
        progress.end(fitted=True)
        return self

    def _open(self, task: Task, options: Options, rng: np.random.Generator) -> Opening:
        """Start from two SVMs that need no key instances: on single instances, each with the label of its bag, and on
        the means of the positive bags with the instances of the negative ones."""
        labels, tol = task.labels, min(options.most_start_tol, options.start_tol * options.tol)
        assert isinstance(labels, KeyInstances)
        in_positive = np.repeat(labels.positive_rows, np.diff(labels.starts))
        single = self._svm(task.rows, in_positive, tol, rng, options)
        scores = single.scores()
        first = labels.linear_oracle(scores)
        # The key instances' dual variables for their bags.
        alpha = np.add.reduceat(single.alpha * np.abs(first), labels.starts[:-1])
        if not options.refine:
            return Opening([first], [], alpha, lead=False)
        on_means = self._svm(task.rows.averaged(labels.starts), labels.positive_rows, tol, rng, options)
        coef = task.rows.from_means(on_means.coefficients(), labels.starts)
        by_mean = task.rows.scores(coef[:, None])[:, 0]
        return Opening([first], [Guess(scores, alpha), Guess(by_mean, on_means.alpha)], None, lead=True)

    def _svm(self, rows: Rows, positive: BoolArray, tol: float, rng: np.random.Generator, options: Options) -> Solution:
        """The SVM that tells positive rows from the others."""
        y = np.where(positive, 1, -1).astype(np.int8)
        return fit_svm(rows, BalancedLabels.known(y), self._losses(positive), y, tol=tol, rng=rng, options=options)
