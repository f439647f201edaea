"""The paper's figures as pictures: each is drawn from its entries, twice the same, and left out without them."""

from __future__ import annotations

import pytest

from experiments.paper.pictures import PICTURES, write_pictures

pytest.importorskip("matplotlib")


def entry(table, case, method, repeat=0, **more):
    one = {"table": table, "case": case, "method": method, "repeat": repeat, "value": 0.8, "seconds": 0.5}
    return {**one, "n_iter": 3, "chosen": {}, **more}


ENTRIES = [
    entry("figure-objective", "House", "as in the paper", chosen={"objectives": [4.0, 3.0, 2.5]}),
    *(entry(table, "House", method) for table in "234" for method in ("SVM", "as in the paper")),
    *(entry("11", "House", method) for method in ("KM", "WellSVM")),
    *(
        entry(table, f"{name}, {share} %", "WellSVM", value=share / 100)
        for table in ("figure-unlabeled", "figure-clusters")
        for name in ("real-sim", "rcv1")
        for share in (1, 10)
    ),
]


def test_every_picture_is_drawn_and_drawn_the_same(tmp_path):
    drawn = write_pictures(ENTRIES, tmp_path / "one")
    assert {path.stem for path in drawn} == set(PICTURES) - {"reproduction-regions"}
    again = write_pictures(ENTRIES, tmp_path / "two")
    assert [path.read_bytes() for path in drawn] == [path.read_bytes() for path in again]


def test_a_picture_without_entries_is_left_out(tmp_path):
    assert write_pictures([], tmp_path) == []
