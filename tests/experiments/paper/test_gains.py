"""What the paper's algorithm gains over the SVM, ours beside the paper's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.paper.document import markdown
from experiments.paper.figures import tabulate
from experiments.paper.gains import gains

SVM, WELLSVM = np.array([0.70, 0.80, 0.75]), np.array([0.74, 0.82, 0.75, 0.9])


@pytest.fixture
def table(protocol):
    """Two cases of which the first has deviations in the paper; a run of ours without one of the SVM."""
    cases = (replace(protocol.cases[0], paper_std={"SVM": 0.03, "WellSVM": 0.04}), protocol.cases[1])
    protocol = replace(protocol, methods=("SVM", "as in the paper"), cases=cases, paper_repeats=25)
    records = [
        {"table": "2", "case": case.name, "method": method, "repeat": k, "value": value, "seconds": 1.0, "chosen": {}}
        for case in cases
        for method, values in (("SVM", SVM), ("as in the paper", WELLSVM))
        for k, value in enumerate(values)
    ]
    return tabulate(protocol, records)


def test_gains_are_over_common_runs_and_apart_in_standard_errors(table):
    (gain,) = gains(table)
    assert gain.row.case.name == "Alpha", "no deviations in the paper, nothing to compare"
    runs = WELLSVM[:3] - SVM
    assert gain.ours == pytest.approx((runs.mean(), runs.std(ddof=1) / np.sqrt(3)))
    assert gain.paper == pytest.approx((0.05, 0.05 / 5))
    assert gain.svm_off == pytest.approx(0.75 - 0.8)
    assert gain.apart == pytest.approx((0.05 - runs.mean()) / np.hypot(gain.ours[1], 0.01))


def test_the_table_shows_them_and_counts_those_that_agree(table):
    text = markdown(table)
    assert "| Alpha         | +0.050 ± 0.010 |        +0.020 ± 0.012 |   2.0 |                   -0.050 |" in text
    assert "within one standard error of the paper's on 0 of 1 cases, within two on 1" in text


def test_a_table_without_the_papers_algorithm_has_none(protocol, make_records):
    table = tabulate(protocol, make_records(protocol))
    assert list(gains(table)) == []
    assert "gain over" not in markdown(table)
