"""What each number means, what it assumes, and how to make the report again."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated

import numpy as np

from sureleaf.estimators import TreeClassifier
from sureleaf.folds import ENOUGH_TESTED
from sureleaf.formatting import level_percent, percent, upper_first
from sureleaf.model.fitting import BY_FOLDS, size_margin
from sureleaf.report.baselines import report_tree
from sureleaf.report.request import FEWER_REFITS, Budget, budget_for
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.models import comparison_margin, words_of
from sureleaf.report.sections.tree import leaf_terms

__all__ = ["Definition", "MethodsSection", "methods_section"]


@dataclass(frozen=True)
class Definition:
    """How a number of the report is computed."""

    name: Annotated[str, "What is defined."]
    text: Annotated[str, "How it is computed."]
    assumes: Annotated[str, "What must hold for it to be valid."]
    reference: Annotated[str, "Where it is described."]


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


_CRITERIA = {"gain_ratio": "gain ratio", "entropy": "entropy", "gini": "the Gini index"}

_CATEGORIES = {
    "multiway": "a test of categories has one branch per category",
    "subset": "a test of categories divides them into two groups",
}

_MISSING = {
    "branch": "Every test has learned which branch missing values take.",
    "fraction": "A row with a missing value goes down every branch, weighted by the share of the "
    "rows there.",
}


def _tree_definition(tree: TreeClassifier, mean_error_cost: float | None = None) -> Definition:
    """Describe how the tree is grown and pruned.

    `mean_error_cost` is what a wrong decision costs on average, if there are costs.
    """
    given_up = size_margin(tree.margin, tree.max_leaves)
    margin = f"{given_up:g}"
    if tree.cost is not None and mean_error_cost is not None and given_up > 0:
        margin += (
            f" of what a wrong decision costs on average, so {given_up * mean_error_cost:.2g} "
            "per row (models are compared with a margin of their own, see below)"
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
        f"{_CRITERIA[tree.criterion]}, and {_CATEGORIES[tree.categorical_split]}. "
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


def _mean_error_cost(results: ReportResults) -> float | None:
    """Return what wrong decisions cost per row on average, as `size_selection` counts them."""
    if results.request.cost is None:
        return None
    cost = np.asarray(results.request.cost, dtype=np.float64)
    counts = np.bincount(results.evaluation.truth, results.row_weights, minlength=len(cost))
    regret = (cost - np.diag(cost)[:, np.newaxis]).sum(axis=1) / (len(cost) - 1)
    return float(counts @ regret / counts.sum())


def _of_the_tree(results: ReportResults) -> tuple[Definition, ...]:
    budget, tree = results.budget, report_tree(results.request)
    defined = _tree_definition(tree, _mean_error_cost(results))
    if tree.pruning == "auto":
        defined = replace(defined, text=defined.text + _large_table(results.n_rows, "the sizes"))
    at_costs, result = (
        "",
        (
            "The result is the utility. Probability and confidence follow from the utility and the "
            "number of rows by the theory."
        ),
    )
    if results.model.rule is not None:
        at_costs = (
            "The accuracy of a leaf is here the share of unseen rows of the class that it decides "
            "for, and each decision has its own curve. "
        )
        result = (
            "The result is the probability. Confidence and utility follow from it, the number of "
            "rows and the costs."
        )
    repeats = f", {budget.repeats} times with different folds" if budget.repeats > 1 else ""
    return (
        defined,
        Definition(
            "accuracy and other measures",
            f"Rows are divided into {budget.folds} folds with equal class proportions{repeats}. "
            "Each fold is predicted by a tree grown on the others. The interval is the corrected "
            "resampled t interval. It is about trees grown in this way on other samples; the "
            "utility of the tree is about this very tree, so the two differ a little.",
            "rows (or groups) are independent, and future rows come from the same population; "
            "training folds overlap, which the correction takes into account approximately",
            "Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine "
            "Learning 52, 239-281.",
        ),
        Definition(
            "confidence and utility of a leaf",
            f"{results.leaves.source_note()}{_large_table(results.n_rows, 'the leaves')} "
            f"{at_costs}A regression over the leaves of trees grown without a fold gives the "
            "accuracy of leaves of the same purity and size; how probable those trees make the "
            "class of the leaf for its own rows is averaged with it. All leaves are then shifted "
            "alike, so that together they give the accuracy of the tree. "
            f"{result}",
            "rows in a leaf are independent draws with one probability",
            "Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats "
            "7, 1209-1225.",
        ),
        Definition(
            "known limits of these levels",
            "A leaf with few rows gets the accuracy of leaves like it. If no column is related to "
            "the class, utility is a little too high, because one of two equally probable classes "
            "is always ahead in a sample; so it is with many missing values. Confidence is right "
            "over many tables together, not in each: it is too high where trees differ a lot from "
            "fold to fold. Duplicated rows in different folds make all figures too high.",
            "measured on simulated populations: docs/promises.md",
            "docs/levels.md, section Known limits",
        ),
        Definition(
            "numbers of a leaf",
            _leaf_numbers(len(results.labels), at_costs=results.model.rule is not None),
            "future rows come from the same population as these rows",
            "as above; predicted probabilities: Buntine, W. (1992). Learning classification "
            "trees. Statistics and Computing 2, 63-73.",
        ),
    )


def _of_its_quality(results: ReportResults) -> tuple[Definition, ...]:
    budget, words = results.budget, words_of(results)
    up_to = ""
    if results.n_rows * 2 // 3 > budget.curve_rows:
        up_to = f" of up to {budget.curve_rows:,} rows, because the table is large"
    return (
        Definition(
            "ROC curve",
            "Share of the positive rows that are found against share of the other rows that are "
            "wrongly predicted positive, over all thresholds of the out-of-fold probabilities. "
            f"Band: percentiles over {budget.band_draws} bootstrap samples of the rows at each "
            "false positive rate, never narrower than the Clopper-Pearson interval. It holds for "
            "each point, not for the whole curve at once, and is about the trees that were fitted.",
            "rows (or groups) are independent",
            "Macskassy, S., Provost, F. (2004). Confidence bands for ROC curves. ROCAI.",
        ),
        _CALIBRATION,
        _DECISIONS_AT_COSTS,
        Definition(
            ".632+ error",
            f"{budget.bootstraps or 'No'} bootstrap samples of the rows: the error on the rows "
            "that a sample left out, corrected for its smaller training set and for overfitting."
            f"{_fewer_samples(results)}",
            "rows are independent; not computed for rows in groups",
            "Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ "
            "bootstrap method. JASA 92, 548-560.",
        ),
        Definition(
            "learning curve",
            f"{upper_first(words.name)} on a held-out third of the rows for growing "
            f"training sets{up_to}, {budget.curve_repeats} times. A power law is fitted and "
            "extrapolated; the intervals "
            "of the extrapolation show the uncertainty of the fit.",
            "the power law continues to hold; the further ahead, the less certain",
            "Provost, F., Jensen, D., Oates, T. (1999). Efficient progressive sampling. KDD.",
        ),
        _PRICE,
        Definition(
            "comparison of models",
            f"All models are evaluated over the same folds. Their differences in {words.name}, "
            "fold by fold, give the corrected resampled t interval. The margin is "
            f"{words.margin(comparison_margin(results))}{_share_of_errors(results)}. "
            "Better and worse mean that the whole interval lies beyond the margin, equivalent "
            "that it lies within.",
            "as for accuracy; each verdict alone is wrong in at most "
            f"{level_percent(1 - results.request.level)} of such comparisons",
            "Nadeau, C., Bengio, Y. (2003); Schuirmann, D. J. (1987). J. Pharmacokinetics and "
            "Biopharmaceutics 15, 657-680.",
        ),
        _LEAKS,
    )


def _fewer_samples(results: ReportResults) -> str:
    """Say that there are fewer bootstrap samples because each fit chooses a size, if that is so."""
    is_resized = results.request.budget is None and report_tree(results.request).pruning in BY_FOLDS
    most = budget_for(results.n_rows, results.n_rows).bootstraps
    if not is_resized or results.budget.bootstraps >= most:
        return ""
    return (
        f" Every fit chooses the size of its tree by cross-validation, so there are "
        f"{FEWER_REFITS} times fewer samples than for a tree of fixed size."
    )


def _share_of_errors(results: ReportResults) -> str:
    """Say which share of the baseline's errors a margin at costs is."""
    margin = results.request.margin
    if results.measure != "cost" or margin <= 0:
        return ""
    shares = np.bincount(results.evaluation.truth, results.row_weights)
    share = percent(margin / (1 - float(shares.max() / shares.sum())))
    return (
        f". That is {share} of what the errors of the cheapest constant decision cost, just as a "
        f"margin of {margin:.2g} in accuracy is {share} of the error of always predicting the "
        "most frequent class"
    )


