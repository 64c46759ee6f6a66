"""Chawla and Cieslak (2006), Evaluating Probability Estimates from Decision Trees: run again.

Unlike the other documents this is an experiment: its figures depend on which 30 % were held out,
so what is compared is the direction of every difference. Its NCE is taken for logarithms to base
10, ours is in nats; how it counts probabilities of zero is not said, ours count as `ZERO`.
"""

from pathlib import Path

from sureleaf.errors import InvalidArgumentError
from sureleaf.reproduce.chawla2006.result import Claim, Study
from sureleaf.reproduce.chawla2006.study import (
    DATASETS,
    SOURCE,
    Dataset,
    read_dataset,
    run_method_lines,
)
from sureleaf.reproduce.chawla2006.text import draw_figures
from sureleaf.reproduce.comparison_table import Cell, Computed, Part, judge

__all__ = ["REPEATS", "ZERO", "Claim", "Study", "draw_figures", "reproduce"]


REPEATS = 3
ZERO = 1e-6


def reproduce(
    data: str | Path | None, *, repeats: int = REPEATS, seed: int = 0, zero: float = ZERO
) -> Study:
    """Run the study on the five data sets again.

    Parameters
    ----------
    data : str or path
        Directory with phoneme.csv, adult.csv, satimage.csv, covtype.csv and mammography.csv, each
        with a .schema.json that names the target, its positive label and the categorical columns.
    repeats : int
        How often 30 % of the rows are held out, at random; figures are means.
    seed : int
        Seed of the first hold-out.
    zero : float
        What a probability of zero counts as in NCE.

    Returns
    -------
    Study

    Raises
    ------
    InvalidArgumentError
        If there is no such directory, or a file is not in it.

    Examples
    --------
    >>> reproduce("no such directory")
    Traceback (most recent call last):
        ...
    sureleaf.errors.InvalidArgumentError: data must be a directory with phoneme.csv, adult.csv,
    satimage.csv, covtype.csv, mammography.csv; got 'no such directory'. Say where with --data.
    """
    if data is None or not Path(data).is_dir():
        files = ", ".join(f"{name}.csv" for name in DATASETS)
        got = "nothing" if data is None else repr(str(data))
        raise InvalidArgumentError(
            f"data must be a directory with {files}; got {got}. Say where with --data."
        )
    tables = [read_dataset(name, Path(data)) for name in DATASETS]
    lines = [
        line
        for table in tables
        for line in run_method_lines(table, repeats=repeats, seed=seed, zero=zero)
    ]
    return Study(SOURCE, repeats, seed, zero, _table_1(tables), tuple(lines))


def _table_1(tables: list[Dataset]) -> Part:
    """Judge Table 1 by the files."""
    cells: list[Cell] = []
    for table in tables:
        described = DATASETS[table.name]
        features, examples = float(table.X.shape[1]), float(table.X.shape[0])
        # Examples look rounded to tens, but for those that are not.
        rounded = -1 if described.n_examples % 10 == 0 else 0
        cells += [
            judge(table.name, "features", described.n_features, 0, Computed(features)),
            judge(table.name, "examples", described.n_examples, rounded, Computed(examples)),
            judge(
                table.name,
                "minority",
                described.minority,
                described.decimals,
                Computed(float(table.y.mean())),
            ),
        ]
    return Part("table 1", "the data sets", "counted in the files", "", tuple(cells))
