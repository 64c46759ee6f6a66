"""Audits: the leaves, counts and levels of a fitted model of any library, measured on rows."""

from sureleaf.auditing.audits import Audit, AuditedBins, AuditedLeaves, AuditedTrees, audit
from sureleaf.auditing.model_files import load_model

__all__ = ["Audit", "AuditedBins", "AuditedLeaves", "AuditedTrees", "audit", "load_model"]
