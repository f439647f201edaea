"""The commands for other weak labels: a file says what is known, the model is saved, the summary tells of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import wellsvm

pl = pytest.importorskip("polars")
pytest.importorskip("typer")

N = 60
RNG = np.random.default_rng(0)
TRUTH = np.arange(N) % 2
X = RNG.standard_normal((N, 2)) + 4.0 * TRUTH[:, None]
GROUPS = RNG.permutation(N) // 6
SHARES = np.array([TRUTH[g == GROUPS].mean() for g in range(10)])


def write(path, **columns):
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], **columns}).write_csv(path)
    return str(path)


@pytest.mark.parametrize(
    "name, columns, options, told",
    [
        ("positive-unlabeled", {"label": [1 if t and i < 30 else None for i, t in enumerate(TRUTH)]}, [], "labeled"),
        ("positive-unlabeled", {"label": np.where(TRUTH * (np.arange(N) < 30), "yes", "?")},
         ["--positive-class", "yes", "--balance", "0.3"], "balance"),
        ("proportions", {"group": GROUPS, "share": SHARES[GROUPS]}, [], "groups"),
        ("noisy-labels", {"label": np.where(np.arange(N) < 6, 1 - TRUTH, TRUTH)}, ["--noise", "0.1"], "suspects"),
        ("candidates", {"label": ["no|yes" if i % 4 == 0 else ("no", "yes")[t] for i, t in enumerate(TRUTH)]}, [],
         "classes"),
    ],
)  # fmt: skip
def test_a_file_is_fitted_and_told(name, columns, options, told, command, tmp_path):
    data, output = write(tmp_path / "rows.csv", **columns), str(tmp_path / "model.skops")
    done = command("fit", name, data, "-o", output, "--json", "--quiet", *options)
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["task"] == name
    assert told in summary
    model = wellsvm.load(output)
    assert np.mean((model.predict(X) == model.classes_[1]) == TRUTH) > 0.9


def links_file(path, text):
    path.write_text(text)
    return str(path)


def test_links_come_from_files(command, tmp_path):
    data, output = write(tmp_path / "rows.csv"), str(tmp_path / "model.skops")
    must, cannot = links_file(tmp_path / "must", "0,1\n\n2;3\n"), links_file(tmp_path / "cannot", "4 6\n")
    done = command(
        "fit", "clustering", data, "-o", output, "--json", "--quiet", "--must-link", must, "--cannot-link", cannot
    )
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert (summary["must_link"], summary["cannot_link"]) == (2, 1)
    np.testing.assert_array_equal(wellsvm.load(output)[-1].n_links_, [2, 1])


@pytest.mark.parametrize("text", ["0", "0,1,2", "a,b", "0,-1", "1.5 2", "0,1\n²,3"])
def test_a_line_that_is_no_pair_is_told_by_its_number(text, command, tmp_path):
    links = links_file(tmp_path / "links", text)
    done = command("fit", "clustering", write(tmp_path / "rows.csv"), "-o", str(tmp_path / "m"), "--must-link", links)
    assert done.code != 0
    assert "expected two row numbers" in done.err
    assert f"line {len(text.splitlines())}" in done.err


@pytest.mark.parametrize(
    "name, columns, options, match",
    [
        ("proportions", {"group": GROUPS, "share": RNG.random(N)}, [], "but its group has"),
        ("proportions", {"share": SHARES[GROUPS]}, [], "no column 'group'"),
        ("noisy-labels", {"label": TRUTH}, ["--noise", "some"], "a share such as 0.1"),
        ("positive-unlabeled", {"label": ["a", "b"] * 30}, [], "positive_class"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_one_line(name, columns, options, match, command, tmp_path):
    done = command("fit", name, write(tmp_path / "rows.csv", **columns), "-o", str(tmp_path / "model"), *options)
    assert done.code != 0
    assert match in done.err
