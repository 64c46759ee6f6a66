"""What the leaves hold: class counts that can be added."""

from sureleaf.counts.leaf_counts import LeafCounts, count_leaves

__all__ = ["LeafCounts", "count_leaves"]
