"""The share of two classes by self-training: the SVM labels the rows it is sure of, then those it is less sure of.

No balance is imposed, so the unlabeled rows themselves show where a class ends; a few labels cannot. As a classifier
this is weak. But its count errs in other ways than estimates from labels alone, and moving halfway towards it lowers
the error of the share by a quarter where labels were collected class by class (docs/choices_shares.md).
"""

from __future__ import annotations

import numpy as np

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.supervised import some_unlabeled
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import begin, solve_svm

__all__ = ["grown_share"]


def grown_share(rows: Rows, codes: IntArray, loss: str, C: FloatArray, seed: int, options: Options) -> float:
    """Predicted share of class 1 among the unlabeled rows, by SVMs of which each labels the rows of the next.

    Parameters
    ----------
    rows : Rows
        All rows; of the unlabeled ones a sample is taken where they are many.
    codes : array of shape (n_rows,)
        Class of every row, 0 or 1, -1 where it is unlabeled, `LEFT_OUT` where it is not to be looked at.
    loss : str
        Loss of the SVMs.
    C : array of shape (n_rows,)
        Prices; only those of labeled rows count.
    seed : int
        Seed of sample and orders.
    options : Options
        Constants.
    """
    rng = np.random.default_rng(seed)
    rows, codes, C = some_unlabeled(rows, codes, C, options.sampled_rows, rng)
    known, unlabeled = codes >= 0, codes == -1
    y = np.where(known, 2 * codes - 1, 0).astype(np.int8)
    price = options.grown_price * float(C[known].mean())
    state = begin(rows, BalancedLabels.known(y), Losses.of(loss, np.where(known, C, 0.0)), options=options)
    for lead in (*options.grown_leads, None):
        state.reprice(Losses.of(loss, np.where(known, C, np.where(y != 0, price, 0.0))))
        f = solve_svm(state, y.copy(), rng, options.rough * options.tol).scores()
        if lead is not None:
            sure = np.abs(f) > lead * np.abs(f[known]).mean()
            y[unlabeled] = np.where(sure, np.sign(f), 0.0)[unlabeled]
    return float(np.mean(f[unlabeled] > 0))
