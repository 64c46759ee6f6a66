"""The sections of a report, one file per section, in the order of the page."""

__all__: list[str] = []
