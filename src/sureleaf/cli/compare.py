"""``sureleaf compare``: whether one of two classifiers, or of two reports, is better."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import count_of

if TYPE_CHECKING:
    from sureleaf.comparison import Comparison
    from sureleaf.evaluation.evaluation import Evaluation

_RESULT_OPTIONS = frozenset({"paths", "measure", "margin", "level", "as_json"})
_EVALUATION_OPTIONS = _RESULT_OPTIONS | {"independent"}
_REPORT_OPTIONS = _RESULT_OPTIONS | {"gate", "cost", "jobs", "categorical", "csv"}


@options.with_options(
    paths=typer.Argument(
        metavar="DATA... | FIRST SECOND | OLD.json NEW.json DATA",
        help="One table or several, two saved evaluations, or two reports and a table.",
    ),
    targets=options.column(
        "Column to predict of tables: once, or once per table.", "--target", "-t"
    ),
    models=option(
        "Of tables: give this twice or more, or once beside the options of a tree, which is then "
        "the first classifier. As for evaluate.",
        "--model",
        "-m",
        metavar="CLASSIFIER",
    ),
    margin=option("Differences up to this size do not matter."),
    independent=option("The two evaluations share no rows."),
    gate=option("Of reports: exit with 1 if the new tree is worse by more than the margin."),
    classes=options.CLASSES,
    design=options.DESIGN,
    tree=options.tree_options("bagged"),
    table=options.table_options(),
)
def compare(
    context: typer.Context,
    paths: list[Path],
    classes: options.Classes,
    design: "options.Design",
    tree: "options.TreeOptions",
    table: options.TableOptions,
    targets: list[str] | None = None,
    models: list[str] | None = None,
    measure: options.MeasureName = None,
    margin: float = 0.0,
    independent: bool = False,
    gate: bool = False,
    level: options.IntervalLevel = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Test whether one classifier is better than another.

    The test is one that is valid for the design. With --cost, classifiers are
    compared by the cost of their decisions, and trees of Sureleaf are pruned by
    costs, unless their pruning counts errors.

    More than two classifiers: each is compared with the first one, at a level
    that allows for their number. Several tables: Friedman's test, Nemenyi's
    critical difference, and Wilcoxon's tests with Holm's correction. Two reports:
    their trees on the same rows.

    For example:
    - sureleaf compare data.csv -t class -m TreeClassifier
      -m sklearn.naive_bayes.GaussianNB --repeats 10 --margin 0.01
    - sureleaf compare data.csv -t class --bagged 5 -m TreeClassifier
      --cost "0,5;1,0"
    - sureleaf compare a.csv b.csv c.csv d.csv e.csv -t class
      -m TreeClassifier -m TreeClassifier.c45 -m BaggedTreesClassifier
    - sureleaf compare first.eval second.eval --measure auc
    - sureleaf compare old.json new.json data.csv --margin 0.02 --gate
    """
    if any(path.suffix.lower() == ".json" for path in paths[:2]):
        _check_options(context, _REPORT_OPTIONS, "a table or evaluations only")
        found = _compare_reports(
            paths, table, classes.cost, measure=measure, margin=margin, level=level, n_jobs=jobs
        )
        _show_gate(found, gate=gate, as_json=as_json)
        return
    if gate:
        raise InvalidArgumentError(
            "--gate needs two reports and a table: sureleaf compare old.json new.json DATA"
        )
    chosen = measure or ("accuracy" if classes.cost is None else "decided_cost")
    test = {"measure": chosen, "margin": margin, "independent": independent}
    names = [*(["the tree of the options"] if tree.written else []), *(models or [])]
    if len(paths) == 2 and not (targets and names):
        _check_options(context, _EVALUATION_OPTIONS, "a table only")
        results = _compare_saved(paths, level=level, **test)
        _show_results(results, ["first", "second"], [], as_json=as_json)
        return
    if not targets or len(names) < 2:
        raise InvalidArgumentError(
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            f"reports; got {count_of(len(paths), 'file')}, {count_of(len(names), 'model')} "
            f"and {'a' if targets else 'no'} target."
        )
    if len(targets) not in (1, len(paths)):
        raise InvalidArgumentError(
            "--target must be given once for all tables, or once per table in their order; got "
            f"{count_of(len(targets), 'target')} for {count_of(len(paths), 'table')}."
        )
    targets = targets if len(targets) == len(paths) else targets * len(paths)
    decides_by_cost = measure in (None, "cost", "decided_cost")
    running = {"design": design, "n_jobs": jobs, "random_state": seed}
    evaluations = [
        _evaluate_all(table, path, target, tree, models or [], classes, decides_by_cost, running)
        for path, target in zip(paths, targets, strict=True)
    ]
    if tree.written:
        names[0] = " ".join(evaluations[0][0].estimator.split())
    if len(paths) == 1:
        results = _compare_with_first(evaluations[0], level=level, **test)
        _show_results(results, _short_names(names), names, as_json=as_json)
    else:
        scores = [[one.estimate(chosen).value for one in each] for each in evaluations]
        _show_many(scores, names, [path.name for path in paths], chosen, level, as_json=as_json)


