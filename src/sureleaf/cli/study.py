"""``sureleaf study``: many learners on many data sets, resumable."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json

if TYPE_CHECKING:
    from sureleaf.studies import StatusCounts, Store

study = typer.Typer(
    name="study",
    help="Compare many learners on many data sets; every result is kept and can be resumed.",
    no_args_is_help=True,
)

StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The data sets, learners and design.")
]
StoreUrl = Annotated[
    str | None,
    option(
        "Where results are kept: a file, or postgresql+psycopg://user@host/database.",
        "--store",
        metavar="URL",
        default="STUDY.db beside the study",
    ),
]
Retry = Annotated[bool, option("Compute failed fits again.", "--retry-failed")]


def _store(study_file: Path, url: str | None, *, create: bool = False) -> "Store":
    from sureleaf.studies import Store

    return Store(url or study_file.with_suffix(".db"), create=create)


@study.command()
def run(
    study_file: StudyFile,
    store: StoreUrl = None,
    jobs: options.Jobs = None,
    retry_failed: Retry = False,
    as_json: options.AsJson = False,
) -> None:
    """Run a study, or go on with it: what the store has is not computed again.

    For example:

    - sureleaf study run study.toml --jobs 2
    """
    from sureleaf import studies

    plan = studies.read_study(study_file)
    plan.check()  # before a store is made
    opened = _store(study_file, store, create=True)
    report = draw_progress if sys.stderr.isatty() else None
    status = studies.run(
        plan, opened, n_jobs=jobs or 1, retry_failed=retry_failed, report_progress=report
    )
    if report is not None:
        sys.stderr.write("\n")
    _show_status(opened, status, as_json)
    if not as_json:
        where = "" if store is None else " --store (as here)"
        show(f"Show the results: sureleaf study report {study_file}{where}")


def draw_progress(status: "StatusCounts") -> None:
    """Write how far a study is over the last line of the terminal."""
    sys.stderr.write(f"\r{_line(status)}\033[K")
    sys.stderr.flush()


def _line(status: "StatusCounts") -> str:
    failed = f", {status.failed:,} failed" if status.failed else ""
    running = f", {status.running:,} running" if status.running else ""
    left = status.seconds_left
    time_left = f", about {_duration(left)} left" if left else ""
    return f"{status.done:,} of {status.total:,} fits done{failed}{running}{time_left}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


_SHOWN_REASONS = 5
_VERIFIED = 20


def _show_status(store: "Store", status: "StatusCounts", as_json: bool) -> None:
    """Print how far the study is, and why fits have failed."""
    from dataclasses import asdict

    from rich.markup import escape

    failures: dict[tuple[str, str], list[str]] = {}
    for one in store.failures(store.study_id(status.name)):
        failures.setdefault((one.learner, one.reason), []).append(one.data)
    reasons = [
        {"learner": learner, "data": sorted(set(data)), "fits": len(data), "reason": reason}
        for (learner, reason), data in failures.items()
    ]
    if as_json:
        values = {"total": status.total, "seconds_left": status.seconds_left, "failures": reasons}
        show_json(asdict(status) | values)
        return
    show(f"{escape(status.name)}: {_line(status)}")
    for (learner, reason), data in list(failures.items())[:_SHOWN_REASONS]:
        where = ", ".join(sorted(set(data)))
        show(escape(f"failed: {learner} on {where} ({len(data):,} fits): {reason}"))
    if len(failures) > _SHOWN_REASONS:
        show(f"{len(failures) - _SHOWN_REASONS:,} more reasons are on the page of the study.")


@study.command()
def status(study_file: StudyFile, store: StoreUrl = None, as_json: options.AsJson = False) -> None:
    """Show how far a study is, while it runs or later.

    For example:

    - sureleaf study status study.toml --json
    """
    from sureleaf.studies import read_study

    name, opened = read_study(study_file).name, _store(study_file, store)
    _show_status(opened, opened.status(name), as_json)


@study.command()
def verify(study_file: StudyFile, store: StoreUrl = None, as_json: options.AsJson = False) -> None:
    """Compute 20 of the fits again and compare every bit; exit with 1 if one differs.

    For example:

    - sureleaf study verify study.toml
    """
    from dataclasses import asdict

    from sureleaf import studies

    opened = _store(study_file, store)
    plan = studies.read_study(study_file)
    different = studies.verify(plan, opened, sample=_VERIFIED)
    n = min(_VERIFIED, opened.status(plan.name).done)
    if as_json:
        show_json({"verified": n, "different": [asdict(cell) for cell in different]})
    else:
        show(f"{n - len(different):,} of {n:,} fits are the same to the last bit.")
        for cell in different:
            show(f"differs: {cell.learner} on {cell.data}, split {cell.split + 1}")
    if different:
        raise typer.Exit(1)


@study.command()
def report(
    study_file: StudyFile,
    store: StoreUrl = None,
    output: Annotated[
        Path | None, option("The page to write.", "--output", "-o", metavar="PAGE")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the results as one page: tables, verdicts, ranks, time and size, failures.

    For example:

    - sureleaf study report study.toml -o study.html

    - sureleaf study report study.toml --json
    """
    from sureleaf import studies
    from sureleaf.commands.terminal import show_study
    from sureleaf.files.atomic_write import atomic_write
    from sureleaf.report.html.page import render_study

    page = output or study_file.with_suffix(".html")
    database = (store or str(study_file.with_suffix(".db"))).removeprefix("sqlite:///")
    options.check_output(
        None if as_json and output is None else page,
        study_file,
        *(f"{database}{ending}" for ending in ("", "-wal", "-shm")),  # the files of SQLite
    )
    opened = _store(study_file, store)
    results = studies.StudyResults(opened, studies.read_study(study_file).name)
    document = studies.study_document(results)
    answer, plain = studies.study_answer(document), document.to_dict()
    if output is not None or not as_json:
        with atomic_write(page) as file:
            file.write(render_study(plain, answer).encode())
    if as_json:
        show_json(plain | {"answer": answer})
    else:
        show(*show_study(document), answer, f"Page: {page}")
