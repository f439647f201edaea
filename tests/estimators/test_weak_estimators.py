"""The estimators of other weak labels: what they learn, keep and store; sparse rows, kernels, many classes."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import wellsvm
from wellsvm import CandidateLabelSVC, NoisyLabelSVC, PositiveUnlabeledSVC, ProportionSVC, WeakLabelSVC
from wellsvm.baselines import AlternatingProportionSVC, AveragedCandidatesSVC, ElkanNotoSVC, MeanMap
from wellsvm.engine.disambiguation import labels_by_parts
from wellsvm.engine.noise import Flips, _first_good
from wellsvm.engine.positive_shares import positive_share
from wellsvm.labels import ClusterLabels, JoinedLabels, NoisyLabels, ProportionLabels
from wellsvm.options import Options

N = 120
RNG = np.random.default_rng(0)
TRUTH = np.arange(N) % 2
X = RNG.standard_normal((N, 3)) + 3.0 * TRUTH[:, None]
TRUTH3 = np.arange(N) % 3
X3 = RNG.standard_normal((N, 2)) + 6.0 * np.array([[0, 0], [1, 0], [0, 1]])[TRUTH3]
GROUPS = RNG.permutation(N) // 6
POSITIVES = np.where((np.arange(N) < 40) & (TRUTH == 1), 1, 0)
FLIPPED = np.arange(N) < 14
NOISY = np.where(FLIPPED, 1 - TRUTH, TRUTH)
NOISY3 = np.where(FLIPPED, (TRUTH3 + 1) % 3, TRUTH3)
SETS = [{int(t), int(o)} for t, o in zip(TRUTH3, RNG.integers(0, 3, N))]


def shares_of(truth, n_classes=None):
    if n_classes is None:
        return {g: float(truth[g == GROUPS].mean()) for g in range(20)}
    return np.stack([np.bincount(truth[g == GROUPS], minlength=n_classes) / 6 for g in range(20)])


BY_GROUP = ProportionLabels(GROUPS, np.bincount(GROUPS, weights=TRUTH))
SECTIONS = {
    "positives": "Class shares",
    "proportions": "Proportions",
    "three proportions": "Proportions",
    "noise": "Wrong labels",
    "noise in three": "Wrong labels",
    "candidates": "Candidates",
    "any set": "Label set",
}
FITS = {
    "positives": (PositiveUnlabeledSVC, lambda m, X: m.fit(X, POSITIVES), X, TRUTH),
    "proportions": (ProportionSVC, lambda m, X: m.fit(X, groups=GROUPS, proportions=shares_of(TRUTH)), X, TRUTH),
    "three proportions": (
        ProportionSVC, lambda m, X: m.fit(X, groups=GROUPS, proportions=shares_of(TRUTH3, 3)), X3, TRUTH3
    ),
    "noise": (partial(NoisyLabelSVC, noise=0.15), lambda m, X: m.fit(X, NOISY), X, TRUTH),
    "noise in three": (
        partial(NoisyLabelSVC, noise=0.15), lambda m, X: m.fit(X, NOISY3), X3, TRUTH3,
    ),
    "candidates": (CandidateLabelSVC, lambda m, X: m.fit(X, SETS), X3, TRUTH3),
    "any set": (partial(WeakLabelSVC, classes=[0, 1]), lambda m, X: m.fit(X, BY_GROUP), X - X.mean(axis=0), TRUTH),
}  # fmt: skip


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", FITS)
def test_weak_labels_are_enough(name, kernel):
    make, fit, rows, truth = FITS[name]
    model = fit(make(kernel=kernel, random_state=0), rows)
    assert model.score(rows, truth) > 0.9
    assert np.mean(model.transduction_ == truth) > 0.9
    assert model.n_iter_ >= 1
    assert model.n_features_in_ == rows.shape[1]
    assert np.all(np.atleast_1d(model.gap_) >= -1e-9)


@pytest.mark.parametrize("name", FITS)
def test_sparse_rows_pickles_clones_and_seeds_change_nothing(name, tmp_path):
    make, fit, rows, _ = FITS[name]
    model = fit(make(loss="hinge", random_state=0), rows)
    wanted = model.decision_function(rows)
    again = fit(clone(model), rows).decision_function(rows)
    np.testing.assert_array_equal(again, wanted)
    thin = fit(make(loss="hinge", random_state=0), sp.csr_matrix(rows))
    np.testing.assert_allclose(thin.decision_function(rows), wanted, atol=0.2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(rows), wanted)
    pytest.importorskip("skops")
    wellsvm.save(model, tmp_path / "model")
    np.testing.assert_array_equal(wellsvm.load(tmp_path / "model").decision_function(rows), wanted)
    wellsvm.report(model, tmp_path / "page.html", X=rows)
    page = (tmp_path / "page.html").read_text()
    assert type(model).__name__ in page
    assert f"<h2>{SECTIONS[name]}</h2>" in page


@pytest.mark.parametrize("name", FITS)
def test_a_failed_fit_leaves_the_model_as_it_was(name):
    make, fit, rows, _ = FITS[name]
    model = fit(make(random_state=0), rows)
    before = model.decision_function(rows)
    with pytest.raises(ValueError):
        fit(model, np.full_like(rows, np.nan))
    np.testing.assert_array_equal(model.decision_function(rows), before)
    with pytest.raises(NotFittedError):
        make().predict(rows)


# ------------------------------------------------------------------ candidates


def regions(seed, n_groups=60):
    """Three classes of unequal size; a group of two or three rows tells which classes occur in it."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(2, 4, n_groups))
    truth = rng.choice(4, groups.size, p=[0.55, 0.25, 0.1, 0.1])
    rows = rng.standard_normal((groups.size, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth]
    occurs = np.zeros((n_groups, 4), dtype=bool)
    occurs[groups, truth] = True
    return rows, truth, occurs[groups]


@pytest.mark.parametrize("seed", range(3))
def test_candidates_that_occur_beside_each_other_are_counted_in_equal_parts(seed):
    _, truth, sets = regions(seed)
    values = np.random.default_rng(seed).standard_normal(sets.shape)
    labels, parts = labels_by_parts(values, sets), (sets / sets.sum(axis=1, keepdims=True)).sum(axis=0)
    assert sets[np.arange(truth.size), labels].all()
    assert np.all(np.abs(np.bincount(labels, minlength=4) - parts) <= 1 + 1e-9)


def test_rows_held_out_tell_how_candidate_classes_are_counted():
    rng, truth = np.random.default_rng(3), RNG.choice(3, 600, p=[0.7, 0.2, 0.1])
    rows = rng.standard_normal((600, 2)) + 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    noise = np.zeros((600, 3), dtype=bool)
    noise[np.arange(600), truth] = noise[np.arange(600), rng.integers(0, 3, 600)] = True
    model = CandidateLabelSVC(random_state=0).fit(rows, noise)
    assert not model.balance_by_parts_  # equal parts would draw the classes to equal size
    np.testing.assert_allclose(model.balance_, np.bincount(truth) / 600, atol=0.05)
    assert noise[np.arange(600), model.transduction_].all()
    np.testing.assert_array_equal(np.bincount(model.transduction_), np.round(600 * model.balance_))


# ------------------------------------------------------------------ positive and unlabeled rows


@pytest.mark.parametrize(
    "y, parameters, classes",
    [
        (POSITIVES, {}, [0, 1]),
        (np.where(POSITIVES, 1, -1), {}, [-1, 1]),
        (POSITIVES.astype(bool), {}, [False, True]),
        (np.where(POSITIVES, 1.0, np.nan), {}, [0, 1]),
        (np.where(POSITIVES, "spam", None), {}, ["not spam", "spam"]),
        (np.where(POSITIVES, "spam", "?"), {"unlabeled": "?"}, ["?", "spam"]),
        (np.where(POSITIVES, "spam", "mail"), {"positive_class": "spam"}, ["mail", "spam"]),
        (np.where(POSITIVES, 7, np.nan), {"negative_class": 3}, [3, 7]),
        (np.where(POSITIVES, 0, -1), {"unlabeled": -1}, [-1, 0]),
    ],
)
def test_positives_are_read_in_all_usual_forms(y, parameters, classes):
    model = PositiveUnlabeledSVC(balance=0.4, random_state=0, **parameters).fit(X, y)
    assert model.classes_.tolist() == classes
    assert np.mean((model.predict(X) == classes[1]) == TRUTH) > 0.9


def test_the_share_of_positives_is_kept_estimated_or_free():
    free = POSITIVES == 0
    given = PositiveUnlabeledSVC(balance=0.3, random_state=0).fit(X, POSITIVES)
    assert np.sum(given.transduction_[free]) == np.floor(0.3 * free.sum())
    assert given.balance_se_.tolist() == [0, 0]
    estimated = PositiveUnlabeledSVC(random_state=0).fit(X, POSITIVES)
    assert abs(estimated.balance_[1] - TRUTH[free].mean()) < 0.1
    assert estimated.balance_se_[1] > 0
    between = PositiveUnlabeledSVC(balance=(0.3, 0.6), random_state=0).fit(X, POSITIVES)
    assert 0.29 <= between.transduction_[free].mean() <= 0.6
    assert np.all(given.transduction_[~free] == 1)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_the_estimate_follows_the_share_where_scores_tell_it(share):
    rng = np.random.default_rng(1)
    n = 2000
    u = np.where(rng.random(n) < share, rng.standard_normal(n) + 4, rng.standard_normal(n))
    found, error = positive_share(rng.standard_normal(50) + 4, u, Options())
    assert abs(found - share) < 0.12
    assert 0 < error < 0.25


# ------------------------------------------------------------------ proportions


def test_proportions_are_read_in_all_usual_forms():
    pd = pytest.importorskip("pandas")
    of_classes = shares_of(TRUTH, 2)
    names = np.array([f"g{g:02d}" for g in range(20)])
    forms = [
        shares_of(TRUTH),
        of_classes,
        of_classes[:, 1],
        {g: of_classes[g].tolist() for g in range(20)},
        {g: {0: of_classes[g, 0], 1: of_classes[g, 1]} for g in range(20)},
        pd.Series(of_classes[:, 1]),
        pd.DataFrame(of_classes),
    ]
    wanted = None
    for form in forms:
        model = ProportionSVC(random_state=0).fit(X, groups=GROUPS, proportions=form)
        wanted = model.transduction_ if wanted is None else wanted
        np.testing.assert_array_equal(model.transduction_, wanted)
    frame = pd.DataFrame(of_classes, index=names, columns=["ham", "spam"])
    model = ProportionSVC(random_state=0).fit(X, groups=names[GROUPS], proportions=frame)
    assert model.classes_.tolist() == ["ham", "spam"]
    np.testing.assert_array_equal(model.transduction_ == "spam", wanted == 1)


def test_classes_are_sorted_whatever_the_order_of_shares():
    """Metrics such as log_loss take columns of probabilities in the sorted order of the classes."""
    pd = pytest.importorskip("pandas")
    shares = pd.DataFrame(shares_of(TRUTH3, 3), columns=["a", "b", "c"])
    wanted = ProportionSVC(random_state=0).fit(X3, groups=GROUPS, proportions=shares)
    y = np.where(np.arange(N) % 7 == 0, np.array(["a", "b", "c"], dtype=object)[TRUTH3], None)
    known = ProportionSVC(random_state=0).fit(X3, y, groups=GROUPS, proportions=shares)
    turned = shares[["c", "a", "b"]]
    named = ProportionSVC(classes=["c", "a", "b"], random_state=0)
    for model, same in (
        (ProportionSVC(random_state=0).fit(X3, groups=GROUPS, proportions=turned), wanted),
        (named.fit(X3, groups=GROUPS, proportions=turned.to_numpy()), wanted),
        (ProportionSVC(random_state=0).fit(X3, y, groups=GROUPS, proportions=turned), known),
    ):
        assert model.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(model.proportions_, shares)
        np.testing.assert_array_equal(model.decision_function(X3), same.decision_function(X3))
        np.testing.assert_array_equal(model.transduction_, same.transduction_)


def test_one_share_is_that_of_the_second_class_given():
    first = ProportionSVC(classes=["yes", "no"], random_state=0).fit(X, groups=GROUPS, proportions=shares_of(TRUTH))
    assert first.classes_.tolist() == ["no", "yes"]
    assert first.score(X, np.where(TRUTH == 1, "no", "yes")) > 0.9
    np.testing.assert_allclose(first.proportions_[:, 0], list(shares_of(TRUTH).values()))


@pytest.mark.parametrize("safe", [True, False])
def test_every_group_has_its_proportions(safe):
    model = ProportionSVC(safe=safe, random_state=0).fit(X, groups=GROUPS, proportions=shares_of(TRUTH))
    found = np.bincount(GROUPS, weights=model.transduction_)
    np.testing.assert_array_equal(found, np.bincount(GROUPS, weights=TRUTH))
    assert model.searched_ in (True, False)
    assert model.proportions_.shape == (20, 2)


def test_intervals_slack_and_known_labels():
    wide = {g: (max(0.0, s - 0.2), min(1.0, s + 0.2)) for g, s in shares_of(TRUTH).items()}
    for model in (
        ProportionSVC(random_state=0).fit(X, groups=GROUPS, proportions=wide),
        ProportionSVC(slack=0.2, random_state=0).fit(X, groups=GROUPS, proportions=shares_of(TRUTH)),
    ):
        found = np.bincount(GROUPS, weights=model.transduction_) / 6
        assert np.all(np.abs(found - np.bincount(GROUPS, weights=TRUTH) / 6) <= 0.2 + 1e-9)
    y = np.where(np.arange(N) < 12, TRUTH, np.nan)
    model = ProportionSVC(random_state=0).fit(X, y, groups=GROUPS, proportions=shares_of(TRUTH))
    np.testing.assert_array_equal(model.transduction_[:12], TRUTH[:12])


def test_proportions_in_a_pipeline():
    pipe = make_pipeline(StandardScaler(), ProportionSVC(random_state=0))
    pipe.fit(X, proportionsvc__groups=GROUPS, proportionsvc__proportions=shares_of(TRUTH))
    assert pipe.score(X, TRUTH) > 0.9


# ------------------------------------------------------------------ noise


def test_suspects_are_the_wrong_labels():
    model = NoisyLabelSVC(noise=0.15, random_state=0).fit(X, NOISY)
    assert FLIPPED[model.suspects_[:14]].mean() > 0.8
    assert np.all(np.diff(model.suspicion_[model.suspects_]) <= 0)
    assert np.sum(model.transduction_ != NOISY) <= 0.15 * N


def test_noise_is_given_per_class_and_trusted_rows_are_kept():
    model = NoisyLabelSVC(noise={1: 0.2}, random_state=0).fit(X, NOISY)
    assert model.noise_.tolist() == [0, 0.2]
    assert np.all(model.transduction_[NOISY == 0] == 0)
    kept = NoisyLabelSVC(noise=0.2, random_state=0).fit(X, NOISY, trusted=np.ones(N, dtype=bool))
    np.testing.assert_array_equal(kept.transduction_, NOISY)


def test_no_noise_is_the_plain_svm():
    from wellsvm import SemiSupervisedSVC

    with pytest.warns(UserWarning, match="no row of y is unlabeled"):
        plain = SemiSupervisedSVC(random_state=0, tol=1e-6, intercept_scaling=1.0).fit(X, TRUTH)
    model = NoisyLabelSVC(noise=0.0, random_state=0, tol=1e-6).fit(X, TRUTH)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-3)


