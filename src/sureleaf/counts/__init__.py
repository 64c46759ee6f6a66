"""What do the leaves hold? Class counts that can be added."""

from sureleaf.counts.leaf_counts import LeafCounts, count_leaves

__all__ = ["LeafCounts", "count_leaves"]
