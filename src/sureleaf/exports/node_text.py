"""What drawings say at each node and branch of a tree, in few words."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.exports.node_tests import FittedTree, NodeTest, fitted_tree
from sureleaf.tree.rules import branch_tests

__all__ = [
    "NodeWords",
    "class_colour",
    "label_texts",
    "node_words",
    "plain_labels",
    "shade",
    "shortened",
]


# Class labels as values that other languages have, too.


def plain_labels(classes: NDArray[Any]) -> list[Any]:
    """Give labels as Python's own text, numbers, bools, dates and times.

    Examples
    --------
    >>> plain_labels(np.array(["2024-02-29"], dtype="datetime64[ns]"))
    [datetime.datetime(2024, 2, 29, 0, 0)]
    """
    if classes.dtype.kind in "mM" and np.datetime_data(classes.dtype)[0] in ("ns", "ps", "fs"):
        classes = classes.astype(f"{classes.dtype.kind}8[us]")
    return list(classes.tolist())


def label_texts(classes: NDArray[Any]) -> list[str]:
    """Give labels as text; ISO 8601 for dates and times.

    Examples
    --------
    >>> label_texts(np.array([True, False])), label_texts(np.array([1.0, 2.0]))
    (['True', 'False'], ['1', '2'])
    """
    return [
        label.isoformat()
        if hasattr(label, "isoformat")
        else f"{label:.0f}"
        if isinstance(label, float) and label == round(label) and abs(label) < 2**53
        else str(label)
        for label in plain_labels(classes)
    ]


_LONGEST = 28


@dataclass(frozen=True)
class NodeWords:
    """One node of a drawing.

    Parameters
    ----------
    node : int
        Its number.
    children : tuple of int
        Nodes that its branches lead to, none for a leaf.
    branch : str
        The test on the way to it, without the column: "≤ 2.45"; "" for the root.
    lines : tuple of str
        What it says: the column that is tested, or the prediction and what is known about it.
    told : str
        All of it, unshortened.
    predicted : int
        The class that it predicts, by place.
    strength : float
        How far its probability lies between a guess, 0, and certainty, 1.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(levels_from="training", leaf_estimate="frequency")
    >>> words = node_words(model.fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]), "DOT")
    >>> words[1].branch, words[1].lines
    ('≤ 2', ('no 100 %', '2 rows, sure 1.00'))
    """

    node: int
    children: tuple[int, ...]
    branch: str
    lines: tuple[str, ...]
    told: str
    predicted: int
    strength: float


def node_words(model: Any, form: str) -> list[NodeWords]:
    """Say what stands at each node, in the order of their numbers.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(max_depth=0, levels_from="training")
    >>> model = model.fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> node_words(model, "SVG")[0].told
    'all rows: yes 62 %, 3 rows (no 1, yes 2), confidence 0.66, utility 0.54'
    """
    fitted = fitted_tree(model, form)
    check_is_fitted(model)
    complete = model.complete_model()
    stated = complete.node_levels() if complete.has_levels else None
    labels = label_texts(fitted.classes)
    branches = {
        child: _branch_words(fitted, test, place)
        for test in fitted.tests.values()
        for place, child in enumerate(test.children)
    }
    words = []
    for node in range(fitted.tree.n_nodes):
        test = fitted.tests.get(node)
        predicted = int(complete.predicted_classes[node])
        counts = fitted.tree.class_counts[node]
        n = _rows(float(counts.sum()))
        if test is not None:
            column = fitted.column(test).name
            lines: tuple[str, ...] = (shortened(column),)
            told = (
                f"{column}: {' | '.join(branch_tests(fitted.tree, node, fitted.column(test)))}; {n}"
            )
        else:
            share = f"{100 * fitted.probabilities[node, predicted]:.0f} %"
            sure = "" if stated is None else f", sure {_level(stated.confidence[node])}"
            lines = (f"{shortened(labels[predicted])} {share}", n + sure)
            held = ", ".join(
                f"{label} {count:g}"
                for label, count in zip(labels, np.round(counts, 2).tolist(), strict=True)
                if count > 0
            )
            told = f"{fitted.rules[node]}: {labels[predicted]} {share}, {n}"
            told += f" ({held})" if held else ""
            if stated is not None:
                told += f", confidence {_level(stated.confidence[node])}"
                told += f", utility {_level(stated.utility[node])}"
        words.append(
            NodeWords(
                node,
                test.children if test is not None else (),
                branches.get(node, ""),
                lines,
                told,
                predicted,
                _strength(float(fitted.probabilities[node, predicted]), len(labels)),
            )
        )
    return words


def shortened(text: str, longest: int = _LONGEST) -> str:
    r"""Keep text on a line, and to a length.

    Examples
    --------
    >>> shortened("a name\nof two lines", 12)
    'a name of t…'
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _branch_words(fitted: FittedTree, test: NodeTest, place: int) -> str:
    column = fitted.column(test)
    if test.threshold is not None:
        bound = column.render(test.threshold) if column.kind == "date" else f"{test.threshold:.6g}"
        return f"{'≤' if place == 0 else '>'} {bound}"
    if column.kind == "ordered":
        last = column.categories[test.codes[0][-1]] if test.codes[0] else "the first"
        return shortened(f"{'≤' if place == 0 else '>'} {last}")
    words = [str(column.categories[code]) for code in test.codes[place]]
    if len(words) == 1:
        return shortened(f"= {words[0]}")
    return shortened(" | ".join(words) or "none")


def _level(value: float) -> str:
    """Round a level, but never up to certainty."""
    return ">0.99" if 0.995 <= value < 1.0 else f"{value:.2f}"


def _rows(n: float) -> str:
    number = f"{n:.0f}" if n == round(n) else f"{n:.1f}"
    return f"{number} {'row' if n == 1 else 'rows'}"


def _strength(probability: float, n_classes: int) -> float:
    guess = 1.0 / n_classes
    return 1.0 if n_classes == 1 else min(1.0, max(0.0, (probability - guess) / (1.0 - guess)))


# Colours of classes: told apart also by those who see fewer colours (Okabe and Ito, 2008).

_COLOURS: Final = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (180, 170, 40),
    (120, 120, 120),
)
_PALEST, _STRONGEST = 0.12, 0.60


def class_colour(place: int) -> str:
    """Give the colour of a class; after eight they begin again.

    Examples
    --------
    >>> class_colour(0)
    '#0072b2'
    """
    return "#{:02x}{:02x}{:02x}".format(*_COLOURS[place % len(_COLOURS)])


def shade(place: int, strength: float) -> str:
    """Give a class's colour on white, paler the less sure; dark text stays readable on it.

    Examples
    --------
    >>> shade(0, 0.0), shade(0, 1.0)
    ('#e0eef6', '#66aad1')
    """
    part = _PALEST + (_STRONGEST - _PALEST) * strength
    mixed = (round(255 + (value - 255) * part) for value in _COLOURS[place % len(_COLOURS)])
    return "#{:02x}{:02x}{:02x}".format(*mixed)
