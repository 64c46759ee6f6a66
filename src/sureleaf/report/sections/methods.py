"""What each number means, what it assumes, and how to make the report again.

The definitions are prose in ``definitions.toml``, so that a change of their words changes no code;
the code fills in names in braces.
"""

import tomllib
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import numpy as np

from sureleaf.estimators import TreeClassifier
from sureleaf.folds import ENOUGH_TESTED
from sureleaf.formatting import level_percent, percent, upper_first
from sureleaf.levels.decisions import mean_error_cost
from sureleaf.model.fitting import BY_FOLDS, size_margin
from sureleaf.model.tree_model import TreeModel
from sureleaf.probability import KeepMajority, LeafEstimate
from sureleaf.report.baselines import report_tree
from sureleaf.report.request import FEWER_REFITS, Budget, budget_for
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import MeasureWords, comparison_margin, words_of
from sureleaf.tree import CRITERIA


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


@dataclass(frozen=True)
class MethodsSection:
    """The methods of the report."""

    definitions: Annotated[tuple[Definition, ...], "One per method."]
    repeat: Annotated[str, "The command that makes the report again."]
    budget: Annotated[Budget, "How often models were fitted."]


def methods_section(results: ReportResults) -> MethodsSection:
    """Describe the methods with the numbers of this report."""
    return MethodsSection(
        definitions=(*_of_the_tree(results), *_of_its_quality(results)),
        repeat=results.request.command,
        budget=results.budget,
    )


_CATEGORIES = {
    "multiway": "a test of categories has one branch per category",
    "subset": "a test of categories divides them into two groups",
}

_MISSING = {
    "branch": "Each test has learned which branch missing values take.",
    "fraction": "A row with a missing value goes down every branch, weighted by the share of the "
    "rows there.",
}


def _tree_definition(
    tree: TreeClassifier, error_cost: float | None = None, unit: str | None = None
) -> Definition:
    """Describe how the tree is grown and pruned.

    `error_cost` is what a wrong decision costs on average, if there are costs in a `unit`.
    """
    given_up = size_margin(tree.margin, tree.max_leaves)
    margin = f"{given_up:g}"
    if tree.cost is not None and error_cost is not None and given_up > 0:
        per_row = MeasureWords("cost", unit).margin(given_up * error_cost)
        margin += (
            f" of what a wrong decision costs on average, so {per_row} (models are compared with a "
            "margin of their own, see below)"
        )
    limit = "" if tree.max_leaves is None else f" with at most {tree.max_leaves:,} leaves"
    chosen = (
        f"the smallest tree{limit} that is not worse than the best by more than {margin}"
        if given_up > 0
        else f"the best tree{limit}"
    )
    pruning = {
        None: "It is not pruned.",
        "auto": f"Its size is chosen by cross-validation: {chosen}.",
        "pessimistic": f"Pessimistic pruning (factor {tree.confidence_factor:g}).",
    }
    other = f"Pruned by {str(tree.pruning).replace('_', ' ')}."
    is_c45 = tree.criterion == "gain_ratio" and tree.pruning == "pessimistic"
    return Definition(
        "tree",
        f"{'A C4.5 tree' if is_c45 else 'A decision tree'}: splits by "
        f"{CRITERIA[tree.criterion].title}, and {_CATEGORIES[tree.categorical_split]}. "
        f"{_MISSING[tree.missing]} {pruning.get(tree.pruning, other)}",
        "nothing about the distributions of the columns",
        "Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann."
        if is_c45
        else "Breiman, L., Friedman, J. H., Olshen, R. A., Stone, C. J. (1984). Classification and "
        "Regression Trees. Wadsworth.",
    )


def _large_table(n_rows: int, what: str) -> str:
    """Say that not all folds are tested, if that is so."""
    if n_rows <= ENOUGH_TESTED:
        return ""
    return (
        f" The table is large, so not all folds test {what}: only as many as together hold "
        f"{ENOUGH_TESTED:,} of the {n_rows:,} rows."
    )


