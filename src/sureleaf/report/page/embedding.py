"""A document inside a page, as data that no text of it can turn into markup."""

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

__all__ = ["embedded_json"]

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def embedded_json(document: Mapping[str, Any]) -> Markup:
    r"""Write JSON that can stand between script tags: it holds no ``<``, ``>`` or ``&``.

    These signs occur in JSON only inside text, where ``\u003c`` means the same.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has no word for it.

    Examples
    --------
    >>> print(embedded_json({"label": "</script>"}))
    {"label":"\u003c/script\u003e"}
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return Markup(text)
