"""What a release is made of says the same everywhere: versions, dependencies, addresses, commands, workflows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "conda").is_dir(), reason="a source archive without the recipe")
NEEDS = re.compile(r"^([\w-]+)(?:\[[\w,-]+\])?([<>=!~].*)$")


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(text("pyproject.toml"))


def bounds(requirements: list[str]) -> dict[str, str]:
    """The version that each package must have; our own extras left out."""
    return {found[1]: found[2] for line in requirements if (found := NEEDS.match(line))}


def recipe(section: str) -> dict[str, str]:
    """The bounds of a section of the recipe for conda-forge."""
    found = re.search(rf"^  {section}:\n((?:    - .*\n)+)", text("conda/meta.yaml"), re.MULTILINE)
    lines = re.findall(r"- ([\w-]+) +([<>=]\S+)", found[1])
    return dict(lines)


def test_versions_agree(project):
    version = project["project"]["version"]
    assert re.search(rf"^version: {re.escape(version)}$", text("CITATION.cff"), re.MULTILINE)
    assert f'{{% set version = "{version}" %}}' in text("conda/meta.yaml")
    assert f"## [{version}]" in text("CHANGELOG.md")


def test_the_recipe_asks_for_what_the_package_asks_for(project):
    assert recipe("run") == bounds(project["project"]["dependencies"])
    assert recipe("host") == bounds(project["build-system"]["requires"])
    extras = project["project"]["optional-dependencies"]
    optional = bounds([line for name in ("cli", "onnx", "persist", "plot") for line in extras[name]])
    optional["matplotlib-base"] = optional.pop("matplotlib")
    assert recipe("run_constrained") == optional


def test_addresses_agree(project):
    urls = project["project"]["urls"]
    for path in ("CITATION.cff", "conda/meta.yaml", "README.md"):
        assert urls["Repository"] in text(path)
    assert urls["Documentation"] in text("CITATION.cff")
    assert urls["Documentation"] in text("conda/meta.yaml")


def test_the_readme_begins_with_both_commands_and_has_absolute_links_only():
    readme = text("README.md")
    assert [line.split()[:2] for line in readme.splitlines()[2:4]] == [["make", "demo"], ["make", "test"]]
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_pages_name_the_published_package_only_together_with_a_checkout():
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        page = path.read_text(encoding="utf-8")
        assert "pip install wellsvm" not in page or "checkout" in page, path.name


def test_workflows_run_every_python_that_the_package_names(project):
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))
    tests = text(".github/workflows/tests.yml")
    assert named == re.findall(r'"(3\.\d+)"', re.search(r"python: (\[.*\])", tests)[1])
    for system in ("ubuntu", "macos", "windows"):
        assert f"{system}-latest" in tests
        assert f"{system}-latest" in text(".github/workflows/wheels.yml")
    for job in ("strangers", "oldest", "newest", "no-compiler", "sanitizers"):
        assert f"\n  {job}:\n" in tests
