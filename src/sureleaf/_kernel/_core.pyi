"""Sureleaf's hot loops; use them through sureleaf._kernel."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def plurality(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], wins: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], exact: bool, cut: float = 42.0) -> None:
    """
    Fill wins[i, j] with the probability that class j is the most frequent of rows[i] draws: exact, or with an error below 1 / rows[i]^2 where the exact sum takes too long. Counts that have a probability below exp(-cut) are left out.
    """

def few_values(column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_counted: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.float64] | None:
    """
    The distinct values of a column, ascending; None if they are more than 255.
    """

def hash_rows(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)]) -> NDArray[numpy.uint64]:
    """A hash of the numbers of each row."""

def code_numbers(column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')], position: int) -> None:
    """Write the code of each number into a column of `codes`."""

def confidence(n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def node_confidence(n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], empty_is_coin: bool) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def entropic_estimate(y_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def log_binomial(y: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

class TextCoder:
    """Gives equal texts equal codes, over many arrays."""

    def __init__(self) -> None: ...

    @overload
    def add(self, offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], validity: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Code texts first, first + 1, ... of Arrow's buffers, -1 where there is none; returns the indices of new texts.
        """

    @overload
    def add(self, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], validity: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

@overload
def are_ascii(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
    """
    Whether texts in Arrow's buffers are ASCII, with offsets that ascend in the data.
    """

@overload
def are_ascii(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool: ...

def code_objects(objects: object, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> list[str] | None:
    """
    Code the str objects of an array; returns the different ones in the order in which they first come, or None if there are other objects.
    """

@overload
def look_up(indices: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], new_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Give each index its new code, -1 where it is below 0."""

@overload
def look_up(indices: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], new_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up(indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], new_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def look_up(indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], new_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

def mark_used(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], is_used: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Mark the codes that occur."""

def recode(codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], new_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """Replace each code by its new one; those below 0 stay."""

class StopFlag:
    """Stops the calls of threads that watch it, by KeyboardInterrupt."""

    def __init__(self) -> None: ...

    def watch(self) -> None:
        """Let the calls of this thread watch the flag."""

    def stop(self) -> None:
        """Stop all calls that watch the flag."""

class Table:
    """Columns as the kernel reads them; keeps their arrays alive."""

    @property
    def n_rows(self) -> int: ...

def make_table(columns: list[object], n_categories: Sequence[int], ordered: Sequence[bool], n_rows: int) -> Table:
    """Numbers where n_categories is -1, int32 or int8 codes elsewhere."""

def make_matrix(array: object) -> Table:
    """A table of the columns of one array."""

class SortedTable:
    """A table with the order of its columns."""

    @property
    def narrow_columns(self) -> list[int]:
        """Columns with different values that C4.5 does not separate."""

def presort(table: Table, n_threads: int) -> SortedTable:
    """Find the order of every column, once for all trees grown on the table."""

def row_fingerprints(table: Table, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> NDArray[numpy.uint64]:
    """A number per row that its cells and its label determine."""

class Tree:
    """A finished tree as flat arrays, nodes in preorder."""

    @property
    def n_classes(self) -> int: ...

    @property
    def feature(self) -> NDArray[numpy.int32]: ...

    @property
    def threshold(self) -> NDArray[numpy.float64]: ...

    @property
    def child_offset(self) -> NDArray[numpy.int64]: ...

    @property
    def children(self) -> NDArray[numpy.int32]: ...

    @property
    def branch_share(self) -> NDArray[numpy.float64]: ...

    @property
    def category_offset(self) -> NDArray[numpy.int64]: ...

    @property
    def category_branch(self) -> NDArray[numpy.int32]: ...

    @property
    def missing_branch(self) -> NDArray[numpy.int32]: ...

    @property
    def class_weights(self) -> NDArray[numpy.float64]: ...

def make_tree(*, feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], child_offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], children: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branch_share: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_branch: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_branch: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], class_weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_columns: int) -> Tree:
    """A tree from its arrays; ValueError if they are inconsistent."""

class GrowthConfig:
    """The rules by which a tree is grown."""

    def __init__(self, *, criterion: str = 'gain_ratio', categorical_split: str = 'multiway', min_samples_leaf: float = 2.0, max_depth: int | None = None, missing: str = 'fraction', thresholds: str | None = None, max_leaves: int | None = None, max_features: int | None = None, seed: int = 0, tree: int = 0, category_penalty: float = 0.0, monotone: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> None: ...

def criterion_names() -> list[str]:
    """The criteria that GrowthConfig takes."""

def make_coded(*, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', writable=False)], wide: list[object], values: list[object], n_categories: Sequence[int], ordered: Sequence[bool], are_ranges: Sequence[bool], has_missing: Sequence[bool]) -> Table:
    """A table of small codes, without a copy."""

def count_level(table: Table, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, node_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], slot_of_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_slots: int) -> NDArray[numpy.int64]:
    """Class counts per code of every column, one line per slot."""

def advance_rows(table: Table, n_classes: int, node_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], branches: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
    """The child of its node for every row."""

class NodeStart:
    """Where a tree starts below a node of a larger one."""

    def __getstate__(self) -> tuple[int, int, list[float], list[float], list[int], float, list[list[int]]]: ...

    def __setstate__(self, arg: tuple[int, int, Sequence[float], Sequence[float], Sequence[int], float, Sequence[Sequence[int]]], /) -> None: ...

class LevelGrower:
    """A tree that is grown from histograms."""

    def __init__(self, table: Table, class_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], are_whole: bool, config: GrowthConfig) -> None: ...

    @property
    def n_cells(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def is_complete(self) -> bool: ...

    def open_nodes(self) -> NDArray[numpy.int32]: ...

    def split(self, node: int, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, int, int, NDArray[numpy.int32]]:
        """Split an open node by the counts of its rows."""

    def split_weighted(self, node: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, int, int, NDArray[numpy.int32]]:
        """Split an open node by the weights of its rows."""

    def start_below(self, node: int) -> NodeStart:
        """
        Where the tree of the rows of an open node starts; the node is no longer open.
        """

    def graft(self, node: int, tree: Tree) -> None:
        """Put a tree in the place of a node."""

    def finish(self) -> Tree:
        """The tree."""

def grow(table: SortedTable, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, config: GrowthConfig, *, counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, are_copies: bool = False, n_threads: int = 1, use_up: bool = False, start: NodeStart | None = None) -> Tree:
    """
    Grow a tree. `use_up` lets it take the table's orders; with `are_copies` a row of count k stands for k rows, to the last digit.
    """

def collapse_marks(tree: Tree) -> NDArray[numpy.uint8]:
    """The nodes at which C4.5 cuts a grown tree before pruning."""

def cut_at(tree: Tree, becomes_leaf: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Tree:
    """The same tree with the marked nodes as leaves."""

def cost_complexity_alphas(tree: Tree, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """The penalty per leaf at which each inner node is cut."""

def average_prunings(tree: Tree, counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], as_leaf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], goes_on: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], added: float) -> NDArray[numpy.float64]:
    """Probabilities of every node: the mean over all prunings of the tree."""

def shrink_to_parent(tree: Tree, counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], root: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: float) -> NDArray[numpy.float64]:
    """
    Shares of every node, each with `strength` rows of its parent's shares added.
    """

def prune_pessimistic(tree: Tree, table: Table, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, are_copies: bool, confidence_factor: float, quantile: float) -> Tree:
    """C4.5's subtree replacement and raising."""

class RoutingTree:
    """A tree for routing many rows; keeps its packed form."""

    def __init__(self, tree: Tree) -> None: ...

def route(tree: RoutingTree, table: Table, stop_at_unseen: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    The nodes of rows: offsets per row, nodes, shares, and the imputed share of each row.
    """

def count_nodes(tree: Tree, table: Table, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> NDArray[numpy.float64]:
    """
    Class weights of every node when these rows are routed through the tree.
    """

def predict(tree: RoutingTree, table: Table, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, stop_at_unseen: bool, n_threads: int) -> NDArray[numpy.float64]:
    """Mixtures of the nodes' values, one line per row."""

def predict_bags(trees: Sequence[Tree], values: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], uses_row: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, table: Table, with_details: bool, stop_at_unseen: bool, n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Sums over trees of the mixtures of their nodes' values, one line per row; with details also sums of squares and votes; the imputed shares, and the number of trees per row.
    """
