"""Shared by the tests of the experiments: their command line."""

from __future__ import annotations

import sys

import pytest

from experiments.__main__ import main


@pytest.fixture
def experiment(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder, results in ``results``: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("experiments.__main__.RESULTS", tmp_path / "results")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
            if isinstance(code, str):  # as the interpreter does
                print(code, file=sys.stderr)
                code = 1
        return code, *capsys.readouterr()

    return run
