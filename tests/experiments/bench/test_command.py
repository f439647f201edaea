"""``python -m experiments bench`` from end to end, in fresh processes."""

from __future__ import annotations

from functools import partial

import pytest

from experiments.journal import Journal


@pytest.fixture
def command(experiment):
    return partial(experiment, "bench")


def test_small_profile_from_end_to_end(command, tmp_path):
    (tmp_path / "page.md").write_text("<!-- bench threads -->\n<!-- end -->\n")
    code, out, err = command("threads", "--fill", "page.md")
    assert code == 0, err
    assert "SemiSupervisedSVC, n_jobs=2" in out
    entries = Journal(tmp_path / "results" / "bench_small.jsonl").entries
    assert [entry["method"] for entry in entries] == ["SemiSupervisedSVC", "SemiSupervisedSVC, n_jobs=2"]
    for entry in entries:
        assert entry["same_bits"] is True
        assert entry["extra_bytes"] >= 0
        assert entry["n_iter"] >= 1
        assert entry["environment"]["backend"]
    page = (tmp_path / "page.md").read_text()
    assert "| RCV1-shaped | 1,000 |" in page
    assert "| RCV1-shaped | 1,000 |" in (tmp_path / "results" / "bench_small.md").read_text()
    again = command("threads", "--fill", "page.md")
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
        (("nope",), "workload 'nope' is not one of text"),
        (("text", "--profile", "tiny"), "tiny"),
        (("text", "--repeats", "0"), "repeats"),
        (("text", "--fill", "missing.md"), "--fill: missing.md is not a file"),
    ],
)
def test_wrong_usage_is_exit_code_2_before_any_work(command, tmp_path, arguments, word):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert word in err
    assert list(tmp_path.iterdir()) == []
