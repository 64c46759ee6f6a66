"""A tree as a Python module that needs only the standard library."""

from typing import Any, Final

import numpy as np

import sureleaf
from sureleaf.exports.tree_view import TreeView, plain_labels, printable, view_tree
from sureleaf.tree.structure import leaves_in_words

_HEAD: Final = '''"""A decision tree of {leaves}, written by sureleaf {version}.

It needs Python 3.8 or later and no other package. A row is a dict of column name to value, for
example from csv.DictReader:

    predict_proba({{{example}}})
"""

import datetime

CLASSES = {classes}

# The values of each {listed} column.
COLUMNS = {{
{columns}
}}

# A category that did not occur in training: {unseen}.
STOPS_AT_UNSEEN = {stops}
RAISES_AT_UNSEEN = {raises}
{costs}
# One line per node: the tested column, the test, the branch of a missing value, the branches as
# (node, share of the training rows), and the probability of each class. The test is a threshold,
# and values up to it take the first branch; or a dict with the branch of each category. If the
# branch of a missing value is None, the row takes all branches. A leaf has no test.
NODES = [
{nodes}
]
'''

_COSTS: Final = """
# What each decision costs beyond the right one, in units of the most expensive error: one row per
# actual class, one number per decision.
COSTS = {costs}
"""

_DECIDE: Final = '''

def predict(row):
    """Return the class of least expected cost; of equally cheap classes, the first."""
    probabilities = predict_proba(row)
    expected = [
        sum(probabilities[label] * costs[k] for label, costs in zip(CLASSES, COSTS))
        for k in range(len(CLASSES))
    ]
    most = min(expected) + 1e-12  # smaller differences are rounding
    return next(label for label, cost in zip(CLASSES, expected) if cost <= most)
'''

_PREDICT_PROBA: Final = '''

def predict_proba(row):
    """Return a dict with the probability of each class.

    None, NaN, absent columns and empty text (unless it is a category) are missing values. A row
    that takes several branches, weighted by their shares, gets the weighted mean of the
    probabilities of its leaves.
    """
    values = {column: _read(column, row.get(column)) for column in COLUMNS}
    mixture = [0.0] * len(CLASSES)
    pending = [(0, 1.0)]
    while pending:
        node, share = pending.pop()
        column, test, missing, branches, probabilities = NODES[node]
        while branches:
            branch = _branch(values[column], test, missing)
            if branch is None or (branch == "unseen" and not STOPS_AT_UNSEEN):
                pending += [(child, share * part) for child, part in reversed(branches) if part > 0]
                share = 0.0
                break
            if branch == "unseen":
                break
            column, test, missing, branches, probabilities = NODES[branches[branch][0]]
        if share > 0:
            mixture = [m + share * p for m, p in zip(mixture, probabilities)]
    return dict(zip(CLASSES, mixture))
'''

_PREDICT: Final = '''

def predict(row):
    """Return the most probable class; of equally probable classes, the first."""
    probabilities = predict_proba(row)
    least = max(probabilities.values()) - 1e-12  # smaller differences are rounding
    return next(label for label in CLASSES if probabilities[label] >= least)
'''

_READING: Final = '''

def _branch(value, test, missing):
    if value is None:
        return missing
    if isinstance(test, dict):
        return test.get(value, "unseen")
    return 0 if value <= test else 1


def _read(column, value):
    kind = COLUMNS[column]
    if value is None or value != value:
        return None
    if isinstance(value, str):
        value = _read_text(column, value, kind)
        if value is None or value != value:
            return None
    if isinstance(kind, set):
        if RAISES_AT_UNSEEN and value not in kind:
            raise ValueError(f"{column} has the unseen category {value!r}")
        return value
    if kind == "number":  # whole numbers are compared as such, because float may round them
        return value.__index__() if hasattr(value, "__index__") else float(value)
    return _moment(value, kind)


def _read_text(column, text, kind):
    """Convert text to a number, bool or category; empty text is missing unless it is a category."""
    if isinstance(kind, set):
        if any(isinstance(category, str) for category in kind):
            return text if text or text in kind else None
        known = {str(category).lower(): category for category in kind}
        return known.get(text.strip().lower(), text) if text else None
    if not text:
        return None
    if kind != "number":
        raise TypeError(f"{column} must be an object of datetime; got the text {text!r}")
    try:
        return float(text)
    except ValueError:
        raise TypeError(f"{column} must be a number; got the text {text!r}") from None


def _moment(value, kind):
    """Convert a date to days since 1970, other times to microseconds since 1970 or midnight."""
    microseconds = datetime.timedelta(microseconds=1)
    if kind == "duration":
        return float(value // microseconds)
    if kind == "time":
        value = datetime.datetime.combine(datetime.date(1970, 1, 1), value.replace(tzinfo=None))
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    zone = datetime.timezone.utc if kind == "utc" else None
    ticks = (value - datetime.datetime(1970, 1, 1, tzinfo=zone)) // microseconds
    return ticks / 86400000000 if kind == "date" else float(ticks)
'''

