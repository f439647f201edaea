"""Tables and pictures of given entries."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.bench.curves import curves_of, draw, fit_exponent, save
from experiments.bench.lines import about, latest, lines_of, markdown

MIB = 2**20


def test_exponent_of_a_power_law_is_found():
    sizes = np.array([1000, 2000, 4000, 8000])
    exponent, factor = fit_exponent(sizes, 3e-6 * sizes**1.7)
    assert exponent == pytest.approx(1.7)
    assert factor == pytest.approx(3e-6)


def test_exponent_is_the_least_squares_slope_in_logarithms():
    sizes, noise = np.array([1e3, 1e4, 1e5]), np.exp([0.1, -0.2, 0.1])  # the noise has no slope
    assert fit_exponent(sizes, sizes**1.2 * noise)[0] == pytest.approx(1.2)


def test_table_shows_medians_and_leaves_out_columns_without_values(entry):
    entries = [
        entry("LinearSVC", wall=1.0, cpu=1.0, ratio=1.0, x_bytes=4 * MIB, extra_bytes=6 * MIB),
        *(entry("ours", repeat=k, wall=t, cpu=t, ratio=t, accuracy_test=0.9) for k, t in enumerate((2.0, 9.0, 3.0))),
    ]
    assert markdown(lines_of(entries, "text")).splitlines() == [
        "| data    | rows | settings | method    | seconds | ratio | CPU s | extra memory / X | test accuracy |",
        "| ------- | ---: | -------- | --------- | ------: | ----: | ----: | ---------------: | ------------: |",
        "| made up |  100 | C=1      | LinearSVC |       1 |  1.00 |     1 |             1.50 |               |",
        "| made up |  100 | C=1      | ours      |       3 |  3.00 |     3 |                  |         0.900 |",
    ]
    assert lines_of(entries, "rbf") == []
    assert about(entries, "text").startswith("Profile small, 3 rounds; native (avx2), 4 processors, Python 3.12.0")


def test_skips_warnings_and_stand_ins_are_notes(entry):
    entries = [
        entry("rival", skipped="not installed: rival"),
        entry("ours", wall=1.0, cpu=1.0, warnings=["ConvergenceWarning"], about_data="generated stand-in"),
        entry("ours", repeat=1, wall=1.0, cpu=1.0, warnings=["ConvergenceWarning"], about_data="generated stand-in"),
    ]
    notes = [line.note for line in lines_of(entries, "text")]
    assert notes == ["skipped: not installed: rival", "ConvergenceWarning; generated stand-in"]


def test_different_bits_in_one_round_of_three_are_told(entry):
    entries = [entry("two threads", repeat=k, wall=1.0, same_bits=k != 1) for k in range(3)]
    assert lines_of(entries, "text")[0].figures["bits"] == "no"


def test_only_the_last_environment_of_a_case_counts(entry):
    old = [entry(n=n, repeat=k, wall=9.0) | {"environment": {"backend": "old"}} for n in (1, 2) for k in range(3)]
    new = [entry(n=1, wall=5.0), entry(n=1, wall=1.0)]
    assert [(r["n"], r["wall"]) for r in latest(old + new)] == [(2, 9.0)] * 3 + [(1, 1.0)]


def test_curves_are_medians_by_size_where_there_are_several_sizes(entry):
    entries = [entry(n=n, repeat=k, wall=n * t) for n in (200, 100) for k, t in enumerate((1.0, 2.0, 9.0))]
    entries += [entry(n=300, skipped="over 60 s"), entry(n=100, wall=1.0, settings={"C": 2})]
    assert curves_of(entries, "text") == {"made up, C=1": {"ours": [(100, 200.0), (200, 400.0)]}}
    assert curves_of(entries, "rbf") == {}


def test_picture_tells_the_exponent_of_every_method(tmp_path, entry):
    pytest.importorskip("matplotlib")
    entries = [entry(m, n=n, wall=float(n) ** p) for m, p in (("ours", 1), ("rival", 2)) for n in (10, 100, 1000)]
    entries += [entry("twice", n=10, wall=1.0), entry("twice", n=100, wall=1.0), entry("once", n=10, wall=1.0)]
    figure = draw(curves_of(entries, "text"), "title")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["ours: time grows as $n^{1.00}$", "rival: time grows as $n^{2.00}$", "twice", "once"]
    save(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
