"""Progress of a fit, kept in a file: an interrupted fit continues from there and ends with the same bits.

A fit is a chain of stages, each a function of the data, of earlier stages and of a random generator. Finished ones are
kept (dual variables, label vectors, their weights mu and images u_t, the generator's state) and not run again; the
cutting plane keeps its state before every label vector.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from wellsvm._archives import check_archive
from wellsvm._files import check_replaceable, replacing
from wellsvm._typing import FloatArray
from wellsvm.engine.report import Record
from wellsvm.engine.task import Guess, Opening
from wellsvm.labels.base import LabelSet
from wellsvm.losses import Losses
from wellsvm.options import Options
from wellsvm.rows.base import Rows
from wellsvm.solver.master import Candidate, Solution, State, begin

__all__ = ["Checkpoint", "Cut", "Stages"]


class Cut(NamedTuple):
    """Where the cutting plane is before label vectors are added, besides its state."""

    mu: FloatArray
    new: list[Candidate]
    objective: float
    squared_norms: FloatArray
    n_epochs: int
    history: list[Record]


class Checkpoint:
    """The file, and what it holds.

    Parameters
    ----------
    path : path
        The file; it is made, replaced at once after every stage, and removed by `close`.
    problem : mapping
        What must be the same for a fit to go on: parameters, shapes, arrays (by their digest).
    """

    def __init__(self, path: str | os.PathLike[str], problem: Mapping[str, Any]) -> None:
        self.path = check_replaceable(path)
        self.lock, self.values = RLock(), {}
        described = {name: _digest(v) if isinstance(v, np.ndarray) else str(v) for name, v in problem.items()}
        if self.path.exists():
            self.values = _read(self.path)
            before = json.loads(str(self.values.get("problem", "{}")))
            differs = [name for name in described if before.get(name) != described[name]]
            if differs:
                raise ValueError(
                    f"checkpoint={str(path)!r} belongs to another fit: {', '.join(differs)} differ; use another file, "
                    "or remove this one"
                )
        self.values["problem"] = np.array(json.dumps(described))

    def close(self) -> None:
        """The fit is done: remove the file."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def store(self, prefix: str, values: Mapping[str, Any]) -> None:
        """Put values in the place of those under the same prefix, and write the file."""
        with self.lock:
            self.values = {name: v for name, v in self.values.items() if not name.startswith(prefix)}
            self.values |= {prefix + name: np.array(value) for name, value in values.items()}
            sealed: dict[str, Any] = {**self.values, "seal": np.array(_seal_of(self.values))}
            with replacing(self.path) as file:
                np.savez(file, **sealed)  # no allow_pickle: NumPy before 2.1 would store it as an array

    def under(self, prefix: str) -> dict[str, np.ndarray]:
        """Values under a prefix."""
        with self.lock:
            return {name[len(prefix) :]: value for name, value in self.values.items() if name.startswith(prefix)}


