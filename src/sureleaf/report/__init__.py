"""Reports: request -> results -> typed document -> page, terminal text and gate.

Names are imported when first used: a command that needs one file does not load the others.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureleaf.report.audit_report import audit_document, write_audit
    from sureleaf.report.document import ReportDocument, json_schema
    from sureleaf.report.gate import compare_reports, read_report
    from sureleaf.report.report import Report, make_report
    from sureleaf.report.request import Budget, Origin

__all__ = [
    "Budget",
    "Origin",
    "Report",
    "ReportDocument",
    "audit_document",
    "compare_reports",
    "json_schema",
    "make_report",
    "read_report",
    "write_audit",
]

_MODULE_OF = {
    "Budget": "request",
    "Origin": "request",
    "Report": "report",
    "ReportDocument": "document",
    "audit_document": "audit_report",
    "compare_reports": "gate",
    "json_schema": "document",
    "make_report": "report",
    "read_report": "gate",
    "write_audit": "audit_report",
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sureleaf.report' has no attribute {name!r}")
    module = importlib.import_module(f"sureleaf.report.{_MODULE_OF[name]}")
    globals()[name] = value = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
