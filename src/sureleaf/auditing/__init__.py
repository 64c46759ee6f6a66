"""Fitted models of other libraries, held to what rows say: leaves, counts and levels."""

from sureleaf.auditing.audits import Audit, audit
from sureleaf.auditing.loading import load_model
from sureleaf.auditing.model_columns import AuditedBins, AuditedLeaves, AuditedTrees

__all__ = ["Audit", "AuditedBins", "AuditedLeaves", "AuditedTrees", "audit", "load_model"]
