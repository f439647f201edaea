"""Newton's method, continuation, and branch and bound: rivals of Tables 6 and 7 that came later."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from checks import enumerate_labels
from wellsvm.baselines import BranchAndBoundS3VM, ContinuationS3VM, GradientS3VM, MultiSwitchTSVM, NewtonS3VM
from wellsvm.baselines._continuation import blurred_losses, first_width
from wellsvm.baselines._features import Features
from wellsvm.baselines._gradient import SHARPNESS, smooth_losses
from wellsvm.baselines._newton import _hinge_curvature, _smooth_curvature, newton, squared_hinge
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.rows import LinearRows
from wellsvm.rows.kernels import Kernel
from wellsvm.solver import fit_svm

LINEAR = Kernel("linear", 1.0, 3, 0.0)


def problem(n=12, n_labeled=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1).astype(np.int8)
    X = rng.standard_normal((n, 3)) + 0.7 * y[:, None]
    return X, y, BalancedLabels(np.where(np.arange(n) < n_labeled, y, 0), (n - n_labeled) // 2)


# ------------------------------------------------------------------ Newton


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_newton_solves_the_svm_of_liblinear(form):
    X, y, _ = problem(60, 60)
    features = Features.of(form(X), LINEAR, 1.0)
    C = np.full(60, 2 * 0.7)  # C / 2 times the squared slack
    v = newton(
        features, features.start(), partial(squared_hinge, y=y, C=C), partial(_hinge_curvature, y=y, C=C), tol=1e-8
    )
    svm = LinearSVC(C=0.7, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(v, np.append(svm.coef_, svm.intercept_), atol=1e-5)


def test_second_derivatives_are_those_of_the_smooth_losses():
    _, _, labels = problem()
    f, step = np.linspace(-1.63, 1.7, 12), 1e-6
    slope = partial(smooth_losses, labels=labels, C=2.0, C_unlabeled=0.3)
    by_differences = (slope(f + step)[1] - slope(f - step)[1]) / (2 * step)
    np.testing.assert_allclose(_smooth_curvature(f, labels, 2.0, 0.3), by_differences, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(3))
def test_newton_and_gradient_descend_to_points_without_a_gradient(kernel, seed):
    X, y, _ = problem(40, 8, seed)
    known = np.where(np.arange(40) < 8, y.astype(float), np.nan)
    a, b = (model(C_unlabeled=0.5, kernel=kernel, tol=1e-7).fit(X, known) for model in (GradientS3VM, NewtonS3VM))
    # the first price is nearly convex: one minimum; later ones may lie in different valleys
    assert a.history_[0] == pytest.approx(b.history_[0], rel=1e-6)


def test_multi_switch_ends_where_no_pair_is_better_switched():
    X, y, _ = problem(80, 8, 1)
    known = np.where(np.arange(80) < 8, y.astype(float), np.nan)
    model = MultiSwitchTSVM(C_unlabeled=0.5, tol=1e-6).fit(X, known)
    labels, free = model.transduction_, np.isnan(known)
    slack = 1 - labels * model.decision_function(X)
    worst = [np.max(slack[free & (labels == sign)], initial=0.0) for sign in (1, -1)]
    assert min(worst) <= 0 or sum(worst) <= 2 + 1e-2
    assert np.mean(labels[free] == 1) == 0.5


# ------------------------------------------------------------------ continuation


def test_the_blurred_loss_is_the_mean_over_normal_deviates():
    _, _, labels = problem()
    f, width, squares = np.linspace(-1, 1, 12), 0.4, np.linspace(0.5, 2, 12)
    stretch = 1 + 2 * SHARPNESS * width * squares
    z = np.random.default_rng(0).standard_normal((400_000, 1))
    spread = f[labels.free] + z * np.sqrt(width * squares[labels.free])
    wanted = 0.3 * np.exp(-SHARPNESS * spread**2).mean(axis=0).sum()
    labeled = smooth_losses(f, labels, 2.0, 0.0)[0]
    assert blurred_losses(f, labels, 2.0, 0.3, stretch)[0] - labeled == pytest.approx(wanted, rel=0.01)


def test_the_gradient_of_the_blurred_loss_is_its_derivative():
    _, _, labels = problem()
    stretch, f = np.linspace(1, 9, 12), np.linspace(-1.4, 1.3, 12)

    def part(k):
        return lambda f: blurred_losses(f, labels, 2.0, 0.3, stretch)[k]

    assert check_grad(part(0), part(1), f) < 1e-5


def test_the_first_width_makes_the_objective_convex_and_half_of_it_may_not():
    squares, C = np.full(50, 2.0), 1.0
    width = first_width(squares, C)
    concave = [float(C * np.sum(2 * SHARPNESS * squares / (1 + 2 * SHARPNESS * w * squares) ** 1.5)) for w in
               (width, width / 2)]  # fmt: skip
    assert concave[0] <= 1 < concave[1]
    assert first_width(np.full(2, 1e-3), 0.1) == 0.0


def test_continuation_forgets_its_start():
    # With one step only the last, bumpy objective is descended; from the convex one on, the minimum is no worse here.
    X, y, _ = problem(60, 6, 3)
    known = np.where(np.arange(60) < 6, y.astype(float), np.nan)
    direct, path = (ContinuationS3VM(C_unlabeled=1.0, n_prices=n, tol=1e-6).fit(X, known) for n in (1, 11))
    assert len(direct.history_) == 1
    assert len(path.history_) == 11
    assert path.objective_ <= direct.objective_ * (1 + 1e-6)


# ------------------------------------------------------------------ branch and bound


@pytest.mark.parametrize("seed", range(6))
def test_branch_and_bound_finds_the_best_of_all_labelings(seed):
    X, _, labels = problem(seed=seed)
    known = np.where(labels.y_known != 0, labels.y_known, np.nan)
    model = BranchAndBoundS3VM(C_unlabeled=0.5, fit_intercept=False, random_state=0).fit(X, known)
    prices = Losses.of("squared_hinge", np.where(labels.y_known != 0, 1.0, 0.5))
    best = min(
        fit_svm(LinearRows(X), BalancedLabels.known(z), prices, z, tol=1e-7, rng=np.random.default_rng(0)).upper
        for z in enumerate_labels(labels)
    )
    assert model.objective_ == pytest.approx(best, rel=1e-4)
    assert np.all(np.diff(model.history_) <= 0)
    assert len(model.history_) < 2 ** (labels.free.size + 1) - 1  # nodes of the whole tree


def test_branch_and_bound_warns_where_nodes_run_out():
    X, _, labels = problem()
    known = np.where(labels.y_known != 0, labels.y_known, np.nan)
    with pytest.warns(ConvergenceWarning, match="max_nodes=2"):
        BranchAndBoundS3VM(C_unlabeled=0.5, max_nodes=2).fit(X, known)
    with pytest.raises(ValueError, match="max_nodes must be"):
        BranchAndBoundS3VM(max_nodes=0).fit(X, known)
