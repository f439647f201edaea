"""Constants of estimators: what they refuse, what searches try, clusters."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EstimatorConstants"]


@dataclass(frozen=True, kw_only=True)
class EstimatorConstants:
    """Each with its reason below it."""

    # ------------------------------------------------------------------ what is refused, and what counts as equal

    shares_slack: float = 0.05
    """Shares that a user gives for all classes need not sum to 1 to the last digit: two decimals each are fine."""
    bias: float = 1.0
    """The constant feature that stands for the intercept, regularized like the others: LIBLINEAR's choice."""
    squared_hinge_C_unlabeled: float = 0.2
    """``C_unlabeled="auto"`` of SemiSupervisedSVC under the squared hinge loss, that of dense rows: with 0.5 embeddings
    and UCI sets lose up to 0.004 (docs/choices_few_labels.md), ..."""
    hinge_C_unlabeled: float = 0.5
    """... and under the hinge loss, that of sparse rows: 0.2 loses 0.008 on text, 1 gains nothing
    (docs/choices_few_labels.md)."""
    usual_spread: float = 1.0
    """Mean squared distance of the rows from their mean up to which these prices hold: they were chosen on rows of
    length 1. Of rows that spread more, they are divided by it, as the squared length of the weights that a row's loss
    stands beside falls with it. On even draws of UCI sets twice as much is as accurate and harms more cells, half as
    much is .004 less accurate (docs/choices_few_labels.md)."""
    chosen_errors: float = 2.0
    """Standard errors by which a candidate of SemiSupervisedSVCCV must beat the supervised SVM; others are compared in
    docs/choices_cv.md."""
    least_unlabeled_weight: float = 0.5
    """Part of the weight that they would have with as many unlabeled as labeled rows, below which unlabeled rows do not
    fall however far they spread: else columns that are not scaled would leave them none. 1 is as accurate and harms
    more cells of UCI sets (docs/choices_few_labels.md)."""
    spread_rows: int = 2000
    """Rows that the spread is measured on: so many tell it to a few per cent."""
    largest_value: float = 1e70
    """Larger values of X are refused: estimates and solvers square squared norms and add them up, and fourth powers of
    1e70 leave room for the sum of 1e28."""
    largest_price: float = 1e15
    """Larger prices C, or products of C and a weight, are refused: weights are sums of dual variables up to C, and of
    the 16 digits of a double none would be left for values of f near 1. (At 1e40, 16 rows took seconds and ended
    unsolved.)"""
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
    """Widths that a search tries, as factors: from nearly linear to borders with details. Powers of ten, and one width
    alone, lost 0.003 and 0.009 on digits 3 and 8 with 20 labels (one draw, before these chose among fewer)."""
    few_labels: int = 50
    """Labels up to which a search chooses among few candidates: the choice is mostly chance with 10 to 50 labels
    (docs/choices_cv.md, SemiSupervisedSVCCV); with more it was not measured."""
    few_label_prices: tuple[float, ...] = (0.1, 0.5, 1.0)
    """Prices of unlabeled rows that it tries then: with the four lower ones of the paper's grid besides, errors with 10
    to 50 labels are the same (docs/choices_cv.md, SemiSupervisedSVCCV), and a search of many classes takes twice as
    long."""
    averaged_folds: int = 5
    """Folds from which a search with few labels averages their functions: as many as it was measured with; each must
    have seen most labels (docs/choices_cv.md, SemiSupervisedSVCCV)."""
    lost_labels: float = 1.0
    """Labels held out that may not be lost, on average over the partitions, where such a search uses unlabeled rows: of
    ten to fifty, less than one is chance (docs/choices_cv.md, SemiSupervisedSVCCV)."""
    few_label_partitions: int = 2
    """How often such a search deals labels to folds. Once loses 0.2 on average (error in per cent), three times gain
    nothing on average and take half as long again (docs/choices_cv.md, SemiSupervisedSVCCV)."""
    share_slack: float = 0.1
    """How far the share of positives of their mean may be from the one estimated: with 0 clusters are cut, and nearer
    than this some sets lose what others gain (docs/choices_cv.md, SemiSupervisedSVCCV)."""
    least_gap: float = 1e-6
    """Values of f that differ by less than this part of the largest are on one side of the border that it is given:
    rounding would decide on which, where a model computes them anew. Kernel values in float32 are off by 1e-7."""
    few_gamma_factors: tuple[float, ...] = (1.0, 4.0)
    """Widths that it tries then. Of the four above, with neighbors these are the two best with 10 to 50 labels; 16 is
    far behind without them (docs/choices_cv.md, SemiSupervisedSVCCV)."""
    usual_neighbors: int = 6
    """Neighbors of a search that is not told how many: as measured on version 0.1 (docs/choices_few_labels.md)."""
    most_rows_for_neighbors: int = 2500
    """Most rows for which a search tries neighbors on its own: a matrix of them is solved in two or three seconds."""
    fold_tol: float = 30.0
    """Folds, and the values that a final fit comes along, are solved to this many tol: a few per cent of the objective
    rank the candidates alike and cost far less (docs/choices_cv.md)."""
    smooth_fold_tol: float = 3.0
    """The same for a smooth search, which gains in small steps what it gains."""
    bag_prices: tuple[float, ...] = (1.0, 10.0)
    """Prices of negative instances that MultiInstanceSVCCV tries; 100 adds nothing to an average
    (docs/choices_bags.md)."""
    contexts: tuple[float, ...] = (0.0, 1.0, 10.0, 100.0)
    """Weights of the context that it tries: 0 is the paper's method, 100 is nearly the set kernel alone."""
    bag_gamma_factors: tuple[float, ...] = (1.0, 4.0)
    """Multiples of gamma that it tries: with a quarter besides, the choice is worse (docs/choices_bags.md)."""
    tie_single: float = 1e-5
    """Values of f nearer than this, relative to the largest, count as equal for float32 rows: computed twice they may
    change places."""
    tie_double: float = 1e-9
    """The same for float64 rows."""
    clear_of_zero: float = 0.25
    """0 is kept as a cluster's threshold where both neighbors are further away than this share of a tie."""

    # ------------------------------------------------------------------ the check of label sets

    most_enumerated: int = 100_000
    """Label vectors that the check of a label set tries: 16 instances of two labels, a second or so."""
    oracle_rounding: float = 1e-9
    """By how much, relatively, another member may seem better than the oracle's: the rounding of a sum."""

    # ------------------------------------------------------------------ clusters

    default_balance: float = 0.3
    """Balance of two clusters where none is given: the larger of the two that the paper tries."""
    smallest_cluster: float = 0.05
    """Least share of the rows in a cluster where f is cut in the valley of its density: less is taken for outliers.
    0.05, 0.1 and 0.2 differ by 0.002 in the mean accuracy of 12 settings on 14 UCI sets; this finds small clusters."""
    no_valley: float = 0.01
    """A dent in the density of f this deep, as a share of the lower peak beside it, is none; and valleys whose depths
    differ by less are equally deep. The smoothed counts of a few hundred rows are no more exact than that."""
    valley_bins: int = 512
    """Of the histogram in which that valley is looked for: far narrower than the width it is smoothed by."""
    scaled_C: float = 0.1
    """C="scale" of clustering times the mean squared norm of the rows: 0.1 and 1 gave adjusted Rand indices that differ
    by at most 0.02 on digits, USPS and emb_topics (0.1 the better under the linear kernel), and 0.1 is quicker."""
    joint_prices: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0)
    """Prices of the joint relabeling of clusters, as shares of C: at a low one the functions follow the bulk of their
    cluster and many rows move; it then rises, as in deterministic annealing. Half powers of ten; a ladder from 0.001 on
    found the same on digits, for more time."""
    joint_rounds: int = 10
    """Rounds at each of these prices: a bound, half of which is not reached either (docs/choices_constants.md)."""
    few_moves: float = 3e-3
    """Share of the rows that may still move at the end of a price; a third of it found better clusters in one fit, for
    more work, three times it about the same (docs/choices_constants.md)."""
    joint_rough: float = 5.0
    """SVMs on the way are solved to this many tol: on digits, USPS and emb_topics the adjusted Rand index is within
    0.007 of that of solving them well."""
    kept_spread: float = 0.9
    """What one linear function per cluster, each against the rest, must leave of the ratio of the scatter between
    clusters to that inside, which it starts with. Below it, k-means was better on 7 of 8 draws; above, the functions
    were better on most (docs/choices_clusters.md, cluster sizes)."""
    clearly_less: float = 0.85
    """A start of joined means is taken where the share of the loss that its functions leave over the ratio of scatters
    is less than this much of what k-means comes to. At 1 more is gained on uneven clusters, and more is lost on
    emb_topics and USPS (docs/choices_clusters.md, cluster sizes). Two clusters of the relaxation are kept where they
    part less than this much of the neighbors that those of k-means part, and do not leave as much more of the loss."""
    promising: float = 0.95
    """It is annealed only where that share is less than this much already for the starts as they are. Of 312 fits of
    clustering_sizes it was taken in 22, all of which were below 0.93; more than half of the fits were above 1."""
    outliers: float = 0.1
    """A start of joined means whose smallest cluster has no more than this share of the mean number of rows is not
    taken: of few rows in many dimensions without any clusters, single rows have the largest margins."""
    joint_bias: float = 3.0
    """The constant feature of these functions in units of the rows' root mean square, so that intercepts are hardly
    regularized. Without it clusters of 150, 60 and 30 rows are torn up; 1 is too little, 10 loses on emb_topics (the
    same place)."""
    size_exponent: float = 0.5
    """At the price C a side of an SVM weighs its number of rows to the power of 1 less this. 1, as on the way to C,
    gives rows of large clusters to small ones, 0 lets small clusters vanish, and 0.5 does best (the same place)."""
    joined_means: int = 3
    """Means for every cluster that a start joins its clusters from: enough to part what does not belong together."""
    parted_neighbors: int = 10
    """Nearest neighbors of a row by which two clusters are compared with those of k-means; 6 did as well
    (docs/choices_clusters.md, two clusters)."""
    fewest_rows: int = 5
    """Rows that a cluster of any size has at least: fewer are taken for outliers, around which margins are always
    large."""
    least_cluster_share: float = 0.01
    """The same as a share of the rows: of thousands of rows, five that lie apart are outliers too (two of 300 rows
    were, among heavy tails)."""
    outlier_scatter: float = 1.5
    """Scatter of a row of a cluster with at most `smallest_cluster` of the rows, in units of that of the other cluster,
    above which its rows are taken for outliers: these lie far from each other too (docs/choices_clusters.md, two
    clusters)."""
    joined_draws: int = 2
    """Draws of k-means for these: few, since joining evens out what one draw has worse than another."""
    pair_steps: int = 50
    """Newton steps of such a solution: a bound; Newton's method takes ten or so on smooth losses."""
    pair_products: int = 50
    """Products of a conjugate gradient: a bound; a hundredth of the residual is reached sooner, or the next Newton step
    goes on."""
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
    """Rounds of k-means in a start: a bound, a third of which does as well (docs/choices_constants.md); what follows
    moves the rows anyway."""
    start_draws: int = 4
    """Draws of k-means among the starts of two clusters, each judged by the objective of its SVM: k-means' own
    objective is nearly the same for draws on text_news20 whose adjusted Rand indices are 0.1 and 0.3."""
    sample_growth: int = 4
    """By how much more rows the best start is relabeled on, step by step, before all of them: most labels that change
    do so on few rows, where that is cheap."""
    k_means_sample: int = 3000
    """Rows that k-means starts two clusters on where rows are many, and that starts are compared on. With 3000 and with
    5000 the adjusted Rand index on text_news20 is 0.33 on average."""
    auction_steps: int = 1000
    """Most steps of the auction that keeps cluster sizes within bounds: among equal values it may never end."""
    group_tries: int = 20_000
    """Assignments of a group of rows set apart that are tried for the best one; then the best found so far counts."""
