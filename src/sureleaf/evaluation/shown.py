"""Results that print as text show the same text in a notebook."""

from html import escape

__all__ = ["ShownAsText"]


class ShownAsText:
    """Gives a result with a readable ``str`` its form for notebooks.

    Examples
    --------
    >>> class Two(ShownAsText):
    ...     def __str__(self):
    ...         return "1 < 2"
    >>> Two()._repr_html_()
    '<pre>1 &lt; 2</pre>'
    """

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
