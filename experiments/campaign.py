"""``python -m experiments campaign``: rows in blocks and on a Dask cluster, with workers and drivers that are killed.

Every trial is a line of the journal, told by the name of its part and a number; parts that are done are not repeated.
All clusters are local, on the loopback address, and only processes that the campaign has started are killed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.arguments import say
from experiments.environment import code_state
from experiments.journal import Entry, Journal
from experiments.markdown import pipe_table
from experiments.marked_places import fill
from experiments.rows_campaign import PARAMETERS, PROBLEMS, budgets, digest, large, text
from wellsvm import SemiSupervisedSVC

__all__ = ["add_command"]

ADDRESS = "127.0.0.1"
TRIALS = {"partitions": 4, "repeats": 20, "worker kills": 50, "all workers": 5, "driver kills": 40, "empty pass": 1}
ANY_MOMENT = 20  # of the driver kills; the others come when there is a checkpoint


def cut(X: sparse.csr_matrix, n: int) -> list[sparse.csr_matrix]:
    """A matrix in n partitions."""
    ends = np.linspace(0, X.shape[0], n + 1).astype(int)
    return [X[ends[k] : ends[k + 1]] for k in range(n)]


@contextmanager
def cluster_of(n_workers: int) -> Iterator[tuple[Any, Any]]:
    """A cluster of processes on the loopback address, and its client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, host=ADDRESS, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


def kill(cluster: Any, numbers: list[int], restart: bool = True) -> None:
    """kill -9 of workers of a cluster that was started here."""

    async def never() -> Any:
        """Takes the place of what starts a worker again: a nanny has no switch for it."""
        from distributed import Status

        return Status.failed

    nannies = list(cluster.workers.values())
    for k in numbers:
        if not restart:
            nannies[k].instantiate = never
        if nannies[k].process is not None and nannies[k].process.pid:
            os.kill(nannies[k].process.pid, signal.SIGKILL)


def fit_on(client: Any, X: Any, y: np.ndarray, n: int = 3, worker_timeout: float = 60, **parameters: Any) -> Any:
    """Load the rows and fit."""
    from wellsvm.dask import rows

    on_cluster = rows(cut(X, n), client, timeout=30, worker_timeout=worker_timeout)
    return SemiSupervisedSVC(**PARAMETERS, **parameters).fit(on_cluster, y)


# ------------------------------------------------------------------ parts of the campaign


def partitions(client: Any, note: Callable[..., None], number: int) -> None:
    """1, 2, 4 and 7 partitions beside memory."""
    X, y = text(3000)
    memory, n = SemiSupervisedSVC(**PARAMETERS).fit(X, y), (1, 2, 4, 7)[number]
    model = fit_on(client, X, y, n)
    same = float(np.mean(model.transduction_ == memory.transduction_))
    note(partitions=n, same_bits=digest(model) == digest(memory), same_labels=same,
         objective=abs(model.objective_ / memory.objective_ - 1))  # fmt: skip


def repeats(client: Any, note: Callable[..., None], number: int) -> None:
    """The same fit with two workers, and with one of them away."""
    note(digest=digest(fit_on(client, *text(800))), workers=len(client.scheduler_info()["workers"]))


def worker_kills(
    cluster: Any, client: Any, note: Callable[..., None], number: int, expected: str, usual: float
) -> None:
    """One worker is killed at a random moment, loading included."""
    rng = np.random.default_rng(number)
    moment, which = float(rng.random() * usual), int(rng.integers(2))
    while True:
        timer = threading.Timer(moment, kill, (cluster, [which]))
        timer.start()
        began = time.monotonic()
        found = digest(fit_on(client, *text(800), worker_timeout=300))
        seconds = time.monotonic() - began
        if seconds >= moment:
            break
        timer.cancel()  # it had ended before
        moment *= 0.7
    note(same_bits=found == expected, moment=moment, seconds=seconds)


def all_workers(note: Callable[..., None], number: int, expected: str, folder: Path) -> None:
    """All workers are killed for good: the error comes in time, and the fit goes on on another cluster."""
    from wellsvm.dask import NoWorkersError

    file, (X, y), killed_at = folder / f"all-{number}", text(800), []

    def kill_all(cluster: Any) -> None:
        kill(cluster, [0, 1], restart=False)
        killed_at.append(time.monotonic())

    with cluster_of(2) as (cluster, client):
        for _ in range(2):  # the second one finds all modules loaded
            began = time.monotonic()
            fit_on(client, X, y)
        moment = (time.monotonic() - began) * np.random.default_rng(number).uniform(0.4, 0.9)
        threading.Timer(moment, kill_all, (cluster,)).start()
        try:
            while True:
                fit_on(client, X, y, worker_timeout=20, checkpoint=file)
        except NoWorkersError:
            seconds = time.monotonic() - killed_at[0]
    had_file = file.exists()
    with cluster_of(2) as (_, client):
        found = digest(fit_on(client, X, y, checkpoint=file))
    note(same_bits=found == expected, error_after=seconds, worker_timeout=20, resumed_from_a_file=had_file)


