"""Methods that stay lazy on dask collections."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from wellsvm._input import is_dask

__all__ = ["lazy_on_dask"]

Method = TypeVar("Method", bound=Callable[..., Any])


def lazy_on_dask(method: Method) -> Method:
    """A method that maps rows to values gives, for a dask array or dataframe, a dask array that is not computed yet."""

    @wraps(method)
    def lazy(self: Any, X: Any) -> Any:
        if not (is_dask(X) or getattr(X, "is_lazy", False)):
            return method(self, X)
        from wellsvm.dask import lazily

        return lazily(self, method.__name__, X)

    return cast(Method, lazy)
