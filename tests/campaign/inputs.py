"""Generated bad input for every estimator: a target is one line in `TARGETS`, a case is a seed and a number."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import wellsvm
from campaign.breakage import LABELS, MATRICES, PARAMETERS, SAME_DENSE, SAME_SPARSE
from campaign.folders import remove
from campaign.outcomes import outcome_of
from campaign.weak_breakage import CANDIDATES, OF_ARGUMENT
from wellsvm.labels import BalancedLabels

ROWS, COLUMNS, BAGS = 16, 3, 8
KERNELS = ("linear", "linear", "rbf", "rbf", "poly", "sigmoid", "precomputed")
QUICK = 0.95  # share of the cases whose fit is kept short; the others run with default parameters

Data = dict[str, Any]


def rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes; eighths, so that float32 holds them exactly."""
    truth = np.arange(ROWS) % 2
    return np.round(8 * (rng.standard_normal((ROWS, COLUMNS)) + 2 * truth[:, None])) / 8, truth


def partly_labeled(rng: np.random.Generator) -> Data:
    """Rows of which ten are labeled."""
    X, truth = rows(rng)
    return {"X": X, "y": np.where(np.arange(ROWS) < 10, truth, np.nan), "sample_weight": np.ones(ROWS)}


def in_bags(rng: np.random.Generator) -> Data:
    """Two instances a bag."""
    X, _ = rows(rng)
    y = np.arange(BAGS) % 2
    X[::2][y == 1] += 4
    return {"X": X, "y": y, "groups": np.repeat(np.arange(BAGS), 2)}


def labeled(rng: np.random.Generator) -> Data:
    """Rows that are all labeled; some can be trusted."""
    X, truth = rows(rng)
    return {"X": X, "y": truth, "sample_weight": np.ones(ROWS), "trusted": np.arange(ROWS) < 4}


def candidates(rng: np.random.Generator) -> Data:
    """Rows of which half have two candidates."""
    X, truth = rows(rng)
    y = [{int(t)} if k % 2 else {0, 1} for k, t in enumerate(truth)]
    return {"X": X, "y": y, "sample_weight": np.ones(ROWS)}


def in_groups(rng: np.random.Generator) -> Data:
    """Four groups and their shares."""
    X, _ = rows(rng)
    shares = np.array([0.5, 0.25, 0.75, 0.5])
    return {"X": X, "groups": np.arange(ROWS) // 4, "proportions": shares, "sample_weight": np.ones(ROWS)}


def of_a_set(rng: np.random.Generator) -> Data:
    """Rows and the set that their labels are in."""
    X, truth = rows(rng)
    known = np.where(np.arange(ROWS) < 6, 2 * truth - 1, 0)
    return {"X": X, "labels": BalancedLabels(known, 5), "sample_weight": np.ones(ROWS)}


def unlabeled(rng: np.random.Generator) -> Data:
    """Rows alone."""
    return {"X": rows(rng)[0]}


def linked(rng: np.random.Generator) -> Data:
    """Rows and some links."""
    return {**unlabeled(rng), "must_link": [(0, 2), (2, 4)], "cannot_link": [(0, 1)]}


@dataclass(frozen=True)
class Target:
    """An estimator, the data it takes, and parameters that keep a fit short: always, and in most cases."""

    name: str
    data: Callable[[np.random.Generator], Data]
    short: dict[str, Any] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)
    what: str = ""
    in_folder: bool = False

    @property
    def estimator(self) -> Any:
        """The class."""
        return getattr(wellsvm, self.name)

    @property
    def title(self) -> str:
        """What tables call it."""
        return f"{self.name}{self.what}"


SHORT_SEARCH = {"safe": False, "balance": "labels", "search": "local"}
TARGETS = [
    Target("SemiSupervisedSVC", partly_labeled, quick=SHORT_SEARCH),
    Target(
        "SemiSupervisedSVCCV", partly_labeled, {"Cs_unlabeled": [0.1], "cv": 2},
        {"balance": "labels", "neighbors": None, "gammas": None},
    ),
    Target("MultiInstanceSVC", in_bags),
    Target("MultiInstanceSVCCV", in_bags, {"Cs_positive": [1.0], "Cs_negative": [1.0], "contexts": [0.0], "cv": 2}),
    Target("MaxMarginClustering", unlabeled, quick={"n_init": 2}),
    Target("MaxMarginClustering", linked, quick={"n_init": 2}, what=" with links"),
    Target("PositiveUnlabeledSVC", partly_labeled, {"positive_class": 1, "negative_class": 0}, {"balance": 0.5}),
    Target("ProportionSVC", in_groups, quick={"safe": False, "search": "local"}),
    Target("NoisyLabelSVC", labeled, quick={"noise": 0.1, "search": "local"}),
    Target("CandidateLabelSVC", candidates, quick={"search": "local"}),
    Target("WeakLabelSVC", of_a_set, quick={"search": "local"}),
    Target("SemiSupervisedSVC", partly_labeled, {"block_rows": 7}, SHORT_SEARCH, " on a folder", True),
]  # fmt: skip


