"""From entries to the figures of a table: means, differences to the paper, paired tests, average ranks. No text.

An entry is a run: ``table``, ``case``, ``method``, ``repeat``, ``value``, ``seconds`` (CPU time of the fit with its
choice of parameters), ``n_iter`` (label vectors generated, None for other methods), ``chosen`` (the parameters).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from scipy import stats

from experiments.journal import Entry
from experiments.paper.protocol import Case, Protocol, paper_name
from experiments.paper.ranks import Ranking, rank

__all__ = ["Cell", "Comparison", "PaperTable", "Row", "errors_apart", "tabulate"]

# Of the paired t-test.
ALPHA = 0.05
# Differences between runs that vary by less than this are the same: nothing is left to test.
SAME = 1e-12


@dataclass(frozen=True)
class Cell:
    """A case and a method.

    Attributes
    ----------
    values : dict of float
        Our figure in every repeat there is.
    wanted : int
        Runs of the protocol.
    mean, std : float or None
        Of our runs; ``std`` with n - 1 in the denominator, None for a single run.
    paper : float or None
        The paper's figure.
    errors_off : float or None
        Difference to the paper in standard errors of the two means, where the paper's standard deviation is known.
    used : (int, int) or None
        Runs that used unlabeled rows, of those that say so.
    verdict : {1, 0, -1} or None
        Significantly better than the reference, no difference shown, worse; None where nothing can be tested.
    seconds : float or None
        Median CPU time.
    n_iter : tuple (median, max) or None
        Label vectors generated.
    skipped : str or None
        Why it is not run.
    """

    values: dict[int, float]
    wanted: int
    mean: float | None
    std: float | None
    paper: float | None
    verdict: int | None
    seconds: float | None
    n_iter: tuple[float, int] | None
    skipped: str | None
    errors_off: float | None = None
    used: tuple[int, int] | None = None

    @property
    def n(self) -> int:
        """Runs there are."""
        return len(self.values)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper


@dataclass(frozen=True)
class Row:
    """A case: its cells by method, and why its data are not there (None where they are)."""

    case: Case
    cells: dict[str, Cell]
    absent: str | None

    @property
    def shown(self) -> bool:
        """Whether any method has a figure."""
        return any(cell.n for cell in self.cells.values())


@dataclass(frozen=True)
class Comparison:
    """Methods on the cases where every one of them has a figure, and on the repeats that all of them have.

    Attributes
    ----------
    methods, cases : tuple of str
        Compared, on these.
    means, ranking
        Average figures and ranks of ours; ranks of unrounded means.
    paper_means : dict
        The paper's averages on the same cases, of the methods it has all figures of.
    paper_ranking : Ranking or None
        From the paper's printed figures, if it has all of them.
    """

    methods: tuple[str, ...]
    cases: tuple[str, ...]
    means: dict[str, float]
    ranking: Ranking
    paper_means: dict[str, float]
    paper_ranking: Ranking | None


@dataclass(frozen=True)
class PaperTable:
    """All figures of a table.

    Attributes
    ----------
    protocol : Protocol
        What was asked for.
    rows : tuple of Row
        One for every case.
    comparisons : tuple of Comparison
        Of the methods that have a figure on the most cases; then with those that have fewer, step by step, over the
        cases that all of them have. Methods with few runs are left to the last one, over those runs.
    wins : dict of (int, int, int)
        How often the reference was significantly better than a method, no different, worse: the paper's win/tie/loss.
    runs : (int, int)
        Runs that are done, and that are asked for.
    same_choice : PaperTable or None
        The second block, in which every method may choose the supervised SVM.
    """

    protocol: Protocol
    rows: tuple[Row, ...]
    comparisons: tuple[Comparison, ...]
    wins: dict[str, tuple[int, int, int]]
    runs: tuple[int, int]
    same_choice: PaperTable | None = None

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods that have a figure, in the order of the protocol."""
        return tuple(m for m in self.protocol.methods if any(row.cells[m].n for row in self.rows))

    @property
    def only_paper(self) -> tuple[str, ...]:
        """Methods that the paper has figures of and that are not run."""
        names = dict.fromkeys(name for row in self.rows for name in row.case.paper)
        return tuple(name for name in names if name not in self.protocol.methods)


