"""Where runs were made is kept beside them."""

from __future__ import annotations

import pytest

from experiments import environment as environment_of
from experiments.environment import described, known_environment, note_environment


def test_a_folder_remembers_every_environment_of_its_runs(tmp_path, monkeypatch):
    assert known_environment(tmp_path / "results") == {}
    for numpy in ("2.0", "2.0", "2.1"):
        monkeypatch.setattr(environment_of, "environment", lambda numpy=numpy: {"numpy": numpy, "scipy": "1.15"})
        note_environment(tmp_path / "results")
    assert known_environment(tmp_path / "results") == {"numpy": "2.0 and 2.1", "scipy": "1.15"}


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "environment.json").write_text("[{")
    with pytest.raises(ValueError, match=r"environment.json is damaged"):
        known_environment(tmp_path)


def test_one_line_tells_backend_processors_and_versions():
    text = described(environment_of.environment())
    assert "processors, Python 3." in text
    assert "scikit-learn" in text
