"""An audit as a document (docs/audit.md) and as a page drawn from that and nothing else.

==============  ==========================================================
document.py     an audit -> its document
answer.py       what the rows say about the model, in sentences
methods.py      what each number means and assumes
==============  ==========================================================
"""

from sureleaf.report.audited.document import audit_document, write_audit
from sureleaf.report.findings.origin import Origin

__all__ = ["Origin", "audit_document", "write_audit"]
