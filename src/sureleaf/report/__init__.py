"""Results as text, figures, HTML and exports: first the numbers, then the drawing."""

__all__: list[str] = []
