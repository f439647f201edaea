"""Bags of instances: flat rows plus the borders between bags, in a form that scikit-learn can index.

`Bags` keeps the instances of a bag together, bag after bag: ``X[offsets[i] : offsets[i + 1]]`` is bag i. Where the
caller's rows come in that order already, X is the caller's array; else the rows are brought together once, and `order`
remembers where each came from, so that values per instance can be given back in the caller's order (`restore`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from wellsvm._bag_input import as_groups, as_matrix, column_names, kind_of, numbers, require, require_list
from wellsvm._input import blocks_of, computed, is_sparse
from wellsvm._typing import IntArray, Matrix
from wellsvm.partial_labels import missing_cells
from wellsvm.rows.blocks import Blocks

__all__ = ["Bags", "PerInstance", "as_bags", "per_instance"]


class Bags:
    """Bags of instances, indexed by bag.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_instances, n_features)
        All instances, dense or CSR. They are not copied if the rows of every bag are adjacent and the bags are in
        sorted order.
    groups : array of shape (n_instances,)
        The bag of each row: numbers, strings, or anything else that can be sorted. Bags are in the order of
        ``np.unique(groups)``: with the numbers 0 ... n - 1, the label ``y[k]`` belongs to bag k.

    Attributes
    ----------
    X : array or CSR matrix of shape (n_instances, n_features)
        The instances, bag by bag; within a bag, in the original order.
    offsets : int array of shape (n_bags + 1,)
        Bag i owns the rows ``offsets[i] ... offsets[i + 1] - 1`` of X.
    names : array of shape (n_bags,)
        The name of each bag in ``groups``.
    order : int array of shape (n_instances,), or None
        The original index of each row of ``X``; None if the order did not change.
    sizes : int array of shape (n_bags,)
        Number of instances in each bag, at least one.
    feature_names : list of str, or None
        Names of the columns, if X is a data frame.
    boxes : list of int arrays of shape (n_instances_of_the_bag, 4), or None
        Where the instances are in their image, if `wellsvm.images.image_bags` made the bags.

    Notes
    -----
    ``len`` is the number of bags, and indexing by int, slice, mask or index array returns Bags, so `cross_val_score`,
    `GridSearchCV` and `train_test_split` split by bag. Iterating yields each bag as a 2-D array or CSR matrix. In a
    subset, instances are counted bag by bag, in the order of the subset.

    Examples
    --------
    >>> import numpy as np
    >>> from wellsvm import Bags
    >>> bags = Bags(np.arange(10.0).reshape(5, 2), groups=["b", "a", "b", "b", "a"])
    >>> len(bags), bags.sizes.tolist(), bags.names.tolist()
    (2, [2, 3], ['a', 'b'])
    >>> bags[[1]].X
    array([[0., 1.],
           [4., 5.],
           [6., 7.]])
    """

    feature_names: list[str] | None = None
    boxes: list[IntArray] | None = None

    def __init__(self, X: Any, groups: Any) -> None:
        X = X if (blocks := blocks_of(X)) is None else blocks
        self.feature_names = column_names(X)
        X = as_matrix(X, "X")
        groups = as_groups(computed(groups, X), X.shape[0])
        try:
            names, bag_of = np.unique(groups, return_inverse=True)
        except TypeError as error:
            raise ValueError(f"groups mixes values that cannot be sorted: {error}; use numbers or strings") from None
        order = None
        if np.any(np.diff(bag_of) < 0):
            require(not isinstance(X, Blocks), "rows in blocks must be sorted by groups; write them in that order")
            order = np.argsort(bag_of, kind="stable")
            X = X[order]
        self._set(X, np.concatenate([[0], np.cumsum(np.bincount(bag_of))]), names, order)

    def _set(self, X: Matrix, offsets: IntArray, names: np.ndarray, order: IntArray | None = None) -> Bags:
        self.X, self.offsets, self.names, self.order = X, offsets.astype(np.int64), names, order
        self.sizes: IntArray = np.diff(self.offsets)
        return self

    @classmethod
    def from_list(cls, bags: Sequence[Any] | np.ndarray) -> Bags:
        """Bags from a list of 2-D arrays or sparse matrices (instances, features), or one 3-D array.

        Parameters
        ----------
        bags : sequence of arrays or sparse matrices of shape (n_instances_of_the_bag, n_features)
            All dense or all sparse, with the same number of features; the bags are named 0, 1, ...
        """
        if isinstance(bags, np.ndarray) and bags.ndim == 3:
            n, size, width = bags.shape
            require(n > 0, "the array of bags is empty; at least one bag is needed")
            require(size > 0, "bag 0 is empty; every bag needs at least one instance")
            X = as_matrix(bags.reshape(n * size, width), "the array of bags")
            return cls.__new__(cls)._set(X, np.arange(n + 1) * size, np.arange(n))
        require_list(bags, "bags must be a list of matrices, one for every bag")
        parts, names = [], []
        for i, part in enumerate(bags):
            if isinstance(part, Bags):  # taken by its number
                names.append(part.feature_names)
                part = part.X
            else:
                names.append(column_names(part))
            part = as_matrix(part, f"bag {i}")
            parts.append(part)
            (size, width), (_, expected) = part.shape, parts[0].shape
            kind, kind_0 = kind_of(part), kind_of(parts[0])
            require(size > 0, f"bag {i} is empty; every bag needs at least one instance: drop it and its label")
            require(kind == kind_0, f"bag {i} is {kind} but bag 0 is {kind_0}; make all bags dense or all sparse")
            require(
                width == expected,
                f"bag {i} has {width} features but bag 0 has {expected}; all bags need the same number",
            )
            require(
                names[i] == names[0],
                f"bag {i} has the columns {names[i]} but bag 0 has {names[0]}; all bags need the same columns",
            )
        require(bool(parts), "the list of bags is empty; at least one bag is needed")
        X = sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
        offsets = np.concatenate([[0], np.cumsum([part.shape[0] for part in parts])])
        made = cls.__new__(cls)._set(X, offsets, np.arange(len(parts)))
        made.feature_names = names[0]
        return made

    @classmethod
    def from_frame(
        cls, frame: Any, bag: Any, label: Any = None, features: Sequence[Any] | None = None
    ) -> tuple[Bags, np.ndarray | None]:
        """Bags, and their labels, from a data frame with one row per instance.

        Parameters
        ----------
        frame : data frame
            pandas, polars, or anything with ``columns`` and ``frame[column]``.
        bag : column name
            The column with the bag of each row.
        label : column name, optional
            The column with the label of the bag, which must be the same in every row of a bag.
        features : sequence of column names, optional
            The feature columns; None means all other columns.

        Returns
        -------
        bags : Bags
            The bags.
        y : array of shape (n_bags,), or None
            Their labels, in the order of the bags; None without a ``label`` column.
        """
        columns = list(frame.columns)
        special = [bag] if label is None else [bag, label]
        used = [c for c in columns if c not in special] if features is None else list(features)
        missing = [c for c in special + used if c not in columns]
        require(not missing, f"the frame has no column {missing[0] if missing else ''!r}; it has {columns}")
        require(bool(used), "the frame has no column left for the features")
        X = np.column_stack([numbers(frame[c], c) for c in used])
        bags = cls(X, frame[bag])
        bags.feature_names = used if all(isinstance(name, str) for name in used) else None
        return bags, None if label is None else bags.bag_labels(frame[label])

    # -------------------------------------------------------------- a sequence of bags

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def shape(self) -> tuple[int]:
        """``(n_bags,)``: what scikit-learn counts as samples."""
        return (len(self),)

    @property
    def n_instances(self) -> int:
        """Instances in all bags."""
        return int(self.offsets[-1])

    @property
    def n_features(self) -> int:
        """Features of an instance."""
        return int(self.X.shape[1])

    @property
    def bag_of(self) -> IntArray:
        """Number of the bag of each row of X."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def name(self, bag: int) -> str:
        """How an error calls a bag."""
        return repr(self.names.tolist()[bag])

    def __iter__(self) -> Iterator[Matrix]:
        for begin, end in zip(self.offsets[:-1], self.offsets[1:]):
            yield self.X[begin:end]

    def __getitem__(self, key: Any) -> Bags:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # how scikit-learn asks arrays for rows
            key = key[0]
        if isinstance(key, slice):
            chosen = np.arange(len(self))[key]
        else:
            chosen = np.asarray(key)
            if chosen.dtype == bool:
                if chosen.shape != (len(self),):
                    raise IndexError(f"a mask of shape {chosen.shape} for {len(self)} bags; give one entry per bag")
                chosen = np.flatnonzero(chosen)
            elif chosen.size == 0:
                chosen = chosen.astype(np.int64)
            if chosen.ndim > 1 or chosen.dtype.kind not in "iu":
                raise IndexError(f"bags are indexed by an int, a slice, a mask or an array of ints; got {key!r}")
            bad = np.flatnonzero((chosen.ravel() < -len(self)) | (chosen.ravel() >= len(self)))
            if bad.size:
                raise IndexError(f"bag {chosen.ravel()[bad[0]]} does not exist; there are {len(self)} bags")
            chosen = chosen.reshape(-1) % len(self) if len(self) else chosen.reshape(-1)
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        if chosen.size and np.all(np.diff(chosen) == 1):  # neighbors: no copy of dense rows
            X = self.X[self.offsets[chosen[0]] : self.offsets[chosen[-1] + 1]]
        else:
            X = self.X[np.repeat(self.offsets[chosen] - offsets[:-1], sizes) + np.arange(offsets[-1])]
        part = type(self).__new__(type(self))._set(X, offsets, self.names[chosen])
        part.feature_names = self.feature_names
        part.boxes = None if self.boxes is None else [self.boxes[i] for i in chosen]
        return part

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "Bags cannot be converted to an array; use bags.X for the flat instances, or wrap a transformer "
            "as wellsvm.bags.per_instance(transformer)"
        )

    def __repr__(self) -> str:
        kind = "sparse" if is_sparse(self.X) else "dense"
        return f"Bags({len(self)} bags, {self.n_instances} instances, {self.n_features} features, {kind})"

    # -------------------------------------------------------------- values per instance

    def arrange(self, values: np.ndarray) -> np.ndarray:
        """Values per instance, from the caller's order to that of ``X``."""
        return values if self.order is None else values[self.order]

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Values per instance, from the order of ``X`` to the caller's."""
        if self.order is None:
            return values
        restored = np.empty_like(values)
        restored[self.order] = values
        return restored

    def bag_labels(self, y: Any) -> np.ndarray:
        """Labels of the bags, from one label per instance (in the caller's order) that is the same in each bag."""
        values = np.asarray(y)
        if values.shape != (self.n_instances,):
            raise ValueError(f"y has shape {values.shape}; expected one label for each of {self.n_instances} instances")
        missing = missing_cells(y)
        if missing.any() and values.dtype.kind != "f":  # NA compares with nothing, and a mask would be lost
            values = values.astype(object)
            values[missing] = None
        values, missing = self.arrange(values), self.arrange(missing)
        first, none = values[self.offsets[:-1]], missing[self.offsets[:-1]]
        own, own_missing = np.repeat(first, self.sizes), np.repeat(none, self.sizes)
        # No label throughout a bag is no contradiction.
        differs = np.flatnonzero((missing != own_missing) | ((values != own) & ~missing))
        if differs.size:
            bag = int(self.bag_of[differs[0]])
            one, other = own[differs].tolist()[0], values[differs].tolist()[0]
            raise ValueError(
                f"y has different labels within bag {self.name(bag)}: {one!r} and {other!r}; a bag has one label"
            )
        return np.asarray(first)

    def with_instances(self, X: Any) -> Bags:
        """The same bags with other features: row j of X replaces row j of ``self.X``."""
        X = as_matrix(X, "X")
        require(X.shape[0] == self.n_instances, f"{X.shape[0]} rows for {self.n_instances} instances")
        made = type(self).__new__(type(self))._set(X, self.offsets, self.names, self.order)
        made.boxes = self.boxes
        return made


