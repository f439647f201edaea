"""What is said below a table: what the marks mean, the tests of the ranks, stand-ins, and what was not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

from experiments.paper.cells import BETTER, DAGGER, SKIPPED, WORSE, count
from experiments.paper.figures import ALPHA, Comparison, PaperTable, Row
from experiments.paper.gains import gains
from experiments.paper.protocol import AS_IN_PAPER, paper_name
from experiments.paper.ranks import CONFIDENCE

__all__ = ["footnotes", "stand_in_legend"]


def footnotes(table: PaperTable) -> Iterator[str]:
    """Plain sentences, one or a few per note."""
    protocol = table.protocol
    unit = " in per cent" if protocol.figure == "error" else ""
    better = "larger" if protocol.higher_is_better else "smaller"
    yield (
        f"{protocol.figure[0].upper()}{protocol.figure[1:]}{unit}, {better} is better; mean ± standard deviation of "
        f"{count(protocol.repeats, 'run')}, (n) where there are fewer."
    )
    if table.wins:
        yield (
            f"{BETTER} significantly better, {WORSE} significantly worse than {protocol.reference}: two-sided paired "
            f"t-test over the common runs, {_percent(1 - ALPHA)} level. win/tie/loss: of {protocol.reference} against "
            "the method."
        )
    if protocol.reference is not None and any(_uneven(row) for row in table.rows):
        yield "Averages and ranks are over the runs that the methods compared have in common, case by case."
    tested = [comparison for comparison in table.comparisons if comparison.ranking.p is not None]
    yield from map(_of_ranks, tested)
    if any(comparison.ranking.z for comparison in tested):
        yield (
            f"z: standard errors by which a method ranks better than {protocol.reference}; one-sided, "
            f"{_percent(CONFIDENCE)} is at {NormalDist().inv_cdf(CONFIDENCE):.2f}."
        )
    if any(cell.n_iter for row in table.rows for cell in row.cells.values()):
        yield "Label vectors: how many were generated, the median and in brackets the most."
    yield from _of_agreement(table)
    yield from _of_gains(table)
    yield from _of_stand_ins(table)
    yield from _of_gaps(table)


def _uneven(row: Row) -> bool:
    return len({cell.n for cell in row.cells.values() if cell.n}) > 1


def stand_in_legend(tables: Sequence[PaperTable]) -> str:
    """What a dagger means, if there is one in any table."""
    marked = any(row.case.stand_in for table in tables for row in table.rows)
    return f"{DAGGER}: data that are not, or not surely, the paper's; see below the table." if marked else ""


def _of_ranks(comparison: Comparison) -> str:
    ranking, paper = comparison.ranking, comparison.paper_ranking
    text = (
        f"Friedman test of the ranks, {len(comparison.methods)} methods on {len(comparison.cases)} cases: "
        f"p = {ranking.p:.2g}"
    )
    if paper is not None and paper.p is not None:
        text += f" (from the paper's printed figures: {paper.p:.2g})"
    if ranking.critical_difference is not None:
        text += (
            f"; average ranks that differ by {ranking.critical_difference:.2f} are significant at "
            f"{_percent(CONFIDENCE)} after the correction of Bonferroni and Dunn"
        )
    return f"{text}."


def _of_agreement(table: PaperTable) -> Iterator[str]:
    """How near the paper's algorithm, and the plain SVM for comparison, come to the paper's figures."""
    for method in table.methods:
        off = {row.case.name: row.cells[method].errors_off for row in table.rows}
        known = {name: errors for name, errors in off.items() if errors is not None}
        if known and method in (table.protocol.reference, *(m for m in table.methods if m != paper_name(m))):
            far = [f"{name} {errors:.1f}" for name, errors in known.items() if errors > 1]
            yield (
                f"{method}: within one standard error of the paper's {paper_name(method)} on "
                f"{sum(errors <= 1 for errors in known.values())} of {len(known)} cases, within two on "
                f"{sum(errors <= 2 for errors in known.values())}. The standard error is that of the difference of "
                f"two means: the paper's printed standard deviation over {table.protocol.runs_of_paper} runs, and "
                "ours over ours." + (f" Standard errors off, elsewhere: {', '.join(far)}." if far else "")
            )


def _of_gains(table: PaperTable) -> Iterator[str]:
    """Whether the paper's algorithm gains over the SVM what it gains in the paper."""
    found = list(gains(table))
    if not found:
        return
    svm = table.protocol.reference
    yield (
        f"{AS_IN_PAPER}: its gain over {svm}, run by run, is within one standard error of the paper's on "
        f"{sum(gain.apart <= 1 for gain in found)} of {len(found)} cases, within two on "
        f"{sum(gain.apart <= 2 for gain in found)} (apart: in standard errors of the difference). The paper's error is "
        "that of two independent means, as it prints no other, and so rather too large."
    )


def _of_stand_ins(table: PaperTable) -> Iterator[str]:
    """One note per reason, as several cases may be cut from the same data."""
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if row.case.stand_in:
            reasons.setdefault(row.case.stand_in, []).append(row.case.name)
    for reason, names in reasons.items():
        verb = "is" if len(names) == 1 else "are"
        yield f"{DAGGER} {', '.join(names)} {verb} not, or not surely, the paper's data: {reason}."


def _of_gaps(table: PaperTable) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        for method, cell in row.cells.items():
            if cell.skipped is not None and not cell.n and row.absent is None:
                reasons.setdefault((method, cell.skipped), []).append(row.case.name)
    for (method, reason), names in reasons.items():
        yield f"{method} is not run ({SKIPPED}) on {', '.join(names)}: {reason}."
    for row in table.rows:
        if row.absent is not None and not row.shown:
            yield f"{row.case.name} is left out: {row.absent}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
