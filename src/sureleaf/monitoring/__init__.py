"""A fitted tree over time: whether its leaves are still right, updates, and differences."""

from sureleaf.monitoring.differences import Diff, diff
from sureleaf.monitoring.updates import Regrowth, keep_or_regrow, update
from sureleaf.monitoring.watch import Watch, WatchedLeaves

__all__ = ["Diff", "Regrowth", "Watch", "WatchedLeaves", "diff", "keep_or_regrow", "update"]