def _of_the_tree(results: ReportResults) -> tuple[Definition, ...]:
    budget, tree, model = results.budget, report_tree(results.request), results.model
    cost = None
    if results.request.cost is not None:
        cost = mean_error_cost(np.asarray(results.request.cost, float), results.class_counts)
    defined = _tree_definition(tree, cost, results.request.unit)
    if tree.pruning == "auto":
        defined = replace(defined, text=defined.text + _large_table(results.n_rows, "the sizes"))
    how = _texts()["sources"][model.evidence.source]
    levels = {
        "source": f"{results.leaves.source_note()}{_large_table(results.n_rows, 'the leaves')}",
        "method": how["method"],
        "at_costs": "",
        "result": "The result is the utility. Probability and confidence follow from the utility "
        "and the number of rows by the theory.",
    } | {name: text for name, text in how.items() if name == "result"}
    if model.rule is not None:
        levels["at_costs"] = (
            "Here, the accuracy of a leaf is the share of its unseen rows that are of the class it "
            "decides for, and each decision has its own curve. "
        )
        levels["result"] = (
            "The result is the probability. Confidence and utility follow from it, the number of "
            "rows and the costs."
        )
    repeats = f", {budget.repeats} times with different folds" if budget.repeats > 1 else ""
    terms = " ".join(
        f"{_TERMS.get(name, name.capitalize())}: {text[0].lower()}{text[1:]}"
        for name, text in asdict(leaf_terms(model)).items()
    )
    reference = estimate_definition(model.leaf_estimate)["reference"]
    return (
        defined,
        define("report", "accuracy and other measures", folds=budget.folds, repeats=repeats),
        define("report", "confidence and utility of a leaf", **levels),
        define("report", "known limits of these levels", limits=how["limits"]),
        define("report", "numbers of a leaf", terms=terms, estimate=reference),
    )


def _of_its_quality(results: ReportResults) -> tuple[Definition, ...]:
    budget, words = results.budget, words_of(results)
    curve = {"up_to": "", "repeats": budget.curve_repeats}
    if results.n_rows * 2 // 3 > budget.curve_rows:
        curve["up_to"] = f" of up to {budget.curve_rows:,} rows, because the table is large"
    margin = f"{words.margin(comparison_margin(results))}{_share_of_errors(results)}"
    error, fewer = level_percent(1 - results.request.level), _fewer_samples(results)
    return (
        define("report", "ROC curve", draws=budget.band_draws),
        define("report", "calibration"),
        define("report", "decisions when errors have different costs"),
        define("report", ".632+ error", samples=budget.bootstraps or "No", fewer=fewer),
        define("report", "learning curve", measure=upper_first(words.name), **curve),
        define("report", "price of simplicity"),
        define("report", "comparison of models", measure=words.name, margin=margin, error=error),
        define("report", "warnings about leaks"),
    )


def _fewer_samples(results: ReportResults) -> str:
    """Say that there are fewer bootstrap samples because each fit chooses a size, if that is so."""
    is_resized = results.request.budget is None and report_tree(results.request).pruning in BY_FOLDS
    most = budget_for(results.n_rows, results.n_rows).bootstraps
    if not is_resized or results.budget.bootstraps >= most:
        return ""
    return (
        f" Every fit chooses the size of its tree by cross-validation, so there are "
        f"{FEWER_REFITS} times fewer samples than for trees of a fixed size."
    )


def _share_of_errors(results: ReportResults) -> str:
    """Say which share of the baseline's errors a margin at costs is."""
    margin = results.request.margin
    if results.measure != "cost" or margin <= 0:
        return ""
    counts = results.class_counts
    share = percent(margin / (1 - float(counts.max() / counts.sum())))
    return (
        f". That is {share} of what the errors of the cheapest constant decision cost, just as a "
        f"margin of {margin:.2g} in accuracy is {share} of the error of always predicting the "
        "most frequent class"
    )


_TERMS = {
    "stated": "Predicted probabilities",
    "rows_needed": "Rows needed",
    "levels": "Confidence and utility of the tree",
}