class Stages:
    """The stages of a fit, or of one of its problems, that are kept in a `Checkpoint`."""

    def __init__(self, file: Checkpoint, prefix: str = "") -> None:
        self.file, self.prefix = file, prefix

    def part(self, name: str) -> Stages:
        """The stages of one of several problems."""
        return Stages(self.file, f"{self.prefix}{name}/")

    def arrays(self, name: str, compute: Callable[[], tuple[Any, ...]], rng: Any = None) -> tuple[Any, ...]:
        """A stage whose result is a tuple of arrays, numbers, or None where one is missing: recalled, or computed."""
        stage = f"{self.prefix}{name}:"
        kept = self.file.under(stage)
        if not kept:
            found = compute()
            values = {str(k): value for k, value in enumerate(found) if value is not None}
            self.file.store(stage, {**values, **_of_generator(rng), "n": len(found)})
            kept = self.file.under(stage)
        _set_generator(rng, kept)
        return tuple(_plain(kept.get(str(k))) for k in range(int(kept["n"])))

    def opening(self, compute: Callable[[], Opening], rng: np.random.Generator) -> Opening:
        """How the task starts, as one such stage: flat, the label vectors first."""

        def flat() -> tuple[Any, ...]:
            labels, guesses, alpha, best_first = compute()
            numbers = (best_first, len(labels), len(guesses))
            return (*numbers, alpha, *labels, *(value for guess in guesses for value in guess))

        best_first, n_labels, n_guesses, alpha, *rest = self.arrays("opening", flat, rng)
        guesses = [Guess(*rest[n_labels + 2 * k : n_labels + 2 * k + 2]) for k in range(n_guesses)]
        return Opening(rest[:n_labels], guesses, alpha, best_first)

    def holds(self, name: str) -> bool:
        """Whether a stage whose result is a solved SVM is kept."""
        return bool(self.file.under(f"{self.prefix}{name}:"))

    def kept(self, name: str, svm: Solution, rng: np.random.Generator) -> Solution:
        """Keep the result of such a stage, with the losses it was solved at, and give it back."""
        numbers = {"upper": svm.upper, "lower": svm.lower, "n_epochs": svm.n_epochs}
        arrays = {"mu": svm.mu, "squared_norms": svm.squared_norms}
        losses = {"cap": svm.state.losses.cap, "ridge": svm.state.losses.ridge}
        values = {**_of_state(svm.state), **numbers, **arrays, **losses, **_of_generator(rng)}
        self.file.store(f"{self.prefix}{name}:", values)
        return svm

    def recalled(
        self, name: str, rng: np.random.Generator, rows: Rows, labels: LabelSet, losses: Losses, options: Options
    ) -> Solution:
        """The result of a stage that is kept; at the task's own losses if it was solved at them."""
        kept = self.file.under(f"{self.prefix}{name}:")
        if not (np.array_equal(kept["cap"], losses.cap) and np.array_equal(kept["ridge"], losses.ridge)):
            losses = Losses(kept["cap"], kept["ridge"])
        state = begin(rows, labels, losses, kept["alpha"], options)
        _set_labels(state, kept)
        _set_generator(rng, kept)
        bounds = (float(kept["upper"]), float(kept["lower"]))
        return Solution(state, kept["mu"], *bounds, kept["squared_norms"], int(kept["n_epochs"]))

    def close(self) -> None:
        """The fit is done: remove its file."""
        self.file.close()

    def recall(self, state: State, rng: np.random.Generator) -> Cut | None:
        """Bring the cutting plane to where it was; None where it has not begun."""
        kept = self.file.under(f"{self.prefix}cut:")
        if not kept:
            return None
        state.alpha[:] = kept["alpha"]
        _set_labels(state, kept)
        _set_generator(rng, kept)
        new = [Candidate(y, float(n), u) for y, n, u in zip(kept["new_y"], kept["new_norm"], kept["new_image"])]
        history = [Record(a, b, c, int(n), int(m), s) for a, b, c, n, m, s in kept["history"].tolist()]
        return Cut(kept["mu"], new, float(kept["objective"]), kept["norms"], int(kept["n_epochs"]), history)

    def keep(self, state: State, rng: np.random.Generator, cut: Cut) -> None:
        """Keep where the cutting plane is."""
        new = {
            "new_y": np.stack([c.y for c in cut.new]),
            "new_norm": [c.squared_norm for c in cut.new],
            "new_image": np.stack([c.image for c in cut.new]),
        }
        history = np.array([astuple(record) for record in cut.history]).reshape(-1, 6)
        where = {"mu": cut.mu, "objective": cut.objective, "norms": cut.squared_norms, "n_epochs": cut.n_epochs}
        where["history"] = history
        self.file.store(f"{self.prefix}cut:", {**_of_state(state), **new, **where, **_of_generator(rng)})


# ------------------------------------------------------------------ what is kept


def _of_state(state: State) -> dict[str, Any]:
    n, T = state.label_set.n_instances, len(state.labels)
    images = np.stack([state.active(t).image for t in range(T)]) if T else np.empty((0, 0))
    labels = np.stack(state.labels) if T else np.empty((0, n), np.int8)
    return {"alpha": state.alpha, "labels": labels, "images": images, "gave_up": getattr(state, "gave_up", False)}


def _set_labels(state: State, kept: Mapping[str, np.ndarray]) -> None:
    for y, u in zip(kept["labels"], kept["images"]):
        state.add(Candidate(y, float(u @ u), u))
    if hasattr(state, "gave_up"):
        state.gave_up = bool(kept["gave_up"])


def _of_generator(rng: np.random.Generator | None) -> dict[str, Any]:
    return {} if rng is None else {"generator": json.dumps(rng.bit_generator.state)}


def _set_generator(rng: np.random.Generator | None, kept: Mapping[str, np.ndarray]) -> None:
    if rng is not None:
        rng.bit_generator.state = json.loads(str(kept["generator"]))


def _plain(value: np.ndarray | None) -> Any:
    return value.item() if value is not None and value.ndim == 0 else value


def _digest(values: np.ndarray) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def _seal_of(values: Mapping[str, np.ndarray]) -> str:
    """A digest of all values, their names, types, shapes: a fit goes on from what a fit has written, or not at all."""
    seal = hashlib.blake2b(digest_size=16)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name])
        seal.update(f"{name} {array.dtype.str} {np.shape(values[name])} ".encode())
        seal.update(array.tobytes())
    return seal.hexdigest()


def _read(path: os.PathLike[str]) -> dict[str, np.ndarray]:
    try:
        content = Path(path).read_bytes()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_archive(archive, len(content))
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            values = dict(kept)
        if str(values.pop("seal", None)) != _seal_of(values):
            raise ValueError("it is damaged, or it was changed after a fit had written it")
    except Exception as error:  # a damaged file can raise anything
        raise ValueError(f"checkpoint={str(path)!r} cannot be read: {error}; remove the file to start over") from error
    return values
