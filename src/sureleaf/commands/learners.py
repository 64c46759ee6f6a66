"""Classifiers in words: an expression such as TreeClassifier(pruning=None), or options of a tree.

Nothing that is written is executed: an expression is parsed, and only classes are called.
"""

import ast
import importlib
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import sureleaf
from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.estimators.parameters import counts_errors, hint_for

_OURS = ("TreeClassifier", "TreeClassifier.c45", "BaggedTreesClassifier")
_TRUSTED = ("sureleaf", "sklearn")
"""Libraries all of whose classes may be called; of others, those with a method ``fit``."""


# ---- an expression -----------------------------------------------------------------------------


def read_model(text: str, X: Any, option: str = "--model") -> Any:
    """Return the classifier that a text of an option names, ready for the columns of X.

    The text is a class of sureleaf by its name, or of another library by its full name, with or
    without parameters, which may be such classes again. For classifiers of other libraries, each
    text value becomes a 0/1 column, and missing numbers become the mean.

    Examples
    --------
    >>> import pyarrow
    >>> X = pyarrow.table({"wind": [1.0, 2.0]})
    >>> read_model("TreeClassifier(min_samples_leaf=5)", X).min_samples_leaf
    5
    >>> read_model("BaggedTreesClassifier(estimator=TreeClassifier(pruning=None))", X)
    BaggedTreesClassifier(estimator=TreeClassifier(pruning=None))
    >>> read_model("sklearn.naive_bayes.GaussianNB", X)
    GaussianNB()
    """
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if not isinstance(expression, ast.Name | ast.Attribute | ast.Call):
            raise ValueError("it is not a name")
        model = _read_object(expression)
        if not hasattr(model, "fit"):
            raise ValueError("it has no method fit")
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as problem:
        reason = "it cannot be read" if isinstance(problem, SyntaxError) else str(problem)
        raise InvalidArgumentError(
            f"{option} must be a classifier with its parameters, such as "
            "TreeClassifier(pruning=None) or sklearn.naive_bayes.GaussianNB; "
            f"got {text!r}: {reason.rstrip('.?')}{'?' if reason.endswith('?') else '.'}"
        ) from None
    return model if type(model).__module__.startswith("sureleaf") else _with_numbers(model, X)


def _read_object(node: ast.expr) -> Any:
    """Return the object that a name, with or without parameters, stands for."""
    if not isinstance(node, ast.Call):
        return _constructor(ast.unparse(node))()
    if node.args or any(word.arg is None for word in node.keywords):
        raise ValueError("every parameter needs its name, as in max_depth=3")
    make = _constructor(ast.unparse(node.func))
    return make(**{str(word.arg): _read_value(word.value) for word in node.keywords})


def _read_value(node: ast.expr) -> Any:
    """Return the value of a parameter: a literal, an object, or a list, tuple or dict of them."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return _read_object(node)
    if isinstance(node, ast.List | ast.Tuple):
        values = [_read_value(one) for one in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = (ast.literal_eval(key) for key in node.keys if key is not None)
        return dict(zip(keys, map(_read_value, node.values), strict=True))
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"{ast.unparse(node)} is not a number, a text in quotes, True, False, None, a list or "
            "a classifier"
        ) from None


def _constructor(name: str) -> Any:
    """Return what makes an object of this name: a class, or `TreeClassifier.c45`."""
    if (ours := name.removeprefix("sureleaf.")) in _OURS:
        return operator.attrgetter(ours)(sureleaf)
    module, _, short = name.rpartition(".")
    if not module or module in _OURS:
        raise ValueError(
            f"{name} is not {', '.join(_OURS)} or a class with its module, such as "
            f"sklearn.svm.SVC, and a text needs quotes.{suggestion(name, _OURS, listed=False)}"
        )
    try:
        found = getattr(importlib.import_module(module), short)
    except (ImportError, AttributeError) as problem:
        raise ValueError(str(problem)) from None
    library = module.partition(".")[0]
    is_trusted = library in _TRUSTED and str(found.__module__).startswith(library)
    if not isinstance(found, type) or not (is_trusted or hasattr(found, "fit")):
        raise ValueError(f"{name} is not a class with a method fit")  # it is not called, either
    return found


def libraries_of(text: str) -> set[str]:
    """Return the libraries whose classes an expression names by their modules."""
    return set(re.findall(r"(?<![\w.])([a-z_]\w*)\.", text))


def _with_numbers(model: Any, X: Any) -> Any:
    """Encode text columns as 0/1 columns for a classifier that needs numbers."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    numbers = [any(is_kind(one.type) for is_kind in kinds) for one in X.schema]
    is_number = np.array(numbers, dtype=bool)  # of a table without columns, too
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (encoder, np.flatnonzero(~is_number).tolist()),
        (SimpleImputer(keep_empty_features=True), np.flatnonzero(is_number).tolist()),
    )
    rows = FunctionTransformer(_as_objects)
    return Encoded([("rows", rows), ("columns", columns), ("model", model)])


