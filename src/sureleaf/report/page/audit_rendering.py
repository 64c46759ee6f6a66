"""An audit's document to a page of HTML."""

from collections.abc import Mapping, Sequence
from typing import Any

from sureleaf.report.page import assets
from sureleaf.report.page.embedding import embedded_json, packed
from sureleaf.report.page.rendering import check_schema, draw

__all__ = ["render_audit"]

AUDIT_SCHEMA = "sureleaf-audit/1"
MOST_LEAVES = 500
"""A forest may have hundreds of thousands: those with the most rows are drawn."""

_SHARED = (
    "class",
    "n",
    "counts",
    "stated",
    "agrees",
    "probability",
    "low",
    "high",
    "confidence",
    "utility",
    "rows_needed",
    "flagged",
)
_NAMES = {
    "answer": "The answer",
    "data": "The rows",
    "leaves": "The leaves",
    "bins": "What it states",
    "trees": "The trees",
    "methods": "Methods",
}


def render_audit(document: Mapping[str, Any]) -> str:
    """Return an audit as one HTML file that needs nothing else.

    Parameters
    ----------
    document : mapping
        As docs/audit.md describes it.

    Returns
    -------
    str
        The page; of more than 500 leaves, those with the most rows.

    Raises
    ------
    InvalidArgumentError
        If the document is of another schema.

    Examples
    --------
    >>> render_audit({"schema": "sureleaf-report/1"})
    Traceback (most recent call last):
        ...
    sureleaf.errors.InvalidArgumentError: the document's schema must be 'sureleaf-audit/1'; got \
'sureleaf-report/1'. Make the audit again with this version of Sureleaf.
    """
    check_schema(document, AUDIT_SCHEMA, "audit")
    place = {label: code for code, label in enumerate(document["classes"])}
    leaves, trees = document["leaves"], document["trees"]
    judged_by = "bins" if leaves is None or trees is not None else "leaves"
    shown_leaves = None if leaves is None else _placed(_largest(leaves), place)
    shown_bins = _placed(document["bins"], place)
    embedded = {
        "data": {"classes": [{"label": one["label"]} for one in document["data"]["classes"]]},
        "bins": packed(shown_bins, ("stated_from", "stated_to", *_SHARED)),
        "leaves": None,
        "trees": None if trees is None else packed(trees, trees[0].keys()),
    }
    if shown_leaves is not None:
        first = ("leaf",) if trees is None else ("tree", "leaf")
        embedded["leaves"] = packed(shown_leaves, (*first, *_SHARED))
    return draw(
        "audit.html.jinja",
        document,
        embedded=embedded_json(embedded),
        script=assets.script(assets.AUDIT_SCRIPTS),
        sections=_sections(judged_by, leaves is not None),
        labels=[one["label"] for one in document["data"]["classes"]],
        judged_by=judged_by,
        flagged=sum(one["flagged"] for one in document[judged_by]),
        shown_leaves=shown_leaves,
        shown_bins=shown_bins,
    )


def _sections(judged_by: str, has_leaves: bool) -> list[tuple[str, str]]:
    middle = ["bins", "trees", "leaves"] if has_leaves else ["bins"]
    if judged_by == "leaves":
        middle = ["leaves", "bins"]
    return [(id_, _NAMES[id_]) for id_ in ("answer", "data", *middle, "methods")]


def _largest(leaves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the leaves with the most rows, in the order of all."""
    if len(leaves) <= MOST_LEAVES:
        return list(leaves)
    order = sorted(range(len(leaves)), key=lambda at: -float(leaves[at]["n"]))
    return [leaves[at] for at in sorted(order[:MOST_LEAVES])]


def _placed(records: Sequence[dict[str, Any]], place: Mapping[Any, int]) -> list[dict[str, Any]]:
    return [record | {"class": place[record["prediction"]]} for record in records]
