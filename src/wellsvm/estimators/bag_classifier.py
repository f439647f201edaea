"""What classifiers of bags share, ours and the baselines: checks, two-class problems, prediction, location."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted

from wellsvm._arguments import flag, price, require_class, whole_number
from wellsvm._input import check_matrix
from wellsvm._typing import BoolArray, FloatArray, IntArray, LabelArray, Matrix
from wellsvm.bags import Bags, as_bags
from wellsvm.estimators.base import KernelModel, fitting, loss_of, make_kernel
from wellsvm.estimators.callbacks import CallbackSupportMixin
from wellsvm.estimators.feature_names import validate_named
from wellsvm.losses import Losses
from wellsvm.partial_labels import missing_cells, require_label_values, require_no_infinity, require_one_kind
from wellsvm.rows import Rows
from wellsvm.rows.kernels import Kernel

__all__ = ["BagClassifier", "first_of_largest"]


class BagClassifier(CallbackSupportMixin, ClassifierMixin, KernelModel):
    """A classifier of bags by a function of instances; subclasses add parameters, their checks and `_fit_on`."""

    _of_training_rows = ("key_instances_", "labelings_")
    dual_coef_: FloatArray
    support_: IntArray
    support_vectors_: Matrix
    _flipped = False  # whether the positive one of two classes is the first

    # scikit-learn would take the first argument, which is not called X, for metadata beside the data.
    __metadata_request__fit = {"bags": UNUSED}
    __metadata_request__predict = {"bags": UNUSED}
    __metadata_request__decision_function = {"bags": UNUSED}
    __metadata_request__score = {"bags": UNUSED}

    def fit(self, bags, y, groups=None):
        """Learn from labeled bags.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays or CSR matrices, or array or CSR matrix of shape (n_instances, n_features)
            The bags; flat instances need ``groups``. For ``kernel="precomputed"`` the features of an instance are its
            kernel values with all training instances.
        y : array of shape (n_bags,) or (n_instances,)
            Label of every bag, in the order of the bags (with ``groups``, the order of ``np.unique(groups)``); or of
            every instance, in the order of the instances and equal within each bag. If every bag has one instance, both
            have the same length; with ``groups``, the labels are then those of the instances.
        groups : array of shape (n_instances,), optional
            The bag of each flat instance.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_parameters()
            bags, codes = self._validate(bags, y, groups)
            return self._fit_checked(bags, codes, make_kernel(self, bags.X))

    @abstractmethod
    def _check_parameters(self) -> None:
        """Check all parameters that are not of the kernel."""

    @abstractmethod
    def _fit_checked(self, bags: Bags, codes: IntArray, kernel: Kernel) -> Self:
        """Fit bags that are checked; ends with `_store_bags`."""

    def _store_bags(
        self, bags: Bags, codes: IntArray, kernel: Kernel, rows: Rows, coef: list[FloatArray], labels: list[LabelArray]
    ) -> None:
        """Store f of every two-class problem by its coefficients, and the key instances by its labels, +1 for them."""
        self._store_coefficients(bags.X, kernel, *rows.split_intercept(np.stack(coef)))
        self._store_keys(bags, codes, kernel, labels)

    def _store_keys(self, bags: Bags, codes: IntArray, kernel: Kernel, labels: list[LabelArray]) -> None:
        """Store the key instances, and number the support vectors of the function stored as the caller does."""
        if bags.order is not None and kernel.name != "linear":
            self._sort_support(bags.order[self.support_])
        n_keys = getattr(self, "n_key_instances", 1)
        keys = np.full((len(bags), n_keys), -1, dtype=np.int64)
        for k, y in zip(self._positive_codes(), labels):
            keys[codes == k] = _indices_inside(bags, y, n_keys)[codes == k]
        self.key_instances_ = keys[:, 0] if n_keys == 1 else keys

    def _positive_codes(self) -> list[int]:
        """The codes of the classes that are positive in a two-class problem."""
        return [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))

    def _sort_support(self, support: IntArray) -> None:
        """Number the support vectors as the caller numbers the instances."""
        order = np.argsort(support)
        self.support_, self.dual_coef_ = support[order], np.ascontiguousarray(self.dual_coef_[:, order])
        if self.support_vectors_.shape[0]:
            self.support_vectors_ = self.support_vectors_[order]

    # -------------------------------------------------------------- checks

    def _check_prices(self) -> None:
        price("C_positive", self.C_positive)
        price("C_negative", self.C_negative)
        flag("fit_intercept", self.fit_intercept)

    def _losses(self, positive: BoolArray) -> Losses:
        """Box and ridge of every row, given which rows are positive."""
        return Losses.of(loss_of(self), np.where(positive, float(self.C_positive), float(self.C_negative)))

    def _validate(self, bags: Any, y: Any, groups: Any) -> tuple[Bags, IntArray]:
        """The checked bags, and the code of each bag's class: of two, 1 is the positive one; sets ``classes_``."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        flat = groups is not None
        bags = self._checked(as_bags(bags, groups), reset=True)
        y = _per_bag(bags, y, flat)
        require_no_infinity(y, np.arange(y.size))  # scikit-learn warns of a cast first
        check_classification_targets(y)
        classes = unique_labels(y)
        if len(classes) < 2:
            raise ValueError(
                f"all {len(bags)} bags have the label {classes.tolist()[0]!r}; bags of at least 2 classes are needed"
            )
        require_class("positive_class", self.positive_class)
        if self.positive_class is not None:
            if self.positive_class not in classes.tolist():
                raise ValueError(f"positive_class={self.positive_class!r} is not among the labels {classes.tolist()}")
            if len(classes) > 2:
                raise ValueError(
                    f"positive_class={self.positive_class!r} is for two classes; y has {len(classes)}: leave it None "
                    "for one against the rest, or pass y == positive_class"
                )
        elif len(classes) == 2 and not _tell_the_positive_one(classes.tolist()):
            one, other = classes.tolist()
            raise ValueError(
                f"the labels are {one!r} and {other!r}, and it is not clear which is positive, that is, needs only one "
                f"positive instance: pass positive_class={one!r} or positive_class={other!r} (--positive-class on the "
                "command line), or labels 0 and 1, -1 and +1, or False and True, such as "
                f"y == {other!r}"
            )
        self.classes_ = classes
        self._flipped = len(classes) == 2 and self.positive_class == classes.tolist()[0]
        codes = np.searchsorted(classes, y)
        return bags, 1 - codes if self._flipped else codes

    @property
    def positive_class_(self) -> Any:
        """The positive one of two classes; None if there are more, since each is then positive against the rest."""
        return self.classes_.tolist()[0 if self._flipped else 1] if len(self.classes_) == 2 else None

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As scikit-learn's; a fitted model names its positive class also where it was not given."""
        text = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        if self.positive_class is not None or len(getattr(self, "classes_", ())) != 2:
            return text
        return f"{text[:-1]}{'' if text.endswith('(' + ')') else ', '}positive_class={self.positive_class_!r})"

    def _labels(self, codes: IntArray) -> np.ndarray:
        """The classes of codes; of two, code 1 is the positive one."""
        return self.classes_[1 - codes if self._flipped else codes]

    def _checked(self, bags: Bags, *, reset: bool) -> Bags:
        validate = partial(validate_named, names=bags.feature_names)
        X = check_matrix(self, bags.X, reset=reset, name="bags", row_name=_row_names(bags), validate=validate, own=True)
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        if precomputed and reset and bags.order is not None and X.shape[0] == X.shape[1]:
            X = X[:, bags.order]  # features are instances here, in the caller's order
        return bags if X is bags.X else bags.with_instances(X)

    # -------------------------------------------------------------- prediction

    def decision_function_instances(self, bags, groups=None):
        """Value of f for every instance, in the original flat order; positive values mean the positive class.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays, or array or CSR matrix of shape (n_instances, n_features)
            Bags, or instances without bags.
        groups : array of shape (n_instances,), optional
            The bag of each flat instance; ignored here.

        Returns
        -------
        array of shape (n_instances,), or (n_instances, n_classes) for more than two classes
        """
        if groups is None and (getattr(bags, "ndim", None) == 2 or hasattr(bags, "columns")):
            check_is_fitted(self)
            return self._columns(self._values_in_bags(check_matrix(self, bags, reset=False), None))
        bags = as_bags(bags, groups)
        return self._columns(bags.restore(self._instance_values(bags)))

    def decision_function(self, bags, groups=None):
        """Value of every bag: the largest f among its instances.

        As everywhere in scikit-learn, a value above 0 means ``classes_[1]``; if ``positive_class`` is ``classes_[0]``,
        the sign is changed.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays, or array or CSR matrix of shape (n_instances, n_features)
            The bags; flat instances need ``groups``.
        groups : array of shape (n_instances,), optional
            The bag of each flat instance.

        Returns
        -------
        array of shape (n_bags,), or (n_bags, n_classes) for more than two classes
        """
        bags = as_bags(bags, groups)
        values = self._columns(self._bag_values(self._instance_values(bags), bags))
        return -values if self._flipped else values

    def _instance_values(self, bags: Bags) -> FloatArray:
        """Values of all stored functions, in the order of ``bags.X``."""
        check_is_fitted(self)
        return self._values_in_bags(self._checked(bags, reset=False).X, bags.offsets)

    def _values_in_bags(self, X: Matrix, offsets: IntArray | None) -> FloatArray:
        """Values of all stored functions for rows in bags; without ``offsets`` each row is a bag of its own."""
        return self._evaluate(X)

    def _bag_values(self, values: FloatArray, bags: Bags) -> FloatArray:
        return np.maximum.reduceat(values, bags.offsets[:-1], axis=0)

    def _columns(self, values: FloatArray) -> FloatArray:
        return values[:, 0] if len(self.classes_) == 2 else values

    def _codes(self, values: FloatArray) -> IntArray:
        return (values[:, 0] > 0).astype(np.intp) if len(self.classes_) == 2 else np.argmax(values, axis=1)

    def predict(self, bags, groups=None):
        """Class of every bag.

        Parameters
        ----------
        bags, groups :
            As in `decision_function`.
        """
        bags = as_bags(bags, groups)
        values = self._bag_values(self._instance_values(bags), bags)
        return self._labels(self._codes(values))

    def score(self, bags, y, sample_weight=None, groups=None):
        """Accuracy: the share of bags whose class is predicted correctly.

        Parameters
        ----------
        bags, groups :
            As in `decision_function`.
        y : array of shape (n_bags,) or (n_instances,)
            Labels, as in `fit`.
        sample_weight : array of shape (n_bags,) or (n_instances,), optional
            Weight of every bag, as labels are given.
        """
        flat, bags = groups is not None, as_bags(bags, groups)
        weight = None if sample_weight is None else _per_bag(bags, sample_weight, flat, "sample_weight", "weight")
        y = _per_bag(bags, y, flat)
        require_label_values(y)
        return accuracy_score(y, self.predict(bags), sample_weight=weight)

    def predict_instances(self, bags, groups=None):
        """Class of every instance if it were a bag by itself, in the original flat order.

        Parameters
        ----------
        bags, groups :
            As in `decision_function_instances`.
        """
        values = self.decision_function_instances(bags, groups)
        return self._labels(self._codes(values.reshape(len(values), -1)))

    def locate(self, bags, k=1, groups=None):
        """The instances responsible for the prediction of each bag: the k with the largest f.

        Parameters
        ----------
        bags, groups :
            As in `decision_function`.
        k : int, default=1
            Number of instances per bag, best first.

        Returns
        -------
        array of shape (n_bags,), or (n_bags, k) for k > 1
            Indices of instances within their bag, starting at 0 in the original order; -1 for bags predicted negative,
            and as padding for bags with fewer than k instances. With more than two classes, no bag is negative: the
            instances are those with the largest f for the predicted class. For bags from `wellsvm.images.image_bags`,
            the result holds boxes instead of indices, with four numbers in the last axis: top, left, bottom and right
            in pixels, or -1 if there is none.
        """
        k = whole_number("k", k, low=1)
        bags = as_bags(bags, groups)
        values = self._instance_values(bags)
        codes = self._codes(self._bag_values(values, bags))
        column = np.zeros_like(codes) if len(self.classes_) == 2 else codes
        found = first_of_largest(values[np.arange(len(values)), column[bags.bag_of]], bags, k)
        if len(self.classes_) == 2:
            found[codes == 0] = -1
        if bags.boxes is not None:
            found = _boxes_of(bags.boxes, found)
        return found[:, 0] if k == 1 else found

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.pairwise = False  # bags are no matrix that scikit-learn could cut
        return tags


