"""A tree as an ONNX model, if ONNX can represent the tree."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import sureleaf
from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.exports.tree_view import TreeView, label_texts, view_tree
from sureleaf.levels.decisions import TIE

_LESS_OR_EQUAL: Final = 0
_SUM: Final = 1
_NO_TRANSFORM: Final = 0
_ALTERNATIVE: Final = "Export to 'python' or 'sql'."


def to_onnx(model: Any) -> bytes:
    """Write a tree of thresholds as an ONNX model.

    In ONNX a row takes exactly one branch. So all tests of the tree must be thresholds of numeric
    columns. If missing values take all branches of the tree (``missing="fraction"``), these columns
    must not have had missing values in training. Other trees are an error.

    The ONNX model has the input `X`, float64 of shape (n_rows, n_columns), and the outputs `label`
    and `probabilities`, float64. A missing value (NaN) takes the branch that the tree has learned.
    If it takes all branches of the tree, the row gets NaN as probabilities, and "" or the smallest
    int64 as label. With costs, the label is the decision of least expected cost.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> len(to_onnx(model)) > 100
    True
    """
    onnx = optional_library("onnx", needed="for this export")
    view = view_tree(model, "ONNX", is_flat=True)
    _check(view)
    helper = onnx.helper
    constants = _constants(view)
    value_info, types = helper.make_tensor_value_info, onnx.TensorProto
    label_type = types.STRING if constants["labels"].dtype == object else types.INT64
    graph = helper.make_graph(
        _steps(onnx, view),
        "sureleaf",
        [value_info("X", types.DOUBLE, [None, len(view.model.schema)])],
        [
            value_info("label", label_type, [None]),
            value_info("probabilities", types.DOUBLE, [None, len(view.model.classes)]),
        ],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    written = helper.make_model(
        graph,
        producer_name="sureleaf",
        producer_version=sureleaf.__version__,
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 5)],
        ir_version=9,
    )
    onnx.checker.check_model(written)
    return bytes(written.SerializeToString())


def _check(view: TreeView) -> None:
    for index in view.tested_columns:
        column = view.model.schema.columns[index]
        if column.kind != "numeric":
            raise InvalidArgumentError(
                f"model must test numeric columns only for an export to ONNX; got a test of the "
                f"{column.kind} column {column.name!r}. {_ALTERNATIVE}"
            )
    counts = view.model.tree.class_counts
    if view.model.tree.has_fractional_rows and np.any(counts != np.rint(counts)):
        raise InvalidArgumentError(
            "model must have been grown on whole rows for an export to ONNX, where a row takes one "
            "branch; got fractional rows, from missing values in tested columns or from weights. "
            f"{_ALTERNATIVE}"
        )


def _constants(view: TreeView) -> dict[str, NDArray[Any]]:
    labels, no_label = _labels(view.model.classes)
    k = len(view.model.classes)
    # The columns in which a missing value takes several branches.
    fractional = {test.column_index for test in view.tests.values() if test.missing_branch is None}
    return {
        "tested": np.array(sorted(fractional), dtype=np.int64),
        "nan": np.array(np.nan),
        "tie": np.array(TIE),
        # The label is that of the largest entry: a probability, or an expected cost below 0.
        "value": np.eye(k) if view.model.rule is None else -view.model.rule.regret,
        "no_class": np.array([[k]], dtype=np.int64),
        "labels": np.array(
            [*labels, no_label], dtype=object if isinstance(no_label, str) else np.int64
        ),
        "row": np.array([-1], dtype=np.int64),
        "axis": np.array([1], dtype=np.int64),
    }


def _steps(onnx: Any, view: TreeView) -> list[Any]:
    """Return the steps from `X` to the outputs: the leaf, its probabilities, the largest one."""
    step, types = onnx.helper.make_node, onnx.TensorProto
    return [
        step("TreeEnsemble", ["X"], ["of_leaf"], domain="ai.onnx.ml", **_ensemble(onnx, view)),
        step("Gather", ["X", "tested"], ["values"], axis=1),
        step("IsNaN", ["values"], ["is_missing"]),
        step("Cast", ["is_missing"], ["missing"], to=types.INT64),
        step("ReduceSum", ["missing", "axis"], ["n_missing"], keepdims=1),
        step("Cast", ["n_missing"], ["has_missing"], to=types.BOOL),
        step("Where", ["has_missing", "nan", "of_leaf"], ["probabilities"]),
        step("MatMul", ["of_leaf", "value"], ["of_class"]),
        step("ReduceMax", ["of_class", "axis"], ["maximum"], keepdims=1),
        step("Sub", ["maximum", "tie"], ["least"]),
        step("GreaterOrEqual", ["of_class", "least"], ["is_largest"]),
        step("Cast", ["is_largest"], ["ones"], to=types.FLOAT),
        step("ArgMax", ["ones"], ["largest"], axis=1, keepdims=1),
        step("Where", ["has_missing", "no_class", "largest"], ["class"]),
        step("Reshape", ["class", "row"], ["classes"]),
        step("Gather", ["labels", "classes"], ["label"], axis=0),
    ]


def _labels(classes: NDArray[Any]) -> tuple[list[Any], Any]:
    """Return the labels, and a value that stands for a missing label, which ONNX does not have."""
    if classes.dtype.kind in "biuf":
        whole = [int(label) for label in classes.tolist()]
        least = int(np.iinfo(np.int64).min)
        if least < min(whole) and max(whole) < 2**63:
            return whole, least
    return label_texts(classes), ""


def _ensemble(onnx: Any, view: TreeView) -> dict[str, Any]:
    """Write the tree once per class: a leaf of an ensemble has one weight."""
    numpy_helper = onnx.numpy_helper
    is_leaf = view.model.tree.is_leaf
    leaves = view.model.tree.leaf_ids
    tests = [view.tests[node] for node in sorted(view.tests)]
    features = [test.column_index for test in tests] or [0]
    splits = [test.threshold for test in tests] or [0.0]
    children = np.array([test.children for test in tests] or [(0, 0)])
    missing_first = [int(test.missing_branch == 0) for test in tests] or [0]
    k = len(view.model.classes)
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    n_per_tree = np.where(is_leaf[children], len(leaves), len(children))
    child_index = np.concatenate([tree * n_per_tree + number[children] for tree in range(k)])
    child_is_leaf = np.tile(is_leaf[children], (k, 1)).astype(int)
    weights = view.model.probabilities[leaves].T.reshape(-1)
    n_nodes = k * len(children)
    return {
        "n_targets": k,
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "tree_roots": [tree * len(children) for tree in range(k)],
        "nodes_featureids": features * k,
        "nodes_splits": numpy_helper.from_array(np.array(splits * k, dtype=np.float64)),
        "nodes_modes": numpy_helper.from_array(np.full(n_nodes, _LESS_OR_EQUAL, dtype=np.uint8)),
        "nodes_truenodeids": child_index[:, 0].tolist(),
        "nodes_trueleafs": child_is_leaf[:, 0].tolist(),
        "nodes_falsenodeids": child_index[:, 1].tolist(),
        "nodes_falseleafs": child_is_leaf[:, 1].tolist(),
        "nodes_missing_value_tracks_true": missing_first * k,
        "leaf_targetids": [tree for tree in range(k) for _ in leaves],
        "leaf_weights": numpy_helper.from_array(np.ascontiguousarray(weights)),
    }
