"""What the user's costs make of the tree, in a sentence."""

from typing import Any

import numpy as np

from sureleaf.report.findings.plain import percent

__all__ = ["costs_sentence"]


def costs_sentence(document: dict[str, Any]) -> tuple[str, str] | None:
    """Return tone and text of the decision at the costs given; None if none were.

    Examples
    --------
    >>> classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    >>> quality = {"cost_given": True, "cost": [[0, 5], [1, 0]], "confusion": [[12, 18], [10, 60]],
    ...            "positive": 0, "decision": {"threshold": 0.131, "cost_a_row": 0.596}}
    >>> print(costs_sentence({"data": {"classes": classes}, "quality": quality})[1])
    At your costs, say bad where its probability is 13.1 % or more: 0.596 a row, against 1 for the
    most probable class and 0.7 for always saying bad.
    """
    quality, classes = document["quality"], document["data"]["classes"]
    if not quality["cost_given"]:
        return None
    cost, confusion = np.array(quality["cost"]), np.array(quality["confusion"])
    counts = np.array([one["count"] for one in classes])
    constant = counts @ cost / counts.sum()
    cheapest = int(constant.argmin())
    plain = float((cost * confusion).sum() / confusion.sum())
    best, threshold = quality["decision"]["cost_a_row"], quality["decision"]["threshold"]
    always = f"always saying {classes[cheapest]['label']}"
    if best >= constant[cheapest]:
        return "bad", (
            f"At your costs nothing is cheaper on these rows than {always}: "
            f"{constant[cheapest]:.3g} a row."
        )
    if threshold is None:
        how = "decide for the class of least expected cost"
    else:
        label = classes[quality["positive"]]["label"]
        how = f"say {label} where its probability is {percent(threshold, 1)} or more"
    return "good", (
        f"At your costs, {how}: {best:.3g} a row, against {plain:.3g} for the most probable class "
        f"and {constant[cheapest]:.3g} for {always}."
    )
