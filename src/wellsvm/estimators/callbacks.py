"""scikit-learn's callbacks (1.9 and newer) see a fit as a tree of tasks; here is the only place that knows them.

The root is the fit. Below it is one task per two-class problem (a class against the rest, a division, a fold), and
below that one per label vector; a fit of a single problem has its label vectors right below the root. The task of a
label vector is named after its gap and violation, so that a progress bar shows them, and hands its `Record` to
callbacks that ask for ``metadata``. A callback that returns True from ``on_fit_task_end`` of a label vector makes it
the last one of its problem; refinement, which is short, still follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wellsvm.engine.report import Record
from wellsvm.estimators.base import Silent

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9: `verbose` tells of the label vectors there

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]


class Progress(Silent):
    """A task of a fit that has begun, and that callbacks are told of.

    Attributes
    ----------
    single : bool
        Whether the task is one problem, with label vectors below it, or has several problems as its parts.
    """

    def __init__(self, estimator: Any, context: Any, *, single: bool = True, **told: Any) -> None:
        self.estimator, self.context, self.single, self.told = estimator, context, single, told
        context.call_on_fit_task_begin(estimator=estimator, **told)

    @classmethod
    def begin(cls, estimator: Any, X: Any, y: Any = None, *, parts: int = 1, max_iter: int | None = None) -> Progress:
        """Begin the root: ``parts`` problems, or one of at most ``max_iter`` label vectors.

        The method that calls this is decorated by `with_callbacks`, which tears down what is set up here.
        """
        single = parts == 1
        context = estimator._init_callback_context(
            max_subtasks=max_iter if single else parts, sequential_subtasks=single
        )
        return cls(estimator, context, single=single, X=X, y=y)

    @contextmanager
    def part(self, number: int, title: str, *, parts: int = 1, max_iter: int | None = None) -> Iterator[Progress]:
        """The task of one of the problems, which may run in threads; of a single problem this task itself."""
        if self.single:
            yield self
            return
        single = parts == 1
        context = self.context.subcontext(title, number, max_iter if single else parts, single)
        task = Progress(self.estimator, context, single=single)
        yield task
        task.end()

    def label_vector(self, record: Record) -> bool:
        """Tell of a label vector; whether a callback wants to stop."""
        name = f"labelings {record.labelings}, gap {record.gap:.2g}, violation {max(record.violation, 0.0):.2g}"
        # None, and not 0 for a leaf: progress bars show no leaves.
        context = self.context.subcontext(name, max_subtasks=None)
        return Progress(self.estimator, context, metadata={"record": record}).end()

    def end(self, *, fitted: bool = False) -> bool:
        """End the task; whether a callback wants to stop. If ``fitted``, callbacks may try the estimator."""
        attributes: dict[str, Any] | None = {} if fitted else None  # to be added to a copy of the estimator
        return bool(
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=attributes, **self.told
            )
        )
