"""Reports: request -> results -> typed document -> page, terminal text and gate."""

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