def driver_kills(
    address: str, note: Callable[..., None], number: int, expected: str, usual: float, folder: Path
) -> None:
    """The process that fits is killed at a random moment, of all or of those with a checkpoint, and started again."""
    file, moment = folder / f"driver-{number}", usual * float(np.random.default_rng(number).random())
    kept = number >= ANY_MOMENT
    while _driven(address, file, moment, kept) or (kept and not file.exists()):
        moment *= 0.7  # it had ended before
    had_file = file.exists()
    note(same_bits=_driven(address, file) == expected, moment=moment, resumed_from_a_file=had_file)


def _driven(address: str, file: Path, moment: float | None = None, kept: bool = False) -> str:
    """What a fit in a process of its own finds; nothing where it is killed before, some seconds after it has begun.

    With ``kept`` these seconds count from its first checkpoint on. The process is forked from one that has loaded all
    modules, but has no client and no threads.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["experiments.campaign", "distributed", "wellsvm.dask"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_drive, args=(address, str(file), theirs))
    process.start()
    theirs.close()
    ours.recv()  # it has begun
    while kept and process.is_alive() and not file.exists():
        time.sleep(0.001)
    process.join(moment)
    process.kill()
    process.join()
    try:
        return str(ours.recv())
    except EOFError:
        return ""


def _drive(address: str, file: str, told: Any) -> None:
    """The process that is killed."""
    from distributed import Client

    told.send("begun")
    with Client(address) as client:
        told.send(digest(fit_on(client, *text(800), worker_timeout=300, checkpoint=file)))


def empty_pass(client: Any, note: Callable[..., None]) -> None:
    """A pass in which two tasks do nothing."""
    from wellsvm.dask import rows

    made, seconds = rows(cut(text(10)[0], 2), client), []
    for _ in range(200):
        began = time.perf_counter()
        list(made.each(_nothing))
        seconds.append(time.perf_counter() - began)
    note(least_ms=1e3 * min(seconds), median_ms=1e3 * float(np.median(seconds)), load=os.getloadavg()[0])


def _nothing(part: Any) -> int:
    return 0


# ------------------------------------------------------------------ the command


def add_command(commands: Any, results: Path) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("campaign", help="rows in blocks and on Dask, with workers and drivers killed")
    parser.add_argument("parts", nargs="*", help="parts to run: budgets, large, " + ", ".join(TRIALS) + "; all if none")
    parser.add_argument("--fill", type=Path, help="a page whose place '<!-- campaign all -->' gets the table")
    parser.set_defaults(run=lambda arguments: run(arguments, Journal(results / "campaign.jsonl", ("part", "trial"))))


def run(arguments: argparse.Namespace, journal: Journal) -> None:
    """Run what is not in the journal yet."""
    wanted, state = arguments.parts or ["budgets", "large", *TRIALS], code_state()

    def noting(part: str, number: int) -> Callable[..., None]:
        def note(**values: Any) -> None:
            journal.append({"part": part, "trial": number, "state": state, **values})
            say(f"{part} {number}: {values}")

        return note

    def todo(part: str, n: int) -> list[int]:
        return [k for k in range(n) if part in wanted and journal.result({"part": part, "trial": k}) is None]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in todo("budgets", 7):
            budgets(noting("budgets", k), k, folder)
        for k in todo("large", 1):
            large(noting("large", k), folder)
        _with_clusters(todo, noting, folder)
    if arguments.fill:
        fill(arguments.fill, "campaign", {"all": table(journal.entries)})


def _with_clusters(
    todo: Callable[[str, int], list[int]], noting: Callable[[str, int], Callable[..., None]], folder: Path
) -> None:
    numbers = {part: todo(part, n) for part, n in TRIALS.items()}
    if not any(numbers.values()):
        return
    expected, usual = "", 1.0
    with cluster_of(2) as (cluster, client):
        for _ in range(2):  # the second one finds all modules loaded
            began = time.monotonic()
            expected = digest(fit_on(client, *text(800)))
            usual = time.monotonic() - began
        for k in numbers["partitions"]:
            partitions(client, noting("partitions", k), k)
        for k in numbers["empty pass"]:
            empty_pass(client, noting("empty pass", k))
        for k in numbers["driver kills"]:
            driver_kills(cluster.scheduler_address, noting("driver kills", k), k, expected, usual, folder)
        for k in [k for k in numbers["repeats"] if k < 10]:
            repeats(client, noting("repeats", k), k)
    remaining = numbers["worker kills"]
    while remaining:
        with cluster_of(2) as (cluster, client):
            fit_on(client, *text(800))  # modules are loaded
            while remaining and _has_two_workers(client):
                k = remaining.pop(0)
                worker_kills(cluster, client, noting("worker kills", k), k, expected, usual)
    if any(k >= 10 for k in numbers["repeats"]):
        with cluster_of(1) as (_, client):
            for k in [k for k in numbers["repeats"] if k >= 10]:
                repeats(client, noting("repeats", k), k)
    for k in numbers["all workers"]:
        all_workers(noting("all workers", k), k, expected, folder)


def _has_two_workers(client: Any) -> bool:
    """Whether the one that was killed is back; a nanny sometimes gives up, and another cluster has to be started."""
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        return False
    return True


def table(entries: list[Entry]) -> str:
    """What was asked, and what was found."""
    lines = [[asked, found] for asked, found in _found(entries) if found]
    return pipe_table(["what", "found"], lines, text=["found"])


def _found(entries: list[Entry]) -> Iterator[tuple[str, str]]:
    def of(part: str) -> list[Entry]:
        return [entry for entry in entries if entry["part"] == part]

    for problem, share in product(PROBLEMS, (0.1, 0.05)):
        some = [e for e in of("budgets") if e["problem"] == problem and e["share"] == share]
        if some:
            passes, read = [e["passes"] for e in some], [e["read"] for e in some]
            sizes = sorted({f"{e['rows']:,}" for e in some}, key=len)
            yield (
                f"budget of {share:.0%} of the rows, {problem}, {len(some)} seeds ({' and '.join(sizes)} rows)",
                f"{sum(e['same_bits'] for e in some)} of {len(some)} with the same bits as memory, objective at most "
                f"{max(e['objective'] for e in some):.0e} off; {min(passes):.2f} to {max(passes):.2f} times the "
                f"passes, {min(read):.2f} to {max(read):.2f} times the rows read, copies included",
            )
    for e in of("large"):
        told = "the same bits" if e["same_bits"] else "other bits"
        yield (
            f'{e["rows"]:,} x {e["features"]:,}, {e["size"] / 1e6:.0f} MB, memory="{e["memory"] / 1e6:.0f} MB"',
            f"{told}; {e['ratio']:.2f} times the processor time of memory; memory without the page cache at most "
            f"{e['peak_in_blocks'] / 1e6:.0f} MB more than before the folder was opened"
            + (f", a quarter of the file is {e['size'] / 4e6:.0f} MB" if e["kind"] == "quarter" else ""),
        )
    for e in of("partitions"):
        bits = "the same bits as memory" if e["same_bits"] else f"objective {e['objective']:.0e} off"
        yield f"Dask, {e['partitions']} partitions", f"{bits}, {e['same_labels']:.2%} of the labels"
    for part in ("worker kills", "driver kills", "all workers"):
        some = of(part)
        if some:
            same = f"{sum(e['same_bits'] for e in some)} of {len(some)} with the same bits"
            extra = ""
            if part == "driver kills":
                extra = f"; {sum(e['resumed_from_a_file'] for e in some)} resumed from a checkpoint"
            if part == "all workers":
                slowest = max(e["error_after"] for e in some)
                extra = f"; the error came within {slowest:.1f} s (worker_timeout=20, timeout=30)"
            yield part, same + extra
    if of("repeats"):
        names = {e["digest"] for e in of("repeats")}
        alone = sum(e["workers"] == 1 for e in of("repeats"))
        yield f"{len(of('repeats'))} repeats, {alone} with one worker, the others with two", f"{len(names)} digest"
    for e in of("empty pass"):
        told = f"least {e['least_ms']:.0f} ms, median {e['median_ms']:.0f} ms, at a load of {e['load']:.0f}"
        yield "a pass of two empty tasks", told
    states = sorted({e.get("state", "not noted") for e in entries})
    yield "code", f"{len(states)} state: {', '.join(states)} (Git's names of src/wellsvm and cpp)"
