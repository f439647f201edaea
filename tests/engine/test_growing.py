"""Growing: clusters are counted by labels that spread through them, and the share moves only so far towards it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wellsvm.engine import growing, shares
from wellsvm.engine.growing import grown_share
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows


def clouds(seed=0, share=0.2, n_unlabeled=300, n_labeled=5, distance=4.0):
    """Two Gaussian clouds, ``n_labeled`` labels of each; codes and the true share of class 1 among the others."""
    rng = np.random.default_rng(seed)
    truth = np.append(np.repeat([0, 1], n_labeled), rng.random(n_unlabeled) < share)
    X = rng.standard_normal((truth.size, 5))
    X[:, 0] += distance * (truth - 0.5)
    codes = np.where(np.arange(truth.size) < 2 * n_labeled, truth, -1)
    return X, codes, truth[2 * n_labeled :].mean()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", [lambda X: LinearRows(X, 1.0), lambda X: GramRows(X @ X.T, 1.0)], ids=["rows", "gram"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_separate_clouds_are_counted(share, form, loss):
    X, codes, truth = clouds(share=share, distance=6.0)
    found = grown_share(form(X), codes, loss, np.ones(len(codes)), 0, Options())
    assert found == pytest.approx(truth, abs=0.03)


def test_a_seed_gives_the_same_share_twice_and_prices_of_unlabeled_rows_do_not_count():
    X, codes, _ = clouds(distance=2.0)
    C = np.ones(len(codes))
    other = np.where(codes < 0, 77.0, C)
    found = [grown_share(LinearRows(X, 1.0), codes, "hinge", price, 4, Options()) for price in (C, C, other)]
    assert found[0] == found[1] == found[2]
    assert 0.0 <= found[0] <= 1.0


def test_of_many_unlabeled_rows_a_sample_is_looked_at(monkeypatch):
    sizes, begin = [], growing.begin
    monkeypatch.setattr(growing, "begin", lambda rows, *a, **k: sizes.append(rows.n_instances) or begin(rows, *a, **k))
    X, codes, truth = clouds(n_unlabeled=500, distance=6.0)
    found = grown_share(LinearRows(X, 1.0), codes, "hinge", np.ones(len(codes)), 0, Options(sampled_rows=100))
    assert sizes == [110]
    assert found == pytest.approx(truth, abs=0.15)


@pytest.mark.parametrize("grown, step", [(1.0, 0.08), (0.0, -0.08)])
def test_an_estimate_moves_half_way_to_it_and_no_further_than_allowed(monkeypatch, grown, step):
    monkeypatch.setattr(shares, "_averaged", lambda by_scores, by_neighbors: by_scores)
    X, codes, _ = clouds(share=0.5, distance=1.5)
    args = LinearRows(X, 1.0), codes, 2, "hinge", np.ones(len(codes)), 0
    still = shares.shares_of_unlabeled(*args, replace(Options(), most_grown=0.0)).shares[1]
    for told in (grown, still + 0.02, still - 0.05):
        monkeypatch.setattr(shares, "grown_share", lambda *_, told=told: told)
        moved = shares.shares_of_unlabeled(*args, Options())
        assert moved.shares[1] - still == pytest.approx(step if told == grown else (told - still) / 2, abs=1e-12)
        assert moved.shares.sum() == pytest.approx(1.0, abs=1e-12)


def test_labels_drawn_at_random_or_of_three_classes_are_not_grown(monkeypatch):
    def never(*_):
        raise AssertionError("grown")

    monkeypatch.setattr(shares, "grown_share", never)
    X, codes, _ = clouds()
    codes[0] = -1  # 4 and 5 labels
    shares.shares_of_unlabeled(LinearRows(X, 1.0), codes, 2, "hinge", np.ones(len(codes)), 0, Options())
    three = np.where(np.arange(len(codes)) < 9, np.arange(len(codes)) % 3, -1)
    shares.shares_of_unlabeled(LinearRows(X, 1.0), three, 3, "hinge", np.ones(len(codes)), 0, Options())
