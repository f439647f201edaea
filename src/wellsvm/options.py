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
    sure_margin: float = 0.0
    """Distance to the cut from which a free row counts whole in an annealed search, in units of the margin; nearer ones
    count in proportion. 0 counts all whole."""
    semi_supervised_margin: float = 0.5
    """What it is for unlabeled rows; chosen among 0, 0.5 and 1 (docs/choices.md)."""
    least_sure: float = 1e-3
    """Least share of its price that a free row counts with: 0 would take it out of the problem and its certificates."""
    joint_decrease: float = 10.0
    """Relaxations of classes that are searched together end at this many times the least decrease: they give the search
    another start only. On seven topics, 1500 rows, a fifth of the time and the same accuracy."""
    assignment_sweeps: int = 20
    """Sweeps over the prices of the classes before rows are moved one by one: after as many, few are left to move."""
    rounds_per_price: int = 3
    """Rounds of relabelling at each of them. An argument, not measured: the next price moves more labels."""
    search_rough: float = 5.0
    """As long as labels change, the SVMs of a search are solved to this many tol only."""
    searched_rows: int = 20_000
    """Free linear rows that prices rise on, where there are more than twice as many (docs/performance.md)."""
    start_bisections: int = 14
    """Bisections for the dual variables that all rows begin with: a thousandth of the margin is near enough."""
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
    graph_rows: int = 2000
    """Unlabeled rows in the graph of neighbours: so many tell a share to 0.011, and it costs a bounded time."""
    graph_neighbors: int = 12
    """Neighbours of a row in it; with 6 the error of its share is larger by .001 to .011 (docs/choices.md)."""
    graph_strength: float = 10.0
    """How far labels spread over it; with 1 the error of its share is larger by .002 to .014 (docs/choices.md)."""
    graph_memory: int = 4
    """MB that the search for neighbours may take for distances: a fit makes no copy of X, nor anything of its size."""
    graph_rounds: int = 40
    """Rounds of spreading: what is left of a label's way after as many is 0.02 of it."""
    graph_floor: float = 1e-3
    """Added to what has reached a row, as a share of the mean: its logarithm stays finite where nothing has."""

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
    """Unlabeled rows must save more than this many standard errors; others are in docs/choices.md. With 1 more
    than 10 % of the UCI cells were harmed; 1.5 gains 0.004 with 5 labels a class and lost 0.15 in one text."""
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
    relaxation_starts: bool = False
    """Whether the relaxation is only where a search starts: max_iter label vectors are then enough, not too few."""
    start_labelings: int = 5
    """Choices of key instances of such a relaxation: for the linear kernel, where 50 lead to the same choice and take
    50 times as long if bags are many, and along a path of prices (docs/choices.md)."""
    alignment_sample: int = 10_000
    """Linear rows that the start of clustering is found on; more change nothing but its time."""
    compared_tol: float = 10.0
    """SVMs that only compare starts are solved to this many tol: where they differ, they differ by more."""

    # ------------------------------------------------------------------ master

    first_goal: float = 0.1
    """Projected gradient that the first epochs of a master aim at; halved whenever alpha lags behind mu, ..."""
    goal_factor: float = 0.5
    """... by this factor, ..."""
    stalled: float = 0.9
    """... or whenever a round has not brought the gap below this share of the least one: alpha then limits it."""
    weights_lead: float = 0.5
    """mu moves once the gap of the SVM at the present mu is below this share of the whole gap: halves of one error."""
    weights_goal: float = 0.5
    """The level method stops raising its lower bound within this many tol: the other half is alpha's."""
    level: float = 0.8
    """Level between the bounds, as a share of the gap: 0.1's choice, not measured."""
    more_fall: float = 4.0
    """While a new label vector has lowered the objective by some amount, the next level is at most this many times it
    away: four rounds then reach any weight from a hundredth on. Other factors were not compared."""
    enough_known: float = 0.5
    """A master whose objective has fallen enough for the next label vector ends once its gap is below this share of the
    fall (docs/performance.md)."""
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
    pieces_per_call: int = 100
    """Pieces of dense rows in what a native call may take: one, 200,000 numbers, stays in the cache while several
    columns look at it."""
    newton_columns: int = 3000
    """Side of the largest Hessian of dense rows, label vectors times columns: its factor takes about half a second."""
    dense_epochs: float = 200.0
    """Epochs over all dense rows after which Newton's method takes over; where columns are uneven, it begins. With 20
    dense and sparse rows no longer gave one model to six digits; the time was not measured."""
    dense_newton_steps: int = 100
    """Newton steps on dense rows before they are given up: a bound, not measured."""
    slow_newton: float = 0.25
    """The Hessian is made anew once a step has not lowered the excess to this share. Not compared with others."""
    newton_goal: float = 0.01
    """Relative gap that Newton's method aims at on dense rows, as a share of the projected gradient asked for: its last
    step overshoots any goal, so that one round does."""
    least_rounded_goal: float = 1e-3
    """Projected gradient below which the rounded hinge does not do: coordinate descent, which knows the corner, is then
    near the end. An argument, not measured."""
    widest_bend: float = 2.0
    """Slack at which the rounded hinge becomes a line, at first: from weights of 0 every row is then on the bend."""
    narrower: float = 0.1
    """Factor by which the bend of the hinge is narrowed where it costs too much: not compared with others."""
    least_bend: float = 1e-9
    """Narrowest bend: below, the Hessian is all rounding."""
    most_in_single: float = 1e5
    """Trace of a Hessian that is summed in single precision for float32 rows: an error of 1e-7 of it is small beside
    the 1 on its diagonal."""
    column_sample: int = 200
    """Rows by which columns are compared."""
    uneven: float = 100.0
    """Columns whose spreads differ by more than this factor, or whose mean is this many times its spread, are uneven:
    coordinate descent suffers the square of it. An argument, not measured."""
    svd_work: float = 3e9
    """Multiply-adds of the principal axes of uneven columns, rows times columns squared, up to which they are computed:
    a few seconds."""
    rounds_after_failure: int = 100
    """Rounds of coordinate descent where Newton's method gave up: it will not get far, a warning tells the reason."""
    least_work_for_threads: int = 1_000_000
    """Multiply-adds of a pass from which threads pay: 0.1's estimate."""
    thread_pieces: int = 20
    """How much smaller the pieces of a pass are with threads, so that all of them have some."""

    # ------------------------------------------------------------------ rows in blocks

    piece_bytes: int = 4_000_000
    """Rows that are copied out of blocks, made or sent at once, in bytes: small beside any budget, and long enough that
    a call for them costs little."""
    working_share: float = 0.6
    """Share of the memory allowed that working rows may take, ..."""
    part_share: float = 0.2
    """... and that of the rows of some instances alone (labeled rows, samples), beyond which they stay in blocks; what
    is left is for pieces on the way. An argument, not measured."""
    block_bytes: int = 128_000_000
    """Size of a block on disk: long enough to be read at the speed of the disk, and no more files than needed."""
    most_open_blocks: int = 200
    """Blocks on disk mapped at once: each takes three of the files, often 1024, that a process may have open."""
    dask_look: float = 1.0
    """Seconds between two looks at the workers while tasks run."""
    dask_group: int = 16
    """Results of tasks that are fetched at once: more would have to fit into memory beside each other."""
    dask_attempts: int = 5
    """How often a pass is sent out anew after it failed or stood still; each failure may be a worker that died."""

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
    most_scale: float = 1e15
    """Largest product of C and a kernel value: beyond, the rounding of float64 outweighs the ridge 1 / C."""
    largest_kernel_value: float = 1e-4
    """Larger values of a user's matrix are refused, relative to the largest number of its dtype: sums of some thousand
    would overflow."""
    symmetry_floor: float = 1e-6
    """The same for entries near 0, relative to the largest."""
    neighbor_strength: float = 10.0
    """How far a kernel is deformed by a graph of neighbours: as measured on version 0.1 (docs/choices.md)."""
    neighbor_matrices: int = 5
    """Matrices of float64 of the size of K that the deformed kernel needs at once: K, distances or the system and its
    factors, the deformed one, the mixed one."""
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
    largest_value: float = 1e70
    """Larger values of X are refused: estimates and solvers square squared norms and add them up, and fourth powers of
    1e70 leave room for the sum of 1e28."""
    largest_price: float = 1e100
    """Larger prices C, or products of C and a weight, are refused: objectives would overflow."""
    least_price: float = 1e-100
    """Smaller prices are refused, and of rows they are 0: their inverses would overflow."""
    least_distance: float = 1e10
    """A rule for gamma is refused where the mean squared distance is below this many of the smallest normal numbers:
    the distances themselves would be rounded to nothing."""
    most_whole_number: int = 2**31 - 1
    """Larger counts are refused: no machine could serve them, and ranges of them overflow."""
    least_room: int = 64 * 2**20
    """Bytes that must be free for a fit to begin: buffers of the libraries for linear algebra, in round figures. NumPy
    and OpenBLAS may end the process where they find no memory (tests/campaign, limits of address space)."""
    bytes_per_row: int = 100
    """The same for each row and feature: a dozen arrays of float64."""
    most_C_in_single: float = 1e4
    """Rounding to float32 acts like noise on the kernel matrix; the ridge 1 / C must outweigh it."""
    symmetry_sample: int = 200
    """Rows of a callable's matrix that are looked at where it is not kept as a whole."""
    gamma_factors: tuple[float, ...] = (0.25, 1.0, 4.0, 16.0)
    """Widths that a search tries, as factors: from nearly linear to borders with details. Other grids were not
    compared."""
    usual_neighbors: int = 6
    """Neighbours of a search that is not told how many: as measured on version 0.1 (docs/choices.md)."""
    most_rows_for_neighbors: int = 2000
    """Most rows for which a search tries neighbours on its own: a matrix of them is solved in a second or two."""
    fold_tol: float = 30.0
    """Folds, and the values that a final fit comes along, are solved to this many tol: a few per cent of the objective
    rank the candidates alike and cost far less (docs/choices.md)."""
    bag_prices: tuple[float, ...] = (1.0, 10.0, 100.0)
    """Prices that MultiInstanceSVCCV tries: the paper's for instances of negative bags, at its ratio 1 (Table 10)."""
    contexts: tuple[float, ...] = (0.0, 1.0, 10.0, 100.0)
    """Weights of the context that it tries: 0 is the paper's method, 100 is nearly the set kernel alone."""
    bag_gamma_factors: tuple[float, ...] = (0.25, 1.0, 4.0)
    """Multiples of gamma that it tries: half and double widths."""
    tie_single: float = 1e-5
    """Values of f nearer than this, relative to the largest, count as equal for float32 rows: computed twice they may
    change places."""
    tie_double: float = 1e-9
    """The same for float64 rows."""
    clear_of_zero: float = 0.25
    """0 is kept as a cluster's threshold where both neighbours are further away than this share of a tie."""
    default_balance: float = 0.3
    """Balance of two clusters where none is given: the larger of the two that the paper tries."""
    scaled_C: float = 0.1
    """C="scale" of clustering times the mean squared norm of the rows: 0.1 and 1 gave adjusted Rand indices that differ
    by at most 0.02 on digits, USPS and emb_topics (0.1 the better under the linear kernel), and 0.1 is quicker."""
    joint_prices: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0)
    """Prices of the joint relabelling of clusters, as shares of C: at a low one the functions follow the bulk of their
    cluster and many rows move; it then rises, as in deterministic annealing. Half powers of ten; a ladder from 0.001 on
    found the same on digits, for more time."""
    joint_rounds: int = 10
    """Rounds at each of these prices: a bound, not measured."""
    few_moves: float = 3e-3
    """Share of the rows that may still move at the end of a price."""
    joint_rough: float = 5.0
    """SVMs on the way are solved to this many tol: on digits, USPS and emb_topics the adjusted Rand index is within
    0.007 of that of solving them well."""
    kept_spread: float = 0.85
    """What one linear function per cluster, each against the rest, must leave of the ratio of the scatter between
    clusters to that inside, which k-means starts with. On separated blobs that it tears up it leaves 0.16 to 0.63, on
    iris, wine, digits, USPS, isolet, COIL and emb_topics, where it does well, 0.93 to 0.98."""
    pair_bias: float = 10.0
    """Else, for functions over pairs of clusters, the constant feature in units of the rows' root mean square: so
    large that the intercepts are hardly regularised, and at a low price they are those of the nearest mean."""
    pair_steps: int = 50
    """Newton steps of such a solution: a bound, not measured."""
    pair_products: int = 50
    """Products of a conjugate gradient: a bound, not measured."""
    pair_residual: float = 1e-2
    """Residual at which it ends, as a share of the first: steps on the way need not be exact."""
    landmarks: int = 300
    """Rows that span the functions of several clusters under a kernel. Adjusted Rand index with 300 and 500: digits
    .710 and .712, 10 digits of USPS .65 and .66, emb_topics .369 and .370."""
    start_landmarks: int = 100
    """The same where k-means only starts two clusters."""
    start_coordinates: int = 50
    """Leading coordinates under a kernel that k-means starts several clusters on: it need not see all of them."""
    no_direction: float = 1e-6
    """Eigenvalues of landmarks below this share of the largest are rounding, or negative."""
    k_means_rounds: int = 100
    """Rounds of k-means in a start: a bound, not measured; what follows moves the rows anyway."""
    start_draws: int = 4
    """Draws of k-means among the starts of two clusters, each judged by the objective of its SVM: k-means' own
    objective is nearly the same for draws on text_news20 whose adjusted Rand indices are 0.1 and 0.3."""
    k_means_sample: int = 3000
    """Rows that k-means starts two clusters on where rows are many, and that starts are compared on. With 3000 and with
    5000 the adjusted Rand index on text_news20 is 0.33 on average."""
    group_tries: int = 20_000
    """Assignments of a group of rows set apart that are tried for the best one; then the best found so far counts."""
