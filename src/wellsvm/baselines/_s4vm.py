"""Safe semi-supervised SVM (Li, Zhou, "Towards making unlabeled data never hurt", ICML 2011).

Many different labelings have a large margin, and which is the true one the unlabeled rows do not tell. So several are
found, and of all labelings that one is chosen which gains most over the supervised SVM's, y_svm, in the worst case:

    maximize over y   min over candidates t of   gain_t(y) - lambda loss_t(y)

    gain_t(y) = number of unlabeled rows with y_i = y_ti, y_svm differing: right where the SVM was wrong, if t is true
    loss_t(y) = number of unlabeled rows with y_ti = y_svm_i, y differing: wrong where the SVM was right

y_svm itself has the value 0, so the optimum is never below it. With ``z_i = 1`` where y differs from y_svm the value
for candidate t is linear, ``sum_i z_i (1 or -lambda)``, and rows that all candidates treat alike are exchangeable: an
integer program with one variable per pattern, given to HiGHS.

Candidates: local search (SVM and relabeling in turns) from random labels and from noisy values of the supervised SVM;
the labelings reached are clustered by k-means, and of each cluster the one with the least objective is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize
from sklearn.cluster import KMeans

from wellsvm._arguments import number, whole_number
from wellsvm._typing import FloatArray, LabelArray
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit, train_supervised
from wellsvm.engine.recipe import Guess, Task, search
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import Rows
from wellsvm.solver import Solution, fit_svm

__all__ = ["S4VM", "safest", "worst_gain"]

# Branches that HiGHS may look at; where they do not suffice, the best labeling found is taken.
MOST_NODES = 200
# Relative duality gap of the SVMs of the local searches, which only have to rank the rows.
SEARCH_TOL = 1e-2


class S4VM(SemiSupervisedBaseline):
    """Safe semi-supervised SVM: improves on the supervised SVM whichever of several low-density separators is true.

    Parameters
    ----------
    C, C_unlabeled, kernel, gamma, degree, coef0, fit_intercept, unlabeled :
        As in SemiSupervisedSVC.
    balance : "labels", float, (low, high), dict or None, default="labels"
        Share of positives among the unlabeled rows in every candidate, as in SemiSupervisedSVC; the chosen labels
        need not satisfy it.
    risk : float, default=3.0
        The paper's lambda: the number of gains that outweigh one loss.
    n_samples : int, default=30
        Number of local searches; the paper uses 100.
    n_candidates : int, default=10
        Maximum number of candidates to keep.
    tol : float, default=1e-3
        Relative duality gap of the supervised and of the final SVM; those in between are solved less exactly.
    random_state : int, RandomState or None, default=None
        Seed of the starts, of k-means and of the order of coordinate descent.

    Attributes
    ----------
    transduction_ : array of shape (n_samples,)
        The chosen labels. New rows are predicted by an SVM trained on them.
    objective_ : float, or array of shape (n_classes,)
        Gain minus ``risk`` times loss for the worst candidate; never negative, and 0 if the supervised labels are kept.
    """

    one_share = False

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
        risk=3.0,
        n_samples=30,
        n_candidates=10,
        tol=1e-3,
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
        self.risk = risk
        self.n_samples = n_samples
        self.n_candidates = n_candidates
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        number("risk", self.risk, low=0.0)
        whole_number("n_samples", self.n_samples, low=1)
        whole_number("n_candidates", self.n_candidates, low=1)

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        prices = np.where(labels.y_known != 0, float(self.C), float(self.C_unlabeled))
        losses = Losses.of(self.loss, prices)
        svm = train_supervised(rows, labels, self.loss, float(self.C), self.tol, rng)
        y = np.where(labels.y_known != 0, labels.y_known, np.where(svm.scores() > 0, 1, -1)).astype(np.int8)
        task = Task(rows, labels, losses)
        options = Options(tol=max(SEARCH_TOL, self.tol), search_rough=1.0, unsettled_labels=0.0)
        starts = self._starts(svm.scores(), rng)
        reached = [search(task, Guess(start, svm.alpha), options, rng) for start in starts]
        candidates = representatives(reached, self.n_candidates, int(rng.integers(2**31)))[:, labels.free]
        base = y[labels.free]
        y[labels.free] = safest(candidates, base, float(self.risk))
        gain = worst_gain(y[labels.free], candidates, base, float(self.risk))
        last = fit_svm(rows, labels, losses, y, tol=self.tol, rng=rng, alpha=svm.alpha)
        return TwoClassFit.of_svm(last, y, [gain])

    def _starts(self, scores: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Values to label by: first the SVM's, then noise alone and the SVM's with noise in turns."""
        noise = rng.standard_normal((self.n_samples, scores.size)) * float(scores.std() or 1.0)
        noise[0] = 0.0
        noise[::2] += scores
        return noise

    def _fit_supervised(self, rows: Rows, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        return super()._fit_supervised(rows, labels, rng)._replace(history=[0.0])


def representatives(reached: list[Solution], n_candidates: int, seed: int) -> LabelArray:
    """Different labelings, at most ``n_candidates``: of each cluster that of least objective."""
    distinct = {svm.y.tobytes(): svm for svm in sorted(reached, key=lambda svm: -svm.upper)}
    svms = list(distinct.values())[::-1]  # the best first
    Y = np.stack([svm.y for svm in svms])
    if len(svms) <= n_candidates:
        return Y
    clusters = KMeans(n_candidates, n_init=1, random_state=seed).fit_predict(Y.astype(np.float64))
    _, best = np.unique(clusters, return_index=True)
    return Y[np.sort(best)]


def worst_gain(y: LabelArray, candidates: LabelArray, base: LabelArray, risk: float) -> float:
    """Gain of y over ``base`` less ``risk`` times its loss, for the worst of the candidates."""
    return float(((y != base) @ _worth(candidates, base, risk).T).min())


def safest(candidates: LabelArray, base: LabelArray, risk: float) -> LabelArray:
    """The labeling of largest `worst_gain`, ``base`` unless something is gained.

    Of rows that all candidates treat alike those of lower index get the other label.
    """
    patterns, of_row, sizes = np.unique(
        _worth(candidates, base, risk).T, axis=0, return_inverse=True, return_counts=True
    )
    m = sizes.size
    program = optimize.milp(
        np.append(np.zeros(m), -1.0),
        constraints=optimize.LinearConstraint(np.column_stack([patterns.T, -np.ones(len(candidates))]), lb=0.0),
        bounds=optimize.Bounds(np.append(np.zeros(m), 0.0), np.append(sizes, base.size)),
        integrality=np.append(np.ones(m), 0.0),
        options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
    )
    if program.x is None:  # nothing found within the limit
        return base.copy()
    y, flips = base.copy(), np.rint(program.x[:m]).astype(np.int64)
    for pattern in np.flatnonzero(flips):
        rows = np.flatnonzero(of_row.ravel() == pattern)[: flips[pattern]]
        y[rows] = -y[rows]
    return y if worst_gain(y, candidates, base, risk) > 0 else base.copy()


def _worth(candidates: LabelArray, base: LabelArray, risk: float) -> FloatArray:
    """What another label than ``base`` is worth for every candidate (rows) and row (columns)."""
    return np.where(candidates != base, 1.0, -risk)
