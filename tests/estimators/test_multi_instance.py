"""MultiInstanceSVC on bags whose key is known."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.metrics.pairwise import rbf_kernel

from checks import hidden_key
from wellsvm import Bags, MultiInstanceSVC
from wellsvm.baselines import MISVM, MIKernelSVC, miSVM
from wellsvm.labels import KeyInstances
from wellsvm.options import Options
from wellsvm.solver.linear_cd import LinearState


def fit(bags, y, groups=None, **parameters):
    return MultiInstanceSVC(**{"random_state": 0, **parameters}).fit(bags, y, groups)


def by_bag(values, bags):
    return np.split(values, bags.offsets[1:-1])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_key_instance_is_found_and_located_in_new_bags(kernel, refine, loss):
    bags, y, keys = hidden_key()
    model = fit(bags, y, kernel=kernel, refine=refine, loss=loss)
    np.testing.assert_array_equal(model.key_instances_, keys[:, 0])
    new, y_new, new_keys = hidden_key(seed=1)
    assert model.score(new, y_new) >= 0.95
    right = model.predict(new) == y_new
    assert np.mean(model.locate(new)[right] == new_keys[right, 0]) >= 0.95


def test_a_bag_has_the_value_of_its_best_instance_and_locate_names_it():
    bags, y, _ = hidden_key(shift=1.0)
    model = fit(bags, y)
    parts = by_bag(model.decision_function_instances(bags), bags)
    np.testing.assert_array_equal(model.decision_function(bags), [part.max() for part in parts])
    np.testing.assert_array_equal(model.predict(bags), [int(part.max() > 0) for part in parts])
    np.testing.assert_array_equal(model.locate(bags), [part.argmax() if part.max() > 0 else -1 for part in parts])
    three = model.locate(bags, k=3)
    assert three.shape == (40, 3)
    for part, found in zip(parts, three):
        wanted = np.argsort(-part, kind="stable")[:3] if part.max() > 0 else []
        assert found.tolist() == [*wanted, *[-1] * (3 - len(wanted))]
    np.testing.assert_array_equal(model.predict_instances(bags), model.decision_function_instances(bags) > 0)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_every_way_to_give_the_same_bags_gives_the_same_model(kernel):
    bags, y, _ = hidden_key(shift=1.5)
    # Rows of a bag keep their order, so that the engine sees the same problem.
    shuffled = np.argsort(np.random.default_rng(3).random(40)[bags.bag_of], kind="stable")
    X, groups = bags.X[shuffled], bags.bag_of[shuffled]
    wanted = fit(bags, y, kernel=kernel)
    f = wanted.decision_function(bags)
    models = {
        "list": fit(list(bags), y, kernel=kernel),
        "flat": fit(bags.X, y, bags.bag_of, kernel=kernel),
        "labels of instances": fit(bags.X, y[bags.bag_of], bags.bag_of, kernel=kernel),
        "unsorted": fit(X, y, groups, kernel=kernel),
        "unsorted, labels of instances": fit(X, y[groups], groups, kernel=kernel),
        "unsorted Bags": fit(Bags(X, groups), y, kernel=kernel),
    }
    for name, model in models.items():
        np.testing.assert_allclose(model.decision_function(bags), f, rtol=1e-9, err_msg=name)
        np.testing.assert_array_equal(model.key_instances_, wanted.key_instances_, err_msg=name)
    unsorted = models["unsorted"]
    np.testing.assert_allclose(unsorted.decision_function(X, groups), f, rtol=1e-9)
    np.testing.assert_array_equal(unsorted.locate(X, groups=groups), wanted.locate(bags))
    instances = wanted.decision_function_instances(bags)[shuffled]
    np.testing.assert_allclose(unsorted.decision_function_instances(Bags(X, groups)), instances, rtol=1e-9)
    np.testing.assert_allclose(unsorted.decision_function_instances(X), instances, rtol=1e-9)
    np.testing.assert_array_equal(unsorted.labelings_, wanted.labelings_[:, shuffled])
    if kernel == "rbf":
        np.testing.assert_array_equal(X[unsorted.support_], unsorted.support_vectors_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_dense_and_sparse_agree(kernel):
    bags, y, _ = hidden_key(shift=1.5)
    csr = Bags(sparse.csr_matrix(bags.X), bags.bag_of)
    a, b = (fit(given, y, kernel=kernel).decision_function(bags) for given in (bags, csr))
    single = 0.0 if kernel == "linear" else 1e-6  # the Gaussian matrix is made and kept in single precision
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=single)
    parts = [sparse.csr_matrix(part) for part in bags]
    np.testing.assert_allclose(fit(parts, y, kernel=kernel).decision_function(csr), b, rtol=1e-6)


def test_a_precomputed_kernel_equals_the_kernel_even_with_unsorted_groups():
    bags, y, _ = hidden_key(shift=1.5)
    shuffled = np.argsort(np.random.default_rng(3).random(40)[bags.bag_of], kind="stable")
    X, groups = bags.X[shuffled], bags.bag_of[shuffled]
    K = rbf_kernel(X, gamma=0.3)
    wanted = fit(X, y, groups, gamma=0.3)
    model = fit(K, y, groups, kernel="precomputed")
    np.testing.assert_allclose(model.decision_function(K, groups), wanted.decision_function(X, groups), rtol=1e-5)
    np.testing.assert_array_equal(model.key_instances_, wanted.key_instances_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_number_types_are_accepted(dtype):
    bags, y, keys = hidden_key(shift=6.0)
    model = fit(bags.with_instances((10 * bags.X).astype(dtype)), y)
    assert np.mean(model.key_instances_ == keys[:, 0]) >= 0.95
    assert model.support_vectors_.dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_several_key_instances_are_found_and_small_bags_used_whole():
    bags, y, keys = hidden_key(n_keys=2)
    model = fit(bags, y, n_key_instances=2)
    assert np.mean(np.all(model.key_instances_ == keys, axis=1)) >= 0.9
    many = fit(bags, y, n_key_instances=5)
    assert many.key_instances_.shape == (40, 5)
    for found, size, positive in zip(many.key_instances_, bags.sizes, y):
        assert np.count_nonzero(found >= 0) == (min(5, size) if positive else 0)
        assert found.max() < size


def test_more_than_two_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4, 3))
    key = rng.integers(0, 4, 60)
    X[np.arange(60), key, y] += 7
    names = np.array(["ant", "bee", "cow"])
    model = fit(X, names[y])
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert model.score(X, names[y]) == 1.0
    np.testing.assert_array_equal(model.key_instances_, key)
    np.testing.assert_array_equal(model.locate(X), key)
    assert model.decision_function(X).shape == (60, 3)
    assert model.decision_function_instances(X).shape == (240, 3)
    assert model.objective_.shape == (3,)
    again = fit(X, names[y], n_jobs=2)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("labels", [(False, True), ("no", "yes"), (2, 7), (-1, 1), (0.0, 1.0)])
def test_labels_of_any_kind_and_the_positive_class(labels):
    bags, y, keys = hidden_key()
    wanted = fit(bags, y)
    told = {} if labels in ((0, 1), (-1, 1)) else {"positive_class": labels[1]}
    model = fit(bags, np.array(labels)[y], **told)
    assert model.predict(bags).tolist() == np.array(labels)[wanted.predict(bags)].tolist()
    # The first label names the positive class now.
    swapped = np.array(labels)[1 - y]
    model = fit(bags, swapped, positive_class=labels[0])
    assert model.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(model.key_instances_, keys[:, 0])
    np.testing.assert_array_equal(model.decision_function(bags), -wanted.decision_function(bags))
    assert model.score(bags, swapped) == wanted.score(bags, y)


def test_the_engine_reports_and_its_choices_are_allowed():
    bags, y, _ = hidden_key(shift=0.7)
    model = fit(bags, y, C_positive=10, C_negative=10, refine=True, max_iter=50)
    labels = KeyInstances(bags.offsets, y == 1)
    assert all(labels.contains(choice) for choice in model.labelings_)
    assert model.labeling_weights_.sum() == pytest.approx(1)
    assert model.gap_ <= 1.01e-3 * model.objective_
    assert model.objective_ <= model.history_[0].objective
    assert model.n_iter_ == len(model.history_) >= 2
    assert isinstance(model.status_, str)
    assert model.refined_objective_ >= model.objective_ * (1 - 2e-3)
    assert fit(bags, y, refine=False).refined_objective_ is None


def test_refinement_ends_where_every_key_is_the_best_instance_of_its_bag():
    bags, y, _ = hidden_key(shift=0.7)
    model = fit(bags, y, refine=True, tol=1e-6)
    parts = by_bag(model.decision_function_instances(bags), bags)
    wanted = [part.argmax() if positive else -1 for part, positive in zip(parts, y)]
    np.testing.assert_array_equal(model.key_instances_, wanted)


def test_the_same_seed_gives_the_same_bits():
    bags, y, _ = hidden_key(shift=0.7)
    for parameters in ({}, {"refine": True}, {"oracle": "climb"}, {"kernel": "linear"}):
        a, b = (fit(bags, y, **parameters).decision_function(bags) for _ in range(2))
        np.testing.assert_array_equal(a, b)


def test_a_pickle_of_a_linear_model_holds_no_training_data():
    bags, y, _ = hidden_key(400)
    model = fit(bags, y, kernel="linear")
    stored = pickle.dumps(model)
    assert len(stored) < 6000
    assert len(stored) < pickle.dumps(bags).__len__() / 4
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.decision_function(bags), model.decision_function(bags))
    assert not hasattr(again, "key_instances_")


def test_clone_and_parameters_follow_scikit_learn():
    model = MultiInstanceSVC(C_positive=3.0, n_key_instances=2, positive_class="a", oracle="climb")
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert set(copy.get_params()) == set(MultiInstanceSVC.__init__.__code__.co_varnames[1:])
    bags, y, _ = hidden_key()
    before = model.set_params(positive_class=None).get_params()
    model.set_params(random_state=0).fit(bags, y)
    assert model.get_params() == {**before, "random_state": 0}


def test_too_few_iterations_warn():
    bags, y, _ = hidden_key(shift=0.5)
    with pytest.warns(ConvergenceWarning, match="MultiInstanceSVC stopped without convergence"):
        fit(bags, y, max_iter=1, C_positive=10, C_negative=10, tol=1e-5)


def test_verbose_prints_a_table(caplog):
    bags, y, _ = hidden_key()
    fit(bags, y, verbose=1)
    assert "labelings" in caplog.text


# ------------------------------------------------------------------ bad input

BAGS, Y, _ = hidden_key(12)


def with_cell(value, bag=3, row=1):
    changed = BAGS.X.copy()
    changed[BAGS.offsets[bag] + row, 0] = value
    return Bags(changed, BAGS.bag_of)


def replaced(i, part):
    parts = list(BAGS)
    parts[i] = part
    return parts


BAD = {
    "an empty bag": (lambda: fit(replaced(2, np.empty((0, 3))), Y), "bag 2 is empty"),
    "no bags": (lambda: fit([], []), "list of bags is empty"),
    "different widths": (lambda: fit(replaced(4, np.ones((2, 2))), Y), "bag 4 has 2 features but bag 0 has 3"),
    "dense and sparse": (lambda: fit(replaced(1, sparse.csr_matrix(np.ones((2, 3)))), Y), "bag 1 is sparse"),
    "a vector for a bag": (lambda: fit(replaced(1, np.ones(3)), Y), "bag 1 has shape"),
    "NaN": (lambda: fit(with_cell(np.nan), Y), "NaN, first in row 1 of bag 3"),
    "infinity": (lambda: fit(with_cell(np.inf), Y), "infinity .*row 1 of bag 3"),
    "NaN in CSR": (lambda: fit(Bags(sparse.csr_matrix(with_cell(np.nan).X), BAGS.bag_of), Y), "row 1 of bag 3"),
    "NaN in a list": (lambda: fit(replaced(5, np.full((2, 3), np.nan)), Y), "row 0 of bag 5"),
    "NaN in a named bag": (lambda: fit(Bags(with_cell(np.nan).X, [f"b{i:02}" for i in BAGS.bag_of]), Y), "bag 'b03'"),
    "a bag without label": (lambda: fit(BAGS, [np.nan, *Y[1:]]), "bag 0 has no label"),
    "a bag with None for a label": (lambda: fit(BAGS, np.array([*Y[:-1], None], dtype=object)), "bag 11 has no label"),
    "labels that differ in a bag": (
        lambda: fit(BAGS, np.arange(BAGS.n_instances) % 2), "y has different labels within bag 0: 0 and 1"),
    "too few labels": (lambda: fit(BAGS, Y[:-1]), "11 labels for 12 bags"),
    "too many labels": (lambda: fit(BAGS, [*Y, 0]), "13 labels for 12 bags"),
    "no labels": (lambda: fit(BAGS, None), "requires y"),
    "labels in two columns": (lambda: fit(BAGS, np.column_stack([Y, Y])), "one label per bag"),
    "continuous labels": (lambda: fit(BAGS, np.linspace(0, 1, 12)), "continuous"),
    "only positive bags": (lambda: fit(BAGS, np.ones(12)), "have the label 1.0"),
    "only negative bags": (lambda: fit(BAGS, np.zeros(12)), "have the label 0.0"),
    "flat rows without groups": (lambda: fit(BAGS.X, Y), "without groups"),
    "groups of the wrong length": (lambda: fit(BAGS.X, Y, BAGS.bag_of[:-1]), "entries for"),
    "groups with bags": (lambda: fit(BAGS, Y, BAGS.bag_of), "already consists of bags"),
    "groups with a hole": (lambda: fit(BAGS.X, Y, np.where(BAGS.bag_of == 2, np.nan, BAGS.bag_of)), "missing value"),
    "unknown positive class": (lambda: fit(BAGS, Y, positive_class="z"), "positive_class='z' is not among"),
    "positive class of three": (lambda: fit(BAGS, np.arange(12) % 3, positive_class=1), "is for two classes"),
    "C_positive": (lambda: fit(BAGS, Y, C_positive=0), "C_positive"),
    "C_negative": (lambda: fit(BAGS, Y, C_negative=-1.0), "C_negative"),
    "n_key_instances": (lambda: fit(BAGS, Y, n_key_instances=0), "n_key_instances"),
    "refine": (lambda: fit(BAGS, Y, refine="yes"), "refine"),
    "fit_intercept": (lambda: fit(BAGS, Y, fit_intercept=2), "fit_intercept"),
    "n_jobs": (lambda: fit(BAGS, Y, n_jobs="all"), "n_jobs"),
    "oracle": (lambda: fit(BAGS, Y, oracle="best"), "oracle"),
    "loss": (lambda: fit(BAGS, Y, loss="log"), "loss"),
    "kernel": (lambda: fit(BAGS, Y, kernel="gauss"), "kernel"),
    "gamma": (lambda: fit(BAGS, Y, gamma=0.0), "gamma"),
    "tol": (lambda: fit(BAGS, Y, tol=0.0), "tol"),
    "max_iter": (lambda: fit(BAGS, Y, max_iter=0), "max_iter"),
    "precomputed that is not square": (lambda: fit(BAGS, Y, kernel="precomputed"), "square"),
    "predict: other width": (lambda: fit(BAGS, Y).predict([np.ones((2, 4))]), "4 features"),
    "predict: NaN": (lambda: fit(BAGS, Y).predict(with_cell(np.nan)), "row 1 of bag 3"),
    "predict: empty bag": (lambda: fit(BAGS, Y).predict([np.empty((0, 3))]), "bag 0 is empty"),
    "predict: flat rows": (lambda: fit(BAGS, Y).predict(BAGS.X), "without groups"),
    "locate: k": (lambda: fit(BAGS, Y).locate(BAGS, k=0), "k must be"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_an_error_that_says_what_is_wrong(case):
    act, match = BAD[case]
    with pytest.raises((ValueError, TypeError), match=match):
        act()


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = fit(BAGS, Y)
    before = model.decision_function(BAGS)
    for bags, y in ((with_cell(np.nan), Y), (BAGS, np.ones(12)), ([np.ones((1, 5))] * 3, [0, 1, 2])):
        with pytest.raises(ValueError):
            model.set_params(max_iter=0 if len(bags) == 3 else 50).fit(bags, y)
        np.testing.assert_array_equal(model.decision_function(BAGS), before)


def test_an_unfitted_model_says_so():
    for method in ("predict", "decision_function", "predict_instances", "locate", "decision_function_instances"):
        with pytest.raises(NotFittedError):
            getattr(MultiInstanceSVC(), method)(BAGS)


# ------------------------------------------------------------------ the positive class and scikit-learn's scores


@pytest.mark.parametrize("model", [MultiInstanceSVC, MISVM, miSVM, MIKernelSVC])
def test_scores_are_not_turned_round_where_the_positive_class_is_the_smaller_label(model):
    bags, y, _ = hidden_key(shift=2.0)
    plain = model(random_state=0).fit(bags, y)
    turned = model(random_state=0, positive_class=0).fit(bags, 1 - y)
    assert turned.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(turned.predict(bags), 1 - plain.predict(bags))
    np.testing.assert_allclose(turned.decision_function(bags), -plain.decision_function(bags))
    np.testing.assert_array_equal(turned.decision_function(bags) > 0, turned.predict(bags) == turned.classes_[1])
    np.testing.assert_allclose(turned.decision_function_instances(bags), plain.decision_function_instances(bags))
    np.testing.assert_array_equal(turned.locate(bags), plain.locate(bags))
    auc = get_scorer("roc_auc")
    assert auc(turned, bags, 1 - y) == pytest.approx(auc(plain, bags, y))
    assert auc(turned, bags, 1 - y) > 0.5


# ------------------------------------------------------------------ many instances, the squared hinge loss


@pytest.mark.parametrize("n_keys", [1, 2])
def test_newtons_method_on_key_instances_ends_where_coordinate_descent_does(n_keys, monkeypatch):
    """One key instance a bag is a row to Newton's method; with two it must leave them to coordinate descent."""
    bags, y, _ = hidden_key(200, shift=1.0)
    how = {"kernel": "linear", "loss": "squared_hinge", "tol": 1e-6, "n_key_instances": n_keys, "random_state": 0}
    steps = []
    monkeypatch.setattr(LinearState, "_descend_on_keys", counted(LinearState._descend_on_keys, steps), raising=True)
    by_newton = MultiInstanceSVC(**how).fit(bags, y)
    assert bool(steps) == (n_keys == 1)
    monkeypatch.setattr(Options, "bag_dense_epochs", np.inf)
    del steps[:]
    descended = MultiInstanceSVC(**how).fit(bags, y)
    assert not steps
    assert by_newton.refined_objective_ == pytest.approx(descended.refined_objective_, rel=1e-5)
    np.testing.assert_allclose(by_newton.coef_, descended.coef_, atol=1e-3)


def counted(method, calls):
    def call(self, *args):
        calls.append(1)
        return method(self, *args)

    return call


def test_the_relaxation_of_many_instances_is_the_result_of_the_search():
    rng = np.random.default_rng(0)
    bags, y = Bags(rng.standard_normal((21_000, 3)), np.repeat(np.arange(1050), 20)), np.arange(1050) % 2
    model = MultiInstanceSVC(kernel="linear", loss="squared_hinge", tol=1e-2, random_state=0).fit(bags, y)
    assert model.n_iter_ == len(model.labelings_) == 1
    assert model.objective_ == pytest.approx(model.refined_objective_, rel=2e-2)
    found = (model.labelings_[0] > 0).reshape(1050, 20)[y == 1].argmax(axis=1)
    assert np.mean(found == model.key_instances_[y == 1]) >= 0.9
    few = bags[np.arange(500)]
    assert (
        MultiInstanceSVC(kernel="linear", loss="squared_hinge", tol=1e-2, random_state=0).fit(few, y[:500]).n_iter_ > 1
    )
