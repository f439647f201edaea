"""Figures of a table from records: means, differences, tests and ranks, against scipy on the raw arrays."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from experiments.paper.cells import summary
from experiments.paper.document import markdown
from experiments.paper.figures import tabulate
from experiments.paper.notes import footnotes
from experiments.paper.protocol import load_protocol
from experiments.paper.ranks import rank


def values(records, case, method):
    return np.array([r["value"] for r in records if (r["case"], r["method"]) == (case, method)])


def with_values(records, case, method, new):
    """The records with the values of one case and method replaced, by repeat."""
    return [
        {**r, "value": float(new[r["repeat"]])} if (r["case"], r["method"]) == (case, method) else r for r in records
    ]


def cells(table, case):
    return next(row.cells for row in table.rows if row.case.name == case)


def test_a_cell_sums_up_its_runs(protocol, make_records):
    records = make_records(protocol)
    cell = cells(tabulate(protocol, records), "Alpha")["WellSVM"]
    ours = values(records, "Alpha", "WellSVM")
    assert cell.mean == pytest.approx(ours.mean())
    assert cell.std == pytest.approx(math.sqrt(((ours - ours.mean()) ** 2).sum() / 5))
    assert (cell.n, cell.wanted, cell.paper) == (6, 6, 0.85)
    assert cell.difference == pytest.approx(ours.mean() - 0.85)
    chosen = [r for r in records if (r["case"], r["method"]) == ("Alpha", "WellSVM")]
    assert cell.seconds == pytest.approx(np.median([r["seconds"] for r in chosen]))
    assert cell.n_iter == (np.median([r["n_iter"] for r in chosen]), max(r["n_iter"] for r in chosen))


@pytest.mark.parametrize("figure, sign", [("accuracy", 1), ("error", -1)])
def test_verdicts_are_those_of_the_paired_t_test(protocol, make_records, figure, sign):
    protocol = replace(protocol, figure=figure)
    records = make_records(protocol, shift=(0.0, 0.04, -0.01))
    table = tabulate(protocol, records)
    seen = set()
    for case in ("Alpha", "Beta", "Gamma"):
        for method in ("Rival", "WellSVM"):
            ours, theirs = values(records, case, method), values(records, case, "SVM")
            wanted = 0
            if stats.ttest_rel(ours, theirs).pvalue < 0.05:
                wanted = sign if ours.mean() > theirs.mean() else -sign
            assert cells(table, case)[method].verdict == wanted
            seen.add(wanted)
        assert cells(table, case)["SVM"].verdict is None
    assert {1, -1} <= seen
    assert cells(table, "Delta")["Rival"].verdict is None  # not run: neither win nor tie
    verdicts = [cells(table, case.name)["Rival"].verdict for case in protocol.cases]
    assert table.wins["Rival"] == (verdicts.count(-1), verdicts.count(0), verdicts.count(1))
    assert sum(table.wins["Rival"]) == 3
    assert "SVM" not in table.wins


def test_a_difference_that_a_paired_test_alone_can_see(protocol, make_records):
    split, small = np.array([0.2, 0.9, 0.5, 0.7, 0.3, 0.8]), np.array([1, 2, 1, 2, 1, 2]) / 1000
    records = with_values(make_records(protocol), "Alpha", "SVM", split)
    records = with_values(records, "Alpha", "WellSVM", split + small)
    assert stats.ttest_ind(split + small, split).pvalue > 0.5
    assert cells(tabulate(protocol, records), "Alpha")["WellSVM"].verdict == 1


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_differences_that_do_not_vary_are_ties_without_a_warning(protocol, make_records, shift):
    records = make_records(protocol)
    records = with_values(records, "Alpha", "WellSVM", values(records, "Alpha", "SVM") + shift)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = tabulate(protocol, records)
    assert cells(table, "Alpha")["WellSVM"].verdict == 0


def test_tests_pair_by_repeat_over_the_common_ones(protocol, make_records):
    records = [r for r in make_records(protocol) if r["method"] != "WellSVM" or r["repeat"] in (5, 1, 3)]
    table = tabulate(protocol, records[::-1])
    common = [values(records, "Alpha", "SVM")[[1, 3, 5]], values(records, "Alpha", "WellSVM")]
    wanted = int(np.sign(common[1].mean() - common[0].mean())) if stats.ttest_rel(*common).pvalue < 0.05 else 0
    assert cells(table, "Alpha")["WellSVM"].verdict == wanted
    assert cells(table, "Alpha")["WellSVM"].n == 3
    lonely = [r for r in records if r["method"] != "WellSVM" or r["repeat"] == 1]
    cell = cells(tabulate(protocol, lonely), "Alpha")["WellSVM"]
    assert (cell.verdict, cell.std, cell.n) == (None, None, 1)


def test_averages_compare_only_methods_that_have_all_the_cases(protocol, make_records):
    records = make_records(protocol)
    everywhere, common = tabulate(protocol, records).comparisons
    assert everywhere.methods == ("SVM", "WellSVM")
    assert everywhere.cases == ("Alpha", "Beta", "Gamma", "Delta")
    assert common.methods == ("SVM", "Rival", "WellSVM")
    assert common.cases == ("Alpha", "Beta", "Gamma")
    for comparison in (everywhere, common):
        for method in comparison.methods:
            means = [values(records, case, method).mean() for case in comparison.cases]
            assert comparison.means[method] == pytest.approx(np.mean(means))
    assert everywhere.paper_means["WellSVM"] == pytest.approx((0.85 + 0.7 + 0.95 + 0.62) / 4)
    assert common.paper_means["Rival"] == pytest.approx((0.75 + 0.72 + 0.85) / 3)
    # Ranks in the paper: Alpha 2 3 1, Beta 2.5 1 2.5, Gamma 2 3 1.
    assert common.paper_ranking.ranks == pytest.approx({"SVM": 6.5 / 3, "Rival": 7 / 3, "WellSVM": 4.5 / 3})


def test_a_method_that_the_paper_lacks_on_a_case_has_no_average_there(protocol, make_records):
    first = replace(protocol.cases[0], paper={"SVM": 0.8, "Another": 0.9})
    protocol = replace(protocol, cases=(first, *protocol.cases[1:]))
    table = tabulate(protocol, make_records(protocol))
    assert set(table.comparisons[1].paper_means) == {"SVM"}
    assert table.comparisons[1].paper_ranking is None
    assert table.only_paper == ("Another",)
    assert cells(table, "Alpha")["WellSVM"].difference is None


def test_a_finished_table_of_complete_methods_has_one_comparison(protocol, make_records):
    protocol = replace(protocol, cases=protocol.cases[:3])
    table = tabulate(protocol, make_records(protocol))
    assert [c.methods for c in table.comparisons] == [("SVM", "Rival", "WellSVM")]
    assert table.runs == (54, 54)


def test_smaller_errors_rank_first(protocol, make_records):
    records = make_records(protocol, shift=(0.0, 0.1, 0.2))
    for figure, best in (("accuracy", "WellSVM"), ("error", "SVM")):
        ranks = tabulate(replace(protocol, figure=figure), records).comparisons[1].ranking.ranks
        assert min(ranks, key=ranks.get) == best


def test_a_torn_table_counts_what_is_there(protocol, make_records):
    records = make_records(protocol)[:20]  # Alpha, and two runs of Beta
    table = tabulate(protocol, records)
    assert table.runs == (20, 66)
    assert [row.shown for row in table.rows] == [True, True, False, False]
    assert [c.cases for c in table.comparisons] == [("Alpha",)]
    assert tabulate(protocol, records, {"set_gamma": "not there"}).runs == (20, 48)
    assert tabulate(protocol, records, runs=(3, 7)).runs == (3, 7)
    nothing = tabulate(protocol, [])
    assert nothing.comparisons == ()
    assert nothing.methods == ()


def test_other_tables_and_repeated_records_do_not_count(protocol, make_records):
    records = make_records(protocol)
    others = [{**r, "table": "3", "value": 99.0} for r in records]
    old = [{**r, "value": 99.0} for r in records]
    unknown = [{**records[0], "case": "Omega"}, {**records[0], "method": "Other"}]
    assert tabulate(protocol, [*old, *others, *unknown, *records]) == tabulate(protocol, records)


@pytest.mark.parametrize(
    "table, printed",
    [
        ("2", {"SVM": 3.2188, "TSVM": 2.8125, "LapSVM": 4.2813, "USVM": 2.2188, "WellSVM": 2.4688}),
        ("3", {"SVM": 2.9375, "TSVM": 3.0000, "LapSVM": 4.2813, "USVM": 2.6250, "WellSVM": 2.1563}),
    ],
)
def test_the_average_ranks_that_the_paper_prints_come_out_of_its_figures(table, printed):
    protocol = load_protocol(table)
    records = [
        {"table": table, "case": case.name, "method": m, "repeat": 0, "value": v, "seconds": 1.0, "chosen": {}}
        for case in protocol.cases
        for m, v in case.paper.items()
    ]
    (comparison,) = tabulate(protocol, records).comparisons
    assert comparison.ranking == comparison.paper_ranking
    assert comparison.ranking.ranks == pytest.approx(printed, abs=6e-5)


def test_ranks_and_their_tests_by_hand():
    scores = np.array([[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4], [1, 2, 3, 4], [1, 3, 2, 4]], dtype=float)
    found = rank(["a", "b", "c", "d"], scores, "a")
    ranks = {"a": 19 / 5, "b": 15 / 5, "c": 10 / 5, "d": 6 / 5}
    assert found.ranks == pytest.approx(ranks)
    chi2 = 12 * 5 / (4 * 5) * (sum(r**2 for r in ranks.values()) - 4 * 5**2 / 4)
    assert found.chi2 == pytest.approx(chi2)
    assert found.p == pytest.approx(stats.chi2.sf(chi2, 3))
    error = math.sqrt(4 * 5 / (6 * 5))
    assert found.z == pytest.approx({m: (ranks["a"] - ranks[m]) / error for m in "bcd"})
    assert found.critical_difference == pytest.approx(2.128 * error, abs=1e-3)  # q in Demsar's Table 5 (b)


def test_ranks_without_enough_to_test():
    two = rank(["a", "b"], np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]), "a")
    assert (two.p, two.ranks) == (None, {"a": 2.0, "b": 1.0})
    assert two.z["b"] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = rank(["a", "b", "c"], np.ones((4, 3)), None)
    assert (same.p, same.z, same.critical_difference) == (None, {}, None)
    assert set(same.ranks.values()) == {2.0}


def test_averages_are_over_the_repeats_that_all_methods_have(protocol, make_records):
    records = [r for r in make_records(protocol) if r["method"] != "Rival" or r["repeat"] in (1, 4)]
    for comparison in tabulate(protocol, records).comparisons:
        chosen = [1, 4] if "Rival" in comparison.methods else list(range(6))
        wanted = {
            m: np.mean(
                [values(records, c, m)[chosen if m != "Rival" else slice(None)].mean() for c in comparison.cases]
            )
            for m in comparison.methods
        }
        assert comparison.means == pytest.approx(wanted)
    alone = tabulate(replace(protocol, reference=None), records).comparisons[-1]
    assert alone.means["SVM"] == pytest.approx(np.mean([values(records, c, "SVM").mean() for c in alone.cases]))


def test_the_papers_algorithm_stands_beside_the_papers_figure(protocol, make_records):
    methods = (*protocol.methods, "as in the paper")
    first = replace(protocol.cases[0], paper_std={"WellSVM": 0.06})
    protocol = replace(protocol, methods=methods, cases=(first, *protocol.cases[1:]))
    records = make_records(protocol, shift=(0.0, -0.02, 0.03, 0.0))
    records = with_values(records, "Alpha", "as in the paper", [0.80, 0.82, 0.84, 0.80, 0.82, 0.84])
    table = tabulate(protocol, records)
    cell = cells(table, "Alpha")["as in the paper"]
    assert cell.paper == 0.85
    error = math.sqrt(0.06**2 / 6 + np.var([0.80, 0.82, 0.84], ddof=0) * 6 / 5 / 6)
    assert cell.errors_off == pytest.approx(0.03 / error)
    assert cells(table, "Beta")["as in the paper"].errors_off is None
    assert "as in the paper" not in table.comparisons[1].paper_ranking.ranks  # its figure counts once
    (note,) = [note for note in footnotes(table) if note.startswith("as in the paper: within one standard error")]
    assert "0 of 1 cases, within two on 1" in note


def test_runs_that_use_unlabeled_rows_are_counted(protocol, make_records):
    records = make_records(protocol)
    for record in records:
        if record["method"] == "WellSVM":
            record["chosen"] = {"C_unlabeled": 0.0 if record["repeat"] < 3 else 0.1}
    table = tabulate(protocol, records)
    assert cells(table, "Alpha")["WellSVM"].used == (3, 6)
    assert cells(table, "Alpha")["SVM"].used is None
    assert dict(summary(table))["runs that use unlabeled rows"]["WellSVM"] == "50 %"


def test_methods_with_gaps_join_the_comparison_step_by_step(protocol, make_records):
    gaps = {("SVM", "Delta"), ("Rival", "Gamma")}  # the rival has none on Delta in any case
    records = [r for r in make_records(protocol) if (r["method"], r["case"]) not in gaps]
    table = tabulate(replace(protocol, reference=None), records)
    assert [(c.methods, c.cases) for c in table.comparisons] == [
        (("SVM", "WellSVM"), ("Alpha", "Beta", "Gamma")),
        (("SVM", "Rival", "WellSVM"), ("Alpha", "Beta")),
    ]


def test_a_case_with_few_runs_of_a_method_is_a_gap_of_it(protocol, make_records):
    """One run of six must not take the other five from all methods."""
    few = [r for r in make_records(protocol) if (r["method"], r["case"]) != ("WellSVM", "Beta") or r["repeat"] == 0]
    cases = {c.methods: c.cases for c in tabulate(protocol, few).comparisons}
    assert cases[("SVM", "Rival", "WellSVM")] == ("Alpha", "Gamma")


def test_a_second_block_has_its_own_ranks(protocol, make_records):
    second = replace(protocol, methods=("SVM", "Rival or SVM", "WellSVM"))
    both = replace(protocol, same_choice=second.methods)
    records = make_records(protocol) + [r for r in make_records(second) if r["method"] == "Rival or SVM"]
    table = tabulate(both, records)
    assert table.methods == protocol.methods
    assert table.same_choice.methods == second.methods
    assert "Rival or SVM" in markdown(table)
    assert tabulate(both, make_records(protocol)).same_choice is None


def test_a_method_with_few_runs_does_not_take_those_of_the_others(protocol, make_records):
    protocol = replace(protocol, methods=(*protocol.methods, "as in the paper"))
    records = make_records(protocol, shift=(0.0, -0.02, 0.03, 0.0))
    records = [r for r in records if r["method"] != "as in the paper" or r["repeat"] < 1]
    everywhere, common, few = tabulate(protocol, records).comparisons
    assert everywhere.methods == ("SVM", "WellSVM")
    assert common.methods == ("SVM", "Rival", "WellSVM")
    assert few.methods == protocol.methods
    assert common.means["SVM"] == pytest.approx(
        np.mean([values(records, case, "SVM").mean() for case in ("Alpha", "Beta", "Gamma")])
    )
    assert few.means["SVM"] == pytest.approx(
        np.mean([values(records, case, "SVM")[0] for case in ("Alpha", "Beta", "Gamma")])
    )