def tabulate(
    protocol: Protocol,
    entries: Iterable[Entry],
    missing: Mapping[str, str] | None = None,
    runs: tuple[int, int] | None = None,
) -> PaperTable:
    """Sum up the entries of a protocol.

    Parameters
    ----------
    protocol : Protocol
        Cases and methods to show; entries of others are passed over.
    entries : iterable of dict
        Of any tables, in any order; of two of the same run the last counts.
    missing : dict, optional
        Data sets that are not there, with the reason.
    runs : (int, int), optional
        Runs done and asked for, where a run is not just a case, a method and a repeat; None counts those.
    """
    found: dict[tuple[str, str], dict[int, Entry]] = {}
    entries = list(entries)
    for entry in entries:
        if entry["table"] == protocol.table:
            found.setdefault((entry["case"], entry["method"]), {})[entry["repeat"]] = entry
    rows = tuple(_row(protocol, case, found, (missing or {}).get(case.data)) for case in protocol.cases)
    wins = {}
    for method in protocol.methods:
        verdicts = [row.cells[method].verdict for row in rows]
        if any(verdict is not None for verdict in verdicts):
            wins[method] = (verdicts.count(-1), verdicts.count(0), verdicts.count(1))
    second = None
    if any(
        (case.name, m) in found for case in protocol.cases for m in set(protocol.same_choice) - set(protocol.methods)
    ):
        second = tabulate(replace(protocol, methods=protocol.same_choice, same_choice=()), entries, missing)
    return PaperTable(protocol, rows, tuple(_comparisons(protocol, rows)), wins, runs or _counted(rows), second)


def _counted(rows: Iterable[Row]) -> tuple[int, int]:
    """Runs there are, and runs of the protocol without the cases whose data are not there."""
    cells = [cell for row in rows if row.absent is None or row.shown for cell in row.cells.values()]
    return sum(cell.n for cell in cells), sum(max(cell.wanted, cell.n) for cell in cells)


def _row(protocol: Protocol, case: Case, runs: Mapping[tuple[str, str], dict[int, Entry]], absent: str | None) -> Row:
    yardstick = runs.get((case.name, protocol.reference or ""), {})
    cells = {}
    for method in protocol.methods:
        found = runs.get((case.name, method), {})
        verdict = None
        if method != protocol.reference:
            common = sorted(found.keys() & yardstick.keys())
            ours = np.array([found[k]["value"] for k in common])
            theirs = np.array([yardstick[k]["value"] for k in common])
            verdict = _verdict(ours - theirs if protocol.higher_is_better else theirs - ours)
        cells[method] = _cell(protocol, case, method, found, verdict)
    return Row(case, cells, absent)


def _cell(protocol: Protocol, case: Case, method: str, found: dict[int, Entry], verdict: int | None) -> Cell:
    runs = list(found.values())
    values = [float(run["value"]) for run in runs]
    vectors = [int(run["n_iter"]) for run in runs if run.get("n_iter") is not None]
    prices = [price for run in runs if (price := _price_of_unlabeled(run)) is not None]
    skipped = case.skip.get(method)
    wanted = 0 if skipped is not None else min(protocol.repeats, case.repeats.get(method, protocol.repeats))
    return Cell(
        values=dict(zip(found, values)),
        wanted=wanted,
        mean=float(np.mean(values)) if values else None,
        std=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        paper=case.paper.get(paper_name(method)),
        verdict=verdict,
        seconds=median(float(run["seconds"]) for run in runs) if runs else None,
        n_iter=(float(median(vectors)), max(vectors)) if vectors else None,
        skipped=skipped,
        errors_off=_errors_off(protocol, case, method, values),
        used=(sum(price > 0 for price in prices), len(prices)) if prices else None,
    )


