"""Rows in blocks: the same bits as in memory, within the memory allowed, for every task with a linear kernel."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from wellsvm import (
    Bags,
    MaxMarginClustering,
    MultiInstanceSVC,
    SemiSupervisedSVC,
    SemiSupervisedSVCCV,
    open_rows,
    write_rows,
)
from wellsvm.engine.starts import best_aligned
from wellsvm.labels import BalancedLabels, ClusterLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import CentredRows, LinearRows
from wellsvm.rows.block_rows import BlockRows, CentredBlockRows, linear_rows
from wellsvm.rows.blocks import LocalBlocks, bytes_of
from wellsvm.solver import begin, solve_master
from wellsvm.solver.dense_newton import DenseNewton

SMALL = {"balance": "labels", "safe": False, "search": "local"}


def text(n, d=200, entries=20, n_labeled=20, seed=0, dtype=np.float64):
    """Two classes of sparse rows, and labels of some of them; -1 is unlabeled."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shares = 1 / np.arange(1, d + 1) * np.exp(0.7 * rng.standard_normal((2, d)))
    columns = np.stack([rng.choice(d, entries, p=shares[k] / shares[k].sum()) for k in y])
    X = sparse.csr_matrix(
        (np.ones(n * entries, dtype), columns.ravel(), np.arange(0, n * entries + 1, entries)), (n, d)
    )
    X.sum_duplicates()
    partial = np.where(np.arange(n) < n_labeled, y, -1)
    return X, y, partial


def same_bits(a, b):
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.intercept_, b.intercept_)
    np.testing.assert_array_equal(a.objective_, b.objective_)


