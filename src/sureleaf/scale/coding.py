"""Parts of a table as small codes: a summary of every part, one coding for all, coded parts.

A summary holds what a coding needs to know of the rows: the classes, the categories, the values of
columns with few values, and a sample for the others. Summaries are added with ``+``. The sum does
not depend on the order of the parts or on how rows are divided into parts, because every piece is
a set, a whole number, or a sample of the rows whose hash is lowest (a bottom-k sample).
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError, suggestion
from sureleaf.model.seen_rows import Fingerprints
from sureleaf.scale.batches import RawPart, changed_error, read_part, read_schema, schema_difference
from sureleaf.table import EncodedTable, Schema, encode, encode_labels, read_table
from sureleaf.table.encoded_table import CodedColumns
from sureleaf.table.encoding import check_told_apart, large_integers, quoted
from sureleaf.table.frames import as_float64
from sureleaf.tree import TrainingRows

MAX_VALUES: Final = 255
"""Columns of numbers with at most so many values are coded exactly; others get so many ranges."""

SAMPLE_ROWS: Final = 100_000
"""Distinct rows in the sample from which ranges are made."""

_MAX_CLASSES: Final = 10_000


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for."""

    target: str  # the column with the classes
    weight: str | None = None  # the column with the weights of rows
    group: str | None = None  # the column with their groups
    drop: tuple[str, ...] = ()  # columns to leave out
    # Whether rows without a class are left out and counted; otherwise they are an error.
    skips_unlabelled: bool = False

    @property
    def taken(self) -> tuple[str, ...]:
        """The columns that rows are not predicted from."""
        named = (self.target, self.weight, self.group, *self.drop)
        return tuple(dict.fromkeys(name for name in named if name is not None))


@dataclass(frozen=True, eq=False)
class ColumnPlan:
    """What is known about the columns before any row is read."""

    roles: Roles  # what the columns are for
    arrow_schema: Any  # the names and types that every part must have
    # The columns to predict from; categories are not known yet, unless they were given.
    schema: Schema
    has_categories: tuple[bool, ...]  # per column, whether its categories were given

    @property
    def numbers(self) -> tuple[int, ...]:
        """The columns of numbers and dates."""
        return tuple(j for j, c in enumerate(self.schema.columns) if not c.is_coded)


def plan_columns(
    parts: Sequence[RawPart], roles: Roles, *, categorical_features: Any = "auto"
) -> ColumnPlan:
    """Find the kind of every column from the types of the parts, which must agree.

    Only their schemas are read.
    """
    schemas = [(part.name, read_schema(part)) for part in parts]
    return plan_of_schemas(schemas, roles, categorical_features=categorical_features)


def plan_of_schemas(
    schemas: Sequence[tuple[str, Any]], roles: Roles, *, categorical_features: Any = "auto"
) -> ColumnPlan:
    """Return the plan of parts of which the names and the Arrow schemas are known."""
    import pyarrow as pa

    arrow_schema = _common_schema(schemas)
    names = arrow_schema.names
    _check_roles(roles, names)
    features = [name for name in names if name not in roles.taken]
    if not features:
        raise InvalidArgumentError(
            f"there must be a column to predict from; got only {quoted(names)}."
        )
    # One row of missing values has the types, from which kinds are inferred as in memory.
    row = pa.table({name: pa.nulls(1, arrow_schema.field(name).type) for name in features})
    schema = read_table(row, categorical_features=categorical_features).schema
    is_given = isinstance(categorical_features, Schema)
    has_categories = tuple(
        is_given or (column.kind == "ordered" and bool(column.categories))
        for column in schema.columns
    )
    return ColumnPlan(roles, arrow_schema, schema, has_categories)


def _common_schema(schemas: Sequence[tuple[str, Any]]) -> Any:
    """Return the schema of all parts; a column without values may have any type."""
    import pyarrow as pa

    (first_name, common), *others = schemas
    for name, schema in others:
        if problem := schema_difference(common, schema):
            raise InvalidArgumentError(
                f"all parts must have the same columns; {name} has {problem}, as {first_name} "
                "has. Write the parts with the same columns and types."
            )
        for index, field_ in enumerate(schema):
            if pa.types.is_null(common.field(index).type):
                common = common.set(index, field_)
    return common


