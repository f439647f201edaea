"""The estimators' own defaults for the options, read from their source: importing them would make ``--help`` wait."""

from __future__ import annotations

import ast
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["defaults_of"]


@cache
def defaults_of(module: str, estimator: str) -> dict[str, Any]:
    """The default of every parameter that has a plain value."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == estimator)
    init = next(node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    names = [*init.args.posonlyargs, *init.args.args]
    given = [None] * (len(names) - len(init.args.defaults)) + list(init.args.defaults)
    pairs = [*zip(names, given), *zip(init.args.kwonlyargs, init.args.kw_defaults)]
    return {name.arg: ast.literal_eval(value) for name, value in pairs if value is not None and _is_plain(value)}


def _is_plain(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True
