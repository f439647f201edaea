"""Shared checks: what every label set and every form of rows must satisfy, small random problems, their true optima.

The truth comes from outside the library: all of B enumerated, dense matrices, and a generic convex solver.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

from wellsvm.bags import Bags
from wellsvm.labels import BalancedLabels, LabelSet, checking
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows, Rows
from wellsvm.solver import State, begin, fit_svm

PLAIN: dict[str, Any] = {
    "C": 1.0, "C_unlabeled": 0.1, "loss": "paper", "balance": "labels", "search": "local", "safe": False,
    "intercept_scaling": 1.0,
}  # fmt: skip
"""Parameters of SemiSupervisedSVC that leave the problem as the paper states it: nothing estimated, nothing judged."""

# ------------------------------------------------------------------ label sets


class KeyInstances(LabelSet):
    """A small set whose rows hold several instances: exactly ``v`` of each row are chosen (+1), the others are 0.

    Rows of one instance are negative (-1). Written for the tests, without regard to speed.
    """

    def __init__(self, sizes: list[int], v: int = 1) -> None:
        self.n_instances, self.starts = sum(sizes), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.sizes, self.v = sizes, v

    def linear_oracle(self, scores: np.ndarray) -> np.ndarray:
        y = np.zeros(self.n_instances, dtype=np.int8)
        for size, first in zip(self.sizes, self.starts[:-1]):
            best = np.argsort(-scores[first : first + size], kind="stable")[: self.v]
            y[first + best] = 1 if size > 1 else -1
        return y

    def contains(self, y: np.ndarray) -> bool:
        parts = np.split(np.asarray(y), self.starts[1:-1])
        return all(part[0] == -1 if part.size == 1 else part.min() >= 0 and part.sum() == self.v for part in parts)


def enumerate_labels(label_set: LabelSet) -> Iterator[np.ndarray]:
    """All of B, by trying every vector; for sets small enough."""
    every = checking.enumerate_labels(label_set)
    assert every is not None, "too large to enumerate"
    return iter(every)


def check_label_set(label_set: LabelSet, rng: np.random.Generator, n_scores: int = 25) -> None:
    """The public contract, on a set small enough to enumerate, and what the solver makes of the rows of the set."""
    assert checking.enumerate_labels(label_set) is not None
    checking.check_label_set(label_set, rng, n_scores)
    n, n_rows = label_set.n_instances, label_set.n_rows
    K = random_kernel(rng, n)
    state = begin(GramRows(K), label_set, Losses.of("squared_hinge", np.ones(n_rows)), rng.random(n_rows))
    for _ in range(5):
        _check_rows_of_instances(state, label_set.initial(rng), K, rng)


def _check_rows_of_instances(state: State, y: np.ndarray, K: np.ndarray, rng: np.random.Generator) -> None:
    """Sums over the instances of a row, and the slope of the next label vector, by dense formulas."""
    label_set, alpha = state.label_set, state.alpha
    n, n_rows, owner = label_set.n_instances, label_set.n_rows, _owner(label_set)
    scores = rng.standard_normal(n)
    coef = state.spread(alpha, y)
    np.testing.assert_allclose(coef, (alpha @ owner) * y, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(state.row_of, row_of(label_set))
    np.testing.assert_allclose(state.sum_rows(coef), owner @ coef, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scores @ coef, alpha @ state.sum_rows(scores * y), rtol=1e-12, atol=1e-12)
    chosen = np.flatnonzero(rng.random(n_rows) < 0.5)
    inside = np.concatenate([np.flatnonzero(row_of(label_set) == i) for i in chosen] or [chosen])
    np.testing.assert_array_equal(state._instances_of(chosen), inside)
    # The gradient of 1/2 ||sum_i alpha_i psi_y(i)||^2 over y, by a dense Jacobian; and the rows' lengths.
    A = np.diag(alpha @ owner)
    slope = state.at_instances(alpha) * state.candidate_scores(state.candidate(y))
    np.testing.assert_allclose(slope, A @ K @ A @ y, rtol=1e-10, atol=1e-12)
    (psi,) = signed_rows(label_set, [y])
    exact = np.diag(psi @ K @ psi.T)
    assert np.all(state.squared_lengths(y) >= exact - 1e-10), "no upper bound of the rows' squared lengths"
    single = np.abs(y) @ owner.T == 1
    np.testing.assert_allclose(state.squared_lengths(y)[single], exact[single], rtol=1e-10)


def row_of(label_set: LabelSet) -> np.ndarray:
    """The row of every instance."""
    sizes = np.ones(label_set.n_rows, dtype=int) if label_set.starts is None else np.diff(label_set.starts)
    return np.repeat(np.arange(label_set.n_rows), sizes)


def spread(label_set: LabelSet, alpha: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients of the instances in ``sum_i alpha_i psi_y(i)``."""
    return alpha[row_of(label_set)] * y


