"""The compiled kernels do what `wellsvm.native.reference` says, for every kind of input and instruction set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from wellsvm.native import reference
from wellsvm.rows.gram import native_gram
from wellsvm.rows.linear import native_rows
from wellsvm.threads import slices

native = pytest.importorskip("wellsvm.native._native", reason="the compiled module was not built")

WIDTHS = [1, 2, 3, 5, 8, 16, 20]
FORMATS = ["dense", "int32", "int64"]
N_INSTANCES, N_FEATURES, N_EPOCHS = 24, 11, 4
# Same order of rows, sums in another order: a few units in the last place, carried through N_EPOCHS epochs.
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def make_matrix(rng, dtype, format, n=N_INSTANCES, d=N_FEATURES):
    """Random entries, half of them zero, some rows empty; in the wanted format."""
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    X[[2, n // 2]] = 0.0
    X = X.astype(dtype)
    if format == "dense":
        return X
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(format), X.indptr.astype(format)
    return X


def make_starts(several):
    """Rows of 1, 2, 3, 4, 1, 2, ... instances, or None: each instance a row."""
    if not several:
        return None
    sizes = np.resize([1, 2, 3, 4], N_INSTANCES)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return np.append(starts[starts < N_INSTANCES], N_INSTANCES).astype(np.int64)


def make_dual(rng, loss, n_rows, curvature):
    """cap, ridge, curvature and alpha of a problem; one row takes no part (C = 0)."""
    C = rng.choice([0.1, 1.0, 10.0], n_rows)
    C[1] = 0.0
    if loss == "hinge":
        cap, ridge = C, np.zeros(n_rows)
    else:
        cap, ridge = np.where(C > 0, np.inf, 0.0), np.divide(1.0, C, out=np.zeros(n_rows), where=C > 0)
    return cap, ridge, curvature + ridge, np.zeros(n_rows)


def make_labels(rng, width, starts):
    """Labels -1 or +1; where rows hold several instances some are 0, and some instances are 0 in all vectors."""
    labels = rng.choice([-1, 1], (N_INSTANCES, width)).astype(np.int8)
    if starts is not None:
        labels[rng.random(labels.shape) < 0.4] = 0
        labels[5] = 0
    return labels


def owners(starts):
    if starts is None:
        return np.arange(N_INSTANCES)
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def safe_curvature(squared_norms, labels, starts):
    """An upper bound of ``||psi_t(i)||^2``: the square of the sum of the norms."""
    sums = np.bincount(owners(starts), np.sqrt(squared_norms) * np.abs(labels).max(axis=1))
    return sums**2


def run_linear(X, module, *, width, bias, loss, several, seed=0):
    """A few epochs of coordinate descent; everything they leave behind."""
    rng = np.random.default_rng(seed)
    rows, starts = native_rows(X, module=module), make_starts(several)
    labels, mu = make_labels(rng, width, starts), rng.dirichlet(np.ones(width))
    norms = np.empty(N_INSTANCES)
    rows.squared_norms(0, N_INSTANCES, norms)
    n_rows = N_INSTANCES if starts is None else len(starts) - 1
    cap, ridge, curvature, alpha = make_dual(rng, loss, n_rows, safe_curvature(norms + bias**2, labels, starts))
    U = np.zeros((X.shape[1] + 1, width))
    reports = []
    for _ in range(N_EPOCHS):
        order = rng.permutation(n_rows)
        for part in np.array_split(order, 2):  # in slices, as the library calls it
            reports.append(rows.descend(starts, cap, ridge, curvature, alpha, labels, mu, U, bias, part))
    return {"alpha": alpha, "U": U, **summary(reports), "labels": labels, "starts": starts}


def run_gram(K, module, *, width, bias, loss, several, threshold=0.0, seed=0):
    """The same on a kernel matrix."""
    rng = np.random.default_rng(seed)
    gram, starts = native_gram(K, module=module), make_starts(several)
    labels, mu = make_labels(rng, width, starts), rng.dirichlet(np.ones(width))
    n_rows = N_INSTANCES if starts is None else len(starts) - 1
    norms = K.diagonal().astype(np.float64) + bias**2
    cap, ridge, curvature, alpha = make_dual(rng, loss, n_rows, safe_curvature(norms, labels, starts))
    patterns, pattern_of = np.unique(labels, axis=0, return_inverse=True)
    patterns, pattern_of = np.ascontiguousarray(patterns.T), pattern_of.ravel().astype(np.int32)
    signed_scores, reports = np.zeros(N_INSTANCES), []
    for _ in range(N_EPOCHS):
        order = rng.permutation(n_rows)
        for part in np.array_split(order, 2):
            report = gram.descend(
                starts, cap, ridge, curvature, alpha, pattern_of, patterns, mu, signed_scores,
                bias, threshold, part,
            )  # fmt: skip
            reports.append(report)
    return {"alpha": alpha, "signed_scores": signed_scores, **summary(reports)}


def summary(reports):
    """Violations and losses of all slices; changes, where they are counted, in the first epoch only: a row visited when
    it already has its best alpha changes by nothing or by one rounding error, and both are right."""
    violation, loss, *n_changed = np.array(reports).T
    return {"violation": violation, "loss": loss, "n_changed": [counts[:2] for counts in n_changed]}


def assert_same(actual, wanted):
    for name in wanted.keys() - {"starts"}:
        np.testing.assert_allclose(actual[name], wanted[name], err_msg=name, **CLOSE)


def random_gram(rng, dtype=np.float64):
    X = rng.standard_normal((N_INSTANCES, 6))
    return np.ascontiguousarray(np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(dtype))


# Coordinate descent


@pytest.mark.parametrize("several", [False, True], ids=["rows=instances", "several-instances"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_descent_equals_the_reference(dtype, format, width, several):
    X = make_matrix(np.random.default_rng(width), dtype, format)
    for bias in (0.0, 1.0):
        for loss in ("hinge", "squared_hinge"):
            how = {"width": width, "bias": bias, "loss": loss, "several": several}
            fast, slow = run_linear(X, native, **how), run_linear(X, reference, **how)
            assert_same(fast, slow)
            assert np.count_nonzero(fast["alpha"]) > 3, "the comparison saw no step"


@pytest.mark.parametrize("several", [False, True], ids=["rows=instances", "several-instances"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_descent_equals_the_reference(dtype, width, several):
    K = random_gram(np.random.default_rng(width), dtype)
    for bias in (0.0, 1.0):
        for loss in ("hinge", "squared_hinge"):
            for threshold in (0.0, 0.3):
                how = {"width": width, "bias": bias, "loss": loss, "several": several, "threshold": threshold}
                fast, slow = run_gram(K, native, **how), run_gram(K, reference, **how)
                assert_same(fast, slow)
                assert np.count_nonzero(fast["alpha"]) > 3, "the comparison saw no step"


def run_svm(K, module, *, bias, loss, goal=0.0, tol=0.0, most_epochs=30, most_changes=10**6, seed=0, n_behind=0):
    """Epochs on one label vector, with some rows that have none, some that are not visited, and some whose coefficient
    f does not know yet."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1, 1, 1, 0], N_INSTANCES).astype(np.int8)
    norms = K.diagonal().astype(np.float64) + bias**2
    cap, ridge, curvature, alpha = make_dual(rng, loss, N_INSTANCES, norms)
    alpha[labels == 0] = 0.0
    rows = np.flatnonzero(labels * (rng.random(N_INSTANCES) < 0.9))
    coef = alpha * labels
    coef[rng.choice(np.flatnonzero(labels), n_behind, replace=False)] += 0.1
    f = (K.astype(np.float64) + bias**2) @ coef
    ended = native_gram(K, module=module).descend_svm(
        cap, ridge, curvature, alpha, labels, coef, f, bias, goal, tol, 0.3, most_epochs, most_changes, 2**63 + 7, rows,
    )  # fmt: skip
    names = ("violation", "loss", "half", "linear", "n_changed", "n_epochs", "solved")
    dual = {"cap": cap, "ridge": ridge, "rows": rows, "labels": labels}
    return {"alpha": alpha, "coef": coef, "f": f, **dict(zip(names, ended)), **dual}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "ends",
    [
        {"most_epochs": 3}, {"most_changes": 17}, {"goal": 0.01}, {"tol": 0.01}, {"most_epochs": 0},
        {"most_epochs": 0, "n_behind": 6}, {"tol": 0.01, "n_behind": 3},
    ],
    ids=str,
)  # fmt: skip
def test_epochs_on_an_svm_equal_the_reference_and_end_as_they_are_told(dtype, loss, ends):
    K = random_gram(np.random.default_rng(3), dtype)
    for bias in (0.0, 1.0):
        fast, slow = (run_svm(K, module, bias=bias, loss=loss, **ends) for module in (native, reference))
        assert_same(fast, slow)
        assert fast["n_epochs"] <= ends.get("most_epochs", 30)
        assert fast["n_changed"] <= ends.get("most_changes", 10**6)
        if "goal" in ends:
            assert fast["violation"] <= ends["goal"]
        if "tol" in ends:
            upper = fast["half"] + fast["loss"]
            assert upper - (fast["linear"] - fast["half"]) <= ends["tol"] * upper
        assert fast["solved"] == bool({"goal", "tol"} & ends.keys())


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
def test_rows_that_are_behind_catch_up_a_few_at_a_time(module):
    K = random_gram(np.random.default_rng(5))
    run = run_svm(K, module, bias=1.0, loss="hinge", most_changes=5, n_behind=7)
    np.testing.assert_allclose(run["f"], (K + 1.0) @ run["coef"], **CLOSE)
    assert np.count_nonzero(run["coef"] != run["alpha"] * run["labels"]) == 2
    assert not run["solved"]
    assert run["n_changed"] == run["n_epochs"] == 0


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("n_behind", [0, 6])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_what_is_told_of_an_svm_are_its_bounds(module, loss, n_behind):
    K = random_gram(np.random.default_rng(4))
    run = run_svm(K, module, bias=1.0, loss=loss, most_epochs=2, n_behind=n_behind)
    alpha, coef, rows = run["alpha"], run["alpha"] * run["labels"], run["rows"]
    np.testing.assert_array_equal(run["coef"], coef)
    f = (K + 1.0) @ coef
    np.testing.assert_allclose(run["f"], f, **CLOSE)
    slack = np.maximum(0.0, 1.0 - (run["labels"] * f)[rows])
    ridge, cap = run["ridge"][rows], run["cap"][rows]
    lost = 0.5 * np.sum(slack[ridge > 0] ** 2 / ridge[ridge > 0]) + cap[ridge == 0] @ slack[ridge == 0]
    assert run["half"] == pytest.approx(0.5 * coef @ f)
    assert run["linear"] == pytest.approx(np.sum(alpha) - 0.5 * np.sum(run["ridge"] * alpha**2))
    assert run["loss"] == pytest.approx(lost)


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("several", [False, True], ids=["rows=instances", "several-instances"])
def test_linear_descent_keeps_weights_in_step_with_alpha(module, loss, several):
    X = make_matrix(np.random.default_rng(0), np.float64, "dense")
    run = run_linear(X, module, width=5, bias=1.0, loss=loss, several=several)
    coef = run["alpha"][owners(run["starts"])][:, None] * run["labels"]
    np.testing.assert_allclose(run["U"], np.vstack([X.T @ coef, coef.sum(axis=0)]), **CLOSE)


