"""Fits recorded with one version are compared with those of another."""

from __future__ import annotations

import json

import pytest

from experiments.recorded_fits import compare, differences, fits

SAME = {"coefficients": "a", "labels": "b", "objective": [1.0]}


def test_equal_records_have_no_differences():
    assert differences({"one": SAME}, {"one": dict(SAME)}) == {}


@pytest.mark.parametrize("part, value", [("coefficients", "x"), ("labels", "x"), ("objective", [1.0 + 1e-15])])
def test_any_other_bit_is_a_difference(part, value):
    assert differences({"one": SAME}, {"one": {**SAME, part: value}}) == {"one": [part]}


def test_a_fit_that_is_missing_is_a_difference():
    assert list(differences({"one": SAME, "two": SAME}, {"one": SAME})) == ["two"]


def test_comparison_counts_the_fits_that_differ(tmp_path, capsys):
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(json.dumps({"one": SAME, "two": SAME}))
    after.write_text(json.dumps({"one": SAME, "two": {**SAME, "objective": [2.0]}}))
    assert compare(before, after) == 1
    assert "two: objective; objective by 1.0e+00" in capsys.readouterr().out


def test_twenty_four_fits_of_all_kinds_are_recorded():
    names = [name for name, _ in fits()]
    assert len(names) == len(set(names)) == 24
    for kind in ("semi-supervised", "cross-validation", "bags", "clusters", "CSR", "float32", "rbf", "four classes"):
        assert any(kind in name for name in names)
