"""What each number of an audit means, what it assumes, and how to make it again."""

from typing import Any

from sureleaf.auditing import Audit
from sureleaf.report.findings.origin import Origin

__all__ = ["methods_section"]


def methods_section(found: Audit, origin: Origin) -> dict[str, Any]:
    """Return the section of methods.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> told = methods_section(audit(model, [[1], [3]], ["no", "yes"]), Origin("ill"))
    >>> [one["name"] for one in told["definitions"]]
    ['accuracy', 'bins', 'probability and interval', 'confidence', 'utility', 'rows needed']
    """
    told = [
        _one(
            "accuracy",
            "Share of the rows whose class is the one predicted, with Wilson's interval. It speaks "
            "of this very model, not of how it was made.",
            "rows are independent and come from where the rows of use will come",
            "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical "
            "inference. JASA 22, 209-212.",
        ),
        _one(
            "bins",
            "Rows of each predicted class are divided into bins of equal size by the probability "
            "stated for it; rows of the same probability stay together.",
            "in a bin of several stated probabilities their mean is compared, which makes the "
            "bounds a little too wide, never too narrow",
            "see docs/audit.md",
        ),
    ]
    told += _of_training_rows() if found.rows == "training" else _of_unseen_rows(found)
    return {
        "definitions": told,
        "repeat": origin.command or f"sureleaf.audit(model, X, y, rows={found.rows!r})",
    }


def _of_training_rows() -> list[dict[str, str]]:
    return [
        _one(
            "levels of training rows",
            "Probability, confidence and utility are those of the theory for these counts, as if "
            "the leaves had been there before the rows. The model was drawn around these labels, "
            "so they flatter it.",
            "that the leaves were not chosen by these rows, which is not so here",
            "Zhang, Z. et al. (2024); see docs/levels.md.",
        )
    ]


def _of_unseen_rows(found: Audit) -> list[dict[str, str]]:
    return [
        _one(
            "probability and interval",
            "Share of the predicted class among the rows, with the bounds of Clopper and Pearson; "
            "they hold the true probability in at least "
            f"{100 * found.level:g} % of all audits. What the model states agrees where it lies "
            "within them.",
            "rows of a leaf or bin are independent draws with one probability",
            "Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits. "
            "Biometrika 26, 404-413.",
        ),
        _one(
            "confidence",
            "Probability, after these counts, that the predicted class is the most probable one "
            "there. Below 50 % the rows speak for another class.",
            "Jeffreys' prior: half a row of each class before any is seen",
            "see docs/audit.md",
        ),
        _one(
            "utility",
            "Probability that the prediction of the next row there is right. Groups of few rows "
            "are drawn towards the mean of all, with the strength under which the hits are most "
            "likely; weighted by rows, utilities add up to the accuracy.",
            "hit rates of leaves or bins are beta distributed",
            "see docs/audit.md",
        ),
        _one(
            "rows needed",
            "Rows there, all told, until the wanted confidence is reached; never if another class "
            "is as frequent or the utility is too small, which counting does not change.",
            "shares stay as they are",
            "see docs/audit.md",
        ),
    ]


def _one(name: str, text: str, assumes: str, reference: str) -> dict[str, str]:
    return {"name": name, "text": text, "assumes": assumes, "reference": reference}
