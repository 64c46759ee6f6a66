"""Trees of every kind of column, and rows that lie where exports go wrong."""

import datetime

import numpy as np
import pandas as pd

from sureleaf import TreeClassifier

KINDS = [
    "a", "it's", 'say "hi"', "back\\slash", "'; DROP TABLE data; --", "zwei\nZeilen", "\u4e2d", "",
]  # fmt: skip
GRADES = ["low", "mid", "high"]
NAMES = {
    "size": 'si"ze; DROP TABLE data; --',
    "count": "count",
    "kind": "kind's \\ name",
    "grade": "gr\u00e4de",
    "member": "MEMBER",
    "plan": "plan",
    "day": "day",
    "stamp": "stamp %s {0}",
}
TYPES = {
    "size": "float",
    "count": "int",
    "kind": "text",
    "grade": "text",
    "member": "bool",
    "plan": "float",
    "day": "date",
    "stamp": "timestamp",
}
COLUMN_TYPES = {NAMES[key]: kind for key, kind in TYPES.items()}


def plain_rows(n=400, seed=0):
    """Rows as dicts of Python values, None for missing, and their classes."""
    rng = np.random.default_rng(seed)
    size, stamp = rng.normal(size=n), rng.integers(0, 10**12, n)
    kind, grade = rng.integers(0, len(KINDS), n), rng.integers(0, 3, n)
    start = datetime.datetime(2024, 1, 1)
    rows = [
        {
            "size": float(size[i]),
            "count": int(rng.integers(0, 2**40)),
            "kind": KINDS[kind[i]],
            "grade": GRADES[grade[i]],
            "member": bool(rng.random() < 0.5),
            "plan": float(rng.integers(0, 4)),  # numbers as categories
            "day": (start + datetime.timedelta(days=int(rng.integers(0, 90)))).date(),
            "stamp": start + datetime.timedelta(microseconds=int(stamp[i])),
        }
        for i in range(n)
    ]
    score = size + (kind < 3) + grade + np.array([row["plan"] == 2 for row in rows])
    score = score + (stamp > 4e11) + rng.normal(size=n)
    for i, name in enumerate(TYPES):
        for row in rows[i::11]:
            row[name] = None
    return rows, np.digitize(score, [1.0, 2.5])


def frame(rows):
    """Turn rows into the data frame that a model gets."""
    columns = {name: [row[name] for row in rows] for name in TYPES}
    found = pd.DataFrame(
        {
            "size": np.array(columns["size"], dtype=float),
            "count": pd.array(columns["count"], dtype="Int64"),
            "kind": pd.array(columns["kind"], dtype="string"),
            "grade": pd.Categorical(columns["grade"], GRADES, ordered=True),
            "member": pd.array(columns["member"], dtype="boolean"),
            "plan": pd.Categorical(np.array(columns["plan"], dtype=float)),
            "stamp": pd.array(columns["stamp"], dtype="datetime64[us]"),
        }
    )
    import pyarrow as pa

    days = pd.array(columns["day"], dtype=pd.ArrowDtype(pa.date32()))
    found.insert(6, "day", days)
    return found.rename(columns=NAMES)


def hard_rows(model, rows):
    """Rows on every threshold and next to it, with unseen, infinite and combined missing values."""
    found = [dict(row) for row in rows]
    for node in np.flatnonzero(np.isfinite(model.tree_.threshold)).tolist():
        column = model.schema_.columns[model.tree_.feature[node]]
        bound = float(model.tree_.threshold[node])
        if column.name == NAMES["size"]:
            near = [bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf)]
            found += [{**rows[node % len(rows)], "size": float(value)} for value in near]
        row, step = rows[node % len(rows)], datetime.timedelta(microseconds=1)
        if column.name == NAMES["count"]:
            found += [{**row, "count": int(np.floor(bound)) + more} for more in (0, 1)]
        if column.name == NAMES["stamp"]:
            at = datetime.datetime(1970, 1, 1) + int(bound) * step
            found += [{**row, "stamp": at + more * step} for more in (-1, 0, 1)]
    rng = np.random.default_rng(1)
    for row in rows[:60]:
        is_blank = dict(zip(TYPES, rng.random(len(TYPES)) < rng.random(), strict=True))
        found.append({name: None if is_blank[name] else row[name] for name in TYPES})
    found += [{**row, "size": value} for row in rows[:4] for value in (np.inf, -np.inf, -0.0)]
    found += [{**row, "kind": "never seen"} for row in rows[:20]]
    found += [{**row, "plan": 77.0, "size": None} for row in rows[:20]]
    return found


def rows_with_tests_for_missing_values():
    """A table whose tree asks for missing values, its classes, and new rows in both forms."""
    X = pd.DataFrame({"flag": ["t", None] * 20, "age": [1.0, np.nan, 1.0, 1.0] * 10})
    y = np.select([X["flag"].isna() & X["age"].isna(), X["flag"].isna()], [0, 1], 2)
    rows = [{"flag": flag, "age": age} for flag in ("t", None, "new") for age in (1.0, -5.0, None)]
    return X, y, rows, pd.DataFrame(rows, dtype=object).astype({"age": float})


def fitted(rows, y, **parameters):
    defaults = {"levels_from": "training", "min_samples_leaf": 3, "pruning": None}
    return TreeClassifier.c45(**{**defaults, **parameters}).fit(frame(rows), y)
