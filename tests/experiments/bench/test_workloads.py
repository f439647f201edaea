"""Every workload can be run: its data can be made, and every competitor fits and tells its figures."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse

from experiments.bench import contest_data
from experiments.bench.child import measure
from experiments.bench.competitors import COMPETITORS
from experiments.bench.contest_data import MAKERS, ContestData, DataSource, make
from experiments.bench.workloads import PROFILES, WORKLOADS, chosen

CONTESTS = [
    (w.name, profile, contest) for w in WORKLOADS.values() for profile in PROFILES for contest in w.contests(profile)
]


@pytest.mark.parametrize("profile", PROFILES)
def test_contests_are_told_apart_by_their_names_and_begin_with_a_yardstick(profile):
    for workload in WORKLOADS.values():
        names = [contest.name for contest in workload.contests(profile)]
        assert len(set(names)) == len(names) > 0
        for contest in workload.contests(profile):
            assert len(set(contest.methods)) == len(contest.methods) >= 2
            assert set(contest.methods) <= set(COMPETITORS)


def test_every_source_names_arguments_that_its_maker_takes_and_stored_sets_have_a_stand_in():
    for _, _, contest in CONTESTS:
        for source in filter(None, (contest.source, contest.source and contest.source.otherwise)):
            inspect.signature(MAKERS[source.maker]).bind(**source.arguments)
        if contest.source is not None and "name" in contest.source.arguments:
            assert contest.source.otherwise is not None


def test_every_competitor_is_measured_somewhere():
    assert {method for _, _, contest in CONTESTS for method in contest.methods} == set(COMPETITORS)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_competitors_fit_the_small_cases_and_tell_their_figures(workload):
    for contest in WORKLOADS[workload].small:
        if contest.source is None:
            continue
        data = make(contest.source)
        for method in contest.methods:
            facts = measure(method, data, contest.settings)
            accuracies = [value for name, value in facts.items() if name.startswith("accuracy")]
            assert facts["wall"] > 0
            assert accuracies
            assert all(0 <= value <= 1 for value in accuracies)
            assert facts["n_iter"] >= 1


def test_names_are_checked():
    assert [workload.name for workload in chosen(["rbf", "rbf"])] == ["rbf"]
    assert [workload.name for workload in chosen([])] == list(WORKLOADS)
    with pytest.raises(ValueError, match="workload 'nope' is not one of text, topics, dense, rbf"):
        chosen(["nope"])


def test_a_set_that_is_not_in_the_folder_is_replaced_and_marked(monkeypatch):
    monkeypatch.setattr(contest_data, "available", lambda: [])
    source = DataSource("folder", {"name": "uci_krvskp", "n": 50}, DataSource("gaussians", {"n": 30, "labels": 10}))
    data = make(source)
    assert data.X.shape[0] == 30
    assert data.note == "generated stand-in: uci_krvskp is not in the data folder"


@pytest.mark.parametrize(
    "source",
    [
        DataSource("text", {"n": 60, "labels": 20, "test": 10, "n_features": 200, "nnz_per_row": 10.0}),
        DataSource("digit_bags", {"n_bags": 20, "bag_size": 4}),
        DataSource("gaussians", {"n": 40, "labels": 10}),
    ],
    ids=lambda source: source.maker,
)
def test_data_are_read_back_as_they_were_written(tmp_path, source):
    data = make(source)
    data.save(tmp_path / "data.npz")
    again = ContestData.read(tmp_path / "data.npz")
    for name, value in vars(data).items():
        other = getattr(again, name)
        if sparse.issparse(value):
            assert value.dtype == other.dtype
            assert (value != other).nnz == 0
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
            assert value.dtype == other.dtype
        else:
            assert value == other
    assert again.n_bytes == data.n_bytes > 0


def test_bags_of_text_hold_one_sought_document_in_every_positive_bag(monkeypatch):
    seen = []
    generate = contest_data.make_sparse_text
    monkeypatch.setattr(contest_data, "make_sparse_text", lambda *a, **k: seen.append(generate(*a, **k)) or seen[-1])
    data = contest_data.text_bags(16, 5, n_features=200, nnz_per_row=10.0)
    (documents, kind), rows = seen[0], sparse.vstack([data.X, data.X_test])
    assert data.X.shape[0] == 16 * 5
    kind_of = {tuple(documents[k].data): kind[k] for k in range(documents.shape[0])}
    y, groups = np.concatenate([data.y, data.y_test]), np.concatenate([data.groups, 16 + data.groups_test])
    sought = np.array([kind_of[tuple(rows[k].data)] > 0 for k in range(rows.shape[0])])
    np.testing.assert_array_equal(np.bincount(groups, weights=sought), y > 0)


def test_the_warm_up_is_a_small_part_with_both_classes():
    rows = make(DataSource("text", {"n": 1000, "labels": 40, "n_features": 200, "nnz_per_row": 10.0}))
    head = rows.head()
    assert head.X.shape[0] <= 120
    assert {-1, 1} <= set(head.y_partial)
    bags = make(DataSource("digit_bags", {"n_bags": 60, "bag_size": 4}))
    head = bags.head()
    assert sorted(head.y) == [-1] * 5 + [1] * 5
    np.testing.assert_array_equal(np.bincount(head.groups), [4] * 10)


@pytest.mark.data
def test_stored_sets_are_taken_from_the_folder_and_keep_both_classes_in_both_parts(monkeypatch, data_home):
    monkeypatch.setenv("WELLSVM_DATA", str(data_home))
    for _, _, contest in CONTESTS:
        if contest.source is None or "name" not in contest.source.arguments or contest.data == "sparse_words_fr_de":
            continue
        data = make(contest.source)
        assert not data.note.startswith("generated")
        assert data.X.shape[0] == contest.size or not contest.size
        assert set(data.y) == {-1, 1}
        assert data.y_test is None or set(data.y_test) == {-1, 1}
