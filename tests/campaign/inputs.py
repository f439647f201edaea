"""Generated bad input for every estimator: a target is one line in `TARGETS`, a case is a seed and a number."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

import wellsvm
from campaign.breakage import LABELS, MATRICES, PARAMETERS, SAME_DENSE, SAME_SPARSE, WEIGHTS
from campaign.outcomes import outcome_of

ROWS, COLUMNS, BAGS = 24, 3, 12
KERNELS = ("linear", "linear", "rbf", "rbf", "poly", "sigmoid", "precomputed")


def rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes; eighths, so that float32 holds them exactly."""
    truth = np.arange(ROWS) % 2
    return np.round(8 * (rng.standard_normal((ROWS, COLUMNS)) + 2 * truth[:, None])) / 8, truth


def partly_labeled(rng: np.random.Generator) -> dict[str, Any]:
    """Rows of which ten are labeled."""
    X, truth = rows(rng)
    return {"X": X, "y": np.where(np.arange(ROWS) < 10, truth, np.nan), "sample_weight": np.ones(ROWS)}


def in_bags(rng: np.random.Generator) -> dict[str, Any]:
    """Two instances a bag."""
    X, _ = rows(rng)
    y = np.arange(BAGS) % 2
    X[::2][y == 1] += 4
    return {"X": X, "y": y, "groups": np.repeat(np.arange(BAGS), 2)}


def labeled(rng: np.random.Generator) -> dict[str, Any]:
    """Rows that are all labeled."""
    return dict(zip(("X", "y"), rows(rng)), sample_weight=np.ones(ROWS))


def unlabeled(rng: np.random.Generator) -> dict[str, Any]:
    """Rows alone."""
    return {"X": rows(rng)[0]}


@dataclass(frozen=True)
class Target:
    """An estimator, the data it takes, and parameters that keep a fit short."""

    name: str
    data: Callable[[np.random.Generator], dict[str, Any]]
    short: dict[str, Any] = field(default_factory=dict)

    @property
    def estimator(self) -> Any:
        """The class; None where this release has none of that name."""
        return getattr(wellsvm, self.name, None)


TARGETS = [
    Target("SemiSupervisedSVC", partly_labeled),
    Target("SemiSupervisedSVCCV", partly_labeled, {"Cs_unlabeled": [0.1], "cv": 2}),
    Target("MultiInstanceSVC", in_bags),
    Target("MaxMarginClustering", unlabeled),
    Target("MultiInstanceSVCCV", in_bags, {"Cs_positive": [1.0], "Cs_negative": [1.0], "contexts": [0.0], "cv": 2}),
    Target("PositiveUnlabeledSVC", partly_labeled, {"positive_class": 1, "negative_class": 0}),
    Target("NoisyLabelSVC", labeled, {"noise": 0.1}),
    Target("CandidateLabelSVC", labeled),
]


class Case:
    """One attack: data, parameters and a change or two, all drawn from the seed."""

    def __init__(self, target: Target, seed: int, number: int) -> None:
        self.rng = rng = np.random.default_rng([seed, zlib.crc32(target.name.encode()), number])
        self.target, self.said = target, []
        self.data = target.data(rng)
        self.kernel = KERNELS[rng.integers(len(KERNELS))]
        self.sparse = self.kernel != "precomputed" and rng.random() < 0.3
        if self.kernel == "precomputed":
            self.data["X"] = self.data["X"] @ self.data["X"].T
        self.plain = sp.csr_matrix(self.data["X"]) if self.sparse else self.data["X"]
        self.params = {"kernel": self.kernel, "random_state": 0, "max_iter": 5, **target.short}
        self.changed, self.new, self.same = dict(self.data, X=self.plain), None, False
        kinds = ["X", "X", "y", "other", "parameter", "parameter", "predict", "predict", "same", "same"]
        for kind in rng.choice(kinds, size=1 if rng.random() < 0.7 else 2):
            getattr(self, f"_change_{kind}")()
        self.same = all(word.startswith("same") for word in self.said)

    def _pick(self, table: dict[str, Any], what: str, value: Any) -> Any:
        name = list(table)[self.rng.integers(len(table))]
        self.said.append(f"{what}: {name}")
        return table[name](value, self.rng)

    def _change_X(self) -> None:
        self.changed["X"] = self._pick(MATRICES, "X", self.data["X"])

    def _change_y(self) -> None:
        if "y" in self.data:
            self.changed["y"] = self._pick(LABELS, "y", self.data["y"])
        else:
            self._change_X()

    def _change_other(self) -> None:
        if "sample_weight" in self.data:
            self.changed["sample_weight"] = self._pick(WEIGHTS, "sample_weight", self.data["sample_weight"])
        elif "groups" in self.data:
            self.changed["groups"] = self._pick(LABELS, "groups", self.data["groups"])
        else:
            self._change_X()

    def _change_parameter(self) -> None:
        names = sorted(self.target.estimator().get_params(deep=False))
        name, value = names[self.rng.integers(len(names))], PARAMETERS[self.rng.integers(len(PARAMETERS))]
        self.params[name] = value
        self.said.append(f"{name}={type(value).__name__} {value!r:.40}")

    def _change_predict(self) -> None:
        self.new = self._pick(MATRICES, "predict", self.data["X"])

    def _change_same(self) -> None:
        if self.kernel == "precomputed" or not self.sparse:
            self.changed["X"] = self._pick(SAME_DENSE, "same", self.data["X"])
        else:
            self.changed["X"] = self._pick(SAME_SPARSE, "same", self.data["X"])

    def run(self) -> None:
        """Fit and predict; AssertionError where the result is not sound."""
        model = self._fit(self.changed)
        values = np.asarray(self._values(model, self.plain))
        assert values.dtype == np.float64, f"decision values of {values.dtype}"
        assert not np.isnan(values).any(), "NaN among the decision values"
        if self.same:
            expected = self._values(self._fit(dict(self.data, X=self.plain)), self.plain)
            np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-3, err_msg=str(self.said))
        if self.new is not None:
            self._predict(model, self.new)

    def _fit(self, data: dict[str, Any]) -> Any:
        model = self.target.estimator(**self.params)
        return model.fit(data["X"], *(data[name] for name in ("y", "sample_weight", "groups") if name in data))

    def _values(self, model: Any, X: Any) -> Any:
        if "groups" in self.data:
            return model.decision_function(X, groups=self.data["groups"])
        return model.decision_function(X)

    def _predict(self, model: Any, X: Any) -> None:
        predicted = model.predict(X, groups=self.data["groups"]) if "groups" in self.data else model.predict(X)
        classes = getattr(model, "classes_", range(model.get_params()["n_clusters"]) if "y" not in self.data else ())
        assert np.isin(predicted, list(classes)).all(), "a class that does not exist"


def attack(what: tuple[Target, int, int]) -> tuple[str, str]:
    """What comes of a case: its outcome and words; those of a failure say what was done."""
    case = Case(*what)
    kind, words = outcome_of(case.run)
    return kind, words if kind in ("refused", "accepted") else f"{case.kernel}, {'; '.join(case.said)}: {words}"
