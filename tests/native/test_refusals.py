"""A bad call of a kernel raises, in both backends alike, and changes nothing; none can crash the process."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from wellsvm.native import reference
from wellsvm.rows.linear import native_rows

native = pytest.importorskip("wellsvm.native._native", reason="the compiled module was not built")

both = pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
FAR = 2**40  # an index so large that using it would end the process


def sparse_parts(index=np.int32):
    """data, indices and indptr of rows of 2, 0 and 3 entries in four columns."""
    return np.arange(1.0, 6.0), np.array([0, 3, 1, 2, 3], index), np.array([0, 2, 2, 5], index)


def rows_of(module, format):
    if format == "dense":
        return module.dense_rows(np.arange(12.0).reshape(3, 4))
    return module.csr_rows(*sparse_parts(format), 4)


def refused(call, given, changed, error=ValueError):
    """The call works as given, is refused with the change, and then leaves every array as it was."""
    call(**{name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()})
    given = {**given, **changed}
    before = {name: value.copy() for name, value in given.items() if isinstance(value, np.ndarray)}
    with pytest.raises(error):
        call(**given)
    for name, value in before.items():
        np.testing.assert_array_equal(given[name], value, err_msg=name)


def skewed(array):
    """The same numbers at an address that is no multiple of their size."""
    room = np.empty(array.nbytes + 1, np.uint8)
    askew = room[1:].view(array.dtype).reshape(array.shape)
    askew[...] = array
    return askew


# Matrices


@both
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    "indices, indptr",
    [
        ([0, 3, 1], [0, 2, 3]),  # column 3 of three
        ([0, -1, 1], [0, 2, 3]),  # negative column
        ([0, 2**31 - 1, 1], [0, 2, 3]),
        ([0, 1, 2], [0, 3, 2]),  # falling row pointers
        ([0, 1, 2], [0, 2, 4]),  # past the end
        ([0, 1, 2], [0, 2**31 - 1, 3]),
        ([0, 1, 2], [1, 2, 3]),  # not from 0
        ([0, 1, 2], [0, -1, 3]),  # negative row pointer
        ([0, 1], [0, 1, 2]),  # fewer indices than values
        ([0, 1, 2], []),  # not even the first row pointer
    ],
)
def test_a_bad_sparse_matrix_is_refused(module, index, indices, indptr):
    with pytest.raises(ValueError):
        module.csr_rows(np.ones(3), np.array(indices, index), np.array(indptr, index), 3)


@both
def test_a_negative_number_of_features_is_refused(module):
    none = np.zeros(0, np.int32)
    with pytest.raises(ValueError):
        module.csr_rows(np.ones(0), none, np.zeros(1, np.int32), -1)


@both
def test_spare_room_behind_the_last_row_may_hold_anything(module):
    data, indices, indptr = sparse_parts()
    rows = module.csr_rows(np.append(data, np.nan), np.append(indices, np.int32(-7)), indptr, 4)
    norms = np.empty(3)
    rows.squared_norms(0, 3, norms)
    np.testing.assert_array_equal(norms, [5.0, 0.0, 50.0])


@both
def test_a_matrix_that_would_need_a_copy_is_refused(module):
    X, (data, indices, indptr) = np.ones((6, 4)), sparse_parts()
    for bad in (X[::2], np.asfortranarray(X), X.astype(np.int64), X.astype(np.float16), X[0]):
        with pytest.raises(TypeError):
            module.dense_rows(bad)
    for parts in ((np.repeat(data, 2)[::2], indices, indptr), (data, indices.astype(np.int64), indptr)):
        with pytest.raises(TypeError):
            module.csr_rows(*parts, 4)
    with pytest.raises(TypeError):
        module.gram(np.asfortranarray(np.arange(9.0).reshape(3, 3)))
    with pytest.raises(ValueError):
        module.gram(np.ones((3, 2)))


@both
def test_numbers_at_odd_addresses_are_refused_by_the_kernels_and_copied_before(module):
    X, (data, indices, indptr) = np.arange(12.0).reshape(3, 4), sparse_parts()
    with pytest.raises(ValueError):
        module.dense_rows(skewed(X))
    with pytest.raises(ValueError):
        module.gram(skewed(np.eye(3)))
    for k in range(3):
        parts = [skewed(part) if j == k else part for j, part in enumerate((data, indices, indptr))]
        with pytest.raises(ValueError):
            module.csr_rows(*parts, 4)
    S = sparse.csr_matrix((data, indices, indptr), shape=(3, 4))
    S.indices, S.data = skewed(indices), np.repeat(data, 2)[::2]
    norms = np.empty((2, 3))
    native_rows(skewed(X), module=module).squared_norms(0, 3, norms[0])
    native_rows(S, module=module).squared_norms(0, 3, norms[1])
    np.testing.assert_array_equal(norms, [(X**2).sum(axis=1), [5.0, 0.0, 50.0]])


def test_an_object_that_was_never_made_is_refused():
    for kind in (native.DenseRowsFloat64, native.CsrRowsFloat32Int32):
        with pytest.raises(TypeError):
            kind()
        with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
            kind.__new__(kind).squared_norms(0, 1, np.empty(1))


# Products with rows


@both
@pytest.mark.parametrize("format", ["dense", np.int32, np.int64])
def test_products_refuse_slices_and_arrays_that_do_not_fit(module, format):
    rows = rows_of(module, format)
    slices = [{"begin": -1}, {"begin": 2, "end": 1}, {"end": 4}, {"begin": -FAR}, {"end": FAR}, {"begin": 1}]
    whole = {"begin": 0, "end": 3}
    for changed in (*slices, {"out": np.empty(2)}, {"begin": 3, "end": 4, "out": np.empty(1)}):
        refused(rows.squared_norms, {**whole, "out": np.zeros(3)}, changed)
    given = {**whole, "bias": 1.0, "U": np.zeros((5, 2)), "Z": np.zeros((3, 2))}
    bad_weights = [{"U": np.zeros((4, 2))}, {"U": np.zeros((6, 2))}, {"U": np.zeros((5, 1))}, {"U": np.zeros((0, 2))}]
    for changed in (*slices, *bad_weights, {"Z": np.zeros((2, 2))}, {"Z": np.zeros((3, 1))}):
        refused(rows.scores, given, changed)
    given = {**whole, "bias": 1.0, "U": np.zeros((5, 2)), "coef": np.zeros((3, 2))}
    for changed in (*slices, *bad_weights, {"coef": np.zeros((2, 2))}, {"coef": np.zeros((3, 1))}):
        refused(rows.combine, given, changed)


@both
@pytest.mark.parametrize("bad", [np.zeros((5, 2), np.float32), np.zeros((2, 5)).T, np.zeros(5), None], ids=repr)
def test_weights_that_cannot_be_used_in_place_are_refused(module, bad):
    rows = rows_of(module, "dense")
    with pytest.raises(TypeError):
        rows.scores(bad, 1.0, 0, 3, np.zeros((3, 2)))
    with pytest.raises(TypeError):
        rows.combine(np.zeros((3, 2)), 1.0, 0, 3, bad)


# Coordinate descent on rows

DUAL = {"starts": None, "cap": np.ones(3), "ridge": np.zeros(3), "curvature": np.ones(3), "alpha": np.zeros(3)}
BAGS = {"starts": np.array([0, 2, 3]), **{name: np.ones(2) for name in ("cap", "ridge", "curvature", "alpha")}}
BAD_DUAL = [
    {"cap": np.ones(2)},
    {"ridge": np.ones(4)},
    {"curvature": np.ones(2)},
    {"alpha": np.ones(2)},
    {"cap": skewed(np.ones(3))},
    {"alpha": skewed(np.ones(3))},
    {"starts": np.array([0, 3])},
    {"order": np.array([0, 3])},
    {"order": np.array([-1])},
    {"order": np.array([FAR])},
    {"order": np.array([-FAR])},
    {"order": skewed(np.array([0]))},
    {"mu": np.ones(2)},
]
BAD_BAGS = [
    {"starts": np.array([0, 2, 4])},  # past the last instance
    {"starts": np.array([0, 2, FAR])},
    {"starts": np.array([-1, 2, 3])},
    {"starts": np.array([-FAR, 2, 3])},
    {"starts": np.array([0, 3, 2])},  # falling
    {"starts": np.array([2, FAR, 3])},
    {"starts": np.array([0, 3])},
    {"starts": skewed(np.array([0, 2, 3]))},
    {"order": np.array([2])},
    {"order": np.array([-1])},
]
BAD_TYPES = [
    {"starts": np.zeros(4, np.int32)},
    {"cap": np.ones(3, np.float32)},
    {"ridge": np.ones(6)[::2]},
    {"curvature": np.ones((3, 1))},
    {"alpha": np.broadcast_to(1.0, 3)},
    {"mu": np.ones(1, np.float32)},
    {"order": np.arange(3, dtype=np.int32)},
    {"order": np.arange(3.0)},
    {"order": None},
]


@both
@pytest.mark.parametrize("format", ["dense", np.int32, np.int64])
def test_descent_on_rows_refuses_what_does_not_fit_or_exist(module, format):
    descend = rows_of(module, format).descend
    rest = {"labels": np.ones((3, 1), np.int8), "mu": np.ones(1), "U": np.zeros((5, 1)), "bias": 0.5}
    alone, bags = {**DUAL, **rest, "order": np.array([2, 0, 1])}, {**BAGS, **rest, "order": np.array([1, 0])}
    bad = [
        {"labels": np.ones((2, 1), np.int8)},
        {"labels": np.ones((3, 2), np.int8)},
        {"labels": np.array([[1], [1], [2]], np.int8)},
        {"labels": np.array([[1], [-128], [1]], np.int8)},
        {"U": np.zeros((4, 1))},
        {"U": np.zeros((5, 2))},
        {"U": skewed(np.zeros((5, 1)))},
    ]
    for changed in (*BAD_DUAL, *bad):
        refused(descend, alone, changed)
    for changed in (*BAD_BAGS, *bad):
        refused(descend, bags, changed)
    for changed in (*BAD_TYPES, {"labels": np.ones((3, 1))}, {"U": np.zeros((5, 1), np.float32)}):
        refused(descend, alone, changed, TypeError)


@both
def test_rows_that_are_not_visited_are_not_looked_at(module):
    """The cost of the checks goes with the work of the call."""
    descend = rows_of(module, "dense").descend
    labels = np.array([[1], [1], [7]], np.int8)
    given = {**BAGS, "starts": np.array([0, 2, FAR]), "labels": labels, "mu": np.ones(1), "U": np.zeros((5, 1))}
    descend(**given, bias=0.0, order=np.array([0]))
    with pytest.raises(ValueError):
        descend(**given, bias=0.0, order=np.array([1]))


# A kernel matrix


@both
def test_descent_on_a_gram_refuses_what_does_not_fit_or_exist(module):
    descend = module.gram(np.eye(3)).descend
    rest = {
        "pattern_of": np.array([0, 1, 0], np.int32), "patterns": np.array([[1, -1]], np.int8), "mu": np.ones(1),
        "signed_scores": np.zeros(3), "bias": 0.5, "threshold": 0.0,
    }  # fmt: skip
    alone, bags = {**DUAL, **rest, "order": np.array([2, 0, 1])}, {**BAGS, **rest, "order": np.array([1, 0])}
    bad = [
        {"pattern_of": np.zeros(2, np.int32)},
        {"pattern_of": np.array([0, 2, 0], np.int32)},
        {"pattern_of": np.array([0, 0, -1], np.int32)},
        {"pattern_of": np.array([2**31 - 1, 0, 0], np.int32)},
        {"patterns": np.ones((2, 2), np.int8)},
        {"patterns": np.ones((1, 0), np.int8)},
        {"patterns": np.array([[1, 2]], np.int8)},
        {"signed_scores": np.zeros(2)},
        {"signed_scores": skewed(np.zeros(3))},
    ]
    for changed in (*BAD_DUAL, *bad):
        refused(descend, alone, changed)
    for changed in (*BAD_BAGS, *bad):
        refused(descend, bags, changed)
    for changed in (*BAD_TYPES, {"pattern_of": np.zeros(3, np.int64)}, {"patterns": np.ones((1, 2))}):
        refused(descend, alone, changed, TypeError)


@both
def test_epochs_on_an_svm_refuse_what_does_not_fit_or_exist(module):
    descend = module.gram(np.eye(3)).descend_svm
    good = {
        **{name: part for name, part in DUAL.items() if name != "starts"}, "labels": np.array([1, -1, 0], np.int8),
        "coef": np.zeros(3), "f": np.zeros(3), "bias": 0.5, "goal": 0.1, "tol": 0.1, "patience": 0.1, "most_epochs": 3,
        "most_changes": 3, "seed": 1, "order": np.array([2, 0, 1]),
    }  # fmt: skip
    bad = [
        {"labels": np.ones(2, np.int8)},
        {"labels": np.array([1, 2, 0], np.int8)},
        {"f": np.zeros(2)},
        {"f": skewed(np.zeros(3))},
        {"coef": np.zeros(4)},
        {"coef": skewed(np.zeros(3))},
    ]
    descend(**{**good, "alpha": np.zeros(3), "coef": np.zeros(3), "f": np.zeros(3)})
    for changed in (*(b for b in BAD_DUAL if b.keys() <= good.keys()), *bad):
        refused(descend, good, changed)
    for changed in (*(b for b in BAD_TYPES if b.keys() <= good.keys()), {"labels": np.ones(3)}):
        refused(descend, good, changed, TypeError)
    with pytest.raises(ValueError, match="needs the whole matrix"):
        module.gram(np.ascontiguousarray(np.eye(3)[:2]), np.array([0, 1, -1])).descend_svm(**good)


@both
def test_parts_of_a_gram_refuse_what_does_not_fit_or_exist(module):
    gather = module.gram(np.eye(3)).gather
    good = {"chosen": np.array([2, 0]), "begin": 1, "values": np.zeros((1, 2))}
    bad = [
        {"chosen": np.array([3, 0])},
        {"chosen": np.array([-1, 0])},
        {"chosen": np.array([FAR, 0])},
        {"chosen": np.array([0])},
        {"begin": 2},
        {"begin": -1},
        {"begin": FAR},
        {"values": np.zeros((3, 2)), "begin": 0},
        {"values": skewed(np.zeros((1, 2)))},
    ]
    gather(**good)
    for changed in bad:
        refused(gather, good, changed)
    for changed in ({"chosen": np.array([2, 0], np.int32)}, {"values": np.zeros((1, 2), np.float32)}):
        refused(gather, good, changed, TypeError)
    with pytest.raises(ValueError, match="needs the whole matrix"):
        module.gram(np.ascontiguousarray(np.eye(3)[:2]), np.array([0, 1, -1])).gather(**good)


@both
def test_neighbors_refuse_what_does_not_fit_or_exist(module):
    nearest = module.gram(np.eye(3)).nearest
    good = {"halves": np.full(3, 0.5), "begin": 1, "found": np.zeros((2, 2), np.int64)}
    bad = [
        {"halves": np.ones(2)},
        {"halves": skewed(np.ones(3))},
        {"begin": 2},
        {"begin": -1},
        {"begin": FAR},
        {"found": np.zeros((2, 3), np.int64)},
        {"found": np.zeros((2, 0), np.int64)},
        {"found": np.zeros((4, 1), np.int64), "begin": 0},
    ]
    nearest(**good)
    for changed in bad:
        refused(nearest, good, changed)
    for changed in ({"halves": np.ones(3, np.float32)}, {"found": np.zeros((2, 2))}):
        refused(nearest, good, changed, TypeError)
    with pytest.raises(ValueError, match="need the whole matrix"):
        module.gram(np.ascontiguousarray(np.eye(3)[:2]), np.array([0, 1, -1])).nearest(**good)


@both
def test_places_that_do_not_exist_are_refused_at_every_call(module):
    K, places = np.ascontiguousarray(np.eye(5)[:2]), np.array([0, 1, -1, -1, -1])
    gram = module.gram(K, places)
    combine = {"rows": np.array([0]), "coef": np.ones((1, 1)), "Z": np.zeros((1, 5))}
    one = np.ones(5)
    descend = {
        **dict.fromkeys(("cap", "ridge", "curvature", "alpha", "signed_scores"), one), "starts": None,
        "pattern_of": np.zeros(5, np.int32), "patterns": np.ones((1, 1), np.int8), "mu": np.ones(1), "bias": 0.0,
        "threshold": 0.0, "order": np.arange(2),
    }  # fmt: skip
    gram.combine(**combine)
    gram.descend(**{**descend, "alpha": one.copy(), "signed_scores": one.copy()})
    for place in (2, FAR):
        places[1] = place
        with pytest.raises(ValueError, match="places names a row"):
            gram.combine(**combine)
        with pytest.raises(ValueError, match="places names a row"):
            gram.descend(**descend)
    for bad in (places[:4], skewed(places)):
        with pytest.raises(ValueError):
            module.gram(K, bad)
    with pytest.raises(TypeError):
        module.gram(K, places.astype(np.int32))


@both
@pytest.mark.parametrize(
    "rows, coef, Z",
    [
        ([0, 3], (1, 2), (1, 3)),
        ([-1], (1, 1), (1, 3)),
        ([FAR], (1, 1), (1, 3)),
        ([0], (1, 2), (1, 3)),
        ([0], (1, 1), (2, 3)),
        ([0], (1, 1), (1, 4)),
    ],
)
def test_products_with_a_gram_refuse_what_does_not_fit_or_exist(module, rows, coef, Z):
    gram = module.gram(np.eye(3))
    with pytest.raises(ValueError):
        gram.combine(np.array(rows), np.ones(coef), np.zeros(Z))


# Vectors of all rows


@both
def test_vectors_that_do_not_fit_are_refused(module):
    ones, labels, some = np.ones(3), np.ones(3, np.int8), np.array([True, False, True])
    cut = {"f": ones, "y": labels, "rising": some}
    for changed in ({"y": labels[:2]}, {"rising": some[:2]}, {"f": skewed(ones)}):
        refused(module.distances_to_cut, cut, changed)
    for changed in ({"y": np.ones(3)}, {"rising": labels}, {"f": np.ones(3, np.float32)}, {"f": np.ones(6)[::2]}):
        refused(module.distances_to_cut, cut, changed, TypeError)
    shares = {"distances": ones, "rising": some, "sure": 0.5, "least": 0.1, "price": 0.3}
    for changed in ({"rising": some[:2]}, {"distances": skewed(ones)}):
        refused(module.shares_of_prices, shares, changed)
    for changed in ({"rising": labels}, {"distances": np.ones(3, np.float32)}):
        refused(module.shares_of_prices, shares, changed, TypeError)
    parts = ("alpha", "cap", "ridge", "to_cap", "to_ridge", "carried")
    carried = {**{name: np.ones(3) for name in parts}, "rise": True}
    for name in parts:
        refused(module.carry, carried, {name: np.ones(2)})
        refused(module.carry, carried, {name: skewed(ones)})
        refused(module.carry, carried, {name: np.ones(3, np.float32)}, TypeError)