def test_dense_and_sparse_rows_give_the_same_descent():
    X = make_matrix(np.random.default_rng(3), np.float64, "dense")
    how = {"width": 4, "bias": 1.0, "loss": "hinge", "several": True}
    assert_same(run_linear(sparse.csr_matrix(X), native, **how), run_linear(X, native, **how))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_width_of_the_indices_changes_no_bit(dtype, width):
    how = {"width": width, "bias": 1.0, "loss": "hinge", "several": True}
    runs = [run_linear(make_matrix(np.random.default_rng(4), dtype, format), native, **how) for format in FORMATS[1:]]
    for name in ("alpha", "U", "violation", "loss"):
        np.testing.assert_array_equal(runs[0][name], runs[1][name])


def test_a_column_named_twice_in_a_row_counts_twice():
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1], np.int32), np.array([0, 2, 3], np.int32)
    expected = np.array([[3.0, 0.0], [0.0, 4.0]])
    for module in (native, reference):
        rows = module.csr_rows(data, indices, indptr, 2)
        Z = np.empty((2, 2))
        rows.scores(np.vstack([np.eye(2), np.zeros(2)]), 0.0, 0, 2, Z)
        np.testing.assert_array_equal(Z, expected)
        U = np.zeros((3, 2))
        rows.combine(np.eye(2), 0.0, 0, 2, U)
        np.testing.assert_array_equal(U[:-1], expected.T)
        cap, ridge, curvature, alpha = np.ones(2), np.zeros(2), np.array([9.0, 16.0]), np.zeros(2)
        U, ones = np.zeros((3, 1)), np.ones((2, 1), np.int8)
        rows.descend(None, cap, ridge, curvature, alpha, ones, np.ones(1), U, 0.0, np.arange(2))
        np.testing.assert_allclose(U.ravel(), [1 / 3, 1 / 4, 0.0], rtol=1e-15)


