"""What the leaves hold: class counts that can be added, and hits on rows they have not seen."""

from sureleaf.counts.cross_fitted import CrossFit, NodeHits, cross_fit, node_hits
from sureleaf.counts.honest import honest_hits, recount, split_rows
from sureleaf.counts.leaf_counts import (
    LeafCounts,
    count_leaves,
    cut_leaf_counts,
    leaf_counts_of,
)

__all__ = [
    "CrossFit",
    "LeafCounts",
    "NodeHits",
    "count_leaves",
    "cross_fit",
    "cut_leaf_counts",
    "honest_hits",
    "leaf_counts_of",
    "node_hits",
    "recount",
    "split_rows",
]