def as_bags(bags: Any, groups: Any = None) -> Bags:
    """Bags from what an estimator is given: Bags, a list of 2-D arrays, or flat rows and ``groups``."""
    if isinstance(bags, Bags):
        require(groups is None, "groups is for flat instances, but the first argument already consists of bags")
        return bags
    if groups is not None:
        return Bags(bags, groups)
    if isinstance(bags, (list, tuple)) or (isinstance(bags, np.ndarray) and (bags.ndim == 3 or bags.dtype == object)):
        return Bags.from_list(bags)
    raise ValueError(
        "expected Bags, a list of 2-D arrays, or flat instances with groups=...; got "
        f"{type(bags).__name__} of shape {getattr(bags, 'shape', None)} without groups"
    )


# ------------------------------------------------------------------ transformers


class PerInstance(TransformerMixin, BaseEstimator):
    """A transformer of rows that works on bags: fitted on all instances, applied to each.

    Parameters
    ----------
    transformer : estimator with fit and transform
        Such as StandardScaler, TfidfTransformer, Nystroem or PCA. It is cloned, not changed.

    Attributes
    ----------
    transformer_ : estimator
        The fitted clone.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from wellsvm import MultiInstanceSVC
    >>> from wellsvm.bags import per_instance
    >>> pipeline = make_pipeline(per_instance(StandardScaler()), MultiInstanceSVC())
    """

    _feature_names: list[str] | None = None  # that it was fitted to, where the bags had them

    def __init__(self, transformer):
        self.transformer = transformer

    def fit(self, bags, y=None):
        """Fit the transformer on the instances of all bags, each with its bag's label.

        Parameters
        ----------
        bags : Bags or list of 2-D arrays
            The bags.
        y : array of shape (n_bags,), optional
            Labels of the bags.
        """
        bags = as_bags(bags)
        labels = None if y is None else np.repeat(np.asarray(y), bags.sizes)
        self.transformer_ = clone(self.transformer).fit(bags.X, labels)
        self._feature_names = bags.feature_names
        return self

    def transform(self, bags):
        """The bags with transformed instances.

        Parameters
        ----------
        bags : Bags or list of 2-D arrays
            The bags.
        """
        check_is_fitted(self)
        bags = as_bags(bags)
        names = self._feature_names
        if names and bags.feature_names and bags.feature_names != names:
            raise ValueError(
                f"the instances have the features {bags.feature_names}; the transformer was fitted to {names}, in this "
                "order"
            )
        made = bags.with_instances(self.transformer_.transform(bags.X))
        if names and bags.feature_names and hasattr(self.transformer_, "get_feature_names_out"):
            made.feature_names = [str(name) for name in self.transformer_.get_feature_names_out(names)]
        return made

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def per_instance(transformer: Any) -> PerInstance:
    """Make a transformer of rows work on bags, for example in a Pipeline before MultiInstanceSVC."""
    return PerInstance(transformer)
