"""The paper's algorithm in plain NumPy, for problems of a few dozen rows: slow, exact, and written from the text alone.

Li, Tsang, Kwok and Zhou, "Convex and Scalable Weakly Labeled SVMs", JMLR 14 (2013). Equation numbers are the journal's.
Nothing of the library is used here, so that the library can be compared with it.

The problem is Eq. (6) with Algorithm 1: label vectors y_1, y_2, ... of B, weights mu on the simplex, and

    min over mu, max over alpha in A of  sum_t mu_t G(alpha, y_t).

Two SVMs (section 5): for nonlinear kernels the nu-SVM with squared hinge loss, A = {alpha >= 0, sum alpha = 1} and
G = -1/2 alpha'(K o yy' + D) alpha with D = diag(1 / C_i); for the linear kernel the SVM with hinge loss and without
offset, A = {0 <= alpha_i <= C_i} and G = sum alpha - 1/2 alpha'(K o yy') alpha.

The nu-SVM is solved as the squared-hinge SVM, max over alpha >= 0 of sum alpha - 1/2 alpha'(Q + D) alpha. If a solves
that, a / sum(a) solves the nu-SVM, and (optimum of the nu-SVM) = -1 / (4 optimum): on the ray through a the best scale
leaves (sum a)^2 / (2 a'(Q + D)a). The map -1 / (4 x) rises, so the optimal mu is the same and alpha is proportional;
||w_t|| are proportional too, so every MKLGL step is the same. Thresholds are not: they act on the nu-SVM's G.

What the text leaves open, and what is done here
------------------------------------------------
- Order (Algorithm 1): add y, solve, generate the next y, test. A generated y that is not violated by epsilon is never
  added. Where the decrease of the objective is too small, the y that caused it was added already and stays.
- Thresholds: both are 1e-3 and absolute, in units of G of the SVM used. The first round has no decrease.
- K in H = K o (alpha alpha') of Eq. (15) is the kernel without D: y'Dy is constant over B, so that Eq. (15) does not
  depend on it, but with D the linearization, Eq. (16), would favor y_bar. In section 4.2, where H is a matrix over
  instances and D over bags, D has no place in it at all.
- y_bar, the argmax over C: at the master's optimum all y_t with mu_t > 0 attain the maximum (complementary slackness).
  Values within `TIE` of the largest, relatively, count as equal, and the label vector generated first is taken.
- Ties in r: the sort is stable and ascending, so of equal r the lower index is the first to get -1. In a bag, the first
  of equal instances is the key. Every row with alpha_i = 0 has r_i = 0.
- Semi-supervised start, "the predictions of a standard SVM": the same SVM on the labeled rows alone, with C_1 and
  without offset. Its signs need not be in B; the vector of B that agrees best with f, argmax of f'y, is taken.
- Multi-instance start: not given. It is a parameter.
- Clustering start, "20 random label assignments": drawn from B, as the argmax of r'y over B for normal random r.
  Alignment y'Ky / (N ||K||_F) is that of Cristianini et al.; K is not centered.
- Section 4.3 forces (N - beta) / 2 labels at either end; rounded up, so that the balance holds.
- mu starts at 1 / T in every master. The optimum does not depend on it as long as no weight is zero.
- C_1 and C_2 in the nu-SVM: D = diag(1 / C_i).
- f(x) = sum_t w_t'phi(x) with w_t = mu_t sum_i alpha_i y_ti phi(x_i): Eq. (13) has 1 / mu_t, so mu_t is inside w_t.

Slips of the text: section 4.3 calls y* violated if y_bar'Hy* >= y_bar'Hy_bar, which always holds; Proposition 4 and 6
have it right (unequal, >). The proof of Proposition 4 begins with y_hat for y_bar. Algorithms 2 and 4 initialize
y_hat and then add y*. Section 4.3 writes w_t'x for w_t'phi(x) in the text. Eq. (15) and (23) are called concave QPs:
a convex function is maximized. Eq. (20) numbers negative rows by i = p+1, ..., m where s(i, j) is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

TIE = 1e-4
MASTER_GAP = 1e-9
MASTER_STEPS = 20_000


@dataclass(frozen=True)
class Task:
    """What a task of section 4 has to say: its base kernels, its quadratic form in the labels, and B."""

    C: Array  # price of every row of the SVM
    nu_svm: bool
    base_kernel: Callable[[Labels], Array]  # K o yy', Eq. (12), or the signed K^s of Eq. (21)
    form: Callable[[Array], tuple[Array, Array]]  # alpha -> H and tau, Eq. (15) and (23)
    argmax: Callable[[Array], Labels]  # r -> argmax of r'y over B, Eq. (17), (25), (32)


@dataclass
class Round:
    """One pass of Algorithm 1: the master's solution, and the label vector generated from it."""

    mu: Array
    alpha: Array
    objective: float
    r: Array
    generated: Labels
    violation: float
    master_steps: int
    relative_norms: Array  # y'Hy + tau'y (+ constant) of each label vector, relative to the largest


