"""Fitted models of other libraries, held to what rows say: leaves, counts and levels."""

from sureleaf.auditing.judging import audit
from sureleaf.auditing.loading import load_model
from sureleaf.auditing.result import Audit
from sureleaf.auditing.tables import AuditedBins, AuditedLeaves, AuditedTrees

__all__ = ["Audit", "AuditedBins", "AuditedLeaves", "AuditedTrees", "audit", "load_model"]
