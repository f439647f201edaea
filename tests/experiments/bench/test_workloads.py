"""Every workload can be run: its data can be made, and every competitor fits and tells its figures."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse

from wellsvm.bench import problems
from wellsvm.bench.adapters import ADAPTERS
from wellsvm.bench.problems import MAKERS, Problem, Source, make
from wellsvm.bench.workloads import PROFILES, WORKLOADS, chosen

CASES = [(w.name, profile, case) for w in WORKLOADS.values() for profile in PROFILES for case in w.cases(profile)]


@pytest.mark.parametrize("profile", PROFILES)
def test_cases_are_told_apart_by_their_names_and_begin_with_a_yardstick(profile):
    for workload in WORKLOADS.values():
        names = [case.name for case in workload.cases(profile)]
        assert len(set(names)) == len(names) > 0
        for case in workload.cases(profile):
            assert len(set(case.methods)) == len(case.methods) >= 2
            assert set(case.methods) <= set(ADAPTERS)


def test_every_source_names_arguments_that_its_maker_takes_and_stored_sets_have_a_stand_in():
    for _, _, case in CASES:
        for source in filter(None, (case.source, case.source and case.source.otherwise)):
            inspect.signature(MAKERS[source.maker]).bind(**source.arguments)
        if case.source is not None and "name" in case.source.arguments:
            assert case.source.otherwise is not None


def test_every_competitor_is_measured_somewhere():
    assert {method for _, _, case in CASES for method in case.methods} == set(ADAPTERS)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_competitors_fit_the_small_cases_and_tell_their_figures(workload):
    pytest.importorskip("psutil")
    from wellsvm.bench.child import measure

    for case in WORKLOADS[workload].small:
        if case.source is None:
            continue
        problem = make(case.source)
        for method in case.methods:
            facts = measure(method, problem, case.settings)
            accuracies = [value for name, value in facts.items() if name.startswith("accuracy")]
            assert facts["wall"] > 0
            assert accuracies
            assert all(0 <= value <= 1 for value in accuracies)
            assert facts["n_iter"] >= 1


def test_names_are_checked():
    assert [workload.name for workload in chosen(["rbf", "rbf"])] == ["rbf"]
    assert [workload.name for workload in chosen([])] == list(WORKLOADS)
    with pytest.raises(ValueError, match="WORKLOAD='nope' is not one of text, rbf"):
        chosen(["nope"])


def test_a_set_that_is_not_in_the_folder_is_replaced_and_marked(monkeypatch):
    monkeypatch.setattr(problems, "available", lambda: [])
    source = Source("folder", {"name": "uci_krvskp", "n": 50}, Source("gaussians", {"n": 30, "labels": 10}))
    problem = make(source)
    assert problem.X.shape[0] == 30
    assert problem.note == "generated stand-in: uci_krvskp is not in the data folder"


@pytest.mark.parametrize(
    "source",
    [
        Source("text", {"n": 60, "labels": 20, "test": 10, "n_features": 200, "nnz_per_row": 10.0}),
        Source("digit_bags", {"n_bags": 20, "bag_size": 4}),
        Source("gaussians", {"n": 40, "labels": 10}),
    ],
    ids=lambda source: source.maker,
)
def test_a_problem_is_read_back_as_it_was_written(tmp_path, source):
    problem = make(source)
    problem.save(tmp_path / "problem.npz")
    again = Problem.read(tmp_path / "problem.npz")
    for name, value in vars(problem).items():
        other = getattr(again, name)
        if sparse.issparse(value):
            assert value.dtype == other.dtype
            assert (value != other).nnz == 0
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
            assert value.dtype == other.dtype
        else:
            assert value == other
    assert again.n_bytes == problem.n_bytes > 0


def test_bags_of_text_hold_one_sought_document_in_every_positive_bag(monkeypatch):
    seen = []
    generate = problems.make_sparse_text
    monkeypatch.setattr(problems, "make_sparse_text", lambda *a, **k: seen.append(generate(*a, **k)) or seen[-1])
    problem = problems.text_bags(16, 5, n_features=200, nnz_per_row=10.0)
    (documents, kind), rows = seen[0], sparse.vstack([problem.X, problem.X_test])
    assert problem.X.shape[0] == 16 * 5
    kind_of = {tuple(documents[k].data): kind[k] for k in range(documents.shape[0])}
    y, groups = np.concatenate([problem.y, problem.y_test]), np.concatenate([problem.groups, 16 + problem.groups_test])
    sought = np.array([kind_of[tuple(rows[k].data)] > 0 for k in range(rows.shape[0])])
    np.testing.assert_array_equal(np.bincount(groups, weights=sought), y > 0)


def test_the_warm_up_is_a_small_part_with_both_classes():
    rows = make(Source("text", {"n": 1000, "labels": 40, "n_features": 200, "nnz_per_row": 10.0}))
    head = rows.head()
    assert head.X.shape[0] <= 120
    assert {-1, 1} <= set(head.y_partial)
    bags = make(Source("digit_bags", {"n_bags": 60, "bag_size": 4}))
    head = bags.head()
    assert sorted(head.y) == [-1] * 5 + [1] * 5
    np.testing.assert_array_equal(np.bincount(head.groups), [4] * 10)


@pytest.mark.data
def test_stored_sets_are_taken_from_the_folder_and_keep_both_classes_in_both_parts(monkeypatch, data_home):
    monkeypatch.setenv("WELLSVM_DATA", str(data_home))
    for _, _, case in CASES:
        if case.source is None or "name" not in case.source.arguments or case.data == "sparse_words_fr_de":
            continue
        problem = make(case.source)
        assert not problem.note.startswith("generated")
        assert problem.X.shape[0] == case.size or not case.size
        assert set(problem.y) == {-1, 1}
        assert problem.y_test is None or set(problem.y_test) == {-1, 1}
