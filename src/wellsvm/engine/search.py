"""From a guess to one labeling: solve the SVM, label by its scores, until hardly a label changes.

Two things make this alternation more than a local search at the final price:

1. The price of the rows whose labels are free rises step by step. While they weigh little, f follows the bulk of the
   rows and many labels change.
2. A free row counts only as far as its label is sure: its price is multiplied by its distance to the cut, where the
   labels change sign, up to `Options.sure_margin`. Near the cut labels are a matter of the share of the classes, which
   is known roughly; a row there with the wrong label would move f for nothing.

Several classes are searched together: one SVM for each against the rest, and one labeling of all rows that keeps the
number of rows of every class (assignment.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from wellsvm import native
from wellsvm._typing import FloatArray, LabelArray
from wellsvm.engine.task import Guess, Task
from wellsvm.engine.thinning import thinned
from wellsvm.labels.balanced import BalancedLabels
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.rows.gram import GramRows
from wellsvm.solver.master import Solution, State, begin, fit_svm, solve_svm
from wellsvm.threads import run

__all__ = [
    "Relabel", "alone", "at_full_price", "begins_on_some", "guess_of_known", "labels_alone",
    "relaxation_adds_little", "roughly", "search",
    "search_from", "search_together",
]  # fmt: skip

Relabel = Callable[[Sequence[FloatArray]], tuple[list[LabelArray], FloatArray]]
"""From the scores of all problems, which it may overwrite, to the labels of each, and the distance of every instance to
the cut."""


def guess_of_known(rows: Rows, known: LabelArray, losses: Losses, rng: np.random.Generator, options: Options) -> Guess:
    """Values of all rows under the SVM of the labeled ones, whose labels ``known`` holds, and its dual variables.

    Under a kernel it is solved on the matrix of the labeled rows: a step in the whole one would follow all rows.
    """
    labeled = np.flatnonzero(known)
    few = isinstance(rows, GramRows)
    near, y = (rows.part(labeled), known[labeled]) if few else (rows, known)
    prices = Losses(losses.cap[labeled], losses.ridge[labeled]) if few else losses
    svm = fit_svm(
        near, BalancedLabels.known(y), prices, y, tol=options.tol, rng=rng, chosen=np.flatnonzero(y), options=options
    )
    if not few:
        return Guess(svm.scores(), svm.alpha)
    point = rows.from_part(svm.coefficients(), labeled)
    return Guess(rows.scores(point[:, None])[:, 0], rows.from_part(svm.alpha, labeled))


def roughly(options: Options, rows: Rows | None = None) -> Options:
    """How to search where many labelings are compared, or labeled rows are held out: as well as that needs it."""
    rounds = options.judge_kernel_rounds if isinstance(rows, GramRows) else options.judge_rounds
    return options.but(tol=options.judge_tol * options.tol, rounds_per_price=rounds, search_rounds=rounds)


def search(task: Task, guess: Guess, options: Options, rng: np.random.Generator) -> Solution:
    """Search one labeling of one problem; see `search_together`."""
    guesses = [guess]
    del guess
    return search_together([task], guesses, alone, options, [rng])[0]


def search_from(svm: Solution, task: Task, options: Options, rng: np.random.Generator) -> Solution:
    """Search one labeling of a problem from what an annealed search of nearly the same one found. What was found must
    not be used any more: its state goes on."""
    state = svm.state
    state.label_set = task.labels
    alternation = _Alternation([task], [Guess(svm.scores())], alone([task]), True, options, [rng], None, [state])
    alternation.raise_prices()
    return alternation.settled()[0]


def search_together(
    tasks: Sequence[Task],
    guesses: list[Guess],
    tied: Callable[[Sequence[Task]], Relabel],
    options: Options,
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None = None,
) -> list[Solution]:
    """Search labels for problems on the same rows, which ``tied`` ties together; ``guesses`` are let go of.

    Prices rise by `Options.search_prices`, a few rounds each. As long as labels change, SVMs are solved roughly
    (`Options.search_rough`); those returned are solved well. Where rows are many, prices rise on some of them only.
    """
    annealed, many = _annealed(tasks, options), begins_on_some(tasks, guesses[0].scores.size, options)
    found = _found_on_some(tasks, guesses, tied, options, rngs, n_jobs) if many else None
    if found is not None:
        guesses[:] = found
        options = options.but(search_rough=options.many_rough, most_epochs=options.many_epochs, stale_margins=True)
    rises, found = annealed and found is None, None  # vectors of all rows, which need not fit into memory
    alternation = _Alternation(tasks, guesses, tied(tasks), annealed, options, rngs, n_jobs)
    if rises:
        alternation.raise_prices()
    return alternation.settled()


def begins_on_some(tasks: Sequence[Task], n_instances: int, options: Options) -> bool:
    """Whether there are so many rows that prices rise on some of them: what is saved must pay for all that follows."""
    return _annealed(tasks, options) and n_instances > 2 * _most_searched(tasks, options)


def relaxation_adds_little(task: Task, options: Options) -> bool:
    """Whether an annealed search is not worth a relaxation of several label vectors: where rows are many, and under a
    kernel, where it may cost many times the search and no accuracy is lost without it (docs/performance.md). A user who
    chooses another oracle under a kernel wants the relaxation itself. Bags have starts, and are relaxed."""
    usual = isinstance(task.rows, GramRows) and task.labels.starts is None and options.oracle == Options.oracle
    return begins_on_some([task], task.rows.n_instances, options) or (usual and _annealed([task], options))


def _most_searched(tasks: Sequence[Task], options: Options) -> int:
    return options.searched_kernel_rows if isinstance(tasks[0].rows, GramRows) else options.searched_rows


def _annealed(tasks: Sequence[Task], options: Options) -> bool:
    """Whether prices rise at all."""
    return tasks[0].rising is not None and len(options.search_prices) > 0


def _found_on_some(
    tasks: Sequence[Task],
    guesses: list[Guess],
    tied: Callable[[Sequence[Task]], Relabel],
    options: Options,
    rngs: Sequence[np.random.Generator],
    n_jobs: int | None,
) -> list[Guess] | None:
    """Guesses for all rows by a search of some of them, in place of those given; None where that cannot be done."""
    some = thinned(tasks, options.but(searched_rows=_most_searched(tasks, options)), rngs[0])
    if some is None:
        return None
    few_guesses = some.guesses(guesses)
    guesses.clear()  # vectors of all rows, which need not fit into memory
    few = _Alternation(some.tasks, few_guesses, tied(some.tasks), True, options, rngs, n_jobs)
    few.raise_prices()
    return some.carried_over(tasks, few.settled())


class _Alternation:
    """Solve the SVMs, relabel, and again; ``annealed`` says whether free rows count as far as they are sure."""

    def __init__(
        self,
        tasks: Sequence[Task],
        guesses: list[Guess],
        relabel: Relabel,
        annealed: bool,
        options: Options,
        rngs: Sequence[np.random.Generator],
        n_jobs: int | None,
        states: list[State] | None = None,
    ) -> None:
        self.tasks, self.relabel, self.annealed = tasks, relabel, annealed
        self.options, self.rngs, self.n_jobs = options, rngs, n_jobs
        self.few = options.unsettled_labels * options.tol * guesses[0].scores.size
        self.ys, self.leads = relabel([guess.scores.copy() for guess in guesses])
        alphas = [guess.alpha for guess in guesses]
        guesses.clear()
        each = zip(tasks, alphas)
        self.states = states or [begin(task.rows, task.labels, task.losses, alpha, options) for task, alpha in each]
        self.price = np.inf

    def raise_prices(self) -> None:
        """A few rounds at each of the prices on the way."""
        options = self.options
        for price in options.search_prices:
            for _ in range(options.rounds_per_price):
                before = self.ys
                svms = self._solve_all(price, options.search_rough * options.tol)
                self.ys, self.leads = self.relabel([svm.scores() for svm in svms])
                if _changes(before, self.ys) <= self.few:
                    break

    def settled(self) -> list[Solution]:
        """Rounds at the final price until hardly a label changes."""
        options = self.options
        tol = options.search_rough * options.tol
        for n_left in reversed(range(options.search_rounds)):
            svms, well, before = self._solve_all(1.0, tol), tol <= options.tol, self.ys
            if well and n_left == 0:
                return svms
            self.ys, self.leads = self.relabel([svm.scores() for svm in svms])
            done = _changes(before, self.ys) <= self.few
            if well and done:
                return svms
            tol = options.tol if done else tol
            svms = []  # states that others take the place of can go
        return self._solve_all(1.0, options.tol)

    def _solve_all(self, price: float, tol: float) -> list[Solution]:
        """The SVMs on the present labels; dual variables are kept, and follow their prices."""
        rise, self.price = price <= self.price, price
        losses, self.leads = self._losses(price), np.empty(0)
        return run([partial(self._solve, k, losses[k], tol, rise) for k in range(len(self.tasks))], self.n_jobs)

    def _losses(self, price: float) -> list[Losses]:
        """The losses of every problem; those on the same rows at the same prices share them."""
        if not self.annealed:
            return [task.losses for task in self.tasks]
        first = self.tasks[0]
        others = [
            None if task.losses is first.losses and task.rising is first.rising
            else _eased(task, self.leads.copy(), price, self.options)
            for task in self.tasks
        ]  # fmt: skip
        eased = _eased(first, self.leads, price, self.options)
        return [eased if own is None else own for own in others]

    def _solve(self, k: int, losses: Losses, tol: float, rise: bool) -> Solution:
        if losses is not self.states[k].losses:
            self.states[k].reprice(losses, rise)
        return solve_svm(self.states[k], self.ys[k], self.rngs[k], tol)


def alone(tasks: Sequence[Task]) -> Relabel:
    """One problem is tied to no other."""
    return partial(labels_alone, tasks[0])


def labels_alone(task: Task, scores: Sequence[FloatArray]) -> tuple[list[LabelArray], FloatArray]:
    """The labels of one problem that agree best with its scores, and the distance of the scores to the cut."""
    f = scores[0]
    y = task.labels.linear_oracle(f)
    if task.rising is None or task.labels.starts is not None:  # prices are of rows, scores of their instances
        return [y], np.abs(f)
    native.backend.distances_to_cut(f, y, task.rising)
    return [y], f


def at_full_price(task: Task, svm: Solution) -> Solution:
    """What a search found, every row at its price: the mixed-integer objective of Eq. (3) at its labels and its f."""
    if svm.state.losses is task.losses:
        return svm
    margins, rows = svm.state.margins(svm.mu), task.losses.priced()
    svm.state.losses = task.losses  # its dual variables stay: they are f
    upper = 0.5 * float(svm.mu @ svm.squared_norms) + task.losses.total(margins, rows)
    return replace(svm, upper=upper, lower=upper - svm.gap)  # the gap stays that of the SVM that was solved


def _eased(task: Task, leads: FloatArray, price: float, options: Options) -> Losses:
    """The losses of the task, free rows at a share of their price and as far as they are sure: ``leads`` become it."""
    assert task.rising is not None
    if options.sure_margin == 0:
        return task.losses if price == 1 else task.losses.eased(task.rising, price)
    native.backend.shares_of_prices(leads, task.rising, options.sure_margin, options.least_sure, price)
    return task.losses.at_shares(leads)


def _changes(before: Sequence[LabelArray], after: Sequence[LabelArray]) -> int:
    """The most labels that changed in one of the problems."""
    return max(int(np.count_nonzero(a != b)) for a, b in zip(before, after))
