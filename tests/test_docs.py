"""Every Python example of the documentation runs, and every equation the sources cite is listed in docs/math.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))) if path.exists()
]
needs_docs = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="a source archive without docs")
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CITATION = re.compile(r"Eqs?\. (\(?\d+\)?(?:(?:, | and |-)\(?\d+\)?)*)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_examples_run(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text, namespace = path.read_text(encoding="utf-8"), {"__name__": "__main__"}
    for block in PYTHON_BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        code = "\n" * line + block[1]  # so that a traceback names the line of the page
        exec(compile(code, str(path), "exec"), namespace)


@needs_docs
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_within_the_repository_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{name_of(path)} links to {target}"


def cited(text: str) -> set[int]:
    """Numbers of all equations cited, with ranges such as (11)-(13) filled in."""
    numbers: set[int] = set()
    for citation in CITATION.findall(text):
        for first, last in re.findall(r"\(?(\d+)\)?(?:-\(?(\d+)\)?)?", citation):
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def test_citations_are_read():
    assert cited("see Eq. (9). Then (Eq. 16, 24) and Eq. (11)-(13), not Fig. 3") == {9, 11, 12, 13, 16, 24}


@needs_docs
def test_every_equation_cited_is_listed():
    table = (ROOT / "docs" / "math.md").read_text(encoding="utf-8")
    listed = {int(number) for number in re.findall(r"^\| \((\d+)\) \|", table, re.MULTILINE)}
    sources = [
        path for folder in ("src", "cpp") for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".hpp")
    ]
    missing = {name_of(path): numbers for path in sources if (numbers := cited(path.read_text("utf-8")) - listed)}
    assert not missing