def _tell_the_positive_one(classes: list[Any]) -> bool:
    """Whether two sorted labels say themselves that the second is positive; False and True are equal to 0 and 1."""
    return classes in ([0, 1], [-1, 1])


def _per_bag(bags: Bags, values: Any, flat: bool, name: str = "y", what: str = "label") -> np.ndarray:
    """One value per bag, from one per bag or one per instance; where both fit, ``flat`` decides for instances."""
    if name == "y":
        require_one_kind(values)
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise ValueError(f"{name} is not a list with one {what} per bag: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one {what} per bag")
    if len(array) == bags.n_instances and (flat or len(array) != len(bags)):
        values = array = bags.bag_labels(values)
    if len(array) != len(bags):
        raise ValueError(
            f"{name} has {len(array)} {what}s for {len(bags)} bags of {bags.n_instances} instances; give one per bag, "
            "or one per instance"
        )
    missing = np.flatnonzero(missing_cells(values))
    if missing.size:
        raise ValueError(f"bag {bags.name(int(missing[0]))} has no {what}; leave bags without {what} out")
    return array


def _row_names(bags: Bags) -> Callable[[int], str]:
    """How an error calls row j of ``bags.X``: by its bag and its place in it."""

    def name(row: int) -> str:
        bag = int(np.searchsorted(bags.offsets, row, side="right")) - 1
        return f"row {row - bags.offsets[bag]} of bag {bags.name(bag)}"

    return name


