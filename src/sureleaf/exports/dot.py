"""A tree in the language of Graphviz."""

from typing import Any

from sureleaf.exports.node_text import NodeWords, node_words, shade

__all__ = ["to_dot"]


def to_dot(model: Any) -> str:
    r"""Write a tree as a DOT graph, for `dot -Tsvg` and the like.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.

    Returns
    -------
    str
        A graph from left to right, leaves coloured by class and probability, with the rule of
        each node as its tooltip.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(levels_from="training", leaf_estimate="frequency")
    >>> print(to_dot(model.fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])))
    digraph tree {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="Helvetica"];
      edge [fontname="Helvetica"];
      n0 [label="x0", tooltip="x0: x0 <= 2 | x0 > 2; 4 rows"];
      n1 [label="no 100 %\n2 rows, sure 1.00", tooltip="x0 <= 2: no 100 %, 2 rows (no 2),
      confidence 1.00, utility 1.00", fillcolor="#66aad1"];
      n2 [label="yes 100 %\n2 rows, sure 1.00", tooltip="x0 > 2: yes 100 %, 2 rows (yes 2),
      confidence 1.00, utility 1.00", fillcolor="#f0c566"];
      n0 -> n1 [label="≤ 2"];
      n0 -> n2 [label="> 2"];
    }
    """
    words = node_words(model, "DOT")
    lines = [
        "digraph tree {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
        *(_node(node) for node in words),
        *(
            f"  n{node.node} -> n{child} [label={_quoted(words[child].branch)}];"
            for node in words
            for child in node.children
        ),
        "}",
    ]
    return "\n".join(lines)


def _node(node: NodeWords) -> str:
    label = "\\n".join(_escaped(line) for line in node.lines)
    colour = "" if node.children else f', fillcolor="{shade(node.predicted, node.strength)}"'
    return f'  n{node.node} [label="{label}", tooltip={_quoted(node.told)}{colour}];'


def _escaped(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