class Encoded(Pipeline):  # type: ignore[misc]
    """A classifier with its encoding; its repr is that of the classifier alone."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.steps[-1][1])


def _as_objects(table: Any) -> Any:
    """Return an Arrow table as rows of objects; None where a value is missing."""
    rows = np.empty((table.num_rows, table.num_columns), dtype=object)
    for i, column in enumerate(table.columns):
        rows[:, i] = column.to_pylist()
    return rows


# ---- options of a tree -------------------------------------------------------------------------

_OWN_OPTIONS = ("cost", "n_jobs", "random_state")  # --cost, --jobs and --seed


def tree_words() -> list[str]:
    """Return what --tree may be, to complete what is typed."""
    from sureleaf.estimators.parameters import written_examples

    return ["c45", *written_examples(_OWN_OPTIONS)]


@dataclass(frozen=True)
class TreeOptions:
    """A tree, or bagged ones, as options describe it: parameters of `TreeClassifier`.

    ``written`` has, per parameter, the option that gave it.
    """

    parameters: dict[str, Any] = field(default_factory=dict)
    is_c45: bool = False
    bagged: int | None = None
    written: dict[str, str] = field(default_factory=dict)

    def refuse(self, reason: str) -> None:
        """Raise an error if an option is given; the reason follows its name."""
        if self.written:
            raise InvalidArgumentError(f"{next(iter(self.written.values()))} {reason}")

    def make(self, **others: Any) -> Any:
        """Return the classifier; the others are its ``cost``, ``n_jobs`` and ``random_state``."""
        if self.bagged is None:
            return self._tree(self.parameters, others)
        from sureleaf.estimators.bagged_trees import FOREST_TREE

        base = {} if self.is_c45 else FOREST_TREE
        is_changed = self.is_c45 or self.parameters
        tree = self._tree(base | self.parameters, {}) if is_changed else None
        return sureleaf.BaggedTreesClassifier(estimator=tree, n_estimators=self.bagged, **others)

    def _tree(self, parameters: dict[str, Any], others: dict[str, Any]) -> Any:
        make = sureleaf.TreeClassifier.c45 if self.is_c45 else sureleaf.TreeClassifier
        return make(**parameters, **others)


def read_tree_options(
    tree: Iterable[str] = (), *, bagged: int | None = None, **given: Any
) -> TreeOptions:
    """Return what texts such as ``c45`` and ``PARAMETER=VALUE``, and options of one's own, say.

    Examples
    --------
    >>> read_tree_options(["min_samples_leaf=5", "pruning=none"], max_leaves=4).make()
    TreeClassifier(max_leaves=4, min_samples_leaf=5, pruning=None)
    """
    values = {name: value for name, value in given.items() if value is not None}
    written = {name: f"--{name.replace('_', '-')}" for name in values}
    known = [name for name in sureleaf.TreeClassifier().get_params() if name not in _OWN_OPTIONS]
    is_c45 = "c45" in (texts := list(tree))
    for text in texts:
        if text == "c45":
            continue
        parameter, equals, value = text.partition("=")
        if not equals:
            raise InvalidArgumentError(
                f"--tree must be c45 or PARAMETER=VALUE; got {text!r}."
                f"{suggestion(text, ['c45'], listed=False)}"
            )
        if parameter not in known:
            raise InvalidArgumentError(
                f"--tree must name a parameter of TreeClassifier; got {parameter!r}."
                f"{hint_for(parameter, known)}"
            )
        if parameter in values:
            raise InvalidArgumentError(
                f"{parameter} of the tree must be given once; got {values[parameter]!r} and "
                f"{value!r}."
            )
        values[parameter], written[parameter] = _literal(value), "--tree"
    if is_c45:
        written["tree"] = "--tree"
    if bagged is not None:
        written["bagged"] = "--bagged"
    return TreeOptions(values, is_c45, bagged, written)


def _literal(text: str) -> Any:
    """Return the number, list or None that is written; other values are text."""
    if text.lower() in ("none", "true", "false"):
        text = text.capitalize()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def fitted_for(model: Any, cost: list[list[float]] | None) -> Any:
    """Return a classifier that is fitted for the costs, if it is ours and prunes by costs.

    Others are only decided by them.
    """
    if cost is None or getattr(model, "cost", cost) is not None:
        return model
    is_tree = isinstance(model, sureleaf.TreeClassifier)
    if is_tree and counts_errors(model):
        return model
    is_ours = is_tree or isinstance(model, sureleaf.BaggedTreesClassifier)
    return model.set_params(cost=cost) if is_ours else model
