"""MaxMarginClustering: section 4.3 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from wellsvm._in_blocks import lazy_on_dask
from wellsvm._input import check_matrix
from wellsvm._typing import FloatArray
from wellsvm.estimators.base import AS_IN_PAPER, all_or_nothing, loss_of, make_kernel, options_of
from wellsvm.estimators.callbacks import CallbackSupportMixin, with_callbacks
from wellsvm.estimators.divided import ClustersDivided
from wellsvm.estimators.divisions import INITS, Tree
from wellsvm.estimators.links import links_of
from wellsvm.estimators.parameters import choice, flag, number, path, price, seed_of, threads, whole_number
from wellsvm.estimators.together import ClustersTogether
from wellsvm.labels import Links
from wellsvm.rows.blocks import Blocks

__all__ = ["MaxMarginClustering"]


class MaxMarginClustering(CallbackSupportMixin, ClusterMixin, ClustersTogether, ClustersDivided):
    """Clusters with a large margin between them, and a rule for rows never seen.

    Of all ways to label the rows by two clusters of about the same size it looks for those that an SVM separates with a
    large margin, combines them by a convex program, and (with ``refine``) settles on one. More clusters are found
    together: from those of k-means on, one SVM per cluster is trained against the rest and every row goes to the
    cluster of its largest value, again and again, while the price of the losses rises to C. How many rows a cluster
    holds is then free. Rows can be tied together and set apart, see `fit`.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    C : float or "scale", default="scale"
        Penalty on the loss of a row. "scale" is 0.1 over the mean squared norm of the rows, so that the unit they are
        measured in does not matter.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel; a callable maps two matrices to the matrix of kernel values. Dense rows are centred for "linear", sparse
        ones are not.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid"; larger is narrower. "mean" is one over the mean squared
        distance between training rows.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        "paper" is hinge for the linear kernel and squared hinge otherwise. "auto" is the same for two clusters, and
        squared hinge for more.
    fit_intercept : bool, default=False
        Whether to add a constant feature; it is regularised like the others. The threshold that makes the labels is
        chosen in either case.
    balance : float or "auto", default="auto"
        beta / N of the paper: the sizes of the two clusters differ by at most this share of the rows. 0 halves the
        rows, 1 is free; no cluster is ever empty, and an odd number of rows may differ by one. Of more clusters each
        holds between 1 - balance and 1 + balance times the mean number of rows. "auto" is 0.3 for two clusters and in
        divisions, and free for more. Rows that are linked count as one.
    n_init : int, default=20
        Random label vectors that ``init`` draws; for more than two clusters, draws of k-means.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found: by one linearisation, at the best label vector in use or at the first of the
        best; or by climbing from many starts.
    refine : bool, default=False
        Whether to settle on one labelling after the relaxation: round, solve the SVM, relabel, until nothing changes.
    tol : float, default=1e-2
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Most label vectors to generate, in every division.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent and of random starts.
    n_jobs : int or None, default=None
        Threads for the divisions of more than two clusters; results do not depend on it.
    verbose : int, default=0
        1 prints a line per label vector and, at the end, what was found: rows labeled, found and uncertain.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None is what the machine has free. A kernel matrix that fits is kept. Of one
        that does not, rows are computed when needed and the last used are kept, which takes many times as long; steps
        then come in another order, so that other label vectors may be found. No meaning for "linear", "precomputed".
    min_violation : float or None, default=None
        A label vector that violates its constraint by less than this is not worth adding. None is ``tol``.
    min_decrease : float or None, default=None
        A label vector that lowers the objective by less than this is the last one, though others may still be violated.
        None is ``tol``.
    stopping : {"relative", "absolute", "paper"}, default="relative"
        What these two are measured against: the objective; nothing; or nothing, in the units of the
        paper's SVMs.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the label vectors are found: by a level method, or by the paper's closed form.
    init : {"best", "climbed", "alignment"}, default="best"
        First label vector of two clusters. "climbed": of ``n_init`` random halvings the one best aligned with the
        kernel, aligned better step by step. "best": that or k-means', whichever has the lower objective. "alignment",
        as in the paper: of ``n_init`` random assignments the one best aligned.
    cut : {"balance", "zero"}, default="balance"
        Where f is cut into two clusters: at the value nearest to 0 that keeps the balance, or, as in the paper, at 0. A
        cut at 0 that would leave a cluster empty gives way to the other.
    center : bool, default=True
        Whether dense rows are centred under the linear kernel; the paper does not.
    orient : bool, default=True
        Whether a label vector y is exchanged for -y, which names the same clusters, where that agrees better with the
        first one in use; the paper takes it as generated.
    many : {"together", "divided"}, default="together"
        How more than two clusters are found: together, or by dividing again and again the cluster whose division gains
        the most margin.
        Rows in blocks are always divided.
    checkpoint : path or None, default=None
        File in which `fit` keeps what it has reached, for the linear kernel and two clusters or ``many="divided"``. A
        `fit` of the same data and parameters that finds it goes on from there, with the same bits; at the end it is
        removed.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row, 0 the largest. The balance and all links are kept.
    C_ : float
        The price used.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights of the functions, for the linear kernel, the threshold included; `intercept_` exists for every kernel.
        There is one function for two clusters, one per cluster for more, one per division if they were divided.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients, rows and their indices. For more than two clusters at most 300 rows, drawn at
        random, span the functions.
    threshold_ : array of shape (n_functions,)
        What was taken off every function to keep the balance; 0 is the paper's rule, the sign of f.
    children_ : array of shape (n_clusters - 1, 2) or None
        Where rows go whose value of a division is negative, and positive: another division, or ``-1 - cluster``. None
        where the clusters were found together.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation; for more clusters one array per division, 0 for rows outside, or per cluster,
        which then holds the cluster against the rest.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_functions,)
        Upper bound of the restricted master, its distance to the lower bound, and the violation of the last label
        vector generated. No violation found does not prove that there is none. Of clusters found together: bounds of
        the SVM of every cluster for ``labels_``, and no violation, since no label vector is generated.
    refined_objective_ : float, array or None
        Mixed-integer objective of the labelling that refinement settled on.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Label vectors generated (most over the divisions); relabellings of clusters found together.
    status_ : str, or a list of them
        Why the cutting plane, or the relabelling, ended.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    ``predict`` of the training rows is ``labels_``: the threshold lies between two different values of f. Only where
    the balance cannot be kept without dividing rows of equal f, equal rows for instance, ``labels_`` divides them by
    index, ``predict`` keeps them together, and `fit` warns. So it does where one of more than two clusters is no row's
    first choice and keeps a row in ``labels_`` all the same. Links hold in ``labels_``; ``predict`` does not know them.
    A pickle leaves ``labelings_`` out.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from wellsvm import MaxMarginClustering
    >>> X, y = make_blobs(100, centers=2, random_state=0, cluster_std=0.5)
    >>> model = MaxMarginClustering(random_state=0).fit(X)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters=2,
        C="scale",
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        loss="auto",
        fit_intercept=False,
        balance="auto",
        n_init=20,
        oracle="paper",
        refine=False,
        tol=1e-2,
        max_iter=50,
        random_state=None,
        n_jobs=None,
        verbose=0,
        cache_size=None,
        min_violation=None,
        min_decrease=None,
        stopping="relative",
        weight_update="level",
        init="best",
        cut="balance",
        center=True,
        orient=True,
        many="together",
        checkpoint=None,
    ):
        self.n_clusters = n_clusters
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.n_init = n_init
        self.oracle = oracle
        self.refine = refine
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
        self.init = init
        self.cut = cut
        self.center = center
        self.orient = orient
        self.many = many
        self.checkpoint = checkpoint

    @classmethod
    def as_in_paper(cls, **params: Any) -> Self:
        """An estimator whose parameters are the paper's choices, all but those given here; see docs/as_in_paper.md."""
        own = {"C": 1.0, "balance": 0.3, "init": "alignment", "cut": "zero", "center": False, "orient": False}
        return cls(**{**AS_IN_PAPER | own | {"many": "divided"}, **params})

    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; float32 and float64, dense (C order) and CSR are used as they are.
        y : ignored
            For scikit-learn's interface.
        must_link, cannot_link : array of shape (n_pairs, 2) or None, default=None
            Pairs of rows, counted from 0, that share a cluster; and that do not. What follows from them holds too: if
            row 0 is tied to 1 and 1 to 2, so is 0 to 2. Links that contradict each other are refused. Of two clusters
            the balance counts rows tied together, or apart, once.

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            return self._fit(X, must_link, cannot_link)

    @with_callbacks
    def _fit(self, X, must_link, cannot_link):
        # Searches solve well on the way too, as in 0.1; solving roughly was not measured for clusters.
        options = options_of(self, search_rough=1.0, unsettled_labels=0.0, decrease_per_tol=1.0)
        loss_of(self), threads(self.n_jobs)
        n_clusters = whole_number("n_clusters", self.n_clusters, low=1)
        if not (isinstance(self.C, str) and self.C == "scale"):
            price("C", self.C)
        if not (isinstance(self.balance, str) and self.balance == "auto"):
            number("balance", self.balance, low=0.0, high=1.0)
        whole_number("n_init", self.n_init, low=1), choice("init", self.init, INITS)
        choice("cut", self.cut, ("balance", "zero"))
        together = choice("many", self.many, ("together", "divided")) == "together" and n_clusters > 2
        path("checkpoint", self.checkpoint)
        flag("orient", self.orient), flag("fit_intercept", self.fit_intercept), flag("center", self.center)
        X = check_matrix(self, X, reset=True)
        if X.shape[0] < n_clusters:
            raise ValueError(
                f"n_samples={X.shape[0]} is smaller than n_clusters={n_clusters}: every cluster needs a row; "
                "lower n_clusters"
            )
        together = together and not isinstance(X, Blocks)
        if together and self.checkpoint is not None:
            raise ValueError(
                f"checkpoint={self.checkpoint!r} is for two clusters or many='divided'; pass checkpoint=None"
            )
        links = self._links(must_link, cannot_link, X.shape[0], n_clusters, together)
        kernel = make_kernel(self, X)
        seed = seed_of(self.random_state)
        fit = self._fit_together if together else self._fit_divisions
        return fit(X, kernel, n_clusters, links, options, seed)

    def _links(self, must_link: Any, cannot_link: Any, n_rows: int, n_clusters: int, together: bool) -> Links | None:
        """The links, refused where they cannot be kept."""
        links = links_of(must_link, cannot_link, n_rows)
        if links is None:
            return None
        if n_clusters > 2 and not together:
            raise ValueError(
                "many='divided' does not know must_link and cannot_link: a division cannot be taken back; use "
                "many='together'"
            )
        if n_clusters > 2 and self.balance != "auto":
            raise ValueError(
                f"balance={self.balance!r} cannot be kept together with links in more than two clusters; leave it at "
                "'auto'"
            )
        if links.n_components < n_clusters:
            raise ValueError(
                f"must_link leaves {links.n_components} parts, fewer than n_clusters={n_clusters}; drop some of these "
                "links, or lower n_clusters"
            )
        if n_clusters == 1 and len(links.apart):
            raise ValueError("cannot_link sets rows apart, but n_clusters=1 has them all in one cluster")
        return links

    @lazy_on_dask
    def decision_function(self, X):
        """How far a row is inside a cluster: the value of f, less the threshold.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"`` kernel values with the training rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_clusters)
            Two clusters: positive for cluster 1. More: one column per cluster, the largest is the row's own: the value
            of its function or, where clusters were divided, the least of the margins on the way to it. One: infinity.
        """
        values = self._values(X)
        if values.shape[1] == 0:
            return np.full((values.shape[0], 1), np.inf)
        if values.shape[1] == 1:
            return values[:, 0]
        return values if self.children_ is None else Tree.margins(self.children_, values)

    @lazy_on_dask
    def predict(self, X):
        """Cluster of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows.
        """
        values = self.decision_function(X)
        return (values > 0 if values.ndim == 1 else np.argmax(values, axis=1)).astype(np.int32)

    def _values(self, X: Any) -> FloatArray:
        """Values of the stored functions; a single cluster has none."""
        check_is_fitted(self)
        if self.intercept_.size:
            return self._functions(X)
        return np.empty((check_matrix(self, X, reset=False).shape[0], 0))
