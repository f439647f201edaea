"""A kernel matrix kept in part: the dense formulas hold, the result is the whole matrix's, the budget is respected."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from checks import KeyInstances, check_rows
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows
from wellsvm.rows.cached import Budget, CachedRows, KernelRows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import begin, fit_svm


def cached(X, n_kept, bias=0.0, kernel=None, options=None):
    """Room for ``n_kept`` rows of the kernel matrix of X in float64."""
    source = KernelRows(kernel or Kernel("linear"), X, np.dtype(np.float64))
    return CachedRows(source, bias, Budget(8 * X.shape[0] * n_kept), options or Options())


def clouds(n=120):
    """Two clouds."""
    truth = np.where(np.arange(n) % 2, 1, -1)
    return np.random.default_rng(0).standard_normal((n, 4)) + 1.2 * truth[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_kept", [2, 5, 14])
@pytest.mark.parametrize("kind", ["examples", "bags", "bags-of-two"])
def test_a_state_keeps_what_the_dense_formulas_say(kind, n_kept, loss):
    rng, n = np.random.default_rng(0), 14
    X = rng.standard_normal((n, 5))
    if kind == "examples":
        label_set = BalancedLabels(np.array([1, -1, 1] + [0] * (n - 3)), 3, 7)
    else:
        label_set = KeyInstances([3, 1, 4, 1, 1, 2, 1, 1], v=1 if kind == "bags" else 2)
        n_kept += 2  # a bag of four may have four keys among the label vectors
    losses = Losses.of(loss, np.resize([1.0, 0.3, 5.0, 0.0], label_set.n_rows))
    check_rows(cached(X, n_kept, 1.0), label_set, losses, X @ X.T + 1.0, rng)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 400, Options.batch])
@pytest.mark.parametrize("n_kept", [1, 7, 60])
def test_an_svm_is_that_of_the_whole_matrix_and_the_budget_is_respected(n_kept, batch):
    X = clouds()
    y = np.where(X.sum(axis=1) > 0, 1, -1).astype(np.int8)
    kernel, losses = Kernel("rbf", gamma=0.3), Losses.of("squared_hinge", np.ones(len(y)))
    part = cached(X, n_kept, 1.0, kernel, Options(batch=batch))
    objectives = []
    for rows in (GramRows(rbf_kernel(X, gamma=0.3), 1.0), part):
        svm = fit_svm(rows, BalancedLabels.known(y), losses, y, tol=1e-6, rng=np.random.default_rng(0))
        objectives.append(svm.upper)
    assert objectives[1] == pytest.approx(objectives[0], rel=2e-6)
    assert 0 < part.n_bytes <= part.budget.n_bytes == 8 * len(y) * n_kept


def test_the_rows_used_last_are_kept():
    X = clouds(n=10)
    rows, asked = cached(X, 3), []
    compute = rows.source.rows
    rows.source.rows = lambda chosen: asked.append(chosen.tolist()) or compute(chosen)
    for wanted in ([0, 1], [2], [0], [3], [1, 3], [4, 5, 6]):
        with rows.at_hand(np.array(wanted)):
            coef = np.ones((1, len(wanted)))
            Z = np.zeros((1, 10))
            rows.native.combine(np.array(wanted), coef, Z)
        np.testing.assert_allclose(Z[0], (X @ X.T)[wanted].sum(axis=0))
    assert asked == [[0, 1], [2], [3], [1], [4, 5, 6]]  # 3 takes the place of 1, then 1 that of 2


def test_parts_and_means_share_the_budget_with_the_whole():
    X = clouds(n=12)
    K, whole = X @ X.T, cached(X, 4)
    chosen, starts = np.array([7, 2, 3]), np.array([0, 1, 4, 9, 12])
    part, means = whole.part(chosen), whole.averaged(starts)
    average = np.add.reduceat(np.eye(12), starts[:-1], axis=0) / np.diff(starts)[:, None]
    expected = [K, K[np.ix_(chosen, chosen)], average @ K @ average.T]
    expected.append(expected[2][1:3, 1:3])
    forms = [whole, part, means, means.part(np.array([1, 2]))]
    for rows, matrix in [*zip(forms, expected), (whole, K)]:
        np.testing.assert_allclose(rows.scores(np.eye(len(matrix))), matrix, atol=1e-12)
        np.testing.assert_allclose(rows.squared_norms, matrix.diagonal(), atol=1e-12)
        assert sum(other.n_bytes for other in forms) == rows.n_bytes <= whole.budget.n_bytes
        assert [other for other in forms if other.native is not None] == [rows]


def test_a_row_that_fails_is_not_kept():
    X = clouds(n=6)
    rows = cached(X, 3)
    compute = rows.source.rows

    def fail(chosen):
        raise KeyboardInterrupt

    rows.source.rows = fail
    with pytest.raises(KeyboardInterrupt):
        rows.scores(np.ones((6, 1)))
    rows.source.rows = compute
    np.testing.assert_allclose(rows.scores(np.ones((6, 1)))[:, 0], (X @ X.T).sum(axis=0))


def test_a_cache_without_room_for_a_bag_says_so():
    X = clouds(n=6)
    label_set = KeyInstances([6], v=6)
    y = np.ones(6, dtype=np.int8)
    state = begin(cached(X, 3), label_set, Losses.of("hinge", np.ones(1)))
    state.add(state.candidate(y))
    with pytest.raises(ValueError, match="holds 3 rows of kernel values and a bag needs 6"):
        state.descend(np.ones(1), np.arange(1), np.random.default_rng(0), 1e-3)