def _owner(label_set: LabelSet) -> np.ndarray:
    """Which instances (columns) belong to which rows."""
    return np.arange(label_set.n_rows)[:, None] == row_of(label_set)[None, :]


def signed_rows(label_set: LabelSet, labels: list[np.ndarray]) -> list[np.ndarray]:
    """psi_t as matrices of shape (n_rows, n_instances): row i of psi_t says which instances make psi_t(i)."""
    owner = _owner(label_set)
    return [owner * y[None, :].astype(float) for y in labels]


# ------------------------------------------------------------------ rows


def check_rows(
    rows: Rows,
    label_set: LabelSet,
    losses: Losses,
    K: np.ndarray,
    rng: np.random.Generator,
    rtol: float = 1e-9,
    options: Options | None = None,
) -> None:
    """Everything a `State` on these rows keeps equals its dense formula under the kernel ``K`` (bias included)."""
    start = np.minimum(rng.random(label_set.n_rows), losses.cap)
    state = begin(rows, label_set, losses, start, options or Options())
    labels = _distinct_members(label_set, rng, 6)

    def close(actual: Any, wanted: Any, what: str) -> None:
        scale = max(1e-12, float(np.max(np.abs(wanted), initial=0.0)))
        np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=rtol * scale, err_msg=what)

    def check_state(mu: np.ndarray) -> None:
        alpha = state.alpha
        assert np.all((alpha >= 0) & (alpha <= losses.cap)), "alpha left its box"
        spreads = [spread(label_set, alpha, y) for y in state.labels]
        norms = np.array([c @ K @ c for c in spreads])
        scores = sum(m * (K @ c) for m, c in zip(mu, spreads))
        margins = sum(m * psi @ (K @ c) for m, psi, c in zip(mu, signed_rows(label_set, state.labels), spreads))
        close(state.squared_norms(), norms, "squared_norms")
        close(state.scores(mu), scores, "scores")
        close(state.margins(mu), margins, "margins")
        close(rows.scores(state.coefficients(mu)[:, None])[:, 0], scores, "coefficients")
        for t, c in enumerate(spreads):
            seen = state.active(t)
            assert seen.y is state.labels[t]
            close(seen.squared_norm, norms[t], "active: squared_norm")
            close(state.candidate_scores(seen), K @ c, "active: scores")
        y = label_set.initial(rng)
        c, seen = spread(label_set, alpha, y), state.candidate(y)
        close(seen.squared_norm, c @ K @ c, "candidate: squared_norm")
        close(state.candidate_scores(seen), K @ c, "candidate: scores")

    every = np.arange(label_set.n_rows)
    for y in labels:
        state.add(state.candidate(y))
        mu = rng.dirichlet(np.ones(len(state.labels)))
        check_state(mu)
        before = dual_value(K, label_set, losses, state.alpha, state.labels, mu)
        state.descend(mu, every, rng, 1e-3)
        check_state(mu)
        after = dual_value(K, label_set, losses, state.alpha, state.labels, mu)
        assert after >= before - 1e-10 * (1 + abs(before)), "an epoch lowered the dual"

    some = every[::2]
    others, kept = np.setdiff1d(every, some), state.alpha.copy()
    state.descend(mu, some, rng, 1e-3)
    np.testing.assert_array_equal(state.alpha[others], kept[others], err_msg="a row outside of those given moved")

    chosen = np.arange(len(state.labels))[1::2]
    wanted = [state.labels[t] for t in chosen]
    state.keep(chosen)
    assert len(state.labels) == len(wanted)
    assert all(np.array_equal(y, z) for y, z in zip(state.labels, wanted))
    mu = rng.dirichlet(np.ones(chosen.size))
    check_state(mu)

    for _ in range(2000):
        state.descend(mu, every, rng, 1e-10)
        if projected_gradient(state, mu) <= 1e-10:
            break
    check_state(mu)
    primal = 0.5 * mu @ state.squared_norms() + losses.total(state.margins(mu), every)
    dual = dual_value(K, label_set, losses, state.alpha, state.labels, mu)
    assert abs(primal - dual) <= 1e-6 * (1 + abs(primal)), "descent does not end at the SVM's optimum"

    state.keep(np.arange(1))
    for y in labels[-2:]:
        state.relabel(y)
        assert len(state.labels) == 1
        np.testing.assert_array_equal(state.labels[0], y)
        check_state(np.ones(1))


