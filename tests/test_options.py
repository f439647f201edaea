"""Every constant of rows, solver, engine and estimators is an option with a reason; no other numbers lie about."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import pytest

import wellsvm
from wellsvm.options import Options

SOURCE = Path(wellsvm.__file__).parent
FIELDS = dataclasses.fields(Options)
# Where a number may stand beside the code: units, and grids and choices of the paper that users see as parameters.
EXCEPTIONS = {
    "making.py": {"MEGABYTE"},
    "base.py": {"AS_IN_PAPER"},
    "semi_supervised.py": {"SEMI_SUPERVISED_AS_IN_PAPER"},
    "semi_supervised_cv.py": {"PAPER_GRID"},
    "blocks.py": {"UNITS"},
    "folder.py": {"FORMAT", "MANIFEST", "VERSION"},
    "folder_writing.py": {"HEADER"},  # part of the format
    "positive_labels.py": {"USUAL"},  # marks in y that other libraries use
    "supervised.py": {"LEFT_OUT"},  # a name for a code, nothing to measure
}


def reasons():
    """The text of every option: its entry under Attributes, or the string below it."""
    told = {}
    for path in sorted((SOURCE / "options").glob("*.py")):
        (group,) = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef))
        for statement, after in zip(group.body, group.body[1:] + [ast.Pass()]):
            if isinstance(statement, ast.AnnAssign):
                assert statement.target.id not in told, f"{statement.target.id} stands in two files"
                below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                told[statement.target.id] = after.value.value if below else ""
        if group.name == "Options":
            listed = re.split(r"(?m)^    (\w+) : .*\n", ast.get_docstring(group, clean=False).split("----------\n")[1])
            told.update(dict(zip(listed[1::2], listed[2::2])))
    return told


def test_every_option_has_a_reason_of_more_than_a_few_words():
    told = reasons()
    assert set(told) == {field.name for field in FIELDS}
    short = [name for name, text in told.items() if len(text.split()) < 3]
    assert not short, f"without a reason: {short}"


def test_every_option_is_used():
    sources = [path.read_text() for path in SOURCE.rglob("*.py") if path.parent.name != "options"]
    unused = [field.name for field in FIELDS if not any(re.search(rf"\b{field.name}\b", text) for text in sources)]
    assert not unused


def test_options_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options().tol = 0.5
    assert hash(Options()) == hash(Options())


@pytest.mark.parametrize("package", ["rows", "solver", "engine", "estimators", "labels"])
def test_no_module_keeps_a_number_of_its_own(package):
    found = []
    for path in sorted((SOURCE / package).glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            numbers = [
                part.value
                for part in ast.walk(node.value)
                if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)) and part.value is not True
                and part.value is not False
            ]  # fmt: skip
            if numbers and not names <= EXCEPTIONS.get(path.name, set()):
                found.append(f"{path.name}: {', '.join(sorted(names))}")
    assert not found, f"constants that belong into Options: {found}"


def test_options_can_be_changed_by_name_only():
    changed = Options().but(tol=0.5)
    assert changed == Options(tol=0.5)
    assert Options().tol != 0.5
    with pytest.raises(TypeError, match="no option 'tolerance'"):
        changed.but(tolerance=1.0)
