"""Tables that are larger than memory: batches of rows become counts, and counts are added.

What passes through this package, in this order:

    batches.py    any source of record batches -> Parts, each of which can be read again and again
    coding.py     Part -> Summary (summaries are added); Summary -> Coding; Part -> CodedPart
    growing.py    CodedPart -> LevelCounts (counts are added) -> the tree, level by level
    training.py   a source, a target and a memory limit -> the rows that `sureleaf.model` fits
    dask_parts.py the same with parts on the workers of a Dask cluster; imported when it is used

Nothing depends on the order of the parts, their number, or the number of rows per batch.
"""

from sureleaf.scale.batches import Part, Source, is_dask, is_source, open_source
from sureleaf.scale.coding import (
    CodedPart,
    Coding,
    Roles,
    Summary,
    encode_part,
    plan_columns,
    summarize,
)
from sureleaf.scale.growing import LocalParts, Parts, grow_by_levels
from sureleaf.scale.training import SourceColumns, SourceRows, read_rows

__all__ = [
    "CodedPart",
    "Coding",
    "LocalParts",
    "Part",
    "Parts",
    "Roles",
    "Source",
    "SourceColumns",
    "SourceRows",
    "Summary",
    "encode_part",
    "grow_by_levels",
    "is_dask",
    "is_source",
    "open_source",
    "plan_columns",
    "read_rows",
    "summarize",
]
