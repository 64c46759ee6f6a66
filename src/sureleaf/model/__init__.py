"""Fitted models as values, and what they know about themselves."""

__all__: list[str] = []