# Products


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_scores_and_combine_equal_the_reference_on_every_slice(dtype, format, width):
    rng = np.random.default_rng(width)
    X = make_matrix(rng, dtype, format)
    U, coef = rng.standard_normal((N_FEATURES + 1, width)), rng.standard_normal((N_INSTANCES, width))
    coef[::3] = 0.0  # rows without a coefficient are skipped
    for begin, end in [(0, N_INSTANCES), (3, 17), (7, 7)]:
        results = []
        for module in (native, reference):
            rows = native_rows(X, module=module)
            norms, Z, W = np.empty(end - begin), np.empty((end - begin, width)), U.copy()
            rows.squared_norms(begin, end, norms)
            rows.scores(U, 0.7, begin, end, Z)
            rows.combine(coef[begin:end], 0.7, begin, end, W)
            results.append((norms, Z, W))
        for fast, slow in zip(*results):
            np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-13)


# Memory that is not ours


@pytest.mark.parametrize("format", FORMATS)
def test_read_only_and_memory_mapped_input_is_used_as_it_is(format, tmp_path):
    X = make_matrix(np.random.default_rng(1), np.float32, format)
    how = {"width": 2, "bias": 1.0, "loss": "hinge", "several": False}
    wanted = run_linear(X, native, **how)

    def mapped(name, array):
        path = tmp_path / name
        array.tofile(path)
        return np.memmap(path, dtype=array.dtype, mode="r", shape=array.shape)

    if format == "dense":
        frozen, on_disk = X.copy(), mapped("X", X)
        frozen.flags.writeable = False
    else:
        parts = [X.data, X.indices, X.indptr]
        frozen, on_disk = X.copy(), sparse.csr_matrix(X.shape, dtype=X.dtype)
        frozen.indices, frozen.indptr = frozen.indices.astype(format), frozen.indptr.astype(format)
        on_disk.data, on_disk.indices, on_disk.indptr = (mapped(str(k), part) for k, part in enumerate(parts))
        for part in (frozen.data, frozen.indices, frozen.indptr):
            part.flags.writeable = False
    assert_same(run_linear(frozen, native, **how), wanted)
    assert_same(run_linear(on_disk, native, **how), wanted)


