"""``sureleaf compare``: whether one of two classifiers, or of two reports, is better."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

__all__ = ["compare"]


_REPORT_OPTIONS = frozenset({"paths", "measure", "margin", "level", "gate", "as_json"})
_EVALUATION_OPTIONS = _REPORT_OPTIONS | {"detect", "method", "independent"}


@options.with_csv_options
def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA... | FIRST SECOND | OLD.json NEW.json",
            help="One table or several, two saved evaluations, or two reports.",
        ),
    ],
    csv: "options.CsvFormat",
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
        typer.Option(
            help="Differences up to this size do not matter.",
            show_default="0; with reports, that of the old one",
        ),
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate",
            help="With reports: exit with 1 if the new one is worse by more than the margin.",
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
    group: options.Group = None,
    weight: options.Weight = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    as_json: options.AsJson = False,
) -> None:
    """Test whether one classifier is better than another.

    The test is the one that is valid for the design of the evaluations. With
    --cost, classifiers are compared by the cost of their decisions, and trees of
    Sureleaf are pruned by costs, unless their rule of pruning counts errors. Two
    reports are compared by what both lead with: their costs, if they have any.

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

    - sureleaf compare old.json new.json --margin 0.02 --gate
    """
    is_saved = len(paths) == 2 and (not targets or not models)
    if is_saved:
        _check_options(context, _EVALUATION_OPTIONS, "a table only")
    if is_saved and any(path.suffix.lower() == ".json" for path in paths):
        _check_options(context, _REPORT_OPTIONS, "a table or evaluations only")
        _compare_reports(paths, measure, margin, level, gate=gate, as_json=as_json)
        return
    if gate:
        raise InvalidArgumentError("--gate needs two reports: sureleaf compare old.json new.json")
    if not is_saved and (not targets or len(models or []) < 2):
        raise InvalidArgumentError(
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            f"reports; got {_count(len(paths), 'file')}, {_count(len(models or []), 'model')} "
            f"and {'a' if targets else 'no'} target."
        )
    target_of = _targets_of(paths, targets or [])
    from sureleaf import comparison
    from sureleaf.cli.output import show, show_json
    from sureleaf.evaluation import Evaluation, evaluate
    from sureleaf.evaluation.measures.named import find_measure
    from sureleaf.report import command_values, terminal
    from sureleaf.report.question import read_model, read_question

    chosen = measure or ("accuracy" if cost is None else "decided_cost")
    names = ["first", "second"] if is_saved else _short_names(models or [])

    def evaluate_all(table: int) -> list[Evaluation]:
        question = read_question(
            paths[table],
            target_of[table],
            group=group,
            weight=weight,
            drop=drop or (),
            categorical=categorical or (),
            csv=csv,
        )
        costs = None if cost is None else options.read_cost(cost, question.y)
        by_cost = measure in (None, "cost", "decided_cost")
        return [
            evaluate(
                options.fitted_for(read_model(model, question.X), costs if by_cost else None),
                question.X,
                question.y,
                design=options.read_design(design, folds, repeats, test),
                positive=options.read_label(positive, question.y),
                cost=costs,
                groups=question.groups,
                sample_weight=question.weights,
                n_jobs=jobs,
                random_state=seed,
            )
            for model in models or []
        ]

    if len(paths) > 1 and not is_saved:
        scores = [
            [each.estimate(chosen).value for each in evaluate_all(table)]
            for table in range(len(paths))
        ]
        many = comparison.compare_many(
            scores,
            names=list(models or []) if as_json else names,
            higher_is_better=find_measure(chosen).greater_is_better,
            level=level,
        )
        files = [path.name for path in paths]
        if as_json:
            show_json(command_values.many_values(many, chosen, files, list(models or []), scores))
        else:
            show(*terminal.show_many(many, chosen, files, names, scores))
        return
    first, *others = [Evaluation.load(path) for path in paths] if is_saved else evaluate_all(0)
    with _named_files(paths) if is_saved else nullcontext():
        results = [
            comparison.compare(
                first,
                other,
                measure=chosen,
                margin=margin or 0.0,
                level=1.0 - (1.0 - level) / len(others),
                independent=independent,
                detect=detect,
                method=method,
            )
            for other in others
        ]
    if as_json:
        values = [command_values.comparison_values(result) for result in results]
        named = zip((models or [])[1:], values, strict=False)
        show_json(
            values[0]
            if len(values) == 1
            else {"first": (models or [])[0], "comparisons": dict(named)}
        )
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


@contextmanager
def _named_files(paths: list[Path]) -> Iterator[None]:
    """Name the files in errors about the evaluations a and b."""
    try:
        yield
    except InvalidArgumentError as error:
        start, both, rest = str(error).partition("a and b ")
        if start or not both:
            raise
        raise InvalidArgumentError(f"{paths[0].name} and {paths[1].name} {rest}") from None


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
    paths: list[Path],
    measure: str | None,
    margin: float | None,
    level: float,
    *,
    gate: bool,
    as_json: bool,
) -> None:
    """Compare a new report with an old one; as a gate, exit with 1 if it is worse."""
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import command_values, terminal
    from sureleaf.report.gate import compare_reports, read_report

    old, new = (read_report(path) for path in paths)
    result = compare_reports(old, new, measure=measure, margin=margin, level=level)
    passed = result.verdict != "worse"
    if as_json:
        outcome = {"gate": "passed" if passed else "failed"} if gate else {}
        show_json(command_values.comparison_values(result) | outcome)
    else:
        worse = f"worse by more than {result.margin:.3g}"
        outcome_line = (
            f"Gate: passed (not shown to be {worse})" if passed else f"Gate: failed ({worse})"
        )
        lines = [outcome_line] if gate else []
        show(*terminal.show_comparison(result, ("new", "old")), *lines)
    if gate and not passed:
        raise typer.Exit(1)
