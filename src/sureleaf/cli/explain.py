"""``sureleaf explain``: why rows are decided as they are, and what would change it."""

from typing import Any

from sureleaf.cli import options
from sureleaf.cli.options import column, option
from sureleaf.cli.output import show, show_json

SHOWN_ROWS = 10


@options.with_options(
    fixed=column("That cannot change, such as an age; may be repeated.", "--fixed"),
    only_up=column("That can only become larger; may be repeated.", "--only-up"),
    only_down=column("That can only become smaller; may be repeated.", "--only-down"),
    every=option(f"Explain all rows, not only the first {SHOWN_ROWS}.", "--all"),
    table=options.table_options("csv"),
)
def explain(
    model: options.SavedModel,
    data: options.Data,
    table: options.TableOptions,
    fixed: list[str] | None = None,
    only_up: list[str] | None = None,
    only_down: list[str] | None = None,
    every: bool = False,
    confidence: options.Confidence = 0.95,
    cost: options.DecisionCost = None,
    as_json: options.AsJson = False,
) -> None:
    """Say why each row is decided as it is, and what would change the decision.

    The path in words, how sure the leaf is, and the nearest trusted leaf with
    another decision, as a list of changes. Nothing leads to a flagged leaf.

    For example:
    - sureleaf explain model.sureleaf new.csv
    - sureleaf explain model.sureleaf new.csv --fixed colour --only-up size
    - sureleaf explain model.sureleaf new.csv --all --json
    """
    import numpy as np
    from rich.text import Text

    from sureleaf.auditing.same_rows import encoded_rows
    from sureleaf.commands.json_values import confidence_is
    from sureleaf.commands.predictions import load_tree
    from sureleaf.files import read_file
    from sureleaf.model.leaf_table import kind_of_confidence

    tree = options.decided_by(load_tree(model, "explain"), cost)
    rows = encoded_rows(tree, read_file(data, csv=table.for_models(tree).csv))
    n_rows = rows.n_rows if every else min(rows.n_rows, SHOWN_ROWS)
    wanted: dict[str, Any] = {
        "fixed": fixed or (),
        "only_up": only_up or (),
        "only_down": only_down or (),
        "confidence": confidence,
    }
    found = [tree.explain(rows[np.array([row])], **wanted) for row in range(n_rows)]
    if as_json:
        values = [{"row": k + 1, **one.to_dict()} for k, one in enumerate(found)]
        kind = confidence_is(tree.model_.evidence.source)
        show_json({"rows": rows.n_rows, "explanations": values, "confidence_is": kind})
        return
    for number, one in enumerate(found, start=1):
        sentences = "\n".join(one.sentences())
        show(Text(f"Row {number}: {sentences}"), "")
    if n_rows < rows.n_rows:
        show(f"{rows.n_rows - n_rows:,} more rows: --all explains them.")
    show(Text(kind_of_confidence(tree.model_.evidence.source), style="dim"))