def test_read_only_and_memory_mapped_gram_is_used_as_it_is(tmp_path):
    K = random_gram(np.random.default_rng(2))
    how = {"width": 3, "bias": 1.0, "loss": "squared_hinge", "several": False}
    wanted = run_gram(K, native, **how)
    path = tmp_path / "K"
    K.tofile(path)
    frozen = K.copy()
    frozen.flags.writeable = False
    assert_same(run_gram(frozen, native, **how), wanted)
    assert_same(run_gram(np.memmap(path, K.dtype, "r", shape=K.shape), native, **how), wanted)


def test_rows_keep_their_matrix_alive():
    def rows_of_a_matrix_nobody_else_holds():
        return native_rows(np.full((50_000, 4), 2.0), module=native)

    rows = rows_of_a_matrix_nobody_else_holds()
    crowd = [np.zeros((50_000, 4)) for _ in range(3)]  # would take the freed memory
    norms = np.empty(50_000)
    rows.squared_norms(0, 50_000, norms)
    np.testing.assert_array_equal(norms, 16.0)
    assert len(crowd) == 3


def test_results_are_written_into_the_callers_arrays_or_refused():
    X = np.ones((3, 2))
    rows = native_rows(X, module=native)
    frozen = np.empty(3)
    frozen.flags.writeable = False
    for out in (frozen, np.empty(3, np.float32), np.empty(6)[::2]):
        with pytest.raises((TypeError, ValueError)):
            rows.squared_norms(0, 3, out)


