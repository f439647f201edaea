"""Tables of what fits cost."""

from __future__ import annotations

from experiments.studies.fit_costs import COST_STUDIES, GROWTHS, OURS


def test_growth_is_the_slope_of_the_logarithms_and_needs_every_size():
    study = COST_STUDIES["fit_costs"]
    series = next(growth for growth in GROWTHS if growth.set == "topics")
    entries = [
        {"set": series.set, "case": series.case.format(n=n), "cpu": {"LinearSVC": 1e-5 * n, OURS: 1e-9 * n**1.5}}
        for n in series.sizes
    ]
    (line,) = study.table(entries, "growth").splitlines()[2:]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[0] == "topics"
    assert cells[4:] == ["1.50", "1.1", "no", "1.00"]
    assert len(study.table(entries[1:], "growth").splitlines()) == 2, "one size is missing"
