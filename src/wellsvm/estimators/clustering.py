"""MaxMarginClustering: section 4.3 of the paper behind scikit-learn's interface."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from wellsvm._arguments import choice, flag, number, path, price, seed_of, threads, whole_number
from wellsvm._input import check_matrix
from wellsvm._lazy import lazy_on_dask
from wellsvm._typing import FloatArray
from wellsvm.estimators.base import AS_IN_PAPER, fitting, loss_of, make_kernel, options_of
from wellsvm.estimators.callbacks import CallbackSupportMixin, with_callbacks
from wellsvm.estimators.clusters_divided import ClustersDivided
from wellsvm.estimators.clusters_together import ClustersTogether
from wellsvm.estimators.divisions import INITS, Tree
from wellsvm.estimators.links import links_of
from wellsvm.labels import Links

__all__ = ["MaxMarginClustering"]


class MaxMarginClustering(CallbackSupportMixin, ClusterMixin, ClustersTogether, ClustersDivided):
    """Clustering with a large margin between the clusters, and a rule for new rows.

    Two clusters: among all ways to divide the rows into two clusters of about the same size, it looks for those that an
    SVM separates with a large margin, combines them by a convex program, and (with ``refine``) settles on one of them.
    The result is then compared with clusters from k-means, which may have any sizes; see ``balance``.

    More than two clusters are found together. Starting from k-means, two steps are repeated while the penalty on losses
    rises to C: one SVM per cluster is trained against the rest, and every row moves to the cluster with the largest
    value. The sizes of these clusters are not restricted by default.

    You can also require that rows do or do not share a cluster; see `fit`.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    C : float or "scale", default="scale"
        Penalty on the loss of a row. "scale" is 0.1 over the mean squared norm of the centered rows, so the scale of
        the data does not matter. With the linear kernel, rows that are sparse, or are not centered (``center=False``),
        are taken as they are. With other kernels, the norm is that in feature space, approximated by at most 300 rows
        drawn at random.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel. A callable maps two matrices to the matrix of kernel values. With "linear", dense rows are centered;
        sparse rows are not.
    gamma : float or {"mean", "scale", "auto"}, default="mean"
        Coefficient of "rbf", "poly" and "sigmoid". A larger value makes the kernel narrower. "mean" is one over the
        mean squared distance between training rows; "scale" and "auto" are as in :class:`sklearn.svm.SVC`.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    loss : {"auto", "paper", "hinge", "squared_hinge"}, default="auto"
        Loss function. "paper" is hinge for the linear kernel, and squared hinge otherwise. "auto" is the same for the
        relaxation of two clusters; for their comparison with k-means (see ``balance``), and for more clusters, it is
        squared hinge.
    fit_intercept : bool, default=False
        Whether to add a constant feature, which is regularized like the others. The threshold between the clusters is
        chosen in either case. More than two clusters found together always have intercepts, and so do two clusters
        taken from k-means.
    balance : float or "auto", default="auto"
        By how much the sizes of the two clusters may differ, as a share of the rows (beta / N in the paper). 0 divides
        the rows equally (an odd number may differ by one), and 1 does not restrict the sizes; no cluster is ever empty.
        With more clusters, each has between ``1 - balance`` and ``1 + balance`` times the mean number of rows. Linked
        rows count as one.

        "auto" estimates the sizes of two clusters. The label vectors of the relaxation keep to 0.3, but the final cut
        does not (see ``cut``). The result is then compared with the clusters of k-means, relabeled by their SVM, which
        replace it unless it separates clearly fewer neighbors. This comparison needs a dense X, ``init="best"`` and
        ``cut="auto"``, and no links. More than two clusters have any sizes, and those of ``many="divided"`` use 0.3.
    n_init : int, default=20
        Number of random label vectors that ``init`` draws, and of runs of k-means for clusters of any sizes.
    oracle : {"paper", "first", "climb"}, default="paper"
        How the next label vector is found. "paper": by one linearization at the best label vector in use. "first": the
        same, but of several equally good label vectors, at the one generated first. "climb": by climbing from many
        starts.
    refine : bool, default=False
        Whether to settle on one labeling after the relaxation: round, then solve the SVM and relabel until nothing
        changes.
    tol : float, default=1e-2
        Duality gap of the final solution, relative to the objective.
    max_iter : int, default=50
        Maximum number of label vectors in every division.
    random_state : int, RandomState or None, default=None
        Seed for the order of coordinate descent and for random starts.
    n_jobs : int or None, default=None
        Number of threads for the divisions of more than two clusters. Results do not depend on it.
    verbose : int, default=0
        1 prints a line per label vector and a summary at the end.
    cache_size : float or None, default=None
        Memory for kernel values in MB; None uses the free memory of the machine. If the kernel matrix does not fit, its
        rows are computed when needed, and only the most recently used are kept. This takes many times as long, and may
        find other label vectors, since the steps come in a different order. Ignored for "linear" and "precomputed".
    min_violation : float or None, default=None
        A label vector is only added if it violates its constraint by at least this. None is ``tol``.
    min_decrease : float or None, default=None
        The relaxation stops when a label vector lowers the objective by less than this, even if others are still
        violated. None is ``tol``.
    stopping : {"relative", "absolute", "paper"}, default="relative"
        Units of ``min_violation`` and ``min_decrease``: relative to the objective, absolute, or absolute in the paper's
        units.
    weight_update : {"level", "closed_form"}, default="level"
        How the weights of the label vectors are found: by a level method, or by the paper's closed form.
    init : {"best", "climbed", "alignment"}, default="best"
        First label vector of two clusters. "alignment", as in the paper: the one of ``n_init`` random assignments that
        is best aligned with the kernel. "climbed": the best aligned of ``n_init`` random halvings, improved step by
        step. "best": these two and several results of k-means are each relabeled, roughly, by their SVM until hardly a
        label changes; the one with the lowest objective is taken.
    cut : {"auto", "balance", "zero"}, default="auto"
        Where f is cut into two clusters. "balance": at the value nearest to 0 that keeps the balance. "zero", as in the
        paper: at 0, unless this would leave a cluster empty; then as "balance". "auto": with ``balance="auto"``, in the
        deepest valley of the density of f that leaves at least 5 % of the rows on each side; otherwise, and if there is
        no valley, as "balance".
    center : bool, default=True
        Whether to center dense rows with the linear kernel. The paper does not.
    orient : bool, default=True
        Whether to replace a label vector y by -y, which describes the same clusters, if that agrees better with the
        first label vector in use. The paper keeps it as generated.
    many : {"together", "divided"}, default="together"
        How more than two clusters are found: together, or by repeatedly dividing the cluster whose division gains the
        most margin.
    checkpoint : path or None, default=None
        File in which `fit` saves its progress, for the linear kernel and two clusters or ``many="divided"``. If a `fit`
        with the same data and parameters finds the file, it continues from there, with exactly the same result. The
        file is removed at the end.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        Cluster of every training row; cluster 0 is the largest. All links, and ``balance`` if it is a number, are
        respected.
    n_links_ : array of shape (2,)
        Number of given pairs of rows that must share a cluster, and of those that must not.
    C_ : float
        The value of C that was used.
    coef_, intercept_ : arrays of shape (n_functions, n_features) and (n_functions,)
        Weights of the functions for the linear kernel, including the threshold; `intercept_` exists for every kernel.
        There is one function for two clusters, one per cluster for more, or one per division if the clusters were
        divided.
    dual_coef_, support_, support_vectors_ : arrays
        For other kernels: coefficients, indices of the support vectors, and the support vectors themselves. For more
        than two clusters, and for two taken from k-means, they are at most 300 rows, drawn at random.
    threshold_ : array of shape (n_functions,)
        The value subtracted from every function. 0 is the paper's rule, the sign of f.
    children_ : array of shape (n_clusters - 1, 2) or None
        Where rows go if their value in a division is negative, and if it is positive: to another division, or to a
        cluster, which is stored as ``-1 - cluster``. None if the clusters were found together.
    labelings_ : array of shape (n_labelings, n_samples), or a list of them
        Label vectors of the relaxation. For more clusters, one array per cluster, which holds the cluster against the
        rest; for ``many="divided"``, one per division, which is 0 for rows outside.
    labeling_weights_ : array of shape (n_labelings,), or a list of them
        Their weights mu.
    objective_, gap_, oracle_violation_ : float, or arrays of shape (n_functions,)
        Upper bound of the restricted master problem, its distance to the lower bound, and the violation of the last
        label vector generated. Finding no violation does not prove that there is none. For more clusters found
        together, these are the bounds of every cluster's SVM for ``labels_``, and there is no violation, since no label
        vector is generated. The same holds for two clusters taken from k-means, so compare the objectives of fits only
        if their ``status_`` is the same.
    refined_objective_, refined_gap_ : float, array or None
        Mixed-integer objective of the labeling chosen by refinement, and the gap to which its SVM was solved; None
        without refinement.
    history_ : list of Record, or a list of them
        One record per label vector: objective, gap, violation, labelings, epochs, seconds.
    n_iter_ : int
        Number of label vectors generated (the maximum over the divisions), or number of relabelings if the clusters
        were found together.
    status_ : str, or a list of them
        Why the cutting plane, or the relabeling, ended. Two clusters taken from k-means are reported as more clusters
        found together are: one label vector, and no violation.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Notes
    -----
    For the training rows, ``predict`` returns ``labels_``, with two exceptions, of which `fit` warns. If the balance
    can only be kept by separating rows with equal f, such as identical rows, ``labels_`` separates them by index but
    ``predict`` keeps them together. If one of more than two clusters is not the first choice of any row, it still keeps
    one row in ``labels_``.

    ``labels_`` respects links; ``predict`` ignores them. Pickles do not contain ``labelings_``.

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
        cut="auto",
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
            Rows; float32 and float64, in dense (C order) or CSR format, are used without a copy.
        y : ignored
            For scikit-learn's interface.
        must_link, cannot_link : array of shape (n_pairs, 2) or None, default=None
            Pairs of row indices, starting at 0: rows that must share a cluster, and rows that must not. Implied links
            hold too: if row 0 must be with 1 and 1 with 2, then 0 must be with 2. Links that contradict each other
            raise an error. With two clusters, the balance counts a group of linked rows once.

        Returns
        -------
        self
        """
        with fitting(self):
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
        choice("cut", self.cut, ("auto", "balance", "zero"))
        together = choice("many", self.many, ("together", "divided")) == "together" and n_clusters > 2
        path("checkpoint", self.checkpoint)
        flag("orient", self.orient), flag("fit_intercept", self.fit_intercept), flag("center", self.center)
        X = check_matrix(self, X, reset=True)
        if X.shape[0] < n_clusters:
            raise ValueError(
                f"n_samples={X.shape[0]} is smaller than n_clusters={n_clusters}: every cluster needs a row; "
                "lower n_clusters"
            )
        if together and self.checkpoint is not None:
            raise ValueError(
                f"checkpoint={self.checkpoint!r} is for two clusters or many='divided'; pass checkpoint=None"
            )
        links = self._links(must_link, cannot_link, X.shape[0], n_clusters, together)
        self.n_links_ = np.array([0 if pairs is None else len(pairs) for pairs in (must_link, cannot_link)])
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
        """How far inside a cluster a row is: the value of f minus the threshold.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows; for ``kernel="precomputed"``, the kernel values with the training rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_clusters)
            With two clusters, positive values mean cluster 1. With more, there is one column per cluster, and the
            largest value is that of the row's own cluster: the value of its function or, if the clusters were divided,
            the smallest margin on the path to it. With a single cluster, all values are infinity.
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
