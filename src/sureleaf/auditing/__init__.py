"""Audits: a fitted model of any library compared with rows, and the segments where it is wrong."""

from sureleaf.auditing.audits import (
    Audit,
    AuditedBins,
    AuditedLeaves,
    AuditedMeasures,
    AuditedTrees,
    audit,
)
from sureleaf.auditing.foreign_models import load_model
from sureleaf.auditing.where import Segments, Subgroups, Where

__all__ = [
    "Audit",
    "AuditedBins",
    "AuditedLeaves",
    "AuditedMeasures",
    "AuditedTrees",
    "Segments",
    "Subgroups",
    "Where",
    "audit",
    "load_model",
]
