"""A fitted tree over time: whether its leaves are still right, updates, and differences."""

__all__: list[str] = []
