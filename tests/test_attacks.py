"""What an attack on version 0.1 found, each as a test: crashes, silent wrong results, internal errors, bombs, leaks."""

from __future__ import annotations

import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from wellsvm import Bags, MaxMarginClustering, MultiInstanceSVC, SemiSupervisedSVC

rng = np.random.default_rng(0)
N = 40
TRUTH = np.arange(N) % 2
X = rng.standard_normal((N, 3)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(N) < 10, TRUTH, np.nan)
BAGS, LABELS = [X[k : k + 4] for k in range(0, N, 4)], np.arange(N // 4) % 2


def changed(form, part, value, place=7):
    made = sp.csr_matrix(X).asformat(form).copy()
    getattr(made, part)[place] = value
    return made


def with_parts(**parts):
    made = sp.csr_matrix(X)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


# ------------------------------------------------------------------ 1: sparse matrices that would end the process

LARGE = 2**31 - 1
WILD = {
    "index": lambda: changed("csr", "indices", LARGE),
    "negative index": lambda: changed("csr", "indices", -5),
    "row pointer that jumps": lambda: changed("csr", "indptr", LARGE),
    "row pointer that falls": lambda: changed("csr", "indptr", 0),
    "negative row pointer": lambda: changed("csr", "indptr", -3),
    "index of CSC": lambda: changed("csc", "indices", LARGE),
    "pointer of CSC": lambda: changed("csc", "indptr", LARGE, place=1),
    "row of COO": lambda: changed("coo", "row", LARGE),
    "column of COO": lambda: changed("coo", "col", LARGE),
    "index beyond 32 bits": lambda: with_parts(
        indices=np.where(np.arange(N * 3) == 7, 2**40, sp.csr_matrix(X).indices.astype(np.int64))
    ),
}


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("what", WILD)
def test_a_wild_index_is_refused_in_fit_and_predict(what, kernel):
    model = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(X), Y)
    for call in (lambda: model.predict(WILD[what]()), lambda: model.fit(WILD[what](), Y)):
        with pytest.raises(ValueError, match=r"X\.(indices|indptr|row|col) (holds|does not rise)"):
            call()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("what", WILD)
def test_a_wild_index_is_refused_in_bags(what, kernel):
    groups, model = np.arange(N) // 4, MultiInstanceSVC(kernel=kernel, random_state=0)
    with pytest.raises(ValueError, match=r"X\.(indices|indptr|row|col) (holds|does not rise)"):
        model.fit(WILD[what](), LABELS, groups)
    sparse_bags = [sp.csr_matrix(bag) for bag in BAGS]
    sparse_bags[3].indices[7] = LARGE
    with pytest.raises(ValueError, match=r"bag 3\.indices holds 2147483647"):
        model.fit(sparse_bags, LABELS)


# ------------------------------------------------------------------ 2: spare capacity, duplicates, strides


def same_result(odd, kernel="rbf"):
    plain = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(X), Y)
    other = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(odd, Y)
    np.testing.assert_allclose(other.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plain.decision_function(odd), plain.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("spare", [1e6, np.nan])
def test_spare_capacity_changes_nothing(spare, kernel):
    whole = sp.csr_matrix(X)
    odd = with_parts(data=np.append(whole.data, [spare] * 9), indices=np.append(whole.indices, [9999] * 9))
    same_result(odd, kernel)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_duplicates_that_scipy_does_not_know_of_are_summed(kernel):
    odd = sp.csr_matrix(X)
    assert odd.has_canonical_format  # SciPy remembers it
    odd.indices[1] = odd.indices[0]
    dense = X.copy()
    dense[0, :2] = X[0, 0] + X[0, 1], 0.0
    one = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(odd, Y)
    other = SemiSupervisedSVC(kernel=kernel, random_state=0).fit(sp.csr_matrix(dense), Y)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_strided_arrays_of_a_sparse_matrix(kernel):
    whole = sp.csr_matrix(X)
    parts = {name: np.repeat(getattr(whole, name), 2)[::2] for name in ("data", "indices", "indptr")}
    same_result(with_parts(**parts), kernel)


def test_the_callers_matrix_is_not_changed_nor_its_values_copied():
    from wellsvm._input import checked_sparse

    whole = sp.csr_matrix(X)
    before = whole.copy()
    made = checked_sparse(whole)
    assert np.shares_memory(made.data, whole.data)
    assert np.shares_memory(made.indices, whole.indices)
    assert not np.shares_memory(checked_sparse(whole, own=True).indices, whole.indices)
    assert (whole != before).nnz == 0


def test_a_call_checks_a_sparse_matrix_once(monkeypatch):
    from wellsvm import _input

    seen, check = [], _input._compressed
    monkeypatch.setattr(_input, "_compressed", lambda *given: seen.append(given[1]) or check(*given))
    model = SemiSupervisedSVC(random_state=0).fit(sp.csr_matrix(X), Y)
    model.predict(sp.csr_matrix(X))
    assert seen == ["X", "X"]


# ------------------------------------------------------------------ numbers and labels


def test_numbers_that_overflow_are_refused_by_name():
    for params in ({"C": 10**400}, {"C_unlabeled": 10**400}, {"C": 1e200}, {"tol": 10**400}, {"max_iter": 10**19}):
        with pytest.raises(ValueError, match=next(iter(params))):
            SemiSupervisedSVC(**params).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_init must be .* at most"):
        MaxMarginClustering(n_init=10**19).fit(X)
    with pytest.raises(ValueError, match="random_state"):
        MultiInstanceSVC(random_state="a").fit(BAGS, LABELS)


def test_weights_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"C times sample_weight is .* for row 0"):
        SemiSupervisedSVC().fit(X, Y, np.full(N, 1e308))
    with pytest.raises(ValueError, match="C times class_weight"):
        SemiSupervisedSVC(class_weight={0: 1e308, 1: 1.0}).fit(X, Y)


