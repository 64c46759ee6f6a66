"""``sureleaf compare``: whether one of two classifiers, or of two reports, is better."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

__all__ = ["compare"]


_REPORT_OPTIONS = frozenset({"paths", "measure", "margin", "level", "gate", "as_json"})
_EVALUATION_OPTIONS = _REPORT_OPTIONS | {"detect", "method", "independent"}


def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA | FIRST SECOND | OLD.json NEW.json",
            help="A table, two saved evaluations, or two reports.",
        ),
    ],
    target: options.TableTarget = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="CLASSIFIER",
            help="With a table, give this option twice: the two classifiers, as for evaluate.",
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
            show_default="0.01 for measures between 0 and 1",
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
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    decimal: options.Decimal = None,
    missing: options.Missing = None,
    as_json: options.AsJson = False,
) -> None:
    """Test whether one classifier is better than another.

    The test is the one that is valid for the design of the evaluations. With
    --cost, classifiers are compared by the cost of their decisions, and trees of
    Sureleaf that can be pruned by costs are.

    For example:

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m TreeClassifier.c45

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m sklearn.naive_bayes.GaussianNB --repeats 10 --margin 0.01

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m BaggedTreesClassifier --cost "0,5;1,0"

    - sureleaf compare first.eval second.eval --measure auc

    - sureleaf compare old.json new.json --margin 0.02 --gate
    """
    if len(paths) == 2:
        _check_options(context, _EVALUATION_OPTIONS, "a table only")
    if len(paths) == 2 and any(path.suffix.lower() == ".json" for path in paths):
        _check_options(context, _REPORT_OPTIONS, "a table or evaluations only")
        _compare_reports(paths, measure or "accuracy", margin, level, gate=gate, as_json=as_json)
        return
    if gate:
        raise InvalidArgumentError("--gate needs two reports: sureleaf compare old.json new.json")
    from sureleaf import comparison
    from sureleaf.cli.output import show, show_json
    from sureleaf.evaluation import Evaluation, evaluate
    from sureleaf.report import terminal
    from sureleaf.report.question import read_model, read_question

    if len(paths) == 2:
        first, second = (Evaluation.load(path) for path in paths)
    elif len(paths) == 1 and target is not None and len(models or []) == 2:
        question = read_question(
            paths[0],
            target,
            group=group,
            weight=weight,
            drop=drop or (),
            csv=options.csv_format(delimiter, encoding, decimal, missing),
        )
        costs = None if cost is None else options.read_cost(cost, question.y)
        by_cost = measure in (None, "cost", "decided_cost")
        first, second = (
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
        )
    else:
        raise InvalidArgumentError(
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            f"reports; got {_count(len(paths), 'file')}, {_count(len(models or []), 'model')} "
            f"and {'no' if target is None else 'a'} target."
        )
    result = comparison.compare(
        first,
        second,
        measure=measure or ("accuracy" if cost is None else "decided_cost"),
        margin=margin or 0.0,
        level=level,
        independent=independent,
        detect=detect,
        method=method,
    )
    if as_json:
        show_json(terminal.comparison_values(result))
    else:
        show(*terminal.show_comparison(result))


def _check_options(context: typer.Context, allowed: frozenset[str], source: str) -> None:
    """Raise an error for an option that the given files do not allow."""
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name not in allowed and value not in (option.default, None, (), []):
            raise InvalidArgumentError(
                f"{max(option.opts, key=len)} goes with {source}. Leave it out."
            )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _compare_reports(
    paths: list[Path],
    measure: str,
    margin: float | None,
    level: float,
    *,
    gate: bool,
    as_json: bool,
) -> None:
    """Compare a new report with an old one; as a gate, exit with 1 if it is worse."""
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.gate import compare_reports, read_report

    old, new = (read_report(path) for path in paths)
    result = compare_reports(old, new, measure=measure, margin=margin, level=level)
    passed = result.verdict != "worse"
    if as_json:
        outcome = {"gate": "passed" if passed else "failed"} if gate else {}
        show_json(terminal.comparison_values(result) | outcome)
    else:
        worse = f"worse by more than {result.margin:g}"
        outcome_line = f"Gate: passed (not {worse})" if passed else f"Gate: failed ({worse})"
        lines = [outcome_line] if gate else []
        show(*terminal.show_comparison(result, ("new", "old")), *lines)
    if gate and not passed:
        raise typer.Exit(1)
