"""The definitions of ``definitions.toml``: what each number means, assumes, and comes from.

They are prose, so that a change of their words changes no code; the code fills in names in braces.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from sureleaf.model.tree_model import TreeModel
from sureleaf.probability import KeepMajority, LeafEstimate


@dataclass(frozen=True)
class Definition:
    """How a number of the report is computed."""

    name: Annotated[str, "What is defined."]
    text: Annotated[str, "How it is computed."]
    assumes: Annotated[str, "What must hold for it to be valid."]
    reference: Annotated[str, "Where it is described."]


Term = Annotated[
    str, 'The meaning of the number with this name; "stated" explains "probabilities".'
]


@dataclass(frozen=True)
class LeafTerms:
    """What each number of a leaf means, in a sentence or two."""

    counts: Term
    stated: Term
    probability: Term
    confidence: Term
    utility: Term
    rows_needed: Term
    levels: Term


def define(document: Literal["report", "audit"], name: str, **values: object) -> Definition:
    """Return a definition with the values that its text names."""
    texts = {part: text.format(**values) for part, text in _texts()[document][name].items()}
    return Definition(name, **texts)


def leaf_terms(model: TreeModel) -> LeafTerms:
    """Return what the numbers of a leaf mean, by what decides and by where levels come from."""
    source = _texts()["sources"][model.evidence.source]
    values = {
        "tie": "one half"
        if len(model.classes) == 2
        else "its value in a tie with the second class",
        "source": source["source"],
        "estimate": estimate_definition(model.leaf_estimate)["text"],
        "majority": _texts()["majority"] if isinstance(model.leaf_estimate, KeepMajority) else "",
    }
    texts = _texts()["terms"] | (_texts()["terms_at_costs"] if model.rule is not None else {})
    texts |= {name: source[name] for name in texts if name in source}
    return LeafTerms(**{name: text.format(**values) for name, text in texts.items()})


def source_definition(source: str) -> dict[str, str]:
    """Return how levels follow from the rows that they come from, and what limits them."""
    texts: dict[str, str] = _texts()["sources"][source]
    return texts


def estimate_definition(estimate: LeafEstimate) -> dict[str, str]:
    """Return what the class probabilities of a leaf are, and where that is described."""
    name = type(getattr(estimate, "estimate", estimate)).__name__
    texts = _texts()["estimates"]
    found = texts.get(name, texts["other"])
    return {part: text.format(name=name) for part, text in found.items()}


@cache
def _texts() -> dict[str, Any]:
    path = files("sureleaf.report").joinpath("definitions.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