@dataclass
class PlainFit:
    """Label vectors (T, n), their weights, alpha (of the nu-SVM where it is used), f on all rows, and the rounds."""

    labels: Labels
    mu: Array
    alpha: Array
    f: Array
    ended_by: str
    rounds: list[Round] = field(repr=False)

    @property
    def objectives(self) -> list[float]:
        """Optimum of the master, Eq. (9), in every round."""
        return [one.objective for one in self.rounds]


# ------------------------------------------------------------------ Algorithm 1


def cutting_plane(task: Task, start: Labels, epsilon: float, threshold: float) -> tuple[list[Labels], list[Round], str]:
    """Algorithm 1."""
    y, C, rounds = start, [], []
    while True:
        C.append(y)
        mu, alpha, steps = multiple_label_kernel_learning(task, C)
        objective = float(mu @ [G(task, alpha, task.base_kernel(y)) for y in C])
        y, y_bar, r, norms = violated_label(task, alpha, C)
        violation = G(task, alpha, task.base_kernel(y_bar)) - G(task, alpha, task.base_kernel(y))
        rounds.append(Round(mu, alpha, objective, r, y, violation, steps, norms))
        if violation < epsilon:
            return C, rounds, "no violated label vector"
        if len(rounds) > 1 and rounds[-2].objective - objective < threshold:
            return C, rounds, "small decrease"


def G(task: Task, alpha: Array, Q: Array) -> float:
    """G of section 3.1 for the base kernel Q = K o yy'."""
    if task.nu_svm:
        return float(-0.5 * alpha @ Q @ alpha - 0.5 * alpha @ (alpha / task.C))
    return float(alpha.sum() - 0.5 * alpha @ Q @ alpha)


def violated_label(task: Task, alpha: Array, C: list[Labels]) -> tuple[Labels, Labels, Array, Array]:
    """Eq. (16), (24), (31): one linearization at the best label vector of C; also y_bar, r and the relative norms."""
    H, tau = task.form(alpha)
    norms = np.array([alpha @ task.base_kernel(y) @ alpha for y in C])  # y'Hy + tau'y and what does not depend on y
    y_bar = C[int(np.flatnonzero(norms >= norms.max() * (1 - TIE))[0])]
    r = H @ y_bar + tau / 2
    return task.argmax(r), y_bar, r, norms / norms.max()


# ------------------------------------------------------------------ MKLGL, section 4.1.2


def multiple_label_kernel_learning(task: Task, C: list[Labels]) -> tuple[Array, Array, int]:
    """Optimal mu and alpha of Eq. (9), by the two steps of section 4.1.2.

    For the solution alpha of the SVM at mu, the optimum is between min_t G(alpha, y_t) and sum_t mu_t G(alpha, y_t).
    """
    Q = np.stack([task.base_kernel(y) for y in C])
    mu, alpha = np.full(len(C), 1 / len(C)), np.zeros(task.C.size)
    for step in range(1, MASTER_STEPS + 1):
        alpha = solve_svm(np.tensordot(mu, Q, axes=1), task.C, task.nu_svm, alpha)  # step 1
        norms = np.sqrt([alpha @ Q_t @ alpha for Q_t in Q])  # of sum_i alpha_i y_ti phi(x_i) = w_t / mu_t
        values = np.array([G(task, alpha, Q_t) for Q_t in Q])
        if mu @ values - values.min() <= MASTER_GAP * abs(mu @ values):
            return mu, alpha, step
        mu = mu * norms / (mu @ norms)  # step 2: mu_t = ||w_t|| / sum ||w_t'||
    raise RuntimeError(f"MKLGL needs more than {MASTER_STEPS} steps: the problem is too ill-conditioned for a test")


def solve_svm(Q: Array, C: Array, nu_svm: bool, guess: Array) -> Array:
    """Maximize G over A for one kernel matrix, Q = sum_t mu_t K o y_t y_t'."""
    if not nu_svm:
        return solve_box(Q, C, guess)
    with_ridge = Q + np.diag(1 / C)
    scale = guess.sum() / max(guess @ with_ridge @ guess, 1e-300)  # the best multiple of the guess
    alpha = solve_box(with_ridge, np.full(C.size, np.inf), guess * scale)
    return alpha / alpha.sum()


