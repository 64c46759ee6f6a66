"""``sureleaf compare``: whether one of two classifiers, or of two reports, is better."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.commands.question import Question
    from sureleaf.comparison import Comparison
    from sureleaf.evaluation import Evaluation

__all__ = ["compare"]


_EVALUATION_OPTIONS = frozenset(
    {"paths", "measure", "margin", "level", "gate", "as_json", "detect", "method", "independent"}
)
_REPORT_OPTIONS = frozenset(
    {"paths", "measure", "margin", "level", "gate", "as_json", "cost", "jobs", "categorical", "csv"}
)


@options.with_table_options()
def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA... | FIRST SECOND | OLD.json NEW.json DATA",
            help="One table or several, two saved evaluations, or two reports and a table.",
        ),
    ],
    table: options.TableOptions,
    targets: options.TableTargets = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="CLASSIFIER",
            help="With tables, give this option twice or more: the classifiers, as for evaluate.",
        ),
    ] = None,
    measure: options.CostedMeasureName = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Differences up to this size do not matter.", show_default="0"),
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="With reports: exit with 1 if the new tree is worse by more than the margin.",
        ),
    ] = False,
    detect: Annotated[
        float | None,
        typer.Option(
            help="Difference to detect, for the number of rows needed.",
            show_default="0.01 for measures between 0 and 1; for costs 1 % of the mean cost of "
            "an error",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Another valid test: mcnemar_exact, bootstrap, paired_t, 5x2cv_f or z.",
            show_default="the test for the design",
        ),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="The two evaluations share no rows.")
    ] = False,
    design: options.DesignName = "kfold",
    folds: options.Folds = 10,
    repeats: options.Repeats = None,
    test: options.Test = 1 / 3,
    positive: options.Positive = None,
    cost: options.Cost = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Test whether one classifier is better than another.

    The test is the one that is valid for the design of the evaluations. With
    --cost, classifiers are compared by the cost of their decisions, and trees of
    Sureleaf are pruned by costs, unless their rule of pruning counts errors. The
    trees of two reports are compared on the same rows, those of the new report or
    rows that neither has seen: by cost, if the reports have costs.

    More than two classifiers on one table: each is compared with the first one, at
    a level that allows for the number of comparisons. Several tables: Friedman's
    test, Nemenyi's critical difference, and Wilcoxon's tests with Holm's
    correction.

    For example:

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m TreeClassifier.c45

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m sklearn.naive_bayes.GaussianNB --repeats 10 --margin 0.01

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m BaggedTreesClassifier --cost "0,5;1,0"

    - sureleaf compare a.csv b.csv c.csv d.csv e.csv -t class
      -m TreeClassifier -m TreeClassifier.c45 -m BaggedTreesClassifier

    - sureleaf compare a.csv b.csv -t class -t colour -m TreeClassifier
      -m TreeClassifier.c45

    - sureleaf compare first.eval second.eval --measure auc

    - sureleaf compare old.json new.json data.csv --margin 0.02 --gate
    """
    if any(path.suffix.lower() == ".json" for path in paths[:2]):
        _check_options(context, _REPORT_OPTIONS, "a table or evaluations only")
        choices = {"measure": measure, "margin": margin or 0.0, "level": level, "n_jobs": jobs}
        result = _compare_reports(paths, table, cost, choices)
        _show_gate(result, gate=gate, as_json=as_json)
        return
    is_saved = len(paths) == 2 and (not targets or not models)
    if is_saved:
        _check_options(context, _EVALUATION_OPTIONS, "a table only")
    if gate:
        raise InvalidArgumentError(
            "--gate needs two reports and a table: sureleaf compare old.json new.json DATA"
        )
    models = models or []
    if not is_saved and (not targets or len(models) < 2):
        raise InvalidArgumentError(
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            f"reports; got {_count(len(paths), 'file')}, {_count(len(models), 'model')} "
            f"and {'a' if targets else 'no'} target."
        )
    chosen = measure or ("accuracy" if cost is None else "decided_cost")
    test_choices: dict[str, Any] = {
        "measure": chosen,
        "margin": margin or 0.0,
        "independent": independent,
        "detect": detect,
        "method": method,
    }
    if is_saved:
        results = _compare_saved(paths, level=level, **test_choices)
        _show_results(results, ["first", "second"], models, as_json=as_json)
        return

    def evaluate_all(path: Path, target: str) -> "list[Evaluation]":
        return _evaluate_all(
            table.read(path, target),
            models,
            cost,
            decides_by_cost=measure in (None, "cost", "decided_cost"),
            design=options.read_design(design, folds, repeats, test),
            positive=positive,
            n_jobs=jobs,
            random_state=seed,
        )

    evaluations = map(evaluate_all, paths, _targets_of(paths, targets or []))
    if len(paths) == 1:
        results = _compare_with_first(next(evaluations), level=level, **test_choices)
        _show_results(results, _short_names(models), models, as_json=as_json)
    else:
        scores = [[one.estimate(chosen).value for one in each] for each in evaluations]
        _show_many(scores, models, [path.name for path in paths], chosen, level, as_json=as_json)


