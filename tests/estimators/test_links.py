"""MaxMarginClustering with rows tied together and set apart."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

import wellsvm
from wellsvm import MaxMarginClustering
from wellsvm.estimators.links import assign_apart
from wellsvm.labels import Links

X, TRUTH = make_blobs([30, 30, 30], centers=[[0, 0], [3, 0], [0, 3]], random_state=0)


def cluster(X=X, must_link=None, cannot_link=None, **params):
    model = MaxMarginClustering(**{"random_state": 0, **params})
    return model.fit(X, must_link=must_link, cannot_link=cannot_link)


def drawn_links(truth, n_pairs, seed=0):
    pairs = np.random.default_rng(seed).integers(len(truth), size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[same], pairs[~same]


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_links_are_kept(kernel, n_clusters, form):
    truth = np.minimum(TRUTH, n_clusters - 1)
    must, cannot = drawn_links(truth, 40)
    labels = cluster(form(X), must, cannot, kernel=kernel, n_clusters=n_clusters).labels_
    assert np.all(labels[must[:, 0]] == labels[must[:, 1]])
    assert np.all(labels[cannot[:, 0]] != labels[cannot[:, 1]])
    assert np.unique(labels).size == n_clusters


def test_links_against_the_data_are_kept_too():
    first, second = np.flatnonzero(TRUTH == 0)[:2]
    other = int(np.flatnonzero(TRUTH == 1)[0])
    labels = cluster(must_link=[[first, other]], cannot_link=[[first, second]], n_clusters=3).labels_
    assert labels[first] == labels[other] != labels[second]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_links_make_clusters_of_digits_better(kernel):
    digits, truth = load_digits(return_X_y=True)
    chosen = np.flatnonzero(np.isin(truth, (1, 7, 8)))
    rows, classes = digits[chosen], truth[chosen] == 8  # 8 against the rest: not what the margin finds by itself
    must, cannot = drawn_links(classes, 300)
    alone, helped = cluster(rows, kernel=kernel), cluster(rows, must, cannot, kernel=kernel)
    free = np.setdiff1d(np.arange(len(rows)), np.concatenate([must, cannot]).ravel())
    gained = [adjusted_rand_score(classes[free], model.labels_[free]) for model in (alone, helped)]
    assert gained[1] > gained[0] + 0.2


def test_empty_links_are_no_links():
    plain = cluster(n_clusters=3)
    for nothing in ([], np.empty((0, 2), dtype=int)):
        np.testing.assert_array_equal(cluster(must_link=nothing, cannot_link=nothing).labels_, cluster().labels_)
        np.testing.assert_array_equal(cluster(must_link=nothing, n_clusters=3).labels_, plain.labels_)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_set_apart_have_the_largest_sum(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((7, 3))
    must, cannot = np.array([[0, 1], [5, 0]]), np.array([[1, 2], [2, 3], [3, 0], [4, 6]])
    labels = assign_apart(values, Links.of(7, must, cannot))
    allowed = [
        z for z in map(np.array, product(range(3), repeat=7))
        if np.all(z[must[:, 0]] == z[must[:, 1]]) and np.all(z[cannot[:, 0]] != z[cannot[:, 1]])
    ]  # fmt: skip
    every = np.arange(7)
    assert values[every, labels].sum() == pytest.approx(max(values[every, z].sum() for z in allowed))


ALL_APART = [[i, j] for i in range(4) for j in range(i)]
REFUSED = {
    "not pairs": ({"must_link": [[0, 1, 2]]}, r"must_link must be pairs .* got shape \(1, 3\)"),
    "one row": ({"must_link": [0, 1]}, r"must_link must be pairs .* got shape \(2,\)"),
    "uneven": ({"cannot_link": [[0, 1], [2]]}, "cannot_link must be pairs .* uneven length"),
    "a number": ({"cannot_link": 3}, "cannot_link must be pairs"),
    "fractions": ({"must_link": [[0.0, 1.0]]}, "must_link must hold whole numbers"),
    "words": ({"must_link": [["a", "b"]]}, "must_link must hold whole numbers"),
    "booleans": ({"must_link": [[True, False]]}, "must_link must hold whole numbers"),
    "negative": ({"cannot_link": [[0, -1]]}, "cannot_link names row -1, but X has rows 0 to 89"),
    "beyond": ({"must_link": [[0, 90]]}, "must_link names row 90"),
    "apart from itself": ({"cannot_link": [[4, 4]]}, "row 4 apart from itself"),
    "tied and apart": ({"must_link": [[0, 1]], "cannot_link": [[1, 0]]}, "rows 1 and 0 apart, but must_link"),
    "tied by way of others": (
        {"must_link": [[0, 1], [1, 2]], "cannot_link": [[0, 2]]}, "directly or by way of other rows"
    ),
    "an odd cycle": ({"cannot_link": [[0, 1], [1, 2], [2, 0]]}, "odd cycle"),
    "all tied": ({"must_link": [[i, i + 1] for i in range(89)]}, "leaves 1 parts, fewer than n_clusters=2"),
    "few parts": ({"must_link": [[i, i + 1] for i in range(88)], "n_clusters": 3}, "leaves 2 parts, fewer than"),
    "four apart in three": ({"cannot_link": ALL_APART, "n_clusters": 3}, "rows 0, 1, 2, 3 apart .* n_clusters=3"),
    "one cluster": ({"cannot_link": [[0, 1]], "n_clusters": 1}, "n_clusters=1 has them all"),
    "divided": ({"must_link": [[0, 1]], "n_clusters": 3, "many": "divided"}, "use many='together'"),
    "NaN": ({"must_link": [[0, np.nan]]}, "must_link must hold whole numbers"),
    "beyond any row": ({"cannot_link": [[0, 2**70]]}, "cannot_link"),
    "a dict": ({"must_link": {0: 1}}, "must_link must be pairs"),
    "sizes": ({"must_link": [[0, 1]], "n_clusters": 3, "balance": 0.5}, "balance=0.5 cannot be kept together"),
}  # fmt: skip


def test_there_are_twenty_bad_links():
    assert len(REFUSED) >= 20


def test_linked_clusters_are_reported_and_saved(tmp_path):
    pytest.importorskip("skops")
    model = cluster(must_link=[[0, 1], [2, 3]], cannot_link=[[0, 2]])
    wellsvm.save(model, tmp_path / "model")
    loaded = wellsvm.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for each in (model, loaded):
        wellsvm.report(each, tmp_path / "page.html", X=X)
        page = (tmp_path / "page.html").read_text()
        assert "Links" in page
        assert "pairs that share a cluster" in page
    wellsvm.report(cluster(), tmp_path / "page.html", X=X)
    assert "pairs that share a cluster" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("case", REFUSED)
def test_bad_links_are_refused_by_name(case):
    params, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message):
        cluster(**params)


def test_three_rows_apart_need_three_clusters():
    labels = cluster(cannot_link=[[0, 1], [1, 2], [2, 0]], n_clusters=3).labels_
    assert np.unique(labels[:3]).size == 3
