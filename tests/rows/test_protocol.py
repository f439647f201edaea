"""What the solver asks of rows, of every form that they take, by dense formulas."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from scipy import sparse

from wellsvm import open_rows, write_rows
from wellsvm.rows import CentredRows, GramRows, LinearRows
from wellsvm.rows.block_rows import BlockRows, CentredBlockRows
from wellsvm.rows.cached import Budget, CachedRows, KernelRows
from wellsvm.rows.kernels import Kernel

N, D, BIAS = 12, 4, 2.0
X = np.random.default_rng(0).standard_normal((N, D)) * (np.random.default_rng(1).random((N, D)) < 0.8) + 0.5
ORIGIN = np.array([3.0, 0.0, -1.0, 50.0])
STARTS = np.array([0, 1, 4, 9, 12])
AVERAGE = np.add.reduceat(np.eye(N), STARTS[:-1], axis=0) / np.diff(STARTS)[:, None]


def cached(values, bias=BIAS, n_kept=5):
    source = KernelRows(Kernel("linear"), values, np.dtype(np.float64))
    return CachedRows(source, bias, Budget(8 * len(values) * n_kept))


def in_blocks(values, centred=False):
    folder = tempfile.mkdtemp()
    rows = open_rows(write_rows(f"{folder}/rows", values, block_rows=5), memory=3000)
    return (CentredBlockRows if centred else BlockRows)(rows, BIAS)


FORMS = {
    "dense": lambda values: LinearRows(values, BIAS),
    "csr": lambda values: LinearRows(sparse.csr_matrix(values), BIAS),
    "centred": lambda values: CentredRows(values, BIAS),
    "shifted": lambda values: LinearRows(values, BIAS, origin=ORIGIN),
    "blocks": in_blocks,
    "shifted in blocks": lambda values: in_blocks(values).seen(BIAS, ORIGIN),
    "csr in blocks": lambda values: in_blocks(sparse.csr_matrix(values)),
    "centred in blocks": lambda values: in_blocks(values, centred=True),
    "gram": lambda values: GramRows(values @ values.T, BIAS),
    "cached": cached,
}
SHIFTED_FORMS = ("shifted", "shifted in blocks")
KERNEL_FORMS = ("gram", "cached")
CENTRED_FORMS = ("centred", "centred in blocks")


def points(name, values=X):
    """The instances that rows of this form stand for."""
    if name in SHIFTED_FORMS:
        return values - ORIGIN
    return values - values.mean(axis=0) if name in CENTRED_FORMS else values


def dense_kernel(name, values=X):
    return points(name, values) @ points(name, values).T + BIAS**2


@pytest.mark.parametrize("name", FORMS)
def test_sizes_and_norms_are_those_of_the_data(name):
    rows = FORMS[name](X)
    assert rows.n_instances == N
    assert rows.bias == BIAS
    assert rows.entries_per_row == (sparse.csr_matrix(X).nnz / N if "csr" in name else N if name in KERNEL_FORMS else D)
    np.testing.assert_allclose(rows.squared_norms, np.diag(dense_kernel(name)), rtol=1e-12)
    assert rows.centred == (name in (*CENTRED_FORMS, *KERNEL_FORMS))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("width", [1, 3])
def test_scores_of_a_combination_are_products_with_the_kernel_matrix(name, width):
    rows, coef = FORMS[name](X), np.random.default_rng(2).standard_normal((N, width))
    coef[::3] = 0.0  # rows without a coefficient are not read
    scores = rows.scores(rows.combine(coef))
    assert scores.shape == (N, width)
    np.testing.assert_allclose(scores, dense_kernel(name) @ coef, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", FORMS)
def test_instances_near_are_the_instances_asked_for(name):
    rows, wanted = FORMS[name](X), np.array([7, 2, 10])
    if name in KERNEL_FORMS:
        with rows.at_hand(wanted):
            native, places = rows.near(wanted)
            Z = np.zeros((3, N))
            native.combine(places, np.eye(3), Z)
        np.testing.assert_allclose(Z, (X @ X.T)[wanted], rtol=1e-12)
    else:
        norms = np.empty(3)
        for portion, hand in rows.in_portions(wanted):
            np.testing.assert_array_equal(portion, wanted)
            with hand:
                native, places = rows.near(wanted)
                for k, place in enumerate(places):
                    native.squared_norms(place, place + 1, norms[k : k + 1])
        np.testing.assert_allclose(norms + BIAS**2, rows.squared_norms[wanted], rtol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_a_part_is_made_of_the_chosen_instances_in_their_order(name):
    chosen = np.array([9, 0, 4, 5])
    part = FORMS[name](X).part(chosen)
    assert "blocks" in name or type(part) is type(FORMS[name](X))  # few rows of blocks are taken into memory
    assert part.n_instances == 4
    coef = np.random.default_rng(3).standard_normal((4, 2))
    expected = dense_kernel(name, X[chosen]) @ coef  # centered rows are centered anew
    np.testing.assert_allclose(part.scores(part.combine(coef)), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(part.squared_norms, np.diag(dense_kernel(name, X[chosen])), rtol=1e-11)


@pytest.mark.parametrize("name", [name for name in FORMS if name not in CENTRED_FORMS])
def test_a_point_found_on_a_part_seen_from_all_instances(name):
    rows, chosen = FORMS[name](X), np.array([9, 0, 4, 5])
    coef = np.random.default_rng(7).standard_normal((4, 1))
    u = rows.from_part(rows.part(chosen).combine(coef)[:, 0], chosen)
    np.testing.assert_allclose(rows.scores(u[:, None]), dense_kernel(name)[:, chosen] @ coef, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", [name for name in FORMS if name not in CENTRED_FORMS])
def test_means_of_groups_and_what_is_found_on_them(name):
    rows = FORMS[name](X)
    means = rows.averaged(STARTS)
    coef = np.random.default_rng(4).standard_normal((4, 1))
    P = points(name)
    K = AVERAGE @ P @ P.T @ AVERAGE.T + BIAS**2
    np.testing.assert_allclose(means.scores(means.combine(coef)), K @ coef, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(means.squared_norms, np.diag(K), rtol=1e-11)
    # A point found on the means, seen from the instances.
    u = rows.from_means(means.combine(coef)[:, 0], STARTS)
    expected = (P @ P.T @ AVERAGE.T + BIAS**2) @ coef
    np.testing.assert_allclose(rows.scores(u[:, None]), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", FORMS)
def test_the_intercept_is_what_the_constant_feature_adds(name):
    rows, coef = FORMS[name](X), np.random.default_rng(5).standard_normal((N, 2))
    U = rows.combine(coef)
    weights, intercepts = rows.split_intercept(np.ascontiguousarray(U.T))
    assert intercepts.shape == (2,)
    # As functions of the rows as they were given: no constant feature, no mean taken off.
    values = X @ X.T @ weights.T if name in KERNEL_FORMS else X @ weights.T
    np.testing.assert_allclose(values + intercepts, rows.scores(U), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", FORMS)
def test_rows_that_are_few_enough_are_not_thinned(name):
    rows = FORMS[name](X)
    assert rows.thinned(N, np.random.default_rng(0)) is rows


@pytest.mark.parametrize("name", FORMS)
def test_rows_in_threads_give_the_same_bits(name):
    rng = np.random.default_rng(6)
    many = rng.standard_normal((3000, D))
    many = many[:200] if name in KERNEL_FORMS else many
    rows = FORMS[name](many)
    n = rows.n_instances
    U = rows.combine(rng.standard_normal((n, 100)))
    one, three = FORMS[name](many), rows.threaded(3)  # each with nothing at hand yet
    assert type(three) is type(rows)
    np.testing.assert_array_equal(three.scores(U), one.scores(U))
    if name not in KERNEL_FORMS:
        assert n * U.shape[1] * one.entries_per_row > one.options.least_work_for_threads, "too little to do for threads"
        assert rows.n_jobs is None
        assert three.n_jobs == 3
        signs = rng.choice(np.array([-1, 0, 1], np.int8), (n, 100))
        np.testing.assert_array_equal(three.weighted_scores(U, signs), one.weighted_scores(U, signs))
