"""The study of constants: what it varies exists, and a varied constant is read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from experiments.studies.constants import AS_IT_IS, CONSTANT_STUDIES, CONSTANTS, FITS, constant, counted_work
from wellsvm import SemiSupervisedSVC
from wellsvm.options import Options


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_value_tried_is_another_one_of_the_same_type(name):
    values, fits = CONSTANTS[name]
    default = getattr(Options(), name)
    assert len({*values, default}) == len(values) + 1
    assert {type(value) for value in values} == {type(default)}
    assert set(fits) <= set(FITS)


def test_a_constant_is_another_one_for_a_while():
    before = Options.rough
    with constant("rough", 7.0):
        assert (Options.rough, Options().rough, Options(tol=0.1).rough, Options(rough=2.0).rough) == (
            7.0,
            7.0,
            7.0,
            2.0,
        )
        assert dataclasses.replace(Options(), tol=0.5).rough == 7.0
    assert Options.rough == Options().rough == before


def test_work_is_counted_and_the_same_every_time():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.where(np.arange(60) < 20, np.arange(60) % 2, np.nan)
    counts = []
    for _ in range(2):
        with counted_work() as work:
            SemiSupervisedSVC(random_state=0, balance="labels").fit(X, y)
        counts.append(work["work"])
    assert counts[0] == counts[1] >= X.size


def test_the_table_compares_with_the_fit_as_it_is():
    usual = {"set": "dense", "split": 0, "constant": AS_IT_IS, "method": AS_IT_IS}
    varied = {"set": "dense", "split": 0, "constant": "rough", "method": "1.0"}
    entries = [
        {**usual, "accuracy": 0.9, "objective": 2.0, "work": 100.0},
        {**varied, "accuracy": 0.91, "objective": 1.9, "work": 150.0},
    ]
    table = CONSTANT_STUDIES["constants"].table(entries, "accuracy")
    (line,) = (line for line in table.splitlines() if "rough" in line)
    assert [cell.strip() for cell in line.strip("|").split("|")][-4:] == ["1", "+0.0100", "-5.00%", "1.50"]