_UNSEEN: Final = {
    "mixture": "the row takes all branches, weighted by their shares",
    "stop": "the row stops at the node that tests it",
    "error": "an error is raised",
}


def to_python(model: Any) -> str:
    """Write a tree as a Python module with `predict_proba(row)` and `predict(row)`.

    The source text imports only the standard library. A row is a dict of column name to value, and
    gets exactly the probabilities of the model. Numbers may be text, as from csv.DictReader; empty
    text is a missing value unless it is a category. If the tree has costs, `predict` returns the
    decision of least expected cost.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> rows = [["sun", 30.0], ["rain", 20.0], ["sun", 21.0], ["rain", 29.0]]
    >>> model = TreeClassifier.c45().fit(rows * 5, ["no", "yes", "no", "yes"] * 5)
    >>> module = {}
    >>> exec(to_python(model), module)
    >>> module["predict"]({"x0": "rain", "x1": 25.0})
    'yes'
    >>> module["predict_proba"]({"x0": None})
    {'no': 0.5, 'yes': 0.5}
    """
    view = view_tree(model, "Python")
    fitted, rule = view.model, view.model.rule
    columns = [fitted.schema.columns[index] for index in view.needed_columns]
    example = ", ".join(f"{_literal(column.name)}: ..." for column in columns[:2])
    head = _HEAD.format(
        leaves=leaves_in_words(fitted.tree.n_leaves),
        version=sureleaf.__version__,
        # Within a docstring, a name must neither end it nor be an escape sequence.
        example=example.replace("\\", "\\\\").replace('"', '\\"'),
        classes=_literal(plain_labels(fitted.classes)),
        columns="\n".join(
            f"    {_literal(one.name)}: "
            f"{_literal(set(one.categories)) if one.is_coded else repr(one.temporal or 'number')},"
            for one in columns
        ),
        listed="categorical and each tested" if fitted.unseen == "error" else "tested",
        unseen=_UNSEEN[fitted.unseen],
        stops=fitted.unseen == "stop",
        raises=fitted.unseen == "error",
        costs="" if rule is None else _COSTS.format(costs=_literal(rule.regret.tolist())),
        nodes="\n".join(_node(view, node) for node in range(fitted.tree.n_nodes)),
    )
    return head + _PREDICT_PROBA + (_PREDICT if rule is None else _DECIDE) + _READING


def _node(view: TreeView, node: int) -> str:
    probabilities = _literal(view.model.probabilities[node].tolist())
    test = view.tests.get(node)
    if test is None:
        rule = printable(view.rules[node])
        return f"    (None, None, None, [], {probabilities}),  # {node}: {rule}"
    column = view.column(test)
    condition: Any = test.threshold
    if condition is None:
        condition = {
            column.categories[code]: branch
            for branch, codes in enumerate(test.codes)
            for code in codes
        }
    branches = _literal(list(zip(test.children, test.shares, strict=True)))
    test_values = f"{_literal(column.name)}, {_literal(condition)}, {test.missing_branch}"
    return f"    ({test_values}, {branches}, {probabilities}),  # {node}"


def _literal(value: Any) -> str:
    """Write a value as Python source, also infinities and any text."""
    if isinstance(value, bool | np.bool_):
        return repr(bool(value))
    if isinstance(value, float) and np.isinf(value):
        return f'float("{float(value)!r}")'
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, str):
        return ascii(str(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))})"
    if isinstance(value, set):
        return f"{{{', '.join(map(_literal, sorted(value)))}}}" if value else "set()"
    if isinstance(value, dict):
        entries = (f"{_literal(key)}: {_literal(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    return repr(value)
