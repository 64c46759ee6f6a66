"""``sureleaf curve``: how a measure improves with more rows."""

from typing import TYPE_CHECKING

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.evaluation.learning_curves import Schedule


@options.with_options(
    sizes=option(
        "Rows of the samples: 50x2 begins with 50 and doubles, 50+25 adds 25 each time.",
        metavar="START(x|+)N",
        default="50x2, from fewer rows for small tables",
    ),
    classes=options.CLASSES,
    tree=options.tree_options("bagged"),
    table=options.table_options(),
)
def curve(
    data: options.Data,
    target: options.Target,
    classes: options.Classes,
    tree: "options.TreeOptions",
    table: options.TableOptions,
    model: options.ModelName = None,
    measure: options.MeasureName = None,
    sizes: str | None = None,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw the learning curve of a classifier.

    Each of ten hold-outs tests on a third of the rows.

    For example:
    - sureleaf curve data.csv --target class
    - sureleaf curve data.csv -t class --sizes 50+25
    - sureleaf curve data.csv -t class --bagged 5
    """
    from sureleaf import learning_curve
    from sureleaf.commands import json_values, terminal
    from sureleaf.commands.learners import fitted_for

    question = table.read(data, target)
    arguments = classes.arguments(question)
    learner = options.evaluated_model(model, tree, question.X)
    result = learning_curve(
        fitted_for(learner, arguments["cost"]),
        question.X,
        question.y,
        schedule=_read_sizes(sizes, len(question.y)),
        measure=measure or ("accuracy" if classes.cost is None else "decided_cost"),
        **arguments,
        n_jobs=jobs,
        random_state=0,
    )
    if as_json:
        show_json(json_values.curve_values(result))
    else:
        show(*terminal.show_curve(result), *options.unlabelled_note(question.n_left_out))


def _read_sizes(text: str | None, n_rows: int) -> "Schedule":
    """Return the sizes that "50x2" or "50+25" stand for."""
    from sureleaf.evaluation.learning_curves import Arithmetic, Geometric

    if text is None:
        return Geometric(max(4, min(50, n_rows // 8)))
    start, sign, by = text.replace("×", "x").partition("+" if "+" in text else "x")  # noqa: RUF001
    try:
        return Arithmetic(int(start), int(by)) if sign == "+" else Geometric(int(start), float(by))
    except ValueError as problem:
        if isinstance(problem, InvalidArgumentError):
            raise
        raise InvalidArgumentError(
            f"--sizes must be the rows of the first sample with a factor or a step, such as 50x2 "
            f"or 50+25; got {text!r}."
        ) from None