def test_a_share_is_taken_only_where_it_is_clearly_better():
    shares, errors = (0.0, 0.1, 0.2), np.zeros((3, 100))
    errors[0, :50] = errors[1, :20] = errors[2, :19] = 1
    assert _first_good(shares, errors, 2.0) == 0.1
    errors[0] = errors[1]
    assert _first_good(shares, errors, 2.0) == 0.0


def test_a_lower_price_is_taken_where_wrong_labels_are_fitted_and_the_usual_one_elsewhere():
    rng = np.random.default_rng(2)
    truth = np.arange(400) % 2
    rows = rng.standard_normal((400, 200)) + 0.2 * truth[:, None]
    noisy = np.where(rng.random(400) < 0.25, 1 - truth, truth)
    low = NoisyLabelSVC(random_state=0, noise=0.0).fit(rows, noisy)
    assert low.C_ < 2.0
    usual = NoisyLabelSVC(random_state=0, noise=0.0, C=2.0).fit(rows, noisy)
    assert usual.C_ == 2.0
    assert low.score(rows, truth) > usual.score(rows, truth)
    assert NoisyLabelSVC(random_state=0).fit(X, TRUTH).C_ == 2.0


def test_without_flips_it_is_the_svm_on_the_labels_as_they_are():
    rng = np.random.default_rng(6)
    y = np.where(rng.random(N) < 0.3, 1 - TRUTH, TRUTH)
    ours = NoisyLabelSVC(noise=0.0, C=1.0, random_state=0).fit(X, y).decision_function(X)
    wanted = LinearSVC(C=1.0, dual=False, tol=1e-10).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours, wanted, atol=0.01 * np.abs(wanted).max())


