"""Results that print as text show the same text in a notebook."""

from html import escape

__all__ = ["TextDisplay", "percentage"]


class TextDisplay:
    """Gives a result with a readable ``str`` its form for notebooks.

    Examples
    --------
    >>> class Two(TextDisplay):
    ...     def __str__(self):
    ...         return "1 < 2"
    >>> Two()._repr_html_()
    '<pre>1 &lt; 2</pre>'
    """

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


# Shares in per cent on a terminal: not 100 or 0 for what is only near.

_MOST_DIGITS = 4


def percentage(share: float) -> str:
    """Write a share in per cent with a decimal, and with more where one would claim certainty.

    Examples
    --------
    >>> percentage(0.714), percentage(0.99983), percentage(1.0), percentage(0.00001)
    ('71.4 %', '99.98 %', '100.0 %', '0.001 %')
    """
    for digits in range(1, _MOST_DIGITS + 1):
        text = f"{100 * share:.{digits}f}"
        if float(text) not in (0.0, 100.0):
            return f"{text} %"
    return f"{100 * share:.1f} %"
