"""What the user's costs make of the tree, in a sentence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.report.findings.decision import theoretical_threshold
from sureleaf.report.findings.plain import listed, percent

__all__ = ["costs_sentence"]

NEARLY_ALL = 0.95


def costs_sentence(document: dict[str, Any]) -> tuple[str, str] | None:
    """Return tone and text of the decision at the costs given; None if none were.

    Examples
    --------
    >>> classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    >>> decision = {"threshold": 0.131, "cost_a_row": 0.45, "confusion": [[28, 2], [35, 35]]}
    >>> quality = {"cost_given": True, "cost": [[0, 5], [1, 0]], "confusion": [[12, 18], [10, 60]],
    ...            "positive": 0, "decision": decision,
    ...            "measures": [{"name": "decided_cost", "value": 0.47}]}
    >>> document = {"data": {"classes": classes}, "tree": {"n_leaves": 9}, "quality": quality}
    >>> print(costs_sentence(document)[1])
    At your costs (a bad called good costs 5, a good called bad 1), say bad where its probability is
    13.1 % or more: a mean cost of 0.45 a row, chosen on these rows (0.47 at 16.7 %, the threshold
    that the costs imply), against 1 when the most probable class is named and 0.7 when bad is
    always said.
    """
    quality, classes = document["quality"], document["data"]["classes"]
    if not quality["cost_given"]:
        return None
    cost, confusion = np.array(quality["cost"]), np.array(quality["confusion"])
    counts = np.array([one["count"] for one in classes])
    labels = [one["label"] for one in classes]
    constant = counts @ cost / counts.sum()
    cheapest = int(constant.argmin())
    plain = float((cost * confusion).sum() / confusion.sum())
    best, threshold = quality["decision"]["cost_a_row"], quality["decision"]["threshold"]
    start = f"At your costs{_meaning(cost, labels)}"
    end = " A cost below 0 is counted as a gain." if (cost < 0).any() else ""
    always = f"{constant[cheapest]:.3g}"
    if document["tree"]["n_leaves"] == 1:
        return "bad", (
            f"{start}, always say {labels[cheapest]}, a mean cost of {always} a row: this tree "
            f"tells no row from another.{end}"
        )
    if best >= constant[cheapest] or f"{best:.3g}" == always:
        return "bad", (
            f"{start}, nothing is cheaper on these rows than always saying {labels[cheapest]}: a "
            f"mean cost of {always} a row.{end}"
        )
    if threshold is None:
        how = "decide for the class of least expected cost"
    else:
        label = labels[quality["positive"]]
        how = f"say {label} where its probability is {percent(threshold, 1)} or more"
    untuned = _untuned(quality, cost, f"{best:.3g}")
    called = np.array(quality["decision"]["confusion"]).sum(axis=0)
    most, share = int(called.argmax()), float(called.max() / called.sum())
    if share >= NEARLY_ALL:
        end = f" That calls {percent(share, 1)} of the rows {labels[most]}.{end}"
    return "warn" if share >= NEARLY_ALL else "good", (
        f"{start}, {how}: a mean cost of {best:.3g} a row{untuned}, against {plain:.3g} when the "
        f"most probable class is named and {always} when {labels[cheapest]} is always said.{end}"
    )


def _untuned(quality: dict[str, Any], cost: NDArray[np.float64], best: str) -> str:
    """Say what the threshold costs that was not chosen on the rows it is priced on."""
    implied = theoretical_threshold(cost, quality["positive"]) if len(cost) == 2 else None
    found = [one["value"] for one in quality["measures"] if one["name"] == "decided_cost"]
    if implied is None or not found or f"{found[0]:.3g}" == best:
        return ""
    return (
        f", chosen on these rows ({found[0]:.3g} at {percent(implied, 1)}, the threshold that the "
        "costs imply)"
    )


def _meaning(cost: NDArray[np.float64], labels: list[str]) -> str:
    """Of two classes, what each error costs; a right answer where that is not free."""
    if len(labels) != 2 or cost.shape != (2, 2):
        return ""
    cells = [(0, 1), (1, 0), *((code, code) for code in (0, 1) if cost[code, code] != 0)]
    told = [
        f"a {labels[actual]} called {labels[said]} {'costs ' if not place else ''}"
        f"{cost[actual, said]:.6g}"
        for place, (actual, said) in enumerate(cells)
    ]
    return f" ({', '.join(told) if len(told) == 2 else listed(told)})"