def projected_gradient(state: State, mu: np.ndarray) -> float:
    """The largest entry of the dual's gradient that does not point out of the box; 0 at the SVM's optimum."""
    alpha, cap = state.alpha, state.losses.cap
    gradient = 1.0 - state.margins(mu) - state.losses.ridge * alpha
    blocked = ((alpha <= 0) & (gradient < 0)) | ((alpha >= cap) & (gradient > 0))
    return float(np.max(np.abs(gradient[~blocked]), initial=0.0))


def _distinct_members(label_set: LabelSet, rng: np.random.Generator, count: int) -> list[np.ndarray]:
    drawn = [label_set.initial(rng) for _ in range(10 * count)]
    return list({y.tobytes(): y for y in drawn}.values())[:count]


def dual_value(
    K: np.ndarray,
    label_set: LabelSet,
    losses: Losses,
    alpha: np.ndarray,
    labels: list[np.ndarray],
    mu: np.ndarray,
) -> float:
    """``sum alpha - 1/2 sum_t mu_t ||u_t||^2 - 1/2 sum ridge alpha^2``, densely."""
    spreads = [spread(label_set, alpha, y) for y in labels]
    quadratic = sum(m * (c @ K @ c) for m, c in zip(mu, spreads))
    return float(alpha.sum() - 0.5 * quadratic - 0.5 * (losses.ridge * alpha) @ alpha)


# ------------------------------------------------------------------ small random problems


class Problem(NamedTuple):
    """A semi-supervised problem small enough to enumerate B."""

    rows: Any
    label_set: BalancedLabels
    losses: Losses
    K: np.ndarray  # dense kernel matrix, bias included

    def labels(self) -> list[np.ndarray]:
        """All of B."""
        return list(enumerate_labels(self.label_set))


def random_kernel(rng: np.random.Generator, n: int, rank: int | None = None) -> np.ndarray:
    """A random positive semidefinite matrix."""
    X = rng.standard_normal((n, n if rank is None else rank))
    return X @ X.T / X.shape[1]


