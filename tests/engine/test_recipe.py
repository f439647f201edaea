"""The recipe: searches that end in B between the best labeling and their start, and the best of them kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from checks import mixed_integer_optimum, random_problem
from wellsvm.engine import recipe
from wellsvm.engine import search as engine_search
from wellsvm.engine.joint import joint_labels
from wellsvm.engine.recipe import Guess, Opening, Task, fit, search
from wellsvm.engine.report import Status, warn_unsolved
from wellsvm.engine.search import search_together
from wellsvm.labels import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import LinearRows
from wellsvm.solver import fit_svm

CASES = [(kind, loss) for kind in ("linear", "gram") for loss in ("hinge", "squared_hinge")]
WELL = Options(tol=1e-6, min_violation=1e-6, min_decrease=1e-5, search_rough=1.0, unsettled_labels=0.0)


def task_of(problem, open_=None, rising=None):
    return Task(*problem[:3], open_, rising)


@pytest.fixture
def solved(monkeypatch):
    """Objective and tolerance of every SVM that a search solves."""
    seen, solve = [], engine_search.solve_svm

    def watched(state, y, rng, tol, *rest):
        svm = solve(state, y, rng, tol, *rest)
        seen.append((svm.upper, tol))
        return svm

    monkeypatch.setattr(engine_search, "solve_svm", watched)
    return seen


# ------------------------------------------------------------------ search


@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_a_search_ends_in_B_between_the_best_labelling_and_its_start(seed, kind, loss, solved):
    rng = np.random.default_rng(70 + seed)
    problem = random_problem(rng, kind, loss, n_range=(8, 9))
    label_set = problem.label_set
    best, _ = mixed_integer_optimum(problem, tol=1e-6)
    for scores in rng.standard_normal((3, label_set.n_instances)):
        solved.clear()
        svm = search(task_of(problem), Guess(scores, np.zeros(label_set.n_rows)), WELL, rng)
        objectives = [objective for objective, _ in solved]
        assert label_set.contains(svm.y)
        assert svm.upper == objectives[-1]
        assert all(after <= before * (1 + 1e-5) for before, after in pairwise(objectives)), "a round raised it"
        assert svm.upper >= best * (1 - 1e-5)
        if len(solved) < WELL.search_rounds:
            np.testing.assert_array_equal(label_set.linear_oracle(svm.scores()), svm.y)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_search_never_ends_with_a_rough_solution(rounds, solved):
    problem = random_problem(np.random.default_rng(5), "linear", "hinge", n_range=(8, 9))
    rng, options = np.random.default_rng(0), replace(WELL, search_rough=5.0, search_rounds=rounds)
    search(task_of(problem), Guess(rng.standard_normal(problem.label_set.n_instances)), options, rng)
    assert solved[0][1] == 5.0 * options.tol
    assert solved[-1][1] == options.tol


@pytest.mark.parametrize("kind, loss", CASES)
def test_a_search_at_rising_prices_ends_at_the_prices_of_the_task(kind, loss, solved):
    rng = np.random.default_rng(7)
    problem = random_problem(rng, kind, loss, n_range=(8, 9))
    task = task_of(problem, rising=problem.label_set.y_known == 0)
    guess = Guess(rng.standard_normal(task.labels.n_instances))
    svm = search(task, guess, replace(WELL, search_prices=(0.01, 0.1)), rng)
    assert svm.state.losses is task.losses
    again = fit_svm(*problem[:3], svm.y, tol=1e-6, rng=rng)
    assert svm.upper == pytest.approx(again.upper, rel=2e-6)
    plain = len(solved)
    solved.clear()
    search(task, guess, WELL, rng)
    assert len(solved) < plain, "lower prices were not gone through"


# ------------------------------------------------------------------ fit


def opening(problem, rng, n_guesses=3, lead=False):
    """A task whose guesses are random scores."""
    guesses = [Guess(scores) for scores in rng.standard_normal((n_guesses, problem.label_set.n_instances))]
    first = [problem.label_set.initial(rng)]
    return guesses, task_of(problem, lambda task, options, rng: Opening(first, guesses, None, lead))


@pytest.mark.slow
@pytest.mark.parametrize("lead", [False, True])
@pytest.mark.parametrize("kind, loss", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_fit_is_never_worse_than_its_guesses_nor_better_than_the_best_labelling(seed, kind, loss, lead):
    rng = np.random.default_rng(80 + seed)
    problem = random_problem(rng, kind, loss, n_range=(8, 9))
    guesses, task = opening(problem, rng, lead=lead)
    found = fit(task, WELL, rng)
    best, _ = mixed_integer_optimum(problem, tol=1e-6)
    reached = [search(task, guess, WELL, rng).upper for guess in guesses]
    guessed = [
        fit_svm(*problem[:3], task.labels.linear_oracle(guess.scores), tol=1e-6, rng=rng).upper for guess in guesses
    ]
    assert found.settled.upper <= min(reached) * (1 + 1e-5)
    assert found.settled.upper <= min(guessed) * (1 + 1e-5)
    assert found.settled.upper >= best * (1 - 1e-5)
    assert found.relaxation.solution.upper <= found.settled.upper * (1 + 1e-4) or not lead, "the lead was not used"


@pytest.mark.slow
def test_a_fit_keeps_the_best_of_what_its_searches_reach(monkeypatch):
    reached, original, n_choices = [], recipe.search, 0

    def watched(*args):
        reached.append(original(*args))
        return reached[-1]

    monkeypatch.setattr(recipe, "search", watched)
    for seed in range(8):
        rng = np.random.default_rng(90 + seed)
        _, task = opening(random_problem(rng, "linear", "hinge"), rng)
        reached.clear()
        found = fit(task, WELL, rng)
        assert len(reached) == 4  # three guesses and the relaxation
        n_choices += len({round(svm.upper, 4) for svm in reached}) > 1
        assert found.settled.upper == min(svm.upper for svm in reached)
        assert found.solution is found.settled
        np.testing.assert_array_equal(found.scores(), found.settled.scores())
    assert n_choices >= 2, "all searches agree: nothing to choose"


def test_without_a_search_f_is_the_relaxations():
    rng = np.random.default_rng(91)
    problem = random_problem(rng, "linear", "hinge")
    _, task = opening(problem, rng, n_guesses=0)
    found = fit(task, replace(WELL, refine=False), rng)
    assert found.settled is None
    assert found.solution is found.relaxation.solution
    np.testing.assert_array_equal(found.y(), task.labels.linear_oracle(found.scores()))
    assert task.labels.contains(found.y())


def test_a_callback_ends_the_cutting_plane_and_the_search_goes_on():
    rng = np.random.default_rng(92)
    problem = random_problem(rng, "gram", "squared_hinge")
    guesses, task = opening(problem, rng)
    found = fit(task, WELL, rng, callback=lambda record: True)
    assert len(found.relaxation.history) == 1
    assert found.relaxation.status in (Status.STOPPED, Status.NO_VIOLATED_LABEL)
    assert found.settled.upper <= min(search(task, guess, WELL, rng).upper for guess in guesses) * (1 + 1e-5)


def test_equal_first_label_vectors_are_used_once():
    rng = np.random.default_rng(93)
    problem = random_problem(rng, "gram", "hinge")
    y = problem.label_set.initial(rng)
    task = task_of(problem, lambda task, options, rng: Opening([y, y.copy()], [], None, best_first=False))
    assert fit(task, replace(WELL, max_iter=1), rng).relaxation.history[0].labelings == 1


# ------------------------------------------------------------------ sure rows and several classes


@pytest.mark.parametrize("kind, loss", CASES)
def test_rows_near_the_cut_count_less_and_the_objective_told_is_that_at_full_price(kind, loss):
    rng = np.random.default_rng(11)
    problem = random_problem(rng, kind, loss, n_range=(12, 13))
    free = problem.label_set.y_known == 0
    task = task_of(problem, rising=free)
    svm = search(task, Guess(rng.standard_normal(free.size)), replace(WELL, search_prices=(0.1,), sure_margin=0.5), rng)
    eased = svm.state.losses
    weight = (eased.cap / task.losses.cap) if loss == "hinge" else (task.losses.ridge / eased.ridge)
    np.testing.assert_allclose(weight[~free], 1.0)
    assert np.all((weight[free] >= WELL.least_sure * (1 - 1e-9)) & (weight[free] <= 1 + 1e-9))
    told = engine_search.at_full_price(task, svm).upper
    assert told >= svm.upper * (1 - 1e-9), "no row costs less at its full price"
    assert task.labels.contains(svm.y)


def test_classes_searched_together_give_every_row_one_class_and_keep_the_counts():
    rng = np.random.default_rng(12)
    centres = 3 * rng.standard_normal((3, 4))
    truth = np.repeat([0, 1, 2], [20, 12, 8])
    rows = LinearRows(centres[truth] + rng.standard_normal((40, 4)), 1.0)
    known = np.zeros(40, dtype=bool)
    known[[0, 1, 20, 21, 32, 33]] = True
    counts = [18, 10, 6]
    sets = [BalancedLabels(np.where(known, np.where(truth == k, 1, -1), 0), n) for k, n in enumerate(counts)]
    losses = Losses.of("squared_hinge", np.where(known, 1.0, 0.1))
    tasks = [Task(rows, labels, losses, rising=~known) for labels in sets]
    guesses = [Guess(rng.standard_normal(40)) for _ in sets]
    options = replace(WELL, search_prices=(0.1,), sure_margin=0.5)
    svms = search_together(tasks, guesses, joint_labels, options, [rng] * 3)
    members = np.stack([svm.y > 0 for svm in svms])
    np.testing.assert_array_equal(members.sum(axis=0), 1)
    np.testing.assert_array_equal(members[:, ~known].sum(axis=1), counts)
    assert all(labels.contains(svm.y) for labels, svm in zip(sets, svms))
    assert np.mean(members.argmax(axis=0) == truth) > 0.9


def test_an_svm_that_is_not_solved_is_told():
    X = np.random.default_rng(0).standard_normal((30, 2)) * [1.0, 1e4] + 1e9
    y = np.where(np.arange(30) < 10, X[:, 0] > X[:, 0].mean(), -1)
    rng, labels = np.random.default_rng(0), BalancedLabels.known(np.where(y > 0, 1, -1).astype(np.int8))
    rows = LinearRows(X, 1.0)
    svm = fit_svm(rows, labels, Losses.of("hinge", np.ones(30)), labels.y_known, tol=1e-3, rng=rng)
    assert not svm.solved_to(1e-3)
    with pytest.warns(ConvergenceWarning, match=r"^Some: column . of X .* ended with an SVM that is not solved"):
        warn_unsolved(svm, "Some", 1e-3)
