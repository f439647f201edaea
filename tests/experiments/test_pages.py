"""The pages of the documentation show what the committed journals hold."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from experiments.bench.workloads import WORKLOADS
from experiments.marked_places import places
from experiments.paper.outputs import COSTS, GLANCE, REASONS
from experiments.paper.protocol import tables
from experiments.studies.command import STUDIES

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results"
PAGES = sorted(ROOT.glob("docs/*.md"))
FILLED = [
    *(("study", page.stem) for page in PAGES if places(page, "study")),
    ("reproduce", "reproduction"),
]


@pytest.mark.parametrize("command, name", FILLED)
def test_filling_a_page_again_changes_nothing(experiment, tmp_path, command, name):
    page = tmp_path / "page.md"
    shutil.copy(ROOT / "docs" / f"{name}.md", page)
    out = tmp_path / "journals"
    shutil.copytree(RESULTS / "reproduction" if command == "reproduce" else RESULTS, out)
    code, _, err = experiment(command, "--report-only", "--out", str(out), "--fill", str(page))
    assert code == 0, err
    assert page.read_text(encoding="utf-8") == (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_place_is_one_that_a_command_fills(page):
    assert set(places(page, "bench")) <= set(WORKLOADS)
    assert set(places(page, "reproduce")) <= {*tables(), REASONS, GLANCE, COSTS}
    assert {name.split()[0] for name in places(page, "study")} <= set(STUDIES)


def test_every_target_of_make_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
    named = {t for page in pages for t in re.findall(r"(?:`|^    )make (\w+)", page.read_text("utf-8"), re.MULTILINE)}
    assert {"bench", "reproduce", "study"} <= named
    assert not [target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)]
