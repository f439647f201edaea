"""Coordinate descent on linear rows: weights of all label vectors side by side, working sets, the constants."""

from __future__ import annotations

import numpy as np
import pytest

from checks import generic_master, random_problem
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.solver import begin, fit_svm
from wellsvm.solver.linear_cd import padded_width

N, D = 14, 5


def test_widths_are_padded_to_compiled_loops():
    assert [padded_width(T) for T in (1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 25)] == [
        1, 2, 4, 4, 8, 8, 16, 16, 24, 24, 32,
    ]  # fmt: skip


def test_more_label_vectors_than_the_widest_loop_stay_in_step():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((N, D))
    label_set = BalancedLabels(np.array([1, -1, 1] + [0] * (N - 3)), 3, 7)
    losses = Losses.of("hinge", np.ones(N))
    state = begin(LinearRows(X, 1.0), label_set, losses)
    for T in range(1, 21):
        state.add(state.candidate(label_set.initial(rng)))
        mu = rng.dirichlet(np.ones(T))
        state.descend(mu, np.arange(N), rng, 0.0)
    K = X @ X.T + 1.0
    spreads = np.stack([state.alpha * y for y in state.labels])
    np.testing.assert_allclose(state.squared_norms(), np.diag(spreads @ K @ spreads.T), rtol=1e-10)
    np.testing.assert_allclose(state.scores(mu), K @ (mu @ spreads), rtol=1e-9, atol=1e-11)


CONSTANTS = [
    {"few_rows": 0.0},  # always look for a working set
    {"few_rows": 2.0},  # never
    {"most_epochs": 1},
    {"visits_per_pass": 0.0, "cheap_epochs": 0},
    {"visits_per_pass": 100.0, "most_epochs": 100},
]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("constants", CONSTANTS, ids=lambda given: ", ".join(given))
def test_the_constants_change_the_way_but_not_the_end(constants, loss):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, "linear", loss)
    y = problem.label_set.initial(rng)
    optimum = generic_master(problem.K, problem.label_set, problem.losses, [y]).value
    svm = fit_svm(*problem[:3], y, tol=1e-6, rng=rng, options=Options(**constants))
    assert abs(svm.upper - optimum) <= 2e-6 * optimum
