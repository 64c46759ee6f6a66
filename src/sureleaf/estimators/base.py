"""What both estimators share: each is a shell of parameters around a fitted model."""

from os import PathLike
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sureleaf.arguments import (
    FloatArray,
    check_one_label_per_row,
    check_weights,
    meaning_of_weights,
    scale_importances,
)
from sureleaf.errors import InvalidArgumentError, SureleafError, suggestion, warn_caller
from sureleaf.estimators.parameters import hint_for
from sureleaf.files.state_file import State, write_state
from sureleaf.model.bagged_model import BaggedModel
from sureleaf.model.tree_model import TreeModel
from sureleaf.scale import SourceRows
from sureleaf.table import EncodedTable, Schema, encode_labels, read_table
from sureleaf.table.encoded_table import Recoding
from sureleaf.tree import TrainingRows

Model = TypeVar("Model", TreeModel, BaggedModel)


class ModelEstimator(ClassifierMixin, BaseEstimator, Generic[Model]):  # type: ignore[misc]
    """A scikit-learn classifier that delegates to the fitted model in ``model_``."""

    model_: Model
    _model_type: type[Model]
    n_jobs: int | None

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, also those of a classifier inside: ``estimator__max_depth=3``."""
        known = self.get_params(deep=False)
        for name in parameters:
            if name.partition("__")[0] not in known:
                raise InvalidArgumentError(
                    f"{type(self).__name__} has no parameter {name}.{hint_for(name, known)}"
                )
        super().set_params(**parameters)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Hold the model as plain values and arrays, as its file does.

        So skops has to trust one type, the estimator. A model with a leaf estimate of another
        library cannot be a file, and stays an object.
        """
        state: dict[str, Any] = dict(super().__getstate__())
        if "model_" in state:
            try:
                plain = state["model_"].to_state()
            except SureleafError:
                return state
            del state["model_"]
            state["model_state_"] = {"header": plain.header, "arrays": plain.arrays}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        plain = state.pop("model_state_", None)
        if plain is not None:
            state["model_"] = self._model_type.from_state(State(**plain))
        super().__setstate__(state)

    def _fitted(self) -> Model:
        """Return the model, or raise NotFittedError, which is an AttributeError as well."""
        if "model_" not in self.__dict__:  # scikit-learn's check alone takes longer
            check_is_fitted(self)
        return self.model_

    def _changed(self, **attributes: Any) -> Self:
        """Return a copy with other attributes; copy.copy would compute levels, as pickling does."""
        other = object.__new__(type(self))
        other.__dict__ = {**self.__dict__, **attributes}
        return other

    def recognising_model(self) -> Model:
        """Return the fitted model with fingerprints of its rows, by which it recognises them."""
        return self._fitted()

    def _encode(self, X: Any) -> EncodedTable:
        """Encode rows to send them to leaves."""
        return self._fitted().encode(X, for_routing=True, estimator=type(self).__name__)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row, the first one on ties.

        With `cost`, the class is the decision of least expected cost.
        """
        name = type(self).__name__
        return self._fitted().predict(X, n_jobs=self.n_jobs, estimator=name)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the class probabilities; minus infinity for 0."""
        with np.errstate(divide="ignore"):
            logarithms: FloatArray = np.log(self.predict_proba(X))
        return logarithms

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on rows with known classes."""
        if isinstance(y, np.ndarray) and y.dtype.kind == "T":  # scikit-learn refuses StringDType
            y = y.astype(object)
        return float(super().score(X, y, sample_weight))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self._fitted().classes

    @property
    def schema_(self) -> Schema:
        """Names, kinds and categories of the columns."""
        return self._fitted().schema

    @property
    def feature_importances_(self) -> FloatArray:
        """Each column's share of the decrease of impurity on the training rows (of a bag: mean)."""
        return self._fitted().feature_importances

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return len(self.schema_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, if the table had names."""
        if not self.schema_.named:
            raise AttributeError("feature_names_in_: the table that was fitted had no names.")
        return np.array(self.schema_.names, dtype=object)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted model, its levels included, to a file that `sureleaf.load` reads.

        The file holds plain arrays and JSON, and no training rows; docs/model-file.md describes
        it. It appears whole or not at all. Levels that are not known yet are computed first.

        Examples
        --------
        >>> import tempfile
        >>> import sureleaf
        >>> model = sureleaf.TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/halves.sureleaf")
        ...     again = sureleaf.load(folder + "/halves.sureleaf")
        >>> again.levels() == model.levels(), again.predict([[3]]).tolist()
        (True, [0])
        """
        from sureleaf.estimators.saving import estimator_state

        write_state(estimator_state(self), path)


def class_weights(
    class_weight: Any, classes: NDArray[Any], labels: NDArray[np.int32]
) -> FloatArray:
    """Weight of each class, checked as scikit-learn does."""
    from sklearn.utils.class_weight import compute_class_weight

    if not isinstance(class_weight, dict) and class_weight != "balanced":
        raise InvalidArgumentError(
            "class_weight must be a dict of weights by class, 'balanced' or None; "
            f"got {class_weight!r}."
        )
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise InvalidArgumentError(
                f"class_weight must name classes of y, {classes.tolist()}; got {unknown[0]!r}."
            )
    weights: FloatArray = compute_class_weight(class_weight, classes=classes, y=classes[labels])
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise InvalidArgumentError("class_weight must have finite weights of at least 0.")
    return weights


def read_training_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    categorical_features: Any,
    weights: str,
    class_weight: Any = None,
    estimator: str,
) -> tuple[TrainingRows, NDArray[Any], str]:
    """Read a table and its labels; categories of rows of weight 0 are left out.

    Returns the rows, the classes and what the weights mean: those that cannot be counts are
    importances.
    """
    table = read_table(X, categorical_features=categorical_features, estimator=estimator)
    labels, classes = encode_labels(y, estimator=estimator)
    check_one_label_per_row(table.n_rows, labels)
    row_weights = check_weights(sample_weight, table.n_rows)
    row_weights, weights = weigh_rows(labels, classes, row_weights, weights, class_weight)
    has_schema = isinstance(categorical_features, Schema)
    if row_weights is not None and not row_weights.all() and not has_schema:
        table = Recoding.of(table, np.flatnonzero(row_weights))(table)
    return TrainingRows(table, labels, len(classes), row_weights), classes, weights


