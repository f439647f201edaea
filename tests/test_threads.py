"""Work in short pieces: every row once, results in their order, and an error or an interrupt that ends all threads."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from wellsvm import SemiSupervisedSVC, threads
from wellsvm.threads import one_thread, run, slices


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_slices_cover_every_row_once_and_keep_calls_short(n, monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 100)
    for work_per_row in (0.0, 1.0, 30.0, 1e9):
        pieces = list(slices(n, work_per_row))
        assert [row for begin, end in pieces for row in range(begin, end)] == list(range(n))
        assert all(end - begin == 1 or (end - begin) * work_per_row <= 100 for begin, end in pieces)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def task(k):
        return lambda: time.sleep(0.01 * (3 - k)) or k

    assert run([task(k) for k in range(4)], n_jobs) == [0, 1, 2, 3]
    assert run([], n_jobs) == []


def test_an_error_in_one_thread_ends_the_others_at_their_next_slice(monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1)
    seen = []

    def endless():
        for piece in slices(10**9, 1.0):
            seen.append(piece)
            time.sleep(0.001)

    def failing():
        time.sleep(0.05)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run([failing, endless], 2)
    stopped = len(seen)
    assert 0 < stopped < 10**6
    time.sleep(0.05)
    assert len(seen) == stopped, "a thread goes on"


def test_an_error_outside_ends_the_work_inside_as_well(monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1)
    ended = []

    def endless():
        try:
            for _ in slices(10**9, 1.0):
                time.sleep(0.001)
        except KeyboardInterrupt:
            ended.append(True)
            raise

    def failing():
        time.sleep(0.05)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run([failing, lambda: run([endless, endless], 2)], 2)
    assert ended == [True, True]


def test_the_first_error_is_the_one_that_is_raised():
    def failing(k):
        time.sleep(0.05 * k)
        raise RuntimeError(f"task {k}")

    with pytest.raises(RuntimeError, match="task 1"):
        run([partial(failing, 2), partial(failing, 1)], 2)
    assert run([lambda: 1, lambda: 2], 2) == [1, 2]  # nothing is left of it


def n_threads():
    """The most threads that a library for matrices takes."""
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def test_the_last_of_overlapping_parts_lifts_the_limit_of_one_thread():
    with threadpool_limits(2):
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        assert n_threads() == 1
        first.__exit__(None, None, None)
        assert n_threads() == 1  # the second still needs it
        second.__exit__(None, None, None)
        assert n_threads() == 2


@pytest.mark.parametrize("fails", [False, True])
def test_a_fit_takes_one_thread_of_the_libraries_below_and_gives_the_others_back(fails):
    rng, seen = np.random.default_rng(0), []

    def kernel(X, Y):
        seen.append(n_threads())
        return (X @ Y.T) * (np.nan if fails else 1.0)

    X, y = rng.standard_normal((30, 2)), np.array([0, 1] * 5 + [-1] * 20)
    with threadpool_limits(2):
        with pytest.raises(ValueError, match="NaN") if fails else nullcontext():
            SemiSupervisedSVC(kernel=kernel, unlabeled=-1).fit(X, y)
        assert n_threads() == 2
    assert set(seen) == {1}
