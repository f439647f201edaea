"""Shares and verdict are a matter of the data: neither the names of the classes nor the seed of the fit count."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

from wellsvm import SemiSupervisedSVC


def few_labels(y, per_class, seed):
    """Some labels of every class, -1 elsewhere."""
    rng = np.random.default_rng(seed)
    known = np.concatenate([rng.choice(np.flatnonzero(y == k), per_class, replace=False) for k in np.unique(y)])
    partial = np.full(y.size, -1)
    partial[known] = y[known]
    return partial


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("draw", range(4))
def test_two_classes_with_exchanged_names(kernel, draw):
    X, y = load_breast_cancer(return_X_y=True)
    X, partial = StandardScaler().fit_transform(X), few_labels(y, 10, draw)
    exchanged = np.where(partial < 0, -1, 1 - partial)
    one, other = (
        SemiSupervisedSVC(kernel=kernel, unlabeled=-1, random_state=0).fit(X, labels) for labels in (partial, exchanged)
    )
    np.testing.assert_allclose(one.balance_, other.balance_[::-1], rtol=0, atol=1e-12)
    assert one.used_unlabeled_ == other.used_unlabeled_
    # equal scores are told apart by the order of the rows, so that a row or two may have the other label
    assert np.mean(one.predict(X) == 1 - other.predict(X)) > 0.99


@pytest.mark.parametrize("draw", range(3))
def test_three_classes_whose_names_are_turned_round(draw):
    X, y = load_wine(return_X_y=True)
    X, partial = StandardScaler().fit_transform(X), few_labels(y, 4, draw)
    turned = np.where(partial < 0, -1, (partial + 1) % 3)
    one, other = (SemiSupervisedSVC(unlabeled=-1, random_state=0).fit(X, labels) for labels in (partial, turned))
    np.testing.assert_allclose(one.balance_, np.roll(other.balance_, -1), rtol=0, atol=1e-12)
    assert one.used_unlabeled_ == other.used_unlabeled_
    assert np.mean((one.predict(X) + 1) % 3 == other.predict(X)) > 0.97


def test_shares_and_verdict_do_not_depend_on_the_seed_of_the_fit():
    X, y = load_breast_cancer(return_X_y=True)
    X, partial = StandardScaler().fit_transform(X), few_labels(y, 10, 4)
    fits = [SemiSupervisedSVC(unlabeled=-1, random_state=seed).fit(X, partial) for seed in range(4)]
    assert len({(fit.used_unlabeled_, *fit.balance_) for fit in fits}) == 1
