"""Results as text, figures, HTML and exports: first the numbers, then the drawing.

Names are loaded when first used, so that a command that needs one file does not wait for all.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureleaf.report.making import Report, make_report

__all__ = ["Report", "make_report"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'sureleaf.report' has no attribute {name!r}")
    from sureleaf.report import making

    globals()[name] = found = getattr(making, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