def first_of_largest(values: FloatArray, bags: Bags, k: int) -> IntArray:
    """The k instances of largest value inside each bag, best first, padded with -1; ties go to the lower index."""
    found = np.full((len(bags), k), -1, dtype=np.int64)
    bag_of = bags.bag_of
    order = np.lexsort((-values, bag_of))
    rank = np.arange(values.size) - bags.offsets[bag_of]
    used = rank < k
    found[bag_of[used], rank[used]] = order[used] - bags.offsets[bag_of[used]]
    return found


def _boxes_of(boxes: list[IntArray], found: IntArray) -> IntArray:
    """The boxes of the instances found in each bag, -1 where there is none; of shape (n_bags, k, 4)."""
    places = [own[np.maximum(numbers, 0)] for own, numbers in zip(boxes, found)]
    return np.where(found[:, :, None] >= 0, np.stack(places), -1)


def _indices_inside(bags: Bags, y: LabelArray, n_keys: int) -> IntArray:
    """The key instances of each bag by their number in it, in order, padded with -1."""
    found = first_of_largest(y.astype(np.float64), bags, n_keys)
    chosen = np.where(found >= 0, y[np.minimum(bags.offsets[:-1, None] + np.maximum(found, 0), y.size - 1)] > 0, False)
    return np.where(chosen, found, -1)