class Case:
    """One attack: data, parameters and a change or two, all drawn from the seed."""

    def __init__(self, target: Target, seed: int, number: int) -> None:
        self.rng = rng = np.random.default_rng([seed, zlib.crc32(target.title.encode()), number])
        self.target, self.said = target, []
        self.data = target.data(rng)
        self.kernel = KERNELS[rng.integers(len(KERNELS))] if not target.in_folder or rng.random() < 0.05 else "linear"
        self.sparse = self.kernel != "precomputed" and rng.random() < 0.3
        if self.kernel == "precomputed":
            self.data["X"] = self.data["X"] @ self.data["X"].T
        self.plain = sp.csr_matrix(self.data["X"]) if self.sparse else self.data["X"]
        self.params = {"kernel": self.kernel, "random_state": 0, "max_iter": 5, **target.short}
        if rng.random() < QUICK:
            self.params |= {"max_iter": 2, **target.quick}
        self.changed, self.new, self.judged, self.same = dict(self.data, X=self.plain), None, None, False
        kinds = [
            "X",
            "X",
            "argument",
            "argument",
            "parameter",
            "parameter",
            "predict",
            "predict",
            "same",
            "same",
            "score",
        ]
        for kind in rng.choice(kinds, size=1 if rng.random() < 0.7 else 2):
            getattr(self, f"_change_{kind}")()
        self.same = all(word.startswith("same") for word in self.said)

    @property
    def _bags(self) -> bool:
        return self.target.data is in_bags

    def _pick(self, table: dict[str, Any], what: str, value: Any) -> Any:
        name = list(table)[self.rng.integers(len(table))]
        self.said.append(f"{what}: {name}")
        return table[name](value, self.rng)

    def _change_X(self) -> None:
        self.changed["X"] = self._pick(MATRICES, "X", self.data["X"])
        if self._bags and self.rng.random() < 0.3:
            self._as_list(self.changed["X"])

    def _change_argument(self) -> None:
        names = [name for name in self.data if name != "X"]
        if not names:
            self._change_X()
            return
        name = names[self.rng.integers(len(names))]
        table = CANDIDATES if self.target.data is candidates and name == "y" else OF_ARGUMENT[name]
        self.changed[name] = self._pick(table, name, self.data[name])

    def _change_parameter(self) -> None:
        names = sorted(self.target.estimator().get_params(deep=False))
        names += ["block_rows", "memory"] * 8 if self.target.in_folder else []
        name, value = names[self.rng.integers(len(names))], PARAMETERS[self.rng.integers(len(PARAMETERS))]
        self.params[name] = value
        self.said.append(f"{name}={type(value).__name__} {value!r:.40}")

    def _change_predict(self) -> None:
        self.new = self._pick(MATRICES, "predict", self.data["X"])

    def _change_score(self) -> None:
        """Labels to score, one a row or bag, of a kind that the model was or was not fitted to."""
        self.judged = (self._pick(LABELS, "score", np.arange(BAGS if self._bags else ROWS) % 2),)

    def _change_same(self) -> None:
        table = SAME_DENSE if self.kernel == "precomputed" or not self.sparse else SAME_SPARSE
        self.changed["X"] = self._pick(table, "same", self.data["X"])
        if self._bags and self.rng.random() < 0.3:
            self._as_list(self.plain[6:8])

    def _as_list(self, odd: Any) -> None:
        """Bags in a list, one of which is odd: an array is cut to the bag's size, the rest is taken whole."""
        bags = [self.plain[2 * k : 2 * k + 2] for k in range(BAGS)]
        bags[3] = odd[6:8] if isinstance(odd, np.ndarray) and odd.ndim else odd
        self.changed |= {"X": bags, "groups": None}
        self.said[-1] += ", in a list of bags"

    # -------------------------------------------------------------- acts

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
        if self.judged and hasattr(model, "score"):
            X = wellsvm.Bags(self.plain, self.data["groups"]) if self._bags else self.plain
            assert 0 <= model.score(X, *self.judged) <= 1, "no accuracy"

    def _fit(self, data: Data) -> Any:
        params = dict(self.params)
        X, rest = data["X"], {name: value for name, value in data.items() if name != "X"}
        if self.target.in_folder:
            remove(Path("rows"))
            memory = {"memory": params.pop("memory")} if "memory" in params else {}
            X = wellsvm.open_rows(wellsvm.write_rows("rows", X, block_rows=params.pop("block_rows")), **memory)
        return self.target.estimator(**params).fit(X, **rest)

    def _values(self, model: Any, X: Any) -> Any:
        return model.decision_function(X, groups=self.data["groups"]) if self._bags else model.decision_function(X)

    def _predict(self, model: Any, X: Any) -> None:
        groups = {"groups": self.data["groups"]} if self._bags else {}
        predicted = model.predict(X, **groups)
        clusters = range(model.get_params()["n_clusters"]) if self.target.name == "MaxMarginClustering" else ()
        assert np.isin(predicted, list(getattr(model, "classes_", clusters))).all(), "a class that does not exist"
        if hasattr(model, "predict_proba"):
            assert np.allclose(model.predict_proba(X, **groups).sum(axis=1), 1), "probabilities that do not sum to one"


def attack(what: tuple[Target, int, int]) -> tuple[str, str]:
    """What comes of a case: its outcome and words; those of a failure say what was done."""
    case = Case(*what)
    kind, words = outcome_of(case.run)
    return kind, words if kind in ("refused", "accepted") else f"{case.kernel}, {'; '.join(case.said)}: {words}"
