"""Which values of C Table 11 tries: sets of two classes, the best of a grid, means over halves of the sets."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.paper.protocol import load_protocol
from experiments.studies import cluster_prices
from experiments.studies.cluster_prices import GRIDS, PRICE_STUDIES, SETS, two_classes


@pytest.mark.parametrize(
    "name, share", [("digits 3 8", 183 / 357), ("digits 0 others", 178 / 1797), ("wine 1 others", 0.4)]
)
def test_one_class_is_against_another_or_against_all_others(name, share):
    data = two_classes(name)
    assert data.y.size <= cluster_prices.ROWS
    assert data.X.shape[0] == data.y.size
    assert np.mean(data.y) == pytest.approx(share, abs=0.03)
    assert (data.X.std(axis=0) > 0).all()


def test_no_set_is_of_table_11():
    of_table = {case.data for case in load_protocol("11").cases}
    assert not of_table & {name.split()[0] for name in SETS}


def test_all_grids_have_as_many_settings_as_the_papers(monkeypatch):
    assert {len(Cs) for _, Cs in GRIDS.values()} == {6}
    monkeypatch.setitem(cluster_prices.TABLE, "kernels", ["linear"])
    facts = {column: cluster_prices._run("iris 1 2", column) for column in GRIDS}
    assert all(entry["accuracy"] > 0.6 for entry in facts.values())
    assert facts["C by scale"]["chosen"].startswith("kernel=linear, C=")


def test_means_are_over_halves_of_the_sets():
    (study,) = PRICE_STUDIES.values()
    names = SETS[:4]  # each other one is 0.2 better
    entries = [
        {"set": name, "method": column, "accuracy": 0.6 + 0.2 * (k % 2)}
        for k, name in enumerate(names)
        for column in GRIDS
    ]
    lines = [line.split("|")[1:4] for line in study.table(entries, "accuracy").splitlines()[2:]]
    assert [[cell.strip() for cell in line] for line in lines] == [
        ["first, third, ... set", "2", "0.600"], ["the others", "2", "0.800"], ["all", "4", "0.700"],
    ]  # fmt: skip
