"""The share in the valley: groups of rows are found from a rough estimate, and rows without a valley leave it alone."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from threading import get_ident

import numpy as np
import pytest

from wellsvm.engine.neighborhood import neighborhood_of
from wellsvm.engine.shares import shares_of_unlabeled
from wellsvm.engine.valley import shares_in_valley
from wellsvm.options import Options
from wellsvm.rows import GramRows, LinearRows

module_of_valley = import_module("wellsvm.engine.valley")
ANNEALED = Options(search_prices=Options.annealed_prices, sure_margin=Options.semi_supervised_margin)
LINEAR = lambda X: LinearRows(X, 1.5)  # noqa: E731
GRAM = lambda X: GramRows(X @ X.T, 1.5)  # noqa: E731


def groups(share=0.3, n=400, per_class=5, n_features=20, distance=5.0, seed=0):
    """Two groups of rows, five labels of each; -1 where unlabeled."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) < round(share * n)).astype(int)
    X = rng.standard_normal((n, n_features))
    X[:, 0] += distance * truth
    codes = np.full(n, -1)
    for k in (0, 1):
        codes[np.flatnonzero(truth == k)[:per_class]] = k
    return X, codes


def valley(X, codes, share, form=LINEAR, options=ANNEALED, error=0.1):
    rng, C = np.random.default_rng(0), np.where(codes >= 0, 2.0, 0.2)
    near = neighborhood_of(form(X), codes, C, rng, options)
    return shares_in_valley(near, np.array([1 - share, share]), error, "squared_hinge", rng, options)


@pytest.mark.parametrize("form", [LINEAR, GRAM], ids=["rows", "gram"])
@pytest.mark.parametrize("estimate", [0.24, 0.37, 0.4])
def test_a_rough_estimate_comes_within_a_step_of_the_share_of_the_groups(estimate, form):
    X, codes = groups()
    shares = valley(X, codes, estimate, form)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] == pytest.approx(np.mean(np.arange(400) < 120), abs=ANNEALED.valley_step)


def test_threads_search_shares_beside_each_other_and_change_no_bit(monkeypatch):
    X, codes = groups()
    alone, used = valley(X, codes, 0.4), []
    search = module_of_valley.search
    monkeypatch.setattr(module_of_valley, "search", lambda *given: used.append(get_ident()) or search(*given))
    assert np.array_equal(valley(X, codes, 0.4, lambda X: LinearRows(X, 1.5, n_jobs=3)), alone)
    assert len(used) == 2 * ANNEALED.valley_steps + 1
    assert len(set(used)) > 1


def test_under_a_kernel_shares_beyond_one_that_weighs_little_are_not_tried(monkeypatch):
    tried, (X, codes) = [], groups()
    walk = module_of_valley.search_from
    monkeypatch.setattr(module_of_valley, "search_from", lambda *given: tried.append(given[1]) or walk(*given))
    near_it = valley(X, codes, 0.3, GRAM, replace(ANNEALED, valley_walk=2.0))[1]
    assert len(tried) < 2 * ANNEALED.valley_steps
    tried.clear()
    assert valley(X, codes, 0.3, GRAM, replace(ANNEALED, valley_walk=np.inf))[1] == pytest.approx(near_it, abs=0.01)
    assert len(tried) == 2 * ANNEALED.valley_steps


def test_the_share_stays_within_two_standard_errors():
    X, codes = groups(share=0.15)
    assert valley(X, codes, 0.3, error=0.02)[1] >= 0.26 - 1e-9


@pytest.mark.parametrize("estimate", [0.2, 0.5, 0.7])
def test_rows_without_a_valley_leave_the_estimate_nearly_alone(estimate):
    moved = [valley(*groups(distance=0.0, seed=seed), estimate)[1] - estimate for seed in range(4)]
    assert abs(np.mean(moved)) <= ANNEALED.valley_step  # it may go four times as far


@pytest.mark.parametrize("estimate", [0.0, 0.004, 1.0])
def test_shares_at_the_rim_stay_shares(estimate):
    share = valley(*groups(n=60), estimate)[1]
    assert 0.0 <= share <= 1.0


def test_rows_left_out_are_not_looked_at():
    X, codes = groups()
    kept = np.arange(400) % 4 > 0
    kept[codes >= 0] = True
    np.testing.assert_array_equal(valley(X[kept], codes[kept], 0.4), valley(X, np.where(kept, codes, -2), 0.4))


@pytest.mark.parametrize(
    ("options", "C_unlabeled", "walked"),
    [(ANNEALED, 0.2, 1), (ANNEALED, 0.0, 0), (Options(), 0.2, 0)],
    ids=["annealed", "no price", "local"],
)
def test_the_estimate_walks_only_where_unlabeled_rows_have_a_price_and_the_search_is_annealed(
    monkeypatch, options, C_unlabeled, walked
):
    walks, module = [], import_module("wellsvm.engine.shares")
    monkeypatch.setattr(module, "shares_in_valley", lambda near, shares, *_: walks.append(shares) or shares)
    X, codes = groups()
    C = np.where(codes >= 0, 2.0, C_unlabeled)
    shares_of_unlabeled(LINEAR(X), codes, 2, "squared_hinge", C, 0, options)
    assert len(walks) == walked
