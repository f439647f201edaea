"""Every constant of rows, solver, engine and estimators, in one place, each with its reason.

A reason is a measurement (docs/performance.md, docs/choices.md), an argument in one line, or the paper; what was not
measured says so. Estimators set the first group from their parameters; the rest are not parameters because no user
should have to know them. What engine and solver read can be given as ``Options(...)``, so that it can be measured; rows
and estimators read the defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """How to solve: all that does not depend on the data.

    Attributes
    ----------
    tol : float
        Duality gap, relative to the objective, at which an SVM or a restricted master counts as solved.
    min_violation : float
        A label vector that violates its constraint by less than this is not worth adding. The paper's epsilon.
    min_decrease : float
        A label vector that lowers the objective by less than this is the last one. The paper's second rule.
    stopping : {"relative", "absolute", "paper"}
        What the two thresholds above are measured against: the objective, which grows with the number of rows; nothing;
        or nothing, in the units of the paper's SVMs. For the squared hinge loss that is the nu-SVM, whose objective is
        ``-1 / (4 objective)``.
    max_iter : int
        Most label vectors to generate.
    oracle : str
        How the next label vector is found, a name in `wellsvm.engine.cutting_plane.ORACLES`.
    weight_update : {"level", "closed_form"}
        How the weights mu move: a level method that keeps all cuts, or the paper's closed form (MKLGL). Which takes
        fewer epochs depends on the master (docs/performance.md).
    refine : bool
        Whether to settle on one labelling after the relaxation.
    verbose : int
        Whether to print a line per label vector.
    """

    tol: float = 1e-3
    min_violation: float = 1e-3
    min_decrease: float = 1e-2
    stopping: str = "relative"
    max_iter: int = 50
    oracle: str = "paper"
    weight_update: str = "level"
    refine: bool = True
    verbose: int = 0

    # ------------------------------------------------------------------ engine

    decrease_per_tol: float = 10.0
    """``min_decrease`` where it is not given, in tol: 0.1's choice. It ends runs early, with violations left
    (docs/choices.md has accuracies at several tol)."""
    rough: float = 5.0
    """Masters on the way need not be solved well (docs/performance.md): to this many tol. The factor is 0.1's."""
    rough_rounds: int = 50
    """Rounds of a master on the way. An argument, not measured: one that takes longer is nearly flat."""
    max_rounds: int = 1000
    """Rounds of the last master: a bound of 0.1's, not measured; where it ends a run a warning says so."""
    least_weight: float = 1e-12
    """Least weight under the closed form of mu: below the smallest number it could not grow again."""
    svm_rounds: int = 2000
    """Rounds of an SVM with one label vector: a bound of 0.1's, not measured."""
    closed_form_rounds: int = 20_000
    """Rounds of every master under the closed form of mu: a bound, not measured; its steps are many and cheap."""
    solved_slack: float = 1.001
    """A master whose gap is within this factor of tol counts as solved: the gap is computed twice, with rounding."""
    unused_weight: float = 0.1
    """A label vector whose weight is below this many tol is dropped: the objective cannot move by more than tol."""
    oracle_starts: int = 10
    """Random starts of the oracle "climb" beside the label vectors in use."""
    equal_norms: float = 1e-4
    """Label vectors whose ``y'Hy`` differ by less than this, relatively, are equal for the oracle "first": at the
    optimum of a master all with a weight are, and its solution tells them apart by its rounding only."""
    no_gain: float = 1e-12
    """A linearisation must gain more than this, relatively: less is rounding, which could go round in circles."""
    search_rounds: int = 10
    """Rounds of relabelling: a bound of 0.1's, not measured; it ends alternations that go round in circles."""
    search_prices: tuple[float, ...] = ()
    """Shares of the final price that a search goes through first, rising; none is alternation at the final price."""
    annealed_prices: tuple[float, ...] = (0.01, 0.0316, 0.1, 0.316)
    """What they are in an annealed search: half powers of ten. Other ladders were not compared."""
    rounds_per_price: int = 3
    """Rounds of relabelling at each of them. An argument, not measured: the next price moves more labels."""
    search_rough: float = 5.0
    """As long as labels change, the SVMs of a search are solved to this many tol only."""
    unsettled_labels: float = 0.1
    """Relabelling ends when no more than this many tol of the rows change their label (docs/performance.md)."""

    # ------------------------------------------------------------------ what labels alone say

    folds: int = 10
    """Most folds of labeled rows: more cost more. Not measured."""
    enough_labels: int = 5
    """Labels a class, collected class by class, from which the estimated shares count whole: the fewest they were
    measured with. On pairs of digits with two a class their error is 0.12 where equal shares have 0.02."""
    equal_votes: float = 6.0
    """Votes per class for equal shares where labels were collected class by class and all unlabeled rows weigh as all
    labeled; mean error of the share (docs/choices.md) with 2 votes: text +.007, with 30: UCI +.007."""
    drawn_votes: float = 1.0
    """Votes per class added to the counts of labels drawn at random; without them +.002 to +.010 with 20 labels."""
    slope_ridge: float = 0.1
    """Keeps the slope of the calibration finite where labels are separable; a tenth changes little, 4: +.007."""
    trace: float = 1e-9
    """No share is estimated below this: EM could not leave 0."""
    no_spread: float = 1e-6
    """Scores that spread less inside classes than this share of their size count as if they spread so much."""
    offset_ridge: float = 1e-3
    """Keeps the offsets of the calibration finite; a thousandth of a label."""
    one_row_variance: float = 0.25
    """The largest variance of a probability, added to what labels show: a few without an error are no proof of none."""
    share_rounds: int = 30
    """Rounds of EM for the shares: it contracts, because of the votes, and ends sooner."""
    share_change: float = 1e-4
    """Change of a share at which they end: far below any standard error."""

    first_price: float = 0.01
    """Price of the SVM that positive and unlabeled rows start from, as a share of C: at the true share 0.83 of the test
    rows were right by its ranking on nine problems, 0.79 at 0.1 and 0.76 at 1, as an SVM that fits unlabeled rows as
    negatives learns to tell apart what should not be."""
    half_votes: float = 5.0
    """Votes for equal shares where positives only are known, beside one of each of them: of 0 to 25 (at 20
    positives) the least error of the share, in the trial of docs/guide_weak_labels.md."""
    least_above: float = 0.3
    """Share of the positives that a threshold of the envelope leaves: fewer make the bound noise. Not measured."""
    least_variance: float = 1e-3
    """Added to variances of normal scores, of which the unlabeled ones have 1: no single row is a class."""
    least_share: float = 0.01
    """No share of two normal distributions is nearer to 0 or 1: EM could hardly leave it."""
    normal_rounds: int = 100
    """Rounds of that EM: a bound, not measured."""

    noise_shares: tuple[float, ...] = (0.1, 0.2, 0.3)
    """Shares of wrong labels that cross-validation tries beside 0; each costs a search per fold."""
    noise_folds: int = 3
    """Folds of that cross-validation: more cost more. Not measured."""
    noise_errors: float = 2.0
    """A share above 0 must save more errors of rows held out than this many standard errors. With one, two of 14 UCI
    sets lost 0.02 and 0.03 with 20 % flips, in a trial on two draws, while the mean rose by 0.01."""
    most_noise: float = 0.5
    """Largest share of wrong labels that can be asked for."""

    group_folds: int = 3
    """Folds of groups that are held out to judge the search for labels: more cost more. Not measured."""
    group_errors: float = 1.0
    """The search must lower the squared error of these shares by so many standard errors: the usual one. Without, five
    of eight UCI sets lost against the mean map at groups of 64, in a trial on one draw."""
    first_labels_price: float = 0.01
    """Price of the SVM on the first labels of groups, as a share of C: many of these labels are wrong. On even draws of
    14 UCI sets, linear, the accuracy was 0.771, 0.769, 0.769 at 0.01, 0.1 and 1 with groups of 8, and 0.727, 0.718,
    0.717 with groups of 32; ..."""
    first_labels_kernel_price: float = 0.1
    """... the same under other kernels, where at 0.01 the regularised intercept can be far off: seen once, 0.81 in
    place of 0.99."""

    sampled_rows: int = 4000
    """Unlabeled rows that growing looks at: so many tell a share to 0.01, and it costs a bounded time."""
    grown_leads: tuple[float, ...] = (0.7, 0.5, 0.3)
    """Rows are labeled whose value is above these shares of a labeled row's, one after the other; others were not
    compared."""
    grown_price: float = 0.1
    """Price of such a row, as a share of a labeled one's: that of an unlabeled row by default."""
    most_grown: float = 0.08
    """The share moves no further than this: about twice its error with ten labels a class (docs/choices.md)."""
    judge_folds: int = 5
    """Folds of the judgement whether unlabeled rows help: the usual number, others were not compared."""
    judge_tol: float = 3.0
    """SVMs of the judgement are solved to this many tol. An argument, not measured: few rows are judged."""
    judge_rounds: int = 2
    """Rounds of relabelling at each price in the judgement: for its time, three were not compared."""
    judged_rows: int = 4000
    """Unlabeled rows that the judgement looks at: it costs a bounded time. Other numbers were not compared."""
    judge_errors: float = 2.0
    """Unlabeled rows must save more than this many standard errors. With one, 12.9 in place of 8.6 % of the UCI cells
    were harmed, ten labels a class, in the trial that chose it."""
    proba_ridge: float = 1e-3
    """Holds the slope of predict_proba where all values are equal; Platt's targets hold it where they separate."""

    # ------------------------------------------------------------------ starts

    alignment_draws: int = 20
    """Random label vectors of which the one best aligned with the kernel is taken: the paper's number (section 5.3)."""
    alignment_climbs: int = 5
    """How many of them alignment climbs from: 0.1's choice, not measured."""
    start_tol: float = 10.0
    """An SVM that only ranks the instances of a bag is solved to this many tol, ..."""
    most_start_tol: float = 0.1
    """... but never less well than this: an argument, not measured."""
    alignment_sample: int = 10_000
    """Linear rows that the start of clustering is found on; more change nothing but its time."""

    # ------------------------------------------------------------------ master

    first_goal: float = 0.1
    """Projected gradient that the first epochs of a master aim at; halved whenever alpha lags behind mu, ..."""
    goal_factor: float = 0.5
    """... by this factor."""
    weights_lead: float = 0.5
    """mu moves once the gap of the SVM at the present mu is below this share of the whole gap: halves of one error."""
    weights_goal: float = 0.5
    """The level method stops raising its lower bound within this many tol: the other half is alpha's."""
    level: float = 0.8
    """Level between the bounds, as a share of the gap: 0.1's choice, not measured."""
    extra_cuts: int = 100
    """Cuts remembered beyond two per label vector: only the strongest bind, and a projection costs their square."""
    no_distance: float = 1e-9
    """A least-distance residual below this means that no point lies below the level: the residual of rounding."""

    # ------------------------------------------------------------------ linear rows

    visits_per_pass: float = 0.5
    """Epochs over the working set end after this many visits per row: a visit in random order costs a few times one in
    the pass over all rows that comes next."""
    cheap_epochs: int = 300_000
    """Multiply-adds that are added to that: where rows are few and short, looking at mu costs more than either."""
    most_epochs: int = 10
    """Most epochs between two looks at mu: a bound of 0.1's, not measured."""
    few_rows: float = 0.5
    """Below this share of all rows they are visited without a pass to find the working set: it would cost more."""
    least_work_for_threads: int = 1_000_000
    """Multiply-adds of a pass from which threads pay: 0.1's estimate."""
    thread_pieces: int = 20
    """How much smaller the pieces of a pass are with threads, so that all of them have some."""

    # ------------------------------------------------------------------ kernel matrices

    epochs_per_mu: int = 10
    """Epochs between two looks at mu: an epoch that moves few rows is cheap, the product for a new mu is not."""
    patience: float = 0.1
    """A row waits while its projected gradient is below this share of the largest one of the last epoch."""
    newton_cost: float = 1 / 6
    """Newton's method takes over once the epochs at one goal have cost this share of the cube of its rows, in
    multiply-adds: what a few steps of dense algebra cost."""
    newton_rows: int = 4000
    """Most rows of a Newton step: its matrix takes their square in memory, 128 MB."""
    newton_steps: int = 30
    """Newton steps before it is given up: a bound, not measured."""
    newton_share: float = 0.01
    """Error of a margin at the end of a Newton step: this share of the violation asked for, ..."""
    least_newton_error: float = 1e-12
    """... not below what double precision can do, ..."""
    most_newton_error: float = 1e-6
    """... and not above what the certificates forgive."""
    bisections: int = 30
    """Bisections of a line search: beyond 2^-30 the step is rounding."""
    value_cost: float = 10.0
    """Multiply-adds that the exponential of one kernel value costs, to keep native calls short: an estimate."""
    product_speed: float = 20.0
    """How many times quicker than a loop a product of matrices is, for the same: an estimate."""
    rounding_dense: float = 1e-28
    """Scatter of dense rows below this share of their squares is rounding: float64's, squared."""
    rounding_sparse: float = 1e-12
    """The same for sparse rows, whose scatter is a difference of large sums."""
    symmetry: float = 1e-4
    """Relative difference of K and its transpose above which a user's matrix is refused; float32 leaves 1e-6."""
    symmetry_floor: float = 1e-6
    """The same for entries near 0, relative to the largest."""
    batch: int = 4_000_000
    """Kernel values computed at once where the matrix is kept in part: enough for a product of matrices to pay."""
    diagonal_block: int = 64
    """Side of the blocks that the diagonal of a kernel is taken from: of a block of b, b of b^2 values are used."""

    # ------------------------------------------------------------------ the check of label sets

    most_enumerated: int = 100_000
    """Label vectors that the check of a label set tries: 16 instances of two labels, a second or so."""
    oracle_rounding: float = 1e-9
    """By how much, relatively, another member may seem better than the oracle's: the rounding of a sum."""

    # ------------------------------------------------------------------ estimators

    shares_slack: float = 0.05
    """Shares that a user gives for all classes need not sum to 1 to the last digit: two decimals each are fine."""
    bias: float = 1.0
    """The constant feature that stands for the intercept, regularised like the others: LIBLINEAR's choice."""
    largest_value: float = 1e150
    """Larger values of X are refused: their squared norm may overflow."""
    most_C_in_single: float = 1e4
    """Rounding to float32 acts like noise on the kernel matrix; the ridge 1 / C must outweigh it."""
    symmetry_sample: int = 200
    """Rows of a callable's matrix that are looked at where it is not kept as a whole."""
    fold_tol: float = 30.0
    """Folds, and the values that a final fit comes along, are solved to this many tol: a few per cent of the objective
    rank the candidates alike and cost far less (docs/choices.md)."""
    tie_single: float = 1e-5
    """Values of f nearer than this, relative to the largest, count as equal for float32 rows: computed twice they may
    change places."""
    tie_double: float = 1e-9
    """The same for float64 rows."""
    clear_of_zero: float = 0.25
    """0 is kept as a cluster's threshold where both neighbours are further away than this share of a tie."""
    joint_prices: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0)
    """Prices of the joint relabelling of clusters, as shares of C: at a low one the functions follow the bulk of their
    cluster and many rows move; it then rises, as in deterministic annealing."""
    joint_rounds: int = 20
    """Rounds at each of these prices: a bound, not measured."""
    few_moves: float = 1e-3
    """Share of the rows that may still move at the end of a price."""
