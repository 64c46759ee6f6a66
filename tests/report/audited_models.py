"""Audits of models as people fit them, as documents: what the audit's page is tested with."""

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sureleaf import Audit, TrainingRowsWarning, audit
from sureleaf.report.audit_report import audit_document
from sureleaf.report.request import Origin
from tests.report.page_documents import HOSTILE

SEEN, UNSEEN = slice(0, None, 2), slice(1, None, 2)


def tree_audit(rows: str = "unseen", max_depth: int = 4) -> Audit:
    X, codes = load_breast_cancer(return_X_y=True)
    y = np.array(["bad", "good"])[codes]
    model = DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(X[SEEN], y[SEEN])
    part = SEEN if rows == "training" else UNSEEN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingRowsWarning)
        return audit(model, X[part], y[part], rows=rows)


def forest_audit(n_trees: int = 60) -> Audit:
    X, codes = load_breast_cancer(return_X_y=True)
    y = np.array(["bad", "good"])[codes]
    return audit(
        RandomForestClassifier(n_trees, random_state=0).fit(X[SEEN], y[SEEN]), X[UNSEEN], y[UNSEEN]
    )


def booster_audit() -> Audit:
    import lightgbm

    X, y = load_iris(return_X_y=True)
    model = lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1, random_state=0)
    return audit(model.fit(X[SEEN], y[SEEN]), X[UNSEEN], y[UNSEEN])


def hostile_audit() -> dict[str, Any]:
    """Return a document whose columns, classes and files would like to be markup."""
    import pandas

    X, codes = load_iris(return_X_y=True)
    frame = pandas.DataFrame(X, columns=[f"{HOSTILE}{place}" for place in range(X.shape[1])])
    y = np.array([f"{HOSTILE}a", "=1+1", "@sum"], dtype=object)[codes]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame[SEEN], y[SEEN])
    origin = Origin(HOSTILE, source=HOSTILE, title=HOSTILE, command=HOSTILE)
    found = audit(model, frame[UNSEEN], y[UNSEEN])
    return audit_document(found, origin, model_file=HOSTILE) | {"model": HOSTILE}