def solve_box(Q: Array, upper: Array, guess: Array) -> Array:
    """Maximize sum(a) - 1/2 a'Qa over 0 <= a <= upper by an active-set method, exact up to rounding.

    A sweep of coordinate ascent says which entries leave their bounds; Newton steps then move the entries inside the
    box, each as far as the first bound. The part of the gradient that a singular Q cannot reach is followed likewise.
    """
    a = guess.copy()
    for _ in range(1_000):
        for i in range(a.size):
            a[i] = np.clip(a[i] + (1 - Q[i] @ a) / Q[i, i], 0, upper[i])
        while not _newton_step(Q, upper, a):
            pass
        if np.max(np.abs(np.clip(a + 1 - Q @ a, 0, upper) - a)) < 1e-10:
            return a
    raise RuntimeError("the SVM was not solved: the problem is too ill-conditioned for a test")


def _newton_step(Q: Array, upper: Array, a: Array) -> bool:
    """Move the entries of `a` inside the box, in place, to their optimum (True) or to the first bound (False)."""
    inside = np.flatnonzero((a > 0) & (a < upper))
    if inside.size == 0:
        return True
    gradient = 1 - Q[inside] @ a
    direction, *_ = np.linalg.lstsq(Q[np.ix_(inside, inside)], gradient, rcond=1e-12)
    unreached = gradient - Q[np.ix_(inside, inside)] @ direction
    whole_way = 1.0
    if np.max(np.abs(unreached)) > 1e-9:  # G rises along it without end
        direction, whole_way = unreached, np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, (upper[inside] - a[inside]) / direction, -a[inside] / direction)
    room[direction == 0] = np.inf
    first = int(np.argmin(room))
    if room[first] >= whole_way:
        a[inside] += direction
        return True
    a[inside] += room[first] * direction
    a[inside[first]] = 0.0 if direction[first] < 0 else upper[inside[first]]
    return False


# ------------------------------------------------------------------ the label sets