def weigh_rows(
    labels: NDArray[np.int32],
    classes: NDArray[Any],
    row_weights: FloatArray | None,
    weights: str,
    class_weight: Any,
) -> tuple[FloatArray | None, str]:
    """Return the weights of rows with those of their classes, and what the weights mean."""
    if meaning_of_weights(weights, row_weights) != weights and row_weights is not None:
        n_rows, total = np.count_nonzero(row_weights), row_weights.sum()
        warn_caller(
            f"sample_weight has a sum of {total:.3g} for {n_rows} rows, so its weights cannot be "
            "counts of rows. They are used as importances: scaled to a mean of 1, with levels from "
            "the effective number of rows. Set weights='importance' to say so, or "
            f"{'multiply' if total < n_rows else 'divide'} them.",
            UserWarning,
        )
        weights = "importance"
    if class_weight is not None:
        by_class = class_weights(class_weight, classes, labels)
        row_weights = by_class[labels] * (1.0 if row_weights is None else row_weights)
    if weights == "importance":
        row_weights = scale_importances(row_weights)
    return row_weights, weights


def source_training_rows(
    read: SourceRows, weights: str, class_weight: Any
) -> tuple[TrainingRows, str]:
    """Return rows that were read in batches for a fit, and what their weights mean."""
    given = check_weights(read.weights, len(read.labels))
    row_weights, weights = weigh_rows(read.labels, read.classes, given, weights, class_weight)
    was_zero: Any = False if given is None else given == 0
    if row_weights is not None and np.any((row_weights == 0) & ~np.asarray(was_zero)):
        raise InvalidArgumentError(
            "class_weight must be above 0 for every class of a table that is read in batches; got "
            "0. Leave the rows of this class out of the table."
        )
    return read.training_rows(row_weights), weights


def split_columns(X: Any, *given: Any) -> tuple[Any, ...]:
    """Split columns off a table in memory: those of which the names are given.

    Returns the table without them, and what was given with columns in the place of their names.
    """
    import narwhals.stable.v2 as nw

    taken = [name for name in given if isinstance(name, str)]
    if not taken:
        return X, *given
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InvalidArgumentError(
            f"a column can be given by its name if X is a table with names; got {taken[0]!r} and "
            f"X of type {type(X).__name__}. Give one value per row."
        )
    for name in taken:
        if name not in frame.columns:
            raise InvalidArgumentError(
                f"{name!r} must be a column of X.{suggestion(name, frame.columns)}"
            )
    columns = [frame[one].to_native() if isinstance(one, str) else one for one in given]
    return frame.drop(taken).to_native(), *columns
