"""MultiInstanceSVC: section 4.2 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from functools import partial

import numpy as np

from wellsvm._typing import BoolArray
from wellsvm.bags import Bags
from wellsvm.engine.cutting_plane import cutting_plane
from wellsvm.engine.refine import alternate
from wellsvm.engine.report import History
from wellsvm.engine.separation import ORACLES
from wellsvm.engine.svm import fit_svm
from wellsvm.estimators._bags import AnyGeometry, BagClassifier
from wellsvm.estimators._callbacks import Task
from wellsvm.estimators._means import OnMeans, average
from wellsvm.estimators._parameters import choice, flag, whole_number
from wellsvm.estimators._two_class import BinaryFit
from wellsvm.labels import BalancedLabels, KeyInstances

__all__ = ["MultiInstanceSVC"]

# The single-instance SVM only ranks the instances of a bag: it is solved to this many tol.
START_TOL = 10.0


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
    loss : {"auto", "hinge", "squared_hinge"}, default="auto"
        "auto" is hinge for the linear kernel and squared hinge otherwise, as in the paper.
    fit_intercept : bool, default=True
        Whether to add a constant feature; it is regularised like the others, as in LIBLINEAR.
    n_key_instances : int, default=1
        Key instances of a positive bag; their values of f add up in the margin of the bag. A bag with fewer instances
        is used whole.
    oracle : {"paper", "climb"}, default="paper"
        How the next choice of key instances is found: by one linearisation, or by climbing from many starts.
    refine : bool, default=True
        Whether to settle on one choice after the relaxation: solve the SVM, choose anew, until nothing changes. Without
        it f mixes several choices and the best instance of a positive bag may stay below 0.
    positive_class : label, optional
        The positive one of two classes; the larger one if None. With more classes each is positive against the rest.
    tol : float, default=1e-3
        Relative to the objective: duality gap of the final solution, and violation below which a label vector is not
        worth adding. A label vector that lowers the objective by less than 10 ``tol`` is the last; others may then
        still be violated, and ``oracle_violation_`` tells by how much.
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice("oracle", self.oracle, tuple(ORACLES))
        flag("refine", self.refine)
        whole_number("n_key_instances", self.n_key_instances, low=1)
        whole_number("verbose", int(self.verbose), low=0)

    def _n_keys(self) -> int:
        return int(self.n_key_instances)

    def _fit_two_class(
        self, bags: Bags, geometry: AnyGeometry, positive: BoolArray, rng: np.random.Generator, task: Task
    ) -> BinaryFit:
        labels = KeyInstances(bags.offsets, positive, self._n_keys())
        losses = self._losses(labels.positive_rows)
        solve = partial(fit_svm, geometry, labels, losses, tol=self.tol, rng=rng)
        rough = min(0.1, START_TOL * self.tol)

        in_positive = positive[bags.bag_of]
        y = np.where(in_positive, 1, -1).astype(np.int8)  # the label of its bag for every instance
        single = fit_svm(geometry, BalancedLabels(y, 0), self._losses(in_positive), y, tol=rough, rng=rng)
        first = labels.linear_oracle(single.scores())
        alpha = labels.gather(single.alpha, np.abs(first))  # the key instances' dual variables for their bags
        start = [first]
        if self.refine:
            by_mean = self._svm_on_means(bags, geometry, labels, rough, rng)
            searches = [(single.scores(), alpha), (by_mean.scores(geometry), by_mean.svm.alpha)]
            best = min((alternate(solve, labels, *search) for search in searches), key=lambda svm: svm.objective)
            start, alpha = [first, best.y] if np.any(first != best.y) else [first], best.alpha
        result = cutting_plane(
            geometry.descent(labels, losses, alpha), start, oracle=ORACLES[self.oracle], tol=self.tol,
            max_iter=self.max_iter, rng=rng, history=History(self.verbose, task.title),
            callback=task.label_vector,
        )  # fmt: skip
        if not self.refine:
            return BinaryFit(result, None, labels.linear_oracle(result.scores()))
        from_relaxation = alternate(solve, labels, result.scores(), result.descent.alpha)
        refined = min(best, from_relaxation, key=lambda svm: svm.objective)
        return BinaryFit(result, refined, labels.linear_oracle(refined.scores()))

    def _svm_on_means(
        self, bags: Bags, geometry: AnyGeometry, labels: KeyInstances, tol: float, rng: np.random.Generator
    ) -> OnMeans:
        """The SVM on the means of positive bags and the instances of negative ones."""
        y = np.where(labels.positive_rows, 1, -1).astype(np.int8)
        means, losses = average(geometry, bags.X, labels.row_starts), self._losses(labels.positive_rows)
        return OnMeans(fit_svm(means, BalancedLabels(y, 0), losses, y, tol=tol, rng=rng), labels.row_starts)

    def _store_fits(self, bags: Bags, fits: list[BinaryFit]) -> None:
        self._store_report(fits, [np.stack([bags.restore(y) for y in fit.result.labels]) for fit in fits])
