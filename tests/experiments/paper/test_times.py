"""The cost of all runs, from those that are done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.paper.plan import TablePlan
from experiments.paper.times import cost, costs_text
from experiments.runner import Trial


@pytest.fixture
def plan(protocol):
    """Of one method three runs are done and two left; one run of another was never timed."""
    times = {("SVM", 0): 60.0, ("SVM", 1): 120.0, ("SVM", 2): 600.0}

    class Known:
        def result(self, identity):
            unit = identity["unit"]
            found = times.get((unit["method"], unit["repeat"]))
            return None if found is None else {"seconds": found}

    units = [{"method": "SVM", "case": "Alpha", "repeat": k} for k in range(5)]
    units.append({"method": "Rival", "case": "Alpha", "repeat": 0})
    return TablePlan(protocol, tuple(Trial(Known(), {"unit": unit}, dict) for unit in units), (), {})


def test_runs_that_are_left_take_the_median_of_their_method_and_case(plan):
    assert cost(plan) == (3, 2, 1, 780.0, 240.0)


def test_the_last_line_is_the_sum(plan):
    lines = costs_text([plan, plan]).splitlines()
    assert [cell.strip() for cell in lines[-1].strip("|").split("|")] == ["all", "6", "26.0", "4", "8.0", "2"]


def test_of_an_experiment_on_request_nothing_is_left(plan):
    on_request = replace(plan, protocol=replace(plan.protocol, on_request=True))
    assert cost(on_request) == (3, 0, 0, 780.0, 0.0)
