"""Tables with few values per column, and the same table in memory and in parts."""

import numpy as np
import pyarrow as pa

from sureleaf.scale.batches import Source, TablePart

TREE_ARRAYS = (
    *("feature", "threshold", "child_offset", "children", "branch_share"),
    *("category_offset", "category_branch", "missing_branch", "class_counts"),
)


def few_valued_table(n_rows=1500, seed=0, *, missing=0.1):
    """Numbers, close numbers, text, many categories, an order and weights; three classes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n_rows)

    def with_gaps(values, kind):
        is_missing = rng.random(n_rows) < missing
        return pa.array(values.tolist(), kind, mask=is_missing)

    letters = np.array(list("abcdefgh"))[(rng.integers(0, 6, n_rows) + label) % 8]
    order = pa.array((rng.integers(0, 3, n_rows) + (label == 2)).astype(np.int32))
    return pa.table(
        {
            "whole": with_gaps(rng.integers(0, 200, n_rows) + 10.0 * label, pa.float64()),
            "tenths": with_gaps(np.round(rng.normal(size=n_rows) + 0.3 * label, 1), pa.float64()),
            "close": pa.array(rng.integers(0, 9, n_rows) * 1e-6),
            "letter": with_gaps(letters, pa.string()),
            "many": pa.array([f"k{i}" for i in rng.integers(0, 300, n_rows)]),
            "size": pa.DictionaryArray.from_arrays(
                order, pa.array(["small", "medium", "large", "huge", "never"]), ordered=True
            ),
            "flag": pa.array(rng.random(n_rows) < 0.3),
            "class": pa.array(np.array(["no", "yes", "maybe"])[label]),
            "weight": pa.array(rng.integers(0, 4, n_rows).astype(float)),
        }
    )


def in_parts(table, n_rows):
    """The table in parts of so many rows."""
    starts = range(0, table.num_rows, n_rows)
    parts = (TablePart(table.slice(start, n_rows), f"part {start}") for start in starts)
    return Source(tuple(parts), "the parts")


def assert_same_tree(tree, other):
    for name in TREE_ARRAYS:
        np.testing.assert_array_equal(getattr(tree, name), getattr(other, name), err_msg=name)
