"""The leaves of a tree and the ranks of columns, as sentences, tables and plain values."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from sureleaf.formatting import percentage
from sureleaf.model.column_table import json_value
from sureleaf.report.question import Question
from sureleaf.report.terminal import number_table
from sureleaf.tree.structure import leaves_in_words

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier
    from sureleaf.estimators.column_ranking import ColumnRanking
    from sureleaf.model.leaf_table import LeafTable

__all__ = [
    "fit_values",
    "largest_leaves",
    "leaf_values",
    "ranking_values",
    "show_fit",
    "show_leaves",
    "show_ranking",
]


def show_leaves(
    model: "TreeClassifier", leaves: "LeafTable", level: float, most: int | None = None
) -> Iterator[str | Table]:
    """Yield the answer in sentences, the rules and the table of leaves.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.
    leaves : LeafTable
        Its leaves.
    level : float
        Of the intervals.
    most : int, optional
        Show so many leaves, those with the most rows; by default all.

    Yields
    ------
    str or Table

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> next(show_leaves(model, model.leaves(), 0.95)).split(":")[0]
    'A tree of 2 leaves, grown on 40 rows'
    """
    stated = model.levels()
    n_leaves = len(leaves.leaf)
    rows = f"{leaves.n.sum():,.0f} rows"
    yield (
        f"A tree of {leaves_in_words(n_leaves)}, grown on {rows}: it will "
        f"be right about [bold]{percentage(stated.utility)}[/bold] of rows it has not seen, and "
        f"has found the most probable class for [bold]{percentage(stated.confidence)}[/bold]."
    )
    weak = int(leaves.flagged.sum())
    if weak:
        share = leaves.n[leaves.flagged].sum() / leaves.n.sum()
        told = f"{leaves_in_words(weak)} {'is' if weak == 1 else 'are'}"
        yield f"[yellow]{told} not to be trusted[/yellow], with {100 * share:.0f} % of the rows."
    shown = largest_leaves(leaves.n, most)
    for line in shown:
        yield f"[dim]Leaf {leaves.leaf[line]}:[/dim] {escape(str(leaves.rule[line]))}"
    table = number_table(
        "leaf", "rows", "predicts", "p_max", f"{100 * level:g} %", tight=True, overflow="fold"
    )
    for name in ("confidence", "utility", "needed"):
        table.add_column(name, justify="right")
    for line in shown:
        needed = leaves.rows_needed[line]
        table.add_row(
            f"{leaves.leaf[line]}{' [yellow]![/yellow]' if leaves.flagged[line] else ''}",
            _rows(leaves.n[line]),
            escape(str(leaves.prediction[line])),
            f"{leaves.probability[line]:.2f}",
            f"{leaves.low[line]:.2f}-{leaves.high[line]:.2f}",
            f"{leaves.confidence[line]:.2f}",
            f"{leaves.utility[line]:.2f}",
            "?" if math.isnan(needed) else f"{needed:,.0f}",
        )
    yield table
    for line in shown:
        if leaves.flagged[line]:
            yield f"Leaf {leaves.leaf[line]}: {escape(str(leaves.repair[line]))}."
    hidden = n_leaves - len(shown)
    if hidden:
        share = 1.0 - leaves.n[shown].sum() / leaves.n.sum()
        more = "1 more leaf" if hidden == 1 else f"{hidden:,} more leaves"
        yield f"[dim]{more}, with {100 * share:.0f} % of the rows: --all shows them.[/dim]"


def _rows(n: float) -> str:
    """Rows of a leaf: parts of rows, where there are few."""
    return f"{n:,.0f}" if n >= 1000 or n == round(n) else f"{n:.4g}"


def largest_leaves(n: NDArray[np.float64], most: int | None) -> list[int]:
    """Return the places of the leaves with the most rows, in the order of the tree.

    Examples
    --------
    >>> largest_leaves(np.array([3.0, 9.0, 0.0, 5.0]), 2)
    [1, 3]
    """
    found: list[int] = np.sort(np.argsort(-n, kind="stable")[:most]).tolist()
    return found


def show_ranking(ranking: "ColumnRanking", labels: NDArray[Any]) -> Iterator[str | Table]:
    """Yield the best column in a sentence, and the table of all.

    Examples
    --------
    >>> from sureleaf import rank_columns
    >>> labels = np.array(["no"] * 20 + ["yes"] * 20)
    >>> ranking = rank_columns([[i] for i in range(40)], labels)
    >>> next(show_ranking(ranking, labels)).split(",")[0]
    'One split on [bold]x0[/bold] is right about 97.5 % of unseen rows'
    """
    _, counts = np.unique(labels, return_counts=True)
    majority = counts.max() / counts.sum()
    yield (
        f"One split on [bold]{escape(str(ranking.column[0]))}[/bold] is right about "
        f"{percentage(ranking.utility[0])} of unseen rows, the majority class about "
        f"{percentage(majority)}."
    )
    headings = ("column", "branches", "confidence", "utility", "Gini", "gain ratio")
    table = number_table(*headings, tight=True, overflow="fold")
    for line in range(len(ranking.column)):
        table.add_row(
            escape(str(ranking.column[line])),
            f"{ranking.branches[line]}",
            *(
                f"{column[line]:.4f}"
                for column in (
                    ranking.confidence,
                    ranking.utility,
                    ranking.gini,
                    ranking.gain_ratio,
                )
            ),
        )
    yield table
    if np.any(ranking.utility <= majority + 1e-9):
        yield (
            "[dim]A utility of the majority class or less: one split on that column names no other "
            "class. Below other splits it may still help, and a tree may begin with it.[/dim]"
        )


def leaf_values(model: "TreeClassifier", leaves: "LeafTable") -> dict[str, Any]:
    """Give the tree's levels and its leaves as plain values.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> leaf_values(model, model.leaves())["leaves"][0]["rule"]
    'x0 <= 19'
    """
    stated = model.levels()
    return {
        "confidence": stated.confidence,
        "utility": stated.utility,
        "rows": float(leaves.n.sum()),
        "flagged": int(leaves.flagged.sum()),
        "classes": [json_value(label) for label in model.classes_],
        "leaves": leaves.records(),
    }


def ranking_values(ranking: "ColumnRanking") -> dict[str, Any]:
    """Give the ranked columns as plain values.

    Examples
    --------
    >>> from sureleaf import rank_columns
    >>> ranking = rank_columns([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> ranking_values(ranking)["columns"][0]["column"]
    'x0'
    """
    return {"columns": ranking.records()}


# A model that was just fitted, in sentences and in plain values.


def fit_values(model: Any, asked: Question, target: str) -> dict[str, Any]:
    """Give what there is to say of a fitted model as plain values.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.
    asked : Question
        What it was fitted on.
    target : str
        Name of the column it predicts.

    Returns
    -------
    dict
        One tree has leaves, depth and confidence; bagged trees have trees and agreement.

    Examples
    --------
    >>> import numpy as np, pyarrow
    >>> from sureleaf import TreeClassifier
    >>> X = pyarrow.table({"n": list(range(40))})
    >>> asked = Question(X, np.array(["no"] * 20 + ["yes"] * 20), None, None, 0)
    >>> fit_values(TreeClassifier().fit(X, asked.y), asked, "play")["leaves"]
    2
    """
    about = {
        "model": type(model).__name__,
        "target": target,
        "classes": model.classes_.tolist(),
        "rows": len(asked.y),
        "rows_left_out": asked.n_left_out,
        "columns": list(model.schema_.names),
    }
    if hasattr(model, "tree_"):
        levels = model.levels()
        return about | {
            "leaves": model.tree_.n_leaves,
            "depth": model.tree_.depth,
            "confidence": levels.confidence,
            "utility": levels.utility,
        }
    levels = model.oob_levels_
    return about | {
        "trees": len(model.trees_),
        "agreement": levels.agreement,
        "utility": levels.utility,
    }


def show_fit(values: dict[str, Any]) -> Iterator[str]:
    """Yield what a person wants to know of a model before using it.

    Parameters
    ----------
    values : dict
        What `fit_values` gives, with where it is "saved".

    Yields
    ------
    str

    Examples
    --------
    >>> values = {"target": "play", "rows": 40, "columns": ["n"], "leaves": 2, "depth": 1,
    ...           "confidence": 1.0, "utility": 0.95, "saved": "play.sureleaf"}
    >>> next(show_fit(values))
    'A tree of 2 leaves, grown on 40 rows of 1 column to predict [bold]play[/bold].'
    """
    columns = f"{len(values['columns'])} column{'s' if len(values['columns']) != 1 else ''}"
    if "leaves" in values:
        what, grown = f"A tree of {leaves_in_words(values['leaves'])}", "grown"
        then = (
            ", and has found the most probable class for "
            f"[bold]{percentage(values['confidence'])}[/bold]"
        )
    else:
        what, grown = f"{values['trees']} trees on bags of the rows", "fitted"
        then = ""
    yield (
        f"{what}, {grown} on {values['rows']:,} rows of {columns} to predict "
        f"[bold]{escape(values['target'])}[/bold]."
    )
    yield (f"Right about [bold]{percentage(values['utility'])}[/bold] of rows not seen{then}.")
    saved = escape(values["saved"])
    yield f"Saved: {saved}"
    yield f"[dim]Predict with it: sureleaf predict {saved} NEW.csv -o predictions.csv[/dim]"
