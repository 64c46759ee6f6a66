"""A tree as an ONNX model, where ONNX can say what the tree says."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import sureleaf
from sureleaf.errors import InvalidArgumentError, MissingPackageError
from sureleaf.exports.node_tests import FittedTree, fitted_tree
from sureleaf.exports.node_text import label_texts

__all__ = ["to_onnx"]


_LESS_OR_EQUAL: Final = 0
_SUM: Final = 1
_NO_TRANSFORM: Final = 0
_INSTEAD: Final = "Export to 'python' or 'sql', which send such a row down every branch."


def to_onnx(model: Any) -> bytes:
    """Write a tree of thresholds as an ONNX model.

    In ONNX a row takes one branch, so only trees can be written whose tests are thresholds of
    numeric columns, grown without missing values in them.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.

    Returns
    -------
    bytes
        A model with the input `X`, float64 of shape (n_rows, n_columns), and the outputs `label`
        and `probabilities`, float64. A row that is missing (NaN) in a column which the tree tests
        gets NaN as its probabilities, and as its label "" or the least int64.

    Raises
    ------
    InvalidArgumentError
        If the tree tests categories or dates, or has split rows into parts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"])
    >>> len(to_onnx(model)) > 100
    True
    """
    try:
        import onnx
    except ImportError as error:
        raise MissingPackageError(
            "onnx is needed for this and is not installed. Install it: pip install onnx"
        ) from error
    fitted = fitted_tree(model, "ONNX")
    _check(fitted)
    helper = onnx.helper
    labels, no_label = _labels(fitted)
    k = len(fitted.classes)
    constants: dict[str, NDArray[Any]] = {
        "tested": np.array(fitted.places, dtype=np.int64),
        "nan": np.array(np.nan),
        "no_class": np.array([[k]], dtype=np.int64),
        "labels": np.array(
            [*labels, no_label], dtype=object if isinstance(no_label, str) else None
        ),
        "row": np.array([-1], dtype=np.int64),
        "axis": np.array([1], dtype=np.int64),
    }
    nodes = [
        helper.make_node(
            "TreeEnsemble", ["X"], ["stated"], domain="ai.onnx.ml", **_ensemble(fitted)
        ),
        helper.make_node("Gather", ["X", "tested"], ["values"], axis=1),
        helper.make_node("IsNaN", ["values"], ["gaps"]),
        helper.make_node("Cast", ["gaps"], ["counted"], to=onnx.TensorProto.INT64),
        helper.make_node("ReduceSum", ["counted", "axis"], ["n_gaps"], keepdims=1),
        helper.make_node("Cast", ["n_gaps"], ["has_gap"], to=onnx.TensorProto.BOOL),
        helper.make_node("Where", ["has_gap", "nan", "stated"], ["probabilities"]),
        helper.make_node("ArgMax", ["stated"], ["largest"], axis=1, keepdims=1),
        helper.make_node("Where", ["has_gap", "no_class", "largest"], ["class"]),
        helper.make_node("Reshape", ["class", "row"], ["classes"]),
        helper.make_node("Gather", ["labels", "classes"], ["label"], axis=0),
    ]
    graph = helper.make_graph(
        nodes,
        "sureleaf",
        [_shaped(onnx, "X", onnx.TensorProto.DOUBLE, [None, len(fitted.schema)])],
        [
            _shaped(onnx, "label", _type_of(onnx, no_label), [None]),
            _shaped(onnx, "probabilities", onnx.TensorProto.DOUBLE, [None, k]),
        ],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    made = helper.make_model(
        graph,
        producer_name="sureleaf",
        producer_version=sureleaf.__version__,
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 5)],
        ir_version=9,
    )
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


def _check(fitted: FittedTree) -> None:
    for place in fitted.places:
        column = fitted.schema.columns[place]
        if column.kind != "numeric":
            raise InvalidArgumentError(
                f"ONNX cannot hold this tree: it tests column {column.name!r}, which is "
                f"{column.kind}, and an unseen or missing one takes several branches. {_INSTEAD}"
            )
    counts = fitted.tree.class_counts
    if fitted.tests and np.any(counts != np.rint(counts)):
        raise InvalidArgumentError(
            "ONNX cannot hold this tree: it was grown on rows in parts, because values were "
            "missing in columns that it tests or weights were not whole, and in ONNX a row "
            f"takes one branch. {_INSTEAD}"
        )


def _labels(fitted: FittedTree) -> tuple[list[Any], Any]:
    """Labels, and what stands for none: ONNX has no missing values."""
    if fitted.classes.dtype.kind in "biuf":
        whole = [int(label) for label in fitted.classes.tolist()]
        least = int(np.iinfo(np.int64).min)
        if least < min(whole) and max(whole) < 2**63:
            return whole, least
    return label_texts(fitted.classes), ""


def _ensemble(fitted: FittedTree) -> dict[str, Any]:
    """Write the tree once for each class: a leaf of an ensemble has one weight."""
    from onnx import numpy_helper

    inner = sorted(fitted.tests)
    leaves = fitted.tree.leaf_ids.tolist()
    place_of_inner = {node: place for place, node in enumerate(inner)}
    place_of_leaf = {node: place for place, node in enumerate(leaves)}
    tests = [fitted.tests[node] for node in inner]
    features = [test.place for test in tests] or [0]
    splits = [test.threshold for test in tests] or [0.0]
    children = [test.children for test in tests] or [(0, 0)]
    k = len(fitted.classes)
    sides: list[list[int]] = [[], []]
    ends: list[list[int]] = [[], []]
    for number in range(k):
        for side in (0, 1):
            for ways in children:
                child = ways[side]
                is_leaf = child in place_of_leaf
                ends[side].append(int(is_leaf))
                sides[side].append(
                    number * len(leaves) + place_of_leaf[child]
                    if is_leaf
                    else number * len(children) + place_of_inner[child]
                )
    weights = fitted.probabilities[leaves].T.reshape(-1)
    n_nodes = k * len(children)
    return {
        "n_targets": k,
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "tree_roots": [number * len(children) for number in range(k)],
        "nodes_featureids": features * k,
        "nodes_splits": numpy_helper.from_array(np.array(splits * k, dtype=np.float64)),
        "nodes_modes": numpy_helper.from_array(np.full(n_nodes, _LESS_OR_EQUAL, dtype=np.uint8)),
        "nodes_truenodeids": sides[0],
        "nodes_trueleafs": ends[0],
        "nodes_falsenodeids": sides[1],
        "nodes_falseleafs": ends[1],
        "leaf_targetids": [number for number in range(k) for _ in leaves],
        "leaf_weights": numpy_helper.from_array(np.ascontiguousarray(weights)),
    }


def _shaped(onnx: Any, name: str, kind: int, shape: list[int | None]) -> Any:
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def _type_of(onnx: Any, no_label: Any) -> int:
    kinds = onnx.TensorProto
    return int(kinds.STRING if isinstance(no_label, str) else kinds.INT64)