def random_balance(rng: np.random.Generator, n_free: int) -> tuple[int, int]:
    """A number of positives, an interval of them, or no constraint."""
    kind = rng.integers(3)
    if kind == 0:
        n_positive = int(rng.integers(1, n_free))
        return n_positive, n_positive
    if kind == 1:
        low = int(rng.integers(0, n_free // 2 + 1))
        return low, int(rng.integers(low + 1, n_free + 1))
    return 0, n_free


def random_problem(rng: np.random.Generator, kind: str, loss: str, n_range: tuple[int, int] = (8, 12)) -> Problem:
    """Two overlapping clouds, two to four known labels, any balance, random prices, with or without bias.

    kind : "linear" (dense rows) or "gram" (a Gaussian kernel matrix)
    """
    n, d = int(rng.integers(n_range[0], n_range[1] + 1)), int(rng.integers(2, 5))
    n_known = int(rng.integers(2, 5))
    y_true = rng.choice([-1, 1], n)
    y_true[:2] = 1, -1  # both classes are seen
    X = rng.standard_normal((n, d)) + y_true[:, None] * rng.uniform(0.0, 1.0) * rng.standard_normal(d)
    bias = float(rng.integers(2))
    if kind == "linear":
        rows, K = LinearRows(X, bias), X @ X.T
    else:
        squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        K = np.exp(-squared * rng.choice([0.25, 1.0, 4.0]) / squared.mean())
        rows = GramRows(K, bias)
    known = np.where(np.arange(n) < n_known, y_true, 0)
    label_set = BalancedLabels(known, *random_balance(rng, n - n_known))
    prices = rng.choice([0.3, 1.0, 10.0]), rng.choice([0.03, 0.3, 1.0])
    C = np.where(known != 0, prices[0], prices[1])
    return Problem(rows, label_set, Losses.of(loss, C), K + bias**2)


# ------------------------------------------------------------------ true optima


class Optimum(NamedTuple):
    """Optimum of a master, its dual variables and its weights."""

    value: float
    alpha: np.ndarray
    mu: np.ndarray


def generic_master(K: np.ndarray, label_set: LabelSet, losses: Losses, labels: list[np.ndarray]) -> Optimum:
    """Eq. (9) by a generic solver.

        max over 0 <= alpha <= cap, rho of  sum alpha - 1/2 sum ridge alpha^2 - 1/2 rho^2   with ||u_t|| <= rho
        min over w_t of                     1/2 (sum_t ||w_t||)^2 + sum_i loss_i(sum_t psi_t(i)' w_t)         its dual

    Exchanging min over mu and max over alpha leaves the largest ``||u_t||^2``; the multipliers of the cones are w_t.
    Both are evaluated by dense formulas and must agree: the value is certified, whatever the solver says of it.
    """
    factor = _factor(K)
    owner = _owner(label_set).T.astype(float)
    Y = np.stack(labels, axis=1).astype(float)
    T = Y.shape[1]
    alpha, rho = cp.Variable(label_set.n_rows, nonneg=True), cp.Variable(nonneg=True)
    instance = cp.reshape(owner @ alpha, (label_set.n_instances, 1), order="F")
    cone = cp.SOC(rho * np.ones(T), factor @ cp.multiply(Y, instance @ np.ones((1, T))), axis=0)
    capped = np.flatnonzero(np.isfinite(losses.cap))
    constraints = [cone] + ([alpha[capped] <= losses.cap[capped]] if capped.size else [])
    value = cp.sum(alpha) - 0.5 * cp.sum_squares(cp.multiply(np.sqrt(losses.ridge), alpha)) - 0.5 * rho**2
    _solve(cp.Problem(cp.Maximize(value), constraints))

    found = np.clip(alpha.value, 0, losses.cap)
    lower = min(dual_value(K, label_set, losses, found, [y], np.ones(1)) for y in labels)
    W = np.asarray(cone.dual_value[1]).reshape(factor.shape[0], T, order="F")
    sizes = np.linalg.norm(W, axis=0)
    margins = owner.T @ np.sum(Y * (factor.T @ W), axis=1)
    # The sign of a multiplier is the modeling language's choice; either gives a bound.
    upper = 0.5 * sizes.sum() ** 2 + min(dense_loss(losses, margins), dense_loss(losses, -margins))
    assert upper - lower <= 1e-6 * abs(upper), f"the generic solver's relative gap is {(upper - lower) / upper:.1e}"
    return Optimum(0.5 * (lower + upper), found, sizes / sizes.sum())


def dense_loss(losses: Losses, margins: np.ndarray) -> float:
    """Sum of all rows' losses, row by row."""
    total = 0.0
    for cap, ridge, margin in zip(losses.cap, losses.ridge, margins):
        slack = max(0.0, 1.0 - margin)
        total += slack**2 / (2 * ridge) if ridge > 0 else cap * slack
    return float(total)


def relaxation_optimum(problem: Problem) -> float:
    """Eq. (4): the master over all of B."""
    return generic_master(problem.K, problem.label_set, problem.losses, problem.labels()).value


def accurate(tol: float, oracle: str) -> Options:
    """Options of a cutting plane that ends only where nothing is left to gain."""
    return Options(
        tol=tol, min_violation=tol, min_decrease=10 * tol, max_iter=500, max_rounds=20_000, oracle=oracle
    )  # fmt: skip


def mixed_integer_optimum(problem: Problem, tol: float = 1e-7) -> tuple[float, np.ndarray]:
    """Eq. (3): the best labeling in B and its SVM's objective, by trying every one."""
    rng = np.random.default_rng(0)
    tried = [(fit_svm(*problem[:3], y, tol=tol, rng=rng).upper, k, y) for k, y in enumerate(problem.labels())]
    objective, _, y = min(tried)
    return objective, y


def sdp_relaxation(problem: Problem) -> float:
    """Section 3.3: ``min over M in Y_2, max over alpha`` with the label matrix yy' relaxed to M >= 0.

    The inner SVM's dual and a Schur complement make it one semidefinite program, with ``Q = K * M + diag(ridge)``:

        min t   s.t.  [[Q, e], [e', 2 (t - cap'delta)]] >= 0,  e = 1 + nu - delta,  nu, delta >= 0,  M >= 0, diag M = 1

    and what every yy' with y in B satisfies: known entries, and the balance multiplied by known labels and by itself.
    """
    label_set, losses = problem.label_set, problem.losses
    n, known, free = label_set.n_instances, np.flatnonzero(label_set.y_known), label_set.free
    y = label_set.y_known.astype(float)
    low, high = (2 * bound - free.size for bound in (label_set.low, label_set.high))  # of the sum of the free labels
    M, t = cp.Variable((n, n), PSD=True), cp.Variable()
    nu, delta = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    capped = np.isfinite(losses.cap)
    e = cp.reshape(1 + nu - delta, (n, 1), order="F")
    corner = cp.reshape(2 * (t - np.where(capped, losses.cap, 0.0) @ delta), (1, 1), order="F")
    Q = cp.multiply(problem.K, M) + np.diag(losses.ridge)
    sums = cp.multiply(y[known], cp.sum(M[known][:, free], axis=1))
    total = cp.sum(M[free][:, free])
    largest = max(low**2, high**2)
    smallest = 0 if low <= 0 <= high else min(low**2, high**2)
    constraints = [
        cp.bmat([[Q, e], [e.T, corner]]) >> 0,
        cp.diag(M) == 1,
        M[known][:, known] == np.outer(y[known], y[known]),
        sums >= low,
        sums <= high,
        total >= smallest,
        total <= largest,
        (low + high) * sums[0] - low * high >= total,  # (s - low)(high - s) >= 0 for the sum s of the free labels
        delta[np.flatnonzero(~capped)] == 0,
    ]
    sdp = cp.Problem(cp.Minimize(t), constraints)
    _solve(sdp)
    return float(sdp.value)


def _solve(problem: cp.Problem) -> None:
    """Solve; "inaccurate" is left to the caller, who measures the accuracy instead of believing the word."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:  # it gave up on a step; once in hundreds of problems, another scaling helps
            problem.solve(solver=cp.CLARABEL, equilibrate_enable=False)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE), problem.status


def _factor(K: np.ndarray) -> np.ndarray:
    """F with ``F'F = K``."""
    values, vectors = np.linalg.eigh(K)
    used = values > 1e-13 * values.max()
    return np.sqrt(values[used])[:, None] * vectors[:, used].T


def hidden_key(n_bags=40, shift=4.0, seed=0, n_keys=1):
    """Bags of two to six instances, some negative bag first; the keys of every positive bag lie elsewhere."""
    rng = np.random.default_rng(seed)
    sizes, y = rng.integers(2, 7, n_bags), np.arange(n_bags) % 2
    X, groups = rng.standard_normal((sizes.sum(), 3)), np.repeat(np.arange(n_bags), sizes)
    bags = Bags(X, groups)
    keys = np.array([np.sort(rng.permutation(size)[:n_keys]) for size in sizes])
    for i in np.flatnonzero(y):
        X[bags.offsets[i] + keys[i]] += shift
    return bags, y, np.where(y[:, None] == 1, keys, -1)
