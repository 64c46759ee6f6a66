"""The results of the experiment as text for a terminal."""

import math
from collections.abc import Iterable
from itertools import product

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sureleaf.reproduce.chawla2006.experiment import (
    FLOOR,
    HISTOGRAMS,
    MEASURES,
    PAIRS,
    SMOOTHED,
    TEST_SHARE,
    Experiment,
)
from sureleaf.reproduce.chawla2006.printed import (
    COMPARED_PAIRS,
    CORRELATIONS,
    SOURCE,
    TABLE_3,
    Replication,
    direction,
)
from sureleaf.reproduce.text import heading

_BARS = " ▁▂▃▄▅▆▇█"


def experiment_text(experiment: Experiment) -> list[RenderableType]:
    """Return the results on tables of one's own."""
    return [
        _how(experiment),
        heading("All measures"),
        _all_measures(experiment),
        heading("Difference relative to the frequencies of the unpruned tree"),
        _relative_differences(experiment),
        heading("Correlations over tables and methods, without the pruned trees"),
        _correlations(experiment),
        *_histograms(experiment, experiment.datasets),
    ]


def replication_text(replication: Replication) -> list[RenderableType]:
    """Return the results beside the printed ones, the claims, and a sentence that counts them."""
    experiment, claims = replication.experiment, replication.claims
    n_agree = sum(claim.agrees for claim in claims)
    return [
        Text(SOURCE, style="bold"),
        _how(experiment),
        heading("Table 1: the data sets, printed and counted in the files"),
        _table_1(replication),
        heading("All measures"),
        _all_measures(experiment),
        heading("Table 3: unpruned and pruned trees; printed NCE converted to nats"),
        _table_3(replication),
        _base_sentence(replication),
        heading("Hypothesis 2: the printed areas are 2 AUC - 1, not AUC"),
        _auc_scales(replication),
        _auc_sentence(replication),
        heading("Figure 3: difference relative to the frequencies of the unpruned tree"),
        _relative_differences(experiment),
        heading("Table 2: correlations over data sets and methods, without the pruned trees"),
        _correlations(experiment, CORRELATIONS),
        *_histograms(experiment, ("mammography",)),
        heading("Directions in table 3; NO marks those that differ from the printed ones"),
        _directions(replication),
        heading("Directions in the text, and signs in table 2"),
        _statements(replication),
        "",
        f"{len(claims)} directions computed by this library's trees: {n_agree} agree, "
        f"{len(claims) - n_agree} do not. {len(replication.table_1.cells)} figures of table 1 are "
        "counts of the data files.",
    ]


def _how(experiment: Experiment) -> str:
    times = "once" if experiment.repeats == 1 else f"{experiment.repeats} times"
    return (
        f"{TEST_SHARE:.0%} of the rows held out {times}, seed {experiment.seed}. NCE in nats; a "
        f"probability of zero counts as {FLOOR:g}."
    )


