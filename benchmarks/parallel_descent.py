"""What coordinate descent in two threads would cost in epochs: halves of the rows that do not see each other's steps.

    python benchmarks/parallel_descent.py

A supervised SVM on rows of wellsvm.datasets.make_sparse_text, hinge loss, to a relative gap of 1e-3. "one": every step
sees all earlier ones. "two": in each epoch two halves start from the same weights; their changes are averaged, which
never lowers the dual, or added, which may. The halves run one after the other here: it is epochs that count. Epochs
visit all rows; the working set of the package would shorten all of them alike.
"""

from __future__ import annotations

import numpy as np

from wellsvm.datasets import make_sparse_text
from wellsvm.geometry import LinearGeometry
from wellsvm.geometry.base import Losses
from wellsvm.labels import BalancedLabels

ROWS, TOL, MOST_EPOCHS = 50_000, 1e-3, 300


def epochs(geometry: LinearGeometry, y: np.ndarray, C: float, n_blocks: int, step: float) -> int:
    """Epochs until the gap is closed, at most `MOST_EPOCHS`."""
    rng, n = np.random.default_rng(0), y.size
    losses = Losses.of("hinge", np.full(n, C))
    descent = geometry.descent(BalancedLabels(y, 0, 0), losses)
    descent.add(descent.candidate(y))
    mu = np.ones(1)
    for epoch in range(1, MOST_EPOCHS + 1):
        alpha, U = descent.alpha.copy(), descent.U.copy()
        change, alpha_change = np.zeros_like(U), np.zeros_like(alpha)
        for block in np.array_split(rng.permutation(n), n_blocks):
            own_alpha, own_U = alpha.copy(), U.copy()
            geometry.rows.descend(
                None, losses.cap, losses.ridge, descent.lengths[0], own_alpha, descent.columns, mu, own_U, 0.0, block
            )
            change += own_U - U
            alpha_change += own_alpha - alpha
        descent.alpha, descent.U = alpha + step * alpha_change, U + step * change
        descent._forget_margins()
        half = 0.5 * float(descent.squared_norms()[0])
        upper = half + losses.total(descent.margins(mu), np.arange(n))
        if upper - (losses.dual_linear(descent.alpha) - half) <= TOL * upper:
            return epoch
    return MOST_EPOCHS


if __name__ == "__main__":
    X, y = make_sparse_text(ROWS, random_state=0)
    geometry, y = LinearGeometry(X), y.astype(np.int8)
    print("| C | one | two, averaged | two, added |\n|---|---|---|---|")
    for C in (0.01, 0.1, 1.0):
        counts = [epochs(geometry, y, C, *how) for how in ((1, 1.0), (2, 0.5), (2, 1.0))]
        print(f"| {C:g} | " + " | ".join(map(str, counts)) + " |")
