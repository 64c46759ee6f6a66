"""How likely a node has found its majority class, and is right about the next row."""

__all__: list[str] = []
