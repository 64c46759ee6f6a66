"""``sureleaf compare``: which of two classifiers, or of two reports, is better."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.errors import InvalidArgumentError

__all__ = ["compare"]


_OF_REPORTS = frozenset({"paths", "measure", "margin", "level", "gate", "as_json"})
_OF_EVALUATIONS = _OF_REPORTS | {"detect", "method", "independent"}


def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA | FIRST SECOND | OLD.json NEW.json",
            help="A table, two saved evaluations, or two reports.",
        ),
    ],
    target: given.TableTarget = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="CLASSIFIER",
            help="Twice, with a table: the two classifiers, as evaluate takes them.",
        ),
    ] = None,
    measure: given.CostedMeasureName = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Differences up to this size count as none.",
            show_default="0, of reports the old one's",
        ),
    ] = None,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate", help="Of reports: exit with 1 if the new one is worse beyond the margin."
        ),
    ] = False,
    detect: Annotated[
        float | None,
        typer.Option(
            help="Difference worth finding, for the rows needed.",
            show_default="0.01 for measures between 0 and 1",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Another valid test: mcnemar_exact, bootstrap, paired_t, 5x2cv_f, z.",
            show_default="what fits the design",
        ),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="The two evaluations share no rows.")
    ] = False,
    design: given.DesignName = "kfold",
    folds: given.Folds = 10,
    repeats: given.Repeats = None,
    test: given.Test = 1 / 3,
    positive: given.Positive = None,
    cost: given.Cost = None,
    group: given.Group = None,
    weight: given.Weight = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Say whether one classifier is better than another, by the test that fits the design.

    For example:

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m "TreeClassifier(pruning=None)"

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m sklearn.naive_bayes.GaussianNB --repeats 10 --margin 0.01

    - sureleaf compare data.csv -t class -m TreeClassifier
      -m BaggedTreesClassifier --cost "0,5;1,0"

    - sureleaf compare first.eval second.eval --measure auc

    - sureleaf compare old.json new.json --margin 0.02 --gate
    """
    if len(paths) == 2:
        _refuse_others(context, _OF_EVALUATIONS, "a table; evaluations and reports have it settled")
    if len(paths) == 2 and any(path.suffix.lower() == ".json" for path in paths):
        _refuse_others(context, _OF_REPORTS, "a table or evaluations; reports have one test")
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
        asked = read_question(
            paths[0],
            target,
            group=group,
            weight=weight,
            drop=drop or (),
            csv=read.csv_format(delimiter, encoding, decimal, missing),
        )
        first, second = (
            evaluate(
                read_model(model, asked.X),
                asked.X,
                asked.y,
                design=given.read_design(design, folds, repeats, test),
                positive=given.read_label(positive, asked.y),
                cost=None if cost is None else given.read_cost(cost, asked.y),
                groups=asked.groups,
                sample_weight=asked.weights,
                n_jobs=jobs,
                random_state=seed,
            )
            for model in models or []
        )
    else:
        raise InvalidArgumentError(
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            f"reports; got {_counted(len(paths), 'file')}, {_counted(len(models or []), 'model')} "
            f"and {'no' if target is None else 'a'} target."
        )
    found = comparison.compare(
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
        show_json(terminal.comparison_values(found))
    else:
        show(*terminal.show_comparison(found))


def _refuse_others(context: typer.Context, allowed: frozenset[str], belonging: str) -> None:
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name not in allowed and value not in (option.default, None, (), []):
            raise InvalidArgumentError(
                f"{max(option.opts, key=len)} goes with {belonging}. Leave it out."
            )


def _counted(number: int, what: str) -> str:
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
    """Show what the new report says of the old one; as a gate, exit with 1 where it is worse."""
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.gate import compare_reports, read_report

    old, new = (read_report(path) for path in paths)
    found = compare_reports(old, new, measure=measure, margin=margin, level=level)
    passed = found.verdict != "worse"
    if as_json:
        told = {"gate": "passed" if passed else "failed"} if gate else {}
        show_json(terminal.comparison_values(found) | told)
    else:
        beyond = f"worse beyond {found.margin:g} by the test"
        last = f"Gate: passed (not {beyond})" if passed else f"Gate: failed ({beyond})"
        show(*terminal.show_comparison(found, ("new", "old")), *([last] if gate else []))
    if gate and not passed:
        raise typer.Exit(1)
