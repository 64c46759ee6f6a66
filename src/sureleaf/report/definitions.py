"""The definitions of ``definitions.toml``: what each number means, assumes, and comes from.

They are prose, so that a change of their words changes no code; the code fills in names in braces.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal


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


def leaf_terms(n_classes: int, *, at_costs: bool = False) -> LeafTerms:
    """Return what the numbers of a leaf mean."""
    tie = "one half" if n_classes == 2 else "its value in a tie with the second class"
    texts = _texts()["terms"] | (_texts()["terms_at_costs"] if at_costs else {})
    return LeafTerms(**{name: text.format(tie=tie) for name, text in texts.items()})


@cache
def _texts() -> dict[str, Any]:
    path = files("sureleaf.report").joinpath("definitions.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
