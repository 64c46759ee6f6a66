"""A model that was just fitted, in sentences and in plain values."""

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from sureleaf.report.percentage import percentage
from sureleaf.report.question import Question
from sureleaf.tree.size_words import leaves_in_words

__all__ = ["fit_values", "show_fit"]


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
