"""Links to the documentation: from scikit-learn's HTML representation to pages that the reference makes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wellsvm import MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC, SemiSupervisedSVCCV
from wellsvm._address import DOCS, REPOSITORY, page_of
from wellsvm.baselines import MISVM, miSVM

ROOT = Path(__file__).resolve().parents[1]
OURS = [SemiSupervisedSVC, SemiSupervisedSVCCV, MultiInstanceSVC, MaxMarginClustering, MISVM, miSVM]


@pytest.mark.parametrize("estimator", OURS)
def test_the_html_representation_links_to_our_page(estimator):
    html = make_pipeline(StandardScaler(), estimator())._repr_html_()
    assert f'href="{page_of(estimator)}"' in html


@pytest.mark.parametrize("estimator", OURS)
def test_the_page_is_one_of_the_reference(estimator):
    if not (ROOT / "docs").is_dir():
        pytest.skip("a source archive without docs")
    package, _, name = page_of(estimator).removesuffix(".html").rpartition("/")[2].rpartition(".")
    entry = f"{package}.{name}".removeprefix("wellsvm.").replace("mi-SVM", "miSVM")
    assert re.search(rf"^   {re.escape(entry)}$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)


def test_pyproject_gives_the_same_addresses():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Repository"] == REPOSITORY
    assert urls["Documentation"].startswith(DOCS)
