"""Constants of the solver: the master, coordinate descent and Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SolverConstants"]


@dataclass(frozen=True, kw_only=True)
class SolverConstants:
    """Each with its reason below it."""

    # ------------------------------------------------------------------ the master

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
    """Level between the bounds, as a share of the gap; 0.5 and 0.9 take a little more work
    (docs/choices_constants.md)."""
    more_fall: float = 4.0
    """While a new label vector has lowered the objective by some amount, the next level is at most this many times it
    away: four rounds then reach any weight from a hundredth on. 2 and 16 take the same work
    (docs/choices_constants.md)."""
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
    stale_margins: bool = False
    """Whether margins outlive a change of prices, as the guess of a working set; where rows are many, they do. On texts
    of 2,000 rows that saved nothing, and the mean accuracy was lower by .0015 (18 fits, nine unchanged)."""
    most_epochs: int = 10
    """Most epochs between two looks at mu: a bound; 5 and 20 take the same work (docs/choices_constants.md)."""
    few_rows: float = 0.5
    """Below this share of all rows they are visited without a pass to find the working set: it would cost more."""
    newton_columns: int = 3000
    """Side of the largest Hessian of dense rows, label vectors times columns: its factor takes about half a second."""
    dense_epochs: float = 200.0
    """Epochs over all dense rows after which Newton's method takes over; where columns are uneven, it begins. With 20
    dense and sparse rows no longer gave one model to six digits; 50 and 800 change nothing on small fits
    (docs/choices_constants.md)."""
    bag_dense_epochs: float = 1.0
    """The same for the squared hinge loss of instances of bags: many SVMs on nearly the same rows follow one another
    there, and Newton's method keeps its Hessian (docs/choices_bags.md, many bags). For the hinge it takes longer."""
    dense_newton_steps: int = 100
    """Newton steps on dense rows before they are given up: a bound; 50 end it sooner where columns are uneven, for the
    same objective (docs/choices_constants.md)."""
    slow_newton: float = 0.25
    """The Hessian is made anew once a step has not lowered the excess to this share; 0.1 and 0.5 take a little more
    work (docs/choices_constants.md)."""
    newton_goal: float = 0.01
    """Relative gap that Newton's method aims at on dense rows, as a share of the projected gradient asked for: its last
    step overshoots any goal, so that one round does."""
    least_newton_goal: float = 1e-6
    """Smallest projected gradient that it is asked for: a relative gap of 1e-8. The goal of a round is halved until the
    master is solved, and Newton's method gave up on 1e-12 where it reaches 1e-9."""
    least_rounded_goal: float = 1e-3
    """Projected gradient below which coordinate descent, which knows the corner of the hinge, comes first again: it is
    then near the end, unless features are so large that it takes as many epochs as on any dense rows. 1e-4 and 1e-2
    change nothing on small fits (docs/choices_constants.md)."""
    widest_bend: float = 2.0
    """Slack at which the rounded hinge becomes a line, at first: from weights of 0 every row is then on the bend."""
    narrower: float = 0.1
    """Factor by which the bend of the hinge is narrowed where it costs too much; 0.03 and 0.3 take about the same work
    (docs/choices_constants.md)."""
    least_bend: float = 1e-9
    """Narrowest bend: below, the Hessian is all rounding."""
    most_in_single: float = 1e5
    """Trace of a Hessian that is summed in single precision for float32 rows: an error of 1e-7 of it is small beside
    the 1 on its diagonal."""
    uneven: float = 100.0
    """Columns whose spreads differ by more than this factor, or whose mean is this many times its spread, are uneven:
    coordinate descent suffers the square of it. Newton's method begins where a column spreads by more. 30 and 300
    change nothing on small fits (docs/choices_constants.md)."""
    short_column: float = 2.0
    """Uneven columns that spread no further, and lie no further from 0, are left to coordinate descent: standardized
    ones have 1, and up to 1.1 in a sample. Embeddings of eight classes with a dead column take a fifth to two fifths of
    the time (docs/performance.md)."""
    wide_column: float = 10.0
    """Spread of a column from which a warning of no convergence names it first: bags of this spread take 16 times the
    epochs of those of spread 1, bags of spread 1,000 are not solved (docs/performance.md, large features)."""
    outweighs: float = 200.0
    """Sparse rows have a long column where its variance is more than this many times that of all columns that are
    narrow beside it, as in a text with a column of prices; 1,000 texts of 400 words with a column of spread 30 take
    8,000 epochs, of spread 300 more than 20,000."""
    narrow_columns: float = 10.0
    """How many times narrower than the widest those are."""
    hopeless_spread: float = 1e6
    """Spread of a sparse column from which coordinate descent gets nowhere: 1,000 rows of 400 columns take 3,000 epochs
    with the spread 2e5, more than 20,000 with 2e6."""
    rounds_on_long_columns: int = 50
    """Rounds of coordinate descent on rows with long columns that cannot be made dense: it will not get far, a warning
    names the columns."""
    svd_work: float = 3e9
    """Multiply-adds of the principal axes of uneven columns, rows times columns squared, up to which they are computed:
    a few seconds."""
    small_moments: int = 200_000
    """Rows times columns squared up to which a Hessian is summed anew each time: a product of matrices of that size
    takes less time than finding out which rows have changed."""
    rounds_after_failure: int = 10
    """Rounds of coordinate descent where Newton's method gave up: it will not get far, a warning tells the reason."""

    # ------------------------------------------------------------------ kernel matrices

    epochs_per_mu: int = 10
    """Epochs between two looks at mu: an epoch that moves few rows is cheap, the product for a new mu is not."""
    patience: float = 0.1
    """A row waits while its projected gradient is below this share of the largest one of the last epoch."""
    svm_patience: float = 0.3
    """The same for the epochs of an SVM with one label vector, before each of which all rows are looked at: two thirds
    of the steps that 0.1 takes, and more epochs; 0.4 takes the same time (docs/performance.md)."""
    svm_epochs: int = 20
    """Most such epochs before Newton's method may take over; 10 and 40 take about the same time."""
    own_gap: float = 0.99
    """Epochs on one label vector end at this share of the gap asked for, so that no rounding is in the way."""
    newton_cost: float = 1 / 6
    """Newton's method takes over once the epochs at one goal have cost this share of the cube of its rows, in
    multiply-adds: what a few steps of dense algebra cost."""
    newton_rows: int = 4000
    """Most rows of a Newton step: its matrix takes their square in memory, 128 MB."""
    newton_steps: int = 30
    """Newton steps before it is given up: a bound, half of which is not reached either (docs/choices_constants.md)."""
    newton_share: float = 0.01
    """Error of a margin at the end of a Newton step: this share of the violation asked for, ..."""
    least_newton_error: float = 1e-12
    """... not below what double precision can do, ..."""
    most_newton_error: float = 1e-6
    """... and not above what the certificates forgive."""
    bisections: int = 30
    """Bisections of a line search: beyond 2^-30 the step is rounding."""