_CALIBRATION = Definition(
    "calibration",
    "Rows in up to ten bins by predicted probability: the mean prediction compared with "
    "the observed share. Band: where that share would lie if the predicted probabilities "
    "were correct.",
    "rows are independent",
    "Broecker, J., Smith, L. A. (2007). Increasing the reliability of reliability "
    "diagrams. Weather and Forecasting 22, 651-661.",
)

_DECISIONS_AT_COSTS = Definition(
    "decisions when errors have different costs",
    "The cost that the report leads with is that of the decisions of least expected cost "
    "by the predicted probabilities; nothing is tuned. The table with thresholds is "
    "different: of two classes it takes the threshold with the least mean cost on these "
    "predictions, so its cost is a little too low. Probabilities are rounded to 4 digits "
    "there.",
    "the costs are right, and future rows have the class proportions of these rows",
    "Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI.",
)

_PRICE = Definition(
    "price of simplicity",
    "In each fold one large tree is grown on the other folds. For each size, the best tree "
    "with at most so many leaves is pruned from it, chosen by cross-validation of the "
    "other folds, and predicts the fold: what max_leaves gives. The size of the tree of "
    "the report, and that with margin 0, are chosen in the same way.",
    "as for accuracy; each interval holds for one size",
    "Breiman, L. et al. (1984). Classification and Regression Trees, chapter 3.",
)

_LEAKS = Definition(
    "warnings about leaks",
    "A tree on one column alone, evaluated with three folds. There is a warning if its "
    "accuracy is at least 99 % and its error at most a tenth of the baseline's.",
    "a column may rightly be that good: the warning is a question, not a verdict",
    "Kaufman, S. et al. (2012). Leakage in data mining. ACM TKDD 6 (4).",
)


def _leaf_numbers(n_classes: int, *, at_costs: bool) -> str:
    names = {
        "stated": "Predicted probabilities",
        "rows_needed": "Rows needed",
        "levels": "Confidence and utility of the tree",
    }
    return " ".join(
        f"{names.get(name, name.capitalize())}: {text[0].lower()}{text[1:]}"
        for name, text in asdict(leaf_terms(n_classes, at_costs=at_costs)).items()
    )