def test_budgets_count_the_rows_of_a_label():
    flips = Flips(np.array([0, 0, 0, 0, 1, 1]), 2, np.ones(6, dtype=bool))
    assert flips.budget(0, np.array([0.5, 0.5])) == (2, 1)
    of_three = Flips(np.repeat([0, 1, 2], 10), 3, np.ones(30, dtype=bool))
    assert of_three.budget(1, np.full(3, 0.2)) == (2, 2)


# ------------------------------------------------------------------ candidates


def test_candidates_are_read_in_all_usual_forms():
    matrix = np.array([[k in cell for k in range(3)] for cell in SETS])
    wanted = CandidateLabelSVC(random_state=0).fit(X3, SETS).transduction_
    for form in (matrix, matrix.astype(int), sp.csr_matrix(matrix), [list(cell) for cell in SETS]):
        np.testing.assert_array_equal(CandidateLabelSVC(random_state=0).fit(X3, form).transduction_, wanted)
    names = np.array(["a", "b", "c"])
    model = CandidateLabelSVC(random_state=0).fit(X3, [set(names[list(cell)].tolist()) for cell in SETS])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert all(t in cell for t, cell in zip(wanted.tolist(), SETS))


def test_classes_are_sorted_whatever_the_order_of_candidates():
    pd = pytest.importorskip("pandas")
    matrix = np.array([[k in cell for k in range(3)] for cell in SETS])
    frame = pd.DataFrame(matrix, columns=["a", "b", "c"])
    wanted = CandidateLabelSVC(random_state=0).fit(X3, frame)
    turned, order = frame[["c", "a", "b"]], ["c", "a", "b"]
    sets = [{"abc"[k] for k in cell} for cell in SETS]
    for model in (
        CandidateLabelSVC(random_state=0).fit(X3, turned),
        CandidateLabelSVC(classes=order, random_state=0).fit(X3, turned.to_numpy()),
        CandidateLabelSVC(classes=order, random_state=0).fit(X3, sets),
    ):
        assert model.classes_.tolist() == ["a", "b", "c"]
        np.testing.assert_array_equal(model.decision_function(X3), wanted.decision_function(X3))
        np.testing.assert_array_equal(model.transduction_, wanted.transduction_)
        np.testing.assert_array_equal(model.balance_, wanted.balance_)