def balanced_argmax(r: Array, y_known: Labels) -> Labels:
    """Eq. (17) by sorting: known labels kept, the first ceil((N - l)(1 - mean(y_L)) / 2) of the others are -1."""
    unlabeled = np.flatnonzero(y_known == 0)
    n_labeled, n_negative_labels = np.count_nonzero(y_known), np.count_nonzero(y_known == -1)
    n_negative = -(-unlabeled.size * n_negative_labels // n_labeled)  # the same number, rounded up in whole numbers
    y = y_known.copy()
    order = unlabeled[np.argsort(r[unlabeled], kind="stable")]
    y[order[:n_negative]], y[order[n_negative:]] = -1, 1
    return y


def key_argmax(r: Array, bags: Labels) -> Labels:
    """Eq. (25): the largest r of every bag; `bags` tells the bag of every instance of a positive bag."""
    s = np.zeros(r.size, dtype=np.int64)
    for bag in np.unique(bags):
        members = np.flatnonzero(bags == bag)
        s[members[np.argmax(r[members])]] = 1
    return s


def cluster_argmax(r: Array, beta: float) -> Labels:
    """Eq. (32) by sorting: (N - beta) / 2 at either end are forced, the rest take the sign of r (0 counts as +)."""
    forced = int(np.ceil((r.size - beta) / 2))
    if 2 * forced > r.size:
        raise ValueError(f"beta={beta} leaves no label vector for N={r.size} rows; an odd N needs beta >= 1")
    y = np.where(r < 0, -1, 1)
    order = np.argsort(r, kind="stable")
    y[order[:forced]], y[order[r.size - forced :]] = -1, 1
    return y


# ------------------------------------------------------------------ section 4.1


def semi_supervised(
    K: Array,
    y_known: Labels,
    C_1: float,
    C_2: float,
    nu_svm: bool,
    start: Labels | None = None,
    epsilon: float = 1e-3,
    threshold: float = 1e-3,
) -> PlainFit:
    """Algorithm 2. `y_known` is +1, -1, or 0 for unlabeled rows; `start` None is the paper's, from an SVM."""
    if start is None:
        start = svm_start(K, y_known, C_1, nu_svm)
    task = task_of_examples(K, np.where(y_known == 0, C_2, C_1), nu_svm, lambda r: balanced_argmax(r, y_known))
    return _fit_examples(K, task, start, epsilon, threshold)


def svm_start(K: Array, y_known: Labels, C_1: float, nu_svm: bool) -> Labels:
    """The label vector of B nearest to the SVM of the labeled rows (section 5.1.1)."""
    labeled = np.flatnonzero(y_known)
    y = y_known[labeled]
    Q = K[np.ix_(labeled, labeled)] * np.outer(y, y)
    alpha = solve_svm(Q, np.full(y.size, C_1), nu_svm, np.zeros(y.size))
    return balanced_argmax(K[:, labeled] @ (alpha * y), y_known)


def task_of_examples(K: Array, C: Array, nu_svm: bool, argmax: Callable[[Array], Labels]) -> Task:
    """Sections 4.1 and 4.3: rows are examples, H = K o (alpha alpha') of Eq. (15), and there is no tau."""
    return Task(
        C=C,
        nu_svm=nu_svm,
        base_kernel=lambda y: K * np.outer(y, y),
        form=lambda alpha: (K * np.outer(alpha, alpha), np.zeros(C.size)),
        argmax=argmax,
    )


def _fit_examples(K: Array, task: Task, start: Labels, epsilon: float, threshold: float) -> PlainFit:
    """Algorithm 1 where rows are examples, and f = sum_t mu_t sum_i alpha_i y_ti k(x_i, .)."""
    C, rounds, ended_by = cutting_plane(task, start, epsilon, threshold)
    labels, last = np.stack(C), rounds[-1]
    return PlainFit(labels, last.mu, last.alpha, K @ (last.alpha * (last.mu @ labels)), ended_by, rounds)


# ------------------------------------------------------------------ section 4.2


def multi_instance(
    K: Array,
    bags: Labels,
    C_1: float,
    C_2: float,
    nu_svm: bool,
    start: Labels,
    epsilon: float = 1e-3,
    threshold: float = 1e-3,
) -> PlainFit:
    """Algorithm 3. Rows are the p positive bags and then the instances of negative bags.

    `bags` gives 0, ..., p - 1 to the instances of positive bags, which come first and in this order, and -1 to those of
    negative bags. `start` and the label vectors are s of Eq. (23): 1 for a key instance, 0 for the others, over the
    instances of positive bags. f has the values of all instances.
    """
    task = task_of_bags(K, bags, C_1, C_2, nu_svm)
    C, rounds, ended_by = cutting_plane(task, start, epsilon, threshold)
    last = rounds[-1]
    f = K @ sum(mu_t * (psi(s, bags).T @ last.alpha) for mu_t, s in zip(last.mu, C))
    return PlainFit(np.stack(C), last.mu, last.alpha, f, ended_by, rounds)


def task_of_bags(K: Array, bags: Labels, C_1: float, C_2: float, nu_svm: bool) -> Task:
    """Section 4.2 as a task; arguments as in `multi_instance`."""
    positive, negative, n_bags = np.flatnonzero(bags >= 0), np.flatnonzero(bags < 0), int(bags.max()) + 1
    owner = bags[positive]

    def form(alpha: Array) -> tuple[Array, Array]:
        """H and tau below Eq. (23)."""
        of_bag, of_negative = alpha[owner], alpha[n_bags:]
        H = K[np.ix_(positive, positive)] * np.outer(of_bag, of_bag)
        return H, -2 * of_bag * (K[np.ix_(positive, negative)] @ of_negative)

    return Task(
        C=np.concatenate([np.full(n_bags, C_1), np.full(negative.size, C_2)]),
        nu_svm=nu_svm,
        base_kernel=lambda s: psi(s, bags) @ K @ psi(s, bags).T,
        form=form,
        argmax=lambda r: key_argmax(r, owner),
    )


def psi(s: Labels, bags: Labels) -> Array:
    """Coefficients of y_i psi_i^s, Eq. (20), over all instances; a matrix of rows by instances."""
    positive, negative, n_bags = np.flatnonzero(bags >= 0), np.flatnonzero(bags < 0), int(bags.max()) + 1
    rows = np.zeros((n_bags + negative.size, bags.size))
    rows[bags[positive], positive] = s
    rows[n_bags + np.arange(negative.size), negative] = -1
    return rows


# ------------------------------------------------------------------ section 4.3


def clustering(
    K: Array,
    beta: float,
    C: float,
    nu_svm: bool,
    start: Labels,
    epsilon: float = 1e-3,
    threshold: float = 1e-3,
) -> PlainFit:
    """Algorithm 4. The paper's `start` is that of `best_aligned`; rows with f > 0 are one cluster."""
    task = task_of_examples(K, np.full(K.shape[0], C), nu_svm, lambda r: cluster_argmax(r, beta))
    return _fit_examples(K, task, start, epsilon, threshold)


def random_assignments(n_rows: int, beta: float, rng: np.random.Generator, n_draws: int = 20) -> Labels:
    """Random label vectors of B, one per row (section 5.3.1)."""
    return np.stack([cluster_argmax(rng.standard_normal(n_rows), beta) for _ in range(n_draws)])


def best_aligned(K: Array, assignments: Labels) -> Labels:
    """The label vector of the largest kernel alignment y'Ky / (N ||K||_F), the first of equal ones."""
    alignment = np.einsum("ti,ij,tj->t", assignments, K, assignments) / (K.shape[0] * np.linalg.norm(K))
    return assignments[int(np.argmax(alignment))]
