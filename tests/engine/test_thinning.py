"""Searches of many rows: prices rise on some of them, and what is found there is carried over to all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wellsvm import open_rows, write_rows
from wellsvm.engine.joint import joint_labels
from wellsvm.engine.recipe import fit
from wellsvm.engine.report import Status
from wellsvm.engine.search import at_full_price, search, search_together
from wellsvm.engine.task import Guess, Task
from wellsvm.engine.thinning import thinned
from wellsvm.estimators.semi_supervised_base import KnownLabels
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows
from wellsvm.rows.block_rows import BlockRows
from wellsvm.solver import fit_svm

OPTIONS = Options(search_prices=(0.1,), sure_margin=0.5, searched_rows=60)


def problem(loss, n_classes=2, n=400, seed=0):
    """Classes that lie apart, six labels each, and one task for each of them, or for two."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    X = 4 * np.eye(n_classes, 5)[truth] + rng.standard_normal((n, 5))
    known = np.zeros(n, dtype=bool)
    known[[i for k in range(n_classes) for i in np.flatnonzero(truth == k)[:6]]] = True
    losses, rows = Losses.of(loss, np.where(known, 1.0, 0.1)), LinearRows(X, 1.0)
    tasks = [
        Task(
            rows,
            BalancedLabels(np.where(known, np.where(truth == k, 1, -1), 0), int(np.sum(truth[~known] == k))),
            losses,
            rising=~known,
        )
        for k in ([1] if n_classes == 2 else range(n_classes))
    ]
    return tasks, truth, known, rng


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_thinned_problem_keeps_labels_share_and_weight(loss):
    tasks, _, known, rng = problem(loss)
    small = thinned(tasks, OPTIONS, rng)
    (task,), labels = small.tasks, small.tasks[0].labels
    assert np.all(np.isin(np.flatnonzero(known), small.chosen))
    assert labels.free.size == 60
    assert labels.low == labels.high == round(60 * tasks[0].labels.low / tasks[0].labels.free.size)
    price = task.losses.cap if loss == "hinge" else 1 / task.losses.ridge
    np.testing.assert_allclose(price[labels.free].sum(), 0.1 * np.count_nonzero(~known))
    np.testing.assert_allclose(price[labels.y_known != 0], 1.0)


def test_only_problems_that_can_be_asked_of_some_rows_are_thinned():
    tasks, _, _, rng = problem("hinge")
    (task,) = tasks
    assert thinned(tasks, replace(OPTIONS, searched_rows=1000), rng) is None
    between = BalancedLabels(task.labels.y_known, 10, 20)
    assert thinned([replace(task, labels=between)], OPTIONS, rng) is None


def test_rows_under_a_kernel_are_thinned_as_linear_ones_are():
    tasks, _, _, rng = problem("hinge")
    K = np.ascontiguousarray(tasks[0].rows.X @ tasks[0].rows.X.T)
    some = thinned([replace(tasks[0], rows=GramRows(K))], OPTIONS, rng)
    assert some is not None
    assert some.tasks[0].labels.free.size == OPTIONS.searched_rows
    np.testing.assert_array_equal(some.tasks[0].rows.K, K[np.ix_(some.chosen, some.chosen)])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_search_of_many_rows_ends_where_one_of_all_rows_does(loss):
    tasks, truth, known, rng = problem(loss)
    (task,) = tasks
    y = task.labels.y_known
    start = fit_svm(task.rows, task.labels, task.losses, y, tol=1e-3, rng=rng, chosen=np.flatnonzero(y))
    guess = Guess(start.scores(), start.alpha)
    of_some, of_all = (search(task, guess, replace(OPTIONS, searched_rows=n), rng) for n in (60, 1000))
    assert task.labels.contains(of_some.y)
    assert of_some.state.alpha.size == known.size
    assert of_some.gap <= 1.001e-3 * of_some.upper
    found, best = (at_full_price(task, svm).upper for svm in (of_some, of_all))
    assert found <= 1.25 * best  # both are local
    assert np.mean((of_some.y > 0) == (truth == 1)) > 0.97


@pytest.mark.parametrize("memory", [20_000, 10**8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rows_in_blocks_end_with_the_same_bits(tmp_path, loss, memory):
    (task,), _, known, _ = problem(loss)
    blocks = open_rows(write_rows(tmp_path / "rows", task.rows.X, block_rows=37), memory)
    guess = Guess(np.where(known, task.labels.y_known, 0) + 0.1 * task.rows.X[:, 1])
    in_memory, in_blocks = (
        search(replace(task, rows=rows), guess, OPTIONS, np.random.default_rng(0))
        for rows in (task.rows, BlockRows(blocks, 1.0))
    )
    np.testing.assert_array_equal(in_memory.coefficients(), in_blocks.coefficients())
    np.testing.assert_array_equal(in_memory.y, in_blocks.y)


def test_classes_are_thinned_together():
    tasks, truth, known, rng = problem("squared_hinge", n_classes=3)
    small = thinned(tasks, OPTIONS, rng)
    assert sum(task.labels.low for task in small.tasks) == 60
    assert all(task.rows is small.tasks[0].rows for task in small.tasks)
    guesses = [Guess(rng.standard_normal(known.size) + 3 * (truth == k)) for k in range(3)]
    svms = search_together(tasks, guesses, joint_labels, OPTIONS, [rng] * 3)
    assert np.mean(np.argmax([svm.scores() for svm in svms], axis=0) == truth) > 0.97


def test_a_relaxation_of_many_rows_is_only_a_start_unless_it_is_the_result():
    tasks, _, _, _ = problem("hinge", n=300)
    (task,) = (replace(task, opening=KnownLabels("refined")) for task in tasks)
    many = replace(OPTIONS, min_decrease=1e-3)
    few = replace(many, searched_rows=1000)
    found = {
        name: fit(task, options, np.random.default_rng(0))
        for name, options in {"many": many, "few": few, "result": replace(many, refine=False)}.items()
    }
    relaxation = found["many"].relaxation
    assert len(relaxation.history) == 1
    assert relaxation.status in (Status.ENOUGH, Status.NO_VIOLATED_LABEL)
    assert relaxation.solution.gap <= 1.001 * many.tol * relaxation.solution.upper
    for other in ("few", "result"):
        assert found[other].relaxation.status is not Status.ENOUGH
        assert found[other].relaxation.solution.upper <= (1 + many.tol) * relaxation.solution.upper


def test_under_a_kernel_a_relaxation_of_few_rows_is_only_a_start_unless_the_search_is_not_annealed():
    tasks, _, _, _ = problem("squared_hinge", n=150)
    X = np.random.default_rng(1).standard_normal((150, 8))  # no clusters, so that there are violated label vectors
    K = np.exp(-0.1 * np.square(X[:, None] - X[None]).sum(axis=2))
    task = replace(tasks[0], rows=GramRows(K, 1.0), opening=KnownLabels("refined"))
    annealed = replace(OPTIONS, searched_kernel_rows=1000, min_decrease=1e-6, min_violation=1e-6)
    found = {
        name: fit(task, options, np.random.default_rng(0)).relaxation
        for name, options in {"annealed": annealed, "local": replace(annealed, search_prices=())}.items()
    }
    assert len(found["annealed"].history) == 1
    assert found["annealed"].status == Status.ENOUGH
    assert found["local"].status != Status.ENOUGH
    linear = fit(
        replace(task, rows=LinearRows(X, 1.0)), replace(annealed, searched_rows=1000), np.random.default_rng(0)
    )
    assert linear.relaxation.status != Status.ENOUGH
