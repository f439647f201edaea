"""Tables 1 and 9 of the page on the paper say what the data are."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.data_folder import available, load_stored
from experiments.paper.protocol import load_protocol

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"


def lines(heading: str) -> dict[str, list[str]]:
    """Cells of the first table below a heading, by the first cell, without daggers."""
    text = PAGE.read_text(encoding="utf-8").split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return {row[0].removesuffix(" †"): row[1:] for row in rows}


SETS = {case.name: case.data for case in load_protocol("2").cases} | {
    "real-sim": "text_debian",
    "rcv1": "sparse_words_fr_de",
}


@pytest.mark.parametrize("name", SETS)
def test_table_1_has_the_sizes_of_the_sets(name):
    if SETS[name] not in available():
        pytest.skip("the set is not in the data folder")
    data = load_stored(SETS[name], normalize=False)
    _, here, larger = lines("Table 1")[name]
    assert here == " x ".join(f"{size:,}" for size in data.X.shape)
    assert float(larger) == pytest.approx(np.unique(data.y, return_counts=True)[1].max() / data.y.size, abs=0.0051)


@pytest.mark.parametrize("name, column", [("mil_usps_roi", 2), ("mil_news_roi", 3)])
def test_table_9_has_the_regions_of_the_bags(name, column):
    if name not in available():
        pytest.skip("the set is not in the data folder")
    data, table = load_stored(name), lines("Table 9")
    for concept, kind in enumerate(("castle", "firework", "mountain", "sunset", "waterfall")):
        of_kind = np.asarray(data.concept)[data.groups] == concept
        assert float(table[kind][column]) == pytest.approx(np.sum(data.roi[of_kind] > 0) / 100, abs=0.0051)


def test_pictures_of_the_page_are_there():
    names = re.findall(r"\]\((images/[\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))
    assert len(names) == 6
    assert [name for name in names if not (PAGE.parent / name).is_file()] == []
