"""Branch and bound (Chapelle, Sindhwani, Keerthi, "Branch and bound for semi-supervised support vector machines", NIPS
2006): the exact optimum of Eq. (3), for few rows.

A node of the tree has labels for some of the unlabeled rows. The SVM on the rows that have one, known or chosen, costs
no more than any way to label the rest: its certified lower bound is the node's. Completing the labels by its f, as the
balance asks, gives an upper bound. A node whose lower bound is not below the best labeling so far is left; else the
row of largest |f| gets both labels, the one that f gives first. So the tree is searched in depth.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from wellsvm._arguments import whole_number
from wellsvm._typing import FloatArray, LabelArray
from wellsvm._warnings import callers_level
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import Rows
from wellsvm.solver import Solution, fit_svm

__all__ = ["BranchAndBoundS3VM"]


class BranchAndBoundS3VM(SemiSupervisedBaseline):
    """Semi-supervised SVM with globally optimal labels, for a few dozen unlabeled rows.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, balance, unlabeled :
        As in SemiSupervisedSVC, but the balance is a single share.
    fit_intercept : bool, default=True
        Whether to add a constant feature, which is regularized like the others.
    max_nodes : int, default=10000
        Maximum number of nodes to visit. If it is reached, `fit` keeps the best labeling so far and gives a warning.
    tol : float, default=1e-5
        Relative duality gap of every SVM, and of the objective to the optimum.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent.

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        Label of every training row; with two classes, they keep the balance.
    history_ : list of float, or a list of them
        The best objective so far, after every node.
    """

    loss = "squared_hinge"

    def __init__(
        self,
        C=1.0,
        C_unlabeled=0.1,
        kernel="linear",
        gamma="mean",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        balance="labels",
        unlabeled="auto",
        max_nodes=10_000,
        tol=1e-5,
        random_state=None,
    ):
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.balance = balance
        self.unlabeled = unlabeled
        self.max_nodes = max_nodes
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number("max_nodes", self.max_nodes, low=1)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        best: Solution | None = None
        nodes: list[LabelArray] = [labels.y_known]
        history: list[float] = []
        while nodes and len(history) < self.max_nodes:
            node = _completed_if_forced(nodes.pop(), labels)
            svm = self._svm(rows, node, labels, rng)
            if best is None or svm.lower < best.upper:
                still_open = np.flatnonzero(node == 0)
                scores = svm.scores()
                if still_open.size:
                    svm = self._svm(rows, _completed(node, scores, labels), labels, rng)
                    widest = still_open[np.argmax(np.abs(scores[still_open]))]
                    first = 1 if scores[widest] > 0 else -1
                    nodes += [_with(node, widest, -first), _with(node, widest, first)]
                if best is None or svm.upper < best.upper:
                    best = svm
            history.append(best.upper)
        if nodes:
            warnings.warn(
                f"{type(self).__name__} visited max_nodes={self.max_nodes} nodes and left {len(nodes)} open: the "
                "labels are the best so far, perhaps not the best. Raise max_nodes, or take fewer unlabeled rows.",
                ConvergenceWarning,
                stacklevel=callers_level(),
            )
        assert best is not None
        return TwoClassFit.of_svm(best, best.y, history)

    def _svm(self, rows: Rows, node: LabelArray, labels: BalancedLabels, rng: np.random.Generator) -> Solution:
        """The SVM on the rows that have a label in this node."""
        prices = np.where(labels.y_known != 0, float(self.C), np.where(node != 0, float(self.C_unlabeled), 0.0))
        y = np.where(node == 0, 1, node).astype(np.int8)
        return fit_svm(rows, BalancedLabels.known(y), Losses.of(self.loss, prices), y, tol=self.tol, rng=rng)


def _left(node: LabelArray, labels: BalancedLabels) -> int:
    """Positives that the balance still asks for."""
    return labels.low - int(np.count_nonzero(node[labels.free] > 0))


def _with(node: LabelArray, row: int, label: int) -> LabelArray:
    child = node.copy()
    child[row] = label
    return child


def _completed_if_forced(node: LabelArray, labels: BalancedLabels) -> LabelArray:
    """The node itself, or all its labels where the balance leaves no choice."""
    still_open, left = np.flatnonzero(node == 0), _left(node, labels)
    if 0 < left < still_open.size:
        return node
    complete = node.copy()
    complete[still_open] = 1 if left else -1
    return complete


def _completed(node: LabelArray, scores: FloatArray, labels: BalancedLabels) -> LabelArray:
    """Labels for all rows: those of the node, and by the scores as the balance asks."""
    return BalancedLabels(node, _left(node, labels)).linear_oracle(scores)
