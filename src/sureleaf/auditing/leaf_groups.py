"""Whether groups are treated alike inside a leaf: same rule, same decision, same outcome.

The rows of a leaf are divided by a column. Given how many of them are of each group, and how many
have the class that the leaf predicts, the rows of a group are a random draw if the groups do not
differ: Fisher's exact test. With more than two groups, each is compared with the rows of all
others, and the smallest p-value is multiplied by their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact, hypergeom

from sureleaf.arguments import FloatArray
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.comparison import holm
from sureleaf.model.column_table import ColumnTable


@dataclass(frozen=True, eq=False, repr=False)
class LeafGroups(ColumnTable):
    """One row per leaf and column: the group whose outcome differs most from that of the others.

    - `n`, `n_group`: rows of the leaf, and of this group in it.
    - `rate`, `elsewhere`: how many of the group, and of the other rows of the leaf, have the class
      that the leaf predicts.
    - `p_value`: of "no group differs", corrected for all leaves and columns by Holm's method;
      `found` if it is at most 1 - level.
    - `detectable`: the smallest difference between these two shares that would have been found,
      with as many rows of the group and of the class; NaN if none would.
    """

    column: NDArray[np.object_]
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    group: NDArray[np.object_]
    n: NDArray[np.intp]
    n_group: NDArray[np.intp]
    rate: FloatArray
    elsewhere: FloatArray
    p_value: FloatArray
    found: NDArray[np.bool_]
    detectable: FloatArray

    def sentence(self) -> str:
        """Say whether any leaf treats groups differently."""
        if not len(self):
            return "No leaf has rows of two groups, so groups cannot be compared inside leaves."
        if not self.found.any():
            return (
                f"Inside the leaves, no group differs from the others beyond chance ({len(self)} "
                "tests, corrected)."
            )
        found, compared = (len(np.unique(leaf)) for leaf in (self.leaf[self.found], self.leaf))
        return (
            f"Inside {found} of {compared} leaves, a group differs from the others: same rule and "
            "decision, but another outcome."
        )


def compare_inside(
    tree: TreeLeaves,
    is_right: NDArray[np.bool_],
    columns: Sequence[tuple[str, Sequence[str], NDArray[np.intp]]],
    level: float,
) -> LeafGroups:
    """Compare the groups of named columns inside each leaf.

    ``columns`` has a name, the names of the groups, and the group of each row. A row with missing
    values counts in the leaf that has most of it.
    """
    line = np.asarray(tree.shares.argmax(axis=1)).reshape(-1)
    found = []
    for name, groups, group in columns:
        counts = np.zeros((len(tree.leaf), len(groups), 2))
        np.add.at(counts, (line, group, is_right.astype(np.intp)), 1.0)
        for leaf, table in enumerate(counts):
            if np.count_nonzero(table.sum(axis=1)) > 1:
                found.append((name, leaf, *_most_different(table, groups)))
    n_tests = len(found)
    adjusted = holm([one[-1] for one in found]) if found else np.zeros(0)
    leaves = np.array([one[1] for one in found], dtype=np.intp)
    rules = np.full(len(tree.leaf), "", dtype=object) if tree.rule is None else tree.rule
    return LeafGroups(
        column=np.array([one[0] for one in found], dtype=object),
        leaf=tree.leaf[leaves],
        rule=rules[leaves],
        group=np.array([one[2] for one in found], dtype=object),
        n=np.array([one[3] for one in found], dtype=np.intp),
        n_group=np.array([one[4] for one in found], dtype=np.intp),
        rate=np.array([one[5] for one in found], dtype=float),
        elsewhere=np.array([one[6] for one in found], dtype=float),
        p_value=np.asarray(adjusted),
        found=np.asarray(adjusted) <= 1 - level + 1e-12,
        detectable=np.array(
            [_detectable(*one[3:5], one[7], (1 - level) / n_tests / one[8]) for one in found], float
        ),
    )


def _most_different(
    table: FloatArray, groups: Sequence[str]
) -> tuple[str, int, int, float, float, int, int, float]:
    """Return the group of a leaf that differs most: its numbers, the number of tests, a p-value."""
    total = table.sum(axis=0)
    present = np.flatnonzero(table.sum(axis=1) > 0).tolist()
    tried = present[:1] if len(present) == 2 else present
    p_values = [float(fisher_exact([table[one], total - table[one]])[1]) for one in tried]
    best = int(np.argmin(p_values))
    own, others = table[tried[best]], total - table[tried[best]]
    return (
        groups[tried[best]],
        int(total.sum()),
        int(own.sum()),
        float(own[1] / own.sum()),
        float(others[1] / others.sum()),
        int(total[1]),
        len(tried),
        min(len(tried) * min(p_values), 1.0),
    )


def _detectable(n: int, n_group: int, n_right: int, alpha: float) -> float:
    """Return the smallest difference of two shares whose exact p-value is at most alpha."""
    own = np.arange(max(0, n_group + n_right - n), min(n_group, n_right) + 1)
    chance = hypergeom.pmf(own, n, n_right, n_group)
    order = np.argsort(chance)
    p_values = np.empty(len(own))
    p_values[order] = np.cumsum(chance[order])
    differences = np.abs(own / n_group - (n_right - own) / (n - n_group))
    small = differences[p_values <= alpha]
    return float(small.min()) if len(small) else float("nan")