def test_a_matrix_that_would_need_a_copy_is_refused():
    X = np.ones((6, 4))
    for bad in (X[::2], np.asfortranarray(X), X.astype(np.int64), X.astype(np.float16)):
        with pytest.raises(TypeError):
            native.dense_rows(bad)
    with pytest.raises(TypeError):
        native.gram(np.asfortranarray(np.arange(9.0).reshape(3, 3)))


# Edges


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(0, 5), (4, 0), (0, 0)], ids=str)
def test_an_empty_matrix_is_fine(shape, format):
    n, d = shape
    X = np.zeros(shape)
    if format != "dense":
        X = sparse.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype(format), X.indptr.astype(format)
    for module in (native, reference):
        rows = native_rows(X, module=module)
        norms, Z, U = np.ones(n), np.ones((n, 2)), np.zeros((d + 1, 2))
        rows.squared_norms(0, n, norms)
        rows.scores(U, 1.0, 0, n, Z)
        rows.combine(np.ones((n, 2)), 1.0, 0, n, U)
        assert not norms.any()
        assert not Z.any()
        np.testing.assert_array_equal(U, np.vstack([np.zeros((d, 2)), np.full((1, 2), n)]))
        cap, zero, alpha, U = np.ones(n), np.zeros(n), np.zeros(n), np.zeros((d + 1, 1))
        labels = np.ones((n, 1), np.int8)
        rows.descend(None, cap, zero, zero, alpha, labels, np.ones(1), U, 0.0, np.arange(n))
        np.testing.assert_array_equal(alpha, cap)  # without features the dual is linear


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 9])
def test_rows_of_a_gram_are_combined_in_double(dtype, n_rows):
    rng = np.random.default_rng(n_rows)
    K = rng.standard_normal((1100, 1100)).astype(dtype)  # more columns than one block
    rows, coef, start = rng.permutation(1100)[:n_rows], rng.standard_normal((3, n_rows)), rng.standard_normal((3, 1100))
    coef[1] = 0.0
    results = []
    for module in (native, reference):
        Z = start.copy()
        native_gram(K, module=module).combine(rows, coef, Z)
        results.append(Z)
    np.testing.assert_allclose(*results, **CLOSE)


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("several", [False, True])
def test_rows_of_a_gram_that_are_not_at_hand_wait(module, several):
    """With places: the rows at hand move as on the whole matrix, no other does, and all are reported."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_INSTANCES, 4))
    K, starts = X @ X.T, make_starts(several)
    n_rows = N_INSTANCES if starts is None else len(starts) - 1
    row_of = np.arange(n_rows) if starts is None else np.repeat(np.arange(n_rows), np.diff(starts))
    labels, mu = make_labels(rng, 2, starts), np.array([0.3, 0.7])
    dual = make_dual(rng, "squared_hinge", n_rows, safe_curvature(K.diagonal(), labels, starts))
    patterns, pattern_of = np.unique(labels, axis=0, return_inverse=True)
    patterns, pattern_of = np.ascontiguousarray(patterns.T), pattern_of.ravel().astype(np.int32)
    order, chosen = rng.permutation(n_rows), rng.random(n_rows) < 0.5
    kept = rng.permutation(np.flatnonzero(chosen[row_of] & labels.any(axis=1)))
    places = np.full(N_INSTANCES, -1)
    places[kept] = np.arange(kept.size)
    ends = []
    for gram, visited in (
        (native_gram(K, module=module), order[chosen[order]]),
        (native_gram(np.ascontiguousarray(K[kept]), places, module=module), order),
    ):
        cap, ridge, curvature, alpha = (part.copy() for part in dual)
        signed = np.zeros(N_INSTANCES)
        report = gram.descend(starts, cap, ridge, curvature, alpha, pattern_of, patterns, mu, signed, 0.0, 0.0, visited)
        ends.append((alpha, signed, report))
    (alpha, signed, report), (alpha_part, signed_part, report_part) = ends
    np.testing.assert_allclose(alpha_part[chosen], alpha[chosen], **CLOSE)
    np.testing.assert_array_equal(alpha_part[~chosen], dual[3][~chosen])
    np.testing.assert_allclose(signed_part, signed, **CLOSE)
    assert report_part[0] >= report[0] > 0
    assert report_part[1] > report[1]
    with pytest.raises(ValueError, match="not at hand"):
        gram.combine(np.flatnonzero(places < 0)[:1], np.ones((1, 1)), np.zeros((1, N_INSTANCES)))


def test_an_empty_gram_is_fine():
    gram = native_gram(np.zeros((0, 0)), module=native)
    none, rows = np.zeros(0), np.zeros(0, np.int64)
    report = gram.descend(
        None, none, none, none, none.copy(), np.zeros(0, np.int32), np.ones((2, 1), np.int8), np.ones(2) / 2,
        none.copy(), 0.0, 0.0, rows,
    )  # fmt: skip
    assert report == (0.0, 0.0, 0)


def test_an_empty_row_goes_to_its_bound_and_moves_no_weight():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    for module in (native, reference):
        rows, alpha, U = native_rows(X, module=module), np.zeros(2), np.zeros((3, 1))
        cap, ridge, curvature = np.array([0.7, 5.0]), np.zeros(2), np.array([0.0, 1.0])
        report = rows.descend(
            None, cap, ridge, curvature, alpha, np.ones((2, 1), np.int8), np.ones(1), U, 0.0, np.arange(2)
        )
        np.testing.assert_array_equal(alpha, [0.7, 1.0])
        np.testing.assert_array_equal(U.ravel(), [1.0, 0.0, 0.0])
        assert report == (1.0, 0.7 + 5.0)


# Instruction sets


def isa_runs():
    """One descent per width and format: what must not depend on the processor."""
    results = {}
    for width in WIDTHS:
        how = {"width": width, "bias": 1.0, "loss": "hinge", "several": False}
        for dtype in (np.float32, np.float64):
            for format in FORMATS:
                X = make_matrix(np.random.default_rng(width), dtype, format)
                results[f"{format}-{dtype.__name__}-{width}"] = run_linear(X, native, **how)["U"]
            K = random_gram(np.random.default_rng(width), dtype)
            results[f"gram-{dtype.__name__}-{width}"] = run_gram(K, native, **how)["signed_scores"]
    return results


@pytest.mark.parametrize("wanted", ["base", "avx2"])
def test_every_instruction_set_gives_the_same_up_to_rounding(wanted):
    order = ["base", "avx2", "avx512"]
    if order.index(native.isa()) < order.index(wanted):
        pytest.skip(f"this processor or build stops at {native.isa()}")
    script = (
        "import json, runpy; from wellsvm.native import _native;"
        f"runs = runpy.run_path({__file__!r})['isa_runs']();"
        "print(json.dumps([_native.isa(), {name: value.tolist() for name, value in runs.items()}]))"
    )
    environment = {**os.environ, "WELLSVM_ISA": wanted, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    isa, runs = json.loads(done.stdout)
    assert isa == wanted
    here = isa_runs()
    assert runs.keys() == here.keys()
    for name, value in here.items():
        np.testing.assert_allclose(np.array(runs[name]), value, err_msg=name, **CLOSE)


# Slices


def test_slices_cover_all_rows_once_and_keep_calls_short():
    pieces = list(slices(1_000_000, 1000.0))
    assert pieces[0][0] == 0
    assert pieces[-1][1] == 1_000_000
    assert all(left[1] == right[0] for left, right in pairwise(pieces))
    assert max(end - begin for begin, end in pieces) * 1000 <= 20_000_000
    assert list(slices(3, 1e12)) == [(0, 1), (1, 2), (2, 3)]  # a row is never cut
    assert list(slices(0, 1.0)) == []


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [5, 31, 64, 150, 161])
def test_the_nearest_by_kernel_values_equal_the_reference_and_of_equal_ones_the_first_is_taken(dtype, n):
    X = np.random.default_rng(n).standard_normal((n, 6))
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(dtype)
    K[:, n // 2 :] = np.round(K[:, n // 2 :], 1)  # ties
    halves = 0.5 * K.diagonal()
    for width in {1, 4, min(n - 1, 32), n - 1}:
        fast, slow = np.full((2, n - 2, width), -1)
        native.gram(K).nearest(halves, 2, fast)
        reference.gram(K).nearest(halves, 2, slow)
        np.testing.assert_array_equal(fast, slow)
        assert np.all(fast != np.arange(2, n)[:, None])


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_a_gram_are_its_rows_and_columns_in_the_order_asked_for(module, dtype):
    K, chosen = random_gram(np.random.default_rng(5), dtype), np.array([3, 0, 0, N_INSTANCES - 1])
    values = np.full((3, 4), np.nan, dtype)
    module.gram(K).gather(chosen, 1, values)
    np.testing.assert_array_equal(values, K[np.ix_(chosen[1:], chosen)])


# Vectors of all rows


def some_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal(n), rng.choice([-1, 1], n).astype(np.int8), rng.random(n) < 0.7


@pytest.mark.parametrize("n", [0, 1, 7, 64, 333])
def test_distances_to_the_cut_equal_the_reference(n):
    _, f, y, rising = some_rows(n)
    for labels in (y, np.ones_like(y), -np.ones_like(y)):  # no cut where only one side has rows
        fast, slow = f.copy(), f.copy()
        native.distances_to_cut(fast, labels, rising)
        reference.distances_to_cut(slow, labels, rising)
        np.testing.assert_array_equal(fast, slow)
        assert np.all(fast >= 0)


@pytest.mark.parametrize("n", [0, 1, 7, 64, 333])
def test_shares_of_prices_equal_the_reference(n):
    _, f, _, rising = some_rows(n)
    fast, slow = np.abs(f), np.abs(f)
    native.shares_of_prices(fast, rising, 0.25, 1e-3, 0.1)
    reference.shares_of_prices(slow, rising, 0.25, 1e-3, 0.1)
    np.testing.assert_allclose(fast, slow, rtol=1e-15)
    assert np.all(fast[~rising] == 1.0)
    assert np.all((fast[rising] >= 1e-4) & (fast[rising] <= 0.1))


@pytest.mark.parametrize("rise", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "both"])
def test_carried_dual_variables_equal_the_reference(loss, rise):
    rng, f, _, squared = some_rows(333)
    squared = {"hinge": np.zeros(333, bool), "squared_hinge": np.ones(333, bool), "both": squared}[loss]
    prices = [rng.choice([0.0, 0.3, 2.0], 333) for _ in range(2)]
    parts = []
    for C in prices:
        used = squared & (C > 0)
        parts += [np.where(used, np.inf, C * ~squared), np.divide(1.0, C, out=np.zeros(333), where=used)]
    fast, slow = np.empty(333), np.empty(333)
    native.carry(np.abs(f), *parts, rise, fast)
    reference.carry(np.abs(f), *parts, rise, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-15)
    assert np.any(fast > np.abs(f)) == rise
