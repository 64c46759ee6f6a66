"""Small documents of a report, made up but of one piece: what the page is tested with."""

import random
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sureleaf.report.document import ReportDocument
from sureleaf.report.sections.data import ColumnSummary
from sureleaf.report.sections.error import Bootstrap, Curve, Extrapolation
from sureleaf.report.sections.models import ComparedModel, ModelComparison
from sureleaf.report.sections.quality import CalibrationCurve, NetBenefitCurve, RocCurve
from sureleaf.report.sections.tree import Node, TreeStability

Document = dict[str, Any]

COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "kind": "number", "categories": None, "temporal": None},
    {"name": "job", "kind": "category", "categories": ["cook", "nurse", "smith"], "temporal": None},
    {"name": "joined", "kind": "date", "categories": None, "temporal": "date"},
    {"name": "grade", "kind": "ordered", "categories": ["low", "mid", "high"], "temporal": None},
]
HOSTILE = '</script><img src=x onerror="window.broken=1">\'"&<b>\u2028{a|x}'


def made_up(kind: Any) -> Any:
    """Return a plain value of a type of the document: null where it may be null."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if NoneType in parts else made_up(parts[0])
    if origin is Literal:
        return parts[0]
    if origin in (list, tuple):
        return [made_up(parts[0])]
    if origin is dict:
        return {"made up": made_up(parts[1])}
    plain = {str: "Made up.", bool: False, int: 1, float: 0.5}
    if kind in plain:
        return plain[kind]
    return {name.rstrip("_"): made_up(one) for name, one in get_type_hints(kind).items()}


def changed(value: Document, changes: Document) -> Document:
    """Return the value with other parts, also inside parts of the same type."""
    both = {
        key: changed(value[key], one)
        for key, one in changes.items()
        if isinstance(one, dict) and one.keys() <= (value.get(key) or {}).keys()
    }
    return value | changes | both


def estimate(value: float, width: float = 0.05) -> Document:
    low, high = max(0.0, value - width), min(1.0, value + width)
    return {"value": value, "low": low, "high": high, "level": 0.95, "method": "made up"}


def tree(
    n_leaves: int,
    n_classes: int,
    seed: int = 0,
    unseen: str = "mixture",
    missing: str = "fraction",
    chain: bool = False,
) -> Document:
    """Split the largest leaf, or the last, until there are enough; some tests are by category."""
    draw = random.Random(seed)
    counts = [float(draw.randint(2 * n_leaves, 6 * n_leaves)) for _ in range(n_classes)]
    nodes = [_node(0, None, None, counts)]
    open_leaves = [0]
    while len(open_leaves) < n_leaves:
        at = open_leaves[-1] if chain else max(open_leaves, key=lambda node: nodes[node]["n"])
        open_leaves.remove(at)
        kind = len(nodes) % 3 if len(open_leaves) + 3 <= n_leaves else 0
        open_leaves += _split(nodes, at, {0: 0, 1: 1, 2: 2}[kind], draw, missing)
    for node in nodes:
        node["depth"] = _depth(nodes, node)
        if not node["children"]:
            _state(nodes, node, draw)
    leaves = [node for node in nodes if not node["children"]]
    return {
        "n_leaves": len(leaves),
        "depth": max(node["depth"] for node in nodes),
        "wanted": {"level": 0.95, "confidence": 0.95, "utility": None},
        "unseen": unseen,
        "columns": [dict(column) for column in COLUMNS],
        "stability": made_up(TreeStability) | {"text": "1 of its 2 splits returned."},
        "nodes": nodes,
        "rules": "\n".join(f"{leaf['rule']}: class {leaf['prediction']}" for leaf in leaves),
        "example_rows": [
            {
                "row": row,
                "values": [
                    None if draw.random() < 0.3 else f"{age:.4g}",
                    "nurse",
                    "2024-02-29",
                    None,
                ],
                "codes": [age, 1, 19782.0, None],
                "leaf": leaves[0]["id"],
            }
            for row, age in enumerate(draw.uniform(0, 100) for _ in range(5))
        ],
    }


def _node(place: int, parent: int | None, edge: str | None, counts: list[float]) -> Document:
    n = sum(counts)
    probabilities = [(count + 1) / (n + len(counts)) for count in counts]
    best = max(range(len(counts)), key=lambda k: (probabilities[k], -k))
    return made_up(Node) | {
        "id": place,
        "parent": parent,
        "edge": edge,
        "counts": counts,
        "n": n,
        "prediction": best,
        "probability": probabilities[best],
        "probabilities": probabilities,
        "children": [],
        "shares": [],
    }


def _split(
    nodes: list[Document], at: int, column: int, draw: random.Random, missing: str
) -> list[int]:
    parent, name = nodes[at], COLUMNS[column]["name"]
    parent["column"] = column
    if column == 1:
        parent["branch_of_category"] = [0, 1, -1]
        tests = [f"{name} = cook", f"{name} = nurse"]
    elif column == 2:
        day = draw.randint(15000, 20000)
        parent |= {"threshold": float(day), "threshold_text": f"day {day}"}
        tests = [f"{name} <= day {day}", f"{name} > day {day}"]
    else:
        value = round(draw.uniform(5, 95), 1)
        parent |= {"threshold": value, "threshold_text": f"{value}"}
        tests = [f"{name} <= {value}", f"{name} > {value}"]
    if missing == "branch":
        tests = _with_missing(nodes, parent, tests, draw)
    left = [round(count * draw.uniform(0.05, 0.95)) for count in parent["counts"]]
    parts = [
        [float(count) for count in left],
        [count - part for count, part in zip(parent["counts"], left, strict=True)],
    ]
    made = []
    for test, counts in zip(tests, parts, strict=True):
        made.append(len(nodes))
        nodes.append(_node(len(nodes), at, test, counts))
    parent["children"] = made
    parent["shares"] = [(nodes[child]["n"] or 0.0) / (parent["n"] or 1.0) for child in made]
    return made


def _with_missing(
    nodes: list[Document], parent: Document, tests: list[str], draw: random.Random
) -> list[str]:
    """Send missing values down one branch; some tests are for missing values themselves."""
    parent["missing_branch"] = draw.choice([0, 1])
    name = COLUMNS[parent["column"]]["name"]
    if draw.random() < 0.2:
        parent |= {"missing_branch": 1, "threshold": None, "threshold_text": None}
        if parent["branch_of_category"] is None:
            return [f"{name} is known", f"{name} is missing"]
        parent["branch_of_category"] = [0, 0, -1]
        return [f"{name} in {{cook, nurse}}", f"{name} is missing"]
    if _missing_arrives(nodes, parent):
        parent["missing_arrives"] = True
        tests[parent["missing_branch"]] += " or missing"
    return tests


def _missing_arrives(nodes: list[Document], node: Document) -> bool:
    """Whether all tests of the column further up send missing values here."""
    column = node["column"]
    while node["parent"] is not None:
        above = nodes[node["parent"]]
        if (
            above["column"] == column
            and above["children"].index(node["id"]) != (above["missing_branch"])
        ):
            return False
        node = above
    return True


def _rule(nodes: list[Document], leaf: Document) -> str:
    """Join the deepest test of each column and direction, by docs/report-json.md."""
    path, node = [], leaf
    while node["parent"] is not None:
        path.insert(0, (nodes[node["parent"]], node))
        node = nodes[node["parent"]]
    tests: list[str] = []
    for column in dict.fromkeys(above["column"] for above, _ in path):
        mine = [(above, node) for above, node in path if above["column"] == column]
        sides = [above["children"].index(node["id"]) for above, node in mine]
        deepest: dict[int, str] = {}
        passes = all(
            above["missing_branch"] == side for (above, _), side in zip(mine, sides, strict=True)
        )
        for (above, node), side in zip(mine, sides, strict=True):
            edge = node["edge"] if passes else node["edge"].removesuffix(" or missing")
            deepest[side if above["threshold_text"] is not None else 2] = edge
        only = [node["edge"] for _, node in mine if node["edge"].endswith(" is missing")]
        bounds = [deepest[side] for side in (1, 0) if side in deepest]
        tests += only[-1:] or bounds or [deepest[2]]
    if len(tests) > 1:
        tests = [f"({test})" if test.endswith(" or missing") else test for test in tests]
    return " and ".join(tests) or "all rows"


def _state(nodes: list[Document], leaf: Document, draw: random.Random) -> None:
    confidence = draw.uniform(0.5, 1.0)
    flagged = confidence < 0.95
    leaf |= {
        "rule": _rule(nodes, leaf),
        "low": max(0.0, leaf["probability"] - 0.1),
        "high": min(1.0, leaf["probability"] + 0.1),
        "confidence": confidence,
        "utility": leaf["probability"],
        "rows_needed": draw.choice([None, draw.randint(3, 4000)]),
        "flagged": flagged,
        "repair": "collect 12 more rows" if flagged else None,
        "recurrence": 0.8,
    }


def _depth(nodes: list[Document], node: Document) -> int:
    return 0 if node["parent"] is None else 1 + _depth(nodes, nodes[node["parent"]])


def document(
    *,
    n_leaves: int = 5,
    labels: Sequence[str] = ("no", "yes"),
    seed: int = 0,
    unseen: str = "mixture",
    missing: str = "fraction",
    chain: bool = False,
) -> Document:
    """Return a whole document with the tree and the classes asked for."""
    draw = random.Random(seed + 1)
    found = tree(n_leaves, len(labels), seed, unseen, missing, chain)
    counts = found["nodes"][0]["counts"]
    rows = sum(counts)
    for example in found["example_rows"]:
        example["truth"] = labels[0]
        for place, value in enumerate(example["values"]):
            example["codes"][place] = None if value is None else example["codes"][place]
    changes = {
        "provenance": {"date": "2026-01-02T03:04:05+00:00", "seed": seed},
        "answer": {
            "headline": "This tree predicts 80.0 % of new rows correctly.",
            "emphasis": "80.0 %",
            "lead": estimate(0.8) | {"baseline": max(counts) / rows, "ticks": [0.4, 0.6, 0.8, 1.0]},
            "accuracy": estimate(0.8),
            "baseline": max(counts) / rows,
            "sentences": [
                {
                    "topic": topic,
                    "tone": tone,
                    "short": f"In short, {topic}.",
                    "text": f"A sentence on {topic}.",
                    "see": see,
                }
                for topic, tone, see in (
                    ("good", "good", "models"),
                    ("trust", "warn", "leaves"),
                    ("next", "bad", "error"),
                )
            ],
        },
        "simplicity": {
            "sizes": [estimate(0.6 + 0.05 * size) | {"leaves": 2**size} for size in range(4)],
            "marks": [
                estimate(0.8) | {"name": "this tree", "leaves": 5},
                estimate(0.82) | {"name": "bagged trees", "leaves": None},
            ],
        },
        "data": _data(labels, counts),
        "tree": found,
        "quality": _quality(labels, draw),
        "error": _error(),
        "models": _models(),
    }
    return changed(made_up(ReportDocument), changes)


def _data(labels: Sequence[str], counts: list[float]) -> Document:
    columns = []
    for place, column in enumerate(COLUMNS):
        names = column["categories"] or []
        more = {"categories": [{"label": name, "count": 9} for name in names]}
        if not names:
            more |= {"low": "1", "high": "99", "bins": list(range(20))}
        if place < 3:
            more["importance"] = [0.5, 0.3, 0.2][place]
        known = {"name": column["name"], "kind": column["kind"], "missing": 3 * place}
        columns.append(made_up(ColumnSummary) | known | {"distinct": 30} | more)
    return {
        "source": "made-up.csv",
        "rows": int(sum(counts)),
        "rows_left_out": 2,
        "columns": columns,
        "classes": [
            {"label": label, "value": label, "count": count, "share": count / sum(counts)}
            for label, count in zip(labels, counts, strict=True)
        ],
        "warnings": [{"kind": "tiny_class", "column": None, "text": "A class is tiny."}],
    }


def _quality(labels: Sequence[str], draw: random.Random) -> Document:
    k = len(labels)
    scores: Document
    if k == 2:
        points = sorted({round(draw.random(), 4) for _ in range(40)})
        scores = {
            "kind": "binary",
            "digits": 4,
            "score": points,
            "negative": [float(draw.randint(0, round(20 * (1 - p)))) for p in points],
            "positive": [float(draw.randint(0, round(20 * p))) + 0.5 for p in points],
        }
    else:
        scores = {"kind": "classes", "digits": 4, "sampled": False, "rows": []}
        for _ in range(60):
            raw = [draw.random() ** 3 for _ in range(k)]
            probabilities = [round(x / sum(raw), 4) for x in raw]
            truth, weight = draw.randrange(k), float(draw.randint(1, 9))
            scores["rows"].append(
                {"truth": truth, "weight": weight, "probabilities": probabilities}
            )
    confusion = [[float(draw.randint(0, 40)) for _ in labels] for _ in labels]
    steps = [i / 10 for i in range(11)]
    return {
        "positive": 0,
        "labels": list(labels),
        "confusion": confusion,
        "measures": [
            {"name": "accuracy", "meaning": "share of rows", "better": "high", **estimate(0.8)}
        ],
        "by_class": [
            {"class": code, "recall": estimate(0.7), "precision": None} for code in range(k)
        ],
        "roc": made_up(RocCurve)
        | {
            "class": 0,
            "false_positive_rate": steps,
            "true_positive_rate": [x**0.5 for x in steps],
            "low": [max(0.0, x**0.5 - 0.1) for x in steps],
            "high": [min(1.0, x**0.5 + 0.1) for x in steps],
            "area": estimate(0.75),
        },
        "calibration": made_up(CalibrationCurve)
        | {
            "class": 0,
            "stated": [0.1, 0.5, 0.9],
            "observed": [0.2, 0.45, 0.8],
            "count": [30.0, 20.0, 10.0],
            "low": [0.0, 0.3, 0.7],
            "high": [0.2, 0.7, 1.0],
            "error": estimate(0.05) | {"low": None, "high": None},
            "slope": estimate(0.9),
        },
        "net_benefit": made_up(NetBenefitCurve)
        | {
            "class": 0,
            "thresholds": [0.1, 0.5, 0.9],
            "model": [0.4, 0.2, 0.0],
            "treat_all": [0.4, 0.0, -4.0],
        }
        if k == 2
        else None,
        "scores": scores,
        "cost": [[float(a != p) for p in range(k)] for a in range(k)],
        "constants": [{"label": label, "cost": 0.5} for label in labels],
        "decision": {
            "threshold": 0.5 if k == 2 else None,
            "cost_per_row": 0.2,
            "confusion": confusion,
        },
    }


def _error() -> Document:
    return {
        "cross_validation": estimate(0.2),
        "bootstrap": made_up(Bootstrap) | {"e632_plus": 0.19, "low": 0.14, "high": 0.25},
        "curve": made_up(Curve)
        | {
            "sizes": [10, 20, 40, 80],
            "values": [0.6, 0.7, 0.75, 0.78],
            "low": [0.5, 0.62, 0.7, None],
            "high": [0.7, 0.78, 0.8, None],
            "law": {"limit": 0.85, "height": 1.0, "rate": 0.6},
            "ahead": made_up(Extrapolation)
            | {"sizes": [160, 320], "values": [0.8, 0.82], "low": [0.7, 0.7], "high": [0.9, 0.95]},
        },
    }


def _models() -> Document:
    compared = made_up(ModelComparison) | {
        "difference": -0.02,
        "low": -0.05,
        "high": 0.01,
        "p_value": 0.19,
        "verdict": "undecided",
        "rows_needed": 900,
    }
    row = made_up(ComparedModel) | {"leaves": 5, "accuracy": estimate(0.8)}
    return {
        "margin": 0.01,
        "verdicts": {"undecided": "not decided"},
        "rows": [
            {**row, "kind": "this", "name": "this tree"},
            {**row, "kind": "other", "name": "bagged trees", "leaves": None}
            | {"comparison": compared},
        ],
    }


def hostile_document() -> Document:
    """Return a document whose every text tries to be markup."""
    found = document(n_leaves=6, labels=[HOSTILE, "=1+1", "@sum"])
    return _poisoned(found)


KEPT = {
    "schema",
    "measure",
    "kind",
    "tone",
    "see",
    "verdict",
    "better",
    "unseen",
    "temporal",
    "date",
    "topic",
    "emphasis",
}
"""Words of the schema, not of the data."""


def _poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _poisoned(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_poisoned(one, key) for one in value]
    if isinstance(value, str) and key not in KEPT and HOSTILE not in value:
        return f"{value}{HOSTILE}"
    return value