def _evaluate_all(
    question: "Question",
    models: list[str],
    cost: str | None,
    *,
    decides_by_cost: bool,
    positive: str | None,
    **settings: Any,
) -> "list[Evaluation]":
    """Evaluate all classifiers on one table; ours are fitted for the costs if they count."""
    from sureleaf.commands.question import read_model
    from sureleaf.evaluation import evaluate

    arguments = options.row_arguments(question, positive, cost)
    fit_costs = arguments["cost"] if decides_by_cost else None
    return [
        evaluate(
            options.fitted_for(read_model(model, question.X), fit_costs),
            question.X,
            question.y,
            **arguments,
            **settings,
        )
        for model in models
    ]


def _compare_with_first(
    evaluations: "list[Evaluation]", *, level: float, **choices: Any
) -> "list[Comparison]":
    """Compare the first evaluation with each other one, at a level that allows for their number."""
    from sureleaf import comparison

    first, *others = evaluations
    level = 1.0 - (1.0 - level) / len(others)
    return [comparison.compare(first, other, level=level, **choices) for other in others]


def _compare_saved(paths: list[Path], **choices: Any) -> "list[Comparison]":
    """Compare two saved evaluations; errors name their files."""
    from sureleaf.comparison.two_models import IncomparableError
    from sureleaf.evaluation import Evaluation

    evaluations = [Evaluation.load(path) for path in paths]
    try:
        return _compare_with_first(evaluations, **choices)
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
    from sureleaf.cli.output import show, show_json
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
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal

    if as_json:
        values = [json_values.comparison_values(result) for result in results]
        named = dict(zip(models[1:], values, strict=False))
        show_json(values[0] if len(values) == 1 else {"first": models[0], "comparisons": named})
        return
    for name, result in zip(names[1:], results, strict=True):
        show(*terminal.show_comparison(result, (names[0], name)))


def _check_options(context: typer.Context, allowed: frozenset[str], source: str) -> None:
    """Raise an error for an option that the given files do not allow."""
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name not in allowed and value not in (option.default, None, (), []):
            raise InvalidArgumentError(
                f"{max(option.opts, key=len)} goes with {source}. Leave it out."
            )


def _targets_of(paths: list[Path], targets: list[str]) -> list[str]:
    """Return the column to predict of each table."""
    if targets and len(targets) not in (1, len(paths)):
        raise InvalidArgumentError(
            "--target must be given once for all tables, or once per table in their order; got "
            f"{_count(len(targets), 'target')} for {_count(len(paths), 'table')}."
        )
    return targets if len(targets) == len(paths) else targets * len(paths)


def _short_names(models: list[str]) -> list[str]:
    """Return models without their modules and parameters, as far as they stay different."""
    without_modules = [re.sub(r"^([a-z_][a-z_0-9]*\.)+(?=[A-Z])", "", model) for model in models]
    bare = [name.partition("(")[0] for name in without_modules]
    candidates = (bare, without_modules, models)
    return next((names for names in candidates if len(set(names)) == len(models)), models)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _compare_reports(
    paths: list[Path], table: options.TableOptions, cost: str | None, choices: dict[str, Any]
) -> "Comparison":
    """Compare the trees of a new and an old report on the rows of a table."""
    from sureleaf.report.gate import compare_reports, read_report

    if len(paths) != 3:
        raise InvalidArgumentError(
            "two reports are compared on the same rows: sureleaf compare old.json new.json DATA; "
            f"got {_count(len(paths), 'file')}. Name the table of the new report, or one with rows "
            "that neither tree has seen."
        )
    old, new = (read_report(path) for path in paths[:2])
    data = new["data"]
    columns = replace(table, group=data["groups"], weight=data["weights"])
    question = columns.read(paths[2], data["target"])
    return compare_reports(
        old,
        new,
        question.X,
        question.y,
        cost=None if cost is None else options.read_cost(cost, question.y),
        groups=question.groups,
        sample_weight=question.weights,
        **choices,
    )


def _show_gate(result: "Comparison", *, gate: bool, as_json: bool) -> None:
    """Show the comparison of two reports; as a gate, exit with 1 if the new tree is worse."""
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal

    passed = result.verdict != "worse"
    if as_json:
        outcome = {"gate": "passed" if passed else "failed"} if gate else {}
        show_json(json_values.comparison_values(result) | outcome)
    else:
        worse = f"worse by more than {result.margin:.3g}" if result.margin else "worse"
        outcome_line = (
            f"Gate: passed (not shown to be {worse})" if passed else f"Gate: failed ({worse})"
        )
        lines = [outcome_line] if gate else []
        show(*terminal.show_comparison(result, ("new", "old")), *lines)
    if gate and not passed:
        raise typer.Exit(1)
