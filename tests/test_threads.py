"""Work in short pieces: every row once, results in their order, and an error or an interrupt that ends all threads."""

from __future__ import annotations

import time

import pytest

from wellsvm import threads
from wellsvm.threads import run, slices


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