def _price_of_unlabeled(run: Entry) -> float | None:
    """What a run paid for unlabeled rows, if it chose a price."""
    chosen = run.get("chosen") or {}
    price = chosen.get("C_unlabeled", chosen.get("gamma_I"))
    return None if price is None else float(price)


def _errors_off(protocol: Protocol, case: Case, method: str, values: list[float]) -> float | None:
    """Difference of our mean and the paper's over its standard error."""
    paper, std = case.paper.get(paper_name(method)), case.paper_std.get(paper_name(method))
    if paper is None or std is None or len(values) < 2:
        return None
    error = float(np.sqrt(std**2 / protocol.runs_of_paper + np.var(values, ddof=1) / len(values)))
    return errors_apart(float(np.mean(values)) - paper, error)


def errors_apart(gap: float, error: float) -> float:
    """A gap in standard errors; without an error any gap is infinitely many."""
    return abs(gap) / error if error > 0 else np.inf if gap else 0.0


def _verdict(gain: np.ndarray) -> int | None:
    """Two-sided paired t-test of gains over the reference; gains that do not vary leave nothing to test: a tie."""
    if gain.size < 2:
        return None
    if np.ptp(gain) <= SAME:
        return 0
    test = stats.ttest_rel(gain, np.zeros_like(gain))
    return int(np.sign(test.statistic)) if test.pvalue < ALPHA else 0


def _comparisons(protocol: Protocol, rows: tuple[Row, ...]) -> Iterable[Comparison]:
    shown = [row for row in rows if row.shown]
    present = [m for m in protocol.methods if any(row.cells[m].n for row in shown)]
    covered = {m: sum(_has_enough(protocol, row.cells[m]) for row in shown) for m in present}
    methods = [m for m in present if covered[m]]
    for least in sorted({covered[m] for m in methods}, reverse=True):
        compared = [m for m in methods if covered[m] >= least]
        common = [row for row in shown if all(_has_enough(protocol, row.cells[m]) for m in compared)]
        if common and (len(compared) > 1 or compared == methods):
            yield _compare(protocol, compared, common)
    with_few = [row for row in shown if all(row.cells[m].n for m in present)]
    if len(methods) < len(present) and with_few:
        yield _compare(protocol, present, with_few)


def _has_enough(protocol: Protocol, cell: Cell) -> bool:
    """Whether a case has a third of the runs that are asked for, where these are paired.

    The comparison is over common runs: a method with few of them would throw away those of all others.
    """
    return cell.n > 0 and (protocol.reference is None or 3 * cell.n >= protocol.repeats)


def _means(cells: list[Cell], paired: bool) -> list[float]:
    """Means of methods on a case; where repeats are the same split for all, over the repeats that all of them have."""
    common = set.intersection(*(set(cell.values) for cell in cells)) if paired else set()
    return [float(np.mean([cell.values[k] for k in common or cell.values])) for cell in cells]


def _compare(protocol: Protocol, methods: list[str], rows: list[Row]) -> Comparison:
    paired = protocol.reference is not None
    ours = np.array([_means([row.cells[m] for m in methods], paired) for row in rows], dtype=float)
    paper = np.array([[row.cells[m].paper for m in methods] for row in rows], dtype=float)  # None becomes NaN
    known = ~np.isnan(paper).any(axis=0)
    # A figure of the paper counts once in its ranks, though two columns of ours are beside it.
    named = [k for k, m in enumerate(methods) if m == paper_name(m)]
    sign = 1.0 if protocol.higher_is_better else -1.0
    return Comparison(
        methods=tuple(methods),
        cases=tuple(row.case.name for row in rows),
        means=dict(zip(methods, ours.mean(axis=0).tolist())),
        ranking=rank(methods, sign * ours, protocol.reference),
        paper_means={m: float(paper[:, k].mean()) for k, m in enumerate(methods) if known[k]},
        paper_ranking=rank([methods[k] for k in named], sign * paper[:, named], protocol.reference)
        if len(named) > 1 and known[named].all()
        else None,
    )
