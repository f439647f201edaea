"""Attacks on a process at work: kills and full disks while it writes, interrupts while it fits, too little memory."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import wellsvm
from campaign.outcomes import outcome_of

SLOWEST = 10.0  # seconds from an interrupt to the end of a fit, on a machine that may be busy with other work
MODELS = ("SemiSupervisedSVC", "SemiSupervisedSVCCV", "MultiInstanceSVC", "MaxMarginClustering")
# What keeps a fit short where only its memory matters.
QUICK: dict[str, dict[str, Any]] = {
    "SemiSupervisedSVC": {"safe": False, "balance": "labels", "search": "local"},
    "SemiSupervisedSVCCV": {"Cs_unlabeled": [0.1], "cv": 2, "gammas": None, "neighbors": None, "balance": "labels"},
    "MultiInstanceSVC": {},
    "MaxMarginClustering": {"n_init": 1},
}


def _data(n_rows: int, n_columns: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    return rng.standard_normal((n_rows, n_columns)) + 0.3 * y[:, None], y


def fitted(name: str, n_rows: int, **params: Any) -> Callable[[Any], Any]:
    """A function that fits an estimator of that name to rows, of which a tenth is labeled where labels are wanted."""
    X, y = _data(n_rows)
    model = getattr(wellsvm, name)(random_state=0, **params)
    if name == "MultiInstanceSVC":
        return lambda: model.fit(wellsvm.Bags(X, np.arange(n_rows) // 4), y[: n_rows // 4])
    if name == "MaxMarginClustering":
        return lambda: model.fit(X)
    return lambda: model.fit(X, np.where(np.arange(n_rows) < max(20, n_rows // 10), y, np.nan))


@cache
def _two_models() -> tuple[Any, Any]:
    X, y = _data(60, 20_000)
    partly = np.where(np.arange(60) < 20, y, np.nan)
    return tuple(wellsvm.SemiSupervisedSVC(C=C, safe=False, random_state=0).fit(X, partly) for C in (0.1, 1.0))


def _in_child(act: Callable[[], int]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            warnings.simplefilter("ignore")
            code = act()
        finally:
            os._exit(code)
    return pid


# ------------------------------------------------------------------ files


def kill(what: tuple[int, int, str]) -> tuple[str, str]:
    """End a process that saves models over a private file, at some moment; the file is one of the two, and private."""
    seed, number, folder = what
    rng = np.random.default_rng([seed, number])
    path, (old, new) = Path(folder) / "model.skops", _two_models()
    if not path.exists():
        wellsvm.save(old, path)
        path.chmod(0o600)

    def write_on_and_on() -> int:
        while True:
            wellsvm.save(new, path)
            wellsvm.save(old, path)

    pid = _in_child(write_on_and_on)
    time.sleep(float(rng.uniform(0, 0.15)))
    readable = [p for p in [path, *path.parent.glob(".wellsvm-*")] if stat.S_IMODE(p.stat().st_mode) & 0o077]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _of_a_file(outcome_of(lambda: _is_whole(path, readable)))


def _of_a_file(told: tuple[str, str]) -> tuple[str, str]:
    """A file that is not whole has a name of its own among the failures."""
    return ("half-written file", told[1]) if told[0] == "wrong result" else told


def _is_whole(path: Path, readable: list[Path]) -> None:
    try:
        found = wellsvm.load(path).coef_
    except ValueError as error:
        raise AssertionError(f"half-written: {error}") from error
    assert any(np.array_equal(found, model.coef_) for model in _two_models()), "neither the old model nor the new one"
    assert not readable, f"others could read {readable}"
    for left in path.parent.glob(".wellsvm-*"):
        os.utime(left, (0, 0))
    wellsvm.save(_two_models()[0], path)
    assert not list(path.parent.glob(".wellsvm-*")), "temporary files are not swept"


def full_disk(what: tuple[int, int, str]) -> tuple[str, str]:
    """Save where the disk ends at some byte: an OSError, and the old file is whole."""
    seed, number, folder = what
    limit = int(np.random.default_rng([seed, number]).integers(0, 150_000))
    path, (old, new) = Path(folder) / "model.skops", _two_models()
    wellsvm.save(old, path)

    def write() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            wellsvm.save(new, path)
        except OSError:
            return 0
        return 1

    _, status = os.waitpid(_in_child(write), 0)
    if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 9:
        return "crash", f"status {status}"

    def sound() -> None:
        expected = old if os.WEXITSTATUS(status) == 0 else new
        assert np.array_equal(wellsvm.load(path).coef_, expected.coef_), "the old file is not what it was"
        assert not list(path.parent.glob(".wellsvm-*")), "a temporary file is left"

    kind, words = _of_a_file(outcome_of(sound))
    return ("refused" if kind == "accepted" else kind), words


# ------------------------------------------------------------------ interrupts, memory


def interrupt(what: tuple[int, int, str]) -> tuple[str, str]:
    """Ctrl-C in a fit: it ends soon, and the model is what it was before."""
    seed, number, _ = what
    rng = np.random.default_rng([seed, number])
    params = {"tol": 1e-10, "max_iter": 500, "kernel": "rbf" if rng.random() < 0.5 else "linear"}
    fit = fitted(MODELS[rng.integers(len(MODELS))], 2400, **params)

    # An interrupt that comes while the child is being made is Python's own matter, and may be lost there.
    reading, writing = os.pipe()

    def fit_on_and_on() -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        model = fit.__closure__ and next(c.cell_contents for c in fit.__closure__ if hasattr(c.cell_contents, "fit"))
        before = dict(vars(model))
        try:
            os.write(writing, b"ready")
            while True:
                fit()
                before = dict(vars(model))
        except KeyboardInterrupt:
            return 0 if vars(model).keys() == before.keys() else 1

    pid = _in_child(fit_on_and_on)
    os.read(reading, 5)
    os.close(reading)
    os.close(writing)
    time.sleep(float(rng.uniform(0, 0.6)))
    os.kill(pid, signal.SIGINT)
    began = time.monotonic()
    while time.monotonic() - began < 20:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.005)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return "hang", "no end after 20 s"
    took = time.monotonic() - began
    if os.WIFSIGNALED(status):
        return "crash", f"signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status):
        return "wrong result", f"the model was changed, or another error came: {os.WEXITSTATUS(status)}"
    return ("accepted", "") if took < SLOWEST else ("hang", f"{took:.1f} s")


def interrupt_imports(what: tuple[int, int, str]) -> tuple[str, str]:
    """Ctrl-C while the command line imports its modules: exit code 130, one line, no traceback."""
    seed, number, _ = what
    program = "import wellsvm.cli, sys; print('ready', flush=True); sys.argv[1:] = ['versions']; wellsvm.cli.main()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True) as process:
        process.stdout.readline()
        time.sleep(float(np.random.default_rng([seed, number]).uniform(0, 1.0)))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    if "Traceback" in err or process.returncode not in (0, 130):
        return "internal error", f"code {process.returncode}: {err[-150:]}"
    return "accepted", out[:0]


def little_memory(what: tuple[int, int, str]) -> tuple[str, str]:
    """A fit where the address space ends soon: a result or a MemoryError."""
    seed, number, _ = what
    rng = np.random.default_rng([seed, number])
    room, kernel = int(rng.integers(0, 200)) * 2**20, "rbf" if rng.random() < 0.5 else "linear"
    name = MODELS[rng.integers(len(MODELS))]
    fit = fitted(name, 4 * int(rng.integers(25, 400)), kernel=kernel, tol=0.5, max_iter=1, **QUICK[name])

    def act() -> int:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
        try:
            fit()
        except MemoryError:
            return 1
        return 0

    _, status = os.waitpid(_in_child(act), 0)
    if os.WIFSIGNALED(status):
        return "crash", f"signal {os.WTERMSIG(status)} with {room >> 20} MiB, {kernel}"
    if os.WEXITSTATUS(status) == 9:
        return "internal error", f"another error than MemoryError with {room >> 20} MiB, {kernel}"
    return ("refused" if os.WEXITSTATUS(status) else "accepted"), ""