def _evaluate_all(
    table: options.TableOptions,
    path: Path,
    target: str,
    tree: "options.TreeOptions",
    models: list[str],
    classes: options.Classes,
    decides_by_cost: bool,
    running: dict[str, Any],
) -> "list[Evaluation]":
    """Evaluate all classifiers on one table; ours are fitted for the costs if they count."""
    from sureleaf.commands.learners import fitted_for, read_model
    from sureleaf.evaluation.evaluator import evaluate

    question = table.read(path, target)
    arguments = classes.arguments(question) | running
    learners = [*([tree.make()] if tree.written else [])]
    learners += [read_model(model, question.X) for model in models]
    fitted_by = arguments["cost"] if decides_by_cost else None
    return [
        evaluate(fitted_for(learner, fitted_by), question.X, question.y, **arguments)
        for learner in learners
    ]


def _compare_with_first(
    evaluations: "list[Evaluation]", *, level: float, **test: Any
) -> "list[Comparison]":
    """Compare the first evaluation with each other one, at a level that allows for their number."""
    from sureleaf import comparison

    first, *others = evaluations
    level = 1.0 - (1.0 - level) / len(others)
    return [comparison.compare(first, other, level=level, **test) for other in others]


def _compare_saved(paths: list[Path], **test: Any) -> "list[Comparison]":
    """Compare two saved evaluations; errors name their files."""
    from sureleaf.comparison.two_models import IncomparableError
    from sureleaf.evaluation.evaluation import Evaluation

    evaluations = [Evaluation.load(path) for path in paths]
    try:
        return _compare_with_first(evaluations, **test)
    except IncomparableError as error:
        names = f"{paths[0].name} and {paths[1].name}"
        raise InvalidArgumentError(f"{names} {error.reason}") from None


def _show_many(
    scores: list[list[float]],
    models: list[str],
    files: list[str],
    measure: str,
    level: float,
    *,
    as_json: bool,
) -> None:
    """Compare classifiers over several tables by their ranks, and show the result."""
    from sureleaf import comparison
    from sureleaf.commands import json_values, terminal
    from sureleaf.evaluation.measures.named import find_measure

    names = models if as_json else _short_names(models)
    many = comparison.compare_many(
        scores,
        names=list(names),
        higher_is_better=find_measure(measure).greater_is_better,
        level=level,
    )
    if as_json:
        show_json(json_values.many_values(many, measure, files, names, scores))
    else:
        show(*terminal.show_many(many, measure, files, names, scores))


def _show_results(
    results: "list[Comparison]", names: list[str], models: list[str], *, as_json: bool
) -> None:
    """Show the comparisons of the first classifier with the others."""
    from sureleaf.commands import terminal
    from sureleaf.model.column_table import json_value

    if as_json:
        values = [json_value(result.to_dict()) for result in results]
        named = dict(zip(models[1:], values, strict=False))
        show_json(values[0] if len(values) == 1 else {"first": models[0], "comparisons": named})
        return
    for name, result in zip(names[1:], results, strict=True):
        show(*terminal.show_comparison(result, (names[0], name)))


def _check_options(context: typer.Context, allowed: frozenset[str], source: str) -> None:
    """Raise an error for an option that the given files do not allow."""
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name not in allowed and value not in (parameter.default, None, (), []):
            raise InvalidArgumentError(
                f"{max(parameter.opts, key=len)} goes with {source}. Leave it out."
            )


def _short_names(models: list[str]) -> list[str]:
    """Return models without their modules and parameters, as far as they stay different."""
    without_modules = [re.sub(r"^([a-z_][a-z_0-9]*\.)+(?=[A-Z])", "", model) for model in models]
    bare = [name.partition("(")[0] for name in without_modules]
    candidates = (bare, without_modules, models)
    return next((names for names in candidates if len(set(names)) == len(models)), models)


def _compare_reports(
    paths: list[Path], table: options.TableOptions, cost: str | None, **choices: Any
) -> "Comparison":
    """Compare the trees of a new and an old report on the rows of a table."""
    from sureleaf.report.gate import compare_reports, read_report, tree_of

    if len(paths) != 3:
        raise InvalidArgumentError(
            "two reports are compared on the same rows: sureleaf compare old.json new.json DATA; "
            f"got {count_of(len(paths), 'file')}. Name the table of the new report, or one with "
            "rows that neither tree has seen."
        )
    old, new = (read_report(path) for path in paths[:2])
    data = new["data"]
    columns = replace(table, group=data["groups"], weight=data["weights"])
    trees = [tree_of(old, "old"), tree_of(new, "new")]
    question = columns.for_models(*trees).read(paths[2], data["target"])
    return compare_reports(
        old,
        new,
        question.X,
        question.y,
        cost=options.read_cost(cost, question.y),
        groups=question.groups,
        sample_weight=question.weights,
        **choices,
    )


def _show_gate(result: "Comparison", *, gate: bool, as_json: bool) -> None:
    """Show the comparison of two reports; as a gate, exit with 1 if the new tree is worse."""
    from sureleaf.commands import terminal
    from sureleaf.model.column_table import json_value

    passed = result.verdict != "worse"
    if as_json:
        outcome = {"gate": "passed" if passed else "failed"} if gate else {}
        show_json(json_value(result.to_dict()) | outcome)
    else:
        worse = f"worse by more than {result.margin:.3g}" if result.margin else "worse"
        text = f"Gate: passed (not shown to be {worse})" if passed else f"Gate: failed ({worse})"
        show(*terminal.show_comparison(result, ("new", "old")), *([text] if gate else []))
    if gate and not passed:
        raise typer.Exit(1)
