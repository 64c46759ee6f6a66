"""An audit's document: its numbers, what they say in sentences, and what they mean."""

from os import PathLike
from typing import Any

import numpy as np

from sureleaf.auditing import Audit
from sureleaf.report.audited.answer import answer_section
from sureleaf.report.audited.methods import methods_section
from sureleaf.report.findings.made import made_section
from sureleaf.report.findings.origin import Origin
from sureleaf.writing import atomic_write

__all__ = ["audit_document", "write_audit"]


def audit_document(
    found: Audit, origin: Origin, *, model_file: str | None = None
) -> dict[str, Any]:
    """Return everything about an audit, as docs/audit.md describes it.

    Parameters
    ----------
    found : Audit
    origin : Origin
        Where the rows come from.
    model_file : str, optional
        Name of the file that the model was loaded from.

    Returns
    -------
    dict
        ``found.to_dict()`` with the answer, the data, the confusion matrix and the methods.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> document = audit_document(found, Origin("ill"))
    >>> document["schema"], document["confusion"]
    ('sureleaf-audit/1', [[25.0, 0.0], [1.0, 24.0]])
    >>> document["answer"]["headline"].split(" ill ")[1]
    '98 times in 100 (95 % interval 90 to 99.6).'
    """
    document = found.to_dict()
    document["made"] = made_section(origin)
    document["data"] = _data(found, origin, model_file)
    document["confusion"] = _confusion(found)
    document["notes"] = found.notes()
    document["methods"] = methods_section(found, origin)
    document["answer"] = answer_section(document)
    return document


def write_audit(document: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write the page of an audit's document, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> write_audit(audit_document(audit(model, [[1], [3]], ["no", "yes"]), Origin("ill")), page)
    >>> "GaussianNB" in page.read_text(encoding="utf-8")
    True
    """
    from sureleaf.report.page import render_audit

    page = render_audit(document)
    with atomic_write(path) as file:
        file.write(page.encode())


def _data(found: Audit, origin: Origin, model_file: str | None) -> dict[str, Any]:
    counts = found.bins.counts.sum(axis=0)
    return {
        "source": origin.source,
        "target": origin.target,
        "title": origin.title,
        "model_file": model_file,
        "rows": found.n_rows,
        "rows_left_out": origin.rows_left_out,
        "columns_left_out": list(origin.columns_left_out),
        "classes": [
            {"label": str(label), "count": float(count), "share": float(count / counts.sum())}
            for label, count in zip(found.classes.tolist(), counts, strict=True)
        ],
    }


def _confusion(found: Audit) -> list[list[float]]:
    """Count actual classes by predicted ones: every bin has one prediction."""
    place = {label: code for code, label in enumerate(found.classes.tolist())}
    table = np.zeros((len(place), len(place)))
    for prediction, counts in zip(found.bins.prediction.tolist(), found.bins.counts, strict=True):
        table[:, place[prediction]] += counts
    rows: list[list[float]] = table.tolist()
    return rows
