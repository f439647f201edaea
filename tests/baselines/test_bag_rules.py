"""Diverse density, EM-DD and citation kNN keep what their papers promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone

from wellsvm import Bags
from wellsvm.baselines import EMDD, CitationKNN, DiverseDensity, _diverse_density
from wellsvm.baselines._diverse_density import best_threshold, unlikelihood

RULES = [DiverseDensity(n_starts=5, random_state=0), EMDD(n_starts=5, random_state=0), CitationKNN()]
ALL = pytest.mark.parametrize("rule", RULES, ids=[type(rule).__name__ for rule in RULES])


def bags_with_a_key(n_bags=30, seed=0, size=4):
    """Bags of scattered instances; the last one of every positive bag lies near (2, 2, 2, 2, 2)."""
    rng = np.random.default_rng(seed)
    X, y = 3 * rng.standard_normal((n_bags * size, 5)), np.arange(n_bags) % 2
    X[size - 1 :: size][y == 1] = 2 + 0.2 * rng.standard_normal((np.count_nonzero(y), 5))
    return Bags(X, np.repeat(np.arange(n_bags), size)), y


@ALL
def test_a_concept_that_only_positive_bags_hold_is_found_and_located(rule):
    bags, y = bags_with_a_key()
    new, truth = bags_with_a_key(seed=1)
    model = clone(rule).fit(bags, y)
    assert np.mean(model.predict(new) == truth) >= 0.9
    found = model.locate(new)
    np.testing.assert_array_equal(found == -1, model.predict(new) == 0)
    assert np.mean(found[(truth == 1) & (found >= 0)] == 3) >= 0.9
    assert model.locate(new, k=2).shape == (30, 2)


@ALL
@pytest.mark.parametrize("y, message", [(np.arange(30) % 3, "two classes"), (np.zeros(7), "one label per bag")])
def test_other_than_two_classes_and_other_lengths_are_refused(rule, y, message):
    with pytest.raises(ValueError, match=message):
        clone(rule).fit(bags_with_a_key()[0], y)


@pytest.mark.parametrize(
    "rule, name",
    [(DiverseDensity(n_starts=0), "n_starts"), (CitationKNN(n_references=0), "n_references"),
     (CitationKNN(n_citers=0), "n_citers")],
)  # fmt: skip
def test_bad_parameters_are_named(rule, name):
    with pytest.raises(ValueError, match=name):
        rule.fit(*bags_with_a_key())


def test_the_gradient_of_the_noisy_or_is_its_derivative():
    bags, y = bags_with_a_key()
    concept = np.array([1.0, 2.0, 1.5, 1.0, 0.5, 0.3, 0.2, 0.1, 0.2, 0.3])

    def part(k):
        return lambda v: unlikelihood(v, bags.X, bags.offsets[:-1], y == 1)[k]

    assert check_grad(part(0), part(1), concept) < 1e-4 * np.linalg.norm(part(1)(concept))


def test_the_noisy_or_by_hand():
    X = np.array([[0.0], [1.0], [2.0]])
    p = np.exp(-np.array([0.0, 1.0, 4.0]))
    p[0] = 1 - 1e-10
    value, _ = unlikelihood(np.array([0.0, 1.0]), X, np.array([0, 2]), np.array([True, False]))
    assert value == pytest.approx(-np.log(1 - (1 - p[0]) * (1 - p[1])) - np.log(1 - p[2]))


@pytest.mark.parametrize("rule", [DiverseDensity, EMDD])
def test_of_all_starts_only_the_best_fifth_is_climbed_from_to_the_end(rule, monkeypatch):
    budgets, minimize = [], _diverse_density._minimize

    def noted(concept, X, starts, positive, steps):
        budgets.append(steps)
        return minimize(concept, X, starts, positive, steps)

    monkeypatch.setattr(_diverse_density, "_minimize", noted)
    rule(n_starts=10, random_state=0).fit(*bags_with_a_key())
    assert budgets[:10] == [10] * 10
    assert 2 <= len(budgets[10:]) <= 2 * _diverse_density.MOST_TURNS
    assert set(budgets[10:]) == {100}


def test_the_threshold_of_least_error():
    assert best_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, False, True, True])) == 2.5
    assert best_threshold(np.array([1.0, 2.0]), np.array([True, True])) < 1


def test_references_and_citers_by_hand():
    # Training bags at 0, 1 (negative) and 10, 11 (positive); one reference, one citer.
    bags = Bags(np.array([[0.0], [1.0], [10.0], [11.0]]), np.arange(4))
    model = CitationKNN(n_references=1, n_citers=1).fit(bags, [0, 0, 1, 1])
    # 9.5: reference 10; cited by 10 (nearer than 11 is); not by 11, whose nearest, 10, is 1 away
    np.testing.assert_array_equal(model.decision_function([[[9.5]], [[5.0]], [[0.2]]]), [2.0, -1.0, -3.0])