def _table(headers: Iterable[str], rows: Iterable[Iterable[str]], *, n_left: int = 2) -> Table:
    """Build a table whose first columns are aligned to the left."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, header in enumerate(headers):
        table.add_column(header, justify="left" if index < n_left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _table_1(replication: Replication) -> Table:
    rows = []
    for cell in replication.table_1.cells:
        printed = f"{cell.printed:,.{max(0, cell.decimals)}f}"
        counted = f"{cell.defined.value:,.{4 if cell.decimals > 0 else 0}f}"
        rows.append([cell.row, cell.column, printed, counted, str(cell.verdict)])
    return _table(["", "", "printed", "in the file", ""], rows)


def _all_measures(experiment: Experiment) -> Table:
    rows = (
        (one.dataset, one.method, *(f"{one.measure(m):.4f}" for m in MEASURES), f"{one.zeros:.2%}")
        for one in experiment.results
    )
    return _table(["", "", *MEASURES, "zeros"], rows)


def _table_3(replication: Replication) -> Table:
    rows = []
    for name, method in dict.fromkeys((name, method) for name, _, method in TABLE_3):
        found = replication.experiment.result(name, method)
        floor = replication.implied_floor(name, method)
        rows.append(
            [
                name,
                method.replace(", ", ",\n"),
                f"{TABLE_3[name, 'NCE', method] * math.log(10):.4f}",
                f"{found.nce:.4f}",
                f"{TABLE_3[name, 'AUC', method]:.4f}",
                f"{found.auc:.4f}",
                "" if floor is None else f"{floor:.0e}",
            ]
        )
    headers = ["NCE\nprinted", "computed", "AUC\nprinted", "computed", "zero that\nwould fit"]
    return _table(["", "", *headers], rows)


def _base_sentence(replication: Replication) -> str:
    pairs = [
        (TABLE_3[name, "NCE", method], found.nce)
        for name, measure, method in TABLE_3
        if measure == "NCE" and not (found := replication.experiment.result(name, method)).zeros
    ]
    as_base_10, as_nats = (
        sum(abs(printed * factor - nce) for printed, nce in pairs) / len(pairs)
        for factor in (math.log(10), 1.0)
    )
    return (
        f"Hypothesis 1: printed NCE is in base 10. Mean difference of the {len(pairs)} figures "
        f"without a probability of zero: {as_base_10:.3f}, and {as_nats:.3f} if they were in nats."
    )


def _auc_scales(replication: Replication) -> Table:
    has_range = replication.experiment.repeats > 1
    rows = [
        [
            one.dataset,
            f"{one.difference_as_auc:.3f}",
            f"{one.difference_as_2_auc_minus_1:.3f}",
            *([f"{one.inside_as_auc}", f"{one.inside_as_2_auc_minus_1}"] if has_range else []),
        ]
        for one in replication.auc_scales
    ]
    headers = ["difference as AUC", "as 2 AUC - 1"]
    if has_range:
        headers += ["of 4 inside our range as AUC", "as 2 AUC - 1"]
    return _table(["", *headers], rows, n_left=1)


def _auc_sentence(replication: Replication) -> str:
    scales, n = replication.auc_scales, len(replication.auc_scales)
    as_auc = sum(one.difference_as_auc for one in scales) / n
    as_double = sum(one.difference_as_2_auc_minus_1 for one in scales) / n
    against = [
        one.dataset for one in scales if one.difference_as_auc < one.difference_as_2_auc_minus_1
    ]
    below = [
        f"{area:.4f}" for (_, what, _), area in TABLE_3.items() if what == "AUC" and area < 0.5
    ]
    repeats, inside = replication.experiment.repeats, ""
    if repeats > 1:
        inside = (
            f"; inside the range of our {repeats} repeats "
            f"{sum(one.inside_as_auc for one in scales)} "
            f"and {sum(one.inside_as_2_auc_minus_1 for one in scales)} of {len(TABLE_3) // 2} "
            "figures"
        )
    return (
        f"Mean difference {as_auc:.3f} as AUC, {as_double:.3f} as 2 AUC - 1{inside}. "
        f"As an AUC, {' and '.join(below)} would be below chance. Nearer as AUC: "
        f"{', '.join(against) or 'no data set'}. The document does not say; no direction depends "
        "on it."
    )


def _relative_differences(experiment: Experiment) -> Table:
    rows = [
        [*cell, *(_or_dash(experiment.relative(*cell, m), "+.1%") for m in MEASURES)]
        for cell in product(experiment.datasets, SMOOTHED)
    ]
    return _table(["", "", *MEASURES], rows)


def _correlations(
    experiment: Experiment, printed: dict[tuple[str, str], float] | None = None
) -> Table:
    ways = experiment.correlations_by_way()
    if printed is not None:
        ways = {"printed": printed, **ways}
    rows = [
        [f"{a}, {b}", *(_or_dash(found[a, b], ".2f") for found in ways.values())] for a, b in PAIRS
    ]
    return _table(["", *(way.replace("_", " ") for way in ways)], rows, n_left=1)


def _or_dash(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def _histograms(experiment: Experiment, names: Iterable[str]) -> list[RenderableType]:
    rows = []
    for cell in product(names, HISTOGRAMS):
        shares = experiment.result(*cell).histogram
        bars = "".join(_BARS[math.ceil(share * (len(_BARS) - 1))] for share in shares)
        rows.append([*cell, bars, " ".join(f"{100 * share:2.0f}" for share in shares)])
    return [
        heading("Figure 2: predicted probability of the positive rows, by tenths"),
        _table(["", "", "0 to 1", "% of the rows"], rows, n_left=4),
    ]


def _directions(replication: Replication) -> Table:
    rows = []
    for pair in COMPARED_PAIRS:
        row = [f"{pair[0]}: {pair[1]} than {pair[2]}"]
        for name in replication.experiment.datasets:
            printed, found = replication.differences(name, *pair)
            agrees = direction(printed) == direction(found)
            row.append(direction(found) + ("" if agrees else " NO"))
        rows.append(row)
    return _table(["", *replication.experiment.datasets], rows, n_left=1)


def _statements(replication: Replication) -> Table:
    rows = [
        ["yes" if claim.agrees else "NO", claim.printed, claim.computed]
        for claim in replication.claims
        if claim.where != "table 3"
    ]
    return _table(["", "printed", "computed"], rows, n_left=3)
