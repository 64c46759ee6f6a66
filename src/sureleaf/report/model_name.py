"""A classifier from what is typed: TreeClassifier(pruning=None), sklearn.naive_bayes.GaussianNB."""

import ast
import importlib
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from sureleaf.errors import InvalidArgumentError

__all__ = ["Encoded", "read_model"]

_OURS = ("TreeClassifier", "BaggedTreesClassifier")


def read_model(text: str, X: Any) -> Any:
    """Return the classifier that a text names, ready for the columns of X.

    Parameters
    ----------
    text : str
        A class of sureleaf by its name, or of another library by its full name, with or without
        parameters.
    X : pyarrow.Table
        What it will be fitted on: classifiers of other libraries get their text columns as one
        column a value, and missing numbers as the mean.

    Examples
    --------
    >>> import pyarrow
    >>> X = pyarrow.table({"wind": [1.0, 2.0]})
    >>> read_model("TreeClassifier(min_samples_leaf=5)", X).min_samples_leaf
    5
    >>> read_model("sklearn.naive_bayes.GaussianNB", X)
    GaussianNB()
    """
    name, options = _parse(text)
    module, _, short = name.rpartition(".")
    if not module and short not in _OURS:
        raise InvalidArgumentError(
            f"--model must be {' or '.join(_OURS)}, or a classifier of another library with its "
            f"module, such as sklearn.ensemble.RandomForestClassifier; got {text!r}."
        )
    try:
        home = importlib.import_module(module or "sureleaf")
        kind = getattr(home, short)
        model = kind(**options)
    except (ImportError, AttributeError, TypeError) as problem:
        raise InvalidArgumentError(
            f"--model must name a classifier, such as TreeClassifier(pruning=None) or "
            f"sklearn.naive_bayes.GaussianNB(); got {text!r}: {problem}."
        ) from None
    return model if kind.__module__.startswith("sureleaf") else _with_numbers(model, X)


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        options: dict[str, Any] = {}
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("parameters need their names")
            options = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            node = node.func
        return _dotted(node), options
    except (SyntaxError, ValueError) as problem:
        raise InvalidArgumentError(
            "--model must be a name with parameters, such as TreeClassifier(max_depth=3); "
            f"got {text!r} ({problem})."
        ) from None


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise ValueError("not a name")


def _with_numbers(model: Any, X: Any) -> Any:
    """Put text columns as one column a value before a classifier that takes numbers only."""
    import pyarrow.types as kinds

    def is_number(kind: Any) -> bool:
        return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))

    numbers = [i for i, field in enumerate(X.schema) if is_number(field.type)]
    words = [i for i in range(X.num_columns) if i not in numbers]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        (SimpleImputer(keep_empty_features=True), numbers),
    )
    return Encoded(
        [("rows", FunctionTransformer(_as_objects)), ("columns", columns), ("model", model)]
    )


class Encoded(Pipeline):  # type: ignore[misc]
    """A classifier behind its encoding; shown as the classifier alone.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> Encoded([("model", GaussianNB())])
    GaussianNB()
    """

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.steps[-1][1])


def _as_objects(table: Any) -> Any:
    """Return an Arrow table as rows of objects; None where a value is missing."""
    rows = np.empty((table.num_rows, table.num_columns), dtype=object)
    for i, column in enumerate(table.columns):
        rows[:, i] = column.to_pylist()
    return rows
