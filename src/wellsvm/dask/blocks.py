"""Rows on a Dask cluster as blocks: passes are tasks, and their results are taken in the order of the partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from distributed import Future

from wellsvm._typing import FloatArray, IntArray, Matrix
from wellsvm.dask.cluster import Cluster
from wellsvm.dask.tasks import describe, hold, look_at_combination, look_at_sum, looked, made_part
from wellsvm.rows.blocks import Blocks, look_for

__all__ = ["DaskRows", "described"]


class DaskRows(Blocks):
    """Rows on a Dask cluster; see `rows`."""

    is_lazy = True

    def __init__(self, cluster: Cluster, parts: Sequence[Future], memory: int, names: Any = None) -> None:
        self.cluster, self.parts, self.memory, self.feature_names = cluster, list(parts), memory, names
        seen = described(cluster, self.parts)
        shapes, dtypes, kinds, indices, lengths = zip(*seen)
        self.shape = (sum(shape[0] for shape in shapes), shapes[0][1])
        self.dtype, self.is_sparse, self.index_dtype = dtypes[0], kinds[0], np.result_type(*indices)
        self.lengths = np.concatenate(lengths) if self.is_sparse else None
        self.offsets = np.concatenate([[0], np.cumsum([shape[0] for shape in shapes])]).astype(np.int64)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("rows on a Dask cluster cannot be pickled; create them again with wellsvm.dask.rows")

    def each(
        self, look: Callable[..., Any], shared: tuple[Any, ...] = (), own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> Iterator[Any]:  # fmt: skip
        """All blocks at once, wherever they are."""
        chosen = list(range(self.n_blocks)) if which is None else list(which)

        def send(numbers: list[int]) -> list[Future]:
            held = [self.cluster.submit(hold, value) if isinstance(value, np.ndarray) else value for value in shared]
            arguments = [[value] * len(numbers) for value in held]
            if own is not None:
                arguments.append([own[n] for n in numbers])
            parts = [self.parts[chosen[n]] for n in numbers]
            return self.cluster.submit_all(looked, [look] * len(numbers), parts, *arguments)

        return self.cluster.results(send, len(chosen))

    def combine(self, coef: FloatArray, bias: float, origin: FloatArray | None = None) -> FloatArray:
        """Added up in the order of the partitions."""
        slices = [coef[self.offsets[k] : self.offsets[k + 1]] for k in range(self.n_blocks)]
        which = [k for k in range(self.n_blocks) if slices[k].any()]
        return self._sum(
            self.each(look_at_combination, (bias, origin), [slices[k] for k in which], which),
            (self.shape[1] + 1, coef.shape[1]),
        )

    def total(self) -> FloatArray:
        """Added up in the order of the partitions."""
        return self._sum(self.each(look_at_sum), (self.shape[1],))

    @staticmethod
    def _sum(found: Iterator[FloatArray], shape: tuple[int, ...]) -> FloatArray:
        total = next(found, None)
        if total is None:
            return np.zeros(shape)
        for other in found:
            total += other
        return total

    def cuts(self, chosen: IntArray) -> list[IntArray]:
        """As the partitions are cut."""
        ends = np.searchsorted(chosen, self.offsets)
        return [chosen[ends[k] : ends[k + 1]] for k in range(self.n_blocks) if ends[k] < ends[k + 1]]

    def made(self, cuts: Sequence[IntArray], make: Callable[..., Matrix], own: Sequence[Any]) -> DaskRows:
        """Made and kept by the workers."""
        parts = []
        for cut, value in zip(cuts, own):
            ends = np.searchsorted(cut, self.offsets)
            touched = [k for k in range(self.n_blocks) if ends[k] < ends[k + 1]]
            found = [
                self.cluster.submit(looked, look_for, self.parts[k], cut[ends[k] : ends[k + 1]] - self.offsets[k])
                for k in touched
            ]
            parts.append(self.cluster.submit(made_part, make, value, *found))
        return DaskRows(self.cluster, parts, self.memory)


def described(cluster: Cluster, parts: list[Future]) -> list[Any]:
    """What `describe` tells of every partition."""
    return list(cluster.results(lambda numbers: cluster.submit_all(describe, [parts[n] for n in numbers]), len(parts)))