def _check_roles(roles: Roles, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise InvalidArgumentError(
            f"columns must have different names; got {twice!r} more than once. Rename one."
        )
    for name in roles.taken:
        if name not in names:
            what = "target" if name == roles.target else "column"
            raise InvalidArgumentError(
                f"the {what} must be a column of the table; got {name!r}.{suggestion(name, names)}"
            )
    others = [name for name in (roles.weight, roles.group, *roles.drop) if name is not None]
    if roles.target in others:
        raise InvalidArgumentError(
            f"weights, groups and columns to leave out must not be the target; got "
            f"{roles.target!r} for both."
        )


# ---- summaries -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberSummary:
    """The values of a column of numbers."""

    # The distinct values, ascending; None if they are more than `MAX_VALUES`.
    values: FloatArray | None = field(default_factory=lambda: np.empty(0))
    highest: float = -np.inf  # the highest value; minus infinity if there is none
    n_missing: int = 0
    # The distinct `large_integers`, which float64 may round; of more than `SAMPLE_ROWS`, those
    # whose float64 has the lowest hash. So integers with the same float64 stay together.
    integers: NDArray[Any] | None = None

    def __add__(self, other: "NumberSummary") -> "NumberSummary":
        values = None
        if self.values is not None and other.values is not None:
            values = np.union1d(self.values, other.values)
            values = None if len(values) > MAX_VALUES else values
        highest = max(self.highest, other.highest)
        integers = [each for each in (self.integers, other.integers) if each is not None]
        return NumberSummary(
            values,
            highest,
            self.n_missing + other.n_missing,
            _lowest_hashes(np.unique(np.concatenate(integers))) if integers else None,
        )


def _lowest_hashes(integers: NDArray[Any] | None) -> NDArray[Any] | None:
    if integers is None or len(integers) <= SAMPLE_ROWS:
        return integers
    hashes = _kernel.hash_rows(np.asfortranarray(as_float64(integers)[:, np.newaxis]))
    kept: NDArray[Any] = integers[hashes <= np.partition(hashes, SAMPLE_ROWS)[SAMPLE_ROWS]]
    return kept


@dataclass(frozen=True, eq=False)
class CategorySummary:
    """The categories of a column."""

    # The distinct categories, in no order; None before the first rows. Of an ordered column, the
    # declared ones.
    values: Any = None
    # Whether the values are declared categories, which all parts must share.
    is_declared: bool = False
    n_missing: int = 0

    def __add__(self, other: "CategorySummary") -> "CategorySummary":
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.values is None or other.values is None:
            values = other.values if self.values is None else self.values
        elif self.is_declared:
            if not self.values.equals(other.values):
                raise InvalidTypeError(
                    "an ordered column must declare the same categories in every part; got "
                    f"{self.values.to_pylist()} and {other.values.to_pylist()}."
                )
            values = self.values
        else:
            values = pc.unique(pa.concat_arrays([self.values, other.values]))
        is_declared = (other if self.values is None else self).is_declared
        return CategorySummary(values, is_declared, self.n_missing + other.n_missing)


@dataclass(frozen=True, eq=False)
class RowSample:
    """The distinct rows with the lowest hashes, and how often each occurs.

    A hash depends on the numbers of the row alone, so the sample of all rows is the same for every
    order and partition of the rows.
    """

    hashes: NDArray[np.uint64]  # ascending
    counts: NDArray[np.int64]  # how often each row occurs
    numbers: FloatArray  # the numbers of each row; NaN is missing

    @classmethod
    def of(
        cls, numbers: FloatArray, hashes: NDArray[np.uint64], *, below: np.uint64 | None = None
    ) -> "RowSample":
        """Return rows of numbers with their hashes, not in order; only those up to a hash."""
        if below is not None:
            low = np.flatnonzero(hashes <= below)
            hashes, numbers = hashes[low], numbers[low]
        return cls(hashes, np.ones(len(hashes), np.int64), numbers)

    @classmethod
    def join(cls, samples: Sequence["RowSample"]) -> "RowSample":
        """Return the sample of the rows of several samples."""
        everything = np.concatenate([sample.hashes for sample in samples])
        counts = np.concatenate([sample.counts for sample in samples])
        hashes, first, inverse = np.unique(everything, return_index=True, return_inverse=True)
        totals = np.bincount(inverse, counts, len(hashes)).astype(np.int64)
        kept = first[:SAMPLE_ROWS]
        numbers = np.empty((len(kept), samples[0].numbers.shape[1]))
        start = 0
        for sample in samples:  # without a copy of all rows, which are several times as many
            end = start + len(sample.hashes)
            own = np.flatnonzero((kept >= start) & (kept < end))
            numbers[own] = sample.numbers[kept[own] - start]
            start = end
        return cls(hashes[:SAMPLE_ROWS].copy(), totals[:SAMPLE_ROWS].copy(), numbers)

    @property
    def bound(self) -> np.uint64 | None:
        """The hash above which no row is in the sample; None while there are few rows."""
        bound: np.uint64 | None = None
        if len(self.hashes) == SAMPLE_ROWS:
            bound = self.hashes[-1]
        return bound

    def __add__(self, other: "RowSample") -> "RowSample":
        return RowSample.join([self, other])


@dataclass(frozen=True, eq=False)
class Summary:
    """What a coding needs to know of some rows; summaries of parts are added."""

    n_rows: int  # rows, those of weight 0 included
    columns: tuple[NumberSummary | CategorySummary, ...]  # one per column
    class_counts: "Counter[Any]"  # how many rows have each label
    sample: RowSample  # of the columns of numbers
    n_unlabelled: int = 0  # rows without a class, which were left out
    # By the number of the part, what its rows were: they are read again.
    digests: "dict[int, Digest]" = field(default_factory=dict)

    @property
    def has_few_values(self) -> bool:
        """Whether no column of numbers needs the sample."""
        return all(
            isinstance(column, CategorySummary) or column.values is not None
            for column in self.columns
        )

    def __add__(self, other: "Summary") -> "Summary":
        return replace(self.with_columns(other), sample=self.sample + other.sample)

    def with_columns(self, other: "Summary") -> "Summary":
        """Add everything but the sample, which costs most."""
        columns = tuple(
            a + b  # type: ignore[operator]
            for a, b in zip(self.columns, other.columns, strict=True)
        )
        return Summary(
            self.n_rows + other.n_rows,
            columns,
            self.class_counts + other.class_counts,
            self.sample,
            self.n_unlabelled + other.n_unlabelled,
            self.digests | other.digests,
        )


@dataclass(frozen=True)
class Digest:
    """What rows are, whatever their order: a source must give the same rows in both passes."""

    n_rows: int = 0
    # The sum of the hashes of the rows, modulo 2**64.
    total: int = 0

    @classmethod
    def of(cls, rows: "LabelledBatch", number_hashes: NDArray[np.uint64]) -> "Digest":
        """Take the digest of a batch, given the hashes of its rows of numbers."""
        hashes = number_hashes
        if rows.weights is not None:
            weights = np.asfortranarray(rows.weights[:, np.newaxis])
            hashes = _mix(hashes, _kernel.hash_rows(weights))
        for column in (rows.labels, *rows.other_columns):
            hashes = _mix(hashes, _hash_by_value(column))
        return cls(rows.features.num_rows, int(hashes.sum(dtype=np.uint64)))

    def __add__(self, other: "Digest") -> "Digest":
        return Digest(self.n_rows + other.n_rows, (self.total + other.total) % 2**64)


def _mix(hashes: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Combine the hashes of the cells of each row, in the order of the columns."""
    mixed = (hashes ^ others) * np.uint64(0x9E3779B97F4A7C15)
    shifted: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(32))
    return shifted


def _hash_by_value(column: Any) -> NDArray[np.uint64]:
    """Return the hash of the cell of each row."""
    coded = column.combine_chunks().dictionary_encode()
    values = [*coded.dictionary.to_pylist(), None]
    hashes = np.array([zlib.crc32(repr(value).encode()) for value in values], np.uint64)
    of_rows: NDArray[np.uint64] = hashes[coded.indices.fill_null(len(values) - 1).to_numpy()]
    return of_rows


def summarize_parts(parts: Any, plan: ColumnPlan, n_rows: int) -> Summary:
    """Return the sum of the summaries of all parts.

    If about `n_rows` rows are expected, those of high hashes are left out of the samples at once,
    which is far less to sort and to move. If too few distinct rows are left, all are summarized.
    The sum is the same.
    """
    expected = 1.25 * SAMPLE_ROWS / max(n_rows, 1)
    numbers = range(len(parts))
    if expected < 1:
        below = np.uint64(expected * 2.0**64)
        total: Summary = parts.total(summarize, plan, below, each=numbers)
        if len(total.sample.hashes) == SAMPLE_ROWS or total.has_few_values:
            return total
    everything: Summary = parts.total(summarize, plan, None, each=numbers)
    return everything


def summarize(
    part: RawPart, plan: ColumnPlan, below: np.uint64 | None = None, number: int = 0
) -> Summary:
    """Summarize the rows of a part.

    With `below`, only rows with a hash up to this one are in the sample.
    """
    total, digest = _empty(plan), Digest()
    waiting: list[RowSample] = []
    for rows in read_labelled(part, plan):
        batch, own = _summarize_batch(rows, plan, total, below)
        digest += own
        waiting.append(batch.sample)
        if sum(len(sample.hashes) for sample in waiting) > 2 * SAMPLE_ROWS:
            total = replace(total, sample=RowSample.join([total.sample, *waiting]))
            waiting = []
        total = total.with_columns(batch)
    sample = RowSample.join([total.sample, *waiting])
    return replace(total, sample=sample, digests={number: digest})


def _empty(plan: ColumnPlan) -> Summary:
    columns = tuple(
        CategorySummary() if column.is_coded else NumberSummary() for column in plan.schema.columns
    )
    nothing = np.empty((0, len(plan.numbers)))
    return Summary(0, columns, Counter(), RowSample.of(nothing, np.empty(0, np.uint64)))


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """The columns of one batch, by their roles."""

    features: Any  # the columns to predict from
    labels: Any
    weights: FloatArray | None
    groups: Any
    n_unlabelled: int = 0  # rows without a class, which were left out
    coded: tuple[str, ...] = ()  # the names of the features that are not numbers

    @property
    def other_columns(self) -> list[Any]:
        """The groups, and the features that are not numbers."""
        groups = [] if self.groups is None else [self.groups]
        return groups + [self.features[name] for name in self.coded]


def read_labelled(part: RawPart, plan: ColumnPlan) -> Iterator[LabelledBatch]:
    """Read the batches of a part, by the roles of their columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    roles = plan.roles
    for batch in read_part(part):
        if problem := schema_difference(plan.arrow_schema, batch.schema):
            raise InvalidArgumentError(
                f"every batch of {part.name} must have the columns of the first one; got a batch "
                f"with {problem}."
            )
        is_known = pc.invert(pc.is_null(batch.column(roles.target), nan_is_null=True))
        n_unknown = batch.num_rows - pc.sum(is_known).as_py()
        if n_unknown and roles.skips_unlabelled:
            batch = batch.filter(is_known)
        elif n_unknown:
            raise InvalidArgumentError(
                f"every row must have a class; {part.name} has {n_unknown:,} rows without a value "
                f"in {roles.target!r}. Leave these rows out."
            )
        rows = pa.table(batch)
        weights = None if roles.weight is None else _weights_of(rows[roles.weight], part.name)
        groups = None if roles.group is None else rows[roles.group]
        features = rows.select(list(plan.schema.names))
        coded = tuple(str(column.name) for column in plan.schema.columns if column.is_coded)
        yield LabelledBatch(features, rows[roles.target], weights, groups, n_unknown, coded)


def _weights_of(column: Any, part_name: str) -> FloatArray:
    try:
        weights = np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(
            f"weights must be numbers; {part_name} has {column.type} in their column ({error})."
        ) from None
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        raise InvalidArgumentError(
            f"weights must be finite and not negative; {part_name} has "
            f"{weights[int(np.argmax(bad))]}. Give a row weight 0 to leave it out."
        )
    return weights


def _summarize_batch(
    rows: LabelledBatch, plan: ColumnPlan, before: Summary, below: np.uint64 | None = None
) -> tuple[Summary, Digest]:
    """Summarize a batch; what the rows before it have decided is not looked at again."""
    import pyarrow.compute as pc

    labels = pc.value_counts(rows.labels)
    counts = Counter(
        dict(zip(labels.field(0).to_pylist(), labels.field(1).to_pylist(), strict=True))
    )
    if len(counts) > _MAX_CLASSES:
        raise InvalidArgumentError(
            f"the target must have at most {_MAX_CLASSES:,} classes; got {plan.roles.target!r} "
            "with more. Divide it into ranges first."
        )
    numbers = _numbers_of(rows.features, plan)
    columns: list[NumberSummary | CategorySummary] = []
    is_counted = None if rows.weights is None else rows.weights > 0
    values = iter(numbers.T)
    for j, (column, known) in enumerate(zip(plan.schema.columns, before.columns, strict=True)):
        cells = rows.features[column.name]
        if isinstance(known, CategorySummary):
            kind = "given" if plan.has_categories[j] else column.kind
            columns.append(_categories_of(cells, kind, is_counted))
        else:
            summary = _number_summary(next(values), is_counted, known)
            integers = _lowest_hashes(large_integers(cells))
            columns.append(replace(summary, integers=integers))
    hashes = _kernel.hash_rows(numbers)
    digest = Digest.of(rows, hashes)
    if is_counted is not None:
        numbers, hashes = numbers[is_counted], hashes[is_counted]
    bounds = [bound for bound in (below, before.sample.bound) if bound is not None]
    sample = RowSample.of(numbers, hashes, below=min(bounds, default=None))
    n_rows = rows.features.num_rows
    return Summary(n_rows, tuple(columns), counts, sample, rows.n_unlabelled), digest


def _numbers_of(features: Any, plan: ColumnPlan) -> FloatArray:
    """Return the columns of numbers and dates of a batch, as a fit in memory would read them."""
    columns = tuple(plan.schema.columns[j] for j in plan.numbers)
    if not columns:
        return np.empty((features.num_rows, 0), order="F")
    schema = Schema(columns, plan.schema.named)
    return _as_matrix(encode(features.select(list(schema.names)), schema), range(len(columns)))


def _as_matrix(table: EncodedTable, columns: Sequence[int]) -> FloatArray:
    """Return columns of numbers as one array, in the order of memory in which rows are hashed."""
    arrays = np.array([table.columns[j] for j in columns], np.float64)
    return arrays.reshape(len(columns), table.n_rows).T


def _number_summary(
    values: FloatArray, is_counted: NDArray[np.bool_] | None, before: NumberSummary
) -> NumberSummary:
    n_missing = int(np.count_nonzero(np.isnan(values)))
    counted = values if is_counted is None else values[is_counted]
    highest = (
        -np.inf if n_missing == len(values) else float(np.fmax.reduce(counted, initial=-np.inf))
    )
    distinct = None
    if before.values is not None:
        flags = None if is_counted is None else is_counted.view(np.uint8)
        distinct = _kernel.few_values(values, flags)
    return NumberSummary(distinct, highest, n_missing)


def _categories_of(column: Any, kind: str, is_counted: NDArray[np.bool_] | None) -> CategorySummary:
    import pyarrow as pa
    import pyarrow.compute as pc

    n_missing = pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0
    if kind == "given":
        return CategorySummary(n_missing=n_missing)
    if pa.types.is_dictionary(column.type) and kind == "ordered":
        chunks = [chunk.dictionary for chunk in column.chunks]
        declared = reduce(add, (CategorySummary(chunk, is_declared=True) for chunk in chunks))
        return replace(declared, n_missing=n_missing)
    counted = column if is_counted is None else column.filter(pa.array(is_counted))
    distinct = pc.unique(counted)
    if pa.types.is_dictionary(distinct.type):
        distinct = distinct.dictionary_decode()
    distinct = distinct.filter(pc.invert(pc.is_null(distinct, nan_is_null=True)))
    if isinstance(distinct, pa.ChunkedArray):
        distinct = distinct.combine_chunks()
    return CategorySummary(distinct, False, n_missing)


# ---- one coding for all parts --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coding:
    """How the rows of every part become codes."""

    plan: ColumnPlan
    schema: Schema  # the columns, with their categories
    # Per column of numbers: the value of each code, ascending; None for categories. A column with
    # few values has one code per value. In other columns a code is a range of values, and its value
    # is the upper end, so that ``x <= value`` can be a test.
    values: tuple[FloatArray | None, ...]
    is_exact: tuple[bool, ...]  # per column, whether codes are single values or categories
    has_missing: tuple[bool, ...]  # per column, whether a value is missing in any row
    classes: NDArray[Any]
    n_rows: int
    n_unlabelled: int = 0  # rows without a class, which are left out

    @classmethod
    def of(cls, summary: Summary, plan: ColumnPlan) -> "Coding":
        """Make the coding from the sum of the summaries of all parts."""
        import pyarrow as pa

        if not summary.n_rows:
            raise InvalidArgumentError("there must be rows to fit; got none.")
        target_type = plan.arrow_schema.field(plan.roles.target).type
        if pa.types.is_dictionary(target_type):
            target_type = target_type.value_type
        labels = pa.array(list(summary.class_counts), target_type)
        _, classes = encode_labels(labels)
        columns = list(plan.schema.columns)
        values: list[FloatArray | None] = [None] * len(columns)
        is_exact = [True] * len(columns)
        for j, part in enumerate(summary.columns):
            if isinstance(part, CategorySummary):
                if not plan.has_categories[j] and part.values is not None:
                    columns[j] = _with_categories(columns[j], part)
                continue
            check_told_apart(str(columns[j].name), part.integers)
            values[j], is_exact[j] = part.values, part.values is not None
            if part.values is None:
                values[j] = _ranges(summary.sample, plan.numbers.index(j), part.highest)
        return cls(
            plan,
            replace(plan.schema, columns=tuple(columns)),
            tuple(values),
            tuple(is_exact),
            tuple(part.n_missing > 0 for part in summary.columns),
            classes,
            summary.n_rows,
            summary.n_unlabelled,
        )

    def n_codes(self, j: int) -> int:
        """Return the number of codes of a column; it is also the code of a missing value."""
        values = self.values[j]
        return len(self.schema.columns[j].categories) if values is None else len(values)

    @property
    def n_code_bytes(self) -> int:
        """The bytes of the codes of all rows."""
        return self.n_rows * self.no_rows().row_bytes

    def no_rows(self) -> CodedColumns:
        """Return the columns without rows."""
        n_codes = [self.n_codes(j) for j in range(len(self.schema))]
        is_wide = [
            n > MAX_VALUES and values is None
            for n, values in zip(n_codes, self.values, strict=True)
        ]
        return CodedColumns(
            np.empty((0, len(n_codes) - sum(is_wide)), np.uint8),
            tuple(np.empty(0, np.int32) for _ in range(sum(is_wide))),
            self.values,
            tuple(n if v is None else -1 for n, v in zip(n_codes, self.values, strict=True)),
            tuple(not exact for exact in self.is_exact),
            self.has_missing,
        )


def _with_categories(column: Any, part: CategorySummary) -> Any:
    """Return the column with the categories that a fit in memory would find."""
    import pyarrow as pa

    values = part.values
    if part.is_declared:
        values = pa.DictionaryArray.from_arrays(
            pa.array(np.arange(len(values), dtype=np.int32)), values, ordered=True
        )
    table = read_table(
        pa.table({column.name: values if len(values) else pa.nulls(1)}),
        categorical_features={column.name: column.kind},
    )
    return replace(column, categories=table.schema.columns[0].categories)


def _ranges(sample: RowSample, at: int, highest: float) -> FloatArray:
    """Return the upper ends of ranges with about the same number of rows each."""
    column = sample.numbers[:, at]
    known = ~np.isnan(column)
    values, inverse = np.unique(column[known] + 0.0, return_inverse=True)
    rows = np.bincount(inverse, sample.counts[known], len(values))
    if len(values) > MAX_VALUES:
        up_to = np.cumsum(rows)
        wanted = np.arange(1, MAX_VALUES) * (up_to[-1] / MAX_VALUES)
        values = np.unique(values[np.searchsorted(up_to, wanted)])
    return np.append(values[values < highest], highest)


@dataclass(frozen=True, eq=False)
class CodedPart:
    """The rows of a part as codes."""

    columns: CodedColumns
    labels: NDArray[np.int32]
    weights: FloatArray | None
    groups: NDArray[Any] | None
    # The fingerprints of its rows of positive weight, before they were coded.
    prints: Fingerprints | None = None


def encode_part(part: RawPart, coding: Coding, digest: Digest | None = None) -> CodedPart:
    """Code the rows of a part.

    With the digest of its summary, it is an error if the part has other rows now.
    """
    roles = coding.plan.roles
    weights = None if roles.weight is None else np.empty(0)
    groups = None if roles.group is None else np.empty(0)
    no_rows = CodedPart(coding.no_rows(), np.empty(0, np.int32), weights, groups)
    return join_parts([no_rows, *encode_batches(part, coding, digest)])


def encode_batches(part: RawPart, coding: Coding, digest: Digest | None = None) -> list[CodedPart]:
    """Code the rows of a part, batch by batch: for a store that copies them anyway."""
    batches, found = [], Digest()
    for rows in read_labelled(part, coding.plan):
        coded, own = _encode_batch(rows, coding, part.name)
        batches.append(coded)
        found += own
    if digest not in (None, found):
        raise changed_error(part.name)
    return batches


def join_parts(parts: Sequence[CodedPart]) -> CodedPart:
    """Return the rows of several parts as one part."""
    return CodedPart(
        join_columns([part.columns for part in parts]),
        join([part.labels for part in parts]),
        join([part.weights for part in parts]),
        join([part.groups for part in parts]),
        add_prints([part.prints for part in parts]),
    )


def join(arrays: Sequence[Any]) -> Any:
    """Return the arrays of several parts as one; None if they have none."""
    if arrays[0] is None:
        return None
    # Without those that have no rows, whose type is not known.
    return np.concatenate([array for array in arrays if len(array)] or arrays)


def add_prints(prints: Sequence[Fingerprints | None]) -> Fingerprints | None:
    """Return the fingerprints of the rows of several parts; None if no part has rows."""
    known = [each for each in prints if each is not None]
    return reduce(add, known) if known else None


def join_columns(parts: Sequence[CodedColumns]) -> CodedColumns:
    """Return the rows of several coded tables."""
    return replace(
        parts[0],
        codes=np.concatenate([part.codes for part in parts]),
        wide=tuple(np.concatenate(wide) for wide in zip(*(p.wide for p in parts), strict=True)),
    )


def _encode_batch(rows: LabelledBatch, coding: Coding, part_name: str) -> tuple[CodedPart, Digest]:
    try:
        table = encode(rows.features, coding.schema)
    except SureleafError as error:
        raise type(error)(f"{part_name}: {error}") from error
    _check_categories(table.unseen_counts, coding, part_name)
    empty = coding.no_rows()
    codes = np.empty((rows.features.num_rows, empty.codes.shape[1]), np.uint8)
    wide: list[NDArray[np.int32]] = []
    for j, column in enumerate(table.columns):
        n_codes, values, at = coding.n_codes(j), coding.values[j], j - len(wide)
        if values is not None:
            _kernel.code_numbers(np.ascontiguousarray(column, np.float64), values, codes, at)
        elif n_codes > MAX_VALUES:
            wide.append(np.where(column < 0, -1, column).astype(np.int32))
        else:
            codes[:, at] = np.where(column < 0, n_codes, column)
    groups = None if rows.groups is None else rows.groups.to_numpy()
    columns = replace(empty, codes=codes, wide=tuple(wide))
    labels = _label_codes(rows.labels, coding.classes, part_name)
    prints = Fingerprints.of(TrainingRows(table, labels, len(coding.classes), rows.weights))
    coded = CodedPart(columns, labels, rows.weights, groups, prints)
    return coded, Digest.of(rows, _kernel.hash_rows(_as_matrix(table, coding.plan.numbers)))


def _check_categories(unseen_counts: dict[str, int], coding: Coding, part_name: str) -> None:
    """Raise if a column whose categories were given has others."""
    for column, given in zip(coding.schema.columns, coding.plan.has_categories, strict=True):
        if given and column.name in unseen_counts:
            raise InvalidArgumentError(
                f"column {column.name!r} must hold the given categories; {part_name} has "
                f"{unseen_counts[column.name]:,} other values. Add them, or make them missing."
            )


def _label_codes(labels: Any, classes: NDArray[Any], part_name: str) -> NDArray[np.int32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(labels.type):
        labels = labels.cast(labels.type.value_type)
    known = pa.array(classes.tolist(), labels.type)
    indices = pc.index_in(labels, value_set=known)
    if indices.null_count:  # a class that no part had when classes were collected
        raise changed_error(part_name)
    codes: NDArray[np.int32] = indices.to_numpy().astype(np.int32)
    return codes