def folder_of(tmp_path, X, n_blocks, memory="1 GB", **beside):
    path = write_rows(tmp_path / f"rows{n_blocks}", X, block_rows=-(-X.shape[0] // n_blocks), **beside)
    return open_rows(path, memory)


@pytest.fixture(scope="module")
def data():
    return text(1500)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_over_blocks_give_the_same_bits_as_in_memory(tmp_path, kind, dtype):
    X = text(500, d=40, dtype=dtype)[0]
    X = X if kind == "csr" else X.toarray()
    rng = np.random.default_rng(0)
    blocks, memory = BlockRows(folder_of(tmp_path, X, 7), 1.0), LinearRows(X, 1.0)
    coef = rng.standard_normal((500, 3))
    coef[:150] = 0.0  # some blocks have none
    U = memory.combine(coef)
    signs = rng.choice(np.array([-1, 0, 1], np.int8), (500, 3))
    starts = np.concatenate([[0], np.sort(rng.choice(np.arange(1, 500), 60, replace=False)), [500]])
    np.testing.assert_array_equal(blocks.combine(coef), U)
    np.testing.assert_array_equal(blocks.scores(U), memory.scores(U))
    np.testing.assert_array_equal(blocks.weighted_scores(U, signs), memory.weighted_scores(U, signs))
    np.testing.assert_array_equal(blocks.squared_norms, memory.squared_norms)
    assert blocks.entries_per_row == memory.entries_per_row
    means = blocks.averaged(starts), memory.averaged(starts)  # groups of rows straddle blocks
    np.testing.assert_array_equal(means[0].scores(U), means[1].scores(U))
    np.testing.assert_array_equal(means[0].combine(coef[:61]), means[1].combine(coef[:61]))
    chosen = np.array([499, 3, 77, 76])
    np.testing.assert_array_equal(blocks.part(chosen).scores(U), memory.part(chosen).scores(U))
    if kind == "dense":
        centred = CentredBlockRows(folder_of(tmp_path, X, 3)), CentredRows(X)
        np.testing.assert_array_equal(centred[0].origin, centred[1].origin)
        np.testing.assert_array_equal(centred[0].scores(U), centred[1].scores(U))


@pytest.mark.parametrize("n_blocks", [1, 7, 20])
def test_a_folder_gives_the_same_bits_as_memory(tmp_path, data, n_blocks):
    X, _, partial = data
    rows = folder_of(tmp_path, X, n_blocks)
    memory = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(X, partial)  # all defaults
    blocks = SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(rows, partial)
    same_bits(blocks, memory)
    np.testing.assert_array_equal(blocks.transduction_, memory.transduction_)
    np.testing.assert_array_equal(blocks.decision_function(rows), memory.decision_function(X))
    np.testing.assert_array_equal(blocks.predict(rows), memory.predict(X))


def test_many_classes_share_one_cache_and_threads_change_no_bit(tmp_path, data):
    X, *_ = data
    y = np.where(np.arange(1500) < 60, np.arange(1500) % 3, -1)
    memory = SemiSupervisedSVC(unlabeled=-1, random_state=0, **SMALL).fit(X, y)
    blocks = SemiSupervisedSVC(unlabeled=-1, random_state=0, n_jobs=2, **SMALL).fit(folder_of(tmp_path, X, 5), y)
    same_bits(blocks, memory)


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_bags_that_straddle_blocks(tmp_path, data, kind):
    X = data[0][:600] if kind == "csr" else data[0][:600, :12].toarray()
    groups, y = np.arange(600) // 7, np.random.default_rng(1).integers(0, 2, 86)
    model = MultiInstanceSVC(kernel="linear", C_positive=0.1, C_negative=0.1, random_state=0)
    memory = model.fit(Bags(X, groups), y)
    keys, bits = memory.key_instances_, memory.__copy__()
    blocks = model.fit(folder_of(tmp_path, X, 9), y, groups=groups)
    same_bits(blocks, bits)
    np.testing.assert_array_equal(blocks.key_instances_, keys)
    rows = open_rows(tmp_path / "rows9")
    np.testing.assert_array_equal(model.predict(Bags(rows, groups)), model.predict(Bags(X, groups)))


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize(
    "parameters", [{}, {"n_clusters": 3, "many": "divided"}, {"n_clusters": 3}, {"init": "alignment"}]
)
def test_clusters(tmp_path, data, kind, parameters):
    X = data[0][:800] if kind == "csr" else data[0][:800, :12].toarray() + 0.1
    memory = MaxMarginClustering(random_state=0, **parameters).fit(X)
    rows = folder_of(tmp_path, X, 6)
    blocks = MaxMarginClustering(random_state=0, **parameters).fit(rows)
    same_bits(blocks, memory)
    np.testing.assert_array_equal(blocks.labels_, memory.labels_)
    np.testing.assert_array_equal(blocks.predict(rows), memory.labels_)


def test_random_starts_of_clusters_take_one_pass_together(tmp_path, data, monkeypatch):
    passes, combine = [], LocalBlocks.combine
    monkeypatch.setattr(LocalBlocks, "combine", lambda *args: passes.append(args[1].shape) or combine(*args))
    rows = folder_of(tmp_path, data[0], 5)
    found, expected = (
        best_aligned(linear_rows(X), ClusterLabels.halves(1500), 20, np.random.default_rng(0)) for X in (rows, data[0])
    )
    np.testing.assert_array_equal(found, expected)
    assert passes == [(1500, 20)]


class Counted:
    """Counts the looks at all blocks."""

    def __init__(self, monkeypatch, kind):
        self.n, each = 0, kind.each

        def counting(blocks, look, *args, **kwargs):
            self.n += look.__name__ != "look_for"
            return each(blocks, look, *args, **kwargs)

        monkeypatch.setattr(kind, "each", counting)


def with_budget(path, share):
    """A folder whose working rows are held to a share of all rows."""
    rows = open_rows(path)
    rows.memory = int(share * rows.nnz * (12 if rows.is_sparse else 8) / 0.6)
    held = BlockRows(rows).working.most_entries
    assert held == pytest.approx(share * rows.nnz, rel=0.01)
    return rows


@pytest.mark.parametrize("share", [0.1, 0.05])
@pytest.mark.parametrize("n_vectors", [1, 2])
def test_a_budget_of_some_rows_changes_no_bit_and_no_number_of_passes(tmp_path, share, n_vectors, monkeypatch):
    X, y, _ = text(2000, d=1000)
    signs = np.where(y > 0, 1, -1).astype(np.int8)
    other = np.where(np.arange(2000) % 9 == 0, -signs, signs).astype(np.int8)
    whole = folder_of(tmp_path, X, 4)
    counted = Counted(monkeypatch, LocalBlocks)
    solved, passes = [], []
    for blocks in (whole, with_budget(whole.path, share)):
        counted.n = 0
        losses = Losses.of("hinge", np.full(2000, 0.2))
        state = begin(BlockRows(blocks, 1.0), BalancedLabels(np.zeros(2000, np.int8), 1000), losses)
        for candidate in state.candidates([signs, other][:n_vectors]):
            state.add(candidate)
        mu, rng = np.full(n_vectors, 1 / n_vectors), np.random.default_rng(0)
        solved.append(solve_master(state, mu, np.arange(2000), rng, tol=1e-3))
        passes.append(counted.n)
    np.testing.assert_array_equal(solved[1].alpha, solved[0].alpha)
    assert solved[1].upper == solved[0].upper
    assert passes[1] == passes[0]


def test_whole_fits_within_a_budget_give_the_same_bits_as_memory(tmp_path, data):
    X, partial = data[0][:700], data[2][:700]
    model, path = SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=1e-2), folder_of(tmp_path, X, 3).path
    memory = model.fit(X, partial).__copy__()
    same_bits(model.fit(with_budget(path, 0.1), partial), memory)
    np.testing.assert_array_equal(model.transduction_, memory.transduction_)
    y, groups = np.random.default_rng(1).integers(0, 2, 100), np.arange(700) // 7
    bags = MultiInstanceSVC(kernel="linear", C_positive=0.1, C_negative=0.1, random_state=0, tol=1e-2)
    memory = bags.fit(Bags(X, groups), y).__copy__()
    same_bits(bags.fit(with_budget(path, 0.2), y, groups=groups), memory)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_newton_steps_on_dense_rows_in_blocks_give_the_bits_of_memory(tmp_path, uneven, loss, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 6)) * (10.0 ** np.arange(0, 6) if uneven else 1.0)
    signs = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    other = np.where(rng.random(400) < 0.2, -signs, signs).astype(np.int8)
    options, solved, taken = Options(dense_epochs=0.0), [], []
    solve = DenseNewton.solve
    monkeypatch.setattr(DenseNewton, "solve", lambda *args: taken.append(type(args[0].rows)) or solve(*args))
    for rows in (LinearRows(X, 1.0), BlockRows(folder_of(tmp_path, X, 7), 1.0)):
        losses = Losses.of(loss, np.full(400, 0.3))
        state = begin(rows, BalancedLabels(np.zeros(400, np.int8), 200), losses, None, options)
        for candidate in state.candidates([signs, other]):
            state.add(candidate)
        solved.append(solve_master(state, np.full(2, 0.5), np.arange(400), np.random.default_rng(0), tol=1e-3))
    assert taken.count(LinearRows) > 0
    assert uneven or taken.count(BlockRows) > 0  # uneven columns are few here, and made anew in memory
    np.testing.assert_array_equal(solved[1].alpha, solved[0].alpha)
    assert solved[1].upper == solved[0].upper


