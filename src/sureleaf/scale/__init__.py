"""Tables that are larger than memory: batches of rows become counts, and counts are added.

What passes through this package, in this order:

    batches.py    any source of record batches -> Parts, each of which can be read again and again
    coding.py     RawPart -> Summary (summaries are added); Summary -> Coding; RawPart -> CodedPart
    growing.py    CodedPart -> class counts (which are added) -> the tree, level by level
    training.py   a source, a target and a memory limit -> the rows that `sureleaf.model` fits
    dask_parts.py the same with parts on the workers of a Dask cluster; imported when it is used

Nothing depends on the order of the parts, their number, or the number of rows per batch.
"""

from sureleaf.scale.batches import is_dask, is_source, join_series, open_source
from sureleaf.scale.coding import Roles, plan_columns
from sureleaf.scale.training import SourceColumns, SourceRows, read_rows

__all__ = [
    "Roles",
    "SourceColumns",
    "SourceRows",
    "is_dask",
    "is_source",
    "join_series",
    "open_source",
    "plan_columns",
    "read_rows",
]
