"""Constants of the engine: the cutting plane, starts and the search for one labeling."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EngineConstants"]


@dataclass(frozen=True, kw_only=True)
class EngineConstants:
    """Each with its reason below it."""

    # ------------------------------------------------------------------ the cutting plane

    decrease_per_tol: float = 10.0
    """``min_decrease`` where it is not given, in tol. It ends runs early, with violations left; 1 costs some more work
    on small fits and changes no accuracy (docs/choices_constants.md)."""
    rough: float = 5.0
    """Masters on the way need not be solved well (docs/performance.md): to this many tol; 1 and 20 take a little more
    work (docs/choices_constants.md)."""
    rough_rounds: int = 50
    """Rounds of a master on the way: a bound that small fits do not reach; 10 and 200 change nothing
    (docs/choices_constants.md). One that takes longer is nearly flat."""
    max_rounds: int = 1000
    """Rounds of the last master: a bound that small fits do not reach (docs/choices_constants.md); where it ends a run
    a warning says so."""
    least_weight: float = 1e-12
    """Least weight under the closed form of mu: below the smallest number it could not grow again."""
    svm_rounds: int = 2000
    """Rounds of an SVM with one label vector: a bound; small fits do not reach a tenth of it
    (docs/choices_constants.md)."""
    closed_form_rounds: int = 20_000
    """Rounds of every master under the closed form of mu: a bound, half of which is not reached either
    (docs/choices_constants.md); its steps are many and cheap."""
    solved_slack: float = 1.001
    """A master whose gap is within this factor of tol counts as solved: the gap is computed twice, with rounding."""
    unused_weight: float = 0.1
    """A label vector whose weight is below this many tol is dropped: the objective cannot move by more than tol."""
    oracle_starts: int = 10
    """Random starts of the oracle "climb" beside the label vectors in use; 30 take more work for the same objective
    (docs/choices_constants.md)."""
    equal_norms: float = 1e-4
    """Label vectors whose ``y'Hy`` differ by less than this, relatively, are equal for the oracle "first": at the
    optimum of a master all with a weight are, and its solution tells them apart by its rounding only."""
    no_gain: float = 1e-12
    """A linearization must gain more than this, relatively: less is rounding, which could go round in circles."""

    # ------------------------------------------------------------------ the search for one labeling

    search_rounds: int = 10
    """Rounds of relabeling: a bound that ends alternations which go round in circles; 20 change little for the better,
    5 little for the worse (docs/choices_constants.md)."""
    search_prices: tuple[float, ...] = ()
    """Shares of the final price that a search goes through first, rising; none is alternation at the final price."""
    annealed_prices: tuple[float, ...] = (0.01, 0.0316, 0.1, 0.316)
    """What they are in an annealed search: half powers of ten. Powers of ten are worse; quarter powers may be better,
    by less than half a hundredth; shorter ladders lose up to 0.004 on UCI sets (docs/choices_few_labels.md)."""
    hinge_prices: tuple[float, ...] = (0.316,)
    """The same for unlabeled rows under the hinge loss, that of sparse rows: from lower prices the search ends in worse
    labels on two of five texts, by 0.04 and 0.01, and takes half as long again (docs/choices_few_labels.md)."""
    sure_margin: float = 0.0
    """Distance to the cut from which a free row counts whole in an annealed search, in units of the margin; nearer ones
    count in proportion. 0 counts all whole."""
    semi_supervised_margin: float = 0.25
    """What it is for unlabeled rows; chosen among 0, 0.1, 0.25, 0.5 and 1 on text; on dense rows 0.5 is level or a
    little better (docs/choices_few_labels.md)."""
    least_sure: float = 1e-3
    """Least share of its price that a free row counts with: 0 would take it out of the problem and its certificates."""
    assignment_sweeps: int = 20
    """Sweeps over the prices of the classes before rows are moved one by one: after as many, few are left to move."""
    price_change: float = 1e-4
    """Change of a price, as a share of the spread of the scores, at which the sweeps end: so few rows lie between that
    moving them one by one is cheaper than the last dozen sweeps."""
    opening_labelings: int = 1
    """Label vectors of a relaxation that is no more than a start: before several classes are searched together, where
    more gave another start, which took two fifths of the fit of seven topics and no better accuracy; and where a search
    begins on some of the rows, since masters of many rows cost more than the search (docs/performance.md)."""
    rounds_per_price: int = 3
    """Rounds of relabeling at each of them; 1 is worse; 6 may be better, by less than a hundredth
    (docs/choices_constants.md)."""
    smooth: bool = False
    """Whether searches move f itself (smooth.py) instead of labels."""
    smooth_errors: float = 1.0
    """`judge_errors` of a smooth search: on even splits of Tables 6 to 8 the mean error with 0, 1 and 2 was 22.5, 22.3
    and 23.2 at C = 2, and 22, 12 and 9 % of the cells were harmed."""
    smooth_prices: tuple[float, ...] = tuple(2.0**k for k in range(-10, 1))
    """Shares of the final price that a smooth search goes through: Chapelle and Zien's, each twice the last."""
    sharpness: float = 3.0
    """Of the loss exp(-3 f^2) of an unlabeled row: Chapelle and Zien's."""
    smooth_landmarks: int = 500
    """Rows that span f of a smooth search under a kernel: on g50c, Digit1, USPS, BCI and g241c 300 and 500 of them
    ended within a point of all 1,500 (four even splits)."""
    smooth_coordinates: int = 200
    """Leading coordinates that it moves in; in the same trial 20 to 300 made no difference on average."""
    span_rows: int = 2500
    """Rows up to which linear ones may be given by coordinates in their span, which takes all eigenvectors."""
    span_saving: int = 200
    """Linear rows are in their span if there is a feature for every 200 pairs of rows. Then a search takes half the
    time or less, with the same result; at one for 320 pairs as much, for 500 a third more (docs/performance.md)."""
    smooth_memory: int = 20
    """Pairs of gradients that L-BFGS remembers: not measured."""
    smooth_steps: int = 1000
    """Steps of L-BFGS at a price: a bound, not measured; 5 to 30 are usual."""
    search_rough: float = 5.0
    """As long as labels change, the SVMs of a search are solved to this many tol only; 1 takes much more work, 20 saves
    little (docs/choices_constants.md)."""
    searched_rows: int = 20_000
    """Free linear rows that prices rise on, where there are more than twice as many (docs/performance.md)."""
    searched_kernel_rows: int = 1000
    """The same under a kernel, where an epoch takes up to the square of the rows: on 3,500 rows a search is a third
    faster, at the same accuracy (docs/performance.md)."""
    many_rough: float = 20.0
    """`search_rough` on all rows after that: a third less work for labels no worse (docs/performance.md), ..."""
    many_epochs: int = 3
    """... and `most_epochs`: working sets are stale sooner than their rows are solved."""
    unsettled_labels: float = 0.1
    """Relabeling ends when no more than this many tol of the rows change their label (docs/performance.md)."""

    # ------------------------------------------------------------------ starts

    alignment_draws: int = 20
    """Random label vectors of which the one best aligned with the kernel is taken: the paper's number (section 5.3)."""
    alignment_climbs: int = 5
    """How many of them alignment climbs from; 1 and 20 lead to the same clusters (docs/choices_constants.md)."""
    start_tol: float = 10.0
    """An SVM that only ranks the instances of a bag is solved to this many tol: 1 and 100 lead to the same accuracy
    (docs/choices_constants.md), ..."""
    most_start_tol: float = 0.1
    """... but never less well than this: at a gap of a tenth of the objective a ranking is already rough."""
    relaxation_starts: bool = False
    """Whether the relaxation is only where a search starts: max_iter label vectors are then enough, not too few."""
    start_labelings: int = 5
    """Label vectors of such a relaxation: of 818 fits of unlabeled rows one had another accuracy than with 50, by .003,
    and some took a hundredth of the time (docs/performance.md). Choices of key instances: for the linear kernel, where
    50 lead to the same choice and take 50 times as long if bags are many, and along a path of prices
    (docs/choices_bags.md)."""
    many_instances: int = 20_000
    """Instances of bags above which such a relaxation has one choice: with five it takes as long as all else, for an
    objective that is 0.4 % lower (docs/choices_bags.md, many bags)."""
    alignment_sample: int = 10_000
    """Linear rows that the start of clustering is found on; more change nothing but its time."""
    compared_tol: float = 10.0
    """SVMs that only compare starts are solved to this many tol: where they differ, they differ by more."""