def test_kernels_refuse_blocks_with_advice(tmp_path, data):
    rows = folder_of(tmp_path, data[0], 2)
    with pytest.raises(ValueError, match=r"kernel='rbf' needs all rows in memory.*Nystroem"):
        MaxMarginClustering(kernel="rbf").fit(rows)
    with pytest.raises(ValueError, match="Nystroem"):
        MultiInstanceSVC().fit(rows, np.arange(300) % 2, groups=np.arange(1500) // 5)


def test_blocks_are_no_array_but_some_rows_can_be_had(tmp_path, data):
    rows = folder_of(tmp_path, data[0], 4)
    with pytest.raises(TypeError, match="does not fit in memory"):
        np.asarray(rows)
    for key in (slice(300, 900), [5, 1400, 2], np.arange(1500) % 7 == 0):
        assert (rows[key] != data[0][key]).nnz == 0
    assert "1500 x 200" in repr(rows)
    with pytest.raises(ValueError, match="features"):
        SemiSupervisedSVC(unlabeled=-1).fit(data[0][:, :50], data[2]).predict(rows)


def test_memory_that_cannot_hold_a_row(tmp_path, data):
    with pytest.raises(ValueError, match=r"memory.*too small"):
        SemiSupervisedSVC(unlabeled=-1).fit(folder_of(tmp_path, data[0], 2, memory=100), data[2])


@pytest.mark.parametrize("memory, wanted", [("2 GB", 2 * 10**9), ("500mb", 5 * 10**8), ("1 GiB", 2**30), (1e6, 10**6)])
def test_memory_as_text(memory, wanted):
    assert bytes_of(memory) == wanted


@pytest.mark.parametrize("memory", ["much", "-1 GB", "2 XB", None, 0, True, float("inf")])
def test_memory_that_is_none(memory):
    with pytest.raises(ValueError, match="memory="):
        bytes_of(memory)


def test_one_row_is_a_matrix_of_one_row(tmp_path, data):
    rows = folder_of(tmp_path, data[0][:50], 3)
    assert rows[0].shape == rows[-1:].shape == (1, data[0].shape[1])
    assert (rows[49] != data[0][49]).nnz == 0


def test_a_search_on_blocks_does_not_ask_for_neighbors(tmp_path, data):
    X, y = data[0][:200], np.where(np.arange(200) < 20, np.arange(200) % 2, -1)
    model = SemiSupervisedSVCCV(unlabeled=-1, cv=2, Cs_unlabeled=[0.1], random_state=0)
    model.fit(folder_of(tmp_path, X, 3), y)
    assert model.neighbors_ is None
    in_memory = clone(model).set_params(neighbors=None).fit(X, y)
    np.testing.assert_array_equal(model.coef_, in_memory.coef_)
    with pytest.raises(ValueError, match="checkpoint and neighbors=6"):
        SemiSupervisedSVC(unlabeled=-1, neighbors=6, checkpoint=tmp_path / "fit").fit(X, y)


def calls_of_blocks(fit, *data):
    """How often ``fit`` runs functions of the files that know blocks, and those that tell blocks from matrices."""
    counts = {"blocks": 0, "told from X": 0}
    files = {"blocks", "block_rows", "working", "folder", "manifest"}
    telling = {"is_dask", "blocks_of", "computed", "is_sparse", "require_linear"}

    @cache  # one path for each file, not for each call
    def kind_of(name):
        path = Path(name)
        if "wellsvm" not in path.parts:
            return None
        return "blocks" if path.stem in files or path.parent.name == "dask" else path.stem

    def count(frame, event, arg):
        if event == "call":
            kind = kind_of(frame.f_code.co_filename)
            counts["blocks"] += kind == "blocks"
            counts["told from X"] += kind == "_input" and frame.f_code.co_name in telling

    sys.setprofile(count)
    try:
        fit(*data)
    finally:
        sys.setprofile(None)
    return counts


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_a_fit_in_memory_runs_no_code_of_blocks(tmp_path, data, kind):
    X, y = (data[0] if kind == "csr" else data[0][:, :12].toarray()), data[2]
    models = {tol: SemiSupervisedSVC(unlabeled=-1, random_state=0, tol=tol) for tol in (1e-2, 1e-4)}
    found = {tol: calls_of_blocks(model.fit, X, y) for tol, model in models.items()}
    assert found[1e-2]["blocks"] == found[1e-4]["blocks"] == 0
    assert 0 < found[1e-2]["told from X"] == found[1e-4]["told from X"] <= 10  # however long the fit
    assert calls_of_blocks(models[1e-2].fit, folder_of(tmp_path, X, 3), y)["blocks"] > 100
