"""The judgement: clusters that fit the labels are used, labels at random are not, and what it looks at is bounded."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from wellsvm.engine import safety
from wellsvm.engine.out_of_fold import OutOfFold, out_of_fold
from wellsvm.engine.safety import judge_unlabeled
from wellsvm.engine.supervised import own_order
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows

ANNEALED = Options(search_prices=Options.annealed_prices)


def clusters(seed=0, n_classes=2, n=400, n_labeled=20, distance=3.0, n_features=60, random_labels=False):
    """Clouds in many dimensions: few labels leave the direction open that all rows show. -1 where unlabeled."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % n_classes
    centres = np.zeros((n_classes, n_features))
    centres[np.arange(n_classes), np.arange(n_classes)] = distance
    X = rng.standard_normal((n, n_features)) + centres[truth]
    labels = rng.permutation(truth) if random_labels else truth
    return X, np.where(np.arange(n) < n_labeled, labels, -1)


def judge(X, codes, loss="squared_hinge", form=lambda X: LinearRows(X, 1.0), options=ANNEALED, shares=None, seed=0):
    n_classes = codes.max() + 1
    shares = np.full(n_classes, 1 / n_classes) if shares is None else np.array(shares)
    C = np.where(codes >= 0, 2.0, 0.2)
    return judge_unlabeled(form(X), codes, shares, loss, C, seed, options)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)], ids=["rows", "gram"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_clusters_that_fit_the_labels_are_used(n_classes, form, loss):
    verdict = judge(*clusters(n_classes=n_classes, n_labeled=30, distance=6.0 if n_classes == 3 else 4.0), loss, form)
    assert verdict.helps
    assert verdict.gain > 2 * verdict.error > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_at_random_speak_against_unlabeled_rows(n_classes):
    used = [judge(*clusters(seed, n_classes, n_labeled=24, random_labels=True), seed=seed).helps for seed in range(6)]
    assert sum(used) <= 1  # one and a half standard errors: one chance in fifteen each


def test_labels_collected_of_a_rare_class_count_as_few_rows_as_it_has(monkeypatch):
    codes = np.repeat([0, 1], 20)
    without, found = np.where(codes == 0, 0.5, 0.5)[:, None], np.where(codes == 0, -0.5, -0.2)[:, None]
    held_out = OutOfFold(codes, np.ones(40, dtype=bool), without, found)  # better for class 0, worse for class 1
    monkeypatch.setattr(safety, "out_of_fold", lambda *_: held_out)
    X = np.random.default_rng(0).standard_normal((60, 3))
    partial = np.append(codes, np.full(20, -1))
    gains = {share: judge(X, partial, shares=(1 - share, share)) for share in (0.1, 0.5, 0.9)}
    # The ramp loss falls by 1 for a row of class 0, and rises by 0.7 for one of class 1.
    for share, verdict in gains.items():
        assert verdict.gain == pytest.approx((1 - share) * 1.0 - share * 0.7)
        assert verdict.more_right == pytest.approx((1 - share) - share)
    assert gains[0.1].helps
    assert not gains[0.9].helps


def test_labels_of_weight_0_have_no_say():
    X, codes = clusters(n_labeled=40, distance=4.0)
    labeled = np.flatnonzero(codes >= 0)
    wrong = labeled[20:]
    codes[wrong] = 1 - codes[wrong]
    rows, shares = LinearRows(X, 1.0), np.full(2, 0.5)
    C = np.where(codes >= 0, 2.0, 0.2)
    assert not judge_unlabeled(rows, codes, shares, "squared_hinge", C, 0, ANNEALED).helps
    C[wrong] = 0.0
    assert judge_unlabeled(rows, codes, shares, "squared_hinge", C, 0, ANNEALED).helps


def test_a_verdict_is_the_same_for_the_same_seed():
    X, codes = clusters(distance=2.0)
    assert judge(X, codes, seed=3) == judge(X, codes, seed=3)


@pytest.fixture
def seen(monkeypatch):
    """Codes and number of rows of every fold."""
    module = import_module("wellsvm.engine.out_of_fold")
    folds, values = [], module._values

    def watched(rows, codes, *rest, **how):
        folds.append((rows.n_instances, codes))
        return values(rows, codes, *rest, **how)

    monkeypatch.setattr(module, "_values", watched)
    return folds


def test_every_label_is_held_out_once_and_all_others_are_known(seen):
    X, codes = clusters(n=100, n_labeled=14)
    judge(X, codes, options=replace(ANNEALED, judge_partitions=1))
    assert len(seen) == ANNEALED.judge_folds
    codes = codes[own_order(LinearRows(X, 1.0), codes)]
    hidden = np.sum([(known < 0) & (codes >= 0) for _, known in seen], axis=0)
    np.testing.assert_array_equal(hidden, codes >= 0)
    for _, known in seen:
        np.testing.assert_array_equal(known[known >= 0], codes[known >= 0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_only_label_of_a_class_is_never_held_out(seen, n_classes):
    X, codes = clusters(n=100, n_classes=n_classes, n_labeled=12)
    codes[np.flatnonzero(codes == n_classes - 1)[1:]] = -1
    judge(X, codes)
    assert seen
    assert all(np.count_nonzero(known == n_classes - 1) == 1 for _, known in seen)


@pytest.mark.parametrize("form", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)], ids=["rows", "gram"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_rows_does_not_count(n_classes, form):
    X, codes = clusters(n_classes=n_classes, n=150, n_labeled=18, distance=2.0, n_features=8)
    first = judge(X, codes, form=form)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(codes.size)
        again = judge(X[order], codes[order], form=form)
        assert again.helps == first.helps
        np.testing.assert_allclose(again[:2], first[:2], atol=1e-6)


def test_values_of_labeled_rows_come_in_the_order_of_the_rows():
    X, codes = clusters(n=100, n_labeled=15, n_features=5)
    codes = np.random.default_rng(1).permutation(codes)
    C, shares = np.where(codes >= 0, 2.0, 0.2), np.array([0.5, 0.5])
    found, again = (
        out_of_fold(LinearRows(X[order], 1.0), codes[order], shares, "squared_hinge", C[order], 0, ANNEALED)
        for order in (np.arange(100), np.arange(100)[::-1])
    )
    np.testing.assert_array_equal(found.codes, codes[codes >= 0])
    np.testing.assert_array_equal(again.codes, found.codes[::-1])
    np.testing.assert_allclose(again.without, found.without[::-1], atol=1e-6)


@pytest.mark.parametrize(("saved", "partitions"), [([0.6] * 6 + [0.5] * 6, 1), ([1.0] * 4 + [-0.2] * 8, 3)])
def test_folds_are_drawn_anew_only_where_the_verdict_is_near(saved, partitions, monkeypatch):
    codes, seeds = np.arange(12) % 2, saving(saved, 0.0, monkeypatch)
    judge(np.random.default_rng(0).standard_normal((12, 2)), codes, seed=7)
    assert seeds == [7, 8, 9][:partitions]
    assert Options.judge_partitions == 3


@pytest.mark.parametrize(
    ("form", "n_columns", "helps", "partitions"),
    [(LinearRows, 2, True, 1), (LinearRows, 1000, False, 3), (lambda X: GramRows(X @ X.T), 2, False, 3)],
    ids=["rows", "rows with room", "gram"],
)
def test_where_values_are_near_0_larger_ones_do_not_make_up_for_more_errors(
    form, n_columns, helps, partitions, monkeypatch
):
    """Values near 0 that are all right cost 0.9 each; larger ones save loss although one of six is wrong."""
    codes, seeds = np.arange(60) % 2, []
    signs = np.where(codes == 1, 1.0, -1.0)[:, None]

    def values(rows, codes, shares, loss, C, seed, options):
        seeds.append(seed)
        wrong = np.where(np.arange(60) % 6 == 0, -1.0, 1.0)[:, None]
        return OutOfFold(codes, np.ones(60, dtype=bool), 0.1 * signs, signs * wrong)

    monkeypatch.setattr(safety, "out_of_fold", values)
    verdict = judge(np.random.default_rng(0).standard_normal((60, n_columns)), codes, form=form)
    assert verdict.gain > Options.judge_errors * verdict.error > 0
    assert verdict.more_right == pytest.approx(-1 / 6)
    assert verdict.helps == helps
    assert len(seeds) == partitions


@pytest.mark.parametrize(("lost_by", "helps"), [(0.05, True), (1.0, True), (20.0, False)])
def test_under_a_kernel_a_label_that_is_lost_counts_by_how_far_it_is_off(lost_by, helps, monkeypatch):
    """Values near 0 of half of the rows become large; one of 20 gets the wrong sign, up to 20 times as far."""
    codes = np.arange(20) % 2
    signs = np.where(codes == 1, 1.0, -1.0)[:, None]
    without, found = np.where(np.arange(20) < 10, 0.02, 0.4)[:, None], np.where(np.arange(20) == 3, -lost_by, 1.0)

    def values(rows, codes, shares, loss, C, seed, options):
        return OutOfFold(codes, np.ones(20, dtype=bool), signs * without, signs * found[:, None])

    monkeypatch.setattr(safety, "out_of_fold", values)
    verdict = judge(np.random.default_rng(0).standard_normal((20, 2)), codes, form=lambda X: GramRows(X @ X.T))
    assert verdict.gain > Options.judge_kernel_errors * verdict.error
    assert verdict.more_right == pytest.approx(-0.05)
    assert verdict.helps == helps


def test_where_every_class_has_one_label_nothing_speaks_against_unlabeled_rows(seen):
    X, codes = clusters(n_labeled=2)
    assert judge(X, codes) == (0.0, 0.0, 0.0, True)
    assert not seen


def test_a_sample_bounds_the_rows(seen):
    X, codes = clusters(n=400, n_labeled=20)
    judge(X, codes, options=Options(judged_rows=50))
    assert {n for n, _ in seen} == {70}
    assert all(np.count_nonzero(known >= 0) < 20 for _, known in seen)


def test_the_ramp_loss_of_two_classes_is_that_of_their_margin():
    values, codes = np.array([[0.5], [0.5], [-7.0]]), np.array([1, 0, 1])
    np.testing.assert_allclose(safety.ramp_losses(values, codes), [0.5, 1.5, 2.0])
    np.testing.assert_allclose(safety.ramp_losses(np.hstack([-values, values]), codes), [0.5, 1.5, 2.0])


def test_of_several_classes_the_parts_of_a_row_that_go_to_others_count():
    values = np.array([[2.0, 0.0, -1.0], [0.0, 0.5, -3.0], [0.0, 0.5, 0.1], [9.0, 0.0, 0.0]])
    own = [1.0, 0.5 * (1 + 0.25), (1 - 0.25 - 0.05) / 3 + 0.05, 0.0]  # alone, of two, of three, beaten
    np.testing.assert_allclose(safety.ramp_losses(values, np.array([0, 1, 2, 1])), 2 - 2 * np.array(own))


@pytest.mark.parametrize("n_classes", [3, 7])
def test_values_that_say_nothing_cost_as_much_as_a_guess(n_classes):
    losses = safety.ramp_losses(np.full((4, n_classes), -0.3), np.array([0, 1, 2, 2]))
    np.testing.assert_allclose(losses, 2 * (1 - 1 / n_classes))


def saving(losses, more_right, monkeypatch):
    """Let held-out rows, all of which are counted, save these losses, and some more of them be right."""
    n = len(losses)

    def values(rows, codes, shares, loss, C, seed, options):
        seen.append(seed)
        return OutOfFold(codes, np.ones(n, dtype=bool), np.zeros((n, 1)), np.ones((n, 1)))

    seen = []
    monkeypatch.setattr(safety, "out_of_fold", values)
    monkeypatch.setattr(safety, "ramp_losses", lambda found, _: np.array(losses) * (1 - found[:, 0]))
    monkeypatch.setattr(safety, "_right", lambda found, _: np.full(n, more_right) * found[:, 0])
    return seen


def test_every_row_held_out_weighs_the_same(monkeypatch):
    saving([1.0, 0.0, 0.0, 0.0], 0.0, monkeypatch)
    X, codes = np.random.default_rng(0).standard_normal((4, 1)), np.arange(4) % 2
    verdict = judge(X, codes)
    assert verdict.gain == pytest.approx(0.25)
    assert verdict.error == pytest.approx(np.sqrt(0.75**2 + 3 * 0.25**2) / 4)
    assert not verdict.helps
    assert judge(X, codes, options=Options(judge_errors=1.0)).helps


@pytest.mark.parametrize(
    ("more_right", "losses", "helps"),
    [
        (0.0, [1.0] * 4 + [-0.2] * 16, True),
        (-0.1, [1.0] * 4 + [-0.2] * 16, False),
        (-0.1, [1.0] * 14 + [0.0] * 6, True),
    ],
)
def test_where_few_labels_have_room_a_small_gain_must_not_come_with_more_errors(more_right, losses, helps, monkeypatch):
    seen = saving(losses, more_right, monkeypatch)
    X, codes = np.random.default_rng(0).standard_normal((20, 1000)), np.arange(20) % 2
    assert safety.labels_have_room(LinearRows(X, 1.0), 20, 2, 0)
    assert judge(X, codes).helps == helps
    assert len(seen) == (3 if losses[-1] < 0 else 1)


@pytest.mark.parametrize(("losses", "helps"), [([1.0] * 11 + [-0.2] * 49, False), ([1.0] * 16 + [-0.3] * 44, True)])
def test_where_many_labels_have_room_a_small_gain_is_enough_if_it_stays_at_one_size(losses, helps, monkeypatch):
    """Gains of 0.3 and of 0.6 errors; losses do not depend on the size of the values here."""
    seen = saving(losses, 0.0, monkeypatch)
    X, codes = np.random.default_rng(0).standard_normal((60, 3000)), np.arange(60) % 2
    assert safety.labels_have_room(LinearRows(X, 1.0), 60, 2, 0)
    assert judge(X, codes).helps == helps
    assert len(seen) == 3
    assert not judge(X[:, :2].copy(), codes).helps


@pytest.mark.parametrize(("found", "helps"), [(0.0, False), (0.1, True)])
def test_what_unlabeled_rows_find_must_be_better_than_a_guess(found, helps, monkeypatch):
    """An SVM that is wrong more often than not is no rival to be proud of beating."""
    codes, rng = np.arange(60) % 2, np.random.default_rng(1)
    signs = np.where(codes == 1, 1.0, -1.0)[:, None]
    noise = 0.2 * rng.permutation(np.linspace(-1.0, 1.0, 60))[:, None]
    values = OutOfFold(codes, np.ones(60, dtype=bool), -0.5 * signs, signs * (found + noise))
    monkeypatch.setattr(safety, "out_of_fold", lambda *_: values)
    verdict = judge(rng.standard_normal((60, 2)), codes)
    assert verdict.gain > 10 * verdict.error
    assert verdict.helps == helps


def test_the_only_two_labels_of_a_rare_class_do_not_decide_for_all(monkeypatch):
    codes = np.repeat([0, 1, 2], [20, 20, 2])
    without = np.full((42, 3), -1.0)
    without[np.arange(42), codes] = 0.0
    found = without.copy()
    found[np.arange(40), codes[:40]] = 0.5  # a gain of a quarter each, and a loss of twice that for the last two
    found[np.arange(40, 42), 2] = -1.0
    values = OutOfFold(codes, np.ones(42, dtype=bool), without, found)
    monkeypatch.setattr(safety, "out_of_fold", lambda *_: values)
    assert judge(np.random.default_rng(0).standard_normal((42, 2)), codes, shares=np.full(3, 1 / 3)).helps


@pytest.mark.parametrize(("n_classes", "roomy"), [(2, False), (4, True)])
def test_room_is_counted_by_the_labels_of_two_classes(n_classes, roomy, monkeypatch):
    codes = np.arange(12) % n_classes
    gains = np.where(np.arange(12) < 7, 0.6, -0.6)  # a third of a standard error
    columns = max(1, n_classes * (n_classes > 2))
    values = OutOfFold(codes, np.ones(12, dtype=bool), np.zeros((12, columns)), np.ones((12, columns)))
    monkeypatch.setattr(safety, "out_of_fold", lambda *_: values)
    monkeypatch.setattr(safety, "ramp_losses", lambda found, _: gains * (1 - found[:, 0]))
    monkeypatch.setattr(safety, "dimensions_used", lambda *_: 4.0 * 6 + 1)
    X = np.random.default_rng(0).standard_normal((12, 2))
    assert judge(X, codes, shares=np.full(n_classes, 1 / n_classes)).helps == roomy


@pytest.mark.parametrize("form", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)], ids=["rows", "gram"])
@pytest.mark.parametrize(
    ("spreads", "used"), [([1.0] * 20, 20), ([1.0] * 5 + [0.01] * 200, 5), ([3.0, 1.0, 1.0], 121 / 83)]
)
def test_dimensions_count_as_far_as_rows_spread_along_them(spreads, used, form):
    X = 7.0 + np.random.default_rng(0).standard_normal((300, len(spreads))) * spreads
    assert safety.dimensions_used(form(X), np.random.default_rng(0), Options()) == pytest.approx(used, rel=0.15)


def test_rows_that_are_all_alike_use_no_dimension():
    assert safety.dimensions_used(LinearRows(np.ones((9, 3)), 1.0), np.random.default_rng(0), Options()) == 0.0


def test_where_every_label_has_room_a_small_gain_is_enough_and_a_loss_is_not():
    verdicts = {}
    for seed in range(12):
        X, codes = clusters(seed, n_labeled=8, distance=1.5)
        once = replace(ANNEALED, judge_partitions=1)
        crowded = judge(X, codes, seed=seed, options=replace(once, label_room=np.inf))
        verdicts[seed] = judge(X, codes, seed=seed, options=once), crowded
        assert verdicts[seed][0][:2] == crowded[:2]
    for roomy, crowded in verdicts.values():
        clear = roomy.more_right >= 0 or crowded.helps
        assert roomy.helps == (roomy.gain > 0 and clear)
    assert any(roomy.helps and not crowded.helps for roomy, crowded in verdicts.values())
    assert not all(roomy.helps for roomy, _ in verdicts.values())
