"""``wellsvm bench`` from end to end, in fresh processes."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("psutil")
pytest.importorskip("typer")
pytest.importorskip("rich")

from wellsvm import cli
from wellsvm._journal import read


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["wellsvm", "bench", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code or 0, *capsys.readouterr()

    return run


def test_small_profile_from_end_to_end(command, tmp_path):
    (tmp_path / "page.md").write_text("<!-- bench threads -->\n<!-- end -->\n")
    code, out, err = command("threads", "--out", "results", "--fill", "page.md")
    assert code == 0, err
    assert "SemiSupervisedSVC, n_jobs=2" in out
    records = read(tmp_path / "results" / "small.jsonl")
    assert [record["method"] for record in records] == ["SemiSupervisedSVC", "SemiSupervisedSVC, n_jobs=2"]
    for record in records:
        assert record["same_bits"] is True
        assert record["extra_bytes"] >= 0
        assert record["n_iter"] >= 1
        assert record["environment"]["backend"]
    page = (tmp_path / "page.md").read_text()
    assert "| RCV1-shaped | 1,000 |" in page
    assert "| RCV1-shaped | 1,000 |" in (tmp_path / "results" / "small.md").read_text()
    again = command("threads", "--out", "results", "--fill", "page.md")
    assert again[:2] == (0, out)  # the same figures: nothing was measured again
    assert (tmp_path / "page.md").read_text() == page


def test_a_page_without_a_place_is_refused_before_any_work(command, tmp_path):
    (tmp_path / "page.md").write_text("<!-- bench rbf -->\n<!-- end -->\n")
    code, _, err = command("threads", "startup", "--fill", "page.md")
    assert code == 2
    assert "page.md has no place for threads, startup" in err
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_list_measures_nothing(command, tmp_path):
    code, out, _ = command("--list")
    assert code == 0
    assert all(name in out for name in ("text", "rbf", "cv", "clusters", "bags", "threads", "startup"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments, word",
    [
        (("nope",), "WORKLOAD='nope' is not one of text"),
        (("text", "--profile", "tiny"), "tiny"),
        (("text", "--repeats", "0"), "repeats"),
        (("text", "--fill", "missing.md"), "--fill: missing.md is not a file"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2_before_any_work(command, tmp_path, arguments, word):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
