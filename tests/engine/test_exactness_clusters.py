"""Exactness on clusterings small enough to enumerate, as for semi-supervised learning."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from checks import accurate, enumerate_labels, generic_master, random_kernel
from wellsvm.engine.cutting_plane import ORACLES, cutting_plane
from wellsvm.engine.starts import aligned_clusters
from wellsvm.labels import ClusterLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.solver import begin

N_PROBLEMS, TOL, BOUND, MASTER = 24, 1e-5, 1e-5, 1e-4


@lru_cache(maxsize=1)
def campaign():
    """Small problems, what the engine made of them by climbing, and the true optimum of the relaxation."""
    solved = []
    for k in range(N_PROBLEMS):
        rng = np.random.default_rng([k, 11])
        n, bias = int(rng.integers(6, 10)), float(rng.integers(2))
        X = rng.standard_normal((n, 3)) + np.outer(rng.choice([-1, 1], n), rng.uniform(0, 2, 3))
        if k % 2:
            K = X @ X.T
            rows = LinearRows(X, bias)
        else:
            K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 6)
            rows = GramRows(K, bias)
        labels = ClusterLabels.of_share(n, float(rng.choice([0.0, 0.3, 0.5])))
        losses = Losses.of(("hinge", "squared_hinge")[k % 4 // 2], np.full(n, rng.choice([0.1, 1.0, 10.0])))
        results = {}
        for oracle in ORACLES:
            run_rng = np.random.default_rng([k, 12])
            state = begin(rows, labels, losses, options=accurate(TOL, oracle))
            results[oracle] = cutting_plane(state, [labels.initial(run_rng)], run_rng)
        every = [y for y in enumerate_labels(labels) if y[0] > 0]  # one of y and -y
        optimum = generic_master(K + bias**2, labels, losses, every).value
        solved.append((K + bias**2, labels, losses, results, optimum))
    return solved


@pytest.mark.slow
def test_the_final_master_has_the_optimum_of_a_generic_solver():
    for k, (K, labels, losses, results, _) in enumerate(campaign()):
        for oracle, result in results.items():
            wanted = generic_master(K, labels, losses, result.solution.state.labels).value
            assert -BOUND <= result.solution.upper / wanted - 1 <= MASTER, (k, oracle)


@pytest.mark.slow
def test_no_objective_lies_below_the_optimum_of_the_relaxation():
    for k, (_, _, _, results, optimum) in enumerate(campaign()):
        for oracle, result in results.items():
            assert result.solution.upper >= optimum * (1 - BOUND), (k, oracle)


@pytest.mark.slow
def test_climbing_reaches_the_optimum_of_the_relaxation_on_nearly_all_problems():
    far = [k for k, (*_, results, optimum) in enumerate(campaign()) if results["climb"].solution.upper > 1.01 * optimum]
    assert len(far) <= 1, far


@pytest.mark.slow
def test_every_generated_labelling_is_feasible():
    for _, labels, _, results, _ in campaign():
        assert all(labels.contains(y) for result in results.values() for y in result.solution.state.labels)


@pytest.mark.slow
def test_one_of_y_and_minus_y_gives_the_relaxation_of_all():
    K, labels, losses, _, optimum = campaign()[0]
    assert generic_master(K, labels, losses, list(enumerate_labels(labels))).value == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_label_vectors_found_by_climbing_agree_in_sign(seed):
    # Else they would cancel in f.
    rng = np.random.default_rng(seed)
    rows, labels = GramRows(random_kernel(rng, 30)), ClusterLabels(30, 6)
    options = Options(oracle="climb", tol=1e-3, min_decrease=1e-2)
    first = list({y.tobytes(): y for y in aligned_clusters(rows, labels, 5, rng, options)}.values())
    state = begin(rows, labels, Losses.of("hinge", np.ones(30)), options=options)
    found = np.stack(cutting_plane(state, first, rng).solution.state.labels).astype(int)
    assert len(found) > 1
    assert np.all(found[1:] @ found[0] >= 0)