def test_small_integers_of_numpy_as_cache_size():
    SemiSupervisedSVC(kernel="rbf", cache_size=np.int8(2), random_state=0).fit(X, Y)
    MultiInstanceSVC(kernel="rbf", cache_size=np.uint8(1), random_state=0).fit(BAGS, LABELS)


def test_values_that_vanish_are_told_and_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for scaled in (X * 1e-160, X * 1e-200, (X * 1e-30).astype(np.float32), sp.csr_matrix(X * 1e-160)):
            with pytest.raises(ValueError, match=r"gamma='mean'.*vanish"):
                SemiSupervisedSVC(kernel="rbf").fit(scaled, Y)
        with pytest.raises(ValueError, match="kernel='poly' gives NaN or infinity"):
            SemiSupervisedSVC(kernel="poly", gamma=1.0).fit(X * 1e60, Y)


def test_a_precomputed_kernel_near_the_end_of_float32_is_refused():
    K = (X @ X.T).astype(np.float32)
    with pytest.raises(ValueError, match="divide the matrix by the mean of its diagonal"):
        SemiSupervisedSVC(kernel="precomputed").fit(K / K.max() * np.float32(3e38), Y)
    with pytest.raises(ValueError, match="too large for C"):
        SemiSupervisedSVC(kernel="precomputed").fit(K * np.float32(1e25), Y)


def test_complex_instances_mixed_labels_and_names_of_bags_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        MultiInstanceSVC().fit([bag + 1j for bag in BAGS], LABELS)
    with pytest.raises(ValueError, match="Complex data not supported"):
        Bags(sp.csr_matrix(X + 1j), np.arange(N) // 4)
    with pytest.raises(TypeError, match="y mixes strings"):
        MultiInstanceSVC().fit(BAGS, ["a", 1] * 5)
    with pytest.raises(ValueError, match="real numbers"):
        SemiSupervisedSVC(kernel=lambda a, b: a @ b.T + 1j).fit(X, Y)
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="some column names are text"):
        MultiInstanceSVC().fit(pd.DataFrame(X, columns=["a", 1, 2]), LABELS, np.arange(N) // 4)
    for fit in (
        lambda frame: SemiSupervisedSVC().fit(frame, Y),
        lambda frame: Bags(frame, np.arange(N) // 4),
    ):
        with pytest.raises(ValueError, match="two columns called 'a'"):
            fit(pd.DataFrame(X, columns=["a", "a", "b"]))


# ------------------------------------------------------------------ 3, 19: fits that took many seconds; 16: verbose


def test_a_large_price_on_a_small_table_takes_few_passes():
    wide = np.random.default_rng(0).standard_normal((200, 5))
    y = np.where(np.arange(200) < 40, wide[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(200) > 0, np.nan)
    model = SemiSupervisedSVC(C=1e6, random_state=0).fit(wide, y)
    assert model.gap_ <= 1.001e-3 * model.objective_
    assert model.history_[-1].epochs < 1000  # 0.1 was at it for more than 9 s


@pytest.mark.slow
def test_two_bags_of_many_instances_take_few_passes():
    bags = Bags(np.random.default_rng(0).standard_normal((200_000, 3)), np.repeat([0, 1], 100_000))
    model = MultiInstanceSVC(kernel="linear", random_state=0).fit(bags, [0, 1])
    assert model.gap_ <= 1.001e-3 * model.objective_
    assert model.history_[-1].epochs < 1000


def test_verbose_of_bags_is_a_whole_number():
    for verbose in ("a", 1.5, None, [1], -1, 10**30):
        with pytest.raises((TypeError, ValueError), match="verbose must be a whole number"):
            MultiInstanceSVC(verbose=verbose).fit(BAGS, LABELS)


# ------------------------------------------------------------------ 9: a matrix changed by another thread


@pytest.mark.slow
def test_another_thread_that_changes_the_matrix_does_not_end_the_process():
    S = sp.random(300, 50, 0.2, "csr", random_state=0)
    y, stop, draw = (
        np.where(np.arange(300) < 40, np.arange(300) % 2, np.nan),
        threading.Event(),
        np.random.default_rng(0),
    )

    def disturb():
        while not stop.is_set():
            for part, bad in ((S.indices, -1), (S.indices, LARGE), (S.indptr, LARGE)):
                at = draw.integers(1, len(part) - 1)
                before, part[at] = part[at], bad
                time.sleep(0.0005)
                part[at] = before
                time.sleep(0.01)

    thread = threading.Thread(target=disturb)
    thread.start()
    outcomes, end = [], time.monotonic() + 3.0
    quick = {"safe": False, "balance": "labels", "max_iter": 1, "random_state": 0}
    while time.monotonic() < end:
        for fit in (
            lambda: SemiSupervisedSVC(kernel="rbf", **quick).fit(S, y),
            lambda: SemiSupervisedSVC(**quick).fit(S, y),
            lambda: MultiInstanceSVC(kernel="linear", max_iter=1).fit(S, np.arange(75) % 2, np.arange(300) // 4),
        ):
            try:
                fit()
                outcomes.append("fitted")
            except ValueError as error:
                outcomes.append(str(error))
    stop.set()
    thread.join()
    assert outcomes  # and nothing but a ValueError has come: the process is still there
