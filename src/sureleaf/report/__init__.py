"""Results as text, figures, HTML and exports: first the numbers, then the drawing.

Names are loaded when first used, so that a command that needs one file does not wait for all.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureleaf.report.audit_document import audit_document, write_audit
    from sureleaf.report.document import Report, make_report
    from sureleaf.report.gate import compare_reports, read_report
    from sureleaf.report.request import Budget, Origin

__all__ = [
    "Budget",
    "Origin",
    "Report",
    "audit_document",
    "compare_reports",
    "make_report",
    "read_report",
    "write_audit",
]

_HOME_OF = {
    "Budget": "request",
    "Origin": "request",
    "Report": "document",
    "audit_document": "audit_document",
    "compare_reports": "gate",
    "make_report": "document",
    "read_report": "gate",
    "write_audit": "audit_document",
}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sureleaf.report' has no attribute {name!r}")
    home = importlib.import_module(f"sureleaf.report.{_HOME_OF[name]}")
    globals()[name] = found = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
