"""Batches of cases in a forked child: a crash or a hang costs one case and is told, the rest of the batch goes on."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import pickle
import resource
import signal
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

from wellsvm import _memory

SECONDS = 20.0  # of processor time, for one case: the machine may be busy
WALL = 600
MEMORY = 2**30  # that a case may take beyond what the process has at its start


def run_batch(
    cases: list[Any],
    attack: Callable[[Any], tuple[str, str]],
    prepare: Callable[[], None] = lambda: None,
    confirm: bool = False,
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Outcomes of all cases, counted, and the failures among them by their number and words.

    One child runs them all, after ``prepare``; another takes its place if it dies. With ``confirm`` the case it died of
    is tried once more in a child that is not prepared: where `prepare` leaves out a guard of the library, as that
    against readers which crash, what counts is what comes of it with the guard.
    """
    counts: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    begin = 0
    while begin < len(cases):
        begin += _child(cases, begin, attack, prepare, confirm, counts, failures)
    return counts, failures


def in_child(make: Callable[[], Any]) -> Any:
    """What a function makes, in a process of its own."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(make(), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        made = pickle.load(pipe)
    os.wait()
    return made


def ask_for_memory_once() -> None:
    """In a child: what memory the machine has is not asked anew in every case, which reads a dozen files."""
    for probe in ("_free_of_machine", "_left_in_groups", "_left_of_address_space"):
        room = getattr(_memory, probe)()
        setattr(_memory, probe, lambda room=room: room)


def _child(cases, begin, attack, prepare, confirm, counts, failures) -> int:
    """Run cases from ``begin`` on in a child until all are done or it dies; how many are done."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _quiet()
            prepare()
            gc.freeze()  # what is there already need not be searched for garbage
            _attack_all(cases[begin:], attack, writing)
        finally:
            os._exit(3)  # never back into the parent's code; a fault of the campaign itself counts as a crash
    os.close(writing)
    done = 0
    with os.fdopen(reading, "rb") as pipe:
        while head := pipe.read(4):
            kind, words = json.loads(pipe.read(struct.unpack("<I", head)[0]))
            _count(kind, words, begin + done, counts, failures)
            done += 1
    _, status = os.waitpid(pid, 0)
    if begin + done < len(cases):
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        hung = number in (signal.SIGXCPU, signal.SIGALRM)
        told = "hang" if hung else "crash", f"signal {number}, status {status}"
        _count(*(_confirmed(cases[begin + done], attack, told) if confirm else told), begin + done, counts, failures)
        done += 1
    return done


def _confirmed(case: Any, attack: Any, told: tuple[str, str]) -> tuple[str, str]:
    def once_more() -> tuple[str, str]:
        _quiet()
        _limit()
        return attack(case)

    try:
        return in_child(once_more)
    except EOFError:  # it has died again
        return told


def _attack_all(cases, attack, writing) -> None:
    for case in cases:
        _limit()
        before = _peak()
        kind, words = attack(case)
        if _peak() - before > MEMORY:
            kind, words = "memory", f"{(_peak() - before) / 2**20:.0f} MiB"
        told = json.dumps([kind, words]).encode()
        os.write(writing, struct.pack("<I", len(told)) + told)


def _count(kind, words, number, counts, failures) -> None:
    counts[kind] += 1
    if kind not in ("refused", "accepted"):
        failures.append({"case": number, "kind": kind, "words": words})


def _limit() -> None:
    """The next case may take SECONDS of processor time, and WALL seconds of the clock."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + SECONDS) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
    signal.alarm(WALL)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _quiet() -> None:
    """Readers of other libraries print on standard error where they fail."""
    faulthandler.disable()  # of pytest
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