def test_two_classes_and_an_empty_set():
    sets = [{int(t)} if i % 3 else set() for i, t in enumerate(TRUTH)]
    model = CandidateLabelSVC(random_state=0).fit(X, sets)
    assert model.score(X, TRUTH) > 0.9
    assert model.decision_function(X).shape == (N,)


# ------------------------------------------------------------------ any label set


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_any_label_set_is_learnt_from(kernel):
    labels = ProportionLabels(GROUPS, np.bincount(GROUPS, weights=TRUTH))
    centred = X - X.mean(axis=0)
    model = WeakLabelSVC(kernel=kernel, random_state=0).fit(centred, labels)
    assert model.score(centred, 2 * TRUTH - 1) > 0.9
    assert labels.contains(model.transduction_)
    named = WeakLabelSVC(classes=["no", "yes"], init=2 * TRUTH - 1, random_state=0).fit(centred, labels)
    assert set(named.predict(centred)) == {"no", "yes"}


def test_sets_side_by_side_and_clusters():
    known = np.arange(N) < 20
    joined = JoinedLabels(
        [(known, NoisyLabels(2 * TRUTH[known] - 1, (0, 0))), (~known, ClusterLabels(N - 20, 0, symmetric=False))]
    )
    model = WeakLabelSVC(init=np.where(known, 2 * TRUTH - 1, 0), random_state=0).fit(X - X.mean(axis=0), joined)
    assert model.score(X - X.mean(axis=0), 2 * TRUTH - 1) > 0.9


# ------------------------------------------------------------------ rivals


@pytest.mark.parametrize(
    "model, fit, rows, truth",
    [
        (ElkanNotoSVC(random_state=0), lambda m, X: m.fit(X, POSITIVES), X, TRUTH),
        (MeanMap(), FITS["proportions"][1], X, TRUTH),
        (AlternatingProportionSVC(random_state=0), FITS["proportions"][1], X, TRUTH),
        (AveragedCandidatesSVC(), FITS["candidates"][1], X3, TRUTH3),
    ],
)
def test_rivals_learn(model, fit, rows, truth):
    assert fit(model, rows).score(rows, truth) > 0.8
    assert fit(clone(model), sp.csr_matrix(rows)).score(rows, truth) > 0.8
