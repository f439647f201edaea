"""Whatever is wrong with the input: an error that names it, and a fitted model stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from checks import PLAIN
from wellsvm import SemiSupervisedSVC, SemiSupervisedSVCCV

N = 40
RNG = np.random.default_rng(0)
TRUTH = np.arange(N) % 2
X = RNG.standard_normal((N, 3)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(N) < 10, TRUTH, np.nan)
Y3 = np.where(np.arange(N) < 15, np.arange(N) % 3, np.nan)
K = X @ X.T


def with_cell(value, dtype=np.float64):
    """X with one cell of row 5 replaced."""
    changed = X.astype(dtype)
    changed[5, 1] = value
    return changed


def fit(X=X, y=Y, sample_weight=None, **params):
    return SemiSupervisedSVC(**{"random_state": 0, **params}).fit(X, y, sample_weight)


def fit_cv(X=X, y=Y, **params):
    return SemiSupervisedSVCCV(**{"Cs_unlabeled": [0.1], "cv": 2, "random_state": 0, **params}).fit(X, y)


def bad_X(kernel):
    """What fit and predict refuse in X, for linear rows and for a kernel."""
    return {
        "NaN": (with_cell(np.nan), r"X contains NaN, first in row 5"),
        "inf": (with_cell(np.inf), r"X contains infinity .*row 5"),
        "-inf": (with_cell(-np.inf), r"X contains infinity .*row 5"),
        "NaN in float32": (with_cell(np.nan, np.float32), r"X contains NaN, first in row 5"),
        "NaN in CSR": (sp.csr_matrix(with_cell(np.nan)), r"X contains NaN, first in row 5"),
        "inf in CSR": (sp.csr_array(with_cell(np.inf)), r"X contains infinity .*row 5"),
        "-inf in CSC": (sp.csc_matrix(with_cell(-np.inf)), r"X contains infinity .*row 5"),
        "words": (np.full((N, 3), "a"), r"could not convert string to float"),
        "objects that are no numbers": (np.full((N, 3), {}, dtype=object), r"float\(\) argument|real number|convert"),
        "no rows": (X[:0], r"0 sample\(s\)"),
        "no columns": (X[:, :0], r"0 feature\(s\)|has 0 features"),
        "1-D": (X[:, 0], r"Expected 2D array"),
        "3-D": (X[:, :, None], r"dim 3"),
        "scalar": (3.0, r"Expected 2D array"),
        "None": (None, r"Expected 2D array"),
        "complex": (X + 1j, r"Complex data not supported"),
        "ragged": ([[1.0, 2.0]] * 20 + [[1.0]] * 20, r"inhomogeneous|sequence"),
    }


CASES = {}  # name: (what to do, type of the error, what the message must match)

for kernel in ("linear", "rbf"):
    for what, (bad, match) in bad_X(kernel).items():
        kind = (ValueError, TypeError) if what.startswith("objects") else ValueError
        y = Y[:0] if what == "no rows" else Y
        CASES[f"{kernel}: X with {what}"] = (lambda b=bad, y=y, k=kernel: fit(b, y, kernel=k), kind, match)

overflow = r"(?i)squared norm of row 5.* overflow|row 5.*(overflow|infinity)|NaN or infinity"
CASES |= {
    "linear: X whose squared norm overflows": (
        lambda: fit(with_cell(1e200)),
        ValueError,
        r"row 5: its squared norm overflows",
    ),
    "linear: CSR whose squared norm overflows": (
        lambda: fit(sp.csr_matrix(with_cell(1e200))),
        ValueError,
        r"row 5: its squared norm overflows",
    ),
    "rbf: X whose squared norm overflows": (lambda: fit(with_cell(1e200), kernel="rbf"), ValueError, overflow),
    "rbf: X whose variance overflows": (
        lambda: fit(with_cell(1e200), kernel="rbf", gamma="scale"),
        ValueError,
        overflow,
    ),
    "rbf: CSR whose squared norm overflows": (
        lambda: fit(sp.csr_matrix(with_cell(1e200)), kernel="rbf"),
        ValueError,
        overflow,
    ),
    "rbf: float32 whose squared norm overflows": (
        lambda: fit(with_cell(1e30, np.float32), kernel="rbf"),
        ValueError,
        overflow,
    ),
    "poly: X whose kernel overflows": (lambda: fit(X * 1e60, kernel="poly", gamma=1.0), ValueError, r"kernel='poly'"),
}

for what, (y, kind, match) in {
    "None": (None, ValueError, r"requires y.*None"),
    "one class": (np.where(np.isnan(Y), np.nan, 1), ValueError, r"at least 2 classes"),
    "no label, all NaN": (np.full(N, np.nan), ValueError, r"y is all unlabeled"),
    "no label, all -1": (np.full(N, -1), ValueError, r"y contains only -1"),
    "another length": (Y[:-1], ValueError, r"inconsistent numbers of samples"),
    "no entry": ([], ValueError, r"y has 0 samples"),
    "two columns": (np.c_[Y, Y], ValueError, r"y should be a 1d array"),
    "scalar": (1, ValueError, r"y should be a 1d array"),
    "continuous": (X[:, 0], ValueError, r"Unknown label type: continuous"),
    "infinity": (np.where(np.isnan(Y), np.inf, Y), ValueError, r"y contains infinity"),
    "complex": (TRUTH + 1j, ValueError, r"Complex data not supported"),
    "strings and numbers": (["a", 1] * 20, TypeError, r"y mixes strings"),
    "bytes": (np.array([b"a", b"b"] * 20), TypeError, r"bytes"),
    "-1 beside one class": (np.where(np.isnan(Y), -1, 5), ValueError, r"unlabeled=None.*unlabeled=-1"),
}.items():
    CASES[f"y: {what}"] = (lambda y=y: fit(y=y), kind, match)
    CASES[f"CV y: {what}"] = (lambda y=y: fit_cv(y=y), kind, match)

for what, (weight, match) in {
    "another length": (np.ones(N - 1), r"sample_weight"),
    "negative": (-np.ones(N), r"sample_weight"),
    "NaN": (np.full(N, np.nan), r"sample_weight contains NaN"),
    "inf": (np.full(N, np.inf), r"sample_weight contains infinity"),
    "two columns": (np.ones((N, 2)), r"(?i)sample.weight"),
    "0 for every labeled row": (np.where(np.isnan(Y), 1.0, 0.0), r"sample_weight .* 0 for every labeled row"),
}.items():
    CASES[f"sample_weight: {what}"] = (lambda w=weight: fit(sample_weight=w), ValueError, match)

V, T = ValueError, TypeError
PARAMETERS = {
    "C": [(-1, V), (0, V), (np.nan, V), (np.inf, V), ("1", T), (True, T), (None, T)],
    "C_unlabeled": [(-0.1, V), (np.nan, V), (np.inf, V), ("a", V), (None, T), (True, T)],
    "tol": [(0, V), (-1e-3, V), (np.nan, V), ("a", T), (None, T)],
    "max_iter": [(0, V), (-1, V), (1.5, T), ("a", T), (True, T)],
    "kernel": [("cosine", V), (None, V), (3, V)],
    "gamma": [(0, V), (-1.0, V), (np.inf, V), ("wide", V), (None, T), (True, T)],
    "degree": [(-1, V), ("a", T), (np.nan, V)],
    "coef0": [("a", T), (np.nan, V), (np.inf, V)],
    "cache_size": [(0, V), (-1, V), (np.nan, V), ("200", T), (True, T)],
    "loss": [("logistic", V), (None, V), (True, V), (["auto"], V)],
    "balance": [
        (-0.1, V),
        (1.1, V),
        ((0.6, 0.4), V),
        ((0.1, 0.2, 0.3), V),
        ("equal", V),
        (np.nan, V),
        (("a", 1), T),
        ("Estimate", V),
        ({0: 0.5}, V),
        ({0: 0.5, 1: "estimate"}, V),
    ],
    "search": [("global", V), (None, V), (1, V), (True, V)],
    "safe": [("yes", T), (None, T), (1, T), (0.0, T)],
    "intercept_scaling": [(0, V), (-1.0, V), (np.nan, V), (np.inf, V), ("3", T), (True, T)],
    "oracle": [("best", V), (None, V)],
    "init": [("random", V), (None, V), ([0, 1], V), (np.full(N, 7), V), (1 - TRUTH, V)],
    "unlabeled": [("missing", T), (object(), T), ([0, 1], V), (None, V)],
    "class_weight": [("even", V), ({0: 1, 5: 1}, V), (3, V), ({0: 0, 1: 0}, V), ({0: -1, 1: 1}, V), ({0: np.nan}, V)],
    "verbose": [("a", (V, T)), (-1, V)],
    "n_jobs": [(0, V), ("a", (V, T))],
    "random_state": [("a", V), (-1, V)],
}
for name, values in PARAMETERS.items():
    for value, kind in values:
        shown = "labels" if isinstance(value, np.ndarray) else repr(value).split(" at ")[0]
        match = "random_state|[Ss]eed" if name == "random_state" else f"(?s){name}"
        CASES[f"{name}={shown}, {len(CASES)}"] = (lambda n=name, v=value: fit(**{n: v}), kind, match)

CASES |= {
    "kernel: callable of one argument": (lambda: fit(kernel=lambda a: a), TypeError, r"argument"),
    "kernel: callable of wrong shape": (
        lambda: fit(kernel=lambda a, b: np.ones((2, 2))),
        V,
        r"returned shape \(2, 2\)",
    ),
    "kernel: callable without value": (lambda: fit(kernel=lambda a, b: None), V, r"returned shape \(\)"),
    "kernel: callable of NaN": (
        lambda: fit(kernel=lambda a, b: np.full((len(a), len(b)), np.nan)),
        V,
        r"kernel=.* gives NaN",
    ),
    "kernel: callable not symmetric": (
        lambda: fit(kernel=lambda a, b: a @ b.T + np.arange(len(b))),
        V,
        r"kernel=.* not symmetric",
    ),
    "kernel: callable with negative diagonal": (
        lambda: fit(kernel=lambda a, b: -a @ b.T),
        V,
        r"kernel=.* not a kernel",
    ),
    "precomputed: not square": (lambda: fit(K[:, :5], kernel="precomputed"), V, r"square"),
    "precomputed: not symmetric": (lambda: fit(K + np.triu(K), kernel="precomputed"), V, r"not symmetric"),
    "precomputed: sparse": (lambda: fit(sp.csr_matrix(K), kernel="precomputed"), V, r"dense"),
    "precomputed: NaN": (lambda: fit(K * np.nan, kernel="precomputed"), V, r"NaN"),
    "precomputed: negative diagonal": (lambda: fit(-K, kernel="precomputed"), V, r"not a kernel"),
    "three classes: one share": (lambda: fit(y=Y3, balance=0.5), V, r"balance=0.5 .* 3 classes"),
    "three classes: one interval": (lambda: fit(y=Y3, balance=(0.2, 0.4)), V, r"balance=\(0.2, 0.4\) .* 3 classes"),
    "three classes: dict without one": (
        lambda: fit(y=Y3, balance={0: 0.3, 1: 0.3}),
        V,
        r"no entry for class 2\.0; .* \[0\.0, 1\.0, 2\.0\]",
    ),
    "three classes: dict with bad share": (lambda: fit(y=Y3, balance={0: 0.3, 1: 0.3, 2: 3}), V, r"balance"),
    "three classes: init contradicts": (lambda: fit(y=Y3, init=np.zeros(N)), V, r"init contradicts"),
    "init contradicts the balance": (
        lambda: fit(init=np.where(np.isnan(Y), 1, Y), balance="labels"),
        V,
        r"init contradicts",
    ),
    "CV: empty grid": (lambda: fit_cv(Cs_unlabeled=[]), V, r"Cs_unlabeled is empty"),
    "CV: negative value": (lambda: fit_cv(Cs_unlabeled=[0.1, -1]), V, r"Cs_unlabeled.*-1"),
    "CV: NaN value": (lambda: fit_cv(Cs_unlabeled=[np.nan]), V, r"Cs_unlabeled"),
    "CV: word as grid": (lambda: fit_cv(Cs_unlabeled="all"), T, r"Cs_unlabeled"),
    "CV: gammas with the linear kernel": (
        lambda: fit_cv(gammas=[1.0]),
        V,
        r"gammas has no meaning for kernel='linear'",
    ),
    "CV: no gammas": (lambda: fit_cv(gammas=[], kernel="rbf"), V, r"gammas is empty"),
    "CV: gamma 0": (lambda: fit_cv(gammas=[0.0], kernel="rbf"), V, r"gammas"),
    "CV: one fold": (lambda: fit_cv(cv=1), V, r"cv=1 must be at least 2"),
    "CV: cv a word": (lambda: fit_cv(cv="five"), V, r"cv='five'"),
    "CV: no folds": (lambda: fit_cv(cv=[]), V, r"(?i)\bcv\b|fold"),
    "CV: fold of unlabeled rows": (lambda: fit_cv(cv=[(range(10), range(10, 20))]), V, r"Fold 0 .* no labeled row"),
    "CV: unknown scoring": (lambda: fit_cv(scoring="best"), V, r"'best' is not a valid scoring"),
    "CV: scoring a number": (lambda: fit_cv(scoring=3), V, r"scoring"),
    "CV: class with a single label": (
        lambda: fit_cv(y=np.r_[[0.0] * 4, 1, [np.nan] * 35], scoring="accuracy"),
        V,
        r"Class 1 .*1 labeled row",
    ),
    "CV: bad search": (lambda: fit_cv(search="global"), V, r"search must be"),
    "CV: bad balance": (lambda: fit_cv(balance="guess"), V, r"balance must be"),
    "CV: bad intercept_scaling": (lambda: fit_cv(intercept_scaling=0), V, r"intercept_scaling must be"),
    "CV: safe is no parameter": (lambda: fit_cv(safe=True), T, r"safe"),
    "CV: bad C": (lambda: fit_cv(C=-1), V, r"C must be"),
    "predict before fit": (lambda: SemiSupervisedSVC().predict(X), NotFittedError, r"not fitted"),
    "decision_function before fit": (lambda: SemiSupervisedSVCCV().decision_function(X), NotFittedError, r"not fitted"),
    "precomputed: predict with another width": (
        lambda: fit(K, kernel="precomputed").predict(K[:, :5]),
        V,
        r"X has 5 features, but .* 40",
    ),
}
for kernel in ("linear", "rbf"):
    CASES[f"{kernel}: predict X of another width"] = (
        lambda k=kernel: fit(kernel=k).predict(X[:, :2]),
        V,
        "X has 2 feat",
    )
    for what in ("NaN", "inf in CSR", "words", "no rows", "1-D", "3-D", "complex"):
        bad, match = bad_X(kernel)[what]
        CASES[f"{kernel}: predict {what}"] = (lambda b=bad, k=kernel: fit(kernel=k).predict(b), V, match)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("do, kind, match", CASES.values(), ids=CASES.keys())
def test_bad_input_is_refused_by_an_error_that_names_it(do, kind, match):
    with pytest.raises(kind, match=match):
        do()


# ------------------------------------------------------------------ what a failure leaves behind

FAILURES = {
    "bad parameter": ({"C": -1}, X, Y),
    "bad value in X": ({}, with_cell(np.nan), Y),
    "overflow": ({}, with_cell(1e200), Y),
    "no label": ({}, X, np.full(N, np.nan)),
    "one class": ({}, X, np.where(np.isnan(Y), np.nan, 1)),
    "bad balance": ({"balance": 2.0}, X, Y),
    "bad gamma": ({"gamma": -1.0}, X, Y),
    "no label, another width": ({}, X[:, :2], np.full(N, np.nan)),
    "bad balance, another width": ({"balance": 2.0}, X[:, :2], Y),
    "other length of y, another width": ({}, X[:, :2], Y[:-1]),
}


def fitted_attributes(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("model", [SemiSupervisedSVC(), SemiSupervisedSVC(kernel="rbf"), SemiSupervisedSVCCV(cv=2)])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_fit_that_fails_leaves_a_fitted_model_as_it_was(failure, model):
    params, bad, y = FAILURES[failure]
    model = clone(model).set_params(random_state=0).fit(X, Y)
    decided, before = model.decision_function(X), fitted_attributes(model)
    with pytest.raises((ValueError, TypeError)):
        model.set_params(**params).fit(bad, y)
    after = fitted_attributes(model)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before), "an attribute was replaced"
    np.testing.assert_array_equal(model.decision_function(X), decided)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fit_that_a_warning_ends_leaves_a_fitted_model_as_it_was(kernel):
    # Python's -W error turns the ConvergenceWarning into an exception: late, after all is computed.
    model = fit(kernel=kernel)
    decided, before = model.decision_function(X), fitted_attributes(model)
    with pytest.warns(UserWarning, match="without convergence"):
        SemiSupervisedSVC(**PLAIN, kernel=kernel, max_iter=1, tol=1e-12, init="alignment", random_state=0).fit(X, Y + 5)
    model.set_params(**PLAIN, max_iter=1, tol=1e-12, init="alignment")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", _raise)
        with pytest.raises(UserWarning):
            model.fit(X, Y + 5)
    assert all(fitted_attributes(model)[name] is before[name] for name in before), "an attribute was replaced"
    np.testing.assert_array_equal(model.decision_function(X), decided)


def _raise(message, category=UserWarning, *args, **kwargs):
    raise UserWarning(message)


def test_a_failed_first_fit_leaves_a_model_unfitted():
    model = SemiSupervisedSVC()
    with pytest.raises(ValueError, match="all unlabeled"):
        model.fit(X, np.full(N, np.nan))
    with pytest.raises(NotFittedError):
        model.predict(X)


# ------------------------------------------------------------------ what looks odd but is fine


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(
    "data",
    [X.astype(str), X.astype(object), X > 0, np.asfortranarray(X), X[:, ::-1], X.tolist(), X.astype(np.float16)],
    ids=["numbers as text", "objects", "booleans", "Fortran order", "negative strides", "lists", "float16"],
)
def test_unusual_but_sound_X_gives_the_model_of_its_values(data, kernel):
    usual = fit(np.array(data, dtype=np.float64, order="C"), kernel=kernel, balance=0.5)
    unusual = fit(data, kernel=kernel, balance=0.5)
    np.testing.assert_allclose(unusual.decision_function(data), usual.decision_function(data), rtol=1e-2, atol=1e-2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("make", [np.zeros, sp.csr_matrix], ids=["dense", "CSR"])
def test_rows_without_entries_are_fine(make, kernel, loss, fit_intercept):
    model = fit(make((N, 3)), kernel=kernel, loss=loss, fit_intercept=fit_intercept)
    assert np.isfinite(model.objective_)
    assert np.ptp(model.decision_function(np.zeros((4, 3)))) == 0


def test_two_rows_one_of_each_class_are_enough():
    with pytest.warns(UserWarning, match="plain supervised"):
        model = fit([[0.0], [1.0]], [0, 1], C=100.0)
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [0, 1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("coef0", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_indefinite_kernel_gives_finite_values_or_a_clean_error(loss, coef0):
    # The sigmoid kernel is not positive semidefinite: the dual with an unbounded box may have no maximum.
    try:
        model = fit(3 * X, kernel="sigmoid", loss=loss, gamma=1.0, coef0=coef0)
    except ValueError as error:
        assert "kernel" in str(error)  # noqa: PT017
        return
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.decision_function(X)).all()
