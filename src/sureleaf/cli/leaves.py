"""``sureleaf leaves``: a tree, and how sure each of its leaves is."""

from typing import Annotated

import typer

from sureleaf.cli import judging_options as given

__all__ = ["leaves"]


def leaves(
    data: given.Data,
    target: given.Target,
    pruning: Annotated[
        str, typer.Option(help="pessimistic, cost_complexity, reduced_error, utility or none.")
    ] = "pessimistic",
    confidence: Annotated[
        float, typer.Option(help="Leaves of less confidence are flagged.")
    ] = 0.95,
    utility: Annotated[
        float | None, typer.Option(help="Leaves of less utility are flagged, too.")
    ] = None,
    group: given.Group = None,
    weight: given.Weight = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    as_json: given.AsJson = False,
) -> None:
    """Grow a tree and say of each leaf how sure it is, on rows it has not seen.

    For example:

    - sureleaf leaves data.csv --target class

    - sureleaf leaves data.csv --target class --confidence 0.99 --utility 0.8

    - sureleaf leaves data.csv --target class --pruning utility --json
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.estimators import TreeClassifier
    from sureleaf.report import leaves_text
    from sureleaf.report.question import read_question

    asked = read_question(data, target, group=group, weight=weight)
    model = TreeClassifier(
        pruning=None if pruning == "none" else pruning, n_jobs=jobs, random_state=seed
    )
    model.fit(asked.X, asked.y, sample_weight=asked.weights, groups=asked.groups)
    found = model.leaves(level=level, confidence=confidence, utility=utility)
    if as_json:
        show_json(leaves_text.leaf_values(model, found))
    else:
        show(*leaves_text.show_leaves(model, found, level), *given.left_out(asked.n_left_out))
