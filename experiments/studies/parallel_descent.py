"""What coordinate descent in two threads would cost in epochs: halves of the rows that do not see each other's steps.

    python -m experiments.studies.parallel_descent

A supervised SVM on rows of `wellsvm.datasets.make_sparse_text`, hinge loss, no intercept, to a relative gap of 1e-3:

    max over 0 <= alpha <= C of  sum(alpha) - |w|^2 / 2,    w = sum_i alpha_i y_i x_i

"one": every step sees all earlier ones. "two": in each epoch two halves start from the same weights; their changes are
averaged, which never lowers the dual, or added, which may. The halves run one after the other here, in plain NumPy: it
is epochs that count, not seconds (half an hour). Epochs visit all rows; a working set would shorten all of them alike.
"""

from __future__ import annotations

import numpy as np

from experiments.internals import FloatArray, Matrix
from experiments.markdown import pipe_table
from wellsvm.datasets import make_sparse_text

__all__ = ["epochs"]

ROWS, TOL, MOST_EPOCHS = 50_000, 1e-3, 300


def epochs(X: Matrix, y: FloatArray, C: float, n_blocks: int, step: float) -> int:
    """Epochs until the gap is closed, at most `MOST_EPOCHS`; of each block's change the share ``step`` is kept."""
    rng = np.random.default_rng(0)
    lengths = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    alpha, w = np.zeros(y.size), np.zeros(X.shape[1])
    for epoch in range(1, MOST_EPOCHS + 1):
        alpha_change, change = np.zeros_like(alpha), np.zeros_like(w)
        for block in np.array_split(rng.permutation(y.size), n_blocks):
            own_alpha, own_w = alpha.copy(), w.copy()
            _visit(X, y, lengths, C, block, own_alpha, own_w)
            alpha_change += own_alpha - alpha
            change += own_w - w
        alpha, w = alpha + step * alpha_change, w + step * change
        half = 0.5 * float(w @ w)
        upper = half + C * float(np.maximum(0.0, 1.0 - y * (X @ w)).sum())
        if upper - (float(alpha.sum()) - half) <= TOL * upper:
            return epoch
    return MOST_EPOCHS


def _visit(
    X: Matrix, y: FloatArray, lengths: FloatArray, C: float, rows: np.ndarray, alpha: FloatArray, w: FloatArray
) -> None:
    """One exact step for each of the rows; ``alpha`` and ``w`` are changed in place."""
    for i in rows:
        entries = slice(X.indptr[i], X.indptr[i + 1])
        columns, values = X.indices[entries], X.data[entries]
        wanted = alpha[i] + (1.0 - y[i] * float(values @ w[columns])) / lengths[i]
        moved = min(max(wanted, 0.0), C) - alpha[i]
        if moved:
            alpha[i] += moved
            w[columns] += moved * y[i] * values


if __name__ == "__main__":
    X, signs = make_sparse_text(ROWS, dtype=np.float64, random_state=0)
    y = signs.astype(np.float64)
    kinds = {"one": (1, 1.0), "two, averaged": (2, 0.5), "two, added": (2, 1.0)}
    lines = [[f"{C:g}", *(str(epochs(X, y, C, *how)) for how in kinds.values())] for C in (0.01, 0.1, 1.0)]
    print(pipe_table(["C", *kinds], lines))
