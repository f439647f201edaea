"""check_label_set finds what is wrong with a set, and says it."""

from __future__ import annotations

import numpy as np
import pytest

from wellsvm.labels import BalancedLabels, ClusterLabels, KeyInstances, LabelSet, ProportionLabels, check_label_set


class OnePerGroup(LabelSet):
    """Exactly one positive in every group; `linear_oracle` is right."""

    def __init__(self, groups=(0, 0, 0, 1, 1, 2)):
        self.groups, self.n_instances = np.asarray(groups), len(groups)

    def linear_oracle(self, scores):
        order = np.argsort(-scores, kind="stable")
        _, first = np.unique(self.groups[order], return_index=True)
        y = np.full(self.n_instances, -1, dtype=np.int8)
        y[order[first]] = 1
        return y

    def contains(self, y):
        winners = np.sort(self.groups[y == 1])
        return bool(np.all(np.abs(y) == 1) and np.array_equal(winners, np.unique(self.groups)))


class LeavesTheSet(OnePerGroup):
    def linear_oracle(self, scores):
        return np.where(scores > 0, 1, -1).astype(np.int8)


class TakesTheWorst(OnePerGroup):
    def linear_oracle(self, scores):
        return super().linear_oracle(-scores)


class TiesToTheHigherIndex(OnePerGroup):
    def linear_oracle(self, scores):
        return type(self).reversed_set(self).linear_oracle(scores[::-1])[::-1].copy()

    @staticmethod
    def reversed_set(labels):
        return OnePerGroup(labels.groups[::-1])


class ChangesItsArgument(OnePerGroup):
    def linear_oracle(self, scores):
        y = super().linear_oracle(scores)
        scores *= y
        return y


class WrongType(OnePerGroup):
    def linear_oracle(self, scores):
        return super().linear_oracle(scores).astype(float)


class TooShort(OnePerGroup):
    def linear_oracle(self, scores):
        return super().linear_oracle(scores)[1:]


class NotExactInOneGroup(OnePerGroup):
    def linear_oracle(self, scores):
        y = super().linear_oracle(scores)
        if scores[0] > 1:
            y[self.groups == 0] = [-1, 1, -1]
        return y


class Moody(OnePerGroup):
    rng = np.random.default_rng(0)

    def linear_oracle(self, scores):
        return super().linear_oracle(scores + 1e-9 * self.rng.standard_normal(scores.size))


class AcceptsAnything(OnePerGroup):
    def contains(self, y):
        return int(np.sum(y == 1)) == 3 and np.array_equal(np.sort(self.groups[y == 1]), [0, 1, 2])


class DrawsOneMember(OnePerGroup):
    def initial(self, rng):
        return self.linear_oracle(np.arange(self.n_instances, dtype=float))


class DrawsOutside(OnePerGroup):
    def initial(self, rng):
        return np.ones(self.n_instances, dtype=np.int8)


class SaysItIsSymmetric(OnePerGroup):
    symmetric = True


class Empty(OnePerGroup):
    def contains(self, y):
        return False


WRONG = {
    LeavesTheSet: "left the set",
    TakesTheWorst: "not exact",
    TiesToTheHigherIndex: "a tie went to the higher index",
    ChangesItsArgument: "changed its argument",
    WrongType: "int8",
    TooShort: "shape",
    NotExactInOneGroup: "not exact",
    Moody: "two answers|higher index",
    AcceptsAnything: "accepted a label of 2",
    DrawsOneMember: "the same label vector 20 times",
    DrawsOutside: "not in the set",
    SaysItIsSymmetric: "symmetric",
    Empty: "the set is empty",
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_set_is_found(kind):
    with pytest.raises(AssertionError, match=WRONG[kind]):
        check_label_set(kind())


@pytest.mark.parametrize("kind", [LeavesTheSet, TakesTheWorst, TiesToTheHigherIndex, ChangesItsArgument, WrongType])
def test_a_wrong_set_too_large_to_enumerate_is_found(kind):
    with pytest.raises(AssertionError, match=WRONG[kind]):
        check_label_set(kind(np.repeat(np.arange(15), 3)))


def test_right_sets_pass():
    check_label_set(OnePerGroup())
    check_label_set(OnePerGroup(np.repeat(np.arange(15), 3)), random_state=1)
    check_label_set(ClusterLabels(7, 3))
    check_label_set(BalancedLabels([1, 0, 0, 0, -1, 0], 1, 2))
    check_label_set(KeyInstances([0, 3, 4, 6], [True, False, True]))
    check_label_set(ProportionLabels(np.arange(60) // 6, np.arange(10) % 6))


def test_a_set_without_a_size_is_told():
    labels = OnePerGroup()
    labels.n_instances = 0
    with pytest.raises(AssertionError, match="n_instances"):
        check_label_set(labels)
    bags = KeyInstances([0, 3, 4], [True, False])
    bags.starts = np.array([0, 2, 5])
    with pytest.raises(AssertionError, match="starts"):
        check_label_set(bags)


def test_the_message_shows_the_scores():
    with pytest.raises(AssertionError, match=r"scores=\["):
        check_label_set(TakesTheWorst())
