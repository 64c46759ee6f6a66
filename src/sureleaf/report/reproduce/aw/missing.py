"""Rows with a missing value: the gain of a split, where a row goes, what a new one gets."""

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.levels import entropies
from sureleaf.report.reproduce.judgement import Computed, Part, judge

__all__ = ["distributed_row", "gain", "new_record"]

# Tid, Refund, Marital Status, Class; row 10's Refund is missing. A later slide prints Single for
# row 10, but the tree's counts (3.67 married) need Married, as the first table has it.
ROWS = (
    ("Yes", "Single", "No"),
    ("No", "Married", "No"),
    ("No", "Single", "No"),
    ("Yes", "Married", "No"),
    ("No", "Divorced", "Yes"),
    ("No", "Married", "No"),
    ("Yes", "Divorced", "No"),
    ("No", "Single", "Yes"),
    ("No", "Married", "No"),
    (None, "Married", "Yes"),
)


def _bits(counts: ArrayLike) -> float:
    shares = np.asarray(counts, dtype=np.float64)
    return float(entropies.shannon(shares / shares.sum())) / float(np.log(2))


def _class_counts(refund: str | None) -> list[int]:
    return [sum(row[0] == refund and row[2] == label for row in ROWS) for label in ("Yes", "No")]


def gain() -> Part:
    """Judge the gain of Refund, a column with one value missing.

    C4.5 computes both entropies over the rows whose value is known and multiplies their
    difference by the known share; its gain ratio here is .1056.

    Examples
    --------
    >>> [(cell.column, round(cell.defined.value, 4)) for cell in gain().cells][-1]
    ('gain', 0.1368)
    """
    yes, no = _class_counts("Yes"), _class_counts("No")
    unknown = _class_counts(None)
    n, known = len(ROWS), sum(yes) + sum(no)
    share = known / n
    before, before_all = _bits(np.add(yes, no)), _bits(np.add(np.add(yes, no), unknown))
    sizes = np.array([sum(yes), sum(no)])
    inside = np.array([_bits(yes), _bits(no)])
    after, after_all = float(sizes @ inside / known), float(sizes @ inside / n)
    cells = (
        judge("Refund", "entropy before", 0.8813, 4, Computed(before), Computed(before_all)),
        judge("Refund", "entropy of Yes", 0, 0, Computed(inside[0])),
        judge("Refund", "entropy of No", 0.9183, 4, Computed(inside[1])),
        judge("Refund", "entropy after", 0.551, 3, Computed(after), Computed(after_all)),
        judge(
            "Refund",
            "gain",
            0.2417,
            4,
            Computed(share * (before - after)),
            Computed(share * before_all - after_all),
            note=".9 x .8813 - .551 is .2422, and .9 x (.8813 - .551) is .2973",
        ),
    )
    return Part(
        "gain with a missing value",
        "entropy in bits before and after a split on Refund, and the gain",
        "C4.5: entropies over the 9 known rows, times the known share",
        "entropies over all 10 rows, and the known share times the first of them only",
        cells,
    )


def distributed_row() -> Part:
    """Judge where row 10 goes: down both branches, by the shares of the known rows.

    Examples
    --------
    >>> [round(cell.defined.value, 4) for cell in distributed_row().cells]
    [0.3333, 2.6667]
    """
    yes, no = _class_counts("Yes"), _class_counts("No")
    known = sum(yes) + sum(no)
    cells = (
        judge("class Yes", "Refund = Yes", 3 / 9, 4, Computed(yes[0] + sum(yes) / known)),
        judge("class Yes", "Refund = No", 2 + 6 / 9, 4, Computed(no[0] + sum(no) / known)),
    )
    return Part(
        "row 10 distributed",
        "rows of class Yes in each branch, row 10 included (0 + 3/9 and 2 + 6/9)",
        "shares of the known rows",
        "",
        cells,
    )


def new_record() -> Part:
    """Judge the table and the shares for a new record without Marital Status.

    Examples
    --------
    >>> [round(cell.defined.value, 2) for cell in new_record().cells][-2:]
    [0.55, 0.45]
    """
    weight = {"No": 1.0, None: 6 / 9}
    statuses = ("Married", "Single", "Divorced")
    table = {
        (label, status): sum(
            weight.get(row[0], 0.0) for row in ROWS if row[1] == status and row[2] == label
        )
        for label in ("No", "Yes")
        for status in statuses
    }
    printed = {"No": (3, 1, 0), "Yes": (6 / 9, 1, 1)}
    cells = [
        judge(f"class {label}", status, figure, 4, Computed(table[label, status]))
        for label, figures in printed.items()
        for status, figure in zip(statuses, figures, strict=True)
    ]
    of_class = {label: sum(table[label, s] for s in statuses) for label in printed}
    of_status = {status: table["No", status] + table["Yes", status] for status in statuses}
    total = sum(of_class.values())
    cells += [
        judge("class No", "total", 4, 0, Computed(of_class["No"])),
        judge("class Yes", "total", 2.67, 2, Computed(of_class["Yes"])),
        judge("total", "Married", 3.67, 2, Computed(of_status["Married"])),
        judge("total", "Single", 2, 0, Computed(of_status["Single"])),
        judge("total", "Divorced", 1, 0, Computed(of_status["Divorced"])),
        judge("total", "total", 6.67, 2, Computed(total)),
        judge("probability", "Married", 3.67 / 6.67, 2, Computed(of_status["Married"] / total)),
        judge("probability", "Single or Divorced", 3 / 6.67, 2, Computed(3 / total)),
    ]
    return Part(
        "new record",
        "class by Marital Status in the branch Refund = No; 3.67/6.67 and 3/6.67",
        "row 10 counts 6/9",
        "",
        tuple(cells),
    )
