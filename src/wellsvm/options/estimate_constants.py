"""Constants of estimates made before a fit: shares of classes, wrong labels, and whether unlabeled rows help."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EstimateConstants"]


@dataclass(frozen=True, kw_only=True)
class EstimateConstants:
    """Each with its reason below it."""

    evidence_seed: int = 0
    """Of folds and samples: with that of the fit, the verdict of 30 draws of breast_cancer changed in 6 with
    ``random_state``, for no reason that a user could know. Any other number is as good."""

    # ------------------------------------------------------------------ shares of the classes

    folds: int = 10
    """Most folds of labeled rows: the usual number; 5 and 20 change the accuracy by less than half a hundredth
    (docs/choices_constants.md)."""
    enough_labels: int = 5
    """Labels a class, collected class by class, from which the estimated shares count whole: the fewest they were
    measured with. On pairs of digits with two a class their error is 0.12 where equal shares have 0.02."""
    equal_votes: float = 12.0
    """Votes for equal shares, of all classes together, where labels were collected class by class and all unlabeled
    rows weigh as all labeled. So many of each of seven classes would draw their shares too near to each other."""
    votes_of_two: float = 4.0
    """The same for two classes: with 12 the error of the share is level where classes are about as frequent, and a
    twentieth larger where one has a tenth of the rows (docs/choices_shares.md)."""
    least_growth: float = 0.1
    """Least difference between mean posteriors of two classes that a count is corrected by: scores that tell less of
    the classes tell no share, ..."""
    least_corrected: float = 0.005
    """... and the least share that it is corrected to."""
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
    logistic_steps: int = 100
    """Most Newton steps of the calibration, a bound: about six are taken."""
    logistic_error: float = 1e-10
    """It ends once a step would lower the loss by half of this at most, absolutely or of the loss."""
    logistic_halvings: int = 40
    """Most halvings of a Newton step that would raise the loss: beyond 2^-40 it is rounding."""
    one_row_variance: float = 0.25
    """The largest variance of a probability, added to what labels show: a few without an error are no proof of none."""
    share_rounds: int = 30
    """Rounds of EM for the shares: it contracts, because of the votes, and ends sooner."""
    share_change: float = 1e-4
    """Change of a share at which they end: far below any standard error."""
    share_rows: int = 20_000
    """Unlabeled rows that estimates of shares look at where there are five times as many: they tell a share to 0.004,
    a quarter of the least standard error that 200 labels leave."""
    ordered_rows: int = 2000
    """Rows up to which estimates of shares do not depend on their order: they are copied, in an order of their own."""
    sampled_rows: int = 4000
    """Unlabeled rows that growing looks at: so many tell a share to 0.01, and it costs a bounded time."""
    grown_leads: tuple[float, ...] = (0.7, 0.5, 0.3)
    """Rows are labeled whose value is above these shares of a labeled row's, one after the other; one step, or four,
    come to accuracies within a hundredth (docs/choices_constants.md)."""
    grown_price: float = 0.1
    """Price of such a row, as a share of a labeled one's: that of an unlabeled row by default."""
    most_grown: float = 0.08
    """The share moves no further than this: about twice its error with ten labels a class (docs/choices_shares.md)."""

    # ------------------------------------------------------------------ a graph of neighbors

    graph_rows: int = 2000
    """Unlabeled rows in the graph of neighbors: so many tell a share to 0.011, and it costs a bounded time."""
    graph_neighbors: int = 12
    """Neighbors of a row in it; with 6 the error of its share is larger by .001 to .011 (docs/choices_shares.md)."""
    graph_strength: float = 10.0
    """How far labels spread over it; with 1 the error of its share is larger by .002 to .014
    (docs/choices_shares.md)."""
    graph_memory: int = 4
    """MB that the search for neighbors may take for distances: a fit makes no copy of X, nor anything of its size."""
    graph_rounds: int = 20
    """Rounds of spreading: what they leave of the error is at most 3e-4 of it; 40 plain ones left 0.02."""
    graph_floor: float = 1e-3
    """Added to what has reached a row, as a share of the mean: its logarithm stays finite where nothing has."""

    # ------------------------------------------------------------------ a valley between the rows

    valley_step: float = 0.03
    """Longest step between shares that are tried; where the standard error of the estimate is small, half of it."""
    valley_steps: int = 4
    """Steps to either side of the estimate: two standard errors of it with ten labels a class."""
    valley_power: float = 10.0
    """How much it counts that neighbors are parted: 7 % more of them are half the weight. Pairs with ten labels a
    class are .002 less accurate with 5 and .001 more with 20, at the same mean error of the share
    (docs/choices_shares.md)."""
    valley_floor: float = 1e-3
    """Added to the share of neighbors that are parted, which may be none."""

    valley_walk: float = 2.0
    """Under a kernel shares are tried one after the other, to either side, as long as the logarithm of their weight is
    within this of the best on that side: 5.9 of the 9 on average, at the same error (docs/choices_shares.md)."""

    # ------------------------------------------------------------------ valleys between several classes

    valleys_steps: int = 2
    """Steps to either side of a class's share, each as above: with three the error is larger
    (docs/choices_shares.md)."""
    valleys_prices: tuple[float, ...] = (0.01, 0.1, 1.0)
    """Prices of the unlabeled rows on the way to the labels that are compared, as shares of theirs: powers of ten, as
    labels need not be the best ones. Not measured otherwise."""
    valleys_rounds: int = 2
    """Rounds of relabeling at each of them."""
    valleys_assigned: int = 2
    """Sweeps over the prices of the classes: counts are then right to a few rows, far below any step."""
    valleys_landmarks: int = 400
    """Columns up to which dense rows are taken as they are, and landmarks of all others: embeddings have 384, and the
    factors of as many cost some milliseconds."""
    most_valleys: int = 30
    """Classes up to which shares are corrected so: the time grows with the cube of their number."""
    least_ridge: float = 1e-10
    """The least diagonal that is added, as a share of the trace: far above rounding, far below any direction that
    tells classes apart."""

    # ------------------------------------------------------------------ positive and unlabeled rows

    first_price: float = 0.01
    """Price of the SVM that positive and unlabeled rows start from, as a share of C: at the true share 0.83 of the test
    rows were right by its ranking on nine problems, 0.79 at 0.1 and 0.76 at 1, as an SVM that fits unlabeled rows as
    negatives learns to tell apart what should not be."""
    half_votes: float = 5.0
    """Votes for equal shares where positives only are known, beside one of each of them: of 0 to 25 (at 20
    positives) the least error of the share, in the trial of docs/guide_weak_labels.md."""
    least_above: float = 0.3
    """Share of the positives that a threshold of the envelope leaves: fewer make the bound noise; 0.1 is worse, 0.5 the
    same (docs/choices_constants.md)."""
    least_variance: float = 1e-3
    """Added to variances of normal scores, of which the unlabeled ones have 1: no single row is a class."""
    least_share: float = 0.01
    """No share of two normal distributions is nearer to 0 or 1: EM could hardly leave it."""
    normal_rounds: int = 100
    """Rounds of that EM: a bound, half of which does as well (docs/choices_constants.md)."""

    # ------------------------------------------------------------------ wrong labels

    noise_shares: tuple[float, ...] = (0.1, 0.2, 0.3)
    """Shares of wrong labels that cross-validation tries beside 0; each costs a search per fold."""
    noise_prices: tuple[float, ...] = (2.0, 0.2, 0.02)
    """Prices that C="cv" of noisy labels tries, the usual one first. On even draws of 14 UCI sets and text_pcmac with
    10 to 30 % flips the plain SVM has 0.780 at 2, 0.791 at 0.1 and 0.798 at 0.01; below it loses on text."""
    plain_tol: float = 0.1
    """Where no label may be flipped, the SVM on noisy labels is solved to this many tol: its objective is mostly losses
    that no function avoids, so that 1e-3 of it left the weights off by some per cent; that cost 0.01 on uci_haberman
    with 20 % flips, even draws."""
    noise_folds: int = 3
    """Folds of that cross-validation. Other numbers may come to another verdict, by chance
    (docs/choices_constants.md); more cost more."""
    price_errors: float = 2.0
    """A lower price must save more errors of rows held out than this many standard errors: the usual two. On even draws
    of 14 UCI sets and text_pcmac 1.5 would gain 0.002 more, and with 1 two sets lose 0.012."""
    noise_errors: float = 2.5
    """The same for a share of wrong labels above 0: more, as the best of three is taken and flips that are wrong cost
    more. On even draws those of 2 to 2.5 lost up to 0.06 on UCI sets; most of those above gained, up to 0.11."""
    most_noise: float = 0.5
    """Largest share of wrong labels that can be asked for."""

    # ------------------------------------------------------------------ shares of groups

    candidate_folds: int = 3
    """Folds of rows that are held out to choose how the rows of candidate classes are counted: more cost more. Not
    measured."""
    group_folds: int = 3
    """Folds of groups that are held out to judge the search for labels: 5 come to the same verdict, 2 to a worse one
    (docs/choices_constants.md); more cost more."""
    group_errors: float = 2.0
    """The search must make the counts of groups held out more likely by more than so many standard errors: the usual
    two, as in the other judgments."""
    group_prices: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    """Prices of the counts of groups, as shares of C, of which groups held out choose one; each is the start of the
    next. On three even draws of 12 UCI sets with groups of 8 the accuracy was 0.767, 0.776, 0.756, 0.748 at these and
    0.786 at the one chosen (0.784 where each starts from 0, 0.782 where the intercept is regularized)."""
    group_price: float = 0.1
    """The one that is taken where nothing is held out: the best of the four there."""
    largest_logit: float = 500.0
    """Values of f beyond it count as it: chances are 0 or 1 long before, and products of chances at both ends are still
    numbers."""
    exact_group: int = 64
    """Labels of groups up to this size are summed over exactly; beyond it what is left out is of the order of one row
    of the group, and the sums would take as many operations for every row."""
    count_entries: int = 1_000_000
    """Entries of the tables of these sums that are made at once: some megabytes, and some milliseconds."""
    rough_shifts: int = 12
    """Halvings to the shift that keeps these sums from underflow: any shift is exact, this one is right to a hundredth
    or so."""
    fine_shifts: int = 50
    """The same where the shift itself is the result: to rounding."""

    # ------------------------------------------------------------------ whether unlabeled rows help, and probabilities

    judge_folds: int = 5
    """Folds of the judgment whether unlabeled rows help: the usual number; 3 and 10 come to another verdict in one or
    two of eight fits, at nearly the same accuracy (docs/choices_constants.md)."""
    judge_tol: float = 5.0
    """SVMs of the judgment, and of searches at several shares, are solved to this many tol: as accurate as 3, and 10
    may tell shares a hundredth less well (docs/choices_safety.md)."""
    judge_rounds: int = 2
    """Rounds of relabeling at each price in the judgment; 1 and 3 come to another verdict in one of eight fits, at
    nearly the same accuracy (docs/choices_constants.md)."""
    judge_kernel_rounds: int = 1
    """The same under a kernel: 400 fits came to the same verdicts with 1 as with 2 (docs/choices_safety.md)."""
    judged_rows: int = 1000
    """Unlabeled rows that the judgment looks at, so that it costs a bounded time; 300, 2000 and 4000 come to the same
    verdict nearly always (docs/choices_constants.md; docs/performance.md)."""
    judged_kernel_rows: int = 500
    """The same under a kernel, where the time grows with the square of the rows: with 4000 the judgment takes twice as
    long as the fit of 2000 rows that it is for. 300 lost 0.003 on UCI sets (docs/performance.md)."""
    judge_errors: float = 1.5
    """Unlabeled rows must save at least this many standard errors: on even draws of 14 UCI sets 1 harms 9 % of the
    cells with ten labels a class, 1.5 harms 5 %, and 2 loses .01 with five labels a class of generated clouds
    (docs/choices_safety.md)."""
    judge_kernel_errors: float = 2.0
    """The same under a kernel: with 1.5 as accurate, but of 14 UCI sets 12 % of the cells are harmed, not 9 %
    (docs/choices_safety.md)."""
    judge_sized_errors: float = 0.5
    """Standard errors that they must save there of the loss of values of one size, too: on even draws of generated sets
    0 harms 10 % of the cells, 0.5 harms 7 %, and 1 loses .003. The same where many labels have room: 0 would let half a
    million topics be harmed (docs/choices_safety.md)."""
    judge_few_labels: int = 50
    """Labels up to which that is not asked without a kernel: pairs of topics lost .015, .004 and .008 with 5 and 10
    labels a class and 20 at random, and on other pairs harm was a little rarer at the same cost; with more labels it
    costs nothing (docs/choices_safety.md)."""
    judge_partitions: int = 3
    """Most times that folds are drawn, ..."""
    judge_doubt: float = 1.0
    """... as long as the gain is less than this many standard errors from the bar. Two errors and four times are as
    accurate within .003, for 1.7 times the work (docs/choices_safety.md)."""
    label_room: float = 4.0
    """Dimensions for every label of two classes from which it is enough that unlabeled rows save anything at all: text
    has 12 and more with 50 labels, embeddings have 4 to 9 with 10, and 5 to 10 in seven classes of 5 to 10 labels; UCI
    sets have 3 at most with 20 (docs/choices_safety.md)."""
    room_rows: int = 300
    """Rows by which dimensions are counted: so many tell them to a few per cent, and it costs a bounded time."""
    proba_ridge: float = 1e-3
    """Holds the slope of predict_proba where all values are equal; Platt's targets hold it where they separate."""
