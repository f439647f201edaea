"""Laplacian SVM (Belkin, Niyogi, Sindhwani, "Manifold regularization", JMLR 2006).

    minimize over f   sum over labeled rows of max(0, 1 - y_i (f(x_i) + b)) + gamma_A (||f||^2 + b^2) + gamma_I f'Lf

with the values f of all rows and the Laplacian L of their graph of nearest neighbors: f is to change little along the
edges. It is their objective times the number l of labeled rows; their ``gamma_A l`` and ``gamma_I l / n^2`` are
``gamma_A`` and ``gamma_I`` here, and b has a price as everywhere in this package.

The two penalties together are the squared norm for another kernel, ``K~ = K (I + gamma_I / gamma_A L K)^-1``
(Sindhwani, Niyogi, Belkin 2005): so it is the SVM of the labeled rows for that kernel, with ``C = 1 / (2 gamma_A)``.
By the representer theorem ``f = sum over all rows of coef_i k(x_i, .)``, here with the coefficients
``(I + gamma_I / gamma_A L K)^-1 (y alpha)``, alpha of unlabeled rows zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from wellsvm._arguments import flag, number, whole_number
from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.baselines._kernel_matrix import KernelMatrix
from wellsvm.baselines._semi_supervised import SemiSupervisedBaseline, TwoClassFit, train_supervised
from wellsvm.engine.neighborhood import graph_of
from wellsvm.labels import BalancedLabels
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.rows.kernels import Kernel

__all__ = ["LaplacianSVM"]


class Graph(NamedTuple):
    """The kernel matrix of the rows and the Laplacian of their graph."""

    matrix: KernelMatrix
    L: Matrix


class LaplacianSVM(SemiSupervisedBaseline):
    """SVM whose values change little between neighboring rows, labeled or not.

    It needs the full kernel matrix, even for the linear kernel: it is meant for comparisons, not for many rows.

    Parameters
    ----------
    gamma_A : float, default=0.005
        Penalty on the squared norm of f, equivalent to ``C = 1 / (2 gamma_A)``. The default is the paper's choice.
    gamma_I : float, default=0.045
        Penalty on changes of f along the graph. 0 gives the supervised SVM. The default is the paper's choice.
    kernel, gamma, degree, coef0, unlabeled :
        As in SemiSupervisedSVC. There is no class balance.
    fit_intercept : bool, default=True
        Whether to add a constant feature, regularized like the others but not by the graph.
    n_neighbors : int, default=6
        Number of nearest neighbors of each row in feature space, where ``k(x, x) + k(z, z) - 2 k(x, z)`` is the squared
        distance. Two rows are connected if either is a neighbor of the other.
    normalized : bool, default=True
        Whether to normalize the Laplacian by the degrees of the rows.
    tol : float, default=1e-3
        Relative duality gap of the SVM.
    random_state : int, RandomState or None, default=None
        Seed of the order of coordinate descent.
    """

    one_share = False
    balance = None

    def __init__(
        self,
        gamma_A=0.005,
        gamma_I=0.045,
        kernel="rbf",
        gamma="mean",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        unlabeled="auto",
        n_neighbors=6,
        normalized=True,
        tol=1e-3,
        random_state=None,
    ):
        self.gamma_A = gamma_A
        self.gamma_I = gamma_I
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.n_neighbors = n_neighbors
        self.normalized = normalized
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number("n_neighbors", self.n_neighbors, low=1)
        flag("normalized", self.normalized)

    def _check_prices(self) -> None:
        number("gamma_A", self.gamma_A, low=0.0, open_low=True)
        number("gamma_I", self.gamma_I, low=0.0)

    def _uses_unlabeled(self) -> bool:
        return self.gamma_I > 0

    def _labeled_price(self) -> float:
        return 1 / (2 * float(self.gamma_A))

    def _rows(self, X: Matrix, kernel: Kernel) -> Graph:
        matrix = KernelMatrix.of(X, kernel)
        return Graph(matrix, graph_of(GramRows(matrix.K), self.n_neighbors, self.normalized))

    def _fit_two_class(self, rows: Any, labels: BalancedLabels, rng: np.random.Generator) -> TwoClassFit:
        matrix, K = rows.matrix, rows.matrix.K
        known = np.flatnonzero(labels.y_known)
        spread = _spread(rows, self.gamma_I / self.gamma_A, known)
        deformed = K[known] @ spread
        on_labeled = BalancedLabels.known(labels.y_known[known])
        svm_rows = GramRows(0.5 * (deformed + deformed.T), Options.bias if self.fit_intercept else 0.0)
        svm = train_supervised(svm_rows, on_labeled, self.loss, self._labeled_price(), self.tol, rng)
        signed = svm.alpha * svm.y
        coef, intercept = spread @ signed, svm_rows.bias**2 * float(signed.sum())
        f = K @ coef + intercept
        history = [2 * self.gamma_A * svm.upper]
        return TwoClassFit(matrix.to_store(coef), intercept, labels.linear_oracle(f), f, history)


def _spread(rows: Graph, strength: float, known: IntArray) -> FloatArray:
    """The columns ``known`` of ``(I + strength L K)^-1``.

    The linear kernel's ``K = XX'`` has the rank of the features: ``I - strength L X (I + strength X'LX)^-1 X'`` is the
    same, for a system of that size.
    """
    (X, kernel, K), L = rows
    n_rows, n_features = X.shape
    columns = np.zeros((n_rows, known.size))
    columns[known, np.arange(known.size)] = 1.0
    if kernel.name != "linear" or n_features >= n_rows:
        return np.asarray(np.linalg.solve(np.eye(n_rows) + strength * (L @ K), columns))
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    drawn = L @ X
    inner = np.eye(n_features) + strength * (X.T @ drawn)
    return np.asarray(columns - strength * (drawn @ np.linalg.solve(inner, X[known].T)))
