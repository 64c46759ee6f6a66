"""Section 8: what each number means, what it assumes, and how to make it again."""

from typing import Any

from sureleaf.report.request import Origin
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.tree import leaf_terms

__all__ = ["methods_section"]


def methods_section(found: ReportResults, origin: Origin) -> dict[str, Any]:
    """Return the section of methods.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
    >>> report.to_dict()["methods"]["definitions"][0]["name"]
    'tree'
    """
    effort = found.effort
    repeats = f", {effort.repeats} times with other folds" if effort.repeats > 1 else ""
    return {
        "definitions": [
            _one(
                "tree",
                "C4.5's tree: splits by gain ratio, one branch a category, at least two rows in "
                "two branches, pessimistic pruning (factor 0.25). A row with a missing "
                "value goes down every branch with the share of the rows there.",
                "nothing about how columns are distributed",
                "Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.",
            ),
            _one(
                "accuracy and other measures",
                f"The rows are divided into {effort.folds} parts of equal class shares{repeats}; "
                "each part is predicted by a tree grown on the others. The interval is the "
                "corrected resampled t: it speaks of trees grown this way on other samples. The "
                "tree's utility speaks of this very tree, leaf by leaf, so it differs a little.",
                "rows (or groups) are independent and come from where the rows of use will come; "
                "folds overlap in training rows, which the correction allows for approximately",
                "Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine "
                "Learning 52, 239-281.",
            ),
            _one(
                "confidence and utility of a leaf",
                f"{found.leaves.notes()[0]} A "
                "curve tells how often leaves that look alike are right; to it the leaf's own hits "
                "are added, and all rates are shifted so that together they state the accuracy "
                "corrected for the fewer rows of those trees. That is the utility; the probability "
                "and the confidence that go with it at so many rows follow from the theory.",
                "rows of a leaf are independent draws with one probability",
                "Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats "
                "7, 1209-1225.",
            ),
            _one(
                "figures of a leaf",
                _figures(len(found.labels)),
                "rows of use come from where these rows came",
                "as above; stated probabilities: Buntine, W. (1992). Learning classification "
                "trees. Statistics and Computing 2, 63-73.",
            ),
            _one(
                "ROC curve",
                "Share of the positive rows found against share of the other rows called positive, "
                "over all thresholds of the cross-validated probabilities. Band: percentiles over "
                f"{effort.band_draws} bootstraps of the rows at each false positive rate, never "
                "narrower than Wilson's interval; it holds for each point, not for the whole curve "
                "at once, and speaks of the trees that were fitted.",
                "rows (or groups) are independent",
                "Macskassy, S., Provost, F. (2004). Confidence bands for ROC curves. ROCAI.",
            ),
            _one(
                "calibration",
                "Rows in up to ten ranges of stated probability: what was stated against what "
                "happened. Band: where the share would lie if the stated probabilities were right.",
                "rows are independent",
                "Broecker, J., Smith, L. A. (2007). Increasing the reliability of reliability "
                "diagrams. Weather and Forecasting 22, 651-661.",
            ),
            _one(
                "decision under costs",
                "Two classes: the threshold of least mean cost among the stated probabilities. "
                "More classes: the class of least expected cost. Probabilities are rounded to "
                "4 digits. The threshold is chosen and priced on the same predictions, so its cost "
                "is a little too low.",
                "costs are right and class shares in use are those of these rows",
                "Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI.",
            ),
            _one(
                ".632+ error",
                f"{effort.bootstraps} bootstraps of the rows: the error of rows that a bootstrap "
                "left out, corrected for its smaller training part, and for overfitting.",
                "rows are independent; not computed for rows in groups",
                "Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ "
                "bootstrap method. JASA 92, 548-560.",
            ),
            _one(
                "learning curve",
                f"Accuracy on a held-out third against growing training samples, "
                f"{effort.curve_repeats} times; a power law is fitted and carried on. Intervals "
                "ahead hold what the fit leaves open.",
                "the law goes on to hold: the further ahead, the less sure",
                "Provost, F., Jensen, D., Oates, T. (1999). Efficient progressive sampling. KDD.",
            ),
            _one(
                "comparison of models",
                "All models are judged by the same folds; differences of accuracy fold by fold "
                f"give the corrected resampled t interval. Margin {found.asked.margin:.2g}: better "
                "and worse mean that the whole interval lies beyond the margin, equivalent that "
                "it lies within.",
                "as for accuracy; each verdict by itself is wrong in at most "
                f"{100 * (1 - found.asked.level):.3g} of 100 comparisons",
                "Nadeau, C., Bengio, Y. (2003); Schuirmann, D. J. (1987). J. Pharmacokinetics and "
                "Biopharmaceutics 15, 657-680.",
            ),
            _one(
                "warnings about leaks",
                "A tree on one column alone, cross-validated in three parts; a warning from 99 % "
                "right on, where the error is at most a tenth of the majority class's.",
                "a column may be that good honestly: the warning asks, it does not judge",
                "Kaufman, S. et al. (2012). Leakage in data mining. ACM TKDD 6 (4).",
            ),
        ],
        "repeat": origin.command or f"make_report(X, y, seed={found.asked.seed})",
        "effort": {
            "folds": effort.folds,
            "repeats": effort.repeats,
            "bootstraps": effort.bootstraps,
            "curve_repeats": effort.curve_repeats,
            "band_draws": effort.band_draws,
        },
    }


def _figures(n_classes: int) -> str:
    names = {"rows_needed": "rows needed", "levels": "confidence and utility of the tree"}
    terms = leaf_terms(n_classes).items()
    return " ".join(f"{names.get(name, name).capitalize()}: {_lower(text)}" for name, text in terms)


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _one(name: str, text: str, assumes: str, reference: str) -> dict[str, str]:
    return {"name": name, "text": text, "assumes": assumes, "reference": reference}
