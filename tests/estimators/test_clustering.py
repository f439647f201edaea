"""MaxMarginClustering: invariances, prediction, starts, bad input, scikit-learn's checks."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from wellsvm import MaxMarginClustering
from wellsvm.engine import recipe
from wellsvm.estimators import clustering
from wellsvm.estimators.base import options_of
from wellsvm.labels import ClusterLabels
from wellsvm.metrics import clustering_accuracy

BLOBS, TRUTH = make_blobs(120, centers=[[0, 0], [6, 4]], random_state=0)
FOUR, TRUTH_OF_FOUR = make_blobs([50, 40, 35, 30], centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)


def cluster(X=BLOBS, **params):
    return MaxMarginClustering(**{"random_state": 0, **params}).fit(X)


def partition(labels):
    """A labeling without its names."""
    return {frozenset(np.flatnonzero(labels == k)) for k in np.unique(labels)}


# ------------------------------------------------------------------ invariances


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_two_clouds_are_found(kernel):
    assert clustering_accuracy(TRUTH, cluster(kernel=kernel).labels_) == 1.0


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_negative_of_X_has_the_same_partition(kernel, n_clusters):
    rng = np.random.default_rng(3)
    for X in (BLOBS, rng.standard_normal((60, 4))):
        one, other = (cluster(Z, kernel=kernel, n_clusters=n_clusters) for Z in (X, -X))
        assert partition(one.labels_) == partition(other.labels_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_permuted_rows_have_the_same_partition(kernel):
    order = np.random.default_rng(0).permutation(len(BLOBS))
    labels = np.empty(len(BLOBS), dtype=int)
    labels[order] = cluster(BLOBS[order], kernel=kernel).labels_
    assert partition(labels) == partition(cluster(kernel=kernel).labels_)


def test_shifted_dense_rows_have_the_same_partition():
    assert partition(cluster(BLOBS + 1000.0).labels_) == partition(cluster().labels_)


def test_the_same_seed_gives_the_same_bits_whatever_n_jobs_is():
    X = np.random.default_rng(0).standard_normal((150, 5))
    one, again, threads = (cluster(X, n_clusters=4, n_jobs=n_jobs) for n_jobs in (None, None, 2))
    for other in (again, threads):
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_sparse_rows_give_what_dense_rows_give():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 6)) * (rng.random((80, 6)) < 0.4)
    X -= X.mean(axis=0)  # dense rows are centered, sparse ones are used as they are
    one, other = (cluster(Z, balance=0.3) for Z in (X, sp.csr_matrix(X)))  # else dense rows are compared with k-means
    assert partition(one.labels_) == partition(other.labels_)
    dense, csr = (cluster(Z, init="climbed") for Z in (X, sp.csr_matrix(X)))  # the same start
    np.testing.assert_allclose(dense.coef_, csr.coef_, atol=1e-9)
    rbf, rbf_csr = (cluster(Z, kernel="rbf", balance=0.3) for Z in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(rbf.labels_, rbf_csr.labels_)


def test_a_precomputed_kernel_gives_what_the_kernel_gives():

    one = cluster(kernel="rbf", gamma=0.1)
    other = cluster(rbf_kernel(BLOBS, gamma=0.1), kernel="precomputed")
    np.testing.assert_array_equal(one.labels_, other.labels_)
    new = BLOBS[:7] + 0.1
    np.testing.assert_array_equal(one.predict(new), other.predict(rbf_kernel(new, BLOBS, gamma=0.1)))


def test_many_sparse_rows_start_from_some_of_them(monkeypatch):
    monkeypatch.setattr(clustering, "options_of", partial(options_of, alignment_sample=50))
    assert clustering_accuracy(TRUTH, cluster(sp.csr_matrix(BLOBS - BLOBS.mean(axis=0))).labels_) == 1.0
    assert clustering_accuracy(TRUTH, cluster().labels_) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_papers_start_is_the_best_aligned_of_random_assignments(kernel, monkeypatch):
    opened, first = [], recipe.cutting_plane
    monkeypatch.setattr(recipe, "cutting_plane", lambda state, labels, *rest, **how: (
        opened.append((state, labels)) or first(state, labels, *rest, **how)
    ))  # fmt: skip
    cluster(kernel=kernel, init="alignment", n_init=7, random_state=3)
    ((state, (y,)),) = opened
    # The same draws by hand, their alignment by the dense formula y'Ky.
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    rng = np.random.default_rng([seed, 0])
    drawn = [state.label_set.initial(rng) for _ in range(7)]
    K = state.rows.scores(state.rows.combine(np.eye(len(BLOBS))))
    best = max(drawn, key=lambda z: z @ K @ z)
    np.testing.assert_array_equal(y, best)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_both_starts_find_two_clouds_and_more_draws_do_not_align_worse(kernel):
    for n_init in (5, 20):
        model = cluster(kernel=kernel, init="alignment", n_init=n_init, oracle="climb", max_iter=100)
        assert clustering_accuracy(TRUTH, model.labels_) == 1.0
    with pytest.raises(ValueError, match="init must be one of 'best', 'climbed', 'alignment'"):
        cluster(init="random")


# ------------------------------------------------------------------ balance, labels and prediction


@pytest.mark.parametrize("balance", [0.0, 0.1, 0.3])
def test_every_generated_labelling_is_feasible(balance):
    model = cluster(balance=balance, oracle="climb", kernel="rbf")
    bound = ClusterLabels.of_share(len(BLOBS), balance)
    assert all(bound.contains(y) for y in model.labelings_)


@pytest.mark.parametrize("balance", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_labels_keep_the_balance_and_predict_repeats_them(kernel, balance):
    X, _ = make_blobs([90, 25], centers=[[0, 0], [7, 7]], random_state=1)
    model = cluster(X, kernel=kernel, balance=balance)
    sizes = np.bincount(model.labels_)
    assert sizes[0] >= sizes[1]
    assert sizes[0] - sizes[1] <= max(1, balance * len(X))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.labels_ == 1)


def test_the_threshold_is_zero_where_the_sign_of_f_keeps_the_balance():
    assert cluster().threshold_ == 0.0
    X, _ = make_blobs([90, 25], centers=[[0, 0], [7, 7]], random_state=1)
    free, forced = cluster(X, balance=1.0), cluster(X, balance=0.0)
    assert free.threshold_ == 0.0
    assert forced.threshold_ != 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_clusters", [3, 4])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_more_clusters_are_found_ordered_by_size_and_predicted(kernel, n_clusters, dtype):
    used = n_clusters > TRUTH_OF_FOUR
    X, truth = FOUR[used].astype(dtype), TRUTH_OF_FOUR[used]
    model = cluster(X, n_clusters=n_clusters, kernel=kernel, balance=0.5)
    sizes = np.bincount(model.labels_)
    assert sizes.size == n_clusters
    assert np.all(np.diff(sizes) <= 0)
    assert clustering_accuracy(truth, model.labels_) >= 0.98
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    margins = model.decision_function(X)
    assert margins.shape == (len(X), n_clusters)
    np.testing.assert_array_equal(margins.argmax(axis=1), model.labels_)
    centres = np.stack([X[model.labels_ == k].mean(axis=0) for k in range(n_clusters)])
    np.testing.assert_array_equal(model.predict(centres), np.arange(n_clusters))


def test_as_many_clusters_as_rows_leave_each_row_alone():
    X = np.random.default_rng(0).standard_normal((6, 2))
    model = cluster(X, n_clusters=6, balance=1.0)
    assert sorted(model.labels_) == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_one_cluster_holds_every_row():
    for kernel in ("linear", "rbf"):
        model = cluster(n_clusters=1, kernel=kernel)
        assert not model.labels_.any()
        assert not model.predict(BLOBS[:5]).any()
        assert model.decision_function(BLOBS[:5]).shape == (5, 1)


def test_a_cluster_at_a_time_is_divided():
    # Two clusters of the coarser result stay or are divided; none is mixed anew.
    coarse, fine = (cluster(FOUR, n_clusters=k, many="divided") for k in (3, 4))
    assert len({(a, b) for a, b in zip(coarse.labels_, fine.labels_)}) == 4
    assert fine.children_.shape == (3, 2)
    np.testing.assert_array_equal((fine.decision_function(FOUR) > 0).sum(axis=1), 1)
    np.testing.assert_array_equal(fine.predict(FOUR), fine.labels_)


def test_engine_attributes_tell_what_happened():
    two, three = cluster(kernel="rbf"), cluster(FOUR, n_clusters=3, refine=True, many="divided")
    assert two.labelings_.shape == (two.labeling_weights_.size, len(BLOBS))
    assert two.labeling_weights_.sum() == pytest.approx(1.0)
    assert 0 <= two.gap_ <= 1.001 * two.tol * two.objective_
    assert two.n_iter_ == len(two.history_)
    assert isinstance(two.status_, str)
    assert two.refined_objective_ is None
    assert len(three.status_) == len(three.history_) == len(three.labelings_) == 2
    assert three.objective_.shape == three.gap_.shape == three.refined_objective_.shape == (2,)
    outside = three.labelings_[1][:, three.labelings_[1][0] == 0]
    assert outside.size > 0
    assert not outside.any()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_clusters_found_together_tell_what_happened(kernel):
    model = cluster(FOUR, n_clusters=4, kernel=kernel)
    assert model.children_ is None
    assert model.status_ == ["hardly a row changes its cluster"] * 4
    assert model.objective_.shape == model.gap_.shape == model.threshold_.shape == (4,)
    assert np.all((model.gap_ >= 0) & (model.gap_ <= 1.001 * model.tol * model.objective_))
    for k, labelings in enumerate(model.labelings_):
        np.testing.assert_array_equal(labelings, [np.where(model.labels_ == k, 1, -1)])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_three_clusters_in_a_row_are_found_in_any_unit(kernel, scale):
    X, truth = make_blobs(240, centers=[[0, 0], [8, 0], [16, 0]], random_state=0)
    model = cluster(scale * X, n_clusters=3, kernel=kernel)
    assert clustering_accuracy(truth, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(scale * X), model.labels_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sizes_of_several_clusters_are_free_or_as_asked_for(kernel):
    X, _ = make_blobs([150, 60, 30], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    free = cluster(X, n_clusters=3, kernel=kernel)
    assert np.bincount(free.labels_).tolist() == [150, 60, 30]
    for balance in (0.0, 0.2):
        bound = cluster(X, n_clusters=3, kernel=kernel, balance=balance)
        sizes = np.bincount(bound.labels_)
        assert np.all((sizes >= (1 - balance) * 80) & (sizes <= (1 + balance) * 80))
        np.testing.assert_array_equal(bound.predict(X), bound.labels_)
        assert bound.threshold_.any()


def test_seeds_agree_where_clusters_are_clear():
    X, _ = make_blobs(200, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=0)
    found = [cluster(X, n_clusters=4, random_state=seed).labels_ for seed in range(10)]
    assert all(partition(labels) == partition(found[0]) for labels in found)


def test_the_better_start_of_two_clusters_has_the_lower_objective():
    X, _ = make_blobs([140, 60], centers=[[0, 0, 0], [5, 5, 5]], random_state=0)
    X = sp.csr_matrix(np.maximum(X, 0))
    aligned, best = (cluster(X, init=init, balance=0.5) for init in ("climbed", "best"))
    assert best.objective_ <= aligned.objective_ * (1 + 2 * aligned.tol)


def test_refinement_ends_with_a_labelling_that_keeps_the_balance():
    X = np.random.default_rng(5).standard_normal((101, 4))
    model = cluster(X, refine=True, balance=0.1)
    assert np.ptp(np.bincount(model.labels_)) <= 10
    assert model.refined_objective_ > 0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_linear_pickle_holds_no_training_rows():
    X = np.random.default_rng(0).standard_normal((3000, 10))
    model = cluster(X)
    stored = pickle.dumps(model)
    assert len(stored) < 4 * len(X) + 10_000
    np.testing.assert_array_equal(pickle.loads(stored).predict(X), model.labels_)


# ------------------------------------------------------------------ bad input


def changed(value):
    X = BLOBS.copy()
    X[5, 1] = value
    return X


REFUSED = {
    "fewer rows than clusters": (BLOBS[:3], {"n_clusters": 4}, "n_samples=3 is smaller than n_clusters=4"),
    "one row": (BLOBS[:1], {}, "n_samples=1 is smaller"),
    "no rows": (BLOBS[:0], {}, r"0 sample\(s\)"),
    "no columns": (BLOBS[:, :0], {}, r"0 feature\(s\)"),
    "1-D": (BLOBS[:, 0], {}, "Expected 2D array"),
    "NaN": (changed(np.nan), {}, "contains NaN, first in row 5"),
    "inf": (changed(np.inf), {}, "contains infinity .*row 5"),
    "NaN in CSR": (sp.csr_matrix(changed(np.nan)), {}, "contains NaN, first in row 5"),
    "NaN, rbf": (changed(np.nan), {"kernel": "rbf"}, "contains NaN, first in row 5"),
    "row norm overflows": (changed(1e200), {}, "overflows"),
    "complex": (BLOBS + 1j, {}, "Complex data not supported"),
    "words": (np.full((5, 2), "a"), {}, "could not convert"),
    "no cluster": (BLOBS, {"n_clusters": 0}, "n_clusters must be a whole number of at least 1"),
    "clusters 2.5": (BLOBS, {"n_clusters": 2.5}, "n_clusters must be a whole number"),
    "balance negative": (BLOBS, {"balance": -0.1}, "balance must be .* got balance=-0.1"),
    "balance above one": (BLOBS, {"balance": 1.5}, "balance must be .* got balance=1.5"),
    "balance NaN": (BLOBS, {"balance": np.nan}, "balance must be"),
    "balance word": (BLOBS, {"balance": "equal"}, "balance must be"),
    "n_init 0": (BLOBS, {"n_init": 0}, "n_init must be a whole number of at least 1"),
    "balance of several": (FOUR, {"n_clusters": 3, "balance": 1.2}, "balance must be .* got balance=1.2"),
    "many": (BLOBS, {"many": "all"}, "many must be one of 'together', 'divided'"),
    "C word": (BLOBS, {"C": "auto"}, "C must be a finite number"),
    "center": (BLOBS, {"center": 1}, "center must be True or False"),
    "C 0": (BLOBS, {"C": 0.0}, "C must be a finite number greater than 0"),
    "C inf": (BLOBS, {"C": np.inf}, "C must be a finite number"),
    "kernel": (BLOBS, {"kernel": "cosine"}, "kernel must be one of"),
    "gamma": (BLOBS, {"kernel": "rbf", "gamma": -1.0}, "gamma must be"),
    "loss": (BLOBS, {"loss": "logistic"}, "loss must be one of"),
    "oracle": (BLOBS, {"oracle": "exact"}, "oracle must be one of"),
    "tol": (BLOBS, {"tol": 0}, "tol must be"),
    "max_iter": (BLOBS, {"max_iter": 0}, "max_iter must be"),
    "init": (BLOBS, {"init": "k-means"}, "init must be one of 'best', 'climbed', 'alignment'"),
    "init None": (BLOBS, {"init": None}, "init must be one of"),
    "init labels": (BLOBS, {"init": [0, 1]}, "init must be one of"),
    "cut": (BLOBS, {"cut": "valley"}, "cut must be one of 'auto', 'balance', 'zero'"),
    "cut None": (BLOBS, {"cut": None}, "cut must be one of"),
    "cut number": (BLOBS, {"cut": 0.0}, "cut must be one of"),
    "cut flag": (BLOBS, {"cut": True}, "cut must be one of"),
    "many None": (BLOBS, {"many": None}, "many must be one of"),
    "many of three": (FOUR, {"n_clusters": 3, "many": "tree"}, "many must be one of"),
    "orient": (BLOBS, {"orient": "yes"}, "orient must be True or False"),
    "center None": (BLOBS, {"center": None}, "center must be True or False"),
    "intercept": (BLOBS, {"fit_intercept": 1}, "fit_intercept must be True or False"),
    "clusters word": (BLOBS, {"n_clusters": "auto"}, "n_clusters must be a whole number"),
    "clusters flag": (BLOBS, {"n_clusters": True}, "n_clusters must be a whole number"),
    "clusters beyond the rows": (BLOBS[:3], {"n_clusters": 4}, "n_samples=3 is smaller than n_clusters=4"),
    "n_init half": (BLOBS, {"n_init": 1.5}, "n_init must be a whole number"),
    "balance flag": (BLOBS, {"balance": True}, "balance must be"),
    "balance None": (BLOBS, {"balance": None}, "balance must be"),
    "balance pair": (BLOBS, {"balance": (0.2, 0.4)}, "balance must be"),
    "balance inf": (FOUR, {"n_clusters": 3, "balance": np.inf}, "balance must be"),
    "min_violation": (BLOBS, {"min_violation": -1.0}, "min_violation must be"),
    "min_decrease": (BLOBS, {"min_decrease": np.nan}, "min_decrease must be"),
    "stopping": (BLOBS, {"stopping": "never"}, "stopping must be one of"),
    "weight_update": (BLOBS, {"weight_update": "newton"}, "weight_update must be one of"),
    "checkpoint of several": (FOUR, {"n_clusters": 3, "checkpoint": "a.ckpt"}, "two clusters or many='divided'"),
    "precomputed not square": (BLOBS, {"kernel": "precomputed"}, "square matrix"),
    "precomputed not symmetric": (np.triu(np.ones((6, 6))), {"kernel": "precomputed"}, "not symmetric"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name(case):
    X, params, message = REFUSED[case]
    model = MaxMarginClustering(**params)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X)
    assert not hasattr(model, "labels_")
    clone(model)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("X", [np.ones((10, 3)), np.zeros((9, 2)), sp.csr_matrix((12, 4)), np.full((7, 1), 1e6)])
def test_constant_rows_are_divided_by_index_with_a_warning(X, kernel):
    with pytest.warns(UserWarning, match="equal decision value"):
        model = cluster(X, kernel=kernel)
    sizes = np.bincount(model.labels_, minlength=2)
    assert sizes.min() >= 1
    assert sizes[0] - sizes[1] <= max(1, 0.3 * X.shape[0])
    # Not that predict agrees on all rows: on some processors BLAS rounds the last of equal rows otherwise, by 3e-17.
    assert np.ptp(model.decision_function(X)) < 1e-12


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rounding_of_the_mean_of_equal_rows_is_no_scale(kernel, n_clusters):
    for X in (np.full((7, 3), 0.1), np.full((500, 2), 0.1), np.full((40, 2), 1e6 / 3)):
        assert cluster(X, kernel=kernel, n_clusters=n_clusters).C_ == 0.1


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [(kernel, sizes) for kernel in ("linear", "rbf") for sizes in ([100, 100], [160, 40], [180, 20])],
)
def test_the_sizes_of_two_clusters_are_estimated_unless_they_are_given(kernel, sizes):
    X, truth = make_blobs(sizes, centers=[[6, 0], [0, 6]], random_state=0)
    free, given = cluster(X, kernel=kernel), cluster(X, kernel=kernel, balance=0.3)
    assert clustering_accuracy(truth, free.labels_) == 1.0
    np.testing.assert_array_equal(free.predict(X), free.labels_)
    assert np.bincount(given.labels_)[0] <= 130
    zero = cluster(X, kernel=kernel, cut="zero")
    np.testing.assert_array_equal(zero.threshold_, 0.0)


def test_seeds_agree_on_two_clusters_of_digits():
    X, y = load_digits(return_X_y=True)
    X = X[np.isin(y, (4, 9))]
    first, *others = (cluster(X, random_state=seed).labels_ for seed in range(5))
    assert min(adjusted_rand_score(first, labels) for labels in others) >= 0.95


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_equal_rows_share_a_cluster_where_the_balance_allows_it(kernel):
    X = np.repeat([[0.0, 0.0], [4.0, 4.0], [0.5, 0.0], [4.0, 4.5]], 10, axis=0)
    model = cluster(X, kernel=kernel)
    assert clustering_accuracy(np.repeat([0, 1, 0, 1], 10), model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("X", [BLOBS[:2], BLOBS[:3], BLOBS[:5], np.array([[0.0], [1.0]])])
def test_few_rows_are_divided(X):
    labels = cluster(X, balance=0.0).labels_
    assert set(labels) == {0, 1}


def test_an_extreme_row_does_not_make_an_empty_cluster():
    X = np.vstack([BLOBS, [[1e6, 1e6]]])
    with np.errstate(all="raise"):
        assert np.bincount(cluster(X, C=1e-6, balance=1.0).labels_).min() >= 1


def test_prediction_asks_for_a_fit_and_for_the_same_columns():
    with pytest.raises(NotFittedError):
        MaxMarginClustering().predict(BLOBS)
    with pytest.raises(ValueError, match="3 features"):
        cluster().predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="contains NaN, first in row 5"):
        cluster().decision_function(changed(np.nan))


def test_a_cluster_that_nobody_wants_is_told():
    with pytest.warns(UserWarning, match="no row's first choice"):
        model = cluster(np.ones((20, 2)), kernel="rbf", n_clusters=3)
    assert np.bincount(model.labels_).size == 3


# ------------------------------------------------------------------ scikit-learn's checks


@pytest.mark.filterwarnings("ignore:.*stopped without convergence:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*equal decision value:UserWarning")
@parametrize_with_checks([MaxMarginClustering(), MaxMarginClustering(kernel="rbf"), MaxMarginClustering(3, C=0.1)])
def test_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)
