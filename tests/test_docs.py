"""Every example of the documentation runs, what it quotes is measured, and what it lists exists."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))) if path.exists()
]
needs_docs = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="a source archive without docs")
COMMAND = re.compile(r"^(?:\$| {3}) (wellsvm .+?)(?: +#.*)?$", re.MULTILINE)
STUDY = re.compile(r"^<!-- study ([\w ]+) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
FIGURES = re.compile(r"^<!-- figures: ([\w, ]+) -->$", re.MULTILINE)
CITATION = re.compile(r"Eqs?\. (\(?\d+\)?(?:(?:, | and |-)\(?\d+\)?)*)")
# The demo has its own tests; here it would cost half a minute.
SKIPPED = ("wellsvm demo",)
MODULES = (
    "wellsvm", "baselines", "datasets", "images", "labels", "metrics", "model_selection", "onnx", "partial_labels",
    "persistence", "plotting",
)  # fmt: skip


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def run_command(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command of the console script in this process; it must succeed."""
    from wellsvm import cli

    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code, f"{line} ended with exit code {end.value.code}"


def outputs_module():
    """docs/outputs.py, which reads pages and compares what they show."""
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "docs" / "outputs.py")
    module = sys.modules["outputs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_docs
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_examples_run_and_print_what_is_shown(path, monkeypatch, tmp_path):
    outputs = outputs_module()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "tests")  # for the shared checks that CONTRIBUTING imports
    namespace, version = {"__name__": "__main__"}, tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    for block in outputs.blocks_of(path.read_text(encoding="utf-8")):
        if version < block.needs:
            continue
        if block.language == "console":
            for line in COMMAND.findall(block.content):
                if not line.startswith(SKIPPED):
                    run_command(line, monkeypatch)
            continue
        found = outputs.printed(block, path, namespace)
        if path.name == "CONTRIBUTING.md":
            continue
        where = f"{name_of(path)}, line {block.line}"
        assert bool(found.strip()) == (block.shown is not None), f"{where}: run python docs/outputs.py {name_of(path)}"
        assert outputs.alike(found, block.shown or ""), f"{where} prints {found!r}, the page shows {block.shown!r}"


@needs_docs
def test_outputs_are_compared_word_by_word_and_number_by_number():
    alike = outputs_module().alike
    assert alike("accuracy 0.91 of\n 3", "accuracy 0.92 of 3\n")
    assert not alike("accuracy 0.91", "accuracy 0.85")
    assert not alike("accuracy 0.91", "score 0.91")
    assert not alike("[1 2 3]", "[1 2]")
    assert alike("objective 105.2", "objective 103.1")


@needs_docs
def test_outputs_are_filled_in_once():
    outputs = outputs_module()
    page = "text\n\n```python\nprint(1)\n```\n\nmore\n\n```python\nx = 2\n```\n"
    once = outputs.filled(page, lambda block: "1\n" if "print" in block.content else "")
    assert once == page.replace("print(1)\n```\n", "print(1)\n```\n\n```text\n1\n```\n")
    assert outputs.filled(once, lambda block: "1\n" if "print" in block.content else "") == once


@needs_docs
def test_files_that_blocks_write_do_not_stay(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text('```python\nopen("model.skops", "w").close()\nprint("saved")\n```\n')
    monkeypatch.chdir(tmp_path)
    outputs_module().main(["page.md"])
    assert capsys.readouterr().out.split() == ["changed", "page.md"]
    assert page.read_text().endswith("```text\nsaved\n```\n")
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_commands_and_options_exist(path):
    typer = pytest.importorskip("typer")
    from wellsvm.cli.app import app

    for line in COMMAND.findall(path.read_text(encoding="utf-8")):
        command, (_, *words) = typer.main.get_command(app), shlex.split(line)
        while hasattr(command, "commands"):
            assert words, f"{line} is not a whole command"
            assert words[0] in command.commands, f"{line}: no command {words[0]!r}"
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known | {"--help"}, line


@needs_docs
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_within_the_repository_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{name_of(path)} links to {target}"


def measured_tables() -> dict[str, str]:
    """The tables that studies fill, by their names."""
    pages = [*(ROOT / "docs").glob("choices_*.md"), ROOT / "docs" / "results.md"]
    return {name: table for page in pages for name, table in STUDY.findall(page.read_text(encoding="utf-8"))}


def unmeasured(text: str, tables: dict[str, str]) -> list[str]:
    """Accuracies of a page that the tables named above their paragraph do not have; outside of blocks of code."""
    wrong = []
    for paragraph in re.split(r"\n{2,}", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        named = FIGURES.match(paragraph)
        allowed = [tables[name] for name in named[1].split(", ")] if named else []
        quoted = re.findall(r"\b0\.\d{3}\b", paragraph)
        wrong += [figure for figure in quoted if not any(figure in table for table in allowed)]
    return wrong


@needs_docs
@pytest.mark.parametrize("page", ["README.md", "docs/guide_unlabeled.md"])
def test_accuracies_quoted_are_those_of_the_table_named_above_them(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.search(FIGURES, text)
    assert unmeasured(text, measured_tables()) == []


def test_a_figure_of_another_table_or_without_a_table_is_found():
    tables = {"a": "| 0.123 |", "b": "| 0.456 |"}
    assert unmeasured("<!-- figures: a -->\nfrom 0.123 to 0.456", tables) == ["0.456"]
    assert unmeasured("<!-- figures: a, b -->\nfrom 0.123\nto 0.456\n\n0.789", tables) == ["0.789"]
    assert unmeasured("```python\nx = 0.999\n```\n\n<!-- figures: b -->\n0.456", tables) == []


@needs_docs
def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE))
    public = set()
    for name in MODULES:
        module = importlib.import_module(name if name == "wellsvm" else f"wellsvm.{name}")
        public |= {item if name == "wellsvm" else f"{name}.{item}" for item in module.__all__}
    public -= {"persistence.save", "persistence.load"}  # listed as wellsvm.save and wellsvm.load
    assert public - listed == set()
    for name in listed:
        parent, _, last = f"wellsvm.{name}".rpartition(".")
        assert hasattr(importlib.import_module(parent), last), name


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
